//! Refusals of the state machine in the words of the service: names instead of numbers.

use calibandit::lanes::{LaneError, PlayOutcome};
use serde_json::{Value, json};

use super::LaneNames;
use crate::problem::{ProblemKind, ServiceProblem};
use crate::spec::LiveExperimentSpec;

pub(super) fn problem(error: LaneError, lane: &str, lanes: &LaneNames, spec: &LiveExperimentSpec) -> ServiceProblem {
    let text = error.to_string();
    match error {
        LaneError::OneLane { only, .. } => {
            let only = lanes.name(only);
            let detail = format!(
                "the experiment has one lane, `{only}`, but lane `{lane}` was given: create an experiment with \
                 \"lanes\": {{\"mode\": \"many\"}} for more"
            );
            ServiceProblem::new(ProblemKind::OneLane, detail).with("lane", lane).with("only", only)
        }
        LaneError::Busy { overlap, open, .. } => {
            let oldest = open.first().copied().unwrap_or_default();
            let detail = format!(
                "lane `{lane}` may have {overlap} plays under way at once, and decision {oldest} is not finished: \
                 report its outcome"
            );
            ServiceProblem::new(ProblemKind::LaneBusy, detail).with("lane", lane).with("open", open)
        }
        LaneError::Waiting { outstanding } => {
            ServiceProblem::new(ProblemKind::Waiting, text).with("outstanding", outstanding)
        }
        LaneError::TooManyOpen { open } => ServiceProblem::new(ProblemKind::TooManyOpen, text).with("open", open),
        LaneError::StaleAfter { newest, .. } => {
            let newest_text = newest.map_or("none".to_owned(), |newest| newest.to_string());
            let detail = format!(
                "lane `{lane}` has no open decision that follows the one given in `after`; its newest decision is \
                 {newest_text}: ask again with that one"
            );
            ServiceProblem::new(ProblemKind::StaleAfter, detail).with("lane", lane).with("newest", newest)
        }
        LaneError::NoneAvailable { .. } => {
            let detail = "`available` is empty: name at least one arm, or leave it out";
            ServiceProblem::new(ProblemKind::UnknownArm, detail)
        }
        LaneError::Arm { .. } => ServiceProblem::new(ProblemKind::UnknownArm, text),
        LaneError::Unknown { decision, made } => {
            ServiceProblem::new(ProblemKind::UnknownDecision, text).with("decision", decision).with("made", made)
        }
        LaneError::AlreadySettled { decision, first } => already_settled(decision, first, spec),
        LaneError::TooLate { decision, used } => {
            ServiceProblem::new(ProblemKind::TooLate, text).with("decision", decision).with("used", used)
        }
        LaneError::Loss { loss, range } => ServiceProblem::new(ProblemKind::LossOutOfRange, text)
            .with("loss", loss)
            .with("range", json!({"low": range.low(), "high": range.high()})),
        _ => ServiceProblem::new(ProblemKind::PolicyBadRun, text),
    }
}

/// Another outcome than the first one.
pub(super) fn already_settled(decision: u64, first: Option<PlayOutcome>, spec: &LiveExperimentSpec) -> ServiceProblem {
    let recorded = first.map(|first| outcome_json(&first, spec));
    let words = recorded.as_ref().map_or(String::new(), |recorded| format!(" ({recorded})"));
    let detail = format!("decision {decision} has an outcome already{words}; the new one was not recorded");
    ServiceProblem::new(ProblemKind::AlreadySettled, detail).with("decision", decision).with("recorded", recorded)
}

/// An outcome as a request would state it.
fn outcome_json(outcome: &PlayOutcome, spec: &LiveExperimentSpec) -> Value {
    match *outcome {
        PlayOutcome::Loss(loss) => json!({"loss": loss}),
        PlayOutcome::Done => json!({"done": true}),
        PlayOutcome::Lost => json!({"lost": true}),
        PlayOutcome::NotPlayed => json!({"not_played": true}),
        PlayOutcome::Overridden { arm, loss: None } => json!({"played": spec.arms.get(arm)}),
        PlayOutcome::Overridden { arm, loss } => json!({"played": spec.arms.get(arm), "loss": loss}),
        _ => Value::Null,
    }
}
