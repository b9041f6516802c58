//! R-ed-UCB: an upper confidence bound on extrapolated losses, for rising arms.
//!
//! Metelli, Trovò, Pirola and Restelli, "Stochastic rising bandits", ICML 2022, <https://arxiv.org/abs/2212.03798>, for
//! rested arms. Expected losses never rise and fall by less and less. Round t plays the arm with the least
//!
//! ```text
//! index_x = estimate for t - sd·(t - n + h - 1)·sqrt(10·alpha·ln(t) / h³),   -infinity while h = 0,
//! ```
//!
//! the first such arm in case of a tie, where n is the number of plays of arm x, h = floor(share·n), and the estimate
//! extrapolates the trend of the last 2·h losses (`recent_trend.rs`). No horizon is needed. The defaults share = 1/4
//! and alpha = 4 are those of the paper's experiments. With them the width is so large that with many arms the policy
//! is close to round robin (docs/neighbours.md).
//!
//! This is the clean form. The authors' first public code has mirrored weights in the estimate, refreshes only the
//! index of the arm just played, and has an index of 1 while h = 0. O(K) per play; the last 2·share·n losses are kept.

use super::error::check_positive;
use super::history::{RestoredPlays, StateError, ensure};
use super::recent_trend::RecentTrend;
use super::single_plays::{
    check_share, check_single_plays, checked_spec, default_sd, ensure_positive, is_share, least, most_played,
    plain_params, setters, single,
};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Run};

/// A confidence bound on extrapolated losses, for arms that keep improving.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RisingUcbSpec {
    /// The share of an arm's plays in each of the two windows that show its trend, the paper's epsilon.
    #[cfg_attr(feature = "serde", serde(default = "default_share"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.5)))]
    pub share: f64,
    /// The constant alpha in the width: a larger one explores more. The theory needs more than 2.
    #[cfg_attr(feature = "serde", serde(default = "default_alpha"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub alpha: f64,
    /// The sub-Gaussian scale of the losses: 1/2 for losses in [0, 1], the standard deviation for normal noise.
    #[cfg_attr(feature = "serde", serde(default = "default_sd"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
}

/// The default of `share`, also that of the policies for best-arm identification.
pub(super) fn default_share() -> f64 {
    0.25
}

fn default_alpha() -> f64 {
    4.0
}

setters!(RisingUcbSpec: alpha, sd, share);

checked_spec!(RisingUcbParams, RisingUcbSpec, RisingUcb);

impl PolicyConfig for RisingUcbSpec {
    const NAME: &'static str = "rising-ucb";
    const CITATION: &'static str = "Metelli, Trovo, Pirola, Restelli (2022). Stochastic rising bandits. ICML 2022. \
                                    arXiv:2212.03798";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rising];
    plain_params!(RisingUcbParams, RisingUcb);

    fn check(&self) -> Result<(), PolicyError> {
        check_share(Self::NAME, self.share)?;
        check_positive(Self::NAME, "alpha", self.alpha)?;
        check_positive(Self::NAME, "sd", self.sd)
    }

    fn label(&self) -> String {
        super::raw_ucb::label_with_alpha("R-ed-UCB", self.alpha, default_alpha())
    }
}

/// R-ed-UCB.
///
/// ```
/// use calibandit::policy::RisingUcb;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = RisingUcb::new(RisingUcb::builder().params(&Problem { arms: 5, horizon: None })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct RisingUcb {
    share: f64,
    alpha: f64,
    sd: f64,
    plays: u64,
    arms: Vec<RecentTrend>,
}

impl RisingUcb {
    /// Default parameters: share 1/4, alpha 4, sd 1/2. The horizon is ignored.
    pub fn builder() -> RisingUcbSpec {
        RisingUcbSpec { share: default_share(), alpha: default_alpha(), sd: default_sd() }
    }

    /// A policy ready for its first run.
    pub fn new(params: RisingUcbParams) -> Self {
        let RisingUcbSpec { share, alpha, sd } = params.spec;
        Self { share, alpha, sd, plays: 0, arms: vec![RecentTrend::new(); params.arms] }
    }
}

