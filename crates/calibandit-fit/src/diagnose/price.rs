//! The price of a memory bound: what policies would lose on games fitted to a log.

use calibandit::policy::{Calibrated, Thompson, Ucb1};
use calibandit::{
    Engine, Game, GameError, Grid, GridError, Interrupt, PolicyError, PolicySpec, SimulateError, StreamKey,
    simulate_interruptible,
};
use serde::{Deserialize, Serialize};

use super::diagnosis::Diagnosis;
use super::game::{FittedGameError, drawn};

/// How a price is computed.
#[derive(Clone, Copy, Debug)]
pub struct PriceOptions<'a> {
    /// The number of plays.
    pub horizon: u64,
    /// The number of games, drawn from the uncertainty of the fitted one, with one instance each.
    pub games: u64,
    /// The seed.
    pub seed: u64,
    /// The memory bound in the middle of the range; by default the one of the diagnosis.
    pub memory_bound: Option<u32>,
    /// A stop flag.
    pub interrupt: Interrupt<'a>,
}

impl Default for PriceOptions<'_> {
    fn default() -> Self {
        Self { horizon: 100_000, games: 40, seed: 1, memory_bound: None, interrupt: Interrupt::never() }
    }
}

/// What policies would lose on games fitted to a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// The number of plays.
    pub horizon: u64,
    /// The memory bound in the middle of the range.
    pub memory_bound: u32,
    /// One row per policy and memory bound.
    pub rows: Vec<PriceRow>,
    /// Whether policies without a memory bound lose hardly more.
    pub plain_is_fine: bool,
    /// What this means, in a sentence.
    pub text: String,
}

/// The predicted regret of one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PriceRow {
    /// The policy's label.
    pub policy: String,
    /// Its memory bound; `None` for plain bandits, which have none.
    pub memory_bound: Option<u32>,
    /// The mean of the expected loss over all plays, less that of the best arm played throughout, in the unit of the
    /// log's losses. Where repeated exposure is optimal, this is the complete policy regret.
    pub regret: f64,
    /// Its standard error over games and instances.
    pub stderr: f64,
}

