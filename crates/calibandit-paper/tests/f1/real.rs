//! Tests on the public tables themselves.

use calibandit_paper::f1::{Options, Stops, Study, Tables, shipped, stints, study};

use crate::f1_data;

#[test]
#[ignore = "needs the F1 tables"]
fn the_german_grand_prix_of_2001_has_ten_laps_and_whole_races_have_thirteen() {
    let folder = f1_data::folder();
    let tables = Tables::read(&folder, true).unwrap();
    let laps = |stops| {
        let races = stints(&tables, &Options { stops, ..Options::default() });
        races.iter().find(|race| race.race == 152).unwrap().drivers[0].1.len()
    };
    assert_eq!((laps(Stops::Recorded), laps(Stops::WholeRace)), (10, 13));
    assert_eq!(tables.race(152), (Some(2001), "German Grand Prix".to_string()));
}

fn whole() -> Study {
    study(&f1_data::folder(), &Options::default(), 2, &|_, _| {}).unwrap()
}

/// The shipped table is what comes out of the data by the stated rule. Parameters are badly conditioned, so curves are
/// compared.
#[test]
#[ignore = "needs the F1 tables"]
fn the_shipped_pairs_are_the_selected_ones() {
    let study = whole();
    let (literal, all) = study.literal_pairs();
    assert!(literal.len() > 1000 && literal.len() < all, "thousands, not ten: {}", literal.len());
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
    // A level is worth its parameter, by far.
    let comparison = study.comparison();
    assert!(comparison.aic[1] < comparison.aic[0] && comparison.aicc[1] < comparison.aicc[0]);
    assert!(comparison.plateau_better * 2 > comparison.driver_races);
}
