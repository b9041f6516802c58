//! The effects of the laps of stints, on tables whose effects are known.

use calibandit::StreamKey;
use calibandit_paper::f1::{
    EffectOptions, F1Error, LossTrend, StintEffects, stint_effects, stint_effects_of_tables, stint_figure,
};
use rand::RngExt;
use rand_distr::{Distribution, Normal};

use crate::made_up::MadeUp;

fn options() -> EffectOptions {
    EffectOptions { longest: 12, slow_lap: f64::INFINITY, resamples: 100, ..EffectOptions::default() }
}

/// Milliseconds that a lap of the stint costs: no simple function, so that no other effect can be taken for it.
fn stint_cost(lap: u32) -> u32 {
    [0, 3000, 2100, 1700, 1750, 1600, 2000, 2400, 2500, 2600, 2900, 3500, 4000][lap.min(12) as usize]
}

/// What a lap of a race costs, the same for all drivers.
fn race_cost(race: u32, lap: u32) -> u32 {
    9_000 - 200 * lap + (lap * 7919 + race * 104_729) % 1009
}

/// The lap of a stop of a driver, about every ten laps.
fn is_stop(race: u32, driver: u32, lap: u32) -> bool {
    lap > 4 && (lap + 3 * driver + race).is_multiple_of(9 + driver % 3)
}

const FASTEST: u32 = 80_000;

/// Races of six drivers and 36 laps without noise. Driver 99 only sets the fastest lap.
fn exact(races: u32) -> MadeUp {
    let mut made_up = MadeUp::default();
    for race in 1..=races {
        made_up = made_up.race(race, 2011, "Example Grand Prix").lap(race, 99, 1, FASTEST);
        for driver in 1..=6 {
            let mut stint = 0;
            for lap in 1..=36 {
                stint += 1;
                let time = FASTEST + 700 * driver + race_cost(race, lap) + stint_cost(stint);
                made_up = made_up.lap(race, driver, lap, time);
                if is_stop(race, driver, lap) {
                    made_up = made_up.stop(race, driver, lap);
                    stint = 0;
                }
            }
        }
    }
    made_up
}

fn estimate(made_up: &MadeUp, options: &EffectOptions) -> StintEffects {
    stint_effects_of_tables(&made_up.tables(), options).unwrap()
}

#[test]
fn effects_without_noise_are_recovered_exactly() {
    let effects = estimate(&exact(3), &options());
    assert_eq!((effects.races, effects.driver_races), (3, 3 * 7));
    for row in &effects.rows[1..] {
        let expected = (f64::from(stint_cost(row.lap)) - f64::from(stint_cost(3))) / f64::from(FASTEST);
        let found = row.same_lap;
        assert!((found.change.unwrap() - expected).abs() < 1e-11, "{row:?} {expected}");
        // All resamples give the same, so the interval is a point and shows the direction.
        assert!(found.standard_error.unwrap() < 1e-11);
        let trend = if row.lap == 5 { LossTrend::Falls } else { LossTrend::Rises };
        assert!(row.lap == 3 || found.trend() == trend, "{row:?}");
    }
    assert_eq!((effects.rows[0].same_lap.change, effects.rows[0].same_lap.laps), (None, 0));
}

/// Before the first stop, the cost of the race and the cost of the stint come as one sum.
#[test]
fn laps_before_the_stop_show_the_sum_of_stint_and_race() {
    let effects = estimate(&exact(1), &options());
    let cost = |lap| f64::from(stint_cost(lap)) + f64::from(race_cost(1, lap));
    for row in &effects.rows[1..4] {
        let expected = (cost(row.lap) - cost(3)) / f64::from(FASTEST);
        assert!((row.before_stop.change.unwrap() - expected).abs() < 1e-12, "{row:?} {expected}");
        // One race says nothing about other races.
        assert_eq!((row.before_stop.standard_error, row.same_lap.low), (None, None));
    }
    // The drivers' levels are 700 to 4,200, and driver 99 has loss 0 in lap 1 only.
    let median = |lap| (3.5 * 700.0 + cost(lap)) / f64::from(FASTEST);
    assert!((effects.rows[2].median_before_stop.unwrap() - median(3)).abs() < 1e-12);
}

