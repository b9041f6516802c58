//! Lanes: the lemma of the overlap, the table of outcomes, calibration judged by a game that knows its windows, and
//! equality with `Advisor`.

#![allow(clippy::unwrap_used)] // a test may panic

mod judge;
mod lemma;
mod live;
mod live_law;
mod one_lane;
mod outcomes;
mod snapshots;
mod warnings;

use calibandit::lanes::{ExpiryRule, LaneAdvisor, LaneSettings};
use calibandit::{Feedback, LossRange, Policy, Run, StreamKey};

/// Asks for the given runs one after the other, the last one again and again, and keeps what it was told.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct FixedRuns {
    runs: Vec<Run>,
    told: Vec<Feedback>,
    leader: usize,
}

impl Policy for FixedRuns {
    fn next_run(&mut self) -> Run {
        self.runs[self.told.len().min(self.runs.len() - 1)]
    }
    fn observe(&mut self, _: Run, feedback: Feedback) {
        self.told.push(feedback);
    }
    fn recommend(&self) -> usize {
        self.leader
    }
}

fn run(arm: usize, record: u64) -> Run {
    Run { arm, burn_in: 0, record }
}

/// An advisor over these runs, with three arms.
fn advisor(runs: Vec<Run>, settings: LaneSettings) -> LaneAdvisor<FixedRuns> {
    let policy = FixedRuns { runs, told: Vec::new(), leader: 0 };
    LaneAdvisor::new(policy, 3, LossRange::default(), settings, StreamKey::new(1, "lanes", 0).lanes()).unwrap()
}

fn settings() -> LaneSettings {
    LaneSettings::new(ExpiryRule::Never)
}
