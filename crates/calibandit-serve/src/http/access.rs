//! What every request goes through: the host, the token, the role, the time limit, and headers for browsers.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::ServiceState;
use crate::problem::{ProblemKind, ServiceProblem};
use crate::tokens::Role;

/// A request is answered within this time, or refused. Streams may take longer once they have begun.
const TIME_LIMIT: Duration = Duration::from_secs(30);

pub(super) async fn check(State(state): State<Arc<ServiceState>>, request: Request, next: Next) -> Response {
    let mut response = match admit(&state, &request) {
        Ok(()) => match tokio::time::timeout(TIME_LIMIT, next.run(request)).await {
            Ok(response) => response,
            Err(_) => {
                let detail = "the request took longer than 30 s; whether it counts is not known: repeat it";
                ServiceProblem::new(ProblemKind::Timeout, detail).into_response()
            }
        },
        Err(problem) => problem.into_response(),
    };
    let headers = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

fn admit(state: &ServiceState, request: &Request) -> Result<(), ServiceProblem> {
    let path = request.uri().path();
    if path == "/healthz" || path == "/readyz" {
        return Ok(());
    }
    let needed = needed_role(request.method(), path);
    if state.loopback && !state.tokens.has_valid() {
        // A page of another site must not reach this service through a name that leads to this machine.
        return check_host(state, request.headers());
    }
    if needed == Role::Read && state.public_read {
        return Ok(());
    }
    let unauthorized = |detail| Err(ServiceProblem::new(ProblemKind::Unauthorized, detail));
    let Some(header) = request.headers().get(AUTHORIZATION) else {
        return unauthorized("send a token: `Authorization: Bearer cban_…`");
    };
    let token = header.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
    match token.and_then(|token| state.tokens.role(token.trim())) {
        None => unauthorized("the token is not valid, or was revoked"),
        Some(role) if role >= needed => Ok(()),
        Some(role) => {
            let detail = format!("this needs the role {needed}, and the token has the role {role}");
            Err(ServiceProblem::new(ProblemKind::Forbidden, detail).with("needed", needed.to_string()))
        }
    }
}

/// The role that a request needs.
pub(super) fn needed_role(method: &Method, path: &str) -> Role {
    if path.starts_with("/v1/tokens") {
        return Role::Admin;
    }
    let plays = ["/decisions", "/outcome", "/step", "/plays", "/reset"];
    match *method {
        Method::GET | Method::HEAD => Role::Read,
        Method::POST | Method::PUT if plays.iter().any(|end| path.ends_with(end)) && path.matches('/').count() > 3 => {
            Role::Play
        }
        _ => Role::Admin,
    }
}

fn check_host(state: &ServiceState, headers: &HeaderMap) -> Result<(), ServiceProblem> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let known = ["localhost", "127.0.0.1", "[::1]"];
    if known.iter().any(|known| name.eq_ignore_ascii_case(known)) || state.hosts.iter().any(|known| known == name) {
        return Ok(());
    }
    let detail = format!(
        "the request is addressed to `{name}`, and without tokens only localhost is served: make a token, or start \
         with `--host {name}`"
    );
    Err(ServiceProblem::new(ProblemKind::WrongHost, detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::ROUTES;

    #[test]
    fn every_route_needs_the_role_that_the_table_says() {
        for (method, path, role) in ROUTES.iter().filter(|(_, _, role)| *role != "none") {
            let path = path.replace("{name}", "step").replace("{id}", "7").replace("{lane}", "u");
            let needed = needed_role(&method.parse().unwrap(), &path);
            assert_eq!(needed.to_string(), *role, "{method} {path}");
        }
    }
}
