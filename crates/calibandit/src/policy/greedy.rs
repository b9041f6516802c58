//! Greedy: always the arm whose last loss was the least, for decaying arms without noise.
//!
//! Heidari, Kearns and Roth, "Tight policy regret bounds for improving and decaying bandits", IJCAI 2016, the policy
//! for decaying arms (A2): every arm once, then always the arm with the least last loss; the first such arm in case of
//! a tie. Without noise, its regret on arms whose losses never fall is at most K. It does not handle noise: one large
//! loss and an arm is left for long. O(K) per play, O(K) numbers.

use super::error::check_problem;
use super::history::{RestoredPlays, StateError, ensure};
use super::single_plays::{check_single_plays, least, single};
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason};
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Always the arm whose last loss was the least, for arms that get worse with each play and have no noise.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GreedySpec {}

/// The checked parameters of [`Greedy`], made by [`GreedySpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct GreedyParams {
    arms: usize,
}

impl PolicyConfig for GreedySpec {
    const NAME: &'static str = "greedy";
    const CITATION: &'static str = "Heidari, Kearns, Roth (2016). Tight policy regret bounds for improving and \
                                    decaying bandits. IJCAI 2016, decaying arms.";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Rotting];
    type Params = GreedyParams;
    type Policy = Greedy;

    fn example() -> Self {
        Greedy::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        Ok(())
    }

    fn params(&self, problem: &Problem) -> Result<GreedyParams, PolicyError> {
        check_problem(problem)?;
        Ok(GreedyParams { arms: problem.arms })
    }

    fn filled(_: &GreedyParams) -> Self {
        Self {}
    }

    fn start(params: GreedyParams, _: Stream) -> Greedy {
        Greedy::new(params)
    }

    fn label(&self) -> String {
        "greedy".to_string()
    }
}

/// The greedy policy for decaying arms.
///
/// ```
/// use calibandit::policy::Greedy;
/// use calibandit::{Feedback, Policy, Problem};
/// let mut policy = Greedy::new(Greedy::builder().params(&Problem { arms: 2, horizon: None })?);
/// for loss in [0.3, 0.2] {
///     let run = policy.next_run();
///     policy.observe(run, Feedback::one(loss));
/// }
/// assert_eq!(policy.next_run().arm, 1);
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Greedy {
    /// By arm, the number of plays.
    plays: Vec<u64>,
    /// By arm, the last loss; 0 before the first play.
    last: Vec<f64>,
    /// The number of arms that were played.
    opened: usize,
}

impl Greedy {
    /// There are no parameters; the horizon is ignored.
    pub fn builder() -> GreedySpec {
        GreedySpec::default()
    }

    /// A policy ready for its first run.
    pub fn new(params: GreedyParams) -> Self {
        Self { plays: vec![0; params.arms], last: vec![0.0; params.arms], opened: 0 }
    }
}

impl Policy for Greedy {
    fn next_run(&mut self) -> Run {
        single(if self.opened < self.plays.len() { self.opened } else { least(self.last.iter().copied()) })
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        self.opened += usize::from(self.plays[run.arm] == 0);
        self.plays[run.arm] += 1;
        self.last[run.arm] = feedback.sum;
    }

    /// The arm with the least last loss.
    fn recommend(&self) -> usize {
        least(self.last[..self.opened].iter().copied())
    }

    fn run_reason(&self, _: Run) -> RunReason {
        if self.opened < self.plays.len() { RunReason::Opening } else { RunReason::Index }
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        check_single_plays(history, &self.plays)?;
        ensure(self.last.len() == history.arms, "the policy has another number of arms")?;
        let opened = self.plays.iter().enumerate().all(|(arm, &plays)| (plays > 0) == (arm < self.opened));
        ensure(opened && self.opened <= history.arms, "an arm was skipped at the start")?;
        let again = self.plays.iter().any(|&plays| plays > 1);
        ensure(!again || self.opened == history.arms, "an arm was played again before all were played")?;
        let known = |(&last, &plays): (&f64, &u64)| if plays > 0 { history.allows_mean(last) } else { last == 0.0 };
        ensure(self.last.iter().zip(&self.plays).all(known), "the last loss of an arm is out of range")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses that rise without noise: by the theorem of the paper, the regret is at most K.
    #[test]
    fn the_regret_on_decaying_arms_is_at_most_the_number_of_arms() {
        let curve = |arm: usize, n: u64| 1.0 - 1.0 / (1.0 + 0.01 * (arm + 1) as f64 * (n - 1) as f64);
        let mut policy = Greedy::new(Greedy::builder().params(&Problem { arms: 4, horizon: None }).unwrap());
        let (mut plays, mut best) = ([0u64; 4], [0u64; 4]);
        let (mut loss, mut optimum) = (0.0, 0.0);
        for _ in 0..5000 {
            let run = policy.next_run();
            plays[run.arm] += 1;
            let played = curve(run.arm, plays[run.arm]);
            loss += played;
            policy.observe(run, Feedback::one(played));
            let next = least((0..4).map(|arm| curve(arm, best[arm] + 1)));
            best[next] += 1;
            optimum += curve(next, best[next]);
            assert!(loss - optimum <= 4.0 && loss - optimum >= -1e-9, "{}", loss - optimum);
        }
        assert!(plays.iter().all(|&n| n > 100));
    }
}
