//! Policies: the algorithms that choose runs.
//!
//! A policy does not choose single plays. It asks for a [`Run`]: "play arm 3, ignore the first 9 losses, report the
//! next 40", and gets the [`Feedback`] of the recorded plays. There is one algorithm per file, with its citation and
//! its update rule in the module head. A policy does not depend on games: it is told the [`Problem`](crate::Problem)
//! when it is built, and its state is plain data.
//!
//! Every policy has a `builder`. The builder gives the specification of the policy with its defaults, setters change
//! them, and `build` gives the policy:
//!
//! ```
//! use calibandit::policy::SuccessiveElimination;
//! use calibandit::rng::StreamKey;
//! use calibandit::{Policy, Problem, Radius, Run};
//! let problem = Problem { arms: 5, horizon: Some(1_000_000) };
//! let spec = SuccessiveElimination::builder(3).radius(Radius::Hoeffding);
//! let mut policy = spec.build(&problem, StreamKey::new(1, "tour", 0).policy())?;
//! assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 6, record: 6 });
//! # Ok::<(), calibandit::PolicyError>(())
//! ```
//!
//! A [`PolicySpec`] is the specification of any of them, as in files. It builds an [`AnyPolicy`], which can be saved
//! between any two runs:
//!
//! ```
//! use calibandit::rng::StreamKey;
//! use calibandit::{AnyPolicy, Policy, PolicySpec, Problem};
//! let spec: PolicySpec = serde_json::from_str(r#"{"kind": "calibrated", "memory_bound": 3}"#)?;
//! let mut policy = spec.build(&Problem { arms: 5, horizon: None }, StreamKey::new(1, "tour", 0).policy())?;
//! let saved = serde_json::to_string(&policy)?;
//! let mut restored: AnyPolicy = serde_json::from_str(&saved)?;
//! assert_eq!(restored.next_run(), policy.next_run());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | policy | runs | needs |
//! |---|---|---|
//! | [`Calibrated`] | burn-in of M - 1 on a switch only; visits grow | memory bound |
//! | [`Pilot`] | single plays, then as `Calibrated` | the longest memory |
//! | [`SuccessiveElimination`] | burn-in of n, then n recorded plays | memory bound, horizon |
//! | [`AnytimeElimination`] | burn-in of n, then n recorded plays | memory bound |
//! | [`Exp3`] | single plays | horizon or rate |
//! | [`BatchedExp3`] | batches of recorded plays | horizon, or batch length and rate |
//! | [`EpochUcb`] | burn-in of M - 1, then 1 recorded play | memory bound |
//! | [`Ucb1`] | single plays | |
//! | [`Thompson`] | single plays | |
//! | [`Planner`] | single plays along a cycle; longer ones of an arm that stays | memory; up to 131,072 windows |
//! | [`Rotation`] | the same along a block cycle | memory |
//! | [`ExploreThenCommit`] | burn-in of M - 1, then n recorded plays; then one arm | memory bound, horizon or n |
//!
//! For rested arms, whose loss depends on all of their plays:
//!
//! | policy | arms | runs | needs |
//! |---|---|---|---|
//! | [`RawUcb`], [`Fewa`], [`Wswa`] | rotting | single plays | |
//! | [`Swa`] | rotting | single plays | horizon |
//! | [`Greedy`] | rotting, without noise | single plays | |
//! | [`Heidari`] | improving, without noise | single plays | horizon |
//! | [`Spo`] | single-peaked | single plays | horizon |
//! | [`RisingUcb`] | rising | single plays | |
//! | [`RisingUcbe`] | rising: which will be the best? | single plays | horizon |
//! | [`RisingHalving`] | rising: which will be the best? | burn-in, then the last plays of a phase | horizon |
//! | [`SlidingUcb`], [`DiscountedUcb`] | references | single plays | horizon, or window or discount |

mod anytime_elimination;
mod batched_exp3;
mod calibrated;
mod cycle_follower;
mod discounted_ucb;
mod elimination;
mod epoch_ucb;
mod error;
mod exp3;
pub(crate) mod exp_weights;
mod explore_then_commit;
mod fewa;
mod greedy;
mod grouped_arms;
mod heidari;
pub(crate) mod history;
mod least_draw;
mod optimistic_sum;
mod pilot;
mod planner;
mod posterior;
mod raw_ucb;
mod recent_trend;
mod rising_halving;
mod rising_ucb;
mod rising_ucbe;
mod rotation;
mod rotting_windows;
mod single_plays;
mod sliding_ucb;
mod spec;
mod spo;
mod spo_band;
mod status;
mod successive_elimination;
mod swa;
mod tally_cells;
mod thompson;
mod ucb1;
mod ucb_index;
mod wswa;

