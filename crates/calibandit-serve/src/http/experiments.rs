//! Experiments: create, list, show, pause, finish, delete.

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, body, json as json_response};
use crate::experiment::LiveRequest;
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::LiveStatus;
use crate::spec::{LiveExperimentSpec, check_experiment_name};

fn checked_name(name: String) -> Result<String, ServiceProblem> {
    check_experiment_name(&name).map_err(|detail| ServiceProblem::new(ProblemKind::InvalidName, detail))?;
    Ok(name)
}

pub(super) async fn create(
    State(state): Shared,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, ServiceProblem> {
    let name = checked_name(name)?;
    let bytes = body::bytes(request, state.max_body).await?;
    let spec: LiveExperimentSpec = body::parse(&headers, &bytes)?;
    let (view, created) = state.engine.create(name, spec).await?;
    Ok(json_response(if created { StatusCode::CREATED } else { StatusCode::OK }, &view))
}

pub(super) async fn list(State(state): Shared) -> Result<Response, ServiceProblem> {
    let rows = state
        .engine
        .look(|table| {
            let row = |experiment: &crate::experiment::LiveExperiment| {
                let state = experiment.state_view();
                json!({"name": state.name, "status": state.status, "decisions": state.decisions,
                       "leader": state.leader, "outstanding": state.outstanding})
            };
            table.iter().map(|(_, experiment)| row(experiment)).collect::<Vec<Value>>()
        })
        .await?;
    Ok(json_response(StatusCode::OK, &json!({"experiments": rows})))
}

pub(super) async fn show(State(state): Shared, Path(name): Path<String>) -> Result<Response, ServiceProblem> {
    let view = state.engine.look_at(name, |experiment, _| experiment.experiment_view()).await?;
    Ok(json_response(StatusCode::OK, &view))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteQuery {
    #[serde(default)]
    confirm: String,
}

pub(super) async fn delete(
    State(state): Shared,
    Path(name): Path<String>,
    query: Result<Query<DeleteQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ServiceProblem> {
    let confirm = query.map(|Query(query)| query.confirm).unwrap_or_default();
    if confirm != name {
        let detail = format!("deleting an experiment deletes its history: add `?confirm={name}` to the address");
        return Err(ServiceProblem::new(ProblemKind::InvalidQuery, detail));
    }
    state.engine.delete(name).await?;
    Ok(json_response(StatusCode::OK, &json!({"deleted": true})))
}

async fn set_status(state: &super::ServiceState, name: String, status: LiveStatus) -> Result<Response, ServiceProblem> {
    let performed = state.engine.perform(name.clone(), vec![LiveRequest::Status(status)], None).await?;
    if let Some(problem) = performed.problem {
        return Err(problem);
    }
    let view = state.engine.look_at(name, |experiment, _| experiment.experiment_view()).await?;
    Ok(json_response(StatusCode::OK, &view))
}

pub(super) async fn pause(State(state): Shared, Path(name): Path<String>) -> Result<Response, ServiceProblem> {
    set_status(&state, name, LiveStatus::Paused).await
}

pub(super) async fn resume(State(state): Shared, Path(name): Path<String>) -> Result<Response, ServiceProblem> {
    set_status(&state, name, LiveStatus::Running).await
}

pub(super) async fn finish(State(state): Shared, Path(name): Path<String>) -> Result<Response, ServiceProblem> {
    set_status(&state, name, LiveStatus::Finished).await
}
