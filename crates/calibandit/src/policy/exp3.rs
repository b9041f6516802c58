//! EXP3: exponential weights for exploration and exploitation.
//!
//! Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem", SIAM Journal on Computing
//! 32(1), 48-77 (2002), Figure 1 and Corollary 3.2, <https://doi.org/10.1137/S0097539701398375>. With weights w_i = 1
//! in the beginning, each play draws arm i with probability
//!
//! ```text
//! p_i = (1 - gamma) · w_i / sum_j w_j + gamma / K,
//! ```
//!
//! and its gain g in [0, 1] multiplies w_i by exp(gamma · g / (p_i · K)). For a known horizon T the rate is by default
//! gamma = min(1, sqrt(K·ln K / ((e - 1)·T))).
//!
//! The gain is 1 - loss, with the loss **clamped to [0, 1]** first: the update is only stable for bounded gains, and
//! normal feedback is not bounded.
//!
//! Weights are kept as logarithms relative to about the largest one, so that nothing overflows at any horizon.
//! EXP3 takes no care of warm-up: its runs are single plays.

use std::f64::consts::E;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::setting::check;
use super::spec::Configuration;
use super::{Parameter, PolicyError, PolicyKind, Setting};
use crate::{Feedback, Policy, Run, Stream};

const NAME: &str = "exp3";

/// The parameters of [`Exp3`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exp3Spec {
    /// The rate of exploration and of learning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub gamma: Option<f64>,
}

/// The rate, described.
pub(super) const GAMMA: Parameter = Parameter {
    name: "gamma",
    values: "a number in (0, 1]",
    default: Some("min(1, sqrt(K ln K / ((e - 1) T))), for T updates"),
    meaning: "The rate of exploration and of learning.",
};

/// Checks a rate that was given.
pub(super) fn check_gamma(policy: &'static str, gamma: f64) -> Result<(), PolicyError> {
    check(policy, "gamma", gamma, gamma > 0.0 && gamma <= 1.0, "in (0, 1]")
}

/// The rate for a known number of updates.
pub(super) fn default_gamma(arms: usize, updates: u64) -> f64 {
    if arms == 1 {
        return 1.0; // the formula's 0 would do as well: there is nothing to choose
    }
    let arms = arms as f64;
    (arms * arms.ln() / ((E - 1.0) * updates as f64)).sqrt().min(1.0)
}

impl Configuration for Exp3Spec {
    const KIND: PolicyKind = PolicyKind {
        name: NAME,
        summary: "Exponential weights over single plays: no assumption on the losses, no care of warm-up.",
        parameters: &[GAMMA],
        citation: "Auer, Cesa-Bianchi, Freund, Schapire (2002). The nonstochastic multiarmed bandit problem. \
                   SIAM J. Comput. 32(1), 48-77. doi:10.1137/S0097539701398375",
    };
    type Policy = Exp3;

    fn resolve(&self, setting: &Setting) -> Result<Self, PolicyError> {
        setting.check()?;
        let gamma = match self.gamma {
            Some(gamma) => gamma,
            None => default_gamma(setting.arms, setting.horizon(NAME, "set `gamma`")?),
        };
        check_gamma(NAME, gamma)?;
        Ok(Self { gamma: Some(gamma) })
    }

    fn build(&self, setting: &Setting, stream: Stream) -> Result<Exp3, PolicyError> {
        Exp3::new(self, setting, stream)
    }

    fn label(&self) -> String {
        "EXP3".to_string()
    }
}

/// EXP3.
///
/// ```
/// use calibandit::policy::{Exp3, Exp3Spec};
/// use calibandit::rng::{Purpose, stream};
/// use calibandit::{Policy, Setting};
/// let stream = stream(1, "example", 0, Purpose::Policy);
/// let mut policy = Exp3::new(&Exp3Spec::default(), &Setting { arms: 3, horizon: Some(1000) }, stream)?;
/// assert_eq!(policy.next_run().plays(), 1);
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exp3 {
    weights: Weights,
    stream: Stream,
}

impl Exp3 {
    /// A policy ready for its first run. Either the horizon or `gamma` must be given.
    pub fn new(spec: &Exp3Spec, setting: &Setting, stream: Stream) -> Result<Self, PolicyError> {
        let gamma = spec.resolve(setting)?.gamma.unwrap_or(1.0); // always there once resolved
        Ok(Self { weights: Weights::new(setting.arms, gamma), stream })
    }
}

impl Policy for Exp3 {
    fn next_run(&mut self) -> Run {
        Run { arm: self.weights.draw(&mut self.stream), burn_in: 0, record: 1 }
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.weights.learn(run.arm, feedback.sum);
    }

    /// The arm with the largest weight.
    fn recommend(&self) -> usize {
        self.weights.heaviest()
    }
}

/// Once the logarithm of a weight is above this, all are taken relative to the largest again.
const REBASE_ABOVE: f64 = 16.0;

/// The weights of EXP3.
///
/// Only ratios of weights matter, so each logarithm is kept relative to a common reference that follows the largest.
/// The weights themselves are at hand as well: an update changes one of them, at the price of one exponential. As
/// gains are not negative, weights only grow between two changes of the reference, so adding up the growth in `total`
/// loses no precision; a weight that underflows to 0 is still there as a logarithm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Weights {
    gamma: f64,
    log_weights: Vec<f64>,
    /// exp of each of `log_weights`.
    weights: Vec<f64>,
    /// Their sum.
    total: f64,
}

impl Weights {
    pub(super) fn new(arms: usize, gamma: f64) -> Self {
        Self { gamma, log_weights: vec![0.0; arms], weights: vec![1.0; arms], total: arms as f64 }
    }