pub use anytime_elimination::{AnytimeElimination, AnytimeEliminationParams, AnytimeEliminationSpec};
pub use batched_exp3::{BatchedExp3, BatchedExp3Params, BatchedExp3Spec};
pub use calibrated::{Calibrated, CalibratedParams, CalibratedSpec, Index, Tuning};
pub use discounted_ucb::{DiscountedUcb, DiscountedUcbParams, DiscountedUcbSpec};
pub use epoch_ucb::{EpochUcb, EpochUcbParams, EpochUcbSpec};
pub use error::PolicyError;
pub use exp3::{Exp3, Exp3Params, Exp3Spec};
pub use explore_then_commit::{ExploreThenCommit, ExploreThenCommitParams, ExploreThenCommitSpec};
pub use fewa::{Fewa, FewaParams, FewaSpec};
pub use greedy::{Greedy, GreedyParams, GreedySpec};
pub use heidari::{Heidari, HeidariParams, HeidariSpec};
pub use history::{ClosedRuns, RestoredPlays, StateError};
pub use pilot::{Pilot, PilotParams, PilotSpec};
pub use planner::{Planner, PlannerCells, PlannerParams, PlannerSpec};
pub use raw_ucb::{RawUcb, RawUcbParams, RawUcbSpec};
pub use rising_halving::{RisingHalving, RisingHalvingParams, RisingHalvingSpec};
pub use rising_ucb::{RisingUcb, RisingUcbParams, RisingUcbSpec};
pub use rising_ucbe::{RisingUcbe, RisingUcbeParams, RisingUcbeSpec};
pub use rotation::{Rotation, RotationParams, RotationSpec};
pub use sliding_ucb::{SlidingUcb, SlidingUcbParams, SlidingUcbSpec};
pub use spec::{AnyPolicy, PolicySpec};
pub use spo::{Refresh, Spo, SpoParams, SpoSpec};
pub use status::{ArmChangeError, ArmReport, ArmStatus, RunReason, WarmStartError};
pub use successive_elimination::{
    Radius, SuccessiveElimination, SuccessiveEliminationParams, SuccessiveEliminationSpec,
};
pub use swa::{Swa, SwaParams, SwaSpec};
pub use thompson::{Thompson, ThompsonParams, ThompsonSpec};
pub use ucb1::{Ucb1, Ucb1Params, Ucb1Spec};
pub use wswa::{Wswa, WswaParams, WswaSpec};

use crate::{Feedback, Run};

/// An algorithm that chooses runs.
///
/// The caller alternates [`next_run`](Policy::next_run) and [`observe`](Policy::observe): it plays each run to the end
/// and then reports its feedback. A run that the horizon cuts short is not reported.
///
/// [`testing::check_policy`](crate::testing::check_policy) checks that an implementation keeps this contract.
pub trait Policy {
    /// The next run to play. It must have at least one play, of an arm that exists.
    fn next_run(&mut self) -> Run;

    /// Takes the feedback of the run that [`next_run`](Policy::next_run) gave last: `feedback.plays == run.record`.
    fn observe(&mut self, run: Run, feedback: Feedback);

    /// Whether the policy wants to be told burn-in losses with [`observe_burn_in`](Policy::observe_burn_in). The
    /// simulator draws them only for policies that do. The answer must not change during a game.
    fn wants_burn_in(&self) -> bool {
        false
    }

    /// Takes the losses of burn-in plays of the run whose feedback comes next: the number of those that are known,
    /// their sum and sum of squares. It is called before [`observe`](Policy::observe), and only if some are known. They
    /// are not those of the calibrated arm.
    fn observe_burn_in(&mut self, run: Run, losses: Feedback) {
        let _ = (run, losses);
    }

    /// The arm that the policy would choose if no more plays were spent on learning.
    fn recommend(&self) -> usize;

    /// What the policy can state with confidence about its arms; `None` for policies, or at times, that cannot.
    fn certificate(&self) -> Option<Certificate> {
        None
    }

    /// How the policy regards each arm, for people to read; `None` for policies that do not say.
    fn arm_reports(&self) -> Option<Vec<ArmReport>> {
        None
    }

