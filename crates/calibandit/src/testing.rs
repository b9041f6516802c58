//! The contract that every [`Policy`] must keep, as a check that can be run on a policy of your own.
//!
//! [`check_policy`] plays a policy against several kinds of losses and reports the first rule that it breaks. It does
//! not say whether a policy is good: it has no game and computes no regret.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::RngExt;

use crate::rng::StreamKey;
use crate::{Certificate, Feedback, Policy, Problem, Run, Stream};

/// The most runs that are played for each kind of losses.
const MOST_RUNS: u64 = 5_000;
/// The number of plays if the horizon is not known: more than any policy reaches with short runs.
const PLAYS: u64 = 1 << 40;

/// Checks that a policy keeps the contract of [`Policy`] on this problem. `make` gives a new policy, the same each
/// time: with the same parameters and the same seed.
///
/// For losses of 0 and 1, for constant losses and for losses far outside [0, 1], it checks that
///
/// - every run has at least one play, of an arm that exists;
/// - equal policies with equal feedback ask for equal runs;
/// - the recommended arm exists, before the first run, after each run and after the run that the horizon cuts;
/// - a certificate names arms that exist, and its gap and its probability are possible;
/// - nothing panics.
///
/// ```
/// use calibandit::testing::check_policy;
/// use calibandit::{Feedback, Policy, Problem, Run};
///
/// struct AlwaysFirst;
///
/// impl Policy for AlwaysFirst {
///     fn next_run(&mut self) -> Run {
///         Run::forever(0)
///     }
///     fn observe(&mut self, _: Run, _: Feedback) {}
///     fn recommend(&self) -> usize {
///         0
///     }
/// }
///
/// check_policy(&Problem { arms: 3, horizon: Some(1000) }, || AlwaysFirst)?;
/// # Ok::<(), calibandit::testing::ContractError>(())
/// ```
pub fn check_policy<P: Policy>(problem: &Problem, make: impl Fn() -> P) -> Result<(), ContractError> {
    for losses in Losses::ALL {
        let mut played = Played::new(problem, losses);
        let checked = catch_unwind(AssertUnwindSafe(|| {
            played.check_runs(&make)?;
            played = Played::new(problem, losses);
            played.check_repetitions(&make)
        }));
        let broken = match checked {
            Ok(Ok(())) => continue,
            Ok(Err(broken)) => broken,
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                BrokenRule::Panicked { message }
            }
        };
        return Err(ContractError { losses, runs: played.runs, broken });
    }
    Ok(())
}

/// A policy does not keep the contract of [`Policy`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("after {runs} runs with {losses}: {broken}")]
#[non_exhaustive]
pub struct ContractError {
    /// The losses that were played.
    pub losses: Losses,
    /// The number of complete runs before the failure.
    pub runs: u64,
    /// What went wrong.
    pub broken: BrokenRule,
}

/// A rule of [`Policy`] that a policy breaks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenRule {
    /// A run has no plays.
    #[error("`next_run` gave a run without plays, of arm {arm}; a run needs at least one play")]
    EmptyRun {
        /// The arm of the run.
        arm: usize,
    },
    /// A run is of an arm that does not exist.
    #[error("`next_run` gave a run of arm {arm}, but the arms are 0 to {}", arms - 1)]
    NoSuchArm {
        /// The arm of the run.
        arm: usize,
        /// The number of arms.
        arms: usize,
    },
    /// The recommended arm does not exist.
    #[error("`recommend` gave arm {arm}, but the arms are 0 to {}", arms - 1)]
    BadRecommendation {
        /// The arm recommended.
        arm: usize,
        /// The number of arms.
        arms: usize,
    },
    /// A certificate cannot be true.
    #[error("`certificate` gave {certificate:?}: {why}")]
    BadCertificate {
        /// The certificate.
        certificate: Certificate,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Two policies that were made in the same way asked for different runs.
    #[error(
        "two equal policies with equal feedback asked for {one:?} and {other:?}; draw random numbers only from a \
         stream that is given to the policy, and let `recommend` and `certificate` change nothing"
    )]
    NotReproducible {
        /// The run of the one, whose `recommend` and `certificate` were called.
        one: Run,
        /// The run of the other.
        other: Run,
    },
    /// `observe_repeated` does not do what `observe` does.
    #[error("`observe_repeated` took {taken} of at most {most} repetitions, after which it differs from `observe`")]
    BadRepetition {
        /// The number that it returned.
        taken: u64,
        /// The most that it may take.
        most: u64,
    },
    /// The policy panicked.
    #[error("it panicked: {message}")]
    Panicked {
        /// The message of the panic.
        message: String,
    },
}

