//! The policy of Heidari, Kearns and Roth for improving arms without noise.
//!
//! Heidari, Kearns and Roth, "Tight policy regret bounds for improving and decaying bandits", IJCAI 2016, the policy
//! for improving arms (A1). Losses are in [0, 1], never rise and fall by less and less. With the horizon T:
//!
//! ```text
//! S = all arms
//! while S has more than one arm:
//!     play every arm of S once
//!     for x in S with n plays, their sum of losses c, the last loss y and its fall d:
//!         high_x = c + (T - n)·y                                        as if it stayed flat
//!         low_x  = c + sum over s = 1, ..., T - n of max(0, y - s·d)    as if it kept falling; -inf before two plays
//!     drop x from S if some arm of S has high < low_x
//! play the arm that is left
//! ```
//!
//! The bounds are those of one arm that gets all T plays. There is no handling of noise: with noise, arms are dropped
//! by chance. O(1) per play, and O(K) once per round; O(K) numbers. (Public code that evaluates the bounds one play
//! early, or draws a loss anew each time it is mentioned, has other numbers: docs/neighbours.md.)

use std::cmp::Ordering;

use super::error::{check_problem, needed_horizon};
use super::history::{RestoredPlays, StateError, ensure};
use super::optimistic_sum::optimistic_sum;
use super::single_plays::{check_single_plays, least, single};
use super::spec::PolicyConfig;
use super::{ArmReport, ArmStatus, PolicyError, RunReason};
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Drop arms whose most optimistic future is worse than the flat future of another, for arms that improve without
/// noise.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HeidariSpec {}

/// The checked parameters of [`Heidari`], made by [`HeidariSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct HeidariParams {
    arms: usize,
    horizon: u64,
}

impl PolicyConfig for HeidariSpec {
    const NAME: &'static str = "heidari";
    const CITATION: &'static str = "Heidari, Kearns, Roth (2016). Tight policy regret bounds for improving and \
                                    decaying bandits. IJCAI 2016, improving arms.";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rising];
    type Params = HeidariParams;
    type Policy = Heidari;

    fn example() -> Self {
        Heidari::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        Ok(())
    }

    fn params(&self, problem: &Problem) -> Result<HeidariParams, PolicyError> {
        check_problem(problem)?;
        let instead = "use `rising-ucb`, which does not need it";
        Ok(HeidariParams { arms: problem.arms, horizon: needed_horizon(problem, Self::NAME, instead)? })
    }

    fn filled(_: &HeidariParams) -> Self {
        Self {}
    }

    fn start(params: HeidariParams, _: Stream) -> Heidari {
        Heidari::new(params)
    }

    fn label(&self) -> String {
        "Heidari A1".to_string()
    }
}

/// The policy for improving arms.
///
/// ```
/// use calibandit::policy::Heidari;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = Heidari::new(Heidari::builder().params(&Problem { arms: 5, horizon: Some(1000) })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Heidari {
    horizon: u64,
    /// The arms left, in order.
    left: Vec<usize>,
    /// The position in `left` of the next arm.
    next: usize,
    /// By arm, the number of plays.
    plays: Vec<u64>,
    /// By arm, the sum of the losses.
    sums: Vec<f64>,
    /// By arm, the last loss.
    last: Vec<f64>,
    /// By arm, the loss before the last, minus the last.
    falls: Vec<f64>,
}

impl Heidari {
    /// There are no parameters; the horizon must be known.
    pub fn builder() -> HeidariSpec {
        HeidariSpec::default()
    }

    /// A policy ready for its first run.
    pub fn new(params: HeidariParams) -> Self {
        let zeros = vec![0.0; params.arms];
        Self {
            horizon: params.horizon,
            left: (0..params.arms).collect(),
            next: 0,
            plays: vec![0; params.arms],
            sums: zeros.clone(),
            last: zeros.clone(),
            falls: zeros,
        }
    }

    /// The sum of all losses of an arm that gets every play and stays flat.
    fn high(&self, arm: usize) -> f64 {
        self.sums[arm] + self.horizon.saturating_sub(self.plays[arm]) as f64 * self.last[arm]
    }

    /// The same if it keeps falling.
    fn low(&self, arm: usize) -> f64 {
        if self.plays[arm] < 2 {
            return f64::NEG_INFINITY;
        }
        let future = self.horizon.saturating_sub(self.plays[arm]);
        self.sums[arm] + optimistic_sum(self.last[arm], self.falls[arm], future)
    }

    /// Drops the arms that are worse than another arm, whatever happens. The arm with the least high bound stays.
    fn drop_arms(&mut self) {
        let best = self.left[least(self.left.iter().map(|&arm| self.high(arm)))];
        let high = self.high(best);
        let mut left = std::mem::take(&mut self.left);
        // Written so that the best arm stays, and that NaN drops nothing.
        left.retain(|&arm| arm == best || high.partial_cmp(&self.low(arm)) != Some(Ordering::Less));
        self.left = left;
    }
}

