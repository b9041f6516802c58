//! Pairs of drivers who are hard to tell apart, and the ten of them that are played.
//!
//! The paper's condition, word by word: two drivers of the same race, each one's expected last lap within the *variance* of
//! the other's. The paper says that ten pairs meet it. On the public data thousands do, whatever is chosen where the
//! paper leaves a choice; so its ten are a selection that it does not state, and here is one that is stated:
//!
//! 1. The paper's condition.
//! 2. Both curves stay within [0, 1] at every lap: otherwise they are no losses, and there is no game.
//! 3. The expected last laps are at least [`LEAST_GAP`] apart: always playing the worse driver costs at least 100 over
//!    10^6 laps. Drivers nearer to each other than that make every policy look the same.
//! 4. Of each race the pair that is fitted best: with the largest lower R² of its two drivers.
//! 5. Of each number of laps m the race that is fitted best, because the paper's instances differ in m. For m = 10 this
//!    is the 2001 German Grand Prix, whatever its fit: the paper names it.
//! 6. Of these, the one of m = 10 and the nine best of the others.

use calibandit::game::zoo::{Fitted, FittedModel, RacePair};
use serde::Serialize;

use super::study::{DriverRace, Study};
use calibandit_fit::Fit;

/// The least difference of two drivers' expected last laps: 100 over 10^6 laps.
pub const LEAST_GAP: f64 = 1e-4;

/// How many pairs are played.
pub const PAIRS: usize = 10;

/// The race of the paper's main text, and its number of laps there.
const MAIN_RACE: (u32, &str, usize) = (2001, "German Grand Prix", 10);

/// Two drivers of one race.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The year of the race, if known.
    pub year: Option<u32>,
    /// The name of the race.
    pub race: String,
    /// The number of laps that were fitted, which is the memory of the game.
    pub laps: usize,
    /// The drivers.
    pub drivers: [PairDriver; 2],
}

/// One driver of a pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairDriver {
    /// The lap-time model, with the driver's name.
    #[serde(flatten)]
    pub model: FittedModel,
    /// The sum of squared residuals of the fit.
    pub sse: f64,
    /// The share of the variance that the fit explains.
    pub r_squared: f64,
    /// The normalised lap times, if they are at hand.
    #[serde(skip)]
    pub laps: Vec<f64>,
}

impl PairDriver {
    fn new(driver: &DriverRace) -> Self {
        let Fit { alpha, beta, gamma, sd, sse, r_squared, .. } = driver.lap;
        let model = FittedModel { name: Some(driver.driver.clone()), alpha, beta, gamma, sd };
        Self { model, sse, r_squared, laps: driver.laps.clone() }
    }

    /// The driver's name.
    pub fn name(&self) -> &str {
        self.model.name.as_deref().unwrap_or_default()
    }

    /// The expected loss of lap `k`, from 1.
    pub fn mean(&self, k: usize) -> f64 {
        self.model.mean(k)
    }
}

impl Pair {
    /// The name for files and command lines, such as `2001-german`.
    pub fn name(&self) -> String {
        let place = self.race.trim_end_matches("Grand Prix").trim().to_lowercase().replace(' ', "-");
        self.year.map_or(place.clone(), |year| format!("{year}-{place}"))
    }

    /// The race with its year.
    pub fn heading(&self) -> String {
        self.year.map_or(self.race.clone(), |year| format!("{year} {}", self.race))
    }

    /// How far the expected last laps are apart.
    pub fn gap(&self) -> f64 {
        let [one, other] = self.terminal_means();
        (one - other).abs()
    }

    /// The expected last laps.
    pub fn terminal_means(&self) -> [f64; 2] {
        [0, 1].map(|i| self.drivers[i].mean(self.laps))
    }

    /// The smaller variance: the paper's limit on the gap.
    pub fn limit(&self) -> f64 {
        let [one, other] = [0, 1].map(|i| self.drivers[i].model.sd.powi(2));
        one.min(other)
    }

    /// The lower R² of the two drivers.
    pub fn r_squared(&self) -> f64 {
        self.drivers[0].r_squared.min(self.drivers[1].r_squared)
    }

    /// The game of this pair.
    pub fn game(&self) -> Fitted {
        Fitted::of(self.drivers.iter().map(|driver| driver.model.clone()).collect(), self.laps)
    }

