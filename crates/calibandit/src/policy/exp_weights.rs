//! Exponential weights, for EXP3 and batched EXP3: drawing an arm and learning from its loss.
//!
//! With up to [`IN_LINE`] arms, a draw goes through the weights one by one. With more, a tree of partial sums makes the
//! time of a draw and of an update proportional to the logarithm of the number of arms.
//!
//! `simulate::batch` has the same computation for several instances at once. Both must do the same operations in the
//! same order, so that they give the same bits; a test compares them.

mod sum_tree;

use rand::Rng;

pub(super) use sum_tree::SumTree;

use super::history::{RestoredPlays, StateError, ensure};
use crate::Stream;
use crate::exponential::exp;

/// Up to this many arms, a draw goes through the weights one by one.
pub(crate) const IN_LINE: usize = 32;

/// Once the logarithm of a weight is above this, all are made relative to the largest again. exp(256) is far from
/// overflow.
pub(crate) const REBASE_ABOVE: f64 = 256.0;

/// The rate, and numbers that follow from it and the number of arms K.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(crate) struct LearningRate {
    pub(crate) gamma: f64,
    /// K / gamma.
    pub(crate) even: f64,
    /// 1 / (1 - gamma), or 0 if gamma is 1 and every draw is uniform.
    pub(crate) stretch: f64,
    /// (1 - gamma)·K.
    pub(crate) by_weight: f64,
}

impl LearningRate {
    fn new(arms: usize, gamma: f64) -> Self {
        let arms = arms as f64;
        let stretch = if gamma < 1.0 { (1.0 - gamma).recip() } else { 0.0 };
        Self { gamma, even: arms / gamma, stretch, by_weight: (1.0 - gamma) * arms }
    }
}

/// A uniform number in [0, 1): a multiple of 2^-52, from the upper bits of one word.
pub(crate) fn uniform(word: u64) -> f64 {
    f64::from_bits(word >> 12 | 1f64.to_bits()) - 1.0
}

/// The weights of EXP3.
///
/// Only ratios of weights matter, so each logarithm is stored relative to a common reference that follows the largest.
/// The weights themselves are stored as well: an update changes one of them, with one exponential. Gains are not
/// negative, so weights only grow between two changes of the reference, and adding their growth to `total` loses no
/// precision. A weight that underflows to 0 still has its logarithm.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(crate) struct ExpWeights {
    pub(crate) rate: LearningRate,
    pub(crate) log_weights: Vec<f64>,
    /// exp of each of `log_weights`.
    pub(crate) weights: Vec<f64>,
    /// Their sum.
    pub(crate) total: f64,
    /// Partial sums; empty up to [`IN_LINE`] arms.
    tree: SumTree,
}

impl ExpWeights {
    pub(super) fn new(arms: usize, gamma: f64) -> Self {
        let mut weights = Self {
            rate: LearningRate::new(arms, gamma),
            log_weights: vec![0.0; arms],
            weights: vec![1.0; arms],
            total: 0.0,
            tree: SumTree::default(),
        };
        weights.add_up();
        weights
    }

    /// p_i.
    #[cfg(test)]
    fn probability(&self, arm: usize) -> f64 {
        let LearningRate { gamma, .. } = self.rate;
        (1.0 - gamma) * (self.weights[arm] / self.total) + gamma / self.weights.len() as f64
    }