#[test]
fn every_lap_is_counted_once_for_the_first_reason() {
    // The driver stops on laps 4, 5 and 12. Lap 9 is slow. The median of all laps is 90 seconds.
    let mut times = vec![90_000; 24];
    times[8] = 97_000;
    let tables = MadeUp::default().race(1, 2015, "Example Grand Prix").laps(1, 10, &times);
    let tables = tables.stop(1, 10, 4).stop(1, 10, 5).stop(1, 10, 12).stop(1, 10, 12);
    let laps = estimate(&tables, &EffectOptions { longest: 8, ..EffectOptions::default() }).laps;
    assert_eq!((laps.all, laps.into_pits), (24, 3));
    // Laps 1, 6 and 13; lap 5 is the first of its stint too, but ends in the pits.
    assert_eq!((laps.first, laps.slow), (3, 1));
    // Laps 21 to 24 are the ninth to twelfth of their stint.
    assert_eq!((laps.late, laps.used), (4, 24 - 3 - 3 - 1 - 4));
}

#[test]
fn laps_after_an_untimed_lap_keep_their_place_in_the_stint() {
    let whole = exact(2);
    let mut files = whole.files();
    let missing: Vec<String> = files[0]
        .lines()
        .map(|line| if line.starts_with("1,2,7,") { "1,2,7,1,\\N,\\N".to_string() } else { line.to_string() })
        .collect();
    files[0] = missing.join("\n");
    let effects = stint_effects_of_tables(&crate::made_up::parse(&files).unwrap(), &options()).unwrap();
    assert_eq!(effects.reading.untimed, 1);
    for (row, before) in effects.rows.iter().zip(estimate(&whole, &options()).rows).skip(1) {
        let difference = row.same_lap.change.unwrap() - before.same_lap.change.unwrap();
        assert!(difference.abs() < 1e-11, "{row:?}");
    }
}

/// Noise on every lap, and a slope that differs from race to race: laps of one race are not independent.
fn noisy(instance: u64, races: u32) -> MadeUp {
    let mut stream = StreamKey::new(11, "stint-effects", instance).noise();
    let noise = Normal::new(0.0, 400.0).unwrap();
    let slopes = Normal::new(60.0, 60.0).unwrap();
    let mut made_up = MadeUp::default();
    for race in 1..=races {
        made_up = made_up.race(race, 2012, "Example Grand Prix").lap(race, 99, 1, FASTEST);
        let slope = slopes.sample(&mut stream);
        for driver in 1..=8 {
            let mut stint = 0;
            for lap in 1..=30 {
                stint += 1;
                let time = f64::from(FASTEST + 10_000 + 300 * driver + race_cost(race, lap))
                    + slope * f64::from(stint)
                    + noise.sample(&mut stream);
                made_up = made_up.lap(race, driver, lap, time.round() as u32);
                if lap > 3 && stream.random::<f64>() < 0.08 {
                    made_up = made_up.stop(race, driver, lap);
                    stint = 0;
                }
            }
        }
    }
    made_up
}

/// The true change per lap is 60 ms. The mean over 150 tables must be right within 4 standard errors. The standard
/// error of the bootstrap must be the standard deviation over tables within 20 %: the latter is known to 6 %, and a
/// bootstrap of 25 races is 2 % too small.
#[test]
fn effects_with_noise_are_unbiased_and_standard_errors_are_right() {
    let tables = 150;
    let (mut found, mut errors, mut covered) = (Vec::new(), 0.0, 0);
    let truth = 60.0 * 7.0 / f64::from(FASTEST);
    for instance in 0..tables {
        let row = estimate(&noisy(instance, 25), &options()).rows[9].same_lap;
        found.push(row.change.unwrap());
        errors += row.standard_error.unwrap() / tables as f64;
        covered += usize::from(row.low.unwrap() <= truth && truth <= row.high.unwrap());
    }
    let mean = found.iter().sum::<f64>() / tables as f64;
    let sd = (found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (tables as f64 - 1.0)).sqrt();
    assert!((mean - truth).abs() < 4.0 * sd / (tables as f64).sqrt(), "{mean} {truth} {sd}");
    assert!((errors / sd - 1.0).abs() < 0.2, "{errors} {sd}");
    // Quantiles of a bootstrap of 25 races cover a little less than 95 %.
    assert!(covered as f64 >= 0.86 * tables as f64, "{covered}");
}

#[test]
fn the_seed_decides_the_standard_errors_and_the_order_of_rows_nothing() {
    let made_up = noisy(0, 6);
    let first = estimate(&made_up, &options());
    assert_eq!(first, estimate(&made_up, &options()));
    let mut shuffled = made_up.files();
    for file in &mut shuffled {
        let (header, rows) = file.split_once('\n').unwrap();
        let mut rows: Vec<&str> = rows.lines().collect();
        rows.reverse();
        *file = format!("{header}\n{}", rows.join("\n"));
    }
    assert_eq!(first, stint_effects_of_tables(&crate::made_up::parse(&shuffled).unwrap(), &options()).unwrap());
    let other = estimate(&made_up, &EffectOptions { seed: 2, ..options() });
    for (one, other) in first.rows.iter().zip(&other.rows).skip(3) {
        assert_eq!(one.same_lap.change, other.same_lap.change);
        assert_ne!(one.same_lap.standard_error, other.same_lap.standard_error);
    }
}

