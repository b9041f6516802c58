//! The least loss of an arm for each number of plays in its window.
//!
//! The smallest alpha of a game and the bounds on its optimum are computed from it. Windows are enumerated only where
//! neither the weights nor the shape of the curve allow anything better.

use std::collections::HashMap;

use super::{Arm, Exposure, Game, NeedleCurve, Shape, Trend, Weights};
use crate::{Interrupt, Interrupted};

/// Up to this memory all windows of an arm are enumerated if its curve has no helpful shape: 2^23 windows, a fraction
/// of a second.
pub(crate) const ENUMERATION_LIMIT: usize = 24;

/// The least expected loss over the windows `y` with `y_1 = 1`, for each number of plays in the window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeastLosses {
    /// For 1, 2, ... plays, up to the memory.
    losses: Vec<f64>,
    windows: LeastWindows,
}

/// The windows that attain the least losses. They are not stored one by one, since they would take the square of the
/// memory.
#[derive(Clone, Debug, PartialEq)]
enum LeastWindows {
    /// As many plays in a row.
    Newest,
    /// Likewise, but the window with as many plays as this one is this one.
    NewestBut(Vec<bool>),
    /// The newest play, and then the plays of the first ages in this list.
    Ages(Vec<usize>),
    /// By the number of plays, one bit per play, the newest in the lowest.
    Bits(Vec<u32>),
}

impl LeastLosses {
    /// For 1, 2, ... plays in the window.
    pub(crate) fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// The number of plays with the least loss of all; the fewest, in case of a tie.
    pub(crate) fn best_plays(&self) -> usize {
        let least =
            (1..self.losses.len()).fold(0, |least, i| if self.losses[i] < self.losses[least] { i } else { least });
        least + 1
    }

    /// A window with this many plays that attains their least loss, newest play first.
    pub(crate) fn window(&self, plays: usize) -> Vec<bool> {
        let memory = self.losses.len();
        match &self.windows {
            LeastWindows::NewestBut(window) if played(window) == plays => window.clone(),
            LeastWindows::Newest | LeastWindows::NewestBut(_) => newest(plays, memory),
            LeastWindows::Ages(ages) => {
                let mut window = newest(1, memory);
                ages[..plays - 1].iter().for_each(|&age| window[age] = true);
                window
            }
            LeastWindows::Bits(bits) => (0..memory).map(|age| bits[plays - 1] >> age & 1 == 1).collect(),
        }
    }
}

/// Why the least losses of an arm are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LeastLossError {
    /// The memory is above [`ENUMERATION_LIMIT`], and the curve has no helpful shape.
    MemoryTooLong {
        memory: usize,
    },
    /// The loss function leaves [0, 1] at this tally.
    CurveLeftRange {
        tally: f64,
    },
    Interrupted(Interrupted),
}

impl From<Interrupted> for LeastLossError {
    fn from(interrupted: Interrupted) -> Self {
        Self::Interrupted(interrupted)
    }
}

