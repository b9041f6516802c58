//! What the games of the zoo share: checks of parameters, and placing arms at random.

use rand::RngExt;

use crate::game::{Arm, Game, GameError, LossCurve, Noise, Weights};
use crate::math;
use crate::rng::Stream;

/// A drawn game has at most this many weights in all, so that a mistyped number cannot ask for terabytes.
const MOST_WEIGHTS: usize = 1 << 24;

/// A drawn game has at most this many arms, for the same reason.
const MOST_ARMS: usize = 1_000_000;

/// Up to this age the weight 2^-i of a play has full precision as a float, also after a multiplication by
/// a small factor.
const MOST_HALVINGS: usize = 1000;

fn count(parameter: &'static str, value: usize, expected: &'static str) -> GameError {
    GameError::Parameter { parameter, value: value as f64, expected }
}

/// Checks the number of arms: at least one, and at most [`MOST_ARMS`].
pub(super) fn arms(arms: usize) -> Result<(), GameError> {
    match arms {
        1..=MOST_ARMS => Ok(()),
        _ => Err(count("arms", arms, "a whole number from 1 to 1000000")),
    }
}

/// Checks the number of arms of a game with two distinguished arms.
pub(super) fn two_arms(arms: usize) -> Result<(), GameError> {
    match arms {
        2..=MOST_ARMS => Ok(()),
        _ => Err(count("arms", arms, "a whole number from 2 to 1000000")),
    }
}

/// Checks a memory of `arms` arms, under the name that it has in files: at least 1, and at most [`MOST_WEIGHTS`]
/// weights in all.
pub(super) fn memory(parameter: &'static str, memory: usize, arms: usize) -> Result<(), GameError> {
    if memory == 0 {
        return Err(count(parameter, memory, "at least 1 (1 is the plain stochastic bandit)"));
    }
    match memory.checked_mul(arms.max(1)) {
        Some(..=MOST_WEIGHTS) => Ok(()),
        _ => Err(count(parameter, memory, "at most 16777216 divided by the number of arms")),
    }
}

/// Checks that all weights 2^-i of a memory are floats of full precision.
pub(super) fn halvings(memory: usize) -> Result<(), GameError> {
    match memory {
        ..=MOST_HALVINGS => Ok(()),
        _ => Err(count("memory", memory, "at most 1000 where weights halve with age")),
    }
}

/// Checks that a number lies in [0, 1]. NaN is refused.
pub(super) fn loss(parameter: &'static str, value: f64) -> Result<(), GameError> {
    between(parameter, value, 0.0, 1.0, "a number from 0 to 1")
}

/// Checks that a number lies in [low, high]. NaN is refused.
pub(super) fn between(
    parameter: &'static str,
    value: f64,
    low: f64,
    high: f64,
    expected: &'static str,
) -> Result<(), GameError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(GameError::Parameter { parameter, value, expected }) }
}

/// Checks that a number is positive and finite.
pub(super) fn positive(parameter: &'static str, value: f64) -> Result<(), GameError> {
    between(parameter, value, f64::MIN_POSITIVE, f64::MAX, "a positive number")
}

/// Checks a number of plays: at least 1, and countable.
pub(super) fn plays(parameter: &'static str, value: u64) -> Result<u64, GameError> {
    between(parameter, value as f64, 1.0, (1u64 << 53) as f64, "a whole number from 1 to 2^53")?;
    Ok(value)
}

/// Checks the number of one of three games.
pub(super) fn variant(value: u32) -> Result<(), GameError> {
    between("variant", value.into(), 1.0, 3.0, "1, 2 or 3")
}

/// The noise of losses if rewards have this standard deviation and this range: none if it is 0.
pub(super) fn scaled_noise(parameter: &'static str, sd: f64, range: f64) -> Result<Noise, GameError> {
    between(parameter, sd, 0.0, f64::MAX, "a number, at least 0")?;
    let noise = if sd == 0.0 { Noise::None } else { Noise::Normal { sd: sd / range } };
    feedback(noise).map(|()| noise)
}

/// A rested game with these curves, whose arms share their noise.
pub(super) fn rested(curves: impl IntoIterator<Item = LossCurve>, noise: Noise) -> Result<Game, GameError> {
    let arms = curves.into_iter().enumerate().map(|(x, curve)| arm(x, Weights::all(), curve, noise));
    Game::new(arms.collect::<Result<_, _>>()?)
}

