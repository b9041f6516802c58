//! The log of an experiment as a stream: lines of JSON, or server-sent events that go on until somebody hangs up.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{ServiceState, Shared, read_history};
use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::StoredRecord;
use crate::server::until;
use crate::store::LONGEST_PAGE;
use crate::times::timestamp;

/// How often a stream without events shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    after: Option<u64>,
}

/// A body whose pieces come from a channel.
struct PieceStream(mpsc::Receiver<Result<Bytes, std::io::Error>>);

impl Stream for PieceStream {
    type Item = Result<Bytes, std::io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

fn event(record: &StoredRecord) -> Value {
    let body: Value = serde_json::from_str(&record.body).unwrap_or(Value::Null);
    json!({"seq": record.seq, "at": timestamp(record.at), "version": record.version, "kind": record.kind, "body": body})
}

pub(super) async fn events(
    State(state): Shared,
    Path(name): Path<String>,
    query: Result<Query<EventsQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ServiceProblem> {
    let Query(query) =
        query.map_err(|rejection| ServiceProblem::new(ProblemKind::InvalidQuery, rejection.body_text()))?;
    let follow = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let follow = follow.contains("text/event-stream");
    // A browser that reconnects says what it has seen.
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(|id| id.parse().ok());
    let from = seen.or(query.after).map_or(0, |after: u64| after.saturating_add(1));
    let (experiment, end) = state.engine.look_at(name, |experiment, id| (id, experiment.seq())).await?;
    let (sender, pieces) = mpsc::channel(4);
    let writer = EventWriter { state, experiment, follow, sender };
    tokio::spawn(writer.write(from, end));
    let mut response = Response::new(Body::from_stream(PieceStream(pieces)));
    let kind = if follow { "text/event-stream" } else { "application/x-ndjson" };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

struct EventWriter {
    state: Arc<ServiceState>,
    experiment: i64,
    follow: bool,
    sender: mpsc::Sender<Result<Bytes, std::io::Error>>,
}

impl EventWriter {
    /// Sends records from `from` on: up to `end`, or until the reader goes away or the service stops.
    async fn write(self, mut from: u64, end: u64) {
        let (mut commits, mut stopping) = (self.state.engine.commits(), self.state.stopping.clone());
        loop {
            commits.borrow_and_update();
            let (experiment, first) = (self.experiment, from);
            let page = read_history(&self.state, move |history| history.records(experiment, first, LONGEST_PAGE)).await;
            let Ok(mut page) = page else { return };
            if !self.follow {
                page.retain(|record| record.seq < end);
            }
            if let Some(last) = page.last() {
                from = last.seq + 1;
                let text: String = page.iter().map(|record| self.text(record)).collect();
                tokio::select! {
                    sent = self.sender.send(Ok(Bytes::from(text))) => if sent.is_err() { return },
                    () = until(&mut stopping) => return,
                }
                continue;
            }
            if !self.follow {
                return;
            }
            tokio::select! {
                changed = commits.changed() => if changed.is_err() { return },
                () = self.sender.closed() => return,
                () = until(&mut stopping) => return,
                () = tokio::time::sleep(HEARTBEAT) => {
                    if self.sender.send(Ok(Bytes::from_static(b": alive\n\n"))).await.is_err() { return }
                }
            }
        }
    }

    fn text(&self, record: &StoredRecord) -> String {
        let event = event(record);
        match self.follow {
            true => format!("id: {}\nevent: {}\ndata: {event}\n\n", record.seq, record.kind),
            false => format!("{event}\n"),
        }
    }
}