/// The losses that a policy is checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Losses {
    /// Losses of 0 and 1; the last arm is the best.
    Binary,
    /// Every loss is 0.
    Zero,
    /// Every loss is 1.
    One,
    /// Losses far outside [0, 1], of both signs.
    Unbounded,
}

impl Losses {
    const ALL: [Self; 4] = [Self::Binary, Self::Zero, Self::One, Self::Unbounded];
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Binary => "losses of 0 and 1",
            Self::Zero => "losses of 0",
            Self::One => "losses of 1",
            Self::Unbounded => "losses far outside [0, 1]",
        })
    }
}

/// One sequence of runs against losses that are drawn here.
struct Played {
    arms: usize,
    losses: Losses,
    draws: Stream,
    left: u64,
    runs: u64,
}

impl Played {
    fn new(problem: &Problem, losses: Losses) -> Self {
        let draws = StreamKey::new(1, "check_policy", losses as u64).noise();
        Self { arms: problem.arms, losses, draws, left: problem.horizon.unwrap_or(PLAYS), runs: 0 }
    }

    /// The feedback of a complete run. What it is does not matter, as long as it is possible: the draws of one run are
    /// not independent.
    fn feedback(&mut self, run: Run) -> Feedback {
        let n = run.record as f64;
        let uniform: f64 = self.draws.random();
        let (sum, sum_sq) = match self.losses {
            Losses::Binary => {
                let mean = if run.arm + 1 == self.arms { 0.3 } else { 0.6 };
                let ones = (n * mean + n.sqrt() * (uniform - 0.5)).round().clamp(0.0, n);
                (ones, ones)
            }
            Losses::Zero => (0.0, 0.0),
            Losses::One => (n, n),
            Losses::Unbounded => {
                let loss = 1e6 * (uniform - 0.5);
                (n * loss, n * loss * loss)
            }
        };
        Feedback { plays: run.record, sum, sum_sq }
    }

    /// Takes the plays of a run from those left; `false` if the horizon cuts it.
    fn complete(&mut self, run: Run) -> bool {
        let complete = run.plays() <= self.left && run.record < u64::MAX;
        self.left = self.left.saturating_sub(run.plays());
        complete
    }

    fn check_runs<P: Policy>(&mut self, make: &impl Fn() -> P) -> Result<(), BrokenRule> {
        let (mut one, mut other) = (make(), make());
        self.check_queries(&one)?;
        while self.left > 0 && self.runs < MOST_RUNS {
            let run = one.next_run();
            self.check_run(run)?;
            let again = other.next_run();
            if again != run {
                return Err(BrokenRule::NotReproducible { one: run, other: again });
            }
            if !self.complete(run) {
                self.check_queries(&one)?;
                break;
            }
            let feedback = self.feedback(run);
            one.observe(run, feedback);
            other.observe(run, feedback);
            self.check_queries(&one)?;
            self.runs += 1;
        }
        Ok(())
    }

    fn check_run(&self, run: Run) -> Result<(), BrokenRule> {
        if run.arm >= self.arms {
            return Err(BrokenRule::NoSuchArm { arm: run.arm, arms: self.arms });
        }
        if run.plays() == 0 {
            return Err(BrokenRule::EmptyRun { arm: run.arm });
        }
        Ok(())
    }

    fn check_queries(&self, policy: &impl Policy) -> Result<(), BrokenRule> {
        let (arm, arms) = (policy.recommend(), self.arms);
        if arm >= arms {
            return Err(BrokenRule::BadRecommendation { arm, arms });
        }
        let Some(certificate) = policy.certificate() else { return Ok(()) };
        let why = if certificate.arms.is_empty() {
            "it names no arm"
        } else if certificate.arms.iter().any(|&arm| arm >= arms) {
            "it names an arm that does not exist"
        } else if certificate.gap.is_nan() || certificate.gap < 0.0 {
            "the gap must be a number, at least 0"
        } else if !(0.0..=1.0).contains(&certificate.delta) {
            "delta must be a probability"
        } else {
            return Ok(());
        };
        Err(BrokenRule::BadCertificate { certificate, why })
    }

