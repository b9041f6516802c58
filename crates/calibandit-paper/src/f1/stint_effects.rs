//! How the loss changes with the lap of a stint, over all stints: does a driver warm up?
//!
//! A stint is the laps of a driver from the start or from a pit stop to the next stop. The loss of a lap is the
//! fraction by which it is slower than the fastest lap of the race. Two curves are estimated, both relative to the
//! third lap:
//!
//! 1. *On the same lap of the race*, over all stints: the effects of each driver in each race and of each lap of each
//!    race are removed ([`within`](super::within)). What all drivers share on a lap (fuel, track, most of a safety
//!    car) cancels, because drivers stop on different laps.
//! 2. *Before the first stop*, as in the paper: only the effects of drivers are removed. Here the lap of the stint is
//!    the lap of the race, so a change can be due to either, and no statistic can tell which.
//!
//! Standard errors are by a bootstrap over races, because laps of one race are not independent.
//!
//! # Which laps count
//!
//! | laps | treatment |
//! |---|---|
//! | the lap of a recorded stop | left out: it ends in the pits |
//! | the first lap of a stint | left out: it begins in the pits, or with the standing start |
//! | slower than [`slow_lap`](EffectOptions::slow_lap) times the driver's median | left out: safety cars, red flags |
//! | after the [`longest`](EffectOptions::longest) lap of a stint | left out: too few to estimate |
//! | of drivers who retire or are lapped | kept: their laps are compared with laps of the same number |
//! | without a time | missing; laps are counted by number, so the laps after them keep their place in the stint |
//!
//! # Limits
//!
//! Stops are chosen: a driver whose tyres last stays out longer, so a rise is underestimated if anything. Traffic, and
//! safety cars that not all drivers meet on the same lap, are noise. Stops under a red flag may not be recorded, and
//! drive-through penalties are recorded as stops. Tyres are not in the tables, so the wear of tyres and the fatigue of
//! drivers cannot be separated.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use calibandit::StreamKey;
use calibandit_experiment::stats::{Spread, median, quantile};
use rand::RngExt;
use serde::Serialize;

use super::study::F1Error;
use super::tables::{F1Tables, LapTime, ReadCounts};
use super::within::{CrossProducts, Removed, WithinRow};

/// The lap of the stint to which all others are compared: the first lap is left out, and on the second one tyres and
/// brakes are often still cold.
pub const REFERENCE_LAP: u32 = 3;

/// The largest accepted number of drivers of a race. The effects of drivers are solved together, so time and memory
/// grow with the square of their number.
const MOST_DRIVERS: usize = 1000;

/// A standard error needs this share of resamples that determine the effect.
const DETERMINED: f64 = 0.9;

/// Which laps count, and how the bootstrap is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EffectOptions {
    /// The first year. Stops are recorded from 2011 on.
    pub first_year: u32,
    /// The last year. The default is 2020, the last year of the published numbers.
    pub last_year: u32,
    /// The longest lap of a stint that has an effect of its own; later laps are left out.
    pub longest: u32,
    /// A lap that takes more than this multiple of the driver's median lap is left out; infinity keeps all laps.
    pub slow_lap: f64,
    /// The number of resamples of the bootstrap.
    pub resamples: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
}

impl Default for EffectOptions {
    fn default() -> Self {
        Self { first_year: 2011, last_year: 2020, longest: 40, slow_lap: 1.07, resamples: 1000, seed: 1 }
    }
}

impl EffectOptions {
    fn check(&self) -> Result<(), F1Error> {
        let fail = |option, value, expected| Err(F1Error::Option { option, value, expected });
        if self.last_year < self.first_year {
            return fail("last-year", f64::from(self.last_year), "at least `--first-year`");
        }
        if !(REFERENCE_LAP + 1..=200).contains(&self.longest) {
            return fail("longest", f64::from(self.longest), "from 4 to 200");
        }
        let is_factor = self.slow_lap > 1.0;
        if !is_factor {
            return fail("slow-lap", self.slow_lap, "more than 1; `inf` keeps all laps");
        }
        if !(20..=1_000_000).contains(&self.resamples) {
            return fail("resamples", self.resamples as f64, "from 20 to 1,000,000");
        }
        Ok(())
    }
}

