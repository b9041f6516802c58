//! R-SR: best-arm identification among rising arms by successive rejects.
//!
//! Mussi, Montenegro, Trovò, Restelli and Metelli, "Best arm identification for stochastic rising bandits", ICML 2024,
//! <https://arxiv.org/abs/2302.07510>. The question is which arm has the least loss after T plays. With
//!
//! ```text
//! N_j = ceil( (T - K) / ((1/2 + 1/2 + 1/3 + ... + 1/K)·(K + 1 - j)) ),   j = 1, ..., K - 1,   N_0 = 0,
//! ```
//!
//! phase j plays every arm that is left N_j - N_(j-1) times and drops the arm with the greatest mean of its last
//! h_j = max(1, floor(share·N_j)) losses; the last such arm in case of a tie. The arm that is left in the end is
//! recommended, and gets the plays that remain. (The sum in the formula is 1/2 and the harmonic series from 1/2 on.)
//!
//! Runs are long: plays that belong to no window are burn-in, and the plays of a window are recorded at once. Where the
//! windows of later phases begin before this phase ends, a run ends too. O(K) numbers per window that is open, and O(1)
//! per run beside the choice at the end of a phase.

use super::error::{check_problem, needed_horizon};
use super::history::{RestoredPlays, StateError, ensure};
use super::rising_ucb::default_share;
use super::single_plays::{check_share, is_share, setters};
use super::spec::PolicyConfig;
use super::{ArmReport, ArmStatus, PolicyError, RunReason};
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Drop one arm after the other, to find the arm that will be the best, for arms that keep improving.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RisingHalvingSpec {
    /// The share of an arm's plays by which it is judged, the last ones: the paper's epsilon.
    #[cfg_attr(feature = "serde", serde(default = "default_share"))]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 0.5)))]
    pub share: f64,
}

setters!(RisingHalvingSpec: share);

/// The checked parameters of [`RisingHalving`], made by [`RisingHalvingSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct RisingHalvingParams {
    arms: usize,
    horizon: u64,
    spec: RisingHalvingSpec,
}

impl PolicyConfig for RisingHalvingSpec {
    const NAME: &'static str = "rising-halving";
    const CITATION: &'static str = "Mussi, Montenegro, Trovo, Restelli, Metelli (2024). Best arm identification for \
                                    stochastic rising bandits. ICML 2024. arXiv:2302.07510";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rising];
    type Params = RisingHalvingParams;
    type Policy = RisingHalving;

    fn example() -> Self {
        RisingHalving::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        check_share(Self::NAME, self.share)
    }

    fn params(&self, problem: &Problem) -> Result<RisingHalvingParams, PolicyError> {
        check_problem(problem)?;
        self.check()?;
        let horizon = needed_horizon(problem, Self::NAME, "use `rising-ucb`, which does not need it")?;
        let arms = problem.arms;
        if arms > 1 && horizon <= arms as u64 {
            let (needed, why) = (arms as u128 + 1, "every arm once, and one play more");
            return Err(PolicyError::HorizonTooShort { policy: Self::NAME, needed, why, horizon });
        }
        Ok(RisingHalvingParams { arms, horizon, spec: self.clone() })
    }

    fn filled(params: &RisingHalvingParams) -> Self {
        params.spec.clone()
    }

    fn start(params: RisingHalvingParams, _: Stream) -> RisingHalving {
        RisingHalving::new(params)
    }

    fn label(&self) -> String {
        "R-SR".to_string()
    }
}

/// N_0, ..., N_(K-1).
fn lengths(arms: usize, horizon: u64) -> Vec<u64> {
    let harmonic: f64 = 0.5 + (2..=arms).map(|i| 1.0 / i as f64).sum::<f64>();
    let budget = horizon.saturating_sub(arms as u64) as f64;
    let length = |phase: usize| (budget / (harmonic * (arms + 1 - phase) as f64)).ceil() as u64;
    std::iter::once(0).chain((1..arms).map(length)).collect()
}

