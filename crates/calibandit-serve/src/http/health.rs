//! Health and metrics.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::{Shared, json as json_response};
use crate::experiment::OutcomeCounts;
use crate::metrics::{head, line};
use crate::problem::ServiceProblem;
use crate::times::machine_time;

/// The process answers.
pub(super) async fn alive() -> Response {
    json_response(StatusCode::OK, &json!({"alive": true}))
}

/// The core loop answers, so it has recovered and its last commit did not fail.
pub(super) async fn ready(State(state): Shared) -> Result<Response, ServiceProblem> {
    let experiments = state.engine.look(|table| table.iter().count()).await?;
    Ok(json_response(StatusCode::OK, &json!({"ready": true, "experiments": experiments})))
}

/// What one experiment counts.
struct ExperimentCounts {
    name: String,
    phases: [(&'static str, u64); 3],
    outcomes: OutcomeCounts,
    outstanding: usize,
    oldest: Option<u64>,
    lanes: usize,
    runs: u64,
}

pub(super) async fn metrics(State(state): Shared) -> Result<Response, ServiceProblem> {
    let counts = state
        .engine
        .look(|table| {
            let one = |experiment: &crate::experiment::LiveExperiment| {
                let view = experiment.state_view();
                let sum = |phase: fn(&crate::experiment::PhasePlays) -> u64| {
                    view.arms.iter().map(|arm| phase(&arm.decisions)).sum::<u64>()
                };
                ExperimentCounts {
                    phases: [
                        ("warm-up", sum(|plays| plays.warm_up)),
                        ("measured", sum(|plays| plays.measured)),
                        ("filler", sum(|plays| plays.filler)),
                    ],
                    outcomes: view.counts,
                    outstanding: view.outstanding,
                    oldest: experiment.outstanding().1,
                    lanes: view.lanes,
                    runs: view.open_run.as_ref().map_or(0, |run| run.run),
                    name: view.name,
                }
            };
            table.iter().map(|(_, experiment)| one(experiment)).collect::<Vec<_>>()
        })
        .await?;
    let mut text = String::new();
    state.engine.metrics.write(&mut text);
    write_counts(&mut text, &counts);
    head(&mut text, "calibandit_database_bytes", "gauge", "Size of the database file.");
    line(&mut text, "calibandit_database_bytes", "", state.history.bytes() as f64);
    head(&mut text, "calibandit_build_info", "gauge", "The version of the program.");
    line(&mut text, "calibandit_build_info", concat!("version=\"", env!("CARGO_PKG_VERSION"), "\""), 1.0);
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4"));
    Ok(response)
}

fn write_counts(text: &mut String, all: &[ExperimentCounts]) {
    head(text, "calibandit_asks_total", "counter", "Decisions by phase.");
    for counts in all {
        for (phase, count) in counts.phases {
            let labels = format!("experiment=\"{}\",phase=\"{phase}\"", counts.name);
            line(text, "calibandit_asks_total", &labels, count as f64);
        }
    }
    type Value = fn(&ExperimentCounts) -> f64;
    let counters: [(&str, &str, Value); 8] = [
        ("calibandit_outcomes_told_total", "Losses told.", |counts| counts.outcomes.told as f64),
        ("calibandit_expired_total", "Decisions that expired.", |counts| counts.outcomes.expired as f64),
        ("calibandit_late_total", "Outcomes after the expiry.", |counts| counts.outcomes.late as f64),
        ("calibandit_overridden_total", "Plays of another arm.", |counts| counts.outcomes.overridden as f64),
        ("calibandit_not_played_total", "Plays not made.", |counts| counts.outcomes.not_played as f64),
        ("calibandit_resets_total", "Resets by request.", |counts| counts.outcomes.resets as f64),
        ("calibandit_idle_resets_total", "Resets after an idle time.", |counts| counts.outcomes.idle_resets as f64),
        ("calibandit_runs_closed_total", "Runs of the policy that are complete.", |counts| counts.runs as f64),
    ];
    let now = machine_time();
    for (name, help, value) in counters {
        head(text, name, "counter", help);
        all.iter().for_each(|counts| line(text, name, &format!("experiment=\"{}\"", counts.name), value(counts)));
    }
    head(text, "calibandit_outstanding", "gauge", "Decisions without an outcome.");
    for counts in all {
        let labels = format!("experiment=\"{}\"", counts.name);
        line(text, "calibandit_outstanding", &labels, counts.outstanding as f64);
    }
    head(text, "calibandit_oldest_outstanding_seconds", "gauge", "Age of the oldest decision without an outcome.");
    for counts in all {
        let age = counts.oldest.map_or(0.0, |at| now.saturating_sub(at) as f64 / 1000.0);
        line(text, "calibandit_oldest_outstanding_seconds", &format!("experiment=\"{}\"", counts.name), age);
    }
    head(text, "calibandit_lanes", "gauge", "Lanes that were ever asked.");
    for counts in all {
        line(text, "calibandit_lanes", &format!("experiment=\"{}\"", counts.name), counts.lanes as f64);
    }
}
