//! The routes: from HTTP to the core loop and back.

mod access;
mod body;
mod decisions;
mod events;
mod experiments;
mod health;
mod reads;
mod tokens;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware;
use axum::response::Response;
use axum::routing::{delete, get, post, put};
use serde::Serialize;
use tokio::sync::watch;

use crate::engine::EngineHandle;
use crate::problem::{ProblemKind, ServiceProblem};
use crate::store::{HistoryReader, StoreError};
use crate::tokens::TokenTable;

/// What all requests share.
pub(crate) struct ServiceState {
    pub(crate) engine: EngineHandle,
    pub(crate) history: HistoryReader,
    pub(crate) tokens: TokenTable,
    /// Whether the address can be reached from this machine only.
    pub(crate) loopback: bool,
    pub(crate) public_read: bool,
    pub(crate) hosts: Vec<String>,
    pub(crate) max_body: usize,
    /// True once the service stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

pub(crate) type Shared = axum::extract::State<Arc<ServiceState>>;

/// The address, the methods and the roles of every route, for the tests that compare them with the documentation.
#[cfg(test)]
pub(crate) const ROUTES: &[(&str, &str, &str)] = &[
    ("PUT", "/v1/experiments/{name}", "admin"),
    ("GET", "/v1/experiments", "read"),
    ("GET", "/v1/experiments/{name}", "read"),
    ("DELETE", "/v1/experiments/{name}", "admin"),
    ("POST", "/v1/experiments/{name}/pause", "admin"),
    ("POST", "/v1/experiments/{name}/resume", "admin"),
    ("POST", "/v1/experiments/{name}/finish", "admin"),
    ("POST", "/v1/experiments/{name}/decisions", "play"),
    ("GET", "/v1/experiments/{name}/decisions", "read"),
    ("GET", "/v1/experiments/{name}/decisions/{id}", "read"),
    ("PUT", "/v1/experiments/{name}/decisions/{id}/outcome", "play"),
    ("POST", "/v1/experiments/{name}/step", "play"),
    ("POST", "/v1/experiments/{name}/plays", "play"),
    ("GET", "/v1/experiments/{name}/lanes", "read"),
    ("GET", "/v1/experiments/{name}/lanes/{lane}", "read"),
    ("POST", "/v1/experiments/{name}/lanes/{lane}/reset", "play"),
    ("POST", "/v1/experiments/{name}/reset", "play"),
    ("GET", "/v1/experiments/{name}/state", "read"),
    ("GET", "/v1/experiments/{name}/curves", "read"),
    ("GET", "/v1/experiments/{name}/events", "read"),
    ("GET", "/v1/tokens", "admin"),
    ("POST", "/v1/tokens", "admin"),
    ("DELETE", "/v1/tokens/{id}", "admin"),
    ("GET", "/metrics", "read"),
    ("GET", "/healthz", "none"),
    ("GET", "/readyz", "none"),
];

/// The routes of the service.
pub(crate) fn router(state: Arc<ServiceState>) -> Router {
    let experiment = Router::new()
        .route("/", put(experiments::create).get(experiments::show).delete(experiments::delete))
        .route("/pause", post(experiments::pause))
        .route("/resume", post(experiments::resume))
        .route("/finish", post(experiments::finish))
        .route("/decisions", post(decisions::ask).get(reads::decisions))
        .route("/decisions/{id}", get(reads::decision))
        .route("/decisions/{id}/outcome", put(decisions::tell))
        .route("/step", post(decisions::step))
        .route("/plays", post(decisions::play))
        .route("/lanes", get(reads::lanes))
        .route("/lanes/{lane}", get(reads::lane))
        .route("/lanes/{lane}/reset", post(decisions::reset_lane))
        .route("/reset", post(decisions::reset))
        .route("/state", get(reads::state))
        .route("/curves", get(reads::curves))
        .route("/events", get(events::events));
    Router::new()
        .route("/v1/experiments", get(experiments::list))
        .nest("/v1/experiments/{name}", experiment)
        .route("/v1/tokens", get(tokens::list).post(tokens::make))
        .route("/v1/tokens/{id}", delete(tokens::revoke))
        .route("/metrics", get(health::metrics))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(state.clone(), access::check))
        .with_state(state)
}

async fn not_found() -> ServiceProblem {
    ServiceProblem::new(ProblemKind::NotFound, "there is nothing at this address: docs/service.md lists the addresses")
}

async fn method_not_allowed() -> ServiceProblem {
    ServiceProblem::new(ProblemKind::MethodNotAllowed, "docs/service.md lists the methods of each address")
}

/// An answer with a JSON body.
fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let text = serde_json::to_string(body).expect("answers have only finite numbers and strings as keys");
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Reads history without holding up other requests.
async fn read_history<T: Send + 'static>(
    state: &Arc<ServiceState>,
    read: impl FnOnce(&HistoryReader) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ServiceProblem> {
    let state = state.clone();
    match tokio::task::spawn_blocking(move || read(&state.history)).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(error)) => Err(ServiceProblem::new(ProblemKind::Unreadable, error.to_string())),
        Err(_) => Err(ServiceProblem::stopping()),
    }
}
