//! Runs: plays of one arm in a row, with the rest of the arm before them.

use super::Starts;
use super::log::Log;

/// A rest that is longer than any memory.
pub(super) const RESTED: u32 = u32::MAX;

/// Plays of one arm in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArmRun {
    /// The first play, as a place in the log.
    pub(super) start: u32,
    /// The number of plays.
    pub(super) plays: u32,
    /// The number of plays of other arms since the last play of this arm: a lower bound if it is not known, [`RESTED`]
    /// if the arm was not played before.
    pub(super) rest: u32,
    /// The unit.
    pub(super) unit: u32,
}

impl ArmRun {
    /// The places of its plays in the log.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.plays as usize
    }
}

/// The runs of each arm, in the order of the log, and how many of all runs begin with their unit.
pub(super) struct RunsByArm {
    pub(super) runs: Vec<Vec<ArmRun>>,
    /// Plays in runs that begin with their unit.
    pub(super) plays_from_start: u64,
}

pub(super) fn runs_by_arm(log: &Log, starts: Starts) -> RunsByArm {
    let mut runs: Vec<Vec<ArmRun>> = vec![Vec::new(); log.names.len()];
    // The end of the last run of each arm, and the segment that it is in.
    let mut last: Vec<(usize, usize)> = vec![(0, usize::MAX); log.names.len()];
    let mut plays_from_start = 0;
    for (index, segment) in log.segments.iter().enumerate() {
        let begin = segment.plays.start;
        let mut start = begin;
        while start < segment.plays.end {
            let arm = log.arms[start] as usize;
            let same = log.arms[start..segment.plays.end].iter().take_while(|&&played| played as usize == arm).count();
            let rest = match last[arm] {
                (end, seen_in) if seen_in == index => (start - end) as u32,
                _ if segment.begins_unit && starts == Starts::Cold => RESTED,
                _ => (start - begin) as u32,
            };
            runs[arm].push(ArmRun { start: start as u32, plays: same as u32, rest, unit: segment.unit });
            if segment.begins_unit && start == begin {
                plays_from_start += same as u64;
            }
            start += same;
            last[arm] = (start, index);
        }
    }
    RunsByArm { runs, plays_from_start }
}

#[cfg(test)]
mod tests {
    use super::super::log::LogBuilder;
    use super::*;

    #[test]
    fn runs_and_rests_by_hand() {
        let mut builder = LogBuilder::new();
        // The order jumps from 7 to 9.
        for (order, arm) in [1, 2, 3, 4, 5, 6, 7, 9, 10].into_iter().zip("aabaaccac".chars()) {
            builder.push(&arm.to_string(), Some(0.0), Some(order), None).unwrap();
        }
        let log = builder.build().unwrap();
        let shown = |starts| -> Vec<Vec<(u32, u32, u32)>> {
            let all = runs_by_arm(&log, starts);
            all.runs.iter().map(|runs| runs.iter().map(|r| (r.start, r.plays, r.rest)).collect()).collect()
        };
        let a = vec![(0, 2, RESTED), (3, 2, 1), (7, 1, 0)];
        assert_eq!(shown(Starts::Cold), [a, vec![(2, 1, RESTED)], vec![(5, 2, RESTED), (8, 1, 1)]]);
        let a = vec![(0, 2, 0), (3, 2, 1), (7, 1, 0)];
        assert_eq!(shown(Starts::Unknown), [a, vec![(2, 1, 2)], vec![(5, 2, 5), (8, 1, 1)]]);
        assert_eq!(runs_by_arm(&log, Starts::Cold).plays_from_start, 2);
    }
}
