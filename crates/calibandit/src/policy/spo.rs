//! SPO: single-peaked optimism, for arms that improve up to a point and then get worse.
//!
//! Lindner, Heidari and Krause, "Addressing the long-term impact of ML decisions via policy regret", IJCAI 2021,
//! <https://arxiv.org/abs/2106.01325>. Losses are in [0, 1]; before its best play an arm's losses fall by less and
//! less, after it they rise. Every arm is played max(2, floor(ln T)) times, then always the arm with the most
//! optimistic sum of its losses over the R = T - t plays that are left:
//!
//! ```text
//! without noise (band = 0), with the last loss y and its fall d:
//!     d > 0:  sum over s = 1, ..., R of max(0, y - s·d)      else  R·y
//! with noise (band > 0):
//!     the same for the y and d of the lowest non-increasing convex future that agrees with the band around all losses;
//!     if there is none, the arm is past its peak:  R·max(0, last loss - band)
//! ```
//!
//! The inner problem has a closed form (`spo_band.rs`); no linear program is solved. With `refresh = "all"` every play
//! computes the sum of every arm, because R shrinks for all; with `"played"` only that of the arm just played, as
//! public code does, which costs regret (docs/neighbours.md). The authors' experiments have a band of 2 sd, which
//! normal noise leaves in 4.6 % of plays; sd·sqrt(2·ln(2·K·T²)) is one that it hardly ever leaves.
//!
//! O(K) per play without a band. With one, the hulls of the losses are kept, at most O(T) numbers, usually far fewer.

use super::error::{check, check_problem, needed_horizon};
use super::history::{RestoredPlays, StateError, ensure};
use super::optimistic_sum::optimistic_sum;
use super::single_plays::{check_single_plays, least, single};
use super::spec::PolicyConfig;
use super::spo_band::LossBand;
use super::{PolicyError, RunReason};
use crate::math;
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Which optimistic sums [`Spo`] computes again after a play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Refresh {
    /// Those of all arms, because fewer plays are left for all.
    #[default]
    All,
    /// That of the arm just played, as in public code: the sums of other arms still count plays that are gone.
    Played,
}

/// The arm with the most optimistic future, for arms that improve up to a point and then get worse.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SpoSpec {
    /// How far an observed loss can be from its expectation; 0 means that there is no noise.
    #[cfg_attr(feature = "serde", serde(default))]
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub band: f64,
    /// Which optimistic sums are computed again after a play.
    #[cfg_attr(feature = "serde", serde(default))]
    pub refresh: Refresh,
}

impl SpoSpec {
    /// Sets how far an observed loss can be from its expectation, at least 0.
    pub fn band(mut self, distance: f64) -> Self {
        self.band = distance;
        self
    }

    /// Sets which optimistic sums are computed again after a play.
    pub fn refresh(mut self, refresh: Refresh) -> Self {
        self.refresh = refresh;
        self
    }
}

/// The checked parameters of [`Spo`], made by [`SpoSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct SpoParams {
    arms: usize,
    horizon: u64,
    spec: SpoSpec,
}

fn is_band(band: f64) -> bool {
    band >= 0.0 && band.is_finite()
}

impl PolicyConfig for SpoSpec {
    const NAME: &'static str = "spo";
    const CITATION: &'static str = "Lindner, Heidari, Krause (2021). Addressing the long-term impact of ML decisions \
                                    via policy regret. IJCAI 2021. arXiv:2106.01325";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::SinglePeaked];
    type Params = SpoParams;
    type Policy = Spo;

    fn example() -> Self {
        Spo::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        check(Self::NAME, "band", self.band, is_band(self.band), "a number of at least 0")
    }

    fn params(&self, problem: &Problem) -> Result<SpoParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let horizon = needed_horizon(problem, Self::NAME, "use a policy that does not need it, such as `raw-ucb`")?;
        Ok(SpoParams { arms: problem.arms, horizon, spec: self.clone() })
    }

    fn filled(params: &SpoParams) -> Self {
        params.spec.clone()
    }

    fn start(params: SpoParams, _: Stream) -> Spo {
        Spo::new(params)
    }

    fn label(&self) -> String {
        let band = (self.band > 0.0).then(|| format!("band {}", self.band));
        let stale = (self.refresh == Refresh::Played).then(|| "stale".to_string());
        match [band, stale].into_iter().flatten().collect::<Vec<_>>() {
            notes if notes.is_empty() => "SPO".to_string(),
            notes => format!("SPO ({})", notes.join(", ")),
        }
    }
}

