//! Tests on the public tables. They are skipped if the tables are not available.

use calibandit_fit::{Observation, WarmUp, fit};
use calibandit_paper::f1::{
    EffectOptions, F1Tables, LossTrend, StintOptions, Stops, Study, shipped, stint_effects, stints, study,
};

use crate::data;

#[test]
#[ignore = "needs the F1 tables"]
fn german_grand_prix_2001_has_10_laps_before_stops_and_13_as_whole_race() {
    let folder = data::folder();
    let tables = F1Tables::read(&folder, true).unwrap();
    let laps = |stops| {
        let races = stints(&tables, &StintOptions { stops, ..StintOptions::default() });
        races.iter().find(|race| race.race == 152).unwrap().drivers[0].1.len()
    };
    assert_eq!((laps(Stops::Recorded), laps(Stops::WholeRace)), (10, 13));
    assert_eq!(tables.race(152), (Some(2001), "German Grand Prix".to_string()));
}

fn whole() -> Study {
    study(&data::folder(), &StintOptions::default(), 2, &()).unwrap()
}

/// The stated rule selects the pairs of the library. The test compares curves, because parameters are badly
/// conditioned.
#[test]
#[ignore = "needs the F1 tables"]
fn stated_rule_selects_the_shipped_pairs() {
    let study = whole();
    let (literal, all) = study.literal_pairs();
    assert!(literal.len() > 1000 && literal.len() < all, "the paper says ten: {}", literal.len());
    let (selected, shipped) = (study.selected_pairs(), shipped());
    assert_eq!(selected.len(), shipped.len());
    for (found, expected) in selected.iter().zip(&shipped) {
        assert_eq!((found.name(), found.laps), (expected.name(), expected.laps));
        for (a, b) in found.drivers.iter().zip(&expected.drivers) {
            assert_eq!(a.name(), b.name());
            assert!((a.sse / b.sse - 1.0).abs() < 1e-9 && (a.r_squared - b.r_squared).abs() < 1e-9);
            assert!((1..=found.laps).all(|k| (a.mean(k) - b.mean(k)).abs() < 1e-6));
        }
    }
    // The level lowers the criterion although it is one more parameter.
    let comparison = study.comparison();
    assert!(comparison.aic[1] < comparison.aic[0] && comparison.aicc[1] < comparison.aicc[0]);
    assert!(comparison.plateau_better * 2 > comparison.driver_races);
}

/// A hundred sequences of real laps, with the least sums of squares that another program found.
#[test]
#[ignore = "needs the F1 tables"]
fn fit_is_at_least_as_good_as_the_reference_fits() {
    let folder = data::folder();
    let text = std::fs::read_to_string(folder.join("fit_reference.json")).unwrap();
    let reference: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sequences = reference["sequences"].as_array().unwrap();
    assert!(!sequences.is_empty());
    for sequence in sequences {
        let laps: Vec<f64> = sequence["laps"].as_array().unwrap().iter().map(|lap| lap.as_f64().unwrap()).collect();
        let seen: Vec<Observation> =
            laps.iter().zip(1..).map(|(&loss, position)| Observation { position, loss }).collect();
        let found = fit(WarmUp::ExponentialLinear, &seen).unwrap();
        let least = sequence["fit"]["sse"].as_f64().unwrap();
        assert!(found.sse <= least * (1.0 + 1e-6), "{} {least} {}", found.sse, sequence["raceId"]);
    }
}

/// The effects that another program found on the same tables, rounded to 0.01 % of the fastest lap.
#[test]
#[ignore = "needs the F1 tables"]
fn laps_get_slower_with_the_stint_as_another_program_found() {
    let effects = stint_effects(&data::folder(), &EffectOptions::default()).unwrap();
    assert_eq!((effects.races, effects.driver_races), (196, 4057));
    for (lap, percent) in [(5, 0.27), (10, 0.62), (20, 1.04), (25, 1.23)] {
        let change = 100.0 * effects.rows[lap - 1].same_lap.change.unwrap();
        assert!((change - percent).abs() < 0.0051, "lap {lap}: {change}");
    }
    for (lap, percent) in [(5, 0.02), (25, 0.06)] {
        let error = 100.0 * effects.rows[lap - 1].same_lap.standard_error.unwrap();
        assert!((error - percent).abs() < 0.0051, "lap {lap}: {error}");
    }
    for row in &effects.rows[3..] {
        assert_eq!((row.same_lap.trend(), row.before_stop.trend()), (LossTrend::Rises, LossTrend::Falls), "{row:?}");
    }
}
