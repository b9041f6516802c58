//! Requests with names, and the commands with numbers that they become.

use calibandit::lanes::{AskAfter, PlayOutcome};
use serde_json::json;

use super::LiveExperiment;
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::{LiveStatus, LoggedCommand};
use crate::spec::InvalidField;

/// What a caller wants of an experiment. It is well-formed, but its names may not exist.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LiveRequest {
    Ask { lane: String, after: AskAfter, available: Option<Vec<String>> },
    Settle { decision: u64, outcome: ReportedOutcome, played_at: Option<u64> },
    Play { lane: String, arm: String, loss: Option<ReportedLoss> },
    Reset { lane: Option<String> },
    Status(LiveStatus),
}

/// A loss, or a reward to be converted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ReportedLoss {
    Loss(f64),
    Reward(f64),
}

/// What became of a decision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReportedOutcome {
    Loss(ReportedLoss),
    Done,
    Lost,
    NotPlayed,
    Played { arm: String, loss: Option<ReportedLoss> },
}

impl LiveExperiment {
    /// The command that a request stands for.
    pub(crate) fn resolve(&self, request: LiveRequest) -> Result<LoggedCommand, ServiceProblem> {
        match request {
            LiveRequest::Ask { lane, after, available } => {
                let arm = |(index, name): (usize, &String)| self.arm(name, &format!("/available/{index}"));
                let available = available.map(|names| names.iter().enumerate().map(arm).collect()).transpose()?;
                if available.as_ref().is_some_and(Vec::is_empty) {
                    let message = "`available` is empty: name at least one arm, or leave it out";
                    return Err(InvalidField::new("/available", message).into());
                }
                Ok(LoggedCommand::Ask { lane, after, available })
            }
            LiveRequest::Settle { decision, outcome, played_at } => {
                Ok(LoggedCommand::Settle { decision, outcome: self.outcome(outcome)?, played_at })
            }
            LiveRequest::Play { lane, arm, loss } => {
                let (arm, loss) = (self.arm(&arm, "/arm")?, loss.map(|loss| self.loss(loss)).transpose()?);
                Ok(LoggedCommand::Play { lane, arm, loss })
            }
            LiveRequest::Reset { lane } => match lane {
                Some(lane) if self.lanes.number(&lane).is_none() => Err(Self::unknown_lane(&lane)),
                lane => Ok(LoggedCommand::Reset { lane }),
            },
            LiveRequest::Status(status) => Ok(LoggedCommand::Status { status }),
        }
    }

    pub(crate) fn unknown_lane(lane: &str) -> ServiceProblem {
        let detail = format!("lane `{lane}` was never asked");
        ServiceProblem::new(ProblemKind::UnknownLane, detail).with("lane", lane)
    }

    fn outcome(&self, outcome: ReportedOutcome) -> Result<PlayOutcome, ServiceProblem> {
        Ok(match outcome {
            ReportedOutcome::Loss(loss) => PlayOutcome::Loss(self.loss(loss)?),
            ReportedOutcome::Done => PlayOutcome::Done,
            ReportedOutcome::Lost => PlayOutcome::Lost,
            ReportedOutcome::NotPlayed => PlayOutcome::NotPlayed,
            ReportedOutcome::Played { arm, loss } => {
                let loss = loss.map(|loss| self.loss(loss)).transpose()?;
                PlayOutcome::Overridden { arm: self.arm(&arm, "/played")?, loss }
            }
        })
    }

    /// A reward r stands for the loss low + high - r, as in the other interfaces.
    fn loss(&self, reported: ReportedLoss) -> Result<f64, ServiceProblem> {
        let range = self.spec.loss_range;
        let (what, value) = match reported {
            ReportedLoss::Loss(loss) => ("loss", loss),
            ReportedLoss::Reward(reward) => ("reward", reward),
        };
        if !(range.low..=range.high).contains(&value) {
            let (low, high) = (range.low, range.high);
            let detail = format!("the {what} {value} does not lie in [{low}, {high}], the {what}s of this experiment");
            return Err(ServiceProblem::new(ProblemKind::LossOutOfRange, detail)
                .with(what, value)
                .with("range", json!({"low": low, "high": high})));
        }
        Ok(match reported {
            ReportedLoss::Loss(loss) => loss,
            ReportedLoss::Reward(reward) => (range.low + range.high - reward).clamp(range.low, range.high),
        })
    }

    /// The number of an arm.
    fn arm(&self, name: &str, pointer: &str) -> Result<usize, ServiceProblem> {
        self.spec.arms.iter().position(|arm| arm == name).ok_or_else(|| {
            let shown: Vec<&str> = self.spec.arms.iter().take(20).map(String::as_str).collect();
            let more = if self.spec.arms.len() > shown.len() { ", …" } else { "" };
            let detail = format!("there is no arm `{name}`: the arms are {}{more}", shown.join(", "));
            let error = json!({"pointer": pointer, "detail": detail});
            ServiceProblem::new(ProblemKind::UnknownArm, detail).with("arm", name).with("errors", vec![error])
        })
    }
}