/// The numbers below `n` in a random order.
pub(super) fn shuffled(n: usize, stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, below(last + 1, stream));
    }
    order
}

/// Uniform from `low` to `high`.
pub(super) fn between_ends(low: f64, high: f64, stream: &mut Stream) -> f64 {
    (low + (high - low) * stream.random::<f64>()).clamp(low, high)
}

/// Checks noise that all arms of a game share. The error names the key of the file instead of an arm.
pub(super) fn feedback(noise: Noise) -> Result<(), GameError> {
    let (parameter, value) = match noise {
        Noise::Normal { sd } => ("feedback.normal.sd", sd),
        Noise::Beta { concentration } => ("feedback.beta.concentration", concentration),
        Noise::Bernoulli | Noise::None => return Ok(()),
    };
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(GameError::Parameter { parameter, value, expected: "a positive number" })
    }
}

/// The index of a distinguished arm: the given one, or one drawn uniformly.
pub(super) fn place(
    parameter: &'static str,
    given: Option<usize>,
    arms: usize,
    stream: &mut Stream,
) -> Result<usize, GameError> {
    match given {
        Some(arm) if arm < arms => Ok(arm),
        Some(arm) => Err(count(parameter, arm, "the index of an arm, from 0 to the number of arms - 1")),
        None => Ok(below(arms, stream)),
    }
}

/// The indices of two distinguished arms, which must differ: the given ones, or drawn uniformly. The first is drawn
/// before the second, unless only the second is given.
pub(super) fn place_two(
    names: [&'static str; 2],
    given: [Option<usize>; 2],
    arms: usize,
    stream: &mut Stream,
) -> Result<[usize; 2], GameError> {
    match given {
        [Some(first), Some(second)] => {
            place(names[0], Some(first), arms, stream)?;
            place(names[1], Some(second), arms, stream)?;
            if first == second {
                return Err(count(names[1], second, "another arm than the other distinguished one"));
            }
            Ok([first, second])
        }
        [None, Some(second)] => {
            let second = place(names[1], Some(second), arms, stream)?;
            Ok([other_than(second, arms, stream), second])
        }
        [first, None] => {
            let first = place(names[0], first, arms, stream)?;
            Ok([first, other_than(first, arms, stream)])
        }
    }
}

/// Uniform over the arms that are not `arm`; there must be one.
fn other_than(arm: usize, arms: usize, stream: &mut Stream) -> usize {
    let other = below(arms - 1, stream);
    if other < arm { other } else { other + 1 }
}

/// Uniform below `n`, which is at least 1. Drawn with 32 bits, so that every platform draws the same.
pub(super) fn below(n: usize, stream: &mut Stream) -> usize {
    stream.random_range(0..n as u32) as usize
}

/// The weights 2^-i, newest play first: the paper's `v`.
pub(super) fn halving(memory: usize) -> Vec<f64> {
    (1..=memory as i32).map(|age| math::powi(0.5f64, age)).collect()
}

/// An arm, with its index in the error.
pub(super) fn arm(index: usize, weights: Weights, curve: LossCurve, noise: Noise) -> Result<Arm, GameError> {
    Arm::new(weights, curve, noise).map_err(|source| GameError::Arm { arm: index, name: None, source })
}

/// An arm with a name if one is given, with its index and name in the error.
pub(super) fn named_arm(
    index: usize,
    name: Option<&str>,
    weights: Weights,
    curve: LossCurve,
    noise: Noise,
) -> Result<Arm, GameError> {
    let Some(name) = name else { return arm(index, weights, curve, noise) };
    // A name that is refused is in the error already.
    let named = Arm::new(weights, curve, noise).and_then(|arm| arm.named(name));
    named.map_err(|source| GameError::Arm { arm: index, name: own_name(name), source })
}

/// The name of an arm for errors; `None` if the name itself is invalid.
pub(super) fn own_name(name: &str) -> Option<String> {
    Arm::check_name(name).is_ok().then(|| name.to_owned())
}

/// Weights that all arms of a game share.
pub(super) fn weights(weights: Vec<f64>) -> Result<Weights, GameError> {
    Weights::new(weights).map_err(|source| GameError::Arm { arm: 0, name: None, source })
}
