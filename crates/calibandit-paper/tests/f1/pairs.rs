//! The study on tables of known lap-time models, and the condition on pairs against a direct calculation.

use calibandit::rng::{Stream, StreamKey};
use calibandit_experiment::GameSource;
use calibandit_experiment::schedule::ProgressUpdate;
use calibandit_fit::WarmUp;
use calibandit_paper::f1::{LEAST_GAP, StintOptions, Stops, Study, experiments, figure, shipped, study_tables};
use rand_distr::{Distribution, Normal};

use crate::made_up::MadeUp;

const FASTEST: f64 = 80_000.0;
const SLOWEST: f64 = 180_000.0;

/// Laps of a known curve in normalised time, with noise, as milliseconds of a race from 80 to 180 seconds.
fn laps([alpha, beta, gamma]: [f64; 3], sd: f64, count: u32, stream: &mut Stream) -> Vec<u32> {
    let noise = Normal::new(0.0, sd).unwrap();
    (1..=count)
        .map(|k| beta * (-alpha * f64::from(k)).exp() - gamma * f64::from(k) + noise.sample(stream))
        .map(|loss| (FASTEST + loss * (SLOWEST - FASTEST)).round() as u32)
        .collect()
}

/// Races whose drivers all have the same curve. Driver 99 sets the scale: its laps are the fastest and the slowest.
fn tables(races: u32, curve: [f64; 3], sd: f64, count: u32) -> MadeUp {
    let mut stream = StreamKey::new(3, "f1", 0).game();
    let mut made_up = MadeUp::default();
    for race in 1..=races {
        made_up =
            made_up.race(race, 2011 + race, "Example Grand Prix").laps(race, 99, &[SLOWEST as u32, FASTEST as u32]);
        for driver in 1..=4 {
            made_up = made_up.laps(race, driver, &laps(curve, sd, count, &mut stream)).stop(race, driver, count + 1);
        }
    }
    made_up
}

fn study(made_up: &MadeUp) -> Study {
    study_tables(&made_up.tables(), &StintOptions::default(), 2, &()).unwrap()
}

#[test]
fn known_models_are_recovered_within_their_standard_errors() {
    // All parameters are far from the borders of their ranges, so that standard errors are valid.
    let (curve, sd) = ([0.1, 0.9, 0.01], 0.0005);
    let study = study(&tables(40, curve, sd, 14));
    assert_eq!((study.races, study.drivers.len()), (40, 160));
    let mut deviations = Vec::new();
    for driver in &study.drivers {
        let (fit, errors) = (&driver.exponential_linear, driver.exponential_linear.standard_errors);
        let found = [(fit.alpha, errors.alpha), (fit.beta, errors.beta), (fit.gamma, errors.gamma)];
        deviations.extend(found.iter().zip(curve).map(|(&(found, error), truth)| (found - truth) / error.unwrap()));
        assert_eq!(driver.fit(WarmUp::Plateau).model, WarmUp::Plateau);
    }
    // Student's t with 11 degrees of freedom: 93 % are within 2 and all but one in 10^4 within 6.
    assert!(deviations.iter().all(|z| z.abs() < 6.5), "{deviations:?}");
    let within = deviations.iter().filter(|z| z.abs() < 2.0).count() as f64 / deviations.len() as f64;
    assert!((0.86..=0.985).contains(&within), "{within}");
    // The fit uses three of fourteen degrees of freedom.
    let mean_square = study.drivers.iter().map(|driver| driver.exponential_linear.sd.powi(2)).sum::<f64>() / 160.0;
    assert!((mean_square / (sd * sd * 11.0 / 14.0) - 1.0).abs() < 0.15, "{mean_square}");
}

#[test]
fn study_does_not_depend_on_threads_and_progress_reaches_the_end() {
    let tables = tables(3, [0.3, 0.5, 0.0], 0.02, 10).tables();
    let last = std::sync::Mutex::new((0, 0));
    let one = study_tables(&tables, &StintOptions::default(), 1, &()).unwrap();
    let many = study_tables(&tables, &StintOptions::default(), 4, &|update: ProgressUpdate| {
        *last.lock().unwrap() = (update.done, update.total);
    });
    assert_eq!(one, many.unwrap());
    assert_eq!(*last.lock().unwrap(), (12, 12));
}

#[test]
fn literal_pairs_meet_the_condition_in_both_directions() {
    let study = study(&tables(10, [0.3, 0.5, 0.0], 0.1, 10));
    let (pairs, all) = study.literal_pairs();
    assert_eq!(all, 10 * 6);
    let mut by_hand = 0;
    for race in study.drivers.chunk_by(|a, b| a.race_id == b.race_id) {
        for (i, one) in race.iter().enumerate() {
            for other in &race[..i] {
                let (a, b) = (one.exponential_linear.mean(10), other.exponential_linear.mean(10));
                let (va, vb) = (one.exponential_linear.sse / 10.0, other.exponential_linear.sse / 10.0);
                by_hand += usize::from(b - vb <= a && a <= b + vb && a - va <= b && b <= a + va);
            }
        }
    }
    assert_eq!(pairs.len(), by_hand);
    assert!(by_hand > 0);
}

