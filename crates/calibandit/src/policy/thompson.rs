//! Thompson sampling with Beta posteriors over single plays, without burn-in.
//!
//! Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two samples",
//! Biometrika 25, 285-294 (1933), <https://doi.org/10.1093/biomet/25.3-4.285>; Agrawal and Goyal, "Analysis of Thompson
//! sampling for the multi-armed bandit problem", COLT 2012, Algorithms 1 and 2, <https://arxiv.org/abs/1111.1797>. With
//! a uniform prior, each play draws
//!
//! ```text
//! theta_x ~ Beta(1 + ones_x, 1 + zeros_x)
//! ```
//!
//! for every arm and plays the arm with the least theta_x. A loss strictly between 0 and 1 counts as a 1 with the loss
//! as probability (Algorithm 2); losses of unbounded feedback are first **clamped to [0, 1]**. It is a reference: its
//! runs are single plays. From 2048 arms on, the arm with the least theta_x is drawn without drawing every theta_x
//! (`least_draw.rs`): the law is the same.

use rand::RngExt;
use rand_distr::{Beta, Distribution};

use super::error::check_problem;
use super::grouped_arms::MANY_ARMS;
use super::history::{RestoredPlays, StateError, ensure};
use super::least_draw::LeastDraw;
use super::posterior::Posterior;
use super::spec::PolicyConfig;
use super::{PolicyError, RunReason, WarmStartError};
use crate::{Feedback, GameClass, Policy, Problem, Run, Stream};

/// Thompson sampling over single plays, without burn-in: a reference.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ThompsonSpec {}

/// The checked parameters of [`Thompson`], made by [`ThompsonSpec::params`].
#[derive(Clone, Debug, PartialEq)]
pub struct ThompsonParams {
    arms: usize,
}

impl PolicyConfig for ThompsonSpec {
    const NAME: &'static str = "thompson";
    const CITATION: &'static str = "Thompson (1933). Biometrika 25, 285-294. doi:10.1093/biomet/25.3-4.285; Agrawal, \
                                    Goyal (2012). Analysis of Thompson sampling for the multi-armed bandit problem. \
                                    COLT 2012. arXiv:1111.1797";
    const MEANT_FOR: &'static [GameClass] = &[GameClass::Plain];
    type Params = ThompsonParams;
    type Policy = Thompson;

    fn example() -> Self {
        Thompson::builder()
    }

    fn check(&self) -> Result<(), PolicyError> {
        Ok(())
    }

    fn params(&self, problem: &Problem) -> Result<ThompsonParams, PolicyError> {
        check_problem(problem)?;
        Ok(ThompsonParams { arms: problem.arms })
    }

    fn filled(_: &ThompsonParams) -> Self {
        Self {}
    }

    fn start(params: ThompsonParams, stream: Stream) -> Thompson {
        Thompson::new(params, stream)
    }

    fn label(&self) -> String {
        "Thompson".to_string()
    }
}

/// Thompson sampling.
///
/// ```
/// use calibandit::policy::Thompson;
/// use calibandit::rng::StreamKey;
/// use calibandit::{Policy, Problem};
/// let problem = Problem { arms: 5, horizon: None };
/// let mut policy = Thompson::builder().build(&problem, StreamKey::new(1, "example", 0).policy())?;
/// assert_eq!(policy.next_run().plays(), 1);
/// # Ok::<(), calibandit::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Thompson {
    /// By arm, the number of losses counted as 1.
    ones: Vec<u64>,
    /// By arm, the number of losses counted as 0.
    zeros: Vec<u64>,
    stream: Stream,
    /// With very many arms, the bound below which few draws lie.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    cut: Option<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    race: DrawCache,
}

/// The posteriors of very many arms. They follow from the rest of the state.
#[derive(Clone, Debug, Default)]
struct DrawCache(Option<Box<LeastDraw>>);

impl PartialEq for DrawCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Thompson {
    /// There are no parameters; the horizon is ignored.
    pub fn builder() -> ThompsonSpec {
        ThompsonSpec::default()
    }

    /// A policy ready for its first run.
    pub fn new(params: ThompsonParams, stream: Stream) -> Self {
        let (ones, zeros) = (vec![0; params.arms], vec![0; params.arms]);
        Self { ones, zeros, stream, cut: None, race: DrawCache::default() }
    }

    fn law(&self, arm: usize) -> Posterior {
        let (ones, zeros) = self.posterior(arm);
        Posterior::Beta { ones, zeros }
    }

    /// The parameters of the posterior of an arm's loss, both at least 1.
    fn posterior(&self, arm: usize) -> (f64, f64) {
        (1.0 + self.ones[arm] as f64, 1.0 + self.zeros[arm] as f64)
    }
}

impl Policy for Thompson {
    fn next_run(&mut self) -> Run {
        if self.ones.len() >= MANY_ARMS {
            let mut race = self.race.0.take().unwrap_or_else(|| {
                let posteriors = (0..self.ones.len()).map(|arm| self.law(arm)).collect();
                Box::new(LeastDraw::new(posteriors, self.cut))
            });
            let arm = race.choose(&mut self.cut, &mut self.stream);
            self.race.0 = Some(race);
            return Run { arm, burn_in: 0, record: 1 };
        }
        let mut least = (0, f64::INFINITY);
        for arm in 0..self.ones.len() {
            let (ones, zeros) = self.posterior(arm);
            let posterior = Beta::new(ones, zeros).expect("both parameters of a posterior are at least 1");
            let theta = posterior.sample(&mut self.stream);
            if theta < least.1 {
                least = (arm, theta);
            }
        }
        Run { arm: least.0, burn_in: 0, record: 1 }
    }