    /// Checks that `observe_repeated` is `observe`, several times.
    fn check_repetitions<P: Policy>(&mut self, make: &impl Fn() -> P) -> Result<(), BrokenRule> {
        let (mut repeated, mut single) = (make(), make());
        while self.left > 0 && self.runs < MOST_RUNS {
            let run = repeated.next_run();
            if run.record == u64::MAX || run.plays() > self.left {
                break;
            }
            let most = (self.left / run.plays()).min(1 + self.runs % 7);
            let mut given = Vec::new();
            let taken = repeated.observe_repeated(run, most, &mut || {
                given.push(self.feedback(run));
                given[given.len() - 1]
            });
            let same = taken >= 1 && taken <= most && given.len() as u64 == taken;
            let same = same
                && given.into_iter().all(|feedback| {
                    let own = single.next_run();
                    single.observe(own, feedback);
                    self.complete(own);
                    self.runs += 1;
                    own == run
                });
            if !same {
                return Err(BrokenRule::BadRepetition { taken, most });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Plays the arms in turn, and breaks one rule.
    struct Broken {
        rule: &'static str,
        runs: usize,
        chance: usize,
    }

    thread_local! {
        static MADE: Cell<usize> = const { Cell::new(0) };
    }

    impl Broken {
        fn new(rule: &'static str) -> Self {
            Self { rule, runs: 0, chance: MADE.replace(MADE.get() + 1) }
        }
    }

    impl Policy for Broken {
        fn next_run(&mut self) -> Run {
            match self.rule {
                "arm" if self.runs == 10 => Run { arm: 3, burn_in: 0, record: 1 },
                "empty" if self.runs == 10 => Run { arm: 0, burn_in: 0, record: 0 },
                "chance" => Run { arm: self.chance % 3, burn_in: 0, record: 1 },
                _ => Run { arm: self.runs % 3, burn_in: 2, record: 3 },
            }
        }
        fn observe(&mut self, _: Run, feedback: Feedback) {
            assert!(self.rule != "panic" || feedback.sum.abs() < 1e3, "a loss of {}", feedback.sum);
            self.runs += 1;
        }
        fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
            let taken = if self.rule == "repeated" { most } else { 1 };
            (0..taken).for_each(|_| self.observe(run, feedback()));
            taken
        }
        fn recommend(&self) -> usize {
            if self.rule == "recommend" && self.runs > 2 { 3 } else { 0 }
        }
        fn certificate(&self) -> Option<Certificate> {
            (self.rule == "certificate").then(|| Certificate { arms: vec![0], gap: f64::NAN, delta: 0.1 })
        }
    }

    #[test]
    fn every_broken_rule_is_named() {
        let problem = Problem { arms: 3, horizon: Some(10_000) };
        let check = |rule| check_policy(&problem, || Broken::new(rule));
        assert_eq!(check("none"), Ok(()));
        let broken = |rule| check(rule).unwrap_err().broken;
        assert_eq!(broken("arm"), BrokenRule::NoSuchArm { arm: 3, arms: 3 });
        assert_eq!(broken("empty"), BrokenRule::EmptyRun { arm: 0 });
        assert!(matches!(broken("chance"), BrokenRule::NotReproducible { .. }));
        assert!(matches!(broken("repeated"), BrokenRule::BadRepetition { .. }));
        assert_eq!(broken("recommend"), BrokenRule::BadRecommendation { arm: 3, arms: 3 });
        assert!(matches!(broken("certificate"), BrokenRule::BadCertificate { .. }));
        let panicked = check("panic").unwrap_err();
        assert_eq!(panicked.losses, Losses::Unbounded, "the other losses are harmless");
        assert!(
            panicked.to_string().starts_with("after 0 runs with losses far outside [0, 1]: it panicked: a loss of")
        );
    }

    #[test]
    fn errors_say_when_and_what() {
        let failed = check_policy(&Problem { arms: 3, horizon: None }, || Broken::new("arm")).unwrap_err();
        let text = "after 10 runs with losses of 0 and 1: `next_run` gave a run of arm 3, but the arms are 0 to 2";
        assert_eq!(failed.to_string(), text);
    }
}
