//! Generated tables in the layout of the public ones.

use std::fmt::Write;

use calibandit_fit::TableError;
use calibandit_paper::f1::{F1Files, F1Tables};

/// A builder of tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct MadeUp {
    laps: String,
    stops: String,
    races: String,
    drivers: String,
}

impl MadeUp {
    pub(crate) fn race(mut self, race: u32, year: u32, name: &str) -> Self {
        writeln!(self.races, "{race},{year},1,1,{name},{year}-01-01").unwrap();
        self
    }

    pub(crate) fn driver(mut self, driver: u32, forename: &str, surname: &str) -> Self {
        writeln!(self.drivers, "{driver},ref,\\N,\\N,{forename},{surname},\\N").unwrap();
        self
    }

    /// Adds laps from the first on, in milliseconds.
    pub(crate) fn laps(mut self, race: u32, driver: u32, times: &[u32]) -> Self {
        for (time, lap) in times.iter().zip(1..) {
            self = self.lap(race, driver, lap, time);
        }
        self
    }

    pub(crate) fn lap(mut self, race: u32, driver: u32, lap: u32, time: impl std::fmt::Display) -> Self {
        writeln!(self.laps, "{race},{driver},{lap},1,\"1:30.000\",{time}").unwrap();
        self
    }

    pub(crate) fn stop(mut self, race: u32, driver: u32, lap: u32) -> Self {
        writeln!(self.stops, "{race},{driver},1,{lap},17:05:23,\\N,\\N").unwrap();
        self
    }

    /// The four files.
    pub(crate) fn files(&self) -> [String; 4] {
        [
            format!("raceId,driverId,lap,position,time,milliseconds\n{}", self.laps),
            format!("raceId,driverId,stop,lap,time,duration,milliseconds\n{}", self.stops),
            format!("raceId,year,round,circuitId,name,date\n{}", self.races),
            format!("driverId,driverRef,number,code,forename,surname,dob\n{}", self.drivers),
        ]
    }

    pub(crate) fn tables(&self) -> F1Tables {
        parse(&self.files()).unwrap()
    }
}

pub(crate) fn parse(files: &[String; 4]) -> Result<F1Tables, TableError> {
    let [laps, stops, races, drivers] = files.each_ref().map(|file| file.as_bytes());
    F1Tables::parse(F1Files { laps, stops: Some(stops), races, drivers })
}