    /// Why the policy asked for the run that [`next_run`](Policy::next_run) gave last, for people to read. It is called
    /// before the feedback of the run.
    fn run_reason(&self, run: Run) -> RunReason {
        let _ = run;
        RunReason::Unstated
    }

    /// Starts from past losses of calibrated arms: per arm their number, sum and sum of squares. It is called at most
    /// once, before the first run. A policy that cannot use them refuses them and is unchanged, which is the default.
    fn warm_start(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
        let _ = past;
        Err(WarmStartError::Unsupported)
    }

    /// Adds an arm of which nothing is known, and returns its number, which is that of the arms so far. It may be
    /// called between a run and its feedback; that run is played to its end, unless it has none. A policy that cannot
    /// do this refuses it and is unchanged, which is the default.
    fn add_arm(&mut self) -> Result<usize, ArmChangeError> {
        Err(ArmChangeError::Unsupported)
    }

    /// Retires an arm: it is neither asked for nor recommended again. If the run that
    /// [`next_run`](Policy::next_run) gave last is of this arm, it is abandoned: its feedback is not reported, and
    /// `next_run` is called again. Retiring an arm twice changes nothing. A policy that cannot do this refuses it and
    /// is unchanged, which is the default.
    fn retire_arm(&mut self, arm: usize) -> Result<(), ArmChangeError> {
        let _ = arm;
        Err(ArmChangeError::Unsupported)
    }

    /// Checks a state that was read back against the plays that were made. [`Advisor`](crate::Advisor) calls it when a
    /// snapshot is restored, and refuses the snapshot on an error.
    ///
    /// An implementation refuses every state that `next_run`, `observe`, `recommend` or `certificate` cannot handle:
    /// wrong lengths, indices of arms that do not exist, numbers that are not finite, counts that contradict `history`.
    /// The default accepts everything.
    fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let _ = history;
        Ok(())
    }

    /// An optimisation hook of the simulator, not part of the contract: implementations outside this crate should not
    /// override it, and it may change in any release. It is in this trait because the simulator calls it through
    /// `dyn Policy` once per run.
    ///
    /// Takes the feedback of the last run and, while the same run would be next again, that of up to `most` repetitions
    /// in all; returns how many it took, at least 1.
    #[doc(hidden)]
    fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
        let _ = most;
        self.observe(run, feedback());
        1
    }
}

/// What points to a policy is a policy.
macro_rules! forwarding_policy {
    ($($pointer:ty),*) => {$(
        impl<P: Policy + ?Sized> Policy for $pointer {
            fn next_run(&mut self) -> Run {
                (**self).next_run()
            }
            fn observe(&mut self, run: Run, feedback: Feedback) {
                (**self).observe(run, feedback);
            }
            fn wants_burn_in(&self) -> bool {
                (**self).wants_burn_in()
            }
            fn observe_burn_in(&mut self, run: Run, losses: Feedback) {
                (**self).observe_burn_in(run, losses);
            }
            fn recommend(&self) -> usize {
                (**self).recommend()
            }
            fn certificate(&self) -> Option<Certificate> {
                (**self).certificate()
            }
            fn arm_reports(&self) -> Option<Vec<ArmReport>> {
                (**self).arm_reports()
            }
            fn run_reason(&self, run: Run) -> RunReason {
                (**self).run_reason(run)
            }
            fn warm_start(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
                (**self).warm_start(past)
            }
            fn add_arm(&mut self) -> Result<usize, ArmChangeError> {
                (**self).add_arm()
            }
            fn retire_arm(&mut self, arm: usize) -> Result<(), ArmChangeError> {
                (**self).retire_arm(arm)
            }
            fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
                (**self).check_restored(history)
            }
            fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
                (**self).observe_repeated(run, most, feedback)
            }
        }
    )*};
}

forwarding_policy!(Box<P>, &mut P);

/// A statement about the best arm: except with probability `delta`, it is among `arms`, and the eventual loss of each
/// of them exceeds the best by at most `gap`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Certificate {
    /// The arms that are not ruled out.
    pub arms: Vec<usize>,
    /// The most by which the eventual loss of any of them can exceed that of the best arm.
    pub gap: f64,
    /// The probability with which this may be wrong.
    pub delta: f64,
}

impl Certificate {
    /// A certificate with these values.
    pub fn new(arms: Vec<usize>, gap: f64, delta: f64) -> Self {
        Self { arms, gap, delta }
    }
}
