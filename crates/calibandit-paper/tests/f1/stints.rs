//! The selection and normalisation of laps.

use calibandit_paper::f1::{Normalise, StintOptions, Stops, stints};

use crate::made_up::MadeUp;

/// The paper's example: drivers with 8, 9 and 10 laps before the stop are all cut to 8.
fn example() -> MadeUp {
    let steady = |laps: usize| vec![90_000; laps];
    MadeUp::default()
        .race(1, 2011, "Example Grand Prix")
        .laps(1, 10, &steady(30))
        .laps(1, 11, &steady(30))
        .laps(1, 12, &steady(30))
        .laps(1, 13, &[80_000, 100_000])
        .stop(1, 10, 9)
        .stop(1, 11, 10)
        .stop(1, 12, 25)
        .stop(1, 12, 11)
}

fn options(stops: Stops, normalise: Normalise) -> StintOptions {
    StintOptions { stops, normalise, ..StintOptions::default() }
}

#[test]
fn stints_are_cut_to_the_shortest_as_in_the_papers_example() {
    let races = stints(&example().tables(), &StintOptions::default());
    assert_eq!(races.len(), 1);
    assert!(races[0].recorded_stops);
    let lengths: Vec<(u32, usize)> = races[0].drivers.iter().map(|(driver, laps)| (*driver, laps.len())).collect();
    assert_eq!(lengths, [(10, 8), (11, 8), (12, 8)]);
    // All laps of all drivers: from 80 to 100 seconds.
    assert!(races[0].drivers.iter().all(|(_, laps)| laps.iter().all(|&loss| loss == 0.5)));
}

#[test]
fn driver_who_stops_on_lap_8_is_not_eligible_and_whole_races_ignore_stops() {
    let tables = example().stop(1, 10, 8).tables();
    let drivers = stints(&tables, &StintOptions::default())[0].drivers.clone();
    assert_eq!(drivers.iter().map(|(driver, _)| *driver).collect::<Vec<_>>(), [11, 12]);
    let whole = stints(&tables, &options(Stops::WholeRace, Normalise::All));
    assert!(whole[0].drivers.iter().all(|(_, laps)| laps.len() == 30) && !whole[0].recorded_stops);
}

#[test]
fn stops_are_inferred_in_races_without_records() {
    // In on lap 11, out on lap 12, which is 1.08 times the median. The first lap is slow too, but that is the start.
    let mut times = vec![100_000; 30];
    (times[0], times[10], times[11]) = (120_000, 104_000, 108_000);
    let tables = MadeUp::default().laps(1, 10, &times).tables();
    let races = stints(&tables, &StintOptions::default());
    assert_eq!(races[0].drivers[0].1.len(), 10);
    assert!(!races[0].recorded_stops);
    // Exactly 1.07 times the median is not slow.
    times[11] = 107_000;
    let tables = MadeUp::default().laps(1, 10, &times).tables();
    assert_eq!(stints(&tables, &StintOptions::default())[0].drivers[0].1.len(), 30);
    // With a lower limit, the lap into the pits counts as slow.
    let strict = StintOptions { slow_lap: 1.035, ..StintOptions::default() };
    assert_eq!(stints(&tables, &strict)[0].drivers[0].1.len(), 9);
}

#[test]
fn infer_ignores_recorded_stops() {
    let mut times = vec![100_000; 30];
    times[20] = 120_000;
    let tables = MadeUp::default().laps(1, 10, &times).stop(1, 10, 10).tables();
    assert_eq!(stints(&tables, &StintOptions::default())[0].drivers[0].1.len(), 9);
    assert_eq!(stints(&tables, &options(Stops::Infer, Normalise::All))[0].drivers[0].1.len(), 19);
}

#[test]
fn gap_ends_the_stint_and_missing_first_lap_leaves_none() {
    let mut made_up = MadeUp::default().race(1, 2011, "Example Grand Prix");
    for lap in (1..=9).chain(11..=30) {
        made_up = made_up.lap(1, 10, lap, 90_000 + lap);
    }
    for lap in 2..=30 {
        made_up = made_up.lap(1, 11, lap, 90_000 + lap);
    }
    let races = stints(&made_up.tables(), &options(Stops::WholeRace, Normalise::All));
    assert_eq!(races[0].drivers.len(), 1);
    assert_eq!(races[0].drivers[0].1.len(), 9);
}

#[test]
fn every_normalisation_matches_hand_calculation() {
    // The eligible driver: 92 to 99 seconds, then the stop at 110. Another driver: 90 and 120.
    let times: Vec<u32> = (0..8).map(|i| 99_000 - 1000 * i).chain([110_000]).collect();
    let tables = MadeUp::default().laps(1, 10, &times).laps(1, 11, &[120_000, 90_000]).stop(1, 10, 9).tables();
    let first = |normalise| stints(&tables, &options(Stops::Recorded, normalise))[0].drivers[0].1[0];
    assert_eq!(first(Normalise::All), (99.0 - 90.0) / (120.0 - 90.0));
    assert_eq!(first(Normalise::Eligible), (99.0 - 92.0) / (110.0 - 92.0));
    assert_eq!(first(Normalise::BeforeStop), 1.0);
}

#[test]
fn race_with_equal_laps_is_left_out() {
    let tables = MadeUp::default().laps(1, 10, &[90_000; 12]).tables();
    assert_eq!(stints(&tables, &StintOptions::default()), []);
}