/// R-SR.
///
/// ```
/// use calibandit::policy::RisingHalving;
/// use calibandit::{Policy, Problem, Run};
/// let params = RisingHalving::builder().params(&Problem { arms: 2, horizon: Some(102) })?;
/// // One phase of N = ceil(100 / (1·2)) = 50 plays per arm, of which the last 12 count.
/// assert_eq!(RisingHalving::new(params).next_run(), Run { arm: 0, burn_in: 38, record: 12 });
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct RisingHalving {
    horizon: u64,
    share: f64,
    /// N_0, ..., N_(K-1).
    lengths: Vec<u64>,
    /// The present phase, from 1 on; K when one arm is left.
    phase: usize,
    /// The arms left.
    left: Vec<usize>,
    /// The arms dropped, in order.
    dropped: Vec<usize>,
    /// The position in `left` of the arm in play.
    at: usize,
    /// The number of plays of the arm in play.
    played: u64,
    /// By arm, the sums of its open windows, that of the present phase first.
    sums: Vec<Vec<f64>>,
    /// The arm with the least mean at the end of the last phase.
    best: usize,
}

impl RisingHalving {
    /// Default parameters: share 1/4. The horizon must be known.
    pub fn builder() -> RisingHalvingSpec {
        RisingHalvingSpec { share: default_share() }
    }

    /// A policy ready for its first run.
    pub fn new(params: RisingHalvingParams) -> Self {
        let RisingHalvingParams { arms, horizon, spec } = params;
        Self {
            horizon,
            share: spec.share,
            lengths: lengths(arms, horizon),
            phase: 1,
            left: (0..arms).collect(),
            dropped: Vec::new(),
            at: 0,
            played: 0,
            sums: vec![Vec::new(); arms],
            best: 0,
        }
    }

    /// h_j.
    fn window(&self, phase: usize) -> u64 {
        ((self.share * self.lengths[phase] as f64).floor() as u64).max(1)
    }

    /// The number of plays before the window of this phase.
    fn before(&self, phase: usize) -> u64 {
        self.lengths[phase].saturating_sub(self.window(phase))
    }

    /// The number of windows, from that of the present phase on, that are open after this many plays.
    fn open(&self, plays: u64) -> usize {
        (self.phase..self.lengths.len()).take_while(|&phase| self.before(phase) < plays).count()
    }

    /// The next run of the arm in play. It ends where the phase ends or the next window begins.
    fn run(&self) -> Run {
        let arm = self.left[self.at];
        if self.phase >= self.lengths.len() {
            return Run::forever(arm);
        }
        let end = self.lengths[self.phase];
        // The first window that is not open yet. It is that of the present phase if none is open.
        let mut next = self.phase + self.sums[arm].len();
        let start = if self.sums[arm].is_empty() { self.before(self.phase).max(self.played) } else { self.played };
        while next < self.lengths.len() && self.before(next) <= start {
            next += 1;
        }
        let stop = if next < self.lengths.len() { self.before(next).min(end) } else { end };
        Run { arm, burn_in: start - self.played, record: stop - start }
    }

    /// Goes on to the next arm, phase or both, until there is something to play.
    fn advance(&mut self) {
        while self.phase < self.lengths.len() && self.played >= self.lengths[self.phase] {
            self.at += 1;
            if self.at >= self.left.len() {
                self.at = 0;
                self.drop_arm();
                self.phase += 1;
            }
            self.played = self.lengths[self.phase - 1];
        }
    }

    /// Drops the arm with the greatest mean in the window of the phase, and closes that window. All arms have as many
    /// losses in it, so sums are compared.
    fn drop_arm(&mut self) {
        let mut worst = (0, f64::NEG_INFINITY);
        let mut best = (0, f64::INFINITY);
        for (position, &arm) in self.left.iter().enumerate() {
            let sum = self.sums[arm].first().copied().unwrap_or(0.0);
            if sum >= worst.1 {
                worst = (position, sum);
            }
            if sum < best.1 {
                best = (arm, sum);
            }
        }
        let arm = self.left.remove(worst.0);
        self.dropped.push(arm);
        self.sums[arm] = Vec::new();
        for &arm in &self.left {
            if !self.sums[arm].is_empty() {
                self.sums[arm].remove(0);
            }
        }
        self.best = if best.0 == arm { self.left[0] } else { best.0 };
    }
}