    /// An arm, drawn with the probabilities p_i from a single uniform number u: uniformly if u is below gamma,
    /// otherwise by the weights.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> usize {
        let LearningRate { gamma, even, stretch, .. } = self.rate;
        let uniform = uniform(stream.next_u64());
        let last = self.weights.len() - 1;
        if uniform < gamma {
            return ((uniform * even) as usize).min(last);
        }
        let target = (uniform - gamma) * stretch * self.total;
        if !self.tree.is_empty() {
            return self.tree.find(target, &self.weights);
        }
        let mut sum = 0.0;
        for (arm, weight) in self.weights[..last].iter().enumerate() {
            sum += weight;
            if target < sum {
                return arm;
            }
        }
        last
    }

    /// The update after a loss of `arm`, clamped to [0, 1]: gamma·gain / (p_i·K), where p_i·K is
    /// ((1 - gamma)·K·w_i + gamma·total) / total. Since p_i >= gamma / K, a logarithm grows by at most 1.
    #[inline]
    pub(super) fn learn(&mut self, arm: usize, loss: f64) {
        let gain = 1.0 - loss.clamp(0.0, 1.0);
        if gain == 0.0 {
            return; // nothing changes
        }
        let even = self.rate.gamma * self.total;
        let step = gain * (even / (self.rate.by_weight * self.weights[arm] + even));
        self.log_weights[arm] += step;
        let weight = exp(self.log_weights[arm]);
        self.total += weight - self.weights[arm];
        self.weights[arm] = weight;
        if !self.tree.is_empty() {
            self.total = self.tree.update(arm, &self.weights);
        }
        if self.log_weights[arm] > REBASE_ABOVE {
            self.rebase();
        }
    }

    pub(crate) fn rebase(&mut self) {
        let largest = self.log_weights[self.heaviest()];
        for (weight, log_weight) in self.weights.iter_mut().zip(&mut self.log_weights) {
            *log_weight -= largest;
            *weight = exp(*log_weight);
        }
        self.add_up();
    }

    fn add_up(&mut self) {
        self.total =
            if self.weights.len() > IN_LINE { self.tree.rebuild(&self.weights) } else { self.weights.iter().sum() };
    }

    /// The arm with the largest weight; in case of a tie, the first.
    pub(super) fn heaviest(&self) -> usize {
        let mut heaviest = 0;
        for (arm, log_weight) in self.log_weights.iter().enumerate() {
            if *log_weight > self.log_weights[heaviest] {
                heaviest = arm;
            }
        }
        heaviest
    }
}

impl ExpWeights {
    /// Checks restored weights that learn from runs of `batch` recorded plays without burn-in.
    pub(super) fn check_restored(&self, batch: u64, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let Self { rate, log_weights, weights, total, tree } = self;
        let arms = history.arms;
        ensure(log_weights.len() == arms && weights.len() == arms, "the policy has another number of arms")?;
        ensure(rate.gamma > 0.0 && rate.gamma <= 1.0, "gamma is not in (0, 1]")?;
        ensure(*rate == LearningRate::new(arms, rate.gamma), "the learning rate contradicts gamma")?;
        let valid = |log_weight: &f64| log_weight.is_finite() && *log_weight <= REBASE_ABOVE;
        ensure(log_weights.iter().all(valid), "a weight is out of range")?;
        let exact = log_weights.iter().zip(weights).all(|(log_weight, weight)| exp(*log_weight) == *weight);
        ensure(exact, "a weight is not the exponential of its logarithm")?;
        let mut fresh = SumTree::default();
        let sum: f64 = if arms > IN_LINE { fresh.rebuild(weights) } else { weights.iter().sum() };
        // Without a tree the total is updated by differences, whose rounding errors add up.
        let close = if arms > IN_LINE { *total == sum } else { (total - sum).abs() <= 1e-6 * sum };
        ensure(close && fresh == *tree, "the sum of the weights is wrong")?;
        ensure(sum > 0.0, "all weights are 0")?;
        ensure(history.has_burn_in(0, batch), "there are burn-in plays, or parts of a batch")?;
        let asked = |run: crate::Run| run.burn_in == 0 && run.record == batch;
        ensure(history.open.is_none_or(asked), "the open run is not one that the policy asks for")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    fn probabilities(weights: &ExpWeights) -> Vec<f64> {
        (0..weights.weights.len()).map(|arm| weights.probability(arm)).collect()
    }

    fn assert_sound(weights: &ExpWeights) {
        assert!(weights.log_weights.iter().all(|x| x.is_finite()), "{weights:?}");
        assert!(weights.weights.iter().all(|x| x.is_finite()) && weights.total.is_finite(), "{weights:?}");
        let sum: f64 = probabilities(weights).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}: {weights:?}");
    }