/// Single-peaked optimism.
///
/// ```
/// use calibandit::policy::Spo;
/// use calibandit::{Policy, Problem, Run};
/// let mut policy = Spo::new(Spo::builder().params(&Problem { arms: 5, horizon: Some(1000) })?);
/// assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 0, record: 1 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Spo {
    horizon: u64,
    band: f64,
    refresh: Refresh,
    /// By arm, the number of plays.
    plays: Vec<u64>,
    /// The number of plays of all arms.
    played: u64,
    /// By arm, the last loss or the least possible one, and how fast it falls.
    futures: Vec<(f64, f64)>,
    /// By arm, the plays that were left when its optimistic sum was computed. Only used for `Refresh::Played`.
    left: Vec<u64>,
    /// By arm, what the band says. Empty without a band.
    bands: Vec<LossBand>,
}

impl Spo {
    /// Default parameters: no noise, all sums computed after each play. The horizon must be known.
    pub fn builder() -> SpoSpec {
        SpoSpec { band: 0.0, refresh: Refresh::All }
    }

    /// A policy ready for its first run.
    pub fn new(params: SpoParams) -> Self {
        let SpoParams { arms, horizon, spec } = params;
        let bands = if spec.band > 0.0 { vec![LossBand::new(); arms] } else { vec![] };
        Self {
            horizon,
            band: spec.band,
            refresh: spec.refresh,
            plays: vec![0; arms],
            played: 0,
            futures: vec![(0.0, 0.0); arms],
            left: vec![0; arms],
            bands,
        }
    }

    /// The number of plays of each arm at the start.
    fn opening(&self) -> u64 {
        (math::ln(self.horizon as f64).floor() as u64).max(2)
    }

    /// The first arm with too few plays for an estimate.
    fn next_to_open(&self) -> Option<usize> {
        // Arms are opened in order.
        let opening = self.opening();
        let first = usize::try_from(self.played / opening).ok()?;
        (first < self.plays.len()).then_some(first)
    }

    /// The arm with the most optimistic future. The sums of different numbers of plays are compared by how far they are
    /// below a loss of 1 per play.
    fn most_optimistic(&self) -> usize {
        let now = self.horizon.saturating_sub(self.played);
        least(self.futures.iter().zip(&self.left).map(|(&(loss, fall), &then)| {
            let left = if self.refresh == Refresh::All { now } else { then };
            optimistic_sum(loss, fall, left) - left as f64
        }))
    }
}

impl Policy for Spo {
    fn next_run(&mut self) -> Run {
        single(self.next_to_open().unwrap_or_else(|| self.most_optimistic()))
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        let (arm, loss) = (run.arm, feedback.sum);
        let first = self.plays[arm] == 0;
        self.plays[arm] += 1;
        self.played += 1;
        self.left[arm] = self.horizon.saturating_sub(self.played);
        self.futures[arm] = match self.bands.get_mut(arm) {
            Some(losses) => {
                losses.learn(loss, self.band);
                losses.future()
            }
            None => (loss, if first { 0.0 } else { self.futures[arm].0 - loss }),
        };
    }

