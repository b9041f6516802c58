//! Tokens: list, make, revoke.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::{Shared, body, json as json_response};
use crate::problem::{ProblemKind, ServiceProblem};
use crate::spec::{InvalidField, LONGEST_NAME};
use crate::times::machine_time;
use crate::tokens::{new_token, view};
use crate::wire::TokenBody;

pub(super) async fn list(State(state): Shared) -> Response {
    json_response(StatusCode::OK, &json!({"tokens": state.tokens.views()}))
}

pub(super) async fn make(State(state): Shared, headers: HeaderMap, request: Body) -> Result<Response, ServiceProblem> {
    let bytes = body::bytes(request, state.max_body).await?;
    let TokenBody { role, name } = body::parse(&headers, &bytes)?;
    if name.len() > LONGEST_NAME {
        return Err(InvalidField::new("/name", format!("a name has at most {LONGEST_NAME} bytes")).into());
    }
    let made = new_token(state.tokens.next_id(), role, &name, machine_time());
    let (secret, token) =
        made.map_err(|error| ServiceProblem::new(ProblemKind::Stopping, format!("no random numbers: {error}")))?;
    state.engine.add_token(token.clone()).await?;
    state.tokens.add(token.clone());
    Ok(json_response(StatusCode::CREATED, &view(&token, Some(secret))))
}

pub(super) async fn revoke(State(state): Shared, Path(id): Path<String>) -> Result<Response, ServiceProblem> {
    let unknown = || ServiceProblem::new(ProblemKind::UnknownToken, format!("there is no token `{id}`"));
    let number: i64 = id.parse().map_err(|_| unknown())?;
    if !state.tokens.revoke(number, machine_time()) {
        return Err(unknown());
    }
    state.engine.revoke_token(number).await?;
    Ok(json_response(StatusCode::OK, &json!({"revoked": number})))
}