#[test]
fn without_stops_on_different_laps_only_the_curve_before_the_stop_is_known() {
    let mut made_up = MadeUp::default();
    for race in 1..=3 {
        made_up = made_up.race(race, 2011, "Example Grand Prix");
        for driver in 1..=4 {
            let times: Vec<u32> = (1..=12).map(|lap| 90_000 - 300 * lap + 100 * driver).collect();
            made_up = made_up.laps(race, driver, &times).stop(race, driver, 12);
        }
    }
    let effects = estimate(&made_up, &options());
    for row in effects.rows.iter().filter(|row| row.lap != 3) {
        assert_eq!((row.same_lap.change, row.same_lap.trend()), (None, LossTrend::Unknown));
    }
    assert!(effects.rows[3..11].iter().all(|row| row.before_stop.trend() == LossTrend::Falls));
}

#[test]
fn races_of_other_years_and_without_records_are_left_out() {
    let tables = exact(2).race(7, 2010, "Old Grand Prix").laps(7, 10, &[90_000; 9]).stop(7, 10, 5);
    let tables = tables.race(8, 2011, "Unrecorded Grand Prix").laps(8, 10, &[90_000; 9]).laps(9, 10, &[90_000; 9]);
    assert_eq!(estimate(&tables, &options()), {
        let mut expected = estimate(&exact(2), &options());
        expected.reading = tables.tables().reading;
        expected
    });
    let none = EffectOptions { first_year: 2018, last_year: 2019, ..options() };
    let error = stint_effects_of_tables(&tables.tables(), &none).unwrap_err();
    assert!(matches!(error, F1Error::NoStops { first_year: 2018, last_year: 2019 }));
    assert!(error.to_string().contains("from 2018 to 2019") && error.to_string().contains("--first-year"), "{error}");
}

#[test]
fn invalid_options_missing_files_and_crowded_races_are_errors() {
    let tables = exact(1).tables();
    for (options, name) in [
        (EffectOptions { last_year: 2010, ..options() }, "`last-year` is 2010"),
        (EffectOptions { longest: 3, ..options() }, "`longest` is 3"),
        (EffectOptions { longest: 201, ..options() }, "`longest` is 201"),
        (EffectOptions { slow_lap: 1.0, ..options() }, "`slow-lap` is 1"),
        (EffectOptions { slow_lap: f64::NAN, ..options() }, "`slow-lap` is NaN"),
        (EffectOptions { resamples: 19, ..options() }, "`resamples` is 19"),
    ] {
        let message = stint_effects_of_tables(&tables, &options).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
    let folder = tempfile::TempDir::new().unwrap();
    let [laps, _, races, drivers] = exact(1).files();
    for (name, content) in [("lap_times.csv", laps), ("races.csv", races), ("drivers.csv", drivers)] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let message = stint_effects(folder.path(), &options()).unwrap_err().to_string();
    assert!(message.contains("pit_stops.csv") && message.contains("must have"), "{message}");
    assert!(!message.contains("infer"), "stops cannot be inferred here: {message}");
    let mut crowd = MadeUp::default().race(1, 2011, "Crowded Grand Prix").stop(1, 1, 2);
    for driver in 1..=1001 {
        crowd = crowd.laps(1, driver, &[90_000, 91_000, 92_000]);
    }
    let message = stint_effects_of_tables(&crowd.tables(), &options()).unwrap_err().to_string();
    assert!(message.contains("Crowded Grand Prix has 1001 drivers"), "{message}");
}

#[test]
fn csv_and_figure_have_both_curves() {
    let effects = estimate(&exact(2), &options());
    let mut csv = Vec::new();
    effects.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 13);
    assert!(lines[0].starts_with("lap,same_lap_laps,same_lap_change,same_lap_standard_error,"), "{}", lines[0]);
    assert!(lines.iter().all(|line| line.split(',').count() == 12));
    assert!(lines[1].starts_with("1,0,,,,,0,"), "unknown numbers are empty: {}", lines[1]);
    let figure = stint_figure(&effects);
    let points: Vec<usize> = figure.panels[0].series.iter().map(|series| series.points.len()).collect();
    assert_eq!(points[0], 11);
    let last = figure.panels[0].series[0].points.last().unwrap();
    assert_eq!((last.x, last.mean), (12.0, 100.0 * effects.rows[11].same_lap.change.unwrap()));
}
