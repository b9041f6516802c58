//! From lap times to what is fitted: the laps of each driver from the first until the first stop, normalised by race.

use serde::{Deserialize, Serialize};

use super::tables::{Lap, Tables};

/// Where a driver's first stop is taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stops {
    /// The records, in races that have any; otherwise (before 2011) as for [`Stops::Infer`].
    ///
    /// The lap of the stop is dropped, since it ends in the pits.
    #[default]
    Recorded,
    /// In every race: the first lap after the first that is slower than [`Options::slow_lap`] times the driver's
    /// median lap is the one out of the pits. It is dropped, and so is the lap into the pits before it.
    Infer,
    /// Nowhere: whole races, stops included.
    WholeRace,
}

/// Which laps of a race become 0 and 1: the fastest and the slowest of which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalise {
    /// All laps of all drivers, as the paper's formula has it.
    #[default]
    All,
    /// All laps of the eligible drivers.
    Eligible,
    /// The laps of the eligible drivers before their first stops.
    BeforeStop,
}

/// What the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Where a driver's first stop is taken from.
    pub stops: Stops,
    /// Which laps become 0 and 1.
    pub normalise: Normalise,
    /// A driver with fewer laps than this before the first stop is not eligible. The paper's 8.
    pub least_laps: usize,
    /// How many times the median a lap out of the pits takes at least, where stops are inferred.
    pub slow_lap: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { stops: Stops::default(), normalise: Normalise::default(), least_laps: 8, slow_lap: 1.07 }
    }
}

/// The eligible drivers of one race.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceStints {
    /// The race's number.
    pub race: u32,
    /// Whether the stops are from records.
    pub recorded_stops: bool,
    /// Each eligible driver's number and normalised lap times, all of the same length: the shortest of them.
    pub drivers: Vec<(u32, Vec<f64>)>,
}

/// The eligible drivers of every race that has any, by race.
pub fn stints(tables: &Tables, options: &Options) -> Vec<RaceStints> {
    let races = tables.laps.chunk_by(|a, b| a.race == b.race);
    races.filter_map(|laps| race_stints(tables, options, laps)).collect()
}

fn race_stints(tables: &Tables, options: &Options, laps: &[Lap]) -> Option<RaceStints> {
    let race = laps.first()?.race;
    let recorded_stops = options.stops == Stops::Recorded && tables.with_stops.contains(&race);
    let mut eligible: Vec<(&[Lap], &[Lap])> = Vec::new();
    for laps in laps.chunk_by(|a, b| a.driver == b.driver) {
        let end = match options.stops {
            Stops::WholeRace => usize::MAX,
            Stops::Recorded if recorded_stops => {
                tables.first_stop.get(&(race, laps[0].driver)).map_or(usize::MAX, |&lap| lap as usize - 1)
            }
            Stops::Recorded | Stops::Infer => before_inferred_stop(laps, options.slow_lap),
        };
        let stint = &laps[..unbroken(laps).min(end)];
        if stint.len() >= options.least_laps.max(1) {
            eligible.push((laps, stint));
        }
    }
    let shortest = eligible.iter().map(|(_, stint)| stint.len()).min()?;
    let (fastest, slowest) = match options.normalise {
        Normalise::All => extremes(laps.iter()),
        Normalise::Eligible => extremes(eligible.iter().flat_map(|(all, _)| *all)),
        Normalise::BeforeStop => extremes(eligible.iter().flat_map(|(_, stint)| *stint)),
    };
    // In a race in which all laps are equal there is nothing to tell apart.
    let spread = f64::from(slowest.checked_sub(fastest).filter(|&spread| spread > 0)?);
    let normalised = |lap: &Lap| (f64::from(lap.milliseconds) - f64::from(fastest)) / spread;
    let drivers = eligible
        .into_iter()
        .map(|(_, stint)| (stint[0].driver, stint[..shortest].iter().map(normalised).collect()))
        .collect();
    Some(RaceStints { race, recorded_stops, drivers })
}

/// How many laps there are from the first one on without a gap.
fn unbroken(laps: &[Lap]) -> usize {
    laps.iter().zip(1..).take_while(|(lap, number)| lap.lap == *number).count()
}

/// How many laps there are before the lap into the pits.
fn before_inferred_stop(laps: &[Lap], slow_lap: f64) -> usize {
    let limit = slow_lap * median(laps);
    let out = laps.iter().find(|lap| lap.lap > 1 && f64::from(lap.milliseconds) > limit);
    out.map_or(usize::MAX, |out| out.lap as usize - 2)
}

fn median(laps: &[Lap]) -> f64 {
    let mut times: Vec<f64> = laps.iter().map(|lap| f64::from(lap.milliseconds)).collect();
    times.sort_unstable_by(f64::total_cmp);
    let middle = times.len() / 2;
    if times.len().is_multiple_of(2) { (times[middle - 1] + times[middle]) / 2.0 } else { times[middle] }
}

fn extremes<'a>(laps: impl Iterator<Item = &'a Lap>) -> (u32, u32) {
    laps.fold((u32::MAX, 0), |(low, high), lap| (low.min(lap.milliseconds), high.max(lap.milliseconds)))
}
