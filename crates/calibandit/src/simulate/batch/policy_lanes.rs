//! Policies with the weights of EXP3 on several instances at once: the policies in the lanes of vectors, the games one
//! by one.
//!
//! This serves any kind of feedback and runs of any length. Single plays with Bernoulli feedback are in
//! [`game_lanes`](super::game_lanes), where the games are in vectors too.

use super::exp3_lanes::{Exp3Lanes, Exp3Parts};
use super::vector::{Vector, VectorTask, dispatch};
use crate::interrupt::PlayMeter;
use crate::simulate::play_history::WordHistory;
use crate::simulate::table_stepper::TableStepper;
use crate::simulate::{GameStepper, Trajectory};
use crate::{Interrupt, Interrupted};

/// One instance: its policy and its game.
pub(super) struct PolicyLane<'a> {
    pub(super) policy: Exp3Parts<'a>,
    pub(super) game: TableStepper<'a, WordHistory>,
}

/// Simulates `horizon` plays of all instances in runs of `batch` plays. All games have the same number of arms.
pub(super) fn play(
    mut lanes: Vec<PolicyLane<'_>>,
    horizon: u64,
    batch: u64,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Trajectory>, Interrupted> {
    // Groups of eight as long as they are more than half full.
    let in_eights = ((lanes.len() + 3) / 8 * 8).min(lanes.len());
    let (of_eights, of_fours) = lanes.split_at_mut(in_eights);
    let eights = of_eights.chunks_mut(8).map(PolicyGroup::of).collect();
    let fours = of_fours.chunks_mut(4).map(PolicyGroup::of).collect();
    let meter = PlayMeter::new(interrupt);
    dispatch(PolicyRuns { eights, fours, runs: horizon / batch, batch, rest: horizon % batch, meter })?;
    Ok(lanes.into_iter().map(|lane| lane.game.finish(horizon.div_ceil(batch))).collect())
}

/// Up to `L` instances.
struct PolicyGroup<'g, 'a, const L: usize> {
    policies: Exp3Lanes<L>,
    lanes: &'g mut [PolicyLane<'a>],
}

impl<'g, 'a, const L: usize> PolicyGroup<'g, 'a, L> {
    fn of(lanes: &'g mut [PolicyLane<'a>]) -> Self {
        Self { policies: Exp3Lanes::of(lanes.iter().map(|lane| &lane.policy)), lanes }
    }

    #[inline(always)]
    fn play<V: Vector<L>>(
        mut self,
        v: V,
        runs: u64,
        batch: u64,
        rest: u64,
        meter: &mut PlayMeter<'_>,
    ) -> Result<(), Interrupted> {
        let instances = self.lanes.len() as u64;
        for _ in 0..runs {
            let arms = v.words(self.policies.draw(v));
            let mut gains = [0.0; L];
            for ((lane, arm), gain) in self.lanes.iter_mut().zip(arms).zip(&mut gains) {
                let feedback = lane.game.run(arm as usize, 0, batch);
                *gain = 1.0 - feedback.mean().clamp(0.0, 1.0);
            }
            self.policies.learn(v, &arms, |growth| v.mul(v.f(&gains), growth));
            meter.add(instances * batch)?;
        }
        if rest > 0 {
            // The last run is cut by the horizon, and the policies do not learn from it.
            let arms = v.words(self.policies.draw(v));
            for (lane, arm) in self.lanes.iter_mut().zip(arms) {
                lane.game.run(arm as usize, 0, rest);
            }
            meter.add(instances * rest)?;
        }
        for (l, lane) in self.lanes.iter_mut().enumerate() {
            self.policies.write_back(l, &mut lane.policy);
        }
        Ok(())
    }
}

/// All runs of all groups.
struct PolicyRuns<'g, 'a> {
    eights: Vec<PolicyGroup<'g, 'a, 8>>,
    fours: Vec<PolicyGroup<'g, 'a, 4>>,
    runs: u64,
    batch: u64,
    /// The plays that are left after these runs.
    rest: u64,
    meter: PlayMeter<'g>,
}

impl VectorTask for PolicyRuns<'_, '_> {
    type Output = Result<(), Interrupted>;

    #[inline(always)]
    fn run(mut self, eight: impl Vector<8>, four: impl Vector<4>) -> Self::Output {
        for group in self.eights {
            group.play(eight, self.runs, self.batch, self.rest, &mut self.meter)?;
        }
        for group in self.fours {
            group.play(four, self.runs, self.batch, self.rest, &mut self.meter)?;
        }
        Ok(())
    }
}