/// The change of the loss over the laps of a stint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StintEffects {
    /// Which laps were used, and how the bootstrap was drawn.
    pub options: EffectOptions,
    /// The numbers of rows that were read.
    pub reading: ReadCounts,
    /// The number of races of these years with recorded stops.
    pub races: usize,
    /// The number of drivers of these races, summed over races.
    pub driver_races: usize,
    /// The numbers of laps that were used and left out.
    pub laps: LapUse,
    /// The effects, by lap of the stint from 1.
    pub rows: Vec<StintRow>,
}

/// The numbers of laps that were used and left out. Each lap counts once, for the first reason that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LapUse {
    /// All timed laps of the races.
    pub all: usize,
    /// Laps of a recorded stop.
    pub into_pits: usize,
    /// First laps of stints.
    pub first: usize,
    /// Slow laps.
    pub slow: usize,
    /// Laps after the longest lap of a stint that is estimated.
    pub late: usize,
    /// Laps that were used.
    pub used: usize,
}

/// One lap of the stint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StintRow {
    /// The lap of the stint, from 1.
    pub lap: u32,
    /// The change since the third lap, over all stints, between drivers on the same lap of the same race.
    pub same_lap: LossChange,
    /// The change since the third lap, before the first stop, within drivers.
    pub before_stop: LossChange,
    /// The median loss of this lap before the first stop, slow laps included.
    pub median_before_stop: Option<f64>,
}

/// A change of the loss since the third lap of the stint. The numbers are fractions of the fastest lap of the race.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossChange {
    /// The number of laps that were used.
    pub laps: usize,
    /// The change; `None` if the laps do not determine it.
    pub change: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// The lower end of the 95 % interval (quantiles of the bootstrap).
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

/// Whether the loss changes from the third lap on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossTrend {
    /// The whole interval is above 0.
    Rises,
    /// The whole interval is below 0.
    Falls,
    /// The interval has 0, or there is none.
    Unknown,
}

impl LossChange {
    /// The direction that the interval shows.
    pub fn trend(&self) -> LossTrend {
        match (self.low, self.high) {
            (Some(low), _) if low > 0.0 => LossTrend::Rises,
            (_, Some(high)) if high < 0.0 => LossTrend::Falls,
            _ => LossTrend::Unknown,
        }
    }
}

/// Reads the tables of a folder and estimates the effects of the laps of stints.
///
/// # Errors
/// [`F1Error`] if a table cannot be read, an option is out of its range, or no race has recorded stops.
pub fn stint_effects(folder: &Path, options: &EffectOptions) -> Result<StintEffects, F1Error> {
    options.check()?;
    stint_effects_of_tables(&F1Tables::read_with_stops(folder)?, options)
}

/// [`stint_effects`] for tables that are already read.
///
/// # Errors
/// As [`stint_effects`].
pub fn stint_effects_of_tables(tables: &F1Tables, options: &EffectOptions) -> Result<StintEffects, F1Error> {
    options.check()?;
    let years = options.first_year..=options.last_year;
    let mut result = StintEffects {
        options: *options,
        reading: tables.reading,
        races: 0,
        driver_races: 0,
        laps: LapUse::default(),
        rows: Vec::new(),
    };
    let columns = options.longest as usize;
    let (mut same_lap, mut before_stop) = (Vec::new(), Vec::new());
    let mut losses_before_stop: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for laps in tables.laps.chunk_by(|a, b| a.race == b.race) {
        let race = laps[0].race;
        let in_years = tables.race(race).0.is_some_and(|year| years.contains(&year));
        if !in_years || !tables.with_stops.contains(&race) {
            continue;
        }
        let selected = select(tables, options, laps, &mut result.laps);
        if selected.drivers > MOST_DRIVERS {
            return Err(F1Error::Drivers { race: tables.race(race).1, drivers: selected.drivers, most: MOST_DRIVERS });
        }
        result.races += 1;
        result.driver_races += selected.drivers;
        same_lap.push(CrossProducts::of_race(&selected.rows, columns, Removed::DriversAndLaps));
        let first: Vec<WithinRow> = selected.before_stop.iter().map(|&place| selected.rows[place]).collect();
        before_stop.push(CrossProducts::of_race(&first, columns, Removed::Drivers));
        for (lap, loss) in selected.losses_before_stop {
            losses_before_stop.entry(lap).or_default().push(loss);
        }
    }
    if result.races == 0 {
        return Err(F1Error::NoStops { first_year: options.first_year, last_year: options.last_year });
    }
    let same_lap = changes(&same_lap, options);
    let before_stop = changes(&before_stop, options);
    result.rows = (1..)
        .zip(same_lap.into_iter().zip(before_stop))
        .map(|(lap, (same_lap, before_stop))| {
            let losses = losses_before_stop.remove(&lap);
            StintRow { lap, same_lap, before_stop, median_before_stop: losses.map(median) }
        })
        .collect();
    Ok(result)
}