    fn is_main(&self) -> bool {
        (self.year, self.race.as_str(), self.laps) == (Some(MAIN_RACE.0), MAIN_RACE.1, MAIN_RACE.2)
    }

    fn is_game(&self) -> bool {
        self.drivers.iter().all(|driver| (1..=self.laps).all(|k| (0.0..=1.0).contains(&driver.mean(k))))
    }

    /// Why it is one of the ten, one line for each part of the rule.
    pub fn reasons(&self) -> Vec<String> {
        let ([one, other], first) = (self.terminal_means(), [0, 1].map(|i| self.drivers[i].mean(1)));
        let [a, b] = [0, 1].map(|i| self.drivers[i].r_squared);
        vec![
            format!(
                "expected last laps {one:.3e} and {other:.3e}: {:.2e} apart, within the smaller variance {:.2e}",
                self.gap(),
                self.limit()
            ),
            format!(
                "both curves stay within [0, 1]: from {:.3} to {one:.3}, from {:.3} to {other:.3}",
                first[0], first[1]
            ),
            format!("always playing the worse driver costs {:.0} over 10^6 laps, at least 100", self.gap() * 1e6),
            if self.is_main() {
                format!(
                    "R² = {a:.3} and {b:.3}: the best pair of the race that the paper names, with m = {}",
                    self.laps
                )
            } else {
                format!("R² = {a:.3} and {b:.3}: the best pair of all races with m = {}", self.laps)
            },
        ]
    }
}

impl From<RacePair> for Pair {
    fn from(pair: RacePair) -> Self {
        let fitted = pair.fitted();
        let drivers = fitted.drivers.map(|driver| PairDriver {
            model: driver.model(),
            sse: driver.sse,
            r_squared: driver.r_squared,
            laps: Vec::new(),
        });
        Self { year: Some(fitted.year), race: fitted.race.to_string(), laps: fitted.laps, drivers }
    }
}

/// The ten pairs that come with the program.
pub fn shipped() -> Vec<Pair> {
    RacePair::ALL.map(Pair::from).to_vec()
}

impl Study {
    /// All pairs that meet the paper's condition, and how many pairs of drivers of one race there are in all.
    pub fn literal_pairs(&self) -> (Vec<Pair>, usize) {
        let (mut pairs, mut all) = (Vec::new(), 0);
        for race in self.drivers.chunk_by(|a, b| a.race_id == b.race_id) {
            for (i, one) in race.iter().enumerate() {
                for other in &race[i + 1..] {
                    all += 1;
                    if is_close(&one.lap, &other.lap) {
                        pairs.push(Pair {
                            year: one.year,
                            race: one.race.clone(),
                            laps: one.lap.observations,
                            drivers: [PairDriver::new(one), PairDriver::new(other)],
                        });
                    }
                }
            }
        }
        (pairs, all)
    }

    /// The ten pairs that are played, by the rule of this module; fewer if the data has fewer. The one of the
    /// paper's main text comes first, then by the number of laps.
    pub fn selected_pairs(&self) -> Vec<Pair> {
        select(self.literal_pairs().0)
    }
}

/// The paper's condition: each within the variance of the other.
fn is_close(one: &Fit, other: &Fit) -> bool {
    let gap = (one.terminal_mean() - other.terminal_mean()).abs();
    gap <= one.sd.powi(2) && gap <= other.sd.powi(2)
}

fn select(literal: Vec<Pair>) -> Vec<Pair> {
    let mut best: Vec<Pair> = literal.into_iter().filter(|pair| pair.is_game() && pair.gap() >= LEAST_GAP).collect();
    // Ties in the fit do not happen in real data; the rest of the key makes the order one order all the same.
    let names = |pair: &Pair| (pair.heading(), pair.drivers[0].name().to_string(), pair.drivers[1].name().to_string());
    best.sort_by(|a, b| {
        let by_fit = b.r_squared().total_cmp(&a.r_squared());
        b.is_main().cmp(&a.is_main()).then(by_fit).then_with(|| names(a).cmp(&names(b)))
    });
    let mut selected: Vec<Pair> = Vec::new();
    for pair in best {
        if selected.len() < PAIRS && selected.iter().all(|other| other.laps != pair.laps) {
            selected.push(pair);
        }
    }
    selected.sort_by_key(|pair| (!pair.is_main(), pair.laps));
    selected
}
