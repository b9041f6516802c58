//! Reads the public tables of Formula One results, in the layout of the Ergast database.
//!
//! The tables are `lap_times.csv`, `pit_stops.csv`, `races.csv` and `drivers.csv`. Rows may come in any order. A lap
//! without a time (`\N`) counts as missing. A lap that is given twice with the same time counts once; with different
//! times it is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use calibandit_fit::TableError;
use calibandit_fit::table::{read, rows};

const LAPS: &str = "lap_times.csv";
const STOPS: &str = "pit_stops.csv";
const RACES: &str = "races.csv";
const DRIVERS: &str = "drivers.csv";

const HINT: &str = "the folder must have lap_times.csv, pit_stops.csv, races.csv and drivers.csv of the public tables";
const STOPS_HINT: &str = "without recorded stops, choose `--stops infer` or `--stops whole-race`";

/// The contents of the files.
#[derive(Clone, Copy, Debug, Default)]
pub struct F1Files<'a> {
    /// Of `lap_times.csv`.
    pub laps: &'a [u8],
    /// Of `pit_stops.csv`; `None` if recorded stops are not used.
    pub stops: Option<&'a [u8]>,
    /// Of `races.csv`.
    pub races: &'a [u8],
    /// Of `drivers.csv`.
    pub drivers: &'a [u8],
}

/// The parsed tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct F1Tables {
    /// All timed laps, sorted by race, driver and lap; each lap once.
    pub(super) laps: Vec<LapTime>,
    /// The laps of each driver's recorded stops in each race.
    pub(super) stops: BTreeMap<(u32, u32), BTreeSet<u32>>,
    /// The races with any recorded stop.
    pub(super) with_stops: BTreeSet<u32>,
    races: BTreeMap<u32, (u32, String)>,
    drivers: BTreeMap<u32, String>,
    /// The numbers of rows that were read.
    pub reading: ReadCounts,
}

/// The numbers of rows that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadCounts {
    /// Rows of `lap_times.csv`.
    pub rows: usize,
    /// Rows that repeat another one.
    pub repeated: usize,
    /// Laps without a time.
    pub untimed: usize,
    /// Recorded stops.
    pub stops: usize,
}

/// One timed lap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LapTime {
    pub(super) race: u32,
    pub(super) driver: u32,
    pub(super) lap: u32,
    line: u64,
    pub(super) milliseconds: u32,
}

impl F1Tables {
    /// Reads the tables of a folder; `pit_stops.csv` only if `with_stops` is set.
    ///
    /// # Errors
    /// [`TableError`] with the file and the line.
    pub fn read(folder: &Path, with_stops: bool) -> Result<Self, TableError> {
        Self::read_files(folder, with_stops.then_some(STOPS_HINT))
    }

    /// Reads the tables of a folder for a computation that is not possible without recorded stops.
    ///
    /// # Errors
    /// [`TableError`] with the file and the line.
    pub fn read_with_stops(folder: &Path) -> Result<Self, TableError> {
        Self::read_files(folder, Some(HINT))
    }

    fn read_files(folder: &Path, stops_hint: Option<&'static str>) -> Result<Self, TableError> {
        let file = |name: &str, hint| read(&folder.join(name), hint);
        let laps = file(LAPS, HINT)?;
        let stops = stops_hint.map(|hint| file(STOPS, hint)).transpose()?;
        let (races, drivers) = (file(RACES, HINT)?, file(DRIVERS, HINT)?);
        Self::parse(F1Files { laps: &laps, stops: stops.as_deref(), races: &races, drivers: &drivers })
    }

    /// Parses the contents of the files.
    ///
    /// # Errors
    /// [`TableError`] with the file and the line.
    pub fn parse(contents: F1Files<'_>) -> Result<Self, TableError> {
        let mut tables = Self::default();
        tables.parse_laps(contents.laps)?;
        if let Some(stops) = contents.stops {
            tables.parse_stops(stops)?;
        }
        rows(RACES, contents.races, ["raceId", "year", "name"], |row| {
            tables.races.entry(row.whole(0)?).or_insert((row.whole(1)?, row.text(2).to_string()));
            Ok(())
        })?;
        rows(DRIVERS, contents.drivers, ["driverId", "forename", "surname"], |row| {
            let name = format!("{} {}", row.text(1), row.text(2)).trim().to_string();
            tables.drivers.entry(row.whole(0)?).or_insert(name);
            Ok(())
        })?;
        Ok(tables)
    }

    fn parse_laps(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        let mut all: Vec<LapTime> = Vec::new();
        let reading = &mut self.reading;
        rows(LAPS, bytes, ["raceId", "driverId", "lap", "milliseconds"], |row| {
            reading.rows += 1;
            let (race, driver, lap) = (row.whole(0)?, row.whole(1)?, row.whole(2)?);
            if row.is_missing(3) {
                reading.untimed += 1;
            } else {
                all.push(LapTime { race, driver, lap, line: row.line(), milliseconds: row.whole(3)? });
            }
            Ok(())
        })?;
        if all.is_empty() {
            return Err(TableError::Empty { file: LAPS.to_string() });
        }
        all.sort_unstable();
        for lap in all {
            let same = |before: &&LapTime| (before.race, before.driver, before.lap) == (lap.race, lap.driver, lap.lap);
            match self.laps.last().filter(same) {
                None => self.laps.push(lap),
                Some(first) if first.milliseconds == lap.milliseconds => self.reading.repeated += 1,
                Some(first) => {
                    return Err(TableError::Contradiction {
                        file: LAPS.to_string(),
                        line: lap.line,
                        first_line: first.line,
                        what: format!(
                            "the time in milliseconds of lap {} of driver {} in race {}",
                            lap.lap, lap.driver, lap.race
                        ),
                        first: first.milliseconds,
                        second: lap.milliseconds,
                    });
                }
            }
        }
        Ok(())
    }

    fn parse_stops(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        rows(STOPS, bytes, ["raceId", "driverId", "lap"], |row| {
            let (race, driver, lap) = (row.whole(0)?, row.whole(1)?, row.whole(2)?);
            self.reading.stops += 1;
            self.with_stops.insert(race);
            self.stops.entry((race, driver)).or_default().insert(lap);
            Ok(())
        })
    }

    /// The lap of a driver's first recorded stop in a race.
    pub(super) fn first_stop(&self, race: u32, driver: u32) -> Option<u32> {
        self.stops.get(&(race, driver))?.first().copied()
    }

    /// The year and the name of a race; its number if `races.csv` does not have it.
    pub fn race(&self, id: u32) -> (Option<u32>, String) {
        self.races.get(&id).map_or((None, format!("race {id}")), |(year, name)| (Some(*year), name.clone()))
    }

    /// The name of a driver; the number if `drivers.csv` does not have it.
    pub fn driver(&self, id: u32) -> String {
        self.drivers.get(&id).filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| format!("driver {id}"))
    }
}
