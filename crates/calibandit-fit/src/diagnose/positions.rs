//! From a log to losses by position in a run, for fits of warm-up curves.

use super::Starts;
use super::log::Log;
use super::reach::{LEAST_PLAYS, reach};
use super::runs::{ArmRun, runs_by_arm};
use crate::curve::Observation;
use crate::losses::ArmLosses;

impl Log {
    /// The losses of each arm by position in its runs, of runs that began after a rest. Plays without a loss are left
    /// out, but counted.
    ///
    /// A rest is at least `memory` plays of other arms. Without a memory, it is the longest one for which the log has
    /// runs to compare: enough plays before and after that position. If arms remember longer, the first losses of a run
    /// are not those of a rested arm.
    ///
    /// ```
    /// use calibandit_fit::diagnose::{LogBuilder, Starts};
    ///
    /// let mut log = LogBuilder::new();
    /// for (arm, loss) in [("a", 0.9), ("a", 0.5), ("b", 0.4), ("a", 0.6), ("b", 0.3), ("b", 0.2), ("a", 0.8)] {
    ///     log.push(arm, Some(loss), None, None)?;
    /// }
    /// let arms = log.build()?.losses_by_position(Starts::Cold, Some(2));
    /// // The second run of `a` began after one play of another arm, which is no rest for a memory of 2.
    /// let of_a: Vec<(u32, f64)> = arms[0].observations.iter().map(|seen| (seen.position, seen.loss)).collect();
    /// assert_eq!(of_a, [(1, 0.9), (2, 0.5), (1, 0.8)]);
    /// # Ok::<(), calibandit_fit::diagnose::LogError>(())
    /// ```
    pub fn losses_by_position(&self, starts: Starts, memory: Option<u32>) -> Vec<ArmLosses> {
        let runs = runs_by_arm(self, starts).runs;
        let observations = |runs: &[ArmRun]| {
            let rest = memory.unwrap_or_else(|| reach(runs, LEAST_PLAYS, None)).max(1);
            let rested = runs.iter().filter(|run| run.rest >= rest);
            let losses = rested.flat_map(|run| (1..).zip(&self.losses[run.range()]));
            let present = losses.filter(|(_, loss)| !loss.is_nan());
            present.map(|(position, &loss)| Observation { position, loss }).collect()
        };
        let named = self.names.iter().zip(&runs);
        named.map(|(name, runs)| ArmLosses { name: name.clone(), observations: observations(runs) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::LogBuilder;
    use super::*;

    fn log(plays: &[(&str, Option<f64>, Option<i64>)]) -> Log {
        let mut builder = LogBuilder::new();
        for &(arm, loss, order) in plays {
            builder.push(arm, loss, order, None).unwrap();
        }
        builder.build().unwrap()
    }

    fn positions(arm: &ArmLosses) -> Vec<u32> {
        arm.observations.iter().map(|seen| seen.position).collect()
    }

    #[test]
    fn a_jump_ends_a_run_and_what_follows_is_not_rested() {
        let plays =
            [("a", Some(0.1), Some(1)), ("a", None, Some(2)), ("a", Some(0.3), Some(3)), ("a", Some(0.4), Some(9))];
        let arms = log(&plays).losses_by_position(Starts::Cold, None);
        assert_eq!(
            positions(&arms[0]),
            [1, 3],
            "the play without a loss has a position; the one after the jump has none"
        );
        assert!(log(&plays).losses_by_position(Starts::Unknown, None)[0].observations.is_empty());
    }

    #[test]
    fn without_a_memory_the_rest_is_as_long_as_the_runs_allow() {
        // Blocks of 20 in turn, and now and then one play of the other arm in between.
        let mut plays = Vec::new();
        for block in 0..60 {
            let (arm, other) = if block % 2 == 0 { ("a", "b") } else { ("b", "a") };
            plays.extend([(arm, Some(0.5), None); 20]);
            if block % 3 == 0 {
                plays.push((other, Some(0.5), None));
                plays.push((arm, Some(0.9), None));
            }
        }
        let arms = log(&plays).losses_by_position(Starts::Cold, None);
        assert!(arms.iter().all(|arm| arm.observations.iter().all(|seen| seen.loss == 0.5)), "no run after one play");
        assert_eq!(positions(&arms[0]).iter().max(), Some(&20));
        let all = log(&plays).losses_by_position(Starts::Cold, Some(1));
        assert!(all[0].observations.iter().any(|seen| seen.loss == 0.9));
    }
}