    #[test]
    fn update_by_hand() {
        // K = 2, gamma = 1/2, so p = (1/2, 1/2). Arm 0 gains 0.8: w_0 = exp(0.5 · 0.8 / (0.5 · 2)) = e^0.4.
        let mut weights = ExpWeights::new(2, 0.5);
        assert_eq!(probabilities(&weights), [0.5, 0.5]);
        weights.learn(0, 0.2);
        let w = 0.4f64.exp();
        let p = 0.5 * w / (w + 1.0) + 0.25;
        assert!((weights.probability(0) - p).abs() < 1e-15);
        // Arm 1 gains 1 at its p_1 = 1 - p: w_1 = exp(0.5 / (p_1 · 2)).
        weights.learn(1, 0.0);
        let v = (0.25 / (1.0 - p)).exp();
        assert!((weights.probability(1) - (0.5 * v / (w + v) + 0.25)).abs() < 1e-15);
        assert_eq!(weights.heaviest(), 1);
    }

    #[test]
    fn losses_are_clamped() {
        let after = |loss| {
            let mut weights = ExpWeights::new(3, 0.1);
            weights.learn(1, loss);
            weights
        };
        assert_eq!(after(-7.0), after(0.0));
        assert_eq!(after(1e300), after(1.0));
        assert_eq!(after(1.0), ExpWeights::new(3, 0.1));
    }

    /// Textbook EXP3 in plain weights, against which the bookkeeping in logarithms must not differ.
    #[test]
    fn agrees_with_plain_weights() {
        let gamma = 0.3;
        let mut plain = [1.0f64; 3];
        let mut weights = ExpWeights::new(3, gamma);
        let mut stream = StreamKey::new(3, "exp3", 0).policy();
        for _ in 0..2000 {
            let arm = weights.draw(&mut stream);
            let loss = [0.5, 0.4, 0.9][arm];
            let sum: f64 = plain.iter().sum();
            let p = (1.0 - gamma) * plain[arm] / sum + gamma / 3.0;
            assert!((weights.probability(arm) - p).abs() < 1e-11);
            plain[arm] *= (gamma * (1.0 - loss) / (p * 3.0)).exp();
            weights.learn(arm, loss);
            assert_sound(&weights);
        }
    }

    #[test]
    fn draws_with_the_stated_probabilities() {
        let mut weights = ExpWeights::new(4, 0.2);
        weights.learn(2, 0.0);
        weights.learn(2, 0.0);
        weights.learn(0, 0.5);
        let mut stream = StreamKey::new(5, "exp3", 0).policy();
        let mut counts = [0u32; 4];
        let draws = 200_000;
        for _ in 0..draws {
            counts[weights.draw(&mut stream)] += 1;
        }
        // Chi-squared with 3 degrees of freedom: above 21.1 with probability 1e-4.
        let expected = probabilities(&weights).into_iter().map(|p| p * f64::from(draws));
        let chi: f64 = counts.iter().zip(expected).map(|(&n, e)| (f64::from(n) - e).powi(2) / e).sum();
        assert!(chi < 21.1, "{chi}");
    }

    /// The effect of 10^9 plays: a logarithm grows by at most 1 per play, here by all of them at once.
    #[test]
    fn nothing_overflows_at_any_horizon() {
        for gamma in [1e-9, 7e-5, 0.1, 1.0] {
            for arms in [1, 2, 5] {
                let mut weights = ExpWeights::new(arms, gamma);
                weights.log_weights[0] = 1e9;
                weights.rebase();
                assert_sound(&weights);
                assert!((weights.probability(0) - (1.0 - gamma + gamma / arms as f64)).abs() < 1e-12);
                // The arms that are left have the least possible probability, and can still come back.
                for arm in 0..arms {
                    let before = weights.log_weights[arm];
                    weights.learn(arm, 0.0);
                    assert!(weights.log_weights[arm] <= before + 1.0 + 1e-9);
                    assert_sound(&weights);
                }
                weights.log_weights[arms - 1] = 1e9;
                weights.rebase();
                assert_sound(&weights);
                assert_eq!(weights.heaviest(), arms - 1);
            }
        }
    }

    #[test]
    fn stays_sound_over_a_million_plays() {
        let mut weights = ExpWeights::new(3, 0.05);
        let mut stream = StreamKey::new(7, "exp3", 0).policy();
        for play in 0..1_000_000 {
            let arm = weights.draw(&mut stream);
            // The best arm changes, so that logarithms fall far behind and catch up again.
            weights.learn(arm, if arm == play / 300_000 % 3 { 0.0 } else { 0.9 });
        }
        assert_sound(&weights);
        let sum: f64 = weights.weights.iter().sum();
        assert!((weights.total / sum - 1.0).abs() < 1e-12);
    }
}