/// The arms' interchangeability classes: the class of each arm, and each class's arms in increasing order. Arms of one
/// class have the same weights and the same curve; the noise does not matter to expected losses.
pub(crate) fn interchangeable(game: &Game) -> (Vec<usize>, Vec<Vec<usize>>) {
    // Comparing arms is costly, so only arms with the same losses in two windows are compared.
    let mut by_losses: HashMap<(usize, u64, u64), Vec<usize>> = HashMap::new();
    let mut class_of = Vec::with_capacity(game.arms().len());
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (x, arm) in game.arms().iter().enumerate() {
        let memory = arm.memory();
        let first = arm.weights().as_slice().first().copied().unwrap_or(1.0);
        let alone = arm.loss(Exposure { tally: first, plays: 1, memory });
        let key = (memory, arm.eventual_loss().to_bits(), alone.to_bits());
        let candidates = by_losses.entry(key).or_default();
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

/// The least losses of an arm.
pub(crate) fn least_losses(arm: &Arm, interrupt: Interrupt<'_>) -> Result<LeastLosses, LeastLossError> {
    let memory = arm.memory();
    let by_plays = arm.curve().depends_on_plays_only() || arm.weights().all_equal();
    if by_plays || memory <= 2 {
        return Ok(LeastLosses { losses: straight_losses(arm)?, windows: LeastWindows::Newest });
    }
    match arm.curve().shape().trend() {
        Trend::Decreasing => return monotone(arm, |a, b| b.total_cmp(a), interrupt),
        Trend::Increasing => return monotone(arm, f64::total_cmp, interrupt),
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
    enumerate(arm, interrupt)
}

/// The window of this many plays in a row.
fn newest(plays: usize, memory: usize) -> Vec<bool> {
    (0..memory).map(|age| age < plays).collect()
}

/// The number of plays in a window.
fn played(window: &[bool]) -> usize {
    window.iter().filter(|&&played| played).count()
}

fn loss_at(arm: &Arm, exposure: Exposure) -> Result<f64, LeastLossError> {
    let loss = arm.loss(exposure);
    if loss.is_nan() { Err(LeastLossError::CurveLeftRange { tally: exposure.tally }) } else { Ok(loss) }
}

/// The losses of 1, 2, ... plays in a row.
fn straight_losses(arm: &Arm) -> Result<Vec<f64>, LeastLossError> {
    arm.straight_exposures().map(|exposure| loss_at(arm, exposure)).collect()
}

/// With a monotone curve the most extreme tally is the best: the newest play, and the others in the order of weights.
fn monotone(
    arm: &Arm,
    order: impl Fn(&f64, &f64) -> std::cmp::Ordering,
    interrupt: Interrupt<'_>,
) -> Result<LeastLosses, LeastLossError> {
    let weights = arm.weights().as_slice();
    let mut ages: Vec<usize> = (1..weights.len()).collect();
    ages.sort_by(|&a, &b| order(&weights[a], &weights[b]));
    if ages.is_sorted() {
        return Ok(LeastLosses { losses: straight_losses(arm)?, windows: LeastWindows::Newest });
    }
    // Tallies are added newest play first, as everywhere, so each window is added up on its own.
    let mut window = newest(1, weights.len());
    let mut losses = vec![loss_at(arm, Exposure::of(&window, arm.weights()))?];
    for &age in &ages {
        interrupt.check()?;
        window[age] = true;
        losses.push(loss_at(arm, Exposure::of(&window, arm.weights()))?);
    }
    Ok(LeastLosses { losses, windows: LeastWindows::Ages(ages) })
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
fn needle_least_losses(arm: &Arm, needle: &NeedleCurve) -> Result<LeastLosses, LeastLossError> {
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
    let mut losses = straight_losses(arm)?;
    let (plays, memory) = (played(&hit), arm.memory());
    if left != 0.0 || !hit[0] {
        return Ok(LeastLosses { losses, windows: LeastWindows::Newest });
    }
    let window = if needle.loss <= needle.otherwise {
        hit
    } else if hit == newest(plays, memory) && plays > 1 && plays < memory {
        // The needle is the worse value: any other window with as many plays avoids it.
        let mut other = hit;
        other.swap(plays - 1, plays);
        other
    } else {
        newest(plays, memory)
    };
    losses[plays - 1] = loss_at(arm, Exposure::of(&window, arm.weights()))?;
    Ok(LeastLosses { losses, windows: LeastWindows::NewestBut(window) })
}

/// Tries every window. Tallies are added newest play first, as everywhere.
fn enumerate(arm: &Arm, interrupt: Interrupt<'_>) -> Result<LeastLosses, LeastLossError> {
    let memory = arm.memory();
    let weights = arm.weights().as_slice();
    let mut best = vec![(f64::INFINITY, 0u32); memory];
    // Windows still to be completed: the age to decide, the windows' newer part as bits, its tally and plays.
    let mut open = vec![(1, 1u32, weights[0], 1)];
    while let Some((age, bits, tally, plays)) = open.pop() {
        if age == memory {
            interrupt.check()?;
            let loss = loss_at(arm, Exposure { tally, plays, memory })?;
            if loss < best[plays - 1].0 {
                best[plays - 1] = (loss, bits);
            }
            continue;
        }
        open.push((age + 1, bits, tally, plays));
        open.push((age + 1, bits | 1 << age, tally + weights[age], plays + 1));
    }
    let (losses, bits) = best.into_iter().unzip();
    Ok(LeastLosses { losses, windows: LeastWindows::Bits(bits) })
}