/// The laps of one race.
struct SelectedLaps {
    drivers: usize,
    /// The laps that are used, of all stints.
    rows: Vec<WithinRow>,
    /// The places in `rows` of the laps before the first stop.
    before_stop: Vec<usize>,
    /// Lap and loss before the first stop, slow laps and the first lap included.
    losses_before_stop: Vec<(u32, f64)>,
}

fn select(tables: &F1Tables, options: &EffectOptions, laps: &[LapTime], counts: &mut LapUse) -> SelectedLaps {
    let fastest = laps.iter().map(|lap| lap.milliseconds).min().map_or(1.0, f64::from);
    let numbers: BTreeSet<u32> = laps.iter().map(|lap| lap.lap).collect();
    let place: BTreeMap<u32, usize> = numbers.into_iter().zip(0..).collect();
    let mut selected =
        SelectedLaps { drivers: 0, rows: Vec::new(), before_stop: Vec::new(), losses_before_stop: Vec::new() };
    let no_stops = BTreeSet::new();
    for laps in laps.chunk_by(|a, b| a.driver == b.driver) {
        let stops = tables.stops.get(&(laps[0].race, laps[0].driver)).unwrap_or(&no_stops);
        let limit = options.slow_lap * median(laps.iter().map(|lap| f64::from(lap.milliseconds)));
        for lap in laps {
            counts.all += 1;
            let last_stop = stops.range(..lap.lap).next_back().copied();
            let of_stint = lap.lap - last_stop.unwrap_or(0);
            let loss = f64::from(lap.milliseconds) / fastest - 1.0;
            if stops.contains(&lap.lap) {
                counts.into_pits += 1;
                continue;
            }
            if last_stop.is_none() {
                selected.losses_before_stop.push((lap.lap, loss));
            }
            if of_stint == 1 {
                counts.first += 1;
            } else if f64::from(lap.milliseconds) > limit {
                counts.slow += 1;
            } else if of_stint > options.longest {
                counts.late += 1;
            } else {
                counts.used += 1;
                if last_stop.is_none() {
                    selected.before_stop.push(selected.rows.len());
                }
                let column = of_stint as usize - 1;
                selected.rows.push(WithinRow { driver: selected.drivers, lap: place[&lap.lap], column, loss });
            }
        }
        selected.drivers += 1;
    }
    selected
}

/// The effects with their standard errors, by a bootstrap over races.
fn changes(races: &[CrossProducts], options: &EffectOptions) -> Vec<LossChange> {
    let columns = options.longest as usize;
    let reference = REFERENCE_LAP as usize - 1;
    let sum = |times: &dyn Fn(usize) -> usize| {
        let mut sum = CrossProducts::empty(columns);
        for (race, products) in races.iter().enumerate() {
            if times(race) > 0 {
                sum.add(products, times(race));
            }
        }
        sum
    };
    let all = sum(&|_| 1);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); columns];
    // With one race all resamples are the same, and say nothing about other races.
    let resamples: Range<usize> = if races.len() > 1 { 0..options.resamples } else { 0..0 };
    for resample in resamples {
        let mut stream = StreamKey::new(options.seed, "f1-stints", resample as u64).noise();
        let mut times = vec![0; races.len()];
        for _ in races {
            times[stream.random_range(0..races.len())] += 1;
        }
        let effects = sum(&|race| times[race]).effects(reference);
        for (drawn, effect) in drawn.iter_mut().zip(effects) {
            drawn.extend(effect);
        }
    }
    let one = |((change, laps), mut drawn): ((Option<f64>, usize), Vec<f64>)| {
        let enough = change.is_some() && drawn.len() as f64 >= DETERMINED * options.resamples as f64;
        drawn.sort_unstable_by(f64::total_cmp);
        let spread = Spread::of(drawn.iter().copied()).filter(|_| enough);
        LossChange {
            laps,
            change,
            standard_error: spread.map(|spread| spread.stderr * (drawn.len() as f64).sqrt()),
            low: spread.map(|_| quantile(&drawn, 0.025)),
            high: spread.map(|_| quantile(&drawn, 0.975)),
        }
    };
    all.effects(reference).into_iter().zip(all.counts().iter().copied()).zip(drawn).map(one).collect()
}