#[test]
fn selection_keeps_one_pair_per_number_of_laps() {
    let mut made_up = MadeUp::default();
    let mut stream = StreamKey::new(4, "f1", 0).game();
    for race in 1..=30 {
        let count = 8 + race % 5;
        made_up = made_up.race(race, 2011, &format!("Race {race}")).laps(race, 99, &[SLOWEST as u32, FASTEST as u32]);
        for driver in 1..=6 {
            made_up = made_up.laps(race, driver, &laps([0.25, 0.6, 0.0], 0.04, count, &mut stream)).stop(
                race,
                driver,
                count + 1,
            );
        }
    }
    let study = study(&made_up);
    let selected = study.selected_pairs();
    let lengths: Vec<usize> = selected.iter().map(|pair| pair.laps).collect();
    assert_eq!(lengths, [8, 9, 10, 11, 12]);
    for pair in &selected {
        assert!(pair.gap() <= pair.limit() && pair.gap() >= LEAST_GAP);
        let all = study.literal_pairs().0;
        let rivals = all.iter().filter(|other| other.laps == pair.laps && other.gap() >= LEAST_GAP);
        let playable = rivals.filter(|other| {
            other.drivers.iter().all(|driver| (1..=other.laps).all(|k| (0.0..=1.0).contains(&driver.mean(k))))
        });
        assert!(playable.into_iter().all(|other| other.r_squared() <= pair.r_squared()));
        assert_eq!(pair.reasons().len(), 4);
    }
    let drawn = figure(&selected);
    assert_eq!(drawn.panels.len(), 5);
    assert_eq!(drawn.panels[0].series[0].observations.len(), 8, "laps are drawn as dots");
}

#[test]
fn shipped_pairs_can_be_drawn_without_data() {
    let pairs = shipped();
    assert_eq!(pairs.len(), 10);
    assert_eq!((pairs[0].name().as_str(), pairs[0].laps), ("2001-german", 10));
    let drawn = figure(&pairs);
    assert_eq!(drawn.panels.len(), 10);
    for (pair, panel) in pairs.iter().zip(&drawn.panels) {
        assert!(panel.series.iter().all(|series| series.observations.is_empty() && series.points.len() == pair.laps));
        assert!(panel.series.iter().flat_map(|series| &series.points).all(|point| point.sigma.is_some()));
    }
}

#[test]
fn models_are_written_one_row_per_driver_race_without_laps() {
    let study = study(&tables(2, [0.3, 0.5, 0.0], 0.02, 10));
    for model in [WarmUp::ExponentialLinear, WarmUp::Plateau] {
        let mut file = Vec::new();
        study.write_csv(model, &mut file).unwrap();
        let mut reader = csv::Reader::from_reader(file.as_slice());
        let header = reader.headers().unwrap().clone();
        let column = |name: &str| header.iter().position(|other| other == name).unwrap();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 8);
        for (row, driver) in rows.iter().zip(&study.drivers) {
            assert_eq!(row[column("sse")].parse::<f64>().unwrap(), driver.fit(model).sse);
            assert_eq!(&row[column("stops")], "recorded");
        }
    }
    let json = serde_json::to_value(&study).unwrap();
    assert!(json["drivers"][0].get("laps").is_none());
    let whole = StintOptions { stops: Stops::WholeRace, ..StintOptions::default() };
    let whole = study_tables(&tables(1, [0.3, 0.5, 0.0], 0.02, 10).tables(), &whole, 1, &()).unwrap();
    assert!(!whole.drivers[0].recorded_stops);
}

#[test]
fn experiments_on_selected_pairs_equal_those_on_shipped_pairs() {
    let own = experiments(&shipped()).unwrap();
    assert_eq!(own.len(), 10);
    let shipped_sweep = calibandit_paper::experiments::F1_CPR.read().unwrap();
    let shipped_points = shipped_sweep.points();
    for (spec, point) in own.iter().zip(shipped_points) {
        let points = spec.points();
        assert_eq!(points.len(), 1);
        assert_eq!(points[0].policies, point.policies, "{}", spec.name());
        let draw = |game: &GameSource| game.draw(&mut StreamKey::new(1, "f1", 0).game()).unwrap();
        let (inline, named) = (draw(&points[0].game), draw(&point.game));
        assert_eq!(inline.arms(), named.arms(), "{}", spec.name());
        let told = points[0].policies.iter().filter_map(|entry| entry.policy.memory_bound());
        assert!(told.into_iter().all(|bound| bound == named.memory() as u64), "M = m");
    }
}
