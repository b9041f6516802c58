//! D-UCB: upper confidence bounds over discounted losses, a reference.
//!
//! Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011,
//! <https://arxiv.org/abs/0805.3415>. A play that is s plays old counts gamma^s. With the discounted number n_x of
//! plays of arm x, their discounted mean, and the sum n of all n_x, the next play is of the arm with the least
//!
//! ```text
//! mean_x - 4·sd·sqrt(xi·ln(n) / n_x),
//! ```
//!
//! the first such arm in case of a tie, once every arm was played. 2·sd is the range of losses in [0, 1]; the paper's
//! width has another factor of 2. The defaults gamma = 1 - 1/(4·sqrt(T)) and xi = 0.6 are those of papers that compare
//! with it. Every play discounts every arm and computes every index. (A public version does both for the arm just
//! played only.) O(K) per play, O(K) numbers.

use super::error::{check, check_positive, check_problem, needed_horizon};
use super::history::{RestoredPlays, StateError, ensure};
use super::single_plays::{check_single_plays, default_sd, ensure_positive, least, setters, single};
use super::sliding_ucb::default_exploration;
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// UCB over discounted losses, for arms that change with time: a reference.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiscountedUcbSpec {
    /// The factor gamma by which a play counts less with each play after it.
    ///
    /// Default: 1 - 1 / (4 sqrt(T)).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1)))]
    pub discount: Option<f64>,
    /// The constant xi in the width 4 sd sqrt(xi ln(n) / n_x): a larger one explores more.
    #[cfg_attr(feature = "serde", serde(default = "default_exploration"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exploration: f64,
    /// The sub-Gaussian scale of the losses: 1/2 for losses in [0, 1], the standard deviation for normal noise.
    #[cfg_attr(feature = "serde", serde(default = "default_sd"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
}

impl DiscountedUcbSpec {
    /// Sets the discount per play, in (0, 1).
    pub fn discount(mut self, factor: f64) -> Self {
        self.discount = Some(factor);
        self
    }
}

setters!(DiscountedUcbSpec: sd, exploration);

/// The checked parameters of [`DiscountedUcb`], made by [`DiscountedUcbSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct DiscountedUcbParams {
    arms: usize,
    discount: f64,
    exploration: f64,
    sd: f64,
}

fn is_discount(discount: f64) -> bool {
    discount > 0.0 && discount < 1.0
}

impl PolicyConfig for DiscountedUcbSpec {
    const NAME: &'static str = "discounted-ucb";
    const CITATION: &'static str = "Garivier, Moulines (2011). On upper-confidence bound policies for switching bandit \
                                    problems. ALT 2011. arXiv:0805.3415";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Any];
    type Params = DiscountedUcbParams;
    type Policy = DiscountedUcb;

    fn example() -> Self {
        DiscountedUcb::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        let discount = self.discount.unwrap_or(0.5);
        check(Self::NAME, "discount", discount, is_discount(discount), "in (0, 1)")?;
        check_positive(Self::NAME, "exploration", self.exploration)?;
        check_positive(Self::NAME, "sd", self.sd)
    }

    fn params(&self, problem: &Problem) -> Result<DiscountedUcbParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let discount = match self.discount {
            Some(discount) => discount,
            None => 1.0 - 0.25 / (needed_horizon(problem, Self::NAME, "set `discount`")? as f64).sqrt(),
        };
        Ok(DiscountedUcbParams { arms: problem.arms, discount, exploration: self.exploration, sd: self.sd })
    }

    fn filled(params: &DiscountedUcbParams) -> Self {
        Self { discount: Some(params.discount), exploration: params.exploration, sd: params.sd }
    }

    fn start(params: DiscountedUcbParams, _: Stream) -> DiscountedUcb {
        DiscountedUcb::new(params)
    }

    fn label(&self) -> String {
        "D-UCB".to_string()
    }
}

/// UCB over discounted losses.
///
/// ```
/// use calibandit::policy::DiscountedUcb;
/// use calibandit::{Policy, Problem, Run};
/// let spec = DiscountedUcb::builder().discount(0.99);
/// let mut policy = DiscountedUcb::new(spec.params(&Problem { arms: 5, horizon: None })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct DiscountedUcb {
    discount: f64,
    exploration: f64,
    sd: f64,
    /// By arm, the number of plays.
    plays: Vec<u64>,
    /// The number of arms that were played.
    opened: usize,
    /// By arm, the discounted number of plays.
    counts: Vec<f64>,
    /// By arm, the discounted sum of losses.
    sums: Vec<f64>,
}

impl DiscountedUcb {
    /// Default parameters: discount 1 - 1 / (4 sqrt(T)), exploration 0.6, sd 1/2. Either the horizon must be known or
    /// [`discount`](DiscountedUcbSpec::discount) be set.
    pub fn builder() -> DiscountedUcbSpec {
        DiscountedUcbSpec { discount: None, exploration: default_exploration(), sd: default_sd() }
    }

