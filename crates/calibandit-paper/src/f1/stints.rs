//! Selects the laps for the fit: the laps of each driver before the first pit stop (a stint), normalised per race.

use calibandit_experiment::stats::median;
use serde::{Deserialize, Serialize};

use super::tables::{F1Tables, LapTime};

/// How a driver's first pit stop is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Stops {
    /// From the records, in races that have records (2011 on); otherwise inferred.
    ///
    /// The lap of the stop is dropped, since it ends in the pits.
    #[default]
    Recorded,
    /// From the lap times, in every race: the first slow lap is the one out of the pits.
    ///
    /// A lap after the first counts as slow if it takes more than [`StintOptions::slow_lap`] times the driver's median
    /// lap. It is dropped, and so is the lap before it, which ends in the pits.
    Infer,
    /// Not at all: whole races are fitted, stops included.
    WholeRace,
}

/// The set of laps of a race whose fastest becomes 0 and whose slowest becomes 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Normalise {
    /// All laps of all drivers, as in the paper.
    #[default]
    All,
    /// All laps of the eligible drivers.
    Eligible,
    /// The laps of the eligible drivers before their first stops.
    BeforeStop,
}

/// The choices about lap times that the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StintOptions {
    /// How a driver's first pit stop is found.
    pub stops: Stops,
    /// The laps that define 0 and 1.
    pub normalise: Normalise,
    /// A driver with fewer laps than this before the first stop is not eligible. The paper has 8.
    pub least_laps: usize,
    /// If stops are inferred: a lap that takes more than this multiple of the driver's median lap counts as slow.
    pub slow_lap: f64,
}

impl Default for StintOptions {
    fn default() -> Self {
        Self { stops: Stops::default(), normalise: Normalise::default(), least_laps: 8, slow_lap: 1.07 }
    }
}

/// The eligible drivers of one race.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceStints {
    /// The race's number.
    pub race: u32,
    /// Whether the stops come from records.
    pub recorded_stops: bool,
    /// Each eligible driver's number and normalised lap times. All have the length of the shortest stint.
    pub drivers: Vec<(u32, Vec<f64>)>,
}

/// The eligible drivers per race, for every race that has any.
pub fn stints(tables: &F1Tables, options: &StintOptions) -> Vec<RaceStints> {
    let races = tables.laps.chunk_by(|a, b| a.race == b.race);
    races.filter_map(|laps| race_stints(tables, options, laps)).collect()
}

fn race_stints(tables: &F1Tables, options: &StintOptions, laps: &[LapTime]) -> Option<RaceStints> {
    let race = laps.first()?.race;
    let recorded_stops = options.stops == Stops::Recorded && tables.with_stops.contains(&race);
    let mut eligible: Vec<(&[LapTime], &[LapTime])> = Vec::new();
    for laps in laps.chunk_by(|a, b| a.driver == b.driver) {
        let end = match options.stops {
            Stops::WholeRace => usize::MAX,
            Stops::Recorded if recorded_stops => {
                tables.first_stop(race, laps[0].driver).map_or(usize::MAX, |lap| lap as usize - 1)
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
    // If all laps of a race are equal, they cannot be normalised.
    let spread = f64::from(slowest.checked_sub(fastest).filter(|&spread| spread > 0)?);
    let normalised = |lap: &LapTime| (f64::from(lap.milliseconds) - f64::from(fastest)) / spread;
    let drivers = eligible
        .into_iter()
        .map(|(_, stint)| (stint[0].driver, stint[..shortest].iter().map(normalised).collect()))
        .collect();
    Some(RaceStints { race, recorded_stops, drivers })
}

/// The number of laps from the first one on without a gap.
fn unbroken(laps: &[LapTime]) -> usize {
    laps.iter().zip(1..).take_while(|(lap, number)| lap.lap == *number).count()
}

/// The number of laps before the lap into the pits.
fn before_inferred_stop(laps: &[LapTime], slow_lap: f64) -> usize {
    let limit = slow_lap * median(laps.iter().map(|lap| f64::from(lap.milliseconds)));
    let out = laps.iter().find(|lap| lap.lap > 1 && f64::from(lap.milliseconds) > limit);
    out.map_or(usize::MAX, |out| out.lap as usize - 2)
}

fn extremes<'a>(laps: impl Iterator<Item = &'a LapTime>) -> (u32, u32) {
    laps.fold((u32::MAX, 0), |(low, high), lap| (low.min(lap.milliseconds), high.max(lap.milliseconds)))
}
