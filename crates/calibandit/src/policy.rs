//! Policies: what picks the runs.
//!
//! A policy never thinks in single plays. It asks for a [`Run`]: "play arm 3, ignore the first 9 losses, give me the
//! next 40", and gets the [`Feedback`] of the recorded plays. One algorithm a file, with its citation and its update
//! rule on top; a policy knows nothing of games, horizons are told to it when it is made, and its state is plain data.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// One commitment of a policy: `burn_in` plays of an arm whose losses are ignored, then `record` plays that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The arm to play.
    pub arm: usize,
    /// How many plays to ignore.
    pub burn_in: u64,
    /// How many plays to record after that. `u64::MAX` means: to the end.
    pub record: u64,
}

impl Run {
    /// A run of this arm to the end of the game.
    pub fn forever(arm: usize) -> Self {
        Self { arm, burn_in: 0, record: u64::MAX }
    }

    /// The number of plays.
    pub fn plays(&self) -> u64 {
        self.burn_in.saturating_add(self.record)
    }
}

/// What a policy gets to know of a run: the recorded losses, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// How many plays were recorded.
    pub plays: u64,
    /// The sum of their losses.
    pub sum: f64,
    /// The sum of the squares of their losses, for policies that use the variance.
    pub sum_sq: f64,
}

impl Feedback {
    /// The feedback of a single play.
    pub fn one(loss: f64) -> Self {
        Self { plays: 1, sum: loss, sum_sq: loss * loss }
    }

    /// The mean recorded loss; NaN if nothing was recorded.
    pub fn mean(&self) -> f64 {
        self.sum / self.plays as f64
    }
}

impl AddAssign for Feedback {
    fn add_assign(&mut self, other: Self) {
        self.plays += other.plays;
        self.sum += other.sum;
        self.sum_sq += other.sum_sq;
    }
}

/// What picks the runs.
///
/// Whoever plays calls [`next_run`](Policy::next_run), plays it in full and reports with
/// [`observe`](Policy::observe), in turn. A run that the horizon cuts short is not reported.
pub trait Policy {
    /// The next run to play. It must have at least one play, of an arm that exists.
    fn next_run(&mut self) -> Run;

    /// Takes the feedback of the run that [`next_run`](Policy::next_run) gave last: `feedback.plays == run.record`.
    fn observe(&mut self, run: Run, feedback: Feedback);

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
    fn recommend(&self) -> usize {
        (**self).recommend()
    }
    fn certificate(&self) -> Option<Certificate> {
        (**self).certificate()
    }
}

/// With the policy's confidence, the best arm is among `arms`, and each of them is within `gap` of it in eventual loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The arms not ruled out.
    pub arms: Vec<usize>,
    /// How much worse than the best arm any of them can be.
    pub gap: f64,
    /// The probability with which this may be wrong.
    pub delta: f64,
}