    /// A policy ready for its first run.
    pub fn new(params: DiscountedUcbParams) -> Self {
        let DiscountedUcbParams { arms, discount, exploration, sd } = params;
        let zeros = vec![0.0; arms];
        Self { discount, exploration, sd, plays: vec![0; arms], opened: 0, counts: zeros.clone(), sums: zeros }
    }
}

impl Policy for DiscountedUcb {
    fn next_run(&mut self) -> Run {
        if self.opened < self.plays.len() {
            return single(self.opened);
        }
        let total: f64 = self.counts.iter().sum();
        let scale = 4.0 * self.sd * (self.exploration * math::ln(total.max(1.0))).sqrt();
        // A count of 0 is one that is too small for a number: the arm was not played for very long.
        let index = |(&count, sum): (&f64, &f64)| {
            if count > 0.0 { sum / count - scale / count.sqrt() } else { f64::NEG_INFINITY }
        };
        single(least(self.counts.iter().zip(&self.sums).map(index)))
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        let discount = self.discount;
        self.counts.iter_mut().zip(&mut self.sums).for_each(|(count, sum)| {
            *count *= discount;
            *sum *= discount;
        });
        self.opened += usize::from(self.plays[run.arm] == 0);
        self.plays[run.arm] += 1;
        self.counts[run.arm] += 1.0;
        self.sums[run.arm] += feedback.sum;
    }

    /// The arm with the greatest discounted number of plays.
    fn recommend(&self) -> usize {
        least(self.counts.iter().map(|count| -count))
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.opened < self.plays.len() { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        ensure(is_discount(self.discount), "the discount is not in (0, 1)")?;
        ensure_positive(&[self.exploration, self.sd], "the exploration or sd is not a positive number")?;
        check_single_plays(history, &self.plays)?;
        ensure(self.counts.len() == arms && self.sums.len() == arms, "the policy has another number of arms")?;
        let opened = self.plays.iter().enumerate().all(|(arm, &plays)| (plays > 0) == (arm < self.opened));
        ensure(opened && self.opened <= arms, "an arm was skipped at the start")?;
        let again = self.plays.iter().any(|&plays| plays > 1);
        ensure(!again || self.opened == arms, "an arm was played again before all were played")?;
        // All plays together: 1 + gamma + gamma^2 + ... for the last of them.
        let played: u64 = self.plays.iter().sum();
        let all = (1.0 - math::exp(played as f64 * math::ln(self.discount))) / (1.0 - self.discount);
        let total: f64 = self.counts.iter().sum();
        ensure((total - all).abs() <= 1e-6 * all, "the discounted numbers of plays do not add up")?;
        for arm in 0..arms {
            let (count, plays) = (self.counts[arm], self.plays[arm] as f64);
            let fits = count >= 0.0 && count <= plays * (1.0 + 1e-9);
            ensure(fits, "the discounted number of plays of an arm is out of range")?;
            ensure(history.allows_sum(count, self.sums[arm]), "the discounted sum of losses is out of range")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every index from all plays, at every play.
    #[test]
    fn choices_are_those_of_the_definition() {
        let params = DiscountedUcb::builder().discount(0.95).params(&Problem { arms: 3, horizon: None }).unwrap();
        let mut policy = DiscountedUcb::new(params);
        let mut history: Vec<(usize, f64)> = Vec::new();
        let mut played = [0; 3];
        for play in 0..600usize {
            let weight = |at: usize| 0.95f64.powi((history.len() - 1 - at) as i32);
            let sums = |arm: usize| {
                let own = history.iter().enumerate().filter(|(_, play)| play.0 == arm);
                own.fold((0.0, 0.0), |sum, (at, play)| (sum.0 + weight(at), sum.1 + weight(at) * play.1))
            };
            let total: f64 = (0..3).map(|arm| sums(arm).0).sum();
            let index = |arm: usize| {
                let (n, sum) = sums(arm);
                sum / n - 2.0 * (0.6 * total.ln() / n).sqrt()
            };
            let run = policy.next_run();
            if play >= 3 {
                let least = (0..3).map(index).fold(f64::INFINITY, f64::min);
                assert!(index(run.arm) <= least + 1e-9, "play {play}");
            }
            played[run.arm] += 1;
            let loss = if run.arm == play / 200 { 0.1 } else { 0.9 };
            history.push((run.arm, loss));
            policy.observe(run, Feedback::one(loss));
        }
        assert!(played.iter().all(|&plays| plays > 100), "{played:?}");
    }

    #[test]
    fn the_default_discount_is_that_of_the_literature() {
        let params = DiscountedUcb::builder().params(&Problem { arms: 3, horizon: Some(10_000) }).unwrap();
        assert_eq!(params.discount, 0.9975);
        let refused = DiscountedUcb::builder().params(&Problem { arms: 3, horizon: None }).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { instead: "set `discount`", .. }));
        let refused = DiscountedUcb::builder().discount(1.0).params(&Problem { arms: 3, horizon: None }).unwrap_err();
        assert_eq!(refused.to_string(), "policy `discounted-ucb`: `discount` must be in (0, 1), but is 1");
    }
}
