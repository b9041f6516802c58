//! Looking: state, curves, lanes, decisions with their history.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::decisions::number;
use super::{Shared, json as json_response, read_history};
use crate::experiment::LiveExperiment;
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::{LoggedAnswer, LoggedCommand, StoredRecord};
use crate::store::LONGEST_PAGE;
use crate::times::timestamp;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    after: Option<String>,
    limit: Option<u64>,
}

impl PageQuery {
    /// The query of a page, with a valid limit.
    fn checked(query: Result<Query<Self>, QueryRejection>) -> Result<(Option<String>, u64), ServiceProblem> {
        let invalid = |detail: String| ServiceProblem::new(ProblemKind::InvalidQuery, detail);
        let Query(Self { after, limit }) = query.map_err(|rejection| invalid(rejection.body_text()))?;
        match limit.unwrap_or(100) {
            limit if (1..=LONGEST_PAGE).contains(&limit) => Ok((after, limit)),
            limit => Err(invalid(format!("`limit` is {limit}, and must be between 1 and {LONGEST_PAGE}"))),
        }
    }
}

pub(super) async fn state(State(state): Shared, Path(name): Path<String>) -> Result<Response, ServiceProblem> {
    let view = state.engine.look_at(name, |experiment, _| experiment.state_view()).await?;
    Ok(json_response(StatusCode::OK, &view))
}

pub(super) async fn curves(State(state): Shared, Path(name): Path<String>) -> Result<Response, ServiceProblem> {
    let curves = |experiment: &LiveExperiment, _| {
        let point = |(arm, position, sum): (&str, u64, calibandit::Feedback)| {
            let (losses, mean) = (sum.plays, sum.mean());
            json!({"arm": arm, "position": position, "losses": losses, "mean": mean})
        };
        experiment.curve_points().map(point).collect::<Vec<Value>>()
    };
    let points = state.engine.look_at(name, curves).await?;
    Ok(json_response(StatusCode::OK, &json!({"points": points})))
}

pub(super) async fn lane(
    State(state): Shared,
    Path((name, lane)): Path<(String, String)>,
) -> Result<Response, ServiceProblem> {
    let look = move |experiment: &LiveExperiment, _| {
        experiment.lane_view(&lane).ok_or_else(|| LiveExperiment::unknown_lane(&lane))
    };
    let view = state.engine.look_at(name, look).await??;
    Ok(json_response(StatusCode::OK, &view))
}

pub(super) async fn lanes(
    State(state): Shared,
    Path(name): Path<String>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, ServiceProblem> {
    let (after, limit) = PageQuery::checked(query)?;
    let look = move |experiment: &LiveExperiment, _| {
        let views = experiment.lane_views(after.as_deref(), limit as usize);
        views.ok_or_else(|| LiveExperiment::unknown_lane(after.as_deref().unwrap_or_default()))
    };
    let views = state.engine.look_at(name, look).await??;
    let next = views.last().filter(|_| views.len() as u64 == limit).map(|last| last.lane.clone());
    Ok(json_response(StatusCode::OK, &json!({"lanes": views, "next": next})))
}

/// The number of an experiment in the store, its arms, and whether each of these decisions is open.
async fn look_up(
    state: &super::ServiceState,
    name: String,
    decisions: Vec<u64>,
) -> Result<(i64, Vec<String>, Vec<bool>), ServiceProblem> {
    let look = move |experiment: &LiveExperiment, id: i64| {
        let open = decisions.iter().map(|&decision| experiment.is_open(decision)).collect();
        (id, experiment.spec.arms.clone(), open)
    };
    state.engine.look_at(name, look).await
}

/// A record that gave out a decision or noted a play, as callers see it.
fn asked_json(record: &StoredRecord, arms: &[String]) -> Option<Value> {
    let body = record.read().ok()?;
    let lane = body.command.lane().unwrap_or_default();
    match (&body.command, &body.answer) {
        (LoggedCommand::Ask { .. }, LoggedAnswer::Decision(given)) => Some(json!({
            "id": given.id, "lane": lane, "arm": arms.get(given.arm), "index": given.arm, "phase": given.phase,
            "run": given.run, "position": given.position, "asked_at": timestamp(record.at),
            "expires_at": given.expires_at.map(timestamp), "advised": true,
        })),
        (LoggedCommand::Play { arm, loss, .. }, LoggedAnswer::Recorded { decision, counted }) => Some(json!({
            "id": decision, "lane": lane, "arm": arms.get(*arm), "index": arm, "asked_at": timestamp(record.at),
            "loss": loss, "counted": counted, "advised": false,
        })),
        _ => None,
    }
}

pub(super) async fn decisions(
    State(state): Shared,
    Path(name): Path<String>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, ServiceProblem> {
    let (after, limit) = PageQuery::checked(query)?;
    let from = after.map_or(Ok(0), |after| number(&after, "decision").map(|after| after.saturating_add(1)))?;
    let (id, arms, _) = look_up(&state, name, Vec::new()).await?;
    let records = read_history(&state, move |history| history.asked(id, from, limit)).await?;
    let next = records.last().filter(|_| records.len() as u64 == limit).and_then(|last| last.decision);
    let rows: Vec<Value> = records.iter().filter_map(|record| asked_json(record, &arms)).collect();
    Ok(json_response(StatusCode::OK, &json!({"decisions": rows, "next": next})))
}

pub(super) async fn decision(
    State(state): Shared,
    Path((name, id)): Path<(String, String)>,
) -> Result<Response, ServiceProblem> {
    let decision = number(&id, "decision")?;
    let (experiment, arms, open) = look_up(&state, name, vec![decision]).await?;
    let records = read_history(&state, move |history| history.decision(experiment, decision)).await?;
    let Some(mut row) = records.iter().find_map(|record| asked_json(record, &arms)) else {
        let detail = format!("decision {decision} was never made");
        return Err(ServiceProblem::new(ProblemKind::UnknownDecision, detail).with("decision", decision));
    };
    let mut status = if open.first() == Some(&true) { "open" } else { "expired" };
    let mut reports = Vec::new();
    for record in &records {
        let Ok(body) = record.read() else { continue };
        let LoggedCommand::Settle { outcome, .. } = body.command else { continue };
        let counted = match body.answer {
            LoggedAnswer::Recorded { counted, .. } => {
                status = "settled";
                json!(counted)
            }
            _ => json!("late"),
        };
        reports.push(json!({"at": timestamp(record.at), "outcome": outcome, "counted": counted}));
    }
    if row["advised"] == json!(false) || row["expires_at"].is_null() && status == "expired" {
        status = "made";
    }
    row["status"] = json!(status);
    row["reports"] = json!(reports);
    row["why"] = json!(why(&row));
    Ok(json_response(StatusCode::OK, &row))
}

/// A sentence about why a decision was made.
fn why(row: &Value) -> String {
    let (arm, position, run) = (row["arm"].as_str().unwrap_or_default(), &row["position"], &row["run"]);
    match row["phase"].as_str() {
        Some("measured") => format!(
            "run {run} of the policy asked for calibrated losses of `{arm}`; this is play {position} of it in a row"
        ),
        Some("warm-up") => format!(
            "`{arm}` is played for the {position}. time in a row in this lane and is not calibrated yet: its loss is \
             not used by the policy"
        ),
        Some("filler") => format!(
            "the policy needs no further play in this lane now; `{arm}` keeps it busy, and its loss is kept for a \
             later run if it is calibrated"
        ),
        _ => "the play was made without advice".to_owned(),
    }
}
