//! SW-UCB: upper confidence bounds over the last plays of all arms, a reference.
//!
//! Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011,
//! <https://arxiv.org/abs/0805.3415>. For losses, after t plays, of which the last tau count and n_x of those are of
//! arm x, the next play is of the arm with the least
//!
//! ```text
//! mean_x - 2·sd·sqrt(xi·ln(min(t, tau)) / n_x),   -infinity if n_x = 0,
//! ```
//!
//! the first such arm in case of a tie. 2·sd is the range of losses in [0, 1]. The defaults tau = ceil(4·sqrt(T·ln T))
//! and xi = 0.6 are those of papers that compare with it. The window is one of *time*: what leaves it is the oldest
//! play of any arm, and every index is computed at every play. (Two public versions take what leaves from the arm now
//! played, or refresh only its index.) O(K) per play; the last tau plays are kept.

use std::collections::VecDeque;

use super::error::{check, check_positive, check_problem, needed_horizon};
use super::history::{RestoredPlays, StateError, ensure};
use super::single_plays::{
    check_largest, check_single_plays, default_sd, ensure_positive, least, most_played, setters, single, sums_agree,
};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// UCB over the last plays, for arms that change with time: a reference.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SlidingUcbSpec {
    /// The number of last plays that count, tau.
    ///
    /// Default: ceil(4 sqrt(T ln T)).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub window: Option<u64>,
    /// The constant xi in the width 2 sd sqrt(xi ln(min(t, tau)) / n): a larger one explores more.
    #[cfg_attr(feature = "serde", serde(default = "default_exploration"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub exploration: f64,
    /// The sub-Gaussian scale of the losses: 1/2 for losses in [0, 1], the standard deviation for normal noise.
    #[cfg_attr(feature = "serde", serde(default = "default_sd"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub sd: f64,
}

/// The default of `exploration`, also that of the discounted form.
pub(super) fn default_exploration() -> f64 {
    0.6
}

impl SlidingUcbSpec {
    /// Sets the number of last plays that count, at least 1.
    pub fn window(mut self, plays: u64) -> Self {
        self.window = Some(plays);
        self
    }
}

setters!(SlidingUcbSpec: sd, exploration);

/// The checked parameters of [`SlidingUcb`], made by [`SlidingUcbSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct SlidingUcbParams {
    arms: usize,
    window: u64,
    exploration: f64,
    sd: f64,
}

impl PolicyConfig for SlidingUcbSpec {
    const NAME: &'static str = "sliding-ucb";
    const CITATION: &'static str = "Garivier, Moulines (2011). On upper-confidence bound policies for switching bandit \
                                    problems. ALT 2011. arXiv:0805.3415";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Any];
    type Params = SlidingUcbParams;
    type Policy = SlidingUcb;

    fn example() -> Self {
        SlidingUcb::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        let window = self.window.unwrap_or(1);
        check(Self::NAME, "window", window as f64, window >= 1, "at least 1")?;
        check_positive(Self::NAME, "exploration", self.exploration)?;
        check_positive(Self::NAME, "sd", self.sd)
    }

    fn params(&self, problem: &Problem) -> Result<SlidingUcbParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let window = match self.window {
            Some(window) => window,
            None => {
                let horizon = needed_horizon(problem, Self::NAME, "set `window`")? as f64;
                ((4.0 * (horizon * math::ln(horizon)).sqrt()).ceil() as u64).max(1)
            }
        };
        Ok(SlidingUcbParams { arms: problem.arms, window, exploration: self.exploration, sd: self.sd })
    }

    fn filled(params: &SlidingUcbParams) -> Self {
        Self { window: Some(params.window), exploration: params.exploration, sd: params.sd }
    }

    fn start(params: SlidingUcbParams, _: Stream) -> SlidingUcb {
        SlidingUcb::new(params)
    }

    fn label(&self) -> String {
        "SW-UCB".to_string()
    }
}

/// UCB over the last plays.
///
/// ```
/// use calibandit::policy::SlidingUcb;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = SlidingUcb::new(SlidingUcb::builder().params(&Problem { arms: 5, horizon: Some(1000) })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct SlidingUcb {
    window: u64,
    exploration: f64,
    sd: f64,
    /// By arm, the number of plays since the beginning.
    plays: Vec<u64>,
    /// The arms of the last plays.
    arms: VecDeque<usize>,
    /// Their losses.
    losses: VecDeque<f64>,
    /// The largest absolute value of the losses observed.
    largest: f64,
    /// By arm, the number of its plays among the last.
    counts: Vec<u64>,
    /// By arm, the sum of their losses.
    sums: Vec<f64>,
    /// The number of plays since the sums were last computed anew.
    age: u64,
}

impl SlidingUcb {
    /// Default parameters: window ceil(4 sqrt(T ln T)), exploration 0.6, sd 1/2. Either the horizon must be known or
    /// [`window`](SlidingUcbSpec::window) be set.
    pub fn builder() -> SlidingUcbSpec {
        SlidingUcbSpec { window: None, exploration: default_exploration(), sd: default_sd() }
    }

    /// A policy ready for its first run.
    pub fn new(params: SlidingUcbParams) -> Self {
        let SlidingUcbParams { arms, window, exploration, sd } = params;
        Self {
            window,
            exploration,
            sd,
            plays: vec![0; arms],
            arms: VecDeque::new(),
            losses: VecDeque::new(),
            largest: 0.0,
            counts: vec![0; arms],
            sums: vec![0.0; arms],
            age: 0,
        }
    }
}