    /// The arm with the most optimistic future; at the start, the last one opened or the best so far.
    fn recommend(&self) -> usize {
        match self.next_to_open() {
            None => self.most_optimistic(),
            Some(next) => least(self.futures[..next.max(1)].iter().map(|future| future.0)),
        }
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.next_to_open().is_some() { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        check_single_plays(history, &self.plays)?;
        ensure(self.horizon >= 1 && is_band(self.band), "the horizon or the band is out of range")?;
        ensure(self.futures.len() == arms && self.left.len() == arms, "the policy has another number of arms")?;
        ensure(self.plays.iter().sum::<u64>() == self.played, "the plays of the arms do not add up")?;
        let banded = if self.band > 0.0 { arms } else { 0 };
        ensure(self.bands.len() == banded, "the losses of the arms do not fit the band")?;
        let opening = self.opening();
        let opened = |(arm, &plays): (usize, &u64)| {
            let share = self.played.saturating_sub((arm as u64).saturating_mul(opening)).min(opening);
            plays >= share && (self.next_to_open().is_none() || plays == share)
        };
        ensure(self.plays.iter().enumerate().all(opened), "the arms were not opened in order")?;
        let (low, high) = history.losses;
        for (arm, &(loss, fall)) in self.futures.iter().enumerate() {
            let fits = match (self.bands.get(arm), self.plays[arm]) {
                (Some(losses), plays) => {
                    losses.check_restored(plays)?;
                    (loss, fall) == losses.future()
                }
                (None, 0) => (loss, fall) == (0.0, 0.0),
                (None, 1) => history.allows_mean(loss) && fall == 0.0,
                (None, _) => history.allows_mean(loss) && fall.abs() <= high - low,
            };
            ensure(fits, "the last loss of an arm is out of range")?;
            let most = self.horizon.saturating_sub(self.plays[arm]);
            let left = if self.plays[arm] == 0 { 0 } else { most };
            ensure(self.left[arm] <= left, "more plays are left than there can be")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(spec: SpoSpec) -> Spo {
        Spo::new(spec.params(&Problem { arms: 2, horizon: Some(20) }).unwrap())
    }

    #[test]
    fn choices_agree_with_a_calculation_by_hand() {
        let mut policy = policy(Spo::builder());
        let mut play = |loss| {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
            run.arm
        };
        // max(2, floor(ln 20)) = 2 plays each.
        let opening: Vec<usize> = [0.9, 0.8, 0.5, 0.48].into_iter().map(&mut play).collect();
        assert_eq!(opening, [0, 0, 1, 1]);
        // 16 left. Arm 0: 0.7 + 0.6 + ... + 0.1 = 2.8. Arm 1: 16·0.48 - 0.02·136 = 4.96.
        assert_eq!(play(0.77), 0);
        // 15 left. Arm 0: 15·0.77 - 0.03·120 = 7.95. Arm 1: 15·0.48 - 0.02·120 = 4.8.
        assert_eq!(play(0.5), 1);
        // 14 left. Arm 1 rises: 7. Arm 0: 14·0.77 - 0.03·105 = 7.63.
        assert_eq!(play(0.5), 1);
    }

    #[test]
    fn a_stale_sum_counts_plays_that_are_gone() {
        let mut policy = policy(Spo::builder().refresh(Refresh::Played));
        for loss in [0.5, 0.5, 0.4, 0.4] {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
        }
        // Below 1 per play: arm 0: 18·0.5 = 9, arm 1: 16·0.6 = 9.6.
        assert_eq!(policy.next_run().arm, 1);
        let run = policy.next_run();
        policy.observe(run, Feedback::one(0.45));
        // Arm 1: 15·0.55 = 8.25, although its loss is the lower one.
        assert_eq!(policy.next_run().arm, 0);
        assert_eq!(Spo { refresh: Refresh::All, ..policy }.next_run().arm, 1);
    }

    #[test]
    fn a_band_turns_small_rises_into_noise() {
        let mut policy = policy(Spo::builder().band(0.1));
        for loss in [0.5, 0.52, 0.6, 0.6] {
            let run = policy.next_run();
            policy.observe(run, Feedback::one(loss));
        }
        // Both may fall from 0.6 and 0.7 by the widest step. Arm 0: at least 0.42, from at most 0.6.
        let (loss, fall) = policy.futures[0];
        assert!((loss - 0.42).abs() < 1e-12 && (fall - 0.18).abs() < 1e-12);
        let run = policy.next_run();
        assert_eq!(run.arm, 0);
        // Far above the band: the arm is past its peak.
        policy.observe(run, Feedback::one(0.9));
        assert_eq!(policy.futures[0], (0.8, 0.0));
    }

    #[test]
    fn labels_say_what_differs_from_the_defaults() {
        assert_eq!(Spo::builder().label(), "SPO");
        assert_eq!(Spo::builder().band(0.2).refresh(Refresh::Played).label(), "SPO (band 0.2, stale)");
        let refused = Spo::builder().band(-0.1).params(&Problem { arms: 2, horizon: Some(9) }).unwrap_err();
        assert_eq!(refused.to_string(), "policy `spo`: `band` must be a number of at least 0, but is -0.1");
    }
}
