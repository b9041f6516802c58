//! Lower and upper bounds on the optimum, for games that are too large for the exact one.

use super::sequence::BestSequence;
use super::state_space::StateSpace;
use super::warmup_cost::WarmupCost;
use super::{Optima, Optimum, OptimumError, search};
use crate::Interrupt;
use crate::game::Game;
use crate::game::least_loss::least_losses;
use crate::planning::fixed_point::{LONGEST, fixed, float};

/// A lower and an upper bound of the optimum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptimumBounds {
    /// The number of plays.
    pub horizon: u64,
    /// No sequence has a smaller expected loss.
    pub lower: f64,
    /// [`sequence`](OptimumBounds::sequence) has this expected loss.
    pub upper: f64,
    /// `lower` in excess of `horizon` plays at mu(x*).
    pub lower_excess: f64,
    /// `upper` in excess of `horizon` plays at mu(x*).
    pub upper_excess: f64,
    /// A good sequence; a best one if the bounds meet.
    pub sequence: BestSequence,
    /// Whether the optimum is known, so that the bounds meet.
    pub exact: bool,
}

/// A lower and an upper bound of the optimum over `horizon` plays. There is always a result: the exact one where
/// [`optimum`](super::optimum) has it, and otherwise
///
/// - as the lower bound, the least cost of that many plays of one arm if every play had the best window of its number
///   of plays, or, in 0-REO games, the bound that best-first search has reached;
/// - as the upper bound, the best of the sequences that play one arm only or repeat one arm's best window, filled up
///   with another arm.
///
/// For rested games, the lower bound is the least loss of any arm at every play, and the upper bound the best single
/// arm.
///
/// ```
/// use calibandit::{Arm, Game, LossCurve, Noise, Weights, optimum_bounds};
/// // Better when calibrated, but not by much: 500 arms with a memory of 100.
/// let losses: Vec<f64> = (1..=100).map(|plays| 0.5 - 0.001 * f64::from(plays)).collect();
/// let arm = Arm::new(Weights::unit(100)?, LossCurve::by_plays(losses), Noise::Bernoulli)?;
/// let bounds = optimum_bounds(&Game::new(vec![arm; 500])?, 1_000_000);
/// assert!(bounds.exact && bounds.lower == bounds.upper);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn optimum_bounds(game: &Game, horizon: u64) -> OptimumBounds {
    Optima::new(game).bounds_at(horizon)
}

impl OptimumBounds {
    /// Bounds that meet.
    pub(super) fn exact(optimum: Optimum) -> Self {
        Self {
            horizon: optimum.horizon,
            lower: optimum.loss,
            upper: optimum.loss,
            lower_excess: optimum.excess,
            upper_excess: optimum.excess,
            sequence: optimum.sequence,
            exact: true,
        }
    }
}