    /// p_i.
    fn probability(&self, arm: usize) -> f64 {
        (1.0 - self.gamma) * (self.weights[arm] / self.total) + self.gamma / self.weights.len() as f64
    }

    /// An arm, drawn with the probabilities p_i from a single uniform number: below gamma it decides evenly, above
    /// by the weights.
    pub(super) fn draw(&self, stream: &mut Stream) -> usize {
        let uniform: f64 = stream.random();
        let last = self.weights.len() - 1;
        if uniform < self.gamma {
            return ((uniform / self.gamma * self.weights.len() as f64) as usize).min(last);
        }
        let mut left = (uniform - self.gamma) / (1.0 - self.gamma) * self.total;
        for (arm, weight) in self.weights.iter().enumerate() {
            if left < *weight {
                return arm;
            }
            left -= weight;
        }
        last // by rounding only
    }

    /// The update after a loss of `arm`, clamped to [0, 1]. Since p_i >= gamma / K, a logarithm grows by at most 1.
    pub(super) fn learn(&mut self, arm: usize, loss: f64) {
        let gain = 1.0 - loss.clamp(0.0, 1.0);
        let arms = self.weights.len() as f64;
        self.log_weights[arm] += self.gamma * gain / (self.probability(arm) * arms);
        let weight = self.log_weights[arm].exp();
        self.total += weight - self.weights[arm];
        self.weights[arm] = weight;
        if self.log_weights[arm] > REBASE_ABOVE {
            self.rebase();
        }
    }

    fn rebase(&mut self) {
        let largest = self.log_weights[self.heaviest()];
        for (weight, log_weight) in self.weights.iter_mut().zip(&mut self.log_weights) {
            *log_weight -= largest;
            *weight = log_weight.exp();
        }
        self.total = self.weights.iter().sum();
    }

    /// The arm with the largest weight; the first of them if there are several.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    fn probabilities(weights: &Weights) -> Vec<f64> {
        (0..weights.weights.len()).map(|arm| weights.probability(arm)).collect()
    }

    fn assert_sound(weights: &Weights) {
        assert!(weights.log_weights.iter().all(|x| x.is_finite()), "{weights:?}");
        assert!(weights.weights.iter().all(|x| x.is_finite()) && weights.total.is_finite(), "{weights:?}");
        let sum: f64 = probabilities(weights).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}: {weights:?}");
    }

    #[test]
    fn update_by_hand() {
        // K = 2, gamma = 1/2, so p = (1/2, 1/2). Arm 0 gains 0.8: w_0 = exp(0.5 · 0.8 / (0.5 · 2)) = e^0.4.
        let mut weights = Weights::new(2, 0.5);
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
            let mut weights = Weights::new(3, 0.1);
            weights.learn(1, loss);
            weights
        };
        assert_eq!(after(-7.0), after(0.0));
        assert_eq!(after(1e300), after(1.0));
        assert_eq!(after(1.0), Weights::new(3, 0.1));
    }

    /// Textbook EXP3 in plain weights, against which the bookkeeping in logarithms must not differ.
    #[test]
    fn agrees_with_plain_weights() {
        let gamma = 0.3;
        let mut plain = [1.0f64; 3];
        let mut weights = Weights::new(3, gamma);
        let mut stream = stream(3, "exp3", 0, Purpose::Policy);
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
        let mut weights = Weights::new(4, 0.2);
        weights.learn(2, 0.0);
        weights.learn(2, 0.0);
        weights.learn(0, 0.5);
        let mut stream = stream(5, "exp3", 0, Purpose::Policy);
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

    /// What 10^9 plays can do to the weights: a logarithm grows by at most 1 a play, here all at once.
    #[test]
    fn nothing_overflows_at_any_horizon() {
        for gamma in [1e-9, 7e-5, 0.1, 1.0] {
            for arms in [1, 2, 5] {
                let mut weights = Weights::new(arms, gamma);
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
        let mut weights = Weights::new(3, 0.05);
        let mut stream = stream(7, "exp3", 0, Purpose::Policy);
        for play in 0..1_000_000 {
            let arm = weights.draw(&mut stream);
            // The best arm changes, so that logarithms fall far behind and catch up again.
            weights.learn(arm, if arm == play / 300_000 % 3 { 0.0 } else { 0.9 });
        }
        assert_sound(&weights);
        let sum: f64 = weights.weights.iter().sum();
        assert!((weights.total / sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_rate_is_the_papers() {
        // sqrt(5 · ln 5 / ((e - 1) · 10^6)), computed outside this project.
        assert!((default_gamma(5, 1_000_000) - 0.002_164_088_002).abs() < 1e-12);
        assert_eq!(default_gamma(5, 1), 1.0);
        assert_eq!(default_gamma(1, 1000), 1.0);
    }

    #[test]
    fn says_what_is_wrong() {
        let new = |gamma, horizon| {
            Exp3::new(&Exp3Spec { gamma }, &Setting { arms: 2, horizon }, stream(1, "", 0, Purpose::Policy)).map(|_| ())
        };
        let refused = new(None, None).unwrap_err();
        assert_eq!(refused.to_string(), "policy `exp3` needs to know the horizon: give one, or set `gamma`");
        assert!(new(Some(1.0), None).is_ok());
        for gamma in [0.0, -0.5, 1.0f64.next_up(), f64::NAN, f64::INFINITY] {
            assert!(matches!(new(Some(gamma), Some(9)), Err(PolicyError::Parameter { parameter: "gamma", .. })));
        }
    }
}
