//! Arms that come and go.

use super::{ArmBank, LaneAdvisor, LaneError};
use crate::confidence::LossSequence;
use crate::policy::ArmChangeError;
use crate::{Feedback, Policy};

impl<P: Policy> LaneAdvisor<P> {
    /// Adds an arm of which nothing is known, and returns its number: [`LaneCommand::AddArm`](super::LaneCommand).
    /// Refused if the policy cannot.
    pub fn add_arm(&mut self, now: u64) -> Result<usize, LaneError> {
        self.pass_time(now);
        let arm = self.policy.add_arm()?;
        let books = &mut self.books;
        // A policy outside this crate could number arms otherwise.
        if arm != books.banks.len() {
            return Err(ArmChangeError::Missing { arm, arms: books.banks.len() }.into());
        }
        books.plays.push(0);
        books.taken.push(Feedback::default());
        books.banks.push(ArmBank::default());
        books.closed.add_arm();
        books.presence.add_arm();
        books.losses.push(LossSequence::default());
        books.watch.add_arm();
        if !books.past.is_empty() {
            books.past.push(Feedback::default());
        }
        if books.is_endless() {
            // The policy had decided for one arm.
            books.run = None;
        }
        self.arms_changed();
        Ok(arm)
    }

    /// Retires an arm: it is not advised any more, and its losses are not used:
    /// [`LaneCommand::RetireArm`](super::LaneCommand). Retiring an arm twice changes nothing. Refused if the policy
    /// cannot, or if it is the last arm.
    pub fn retire_arm(&mut self, arm: usize, now: u64) -> Result<(), LaneError> {
        self.pass_time(now);
        self.books.check_arm(arm)?;
        self.policy.retire_arm(arm)?;
        let books = &mut self.books;
        books.retired.insert(arm);
        books.run.take_if(|open| open.run.arm == arm || open.is_endless());
        for decision in books.banks[arm].clear() {
            if let Some(open) = books.open.get_mut(&decision) {
                open.counted = false;
                if let Some(lane) = books.lanes.get_mut(&open.lane) {
                    lane.uncount(decision);
                }
            }
        }
        self.arms_changed();
        Ok(())
    }

    fn arms_changed(&mut self) {
        self.books.leader = self.policy.recommend();
        self.books.plan.renew();
        self.collect();
    }

    /// The arms that are retired, in increasing order.
    pub fn retired_arms(&self) -> impl Iterator<Item = usize> + '_ {
        self.books.retired.iter().copied()
    }
}
