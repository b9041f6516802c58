//! Warnings about the data, with their numbers.

use super::watch::{ALARM, LATER};
use super::{LaneAdvisor, LaneBooks};

/// What looks wrong with the data of a [`LaneAdvisor`]; see [`LaneAdvisor::warnings`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", tag = "code")
)]
#[non_exhaustive]
pub enum LaneWarning {
    /// Few lanes live long enough for a calibrated play.
    ShortLanes {
        /// The sessions of lanes that are over: the lane was reset, or has gone.
        ended: u64,
        /// Those of them with a calibrated play.
        measured: u64,
    },
    /// Losses of one lane are alike: lanes differ, so that many losses of few lanes say less than their number.
    LanesDiffer {
        /// The intraclass correlation.
        correlation: f64,
        /// By which factor the variance of a mean is larger than for as many independent losses.
        design_effect: f64,
        /// The pairs of losses that were compared.
        pairs: u64,
    },
    /// The delay of a loss depends on its value, so that losses known early are not like the others.
    DelayDependsOnLoss {
        /// The correlation of the logarithm of the delay and the loss.
        correlation: f64,
        /// The number of losses.
        losses: u64,
    },
    /// Explorers play an arm without getting a calibrated loss.
    StarvedRun {
        /// The arm of the policy's run.
        arm: usize,
        /// The plays of explorers since the last calibrated one.
        plays: u64,
    },
    /// The first calibrated losses of visits exceed later ones: the memory bound looks too small.
    MemoryBoundTooSmall {
        /// The bound.
        memory_bound: u64,
        /// The evidence: a number that is at least 20 with a probability of at most 0.05 if the bound is right.
        evidence: f64,
        /// The visits that were compared.
        visits: u64,
    },
}

/// Sessions before lanes are called short, and the share of them that is measured then at most.
const LEAST_SESSIONS: u64 = 100;
const SHORT_SHARE: f64 = 0.1;
/// A correlation is believed from this many pairs on, if it is this many standard errors from 0. There are many looks.
const LEAST_PAIRS: f64 = 200.0;
const STANDARD_ERRORS: f64 = 5.0;
/// The least correlation of delays that matters, and the least design effect.
const LEAST_CORRELATION: f64 = 0.05;
const LEAST_EFFECT: f64 = 2.0;

fn is_significant((n, correlation): (f64, f64)) -> bool {
    n >= LEAST_PAIRS && correlation.abs() * n.sqrt() >= STANDARD_ERRORS
}

impl<P> LaneAdvisor<P> {
    /// What looks wrong with the data. Warnings do not influence decisions; docs/lanes.md says how often they are
    /// wrong.
    pub fn warnings(&self) -> Vec<LaneWarning> {
        self.books.warnings()
    }
}

impl LaneBooks {
    fn warnings(&self) -> Vec<LaneWarning> {
        let watch = &self.watch;
        let mut found = Vec::new();
        if watch.ended >= LEAST_SESSIONS && (watch.ended_measured as f64) < SHORT_SHARE * watch.ended as f64 {
            found.push(LaneWarning::ShortLanes { ended: watch.ended, measured: watch.ended_measured });
        }
        let (pairs, correlation) = watch.neighbours.correlation();
        // The losses of a lane that the mean of its arm has, at most as many as a visit measures.
        let told: u64 = self.taken.iter().map(|taken| taken.plays).sum();
        let per_lane = told as f64 / (self.lanes.len() as f64).max(1.0);
        let design_effect = 1.0 + (per_lane - 1.0).max(0.0) * correlation;
        if is_significant((pairs, correlation)) && correlation > 0.0 && design_effect >= LEAST_EFFECT {
            found.push(LaneWarning::LanesDiffer { correlation, design_effect, pairs: pairs as u64 });
        }
        let (losses, correlation) = watch.delays.correlation();
        if is_significant((losses, correlation)) && correlation.abs() >= LEAST_CORRELATION {
            found.push(LaneWarning::DelayDependsOnLoss { correlation, losses: losses as u64 });
        }
        if let Some(open) = self.run.as_ref().filter(|_| self.is_starved()) {
            found.push(LaneWarning::StarvedRun { arm: open.run.arm, plays: self.plan.without_loss });
        }
        if watch.peak >= ALARM {
            let (evidence, visits) = (watch.peak, watch.visits);
            let memory_bound = self.settings.memory_bound;
            found.push(LaneWarning::MemoryBoundTooSmall { memory_bound, evidence, visits });
        }
        found
    }
}

/// The sentence that people read.
impl std::fmt::Display for LaneWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::ShortLanes { ended, measured } => write!(
                f,
                "lanes are too short: {measured} of {ended} sessions had a calibrated play; choose a lane that lives \
                 longer, or a smaller memory bound if the arms allow it"
            ),
            Self::LanesDiffer { correlation, design_effect, .. } => write!(
                f,
                "lanes differ: losses of one lane have a correlation of {correlation:.2}, so the variance of a mean is \
                 {design_effect:.1} times that of independent losses"
            ),
            Self::DelayDependsOnLoss { correlation, .. } => write!(
                f,
                "the delay of a loss depends on the loss (correlation {correlation:.2}): do not let late losses expire \
                 as lost"
            ),
            Self::StarvedRun { arm, plays } => {
                write!(f, "arm {arm} is explored without a result: {plays} plays since its last calibrated loss")
            }
            Self::MemoryBoundTooSmall { memory_bound, evidence, visits } => write!(
                f,
                "the memory bound {memory_bound} looks too small: losses at the {memory_bound}th play in a row exceed \
                 those at {LATER} times as many (evidence {evidence:.0}, {visits} visits)"
            ),
        }
    }
}
