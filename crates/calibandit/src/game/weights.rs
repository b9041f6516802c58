//! An arm's weights: how much a play of it counts by its age.

use super::{ArmError, Memory};

/// The weights `w_x` of an arm, newest play first. Their number is the arm's memory.
///
/// Each lies in (0, 1], as in the paper's definition of the weighted tallying bandit. An arm that is *rested* has no
/// list of weights: every play since the beginning counts as 1, see [`Weights::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Empty if rested.
    weights: Vec<f64>,
    all_equal: bool,
}

impl Weights {
    /// These weights, newest play first.
    pub fn new(weights: Vec<f64>) -> Result<Self, ArmError> {
        if weights.is_empty() {
            return Err(ArmError::NoMemory);
        }
        for (position, &weight) in weights.iter().enumerate() {
            // Written so that NaN fails.
            if !(weight > 0.0 && weight <= 1.0) {
                return Err(ArmError::Weight { position, weight });
            }
        }
        let all_equal = weights.iter().all(|&w| w == weights[0]);
        Ok(Self { weights, all_equal })
    }

    /// All ones: the unweighted tallying bandit, in which the tally is the number of plays.
    pub fn unit(memory: usize) -> Result<Self, ArmError> {
        Self::new(vec![1.0; memory])
    }

    /// Every play since the beginning counts as 1: the tally is the number of plays of the arm so far. Such an arm is
    /// rested: nothing is forgotten, and what other arms are played does not matter to it.
    pub fn all() -> Self {
        Self { weights: Vec::new(), all_equal: true }
    }

    /// The weights of 1 of this memory.
    pub fn of(memory: Memory) -> Result<Self, ArmError> {
        match memory {
            Memory::Plays(plays) => Self::unit(plays),
            Memory::All => Ok(Self::all()),
        }
    }

    /// Whether every play since the beginning counts.
    pub fn is_rested(&self) -> bool {
        self.weights.is_empty()
    }

    /// The number of weights: how far back plays of this arm matter. `usize::MAX` if rested.
    pub fn memory(&self) -> usize {
        if self.is_rested() { usize::MAX } else { self.weights.len() }
    }

    /// Newest play first; empty if rested.
    pub fn as_slice(&self) -> &[f64] {
        &self.weights
    }

    /// Whether the tally depends only on the number of plays in the window.
    pub fn all_equal(&self) -> bool {
        self.all_equal
    }

    /// `w·y` for the window `y`, newest play first, added in that order so that one window always gives one float.
    pub fn tally(&self, window: impl IntoIterator<Item = bool>) -> f64 {
        if self.is_rested() {
            return window.into_iter().filter(|&played| played).count() as f64;
        }
        self.weights.iter().zip(window).filter(|&(_, played)| played).map(|(w, _)| w).sum()
    }

    /// `‖w‖₁`, the tally of a calibrated arm; infinite if rested.
    pub fn total(&self) -> f64 {
        if self.is_rested() {
            return f64::INFINITY;
        }
        self.tally(std::iter::repeat_n(true, self.memory()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tally_of_the_paper_s_basketball_example() {
        let w = Weights::new(vec![1.0, 0.5, 0.25]).unwrap();
        assert_eq!(w.tally([true, true, false]), 1.5); // x2, x1, x1
        assert_eq!(w.tally([true, false, true]), 1.25); // x1, x2, x1
        assert_eq!(w.total(), 1.75);
    }

    #[test]
    fn refuses_what_is_outside_the_definition() {
        assert!(matches!(Weights::new(vec![]), Err(ArmError::NoMemory)));
        assert!(matches!(Weights::unit(0), Err(ArmError::NoMemory)));
        for bad in [0.0, -0.5, 1.000001, f64::NAN, f64::INFINITY] {
            let refused = Weights::new(vec![1.0, bad]);
            assert!(matches!(refused, Err(ArmError::Weight { position: 1, .. })), "{bad}");
        }
    }
}