impl Policy for SlidingUcb {
    fn next_run(&mut self) -> Run {
        // min(t, tau) is the number of plays that are kept.
        let kept = self.arms.len().max(1) as f64;
        let scale = 2.0 * self.sd * (self.exploration * math::ln(kept)).sqrt();
        single(least(self.counts.iter().zip(&self.sums).map(|(&count, sum)| {
            let n = count as f64;
            if count == 0 { f64::NEG_INFINITY } else { sum / n - scale / n.sqrt() }
        })))
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        let loss = feedback.sum;
        self.largest = self.largest.max(loss.abs());
        self.plays[run.arm] += 1;
        self.counts[run.arm] += 1;
        self.sums[run.arm] += loss;
        self.arms.push_back(run.arm);
        self.losses.push_back(loss);
        if self.arms.len() as u64 > self.window
            && let (Some(arm), Some(loss)) = (self.arms.pop_front(), self.losses.pop_front())
        {
            self.counts[arm] -= 1;
            self.sums[arm] -= loss;
        }
        // Once per window, so that rounding errors do not add up.
        self.age += 1;
        if self.age >= self.window {
            self.age = 0;
            self.sums.fill(0.0);
            self.arms.iter().zip(&self.losses).for_each(|(&arm, loss)| self.sums[arm] += loss);
        }
    }

    /// The arm with the most plays among the last; in case of a tie, the one with the least mean.
    fn recommend(&self) -> usize {
        most_played(&self.counts, |arm| self.sums[arm])
    }

    fn run_reason(&self, run: Run) -> RunReason {
        if self.counts[run.arm] == 0 { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        ensure_positive(&[self.exploration, self.sd], "the exploration or sd is not a positive number")?;
        ensure(self.window >= 1 && self.age < self.window, "the window or its age is out of range")?;
        check_single_plays(history, &self.plays)?;
        ensure(self.counts.len() == arms && self.sums.len() == arms, "the policy has another number of arms")?;
        let kept = self.plays.iter().sum::<u64>().min(self.window);
        let lengths = [self.arms.len() as u64, self.losses.len() as u64];
        ensure(lengths == [kept; 2], "the last plays do not fit the plays of the arms")?;
        ensure(self.arms.iter().all(|&arm| arm < arms), "a play is of an arm that does not exist")?;
        check_largest(history, self.largest, self.losses.iter())?;
        let (mut counts, mut sums) = (vec![0; arms], vec![0.0; arms]);
        for (&arm, loss) in self.arms.iter().zip(&self.losses) {
            counts[arm] += 1;
            sums[arm] += loss;
        }
        ensure(counts == self.counts, "the counts of the last plays are not theirs")?;
        ensure(counts.iter().zip(&self.plays).all(|(count, plays)| count <= plays), "an arm has too few plays")?;
        let agree = |arm: usize| sums_agree(self.sums[arm], sums[arm], kept as f64, self.largest);
        ensure((0..arms).all(agree), "the sums of the last plays are not theirs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;
    use rand::RngExt;

    /// Every index from the last plays, at every play.
    #[test]
    fn choices_are_those_of_the_definition() {
        let params = SlidingUcb::builder().window(50).params(&Problem { arms: 3, horizon: None }).unwrap();
        let mut policy = SlidingUcb::new(params);
        let mut draws = StreamKey::new(1, "sliding", 0).noise();
        let mut history: Vec<(usize, f64)> = Vec::new();
        let mut played = [0; 3];
        for play in 0..2000 {
            let last = &history[history.len().saturating_sub(50)..];
            let index = |arm: usize| {
                let own: Vec<f64> = last.iter().filter(|play| play.0 == arm).map(|play| play.1).collect();
                let n = own.len() as f64;
                let width = (0.6 * (last.len() as f64).ln() / n).sqrt();
                if own.is_empty() { f64::NEG_INFINITY } else { own.iter().sum::<f64>() / n - width }
            };
            let run = policy.next_run();
            let least = (0..3).map(index).fold(f64::INFINITY, f64::min);
            assert!(index(run.arm) <= least + 1e-12, "play {play}");
            played[run.arm] += 1;
            // The best arm changes with time.
            let mean = if run.arm == play / 500 % 3 { 0.2 } else { 0.7 };
            let loss = f64::from(draws.random::<f64>() < mean);
            history.push((run.arm, loss));
            policy.observe(run, Feedback::one(loss));
        }
        assert!(played.iter().all(|&plays| plays > 300), "{played:?}");
    }

    #[test]
    fn the_default_window_is_that_of_the_literature() {
        let params = SlidingUcb::builder().params(&Problem { arms: 3, horizon: Some(10_000) }).unwrap();
        // 4·sqrt(10^4·9.21034) = 4·303.486 = 1213.9
        assert_eq!(params.window, 1214);
        let refused = SlidingUcb::builder().params(&Problem { arms: 3, horizon: None }).unwrap_err();
        let text = "policy `sliding-ucb` needs to know the horizon: give one, or set `window`";
        assert_eq!(refused.to_string(), text);
        let refused = SlidingUcb::builder().window(0).params(&Problem { arms: 3, horizon: None }).unwrap_err();
        assert!(matches!(refused, PolicyError::Parameter { parameter: "window", .. }));
    }
}