impl Policy for RisingHalving {
    fn next_run(&mut self) -> Run {
        self.run()
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        if run.record == u64::MAX {
            return;
        }
        let arm = run.arm;
        let open = self.open(self.played.saturating_add(run.plays()));
        self.played = self.played.saturating_add(run.plays());
        let sums = &mut self.sums[arm];
        sums.resize(open.max(sums.len()), 0.0);
        sums.iter_mut().for_each(|sum| *sum += feedback.sum);
        self.advance();
    }

    /// The arm that is left; before that, the one with the least mean in the last phase.
    fn recommend(&self) -> usize {
        if self.left.len() == 1 { self.left[0] } else { self.best }
    }

    fn arm_reports(&self) -> Option<Vec<ArmReport>> {
        let mut reports = vec![ArmReport::new(ArmStatus::RuledOut); self.sums.len()];
        let status = if self.left.len() == 1 { ArmStatus::Leading } else { ArmStatus::InPlay };
        self.left.iter().for_each(|&arm| reports[arm].status = status);
        Some(reports)
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.phase >= self.lengths.len() { RunReason::Commitment } else { RunReason::Comparison }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        ensure(is_share(self.share), "the share of the plays is not in (0, 1/2)")?;
        ensure(self.horizon >= 1 && (arms == 1 || self.horizon > arms as u64), "the horizon is too short")?;
        ensure(self.sums.len() == arms, "the policy has another number of arms")?;
        ensure(self.lengths == lengths(arms, self.horizon), "the lengths of the phases are not those of the horizon")?;
        let mut all: Vec<usize> = self.left.iter().chain(&self.dropped).copied().collect();
        all.sort_unstable();
        ensure(all.into_iter().eq(0..arms), "the arms left and dropped are not all arms")?;
        ensure(self.phase >= 1 && self.dropped.len() + 1 == self.phase, "the arms dropped do not fit the phase")?;
        let ordered = self.left.windows(2).all(|pair| pair[0] < pair[1]);
        ensure(ordered && self.at < self.left.len(), "the arms left are not in order")?;
        ensure(self.left.contains(&self.best) || self.phase == 1 && self.best == 0, "the best arm was dropped")?;
        ensure(!history.starts_warm(), "the policy cannot start from past losses")?;
        self.check_plays(history)?;
        ensure(history.open.is_none_or(|run| run == self.run()), "the open run is not the one asked for")
    }
}

impl RisingHalving {
    fn check_plays(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let start = self.lengths[self.phase - 1];
        let end = self.lengths.get(self.phase).copied();
        let within = end.map_or(self.played == start && self.at == 0, |end| self.played >= start && self.played < end);
        ensure(within, "the plays of the arm in play do not fit the phase")?;
        // Runs end where a window begins or a phase ends.
        let stops = self.played == start || (self.phase..self.lengths.len()).any(|j| self.before(j) == self.played);
        ensure(stops, "the arm in play is in the middle of a run")?;
        for (position, &arm) in self.left.iter().enumerate() {
            let plays = match (position.cmp(&self.at), end) {
                (std::cmp::Ordering::Less, Some(end)) => end,
                (std::cmp::Ordering::Equal, _) => self.played,
                _ => start,
            };
            self.check_arm(arm, plays, history)?;
            let open = self.open(plays);
            ensure(self.sums[arm].len() == open, "the open windows of an arm do not fit its plays")?;
            for (offset, &sum) in self.sums[arm].iter().enumerate() {
                let losses = plays - self.before(self.phase + offset);
                ensure(history.allows_sum(losses as f64, sum), "the sum of a window is out of range")?;
            }
        }
        for (phase, &arm) in self.dropped.iter().enumerate() {
            self.check_arm(arm, self.lengths[phase + 1], history)?;
            ensure(self.sums[arm].is_empty(), "a dropped arm has an open window")?;
        }
        Ok(())
    }

