//! The pairs of drivers that come with the library: models fitted to the public lap times of Formula One, 1996 to 2022.
//!
//! The numbers are in `pairs.csv`: maximum likelihood estimates of `beta·exp(-alpha·k) - gamma·k` on the laps from the
//! first until the first stop, normalised per race. The F1 study of the paper's reproduction documents how the ten were
//! chosen, and computes this table from the lap times.

use std::sync::LazyLock;

use crate::game::zoo::FittedModel;

/// A pair of drivers that comes with the library, by its race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum RacePair {
    /// The race of the paper's main text.
    #[cfg_attr(feature = "serde", serde(rename = "2001-german"))]
    German2001,
    /// The race with the fewest laps before the first stop.
    #[cfg_attr(feature = "serde", serde(rename = "2014-german"))]
    German2014,
    /// A track that dried from lap to lap.
    #[cfg_attr(feature = "serde", serde(rename = "2011-hungarian"))]
    Hungarian2011,
    /// Two drivers at the back of the field.
    #[cfg_attr(feature = "serde", serde(rename = "2021-austrian"))]
    Austrian2021,
    /// A race in the last season of the data.
    #[cfg_attr(feature = "serde", serde(rename = "2022-hungarian"))]
    Hungarian2022,
    /// A race whose pit stops were inferred, not recorded.
    #[cfg_attr(feature = "serde", serde(rename = "2008-canadian"))]
    Canadian2008,
    /// A race whose pit stops were inferred, not recorded.
    #[cfg_attr(feature = "serde", serde(rename = "2009-abu-dhabi"))]
    AbuDhabi2009,
    /// A race whose pit stops were inferred, not recorded.
    #[cfg_attr(feature = "serde", serde(rename = "2009-singapore"))]
    Singapore2009,
    /// A race on the short outer circuit.
    #[cfg_attr(feature = "serde", serde(rename = "2020-sakhir"))]
    Sakhir2020,
    /// The race with the most laps before the first stop.
    #[cfg_attr(feature = "serde", serde(rename = "2018-french"))]
    French2018,
}

/// The fitted models of two drivers in one race.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FittedPair {
    /// The value of `pair` in files.
    pub name: &'static str,
    /// The year of the race.
    pub year: u32,
    /// The name of the race.
    pub race: &'static str,
    /// How many laps were fitted, which is the memory of the game.
    pub laps: usize,
    /// The drivers, in the order of the arms.
    pub drivers: [FittedDriver; 2],
}

/// The fitted lap-time model of one driver, and how good the fit is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FittedDriver {
    /// The driver's name.
    pub name: &'static str,
    /// The rate of the exponential decrease.
    pub alpha: f64,
    /// The height of the exponential part.
    pub beta: f64,
    /// The linear decrease per lap.
    pub gamma: f64,
    /// The standard deviation of a lap.
    pub sd: f64,
    /// The sum of squared residuals.
    pub sse: f64,
    /// The share of the laps' variance that the model explains.
    pub r_squared: f64,
}

impl RacePair {
    /// All of them: the one of the paper's main text first, then by the number of laps. The data file has this order.
    pub const ALL: [RacePair; 10] = [
        Self::German2001,
        Self::German2014,
        Self::Hungarian2011,
        Self::Austrian2021,
        Self::Hungarian2022,
        Self::Canadian2008,
        Self::AbuDhabi2009,
        Self::Singapore2009,
        Self::Sakhir2020,
        Self::French2018,
    ];

    /// The fitted models.
    pub fn fitted(self) -> &'static FittedPair {
        static PAIRS: LazyLock<Vec<FittedPair>> = LazyLock::new(|| read(include_str!("pairs.csv")));
        &PAIRS[self as usize]
    }
}

impl FittedDriver {
    /// The model as the game `fitted` takes it.
    pub fn model(&self) -> FittedModel {
        let Self { name, alpha, beta, gamma, sd, .. } = *self;
        FittedModel { name: Some(name.to_owned()), alpha, beta, gamma, sd }
    }
}

/// Reads the data file: two rows per pair, one per driver. It is part of the program, so it must be well formed.
fn read(csv: &'static str) -> Vec<FittedPair> {
    let rows: Vec<[&str; 11]> = csv
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            cells.try_into().expect("a row of the shipped data has eleven columns")
        })
        .collect();
    let number = |text: &str| text.parse().expect("the shipped data has a number here");
    let driver = |row: &[&'static str; 11]| FittedDriver {
        name: row[4],
        alpha: number(row[5]),
        beta: number(row[6]),
        gamma: number(row[7]),
        sd: number(row[8]),
        sse: number(row[9]),
        r_squared: number(row[10]),
    };
    let pair = |[one, other]: &[[&'static str; 11]; 2]| FittedPair {
        name: one[0],
        year: one[1].parse().expect("the shipped data has a year here"),
        race: one[2],
        laps: one[3].parse().expect("the shipped data has a number of laps here"),
        drivers: [driver(one), driver(other)],
    };
    rows.as_chunks().0.iter().map(pair).collect()
}
