//! The least loss of an arm for each number of plays in its window.
//!
//! The smallest alpha of a game and the bounds on its optimum are computed from it. Windows are enumerated only where
//! neither the weights nor the shape of the curve allow anything better.

use std::collections::HashMap;

use super::{Arm, Exposure, Game, NeedleCurve, Shape, Trend, Weights};

/// Up to this memory all windows of an arm are enumerated if its curve has no helpful shape: 2^23 windows, a fraction
/// of a second.
pub(crate) const ENUMERATION_LIMIT: usize = 24;

/// The least expected loss over the windows `y` with `y_1 = 1` and a given number of plays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeastLoss {
    pub(crate) loss: f64,
    /// A window that attains it, newest play first.
    pub(crate) window: Vec<bool>,
}

/// Why the least losses of an arm are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LeastLossError {
    /// The memory is above [`ENUMERATION_LIMIT`], and the curve has no helpful shape.
    MemoryTooLong { memory: usize },
    /// The loss function leaves [0, 1] at this tally.
    CurveLeftRange { tally: f64 },
}

/// The arms' interchangeability classes: the class of each arm, and each class's arms in increasing order. Arms of one
/// class have the same weights and the same curve; the noise does not matter to expected losses.
pub(crate) fn interchangeable(game: &Game) -> (Vec<usize>, Vec<Vec<usize>>) {
    // Comparing arms is costly, so only arms with the same eventual loss are compared.
    let mut by_loss: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut class_of = Vec::with_capacity(game.arms().len());
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (x, arm) in game.arms().iter().enumerate() {
        let candidates = by_loss.entry(arm.eventual_loss().to_bits()).or_default();
        let same = candidates.iter().copied().find(|&class: &usize| {
            let other = &game.arms()[classes[class][0]];
            other.curve() == arm.curve() && other.weights() == arm.weights()
        });
        let class = same.unwrap_or_else(|| {
            candidates.push(classes.len());
            classes.push(Vec::new());
            classes.len() - 1
        });
        classes[class].push(x);
        class_of.push(class);
    }
    (class_of, classes)
}

/// The least losses of an arm, from one play in the window to as many as its memory.
pub(crate) fn least_losses(arm: &Arm) -> Result<Vec<LeastLoss>, LeastLossError> {
    let memory = arm.memory();
    let by_plays = arm.curve().depends_on_plays_only() || arm.weights().all_equal();
    if by_plays || memory <= 2 {
        return (1..=memory).map(|plays| at_window(arm, newest(plays, memory))).collect();
    }
    match arm.curve().shape().trend() {
        Trend::Decreasing => return monotone(arm, |a, b| b.total_cmp(a)),
        Trend::Increasing => return monotone(arm, f64::total_cmp),
        Trend::Unknown => {}
    }
    if let Shape::Needle(needle) = arm.curve().shape()
        && sums_tell_windows_apart(arm.weights())
    {
        return needle_least_losses(arm, needle);
    }
    if memory > ENUMERATION_LIMIT {
        return Err(LeastLossError::MemoryTooLong { memory });
    }
    enumerate(arm)
}

/// The window of this many plays in a row.
fn newest(plays: usize, memory: usize) -> Vec<bool> {
    (0..memory).map(|age| age < plays).collect()
}

fn at_window(arm: &Arm, window: Vec<bool>) -> Result<LeastLoss, LeastLossError> {
    let exposure = Exposure::of(&window, arm.weights());
    let loss = arm.loss(exposure);
    if loss.is_nan() {
        return Err(LeastLossError::CurveLeftRange { tally: exposure.tally });
    }
    Ok(LeastLoss { loss, window })
}

/// With a monotone curve the most extreme tally is the best: the newest play, and the others in the order of weights.
fn monotone(arm: &Arm, order: impl Fn(&f64, &f64) -> std::cmp::Ordering) -> Result<Vec<LeastLoss>, LeastLossError> {
    let weights = arm.weights().as_slice();
    let mut ages: Vec<usize> = (1..weights.len()).collect();
    ages.sort_by(|&a, &b| order(&weights[a], &weights[b]));
    let mut window = newest(1, weights.len());
    let mut least = vec![at_window(arm, window.clone())?];
    for age in ages {
        window[age] = true;
        least.push(at_window(arm, window.clone())?);
    }
    Ok(least)
}

/// Whether each weight exceeds the sum of all after it and no sum is rounded: then each tally belongs to at most one
/// window, and the greedy choice finds it.
fn sums_tell_windows_apart(weights: &Weights) -> bool {
    let smallest_bit = |w: f64| {
        let bits = w.to_bits();
        // The value of the lowest set bit; a subnormal weight is taken at its own size, which is at least that.
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        w / (mantissa >> mantissa.trailing_zeros()) as f64
    };
    let finest = weights.as_slice().iter().map(|&w| smallest_bit(w)).fold(f64::INFINITY, f64::min);
    if weights.total() / finest >= (1u64 << 53) as f64 {
        return false;
    }
    let mut after = 0.0;
    for &weight in weights.as_slice().iter().rev() {
        if weight <= after {
            return false;
        }
        after += weight;
    }
    true
}

/// At most one window has the needle's tally; all others have the other loss.
fn needle_least_losses(arm: &Arm, needle: &NeedleCurve) -> Result<Vec<LeastLoss>, LeastLossError> {
    let mut left = needle.tally;
    let hit: Vec<bool> = arm
        .weights()
        .as_slice()
        .iter()
        .map(|&weight| {
            let played = left >= weight;
            if played {
                left -= weight;
            }
            played
        })
        .collect();
    let exists = left == 0.0 && hit[0];
    let memory = arm.memory();
    (1..=memory)
        .map(|plays| {
            let straight = newest(plays, memory);
            let has_needle = exists && hit.iter().filter(|&&played| played).count() == plays;
            if has_needle && needle.loss <= needle.otherwise {
                return at_window(arm, hit.clone());
            }
            if has_needle && straight == hit && plays > 1 && plays < memory {
                // The needle is the worse value: any other window with as many plays avoids it.
                let mut other = straight;
                other.swap(plays - 1, plays);
                return at_window(arm, other);
            }
            at_window(arm, straight)
        })
        .collect()
}

/// Tries every window. Tallies are added newest play first, as everywhere.
fn enumerate(arm: &Arm) -> Result<Vec<LeastLoss>, LeastLossError> {
    let memory = arm.memory();
    let weights = arm.weights().as_slice();
    let mut best = vec![(f64::INFINITY, 0u32); memory];
    // Windows still to be completed: the age to decide, the windows' newer part as bits, its tally and plays.
    let mut open = vec![(1, 1u32, weights[0], 1)];
    while let Some((age, bits, tally, plays)) = open.pop() {
        if age == memory {
            let loss = arm.loss(Exposure { tally, plays, memory });
            if loss.is_nan() {
                return Err(LeastLossError::CurveLeftRange { tally });
            }
            if loss < best[plays - 1].0 {
                best[plays - 1] = (loss, bits);
            }
            continue;
        }
        open.push((age + 1, bits, tally, plays));
        open.push((age + 1, bits | 1 << age, tally + weights[age], plays + 1));
    }
    let window = |bits: u32| (0..memory).map(|age| bits >> age & 1 == 1).collect();
    Ok(best.into_iter().map(|(loss, bits)| LeastLoss { loss, window: window(bits) }).collect())
}