    /// Checks the plays of an arm: recorded within windows, burn-in elsewhere.
    fn check_arm(&self, arm: usize, plays: u64, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let (mut recorded, mut until) = (0, 0);
        for phase in 1..self.lengths.len() {
            let (start, end) = (self.before(phase).max(until), self.lengths[phase].min(plays));
            recorded += end.saturating_sub(start);
            until = until.max(end);
        }
        let closed = history.closed.is_none_or(|closed| closed.burn_in.get(arm) == Some(&(plays - recorded)));
        ensure(closed && history.has_recorded(arm, recorded), "the plays of an arm differ from those of its phases")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;
    use rand::RngExt;

    fn policy(arms: usize, horizon: u64, share: f64) -> RisingHalving {
        let spec = RisingHalving::builder().share(share);
        RisingHalving::new(spec.params(&Problem { arms, horizon: Some(horizon) }).unwrap())
    }

    #[test]
    fn the_phases_are_those_of_the_formula() {
        // K = 3: 1/2 + 1/2 + 1/3 = 4/3. (103 - 3) / (4/3·3) = 25 and 100 / (4/3·2) = 37.5.
        assert_eq!(lengths(3, 103), [0, 25, 38]);
        for (arms, horizon) in [(2, 3), (3, 103), (5, 3200), (40, 41), (40, 10_000)] {
            let lengths = lengths(arms, horizon);
            let total: u64 = (1..arms).map(|j| (arms + 1 - j) as u64 * (lengths[j] - lengths[j - 1])).sum();
            assert!(total <= horizon, "{arms} arms, {horizon} plays: {total}");
        }
    }

    /// Single plays and means of the last losses, as the definition says.
    fn by_definition(arms: usize, horizon: u64, share: f64, losses: &mut [Vec<f64>]) -> Vec<usize> {
        let lengths = lengths(arms, horizon);
        let mut left: Vec<usize> = (0..arms).collect();
        for &length in &lengths[1..] {
            let window = ((share * length as f64).floor() as usize).max(1);
            let mean = |arm: usize| {
                let played = &losses[arm][..length as usize];
                played[played.len() - window..].iter().sum::<f64>()
            };
            let worst = left.iter().copied().reduce(|a, b| if mean(b) >= mean(a) { b } else { a }).unwrap();
            left.retain(|&arm| arm != worst);
        }
        left
    }

    #[test]
    fn runs_give_the_means_of_the_definition() {
        let mut draws = StreamKey::new(1, "halving", 0).noise();
        for (arms, horizon, share) in [
            (2, 102, 0.25),
            (3, 103, 0.25),
            (5, 500, 0.25),
            (12, 2000, 0.45),
            (12, 60, 0.25),
            (7, 8, 0.3),
            (20, 4000, 0.01),
        ] {
            for _ in 0..20 {
                // Eighths, so that sums are exact.
                let mut losses: Vec<Vec<f64>> = (0..arms)
                    .map(|_| (0..horizon).map(|_| f64::from(draws.random_range(0..=8u32)) / 8.0).collect())
                    .collect();
                let mut policy = policy(arms, horizon, share);
                let (mut plays, mut total) = (vec![0usize; arms], 0);
                loop {
                    let run = policy.next_run();
                    if run.record == u64::MAX {
                        break;
                    }
                    assert!(run.plays() > 0);
                    total += run.plays();
                    plays[run.arm] += run.plays() as usize;
                    let recorded = &losses[run.arm][plays[run.arm] - run.record as usize..plays[run.arm]];
                    let sum = recorded.iter().sum();
                    policy.observe(run, Feedback { plays: run.record, sum, sum_sq: sum });
                }
                assert!(total <= horizon);
                assert_eq!(policy.left, by_definition(arms, horizon, share, &mut losses), "{arms} {horizon}");
                assert_eq!(policy.recommend(), policy.left[0]);
            }
        }
    }

    #[test]
    fn short_horizons_are_refused() {
        let refused = RisingHalving::builder().params(&Problem { arms: 5, horizon: Some(5) }).unwrap_err();
        let text = "policy `rising-halving` needs a horizon of at least 6 plays (every arm once, and one play more), \
                    but it is 5";
        assert_eq!(refused.to_string(), text);
        assert_eq!(policy(1, 1, 0.25).next_run(), Run::forever(0));
        let refused = RisingHalving::builder().params(&Problem { arms: 5, horizon: None }).unwrap_err();
        assert!(matches!(refused, PolicyError::HorizonNeeded { .. }));
    }
}