impl Optima<'_> {
    /// A lower and an upper bound of the optimum over `horizon` plays; see [`optimum_bounds`]. Once the stop flag of
    /// [`interruptible`](Optima::interruptible) is set, the bounds may be less good than without it.
    pub fn bounds_at(&mut self, horizon: u64) -> OptimumBounds {
        if let Some(rested) = &mut self.rested {
            return rested.bounds_at(horizon, self.interrupt);
        }
        match self.at(horizon) {
            Ok(optimum) => OptimumBounds::exact(optimum),
            Err(error) => self.estimate(horizon, &error),
        }
    }

    fn estimate(&self, horizon: u64, error: &OptimumError) -> OptimumBounds {
        let space = &self.space;
        // The least costs of a curve that leaves [0, 1] cannot be relied on, nor are those with too many windows known.
        let trusted = !matches!(error, OptimumError::CurveLeftRange(_));
        let interrupt = self.interrupt;
        let warmups: Vec<WarmupCost> = space
            .classes
            .iter()
            .map(|class| match WarmupCost::new(space, class[0], interrupt) {
                Ok(warmup) if trusted => warmup,
                _ => WarmupCost::blind(space, class[0]),
            })
            .collect();
        let (counted, beyond) = (horizon.min(LONGEST), horizon.saturating_sub(LONGEST) as f64);
        let single = warmups.iter().map(|warmup| warmup.plays(0, counted, warmup.memory)).min();
        let single = single.expect("a game has at least one arm");
        let searched = self.exhausted_searches.get(&horizon).map(|search| search.lower);
        let least = warmups.iter().map(|warmup| warmup.least).min().expect("a game has at least one arm");
        let lower_excess = float(searched.map_or(single, |lower| lower.max(single))) + beyond * float(least);

        let (mut straight, warmup) = search::straight(space, &warmups, counted);
        straight.repeats += horizon - counted;
        let mut upper = float(straight.excess) + beyond * float(warmup.eventual);
        let mut sequence = straight.sequence(space);
        for round in rounds(space, interrupt) {
            if interrupt.is_stopped() {
                break;
            }
            if let Some((excess, candidate)) = repeat(space, &round, horizon)
                && excess < upper
            {
                (upper, sequence) = (excess, candidate);
            }
        }
        let base = horizon as f64 * space.game().best_loss();
        OptimumBounds {
            horizon,
            lower: base + lower_excess,
            upper: base + upper,
            lower_excess,
            upper_excess: upper,
            sequence,
            exact: false,
        }
    }
}

/// At most this many classes of arms are combined with each other, because the number of rounds is the square of it.
const COMBINED: usize = 32;
/// Fewer are combined if playing the rounds would take more steps than this: a fraction of a second.
const MOST_STEPS: usize = 200_000_000;

/// Rounds worth repeating: an arm's best window, oldest play first, filled up with another arm.
fn rounds(space: &StateSpace<'_>, interrupt: Interrupt<'_>) -> Vec<Vec<usize>> {
    // Each play of a round, up to three times the memory, looks at the whole window.
    let memory = space.game().memory();
    let affordable = MOST_STEPS / memory.saturating_mul(memory).saturating_mul(3);
    let combined = COMBINED.min((affordable / 2).isqrt());
    // One arm of each class, and a second one where there is one: an arm can be filled up with one like it.
    let fillers: Vec<usize> =
        space.classes.iter().take(combined).flat_map(|class| class.iter().take(2)).copied().collect();
    let mut rounds = Vec::new();
    for class in space.classes.iter().take(combined) {
        let arm = class[0];
        let Ok(least) = least_losses(&space.game().arms()[arm], interrupt) else { continue };
        let best = least.window(least.best_plays());
        for &filler in fillers.iter().filter(|&&filler| filler != arm) {
            rounds.push(best.iter().rev().map(|&played| if played { arm } else { filler }).collect());
        }
    }
    rounds
}

/// The excess of repeating a round up to the horizon, and the sequence; `None` if a curve leaves [0, 1] on the way.
fn repeat(space: &StateSpace<'_>, round: &[usize], horizon: u64) -> Option<(f64, BestSequence)> {
    let game = space.game();
    let length = round.len() as u64;
    let best = fixed(game.best_loss());
    let mut window = game.empty_window();
    let mut play = |arm: usize| {
        let loss = game.play(arm, &mut window);
        (!loss.is_nan()).then(|| fixed(loss) - best)
    };
    // Once the window holds nothing but this round, all rounds cost the same.
    let warming = (game.memory() as u64).div_ceil(length).min(horizon / length);
    let mut excess = 0;
    for _ in 0..warming {
        for &arm in round {
            excess += play(arm)?;
        }
    }
    let repeats = horizon / length - warming;
    let mut one_round = 0;
    if repeats > 0 {
        for &arm in round {
            one_round += play(arm)?;
        }
    }
    let tail = round[..(horizon % length) as usize].to_vec();
    for &arm in &tail {
        excess += play(arm)?;
    }
    let excess = float(excess) + repeats as f64 * float(one_round);
    let sequence = BestSequence { cycle: round.to_vec(), repeats: horizon / length, tail, ..BestSequence::default() };
    Some((excess, sequence))
}