/// Why there is no price.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// There is no fitted game.
    #[error(transparent)]
    Game(#[from] FittedGameError),
    /// A game could not be simulated.
    #[error("the fitted game cannot be simulated: {0}")]
    Simulate(#[from] SimulateError),
    /// A policy could not be built.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The horizon is invalid.
    #[error(transparent)]
    Horizon(#[from] GridError),
    /// An option is invalid.
    #[error("`{option}` is {value}, but must be at least 1")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: u64,
    },
}

/// Plain bandits are fine if they lose at most this many times as much.
const FINE: f64 = 1.2;

/// Thompson sampling draws for every arm at every play, so it gets at most so many draws in all.
const MOST_PLAIN_DRAWS: u64 = 80_000_000;

impl Diagnosis {
    /// The predicted regret of `calibrated` with memory bounds on both sides of the recommended one, and of plain
    /// bandits. Every policy plays the same games.
    ///
    /// Bounds that are at least the memory are predicted well. Bounds that are too small are predicted within a factor
    /// of two or three only, because few instances that lose everything decide the mean.
    ///
    /// # Errors
    /// [`PriceError`] if there is no fitted game, or if it was interrupted.
    pub fn price(&self, options: &PriceOptions<'_>) -> Result<Price, PriceError> {
        for (option, value) in [("horizon", options.horizon), ("games", options.games)] {
            if value == 0 {
                return Err(PriceError::Option { option, value });
            }
        }
        let likely = self.memory_bound.or(self.conditional_bound).or(self.tallying.as_ref().and_then(|t| t.set.1));
        let middle = options.memory_bound.or(likely).unwrap_or(self.reach).max(1);
        let bounds = memory_bounds(middle);
        let mut policies: Vec<(String, Option<u32>, PolicySpec, u64)> = bounds
            .iter()
            .map(|&bound| {
                let spec = Calibrated::builder(u64::from(bound));
                ("calibrated".to_string(), Some(bound), spec.into(), options.games)
            })
            .collect();
        let arms = self.arms.len().max(1) as u64;
        let few = (MOST_PLAIN_DRAWS / options.horizon.saturating_mul(arms)).clamp(1, options.games);
        policies.push(("UCB1".to_string(), None, Ucb1::builder().into(), few));
        policies.push(("Thompson".to_string(), None, Thompson::builder().into(), few));
        let grid = Grid::at(options.horizon, Vec::new())?;
        let mut regrets: Vec<Vec<f64>> = vec![Vec::new(); policies.len()];
        for (number, spec) in (0..).zip(self.games(options.games, options.seed)?) {
            let game = drawn(&spec).map_err(FittedGameError::from)?;
            let streams = StreamKey::new(options.seed, "price", number);
            let best = excess_of_staying(&game, options.horizon).map_err(FittedGameError::from)?;
            for (policy, regrets) in policies.iter().zip(&mut regrets).filter(|(policy, _)| number < policy.3) {
                let mut built = policy.2.build(&game.problem(options.horizon), streams.policy())?;
                let noise = &mut streams.noise();
                let played =
                    simulate_interruptible(&game, &mut built, &grid, Engine::Leaping, noise, options.interrupt)?;
                regrets.push(played.last().excess - best);
            }
        }
        let range = self.range();
        let span = range.high() - range.low();
        let rows = policies.into_iter().zip(regrets).map(|((policy, memory_bound, ..), regrets)| {
            let n = regrets.len() as f64;
            let mean = regrets.iter().sum::<f64>() / n;
            let squares: f64 = regrets.iter().map(|regret| (regret - mean).powi(2)).sum();
            let stderr = if n > 1.0 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
            PriceRow { policy, memory_bound, regret: mean * span, stderr: stderr * span }
        });
        // Without any bound nobody knows whether the fitted curves have all of the warm-up.
        let shown = self.memory_bound.or(self.conditional_bound).is_some();
        Ok(verdict(options.horizon, middle, rows.collect(), shown))
    }
}

/// The least expected loss of playing one arm throughout from a rest, in excess of the best eventual loss.
fn excess_of_staying(game: &Game, horizon: u64) -> Result<f64, GameError> {
    let mut least = f64::INFINITY;
    for (index, arm) in game.arms().iter().enumerate() {
        let warming = (arm.memory() as u64).min(horizon);
        let losses = game.losses(&vec![index; warming as usize])?;
        let excess: f64 = losses.iter().map(|loss| loss - game.best_loss()).sum();
        least = least.min(excess + (horizon - warming) as f64 * (arm.eventual_loss() - game.best_loss()));
    }
    Ok(least)
}

/// Memory bounds from an eighth to eight times the middle one.
fn memory_bounds(middle: u32) -> Vec<u32> {
    let mut bounds: Vec<u32> = [8, 4, 2].iter().map(|part| (middle / part).max(1)).collect();
    bounds.extend([1, 2, 4, 8].map(|times| middle.saturating_mul(times)));
    bounds.dedup();
    bounds
}

fn verdict(horizon: u64, memory_bound: u32, rows: Vec<PriceRow>, shown: bool) -> Price {
    let plain = rows.iter().filter(|row| row.memory_bound.is_none()).min_by(|a, b| a.regret.total_cmp(&b.regret));
    let middle = rows.iter().find(|row| row.memory_bound == Some(memory_bound));
    let (plain_is_fine, text) = match (plain, middle) {
        (Some(plain), Some(middle)) if shown && plain.regret <= FINE * middle.regret + 2.0 * middle.stderr => {
            let text = format!(
                "A plain bandit is fine here: {} would lose {:.4}, and `calibrated` with M = {memory_bound} {:.4}.",
                plain.policy, plain.regret, middle.regret
            );
            (true, text)
        }
        (Some(plain), Some(middle)) => {
            let text = format!(
                "Over {horizon} plays, `calibrated` with M = {memory_bound} would lose {:.4}; the better plain bandit, \
                 {}, {:.4}.",
                middle.regret, plain.policy, plain.regret
            );
            (false, text)
        }
        _ => (false, String::new()),
    };
    Price { horizon, memory_bound, rows, plain_is_fine, text }
}
