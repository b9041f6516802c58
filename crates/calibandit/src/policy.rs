//! Policies: what picks the runs.
//!
//! A policy never thinks in single plays. It asks for a [`Run`]: "play arm 3, ignore the first 9 losses, give me the
//! next 40", and gets the [`Feedback`] of the recorded plays. One algorithm a file, with its citation and its update
//! rule on top; a policy knows nothing of games, horizons are told to it when it is made, and its state is plain data.
//!
//! A [`PolicySpec`] is what files and programs speak of: which policy, with which parameters. It builds an
//! [`AnyPolicy`], which plays and can be saved at any time:
//!
//! ```
//! use calibandit::rng::StreamKey;
//! use calibandit::{AnyPolicy, Policy, PolicySpec, Problem, Run};
//! let spec: PolicySpec = serde_json::from_str(r#"{"kind": "successive-elimination", "memory_bound": 3}"#)?;
//! let problem = Problem { arms: 5, horizon: Some(1_000_000) };
//! let mut policy = spec.build(&problem, StreamKey::new(1, "tour", 0).policy())?;
//! assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 6, record: 6 });
//!
//! let saved = serde_json::to_string(&policy)?;
//! let mut restored: AnyPolicy = serde_json::from_str(&saved)?;
//! assert_eq!(restored.next_run(), policy.next_run());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | kind | runs | needs |
//! |---|---|---|
//! | [`SuccessiveElimination`] | ignore n, record n | memory bound, horizon |
//! | [`AnytimeElimination`] | ignore n, record n | memory bound |
//! | [`Exp3`] | single plays | horizon or rate |
//! | [`BatchedExp3`] | record a batch | horizon, or batch length and rate |
//! | [`EpochUcb`] | ignore M - 1, record 1 | memory bound |
//! | [`Ucb1`] | single plays | |
//! | [`Thompson`] | single plays | |
//! | [`Calibrated`] | ignore M - 1 on a switch, none otherwise; record more and more | memory bound |
//! | [`ExploreThenCommit`] | ignore M - 1, record n; then one arm to the end | memory bound, horizon or length |

mod anytime_elimination;
mod batched_exp3;
mod calibrated;
mod elimination;
mod epoch_ucb;
mod error;
mod exp3;
pub(crate) mod exp_weights;
mod explore_then_commit;
mod spec;
mod successive_elimination;
mod thompson;
mod ucb1;
mod ucb_index;

pub use anytime_elimination::{AnytimeElimination, AnytimeEliminationParams, AnytimeEliminationSpec};
pub use batched_exp3::{BatchedExp3, BatchedExp3Params, BatchedExp3Spec};
pub use calibrated::{Calibrated, CalibratedParams, CalibratedSpec, Index};
pub use epoch_ucb::{EpochUcb, EpochUcbParams, EpochUcbSpec};
pub use error::PolicyError;
pub use exp3::{Exp3, Exp3Params, Exp3Spec};
pub use explore_then_commit::{ExploreThenCommit, ExploreThenCommitParams, ExploreThenCommitSpec};
pub use spec::{AnyPolicy, PolicySpec};
pub use successive_elimination::{
    Radius, SuccessiveElimination, SuccessiveEliminationParams, SuccessiveEliminationSpec,
};
pub use thompson::{Thompson, ThompsonParams, ThompsonSpec};
pub use ucb1::{Ucb1, Ucb1Params, Ucb1Spec};

use crate::{Feedback, Run};

/// What picks the runs.
///
/// Whoever plays calls [`next_run`](Policy::next_run), plays it in full and reports with
/// [`observe`](Policy::observe), in turn. A run that the horizon cuts short is not reported.
pub trait Policy {
    /// The next run to play. It must have at least one play, of an arm that exists.
    fn next_run(&mut self) -> Run;

    /// Takes the feedback of the run that [`next_run`](Policy::next_run) gave last: `feedback.plays == run.record`.
    fn observe(&mut self, run: Run, feedback: Feedback);

    /// Takes the feedback of the run that [`next_run`](Policy::next_run) gave last and, if the same run would be next again
    /// and again, that of up to `most` repetitions; returns how many it took. Whoever can have the feedback of the same run
    /// many times over calls this instead of [`observe`](Policy::observe).
    ///
    /// It is there for speed alone: taking one is right for every policy.
    fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
        let _ = most;
        self.observe(run, feedback());
        1
    }

    /// The arm to settle on if playing stopped being about learning now.
    fn recommend(&self) -> usize;

    /// What the policy can say with confidence about its arms so far; most policies cannot.
    fn certificate(&self) -> Option<Certificate> {
        None
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn next_run(&mut self) -> Run {
        (**self).next_run()
    }
    fn observe(&mut self, run: Run, feedback: Feedback) {
        (**self).observe(run, feedback);
    }
    fn observe_repeated(&mut self, run: Run, most: u64, feedback: &mut dyn FnMut() -> Feedback) -> u64 {
        (**self).observe_repeated(run, most, feedback)
    }
    fn recommend(&self) -> usize {
        (**self).recommend()
    }
    fn certificate(&self) -> Option<Certificate> {
        (**self).certificate()
    }
}

/// With the policy's confidence, the best arm is among `arms`, and each of them is within `gap` of it in eventual loss.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Certificate {
    /// The arms not ruled out.
    pub arms: Vec<usize>,
    /// How much worse than the best arm any of them can be.
    pub gap: f64,
    /// The probability with which this may be wrong.
    pub delta: f64,
}