/// The least index: the estimate for `time`, minus sd·(time - n + h - 1)·sqrt(exploration / h³).
#[inline]
pub(super) fn rising_index(arm: &RecentTrend, share: f64, time: f64, scale: f64) -> f64 {
    match arm.estimate(share, time) {
        None => f64::NEG_INFINITY,
        Some((estimate, h)) => estimate - scale * (time - arm.plays() as f64 + h - 1.0) / (h * h.sqrt()),
    }
}

impl Policy for RisingUcb {
    fn next_run(&mut self) -> Run {
        let time = self.plays as f64 + 1.0;
        let scale = self.sd * (10.0 * self.alpha * math::ln(time)).sqrt();
        single(least(self.arms.iter().map(|arm| rising_index(arm, self.share, time, scale))))
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.arms[run.arm].learn(self.share, feedback.sum);
        self.plays += 1;
    }

    /// The arm that was played most often; in case of a tie, the one with the least estimate.
    fn recommend(&self) -> usize {
        let plays: Vec<u64> = self.arms.iter().map(RecentTrend::plays).collect();
        let time = self.plays as f64;
        most_played(&plays, |arm| self.arms[arm].estimate(self.share, time).map_or(f64::INFINITY, |(loss, _)| loss))
    }

    fn run_reason(&self, run: Run) -> RunReason {
        opening_or_index(&self.arms[run.arm], self.share)
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure_positive(&[self.alpha, self.sd], "alpha or sd is not a positive number")?;
        check_trends(&self.arms, self.share, self.plays, history)
    }
}

/// An arm without an estimate is played because every arm needs one.
pub(super) fn opening_or_index(arm: &RecentTrend, share: f64) -> RunReason {
    if arm.estimate(share, 0.0).is_none() { RunReason::Opening } else { RunReason::Index }
}

/// Checks the recent losses of all arms.
pub(super) fn check_trends(
    arms: &[RecentTrend],
    share: f64,
    plays: u64,
    history: &RestoredPlays<'_>,
) -> Result<(), StateError> {
    ensure(is_share(share), "the share of the plays is not in (0, 1/2)")?;
    let by_arm: Vec<u64> = arms.iter().map(RecentTrend::plays).collect();
    check_single_plays(history, &by_arm)?;
    ensure(by_arm.iter().sum::<u64>() == plays, "the plays of the arms do not add up")?;
    arms.iter().try_for_each(|arm| arm.check_restored(share, history))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    #[test]
    fn choices_agree_with_a_calculation_by_hand() {
        let params = RisingUcb::builder().share(0.4).alpha(0.1).sd(0.01).params(&Problem { arms: 2, horizon: None });
        let mut policy = RisingUcb::new(params.unwrap());
        let mut play = |loss| {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
            run.arm
        };
        // h = floor(0.4·n) is 0 for two plays, 1 for three and four, 2 for five.
        let opening: Vec<usize> = [0.9, 0.8, 0.7, 0.5, 0.5, 0.5].into_iter().map(&mut play).collect();
        assert_eq!(opening, [0, 0, 0, 1, 1, 1]);
        // t = 7, n = 3, h = 1. Arm 0: 0.7 - 4·0.1 = 0.3; arm 1: 0.5. Widths 0.01·4·sqrt(ln 7) = 0.056 for both.
        assert_eq!(play(0.69), 0);
        // t = 8. Arm 0, n = 4: 0.69 - 4·0.01 = 0.65, arm 1: 0.5.
        assert_eq!(play(0.5), 1);
        assert_eq!(play(0.5), 1);
        assert_eq!(policy.recommend(), 1);
    }

    #[test]
    fn invalid_parameters_are_named() {
        let refused = |spec: RisingUcbSpec| spec.params(&Problem { arms: 2, horizon: None }).unwrap_err().to_string();
        let text = "policy `rising-ucb`: `share` must be in (0, 0.5), but is 0.5";
        assert_eq!(refused(RisingUcb::builder().share(0.5)), text);
        assert!(refused(RisingUcb::builder().alpha(0.0)).contains("`alpha`"));
        assert!(refused(RisingUcb::builder().sd(f64::NAN)).contains("`sd`"));
    }
}
