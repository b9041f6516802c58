//! The names of the shipped pairs, and what is known of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shipped;
use crate::game::zoo::FittedModel;

/// A pair of drivers that comes with the library, by its race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum RacePair {
    /// The race of the paper's main text.
    #[serde(rename = "2001-german")]
    German2001,
    /// With the least number of laps.
    #[serde(rename = "2014-german")]
    German2014,
    /// On a track that dried lap by lap.
    #[serde(rename = "2011-hungarian")]
    Hungarian2011,
    /// At the back of the field.
    #[serde(rename = "2021-austrian")]
    Austrian2021,
    /// In the last season of the data.
    #[serde(rename = "2022-hungarian")]
    Hungarian2022,
    /// Stops inferred, not recorded.
    #[serde(rename = "2008-canadian")]
    Canadian2008,
    /// Stops inferred, not recorded.
    #[serde(rename = "2009-abu-dhabi")]
    AbuDhabi2009,
    /// Stops inferred, not recorded.
    #[serde(rename = "2009-singapore")]
    Singapore2009,
    /// On the short outer circuit.
    #[serde(rename = "2020-sakhir")]
    Sakhir2020,
    /// With the greatest number of laps.
    #[serde(rename = "2018-french")]
    French2018,
}

/// The fitted models of two drivers in one race.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    /// All of them: the one of the paper's main text first, then by the number of laps.
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
        match self {
            Self::German2001 => &shipped::GERMAN_2001,
            Self::German2014 => &shipped::GERMAN_2014,
            Self::Hungarian2011 => &shipped::HUNGARIAN_2011,
            Self::Austrian2021 => &shipped::AUSTRIAN_2021,
            Self::Hungarian2022 => &shipped::HUNGARIAN_2022,
            Self::Canadian2008 => &shipped::CANADIAN_2008,
            Self::AbuDhabi2009 => &shipped::ABU_DHABI_2009,
            Self::Singapore2009 => &shipped::SINGAPORE_2009,
            Self::Sakhir2020 => &shipped::SAKHIR_2020,
            Self::French2018 => &shipped::FRENCH_2018,
        }
    }
}

impl FittedDriver {
    /// The model as the race game takes it.
    pub fn model(&self) -> FittedModel {
        let Self { name, alpha, beta, gamma, sd, .. } = *self;
        FittedModel { name: Some(name.to_owned()), alpha, beta, gamma, sd }
    }
}