    fn observe(&mut self, run: Run, feedback: Feedback) {
        let loss = feedback.sum.clamp(0.0, 1.0);
        // A loss of exactly 0 or 1 needs no draw.
        let one = loss == 1.0 || loss > 0.0 && self.stream.random::<f64>() < loss;
        let count = if one { &mut self.ones } else { &mut self.zeros };
        count[run.arm] += 1;
        let law = self.law(run.arm);
        if let Some(race) = &mut self.race.0 {
            race.update(run.arm, law, self.cut);
        }
    }

    /// The arm with the least posterior mean.
    fn recommend(&self) -> usize {
        let mean = |arm| {
            let (ones, zeros) = self.posterior(arm);
            ones / (ones + zeros)
        };
        let mut best = 0;
        for arm in 1..self.ones.len() {
            if mean(arm) < mean(best) {
                best = arm;
            }
        }
        best
    }

    fn run_reason(&self, _: Run) -> RunReason {
        RunReason::Index
    }

    /// Past losses count as in the posterior: their sum, rounded, as losses of 1, and the others as losses of 0.
    fn warm_start(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
        if self.ones.iter().chain(&self.zeros).any(|&count| count > 0) {
            return Err(WarmStartError::Started);
        }
        if past.len() != self.ones.len() {
            return Err(WarmStartError::Arms { given: past.len(), arms: self.ones.len() });
        }
        for (arm, past) in past.iter().enumerate() {
            // A negative or too large sum saturates, as a single loss does.
            self.ones[arm] = (past.sum.round() as u64).min(past.plays);
            self.zeros[arm] = past.plays - self.ones[arm];
        }
        self.race = DrawCache::default();
        Ok(())
    }

    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        ensure(self.ones.len() == arms && self.zeros.len() == arms, "the policy has another number of arms")?;
        let fits = |arm: usize| {
            let count = self.ones[arm].checked_add(self.zeros[arm]);
            count.is_some_and(|count| history.has_recorded(arm, count))
        };
        ensure((0..arms).all(fits), "the counts of an arm differ from its recorded plays")?;
        ensure(history.has_burn_in(0, 1), "there are burn-in plays")?;
        let asked = |run: Run| run.burn_in == 0 && run.record == 1;
        ensure(history.open.is_none_or(asked), "the open run is not one that the policy asks for")?;
        let cut = self.cut.is_none_or(|cut| arms >= MANY_ARMS && cut > 0.0 && cut < 1.0);
        ensure(cut, "the bound of the draws is out of range")?;
        ensure(self.stream.is_valid(), "the state of the random generator is zero")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    fn policy(arms: usize) -> Thompson {
        let problem = Problem { arms, horizon: None };
        Thompson::builder().build(&problem, StreamKey::new(1, "thompson", 0).policy()).unwrap()
    }

    fn play(arm: usize) -> Run {
        Run { arm, burn_in: 0, record: 1 }
    }

    #[test]
    fn binary_and_clamped_losses_are_counted_without_a_draw() {
        let mut policy = policy(2);
        let before = policy.stream.clone();
        for (arm, loss) in [(0, 1.0), (0, 0.0), (1, 0.0), (1, -3.0), (1, 17.0)] {
            policy.observe(play(arm), Feedback::one(loss));
        }
        assert_eq!((&policy.ones[..], &policy.zeros[..]), (&[1, 1][..], &[1, 2][..]));
        assert_eq!(policy.stream, before, "none of these needs a draw");
        assert_eq!(policy.posterior(1), (2.0, 3.0));
        assert_eq!(policy.recommend(), 1);
    }

    #[test]
    fn a_fractional_loss_counts_as_one_with_that_probability() {
        let mut policy = policy(1);
        for _ in 0..100_000 {
            policy.observe(play(0), Feedback::one(0.3));
        }
        // Four standard deviations of a binomial.
        assert!((policy.ones[0] as f64 - 30_000.0).abs() < 4.0 * (100_000.0f64 * 0.3 * 0.7).sqrt());
    }

    #[test]
    fn an_arm_is_chosen_with_its_posterior_probability_of_being_best() {
        // Arm 0 is uniform, arm 1 is Beta(1, 2) after one 0. P(U < theta_1) = E[theta_1] = 1/3.
        let mut policy = policy(2);
        policy.observe(play(1), Feedback::one(0.0));
        let draws = 100_000;
        let first = (0..draws).filter(|_| policy.next_run().arm == 0).count() as f64;
        let expected = f64::from(draws) / 3.0;
        assert!((first - expected).abs() < 4.0 * (expected * 2.0 / 3.0).sqrt(), "{first}");
    }

    /// The choices continue as if the policy had not been saved, also while the bound of the draws changes.
    #[test]
    fn a_restored_policy_with_very_many_arms_chooses_the_same() {
        let mut policy = policy(MANY_ARMS);
        let mut cuts = Vec::new();
        for play in 0..30_000 {
            let run = policy.next_run();
            cuts.extend(policy.cut.filter(|cut| cuts.last() != Some(cut)));
            if play % 4000 == 1234 {
                let text = serde_json::to_string(&policy).unwrap();
                let mut restored: Thompson = serde_json::from_str(&text).unwrap();
                let mut continued = policy.clone();
                for _ in 0..100 {
                    let next = continued.next_run();
                    assert_eq!(restored.next_run(), next);
                    continued.observe(next, Feedback::one(0.4));
                    restored.observe(next, Feedback::one(0.4));
                }
                assert_eq!(restored, continued);
            }
            policy.observe(run, Feedback::one(if run.arm.is_multiple_of(10) { 0.3 } else { 0.6 }));
        }
        assert!(cuts.len() > 3, "{cuts:?}");
    }
}
