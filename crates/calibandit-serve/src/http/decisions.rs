//! Ask, tell, step, plays without advice, resets.

use axum::body::Body;
use axum::extract::{OriginalUri, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::{ServiceState, Shared, body, json as json_response};
use crate::engine::{PartAnswer, PerformedParts};
use crate::experiment::{DecisionView, LiveRequest};
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::{CountedName, RequestKey};
use crate::wire::{AskBody, OutcomeBody, OutcomeView, PlayBody, StepBody, StepView};

async fn perform_one(
    state: &ServiceState,
    name: String,
    request: LiveRequest,
    key: Option<RequestKey>,
) -> Result<PartAnswer, ServiceProblem> {
    let PerformedParts { mut answers, problem } = state.engine.perform(name, vec![request], key).await?;
    match (answers.pop(), problem) {
        (_, Some(problem)) => Err(problem),
        (Some(answer), None) => Ok(answer),
        (None, None) => Err(ServiceProblem::stopping()),
    }
}

fn decision_response(view: &DecisionView) -> Response {
    json_response(if view.redelivered { StatusCode::OK } else { StatusCode::CREATED }, view)
}

/// A number in the address.
pub(super) fn number(text: &str, what: &str) -> Result<u64, ServiceProblem> {
    text.parse()
        .map_err(|_| ServiceProblem::new(ProblemKind::InvalidName, format!("`{text}` is not the number of a {what}")))
}

pub(super) async fn ask(
    State(state): Shared,
    Path(name): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, ServiceProblem> {
    let bytes = body::bytes(request, state.max_body).await?;
    let key = body::request_key(&headers, uri.path(), &bytes)?;
    let ask: AskBody = body::parse(&headers, &bytes)?;
    match perform_one(&state, name, ask.request("")?, key).await? {
        PartAnswer::Decision(view) => Ok(decision_response(&view)),
        _ => Err(ServiceProblem::stopping()),
    }
}

/// How an outcome counts, as callers see it.
fn outcome_view(answer: &PartAnswer) -> Option<OutcomeView> {
    match *answer {
        PartAnswer::Recorded { decision, counted, first, because } => {
            Some(OutcomeView { id: decision, counted, because: because.map(str::to_owned), first })
        }
        PartAnswer::Expired { decision } => {
            let because = Some("the decision had expired".to_owned());
            Some(OutcomeView { id: decision, counted: CountedName::Not, because, first: false })
        }
        _ => None,
    }
}

fn expired(decision: u64) -> ServiceProblem {
    let detail = format!("decision {decision} had expired when its outcome came; it is noted as late and not counted");
    ServiceProblem::new(ProblemKind::Expired, detail).with("decision", decision)
}

pub(super) async fn tell(
    State(state): Shared,
    Path((name, id)): Path<(String, String)>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, ServiceProblem> {
    let id = number(&id, "decision")?;
    let bytes = body::bytes(request, state.max_body).await?;
    let outcome: OutcomeBody = body::parse(&headers, &bytes)?;
    let answer = perform_one(&state, name, outcome.request(id, "")?, None).await?;
    match (&answer, outcome_view(&answer)) {
        (PartAnswer::Expired { decision }, _) => Err(expired(*decision)),
        (_, Some(view)) => Ok(json_response(StatusCode::OK, &view)),
        (_, None) => Err(ServiceProblem::stopping()),
    }
}

pub(super) async fn step(
    State(state): Shared,
    Path(name): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, ServiceProblem> {
    let bytes = body::bytes(request, state.max_body).await?;
    let key = body::request_key(&headers, uri.path(), &bytes)?;
    let step: StepBody = body::parse(&headers, &bytes)?;
    let performed = state.engine.perform(name, step.requests()?, key).await?;
    let outcomes: Vec<OutcomeView> = performed.answers.iter().filter_map(outcome_view).collect();
    match (performed.problem, performed.answers.into_iter().next_back()) {
        (Some(problem), _) => Err(problem.with("outcomes", json!(outcomes))),
        (None, Some(PartAnswer::Decision(decision))) => {
            let status = if decision.redelivered { StatusCode::OK } else { StatusCode::CREATED };
            Ok(json_response(status, &StepView { outcomes, decision }))
        }
        (None, _) => Err(ServiceProblem::stopping()),
    }
}

pub(super) async fn play(
    State(state): Shared,
    Path(name): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, ServiceProblem> {
    let bytes = body::bytes(request, state.max_body).await?;
    let key = body::request_key(&headers, uri.path(), &bytes)?;
    let play: PlayBody = body::parse(&headers, &bytes)?;
    match outcome_view(&perform_one(&state, name, play.request()?, key).await?) {
        Some(view) => Ok(json_response(if view.first { StatusCode::CREATED } else { StatusCode::OK }, &view)),
        None => Err(ServiceProblem::stopping()),
    }
}

pub(super) async fn reset(State(state): Shared, Path(name): Path<String>) -> Result<Response, ServiceProblem> {
    perform_one(&state, name, LiveRequest::Reset { lane: None }, None).await?;
    Ok(json_response(StatusCode::OK, &json!({"reset": true})))
}

pub(super) async fn reset_lane(
    State(state): Shared,
    Path((name, lane)): Path<(String, String)>,
) -> Result<Response, ServiceProblem> {
    perform_one(&state, name, LiveRequest::Reset { lane: Some(lane) }, None).await?;
    Ok(json_response(StatusCode::OK, &json!({"reset": true})))
}