impl Policy for Heidari {
    fn next_run(&mut self) -> Run {
        single(self.left[self.next])
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        let (arm, loss) = (run.arm, feedback.sum);
        self.falls[arm] = if self.plays[arm] == 0 { 0.0 } else { self.last[arm] - loss };
        self.last[arm] = loss;
        self.sums[arm] += loss;
        self.plays[arm] += 1;
        self.next += 1;
        if self.next >= self.left.len() {
            self.next = 0;
            if self.left.len() > 1 {
                self.drop_arms();
            }
        }
    }

    /// The arm left with the least loss if every arm stayed as it is.
    fn recommend(&self) -> usize {
        let played = |arm: usize| if self.plays[arm] == 0 { f64::INFINITY } else { self.high(arm) };
        self.left[least(self.left.iter().map(|&arm| played(arm)))]
    }

    fn arm_reports(&self) -> Option<Vec<ArmReport>> {
        let mut reports = vec![ArmReport::new(ArmStatus::RuledOut); self.plays.len()];
        for &arm in &self.left {
            reports[arm].status = match (self.left.len(), self.plays[arm]) {
                (1, _) => ArmStatus::Leading,
                (_, 0) => ArmStatus::Unopened,
                _ => ArmStatus::InPlay,
            };
        }
        Some(reports)
    }

    fn run_reason(&self, _: Run) -> RunReason {
        match self.left.len() {
            1 => RunReason::Commitment,
            _ => RunReason::Comparison,
        }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        check_single_plays(history, &self.plays)?;
        let lengths = [self.sums.len(), self.last.len(), self.falls.len()];
        ensure(lengths == [arms; 3], "the policy has another number of arms")?;
        ensure(self.horizon >= 1, "the horizon is 0")?;
        let ordered = self.left.windows(2).all(|pair| pair[0] < pair[1]);
        let exist = self.left.last().is_some_and(|&last| last < arms);
        ensure(ordered && exist, "the arms left are not arms in order")?;
        ensure(self.next < self.left.len(), "the next arm is not one that is left")?;
        self.check_rounds()?;
        let (low, high) = history.losses;
        for arm in 0..arms {
            let n = self.plays[arm];
            let sum = history.allows_sum(n as f64, self.sums[arm]);
            let last = if n > 0 { history.allows_mean(self.last[arm]) } else { self.last[arm] == 0.0 };
            let fall = if n > 1 { self.falls[arm].abs() <= high - low } else { self.falls[arm] == 0.0 };
            ensure(sum && last && fall, "the losses of an arm are out of range")?;
        }
        let asked = history.open.is_none_or(|run| run.arm == self.left[self.next]);
        ensure(asked, "the open run is not the one asked for")
    }
}

impl Heidari {
    /// Every arm that is left was played in every round, and once more if it is before the next arm. Other arms were
    /// not played more often.
    fn check_rounds(&self) -> Result<(), StateError> {
        let rounds = self.left.last().map_or(0, |&last| self.plays[last]);
        let in_turn = |(position, &arm): (usize, &usize)| {
            self.plays[arm] == rounds.saturating_add(u64::from(position < self.next))
        };
        ensure(self.left.iter().enumerate().all(in_turn), "the arms left were not played in turn")?;
        ensure(
            self.plays.iter().all(|&plays| plays <= rounds.saturating_add(1)),
            "an arm was played after it was dropped",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_agree_with_a_calculation_by_hand() {
        let params = Heidari::builder().params(&Problem { arms: 2, horizon: Some(10) }).unwrap();
        let mut policy = Heidari::new(params);
        for loss in [0.9, 0.5, 0.7, 0.5] {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
        }
        // Arm 0: sum 1.6, falls by 0.2 from 0.7: flat 1.6 + 8·0.7 = 7.2; falling 0.5 + 0.3 + 0.1 = 0.9, in all 2.5.
        assert!((policy.high(0) - 7.2).abs() < 1e-12 && (policy.low(0) - 2.5).abs() < 1e-12);
        // Arm 1 is flat: 10·0.5.
        assert_eq!((policy.high(1), policy.low(1)), (5.0, 5.0));
        assert_eq!(policy.left, [0, 1]);
        // 0.68 falls by 0.02: from 0.66 down, 7 plays: 7·0.68 - 0.02·28 = 4.2 after 2.28. 6.48 > 5.
        for loss in [0.68, 0.5] {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
        }
        assert_eq!(policy.left, [1]);
        assert_eq!((policy.next_run().arm, policy.recommend()), (1, 1));
    }

    #[test]
    fn the_horizon_is_needed() {
        let refused = Heidari::builder().params(&Problem { arms: 2, horizon: None }).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { policy: "heidari", .. }));
    }
}
