//! Experiments that do not learn: paused ones for a while, finished ones for ever.

use calibandit::lanes::{AskAfter, LaneCommand};

use super::{LiveAnswer, LiveExperiment};
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::{GivenDecision, LiveStatus, PhaseName};

/// The latest decision of a lane that was given out while the experiment did not learn.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnlearntPlay {
    /// The newest decision of the lane before it.
    after: Option<u64>,
    asked_at: u64,
    given: GivenDecision,
}

impl LiveExperiment {
    /// The answer to an ask that was given out while the experiment did not learn, and is asked for again.
    pub(super) fn repeated_unlearnt(&self, lane: &str, after: AskAfter) -> Option<LiveAnswer> {
        let after = match after {
            AskAfter::Decision(id) => Some(id),
            _ => None,
        };
        let play = self.unlearnt_plays.get(lane).filter(|play| play.after == after)?;
        let UnlearntPlay { asked_at, given, .. } = *play;
        Some(LiveAnswer::Decision { lane: lane.to_owned(), asked_at, given, redelivered: true })
    }

    /// An ask while the experiment does not learn: the recommended arm, as a play without advice, so that the window of
    /// the lane stays known.
    pub(super) fn play_leader(
        &mut self,
        lane: &str,
        newest: Option<u64>,
        available: Option<&[usize]>,
        now: u64,
    ) -> Result<LiveAnswer, ServiceProblem> {
        let leader = self.advisor.recommend();
        let arm = match available {
            Some(available) if !available.contains(&leader) => self.best_of(available).unwrap_or(leader),
            _ => leader,
        };
        let number = self.lanes.next_number(lane);
        let LiveAnswer::Recorded { decision: id, .. } =
            self.command(&LaneCommand::Play { lane: number, arm, loss: None }, lane, now)?
        else {
            unreachable!("a play is answered with its number");
        };
        self.lanes.use_name(lane);
        let position = self.advisor.lane(number).map_or(1, |(_, streak, _)| streak);
        let run = self.advisor.runs().saturating_sub(1);
        let (phase, beyond_horizon) = (PhaseName::Filler, self.spec.horizon.is_some_and(|horizon| id >= horizon));
        let given = GivenDecision { id, arm, phase, run, position, expires_at: None, beyond_horizon };
        self.phases[arm].count(phase);
        self.unlearnt_plays.insert(lane.to_owned(), UnlearntPlay { after: newest, asked_at: now, given });
        Ok(LiveAnswer::Decision { lane: lane.to_owned(), asked_at: now, given, redelivered: false })
    }

    /// The arm with the least mean of these.
    fn best_of(&self, arms: &[usize]) -> Option<usize> {
        let measured = self.advisor.measured();
        let mean = |arm: usize| if measured[arm].plays > 0 { measured[arm].mean() } else { f64::INFINITY };
        arms.iter().copied().min_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)))
    }

    pub(super) fn set_status(&mut self, status: LiveStatus, now: u64) -> Result<LiveAnswer, ServiceProblem> {
        if self.status == LiveStatus::Finished && status != LiveStatus::Finished {
            let detail = "a finished experiment answers its winner for ever: create another one";
            return Err(ServiceProblem::new(ProblemKind::ExperimentFinished, detail));
        }
        self.command(&LaneCommand::Tick, "", now)?;
        let (learnt, learns) = (self.status == LiveStatus::Running, status == LiveStatus::Running);
        self.status = status;
        if learnt && !learns {
            self.unlearnt.push((self.advisor.decisions(), None));
        }
        if !learnt
            && learns
            && let Some((_, to)) = self.unlearnt.last_mut()
        {
            *to = Some(self.advisor.decisions());
        }
        Ok(LiveAnswer::Noted)
    }
}
