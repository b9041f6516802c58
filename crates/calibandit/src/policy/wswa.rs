//! wSWA: the sliding window average without a horizon.
//!
//! Levine, Crammer and Mannor, "Rotting bandits", NIPS 2017, <https://arxiv.org/abs/1702.07274>: [`Swa`](super::Swa)
//! for horizons of 1, 2, 4, 8, ... plays, one after the other. Each restart drops all observations. A play costs O(K),
//! and O(K·h) losses are kept, as in `swa.rs`.

use super::error::check_positive;
use super::history::{RestoredPlays, StateError, ensure};
use super::raw_ucb::label_with_alpha;
use super::single_plays::{
    check_single_plays, checked_spec, default_sd, ensure_positive, plain_params, setters, single,
};
use super::spec::PolicyConfig;
use super::swa::{RecentLosses, default_alpha, window};
use super::{PolicyError, RunReason};
use crate::{Feedback, GameClass, Policy, Run};

/// The sliding window average, restarted with doubled horizons, for arms that get worse with each play.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WswaSpec {
    /// The factor of the window's length: a larger one gives longer windows.
    #[cfg_attr(feature = "serde", serde(default = "default_alpha"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub alpha: f64,
    /// The sub-Gaussian scale of the losses: 1/2 for losses in [0, 1], the standard deviation for normal noise.
    #[cfg_attr(feature = "serde", serde(default = "default_sd"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
}

setters!(WswaSpec: alpha, sd);

checked_spec!(WswaParams, WswaSpec, Wswa);

impl PolicyConfig for WswaSpec {
    const NAME: &'static str = "wswa";
    const CITATION: &'static str = "Levine, Crammer, Mannor (2017). Rotting bandits. NIPS 2017. arXiv:1702.07274";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rotting];
    plain_params!(WswaParams, Wswa);

    fn check(&self) -> Result<(), PolicyError> {
        check_positive(Self::NAME, "alpha", self.alpha)?;
        check_positive(Self::NAME, "sd", self.sd)
    }

    fn label(&self) -> String {
        label_with_alpha("wSWA", self.alpha, default_alpha())
    }
}

/// wSWA.
///
/// ```
/// use calibandit::policy::Wswa;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = Wswa::new(Wswa::builder().params(&Problem { arms: 5, horizon: None })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Wswa {
    alpha: f64,
    sd: f64,
    /// The horizon of the present start: a power of 2.
    horizon: u64,
    /// By arm, the plays since the beginning.
    plays: Vec<u64>,
    /// What is known since the present start.
    recent: RecentLosses,
    /// The recommendation at the last restart, for the time until every arm is known again.
    recommended: usize,
}

impl Wswa {
    /// Default parameters: alpha 0.2, sd 1/2. The horizon is ignored.
    pub fn builder() -> WswaSpec {
        WswaSpec { alpha: default_alpha(), sd: default_sd() }
    }

    /// A policy ready for its first run.
    pub fn new(params: WswaParams) -> Self {
        let WswaParams { arms, spec: WswaSpec { alpha, sd } } = params;
        let recent = RecentLosses::new(arms, window(alpha, sd, arms, 1));
        Self { alpha, sd, horizon: 1, plays: vec![0; arms], recent, recommended: 0 }
    }
}

impl Policy for Wswa {
    fn next_run(&mut self) -> Run {
        single(self.recent.choose())
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.plays[run.arm] += 1;
        self.recent.learn(run.arm, feedback.sum);
        let played: u64 = self.recent.learnt().iter().sum();
        if played >= self.horizon {
            self.recommended = self.recommend();
            self.horizon = self.horizon.saturating_mul(2);
            let arms = self.plays.len();
            self.recent = RecentLosses::new(arms, window(self.alpha, self.sd, arms, self.horizon));
        }
    }

    /// The arm with the least mean of its last losses; while some arm is not known, what was recommended before.
    fn recommend(&self) -> usize {
        let known = self.recent.learnt().iter().all(|&learnt| learnt > 0);
        if known { self.recent.least_mean() } else { self.recommended }
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.recent.is_opening() { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        ensure_positive(&[self.alpha, self.sd], "alpha or sd is not a positive number")?;
        check_single_plays(history, &self.plays)?;
        self.recent.check_restored(history)?;
        let arms = self.plays.len();
        ensure(self.recommended < arms, "an arm is recommended that does not exist")?;
        ensure(self.horizon.is_power_of_two(), "the horizon of a start is not a power of 2")?;
        ensure(self.recent.window == window(self.alpha, self.sd, arms, self.horizon), "the window is another one")?;
        // The starts before this one took 1 + 2 + ... = horizon - 1 plays.
        let total: u64 = self.plays.iter().sum();
        let since: u64 = self.recent.learnt().iter().fold(0, |sum, &learnt| sum.saturating_add(learnt));
        ensure(since < self.horizon, "a start takes longer than its horizon")?;
        ensure(total == self.horizon - 1 + since, "the plays do not fit the number of starts")?;
        let within = self.plays.iter().zip(self.recent.learnt()).all(|(all, since)| since <= all);
        ensure(within, "an arm has fewer plays than since the last start")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    #[test]
    fn starts_double_and_forget() {
        let params = Wswa::builder().params(&Problem { arms: 2, horizon: None }).unwrap();
        let mut policy = Wswa::new(params);
        let mut starts = Vec::new();
        for play in 1..=1000 {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(run.arm as f64));
            if policy.recent.learnt().iter().sum::<u64>() == 0 {
                starts.push(play);
                assert_eq!(policy.recent.window, window(0.2, 0.5, 2, policy.horizon));
                assert_eq!(policy.next_run().arm, 0, "all observations were dropped");
            }
        }
        assert_eq!(starts, [1, 3, 7, 15, 31, 63, 127, 255, 511]);
        assert_eq!(policy.recommend(), 0);
    }
}
