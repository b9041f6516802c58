//! Problems: why a request is refused, as RFC 9457 writes it.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::spec::InvalidField;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident $status:literal $code:literal,)*) => {
        /// The kinds of problems. docs/service.md describes each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ProblemKind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl ProblemKind {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The last part of the type, the title and the status.
            fn parts(self) -> (&'static str, &'static str, u16) {
                match self {
                    $(Self::$kind => ($code, concat!($($doc,)*).trim_ascii(), $status),)*
                }
            }
        }
    };
}

kinds! {
    /// The body is not valid
    InvalidBody 422 "invalid-body",
    /// The query of the address is not valid
    InvalidQuery 400 "invalid-query",
    /// A name in the address is not valid
    InvalidName 400 "invalid-name",
    /// The body is not JSON
    NotJson 415 "not-json",
    /// The body is too large
    TooLarge 413 "too-large",
    /// There is nothing at this address
    NotFound 404 "not-found",
    /// The method does not fit the address
    MethodNotAllowed 405 "method-not-allowed",
    /// There is no experiment with this name
    UnknownExperiment 404 "unknown-experiment",
    /// There is no arm with this name
    UnknownArm 422 "unknown-arm",
    /// There is no lane with this name
    UnknownLane 404 "unknown-lane",
    /// There is no decision with this number
    UnknownDecision 404 "unknown-decision",
    /// There is no token with this number
    UnknownToken 404 "unknown-token",
    /// The experiment exists already, and is not the same
    NotIdentical 409 "not-identical",
    /// The experiment has one lane, and it is another one
    OneLane 409 "one-lane",
    /// As many plays of the lane are under way as its overlap allows
    LaneBusy 409 "lane-busy",
    /// The policy waits for losses
    Waiting 409 "waiting",
    /// Too many decisions have no outcome
    TooManyOpen 409 "too-many-open",
    /// The decision given in `after` is not the newest, and the one that follows it is over
    StaleAfter 409 "stale-after",
    /// The decision has another outcome already
    AlreadySettled 409 "already-settled",
    /// The decision has expired
    Expired 409 "expired",
    /// The play cannot be taken back any more
    TooLate 409 "too-late",
    /// The loss is outside the declared range
    LossOutOfRange 422 "loss-out-of-range",
    /// The experiment is finished
    ExperimentFinished 409 "experiment-finished",
    /// The idempotency key was used for another request
    KeyReused 422 "key-reused",
    /// The policy asked for a run that cannot be played
    PolicyBadRun 500 "policy-bad-run",
    /// The request has no valid token
    Unauthorized 401 "unauthorized",
    /// The token does not allow this
    Forbidden 403 "forbidden",
    /// The request is addressed to another host
    WrongHost 421 "wrong-host",
    /// Too many requests are waiting
    Overloaded 503 "overloaded",
    /// The service stops
    Stopping 503 "stopping",
    /// The request took too long
    Timeout 503 "timeout",
    /// The history could not be read
    Unreadable 500 "unreadable",
}

impl ProblemKind {
    #[cfg(test)]
    pub(crate) fn code(self) -> &'static str {
        self.parts().0
    }

    fn status(self) -> StatusCode {
        StatusCode::from_u16(self.parts().2).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// The page of the documentation that describes the problems.
const PAGE: &str = "https://github.com/calibandit/calibandit/blob/main/docs/service.md";

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServiceProblem {
    pub(crate) kind: ProblemKind,
    /// What happened, and what to do.
    pub(crate) detail: String,
    /// Further members of the body.
    pub(crate) members: Map<String, Value>,
}

impl ServiceProblem {
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), members: Map::new() }
    }

    /// The same with one more member.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn unknown_experiment(name: &str) -> Self {
        Self::new(ProblemKind::UnknownExperiment, format!("there is no experiment `{name}`: create it with PUT"))
            .with("experiment", name)
    }

    pub(crate) fn stopping() -> Self {
        Self::new(ProblemKind::Stopping, "the service is stopping; whether the request counts is not known: repeat it")
    }

    /// The body of the answer.
    pub(crate) fn to_json(&self) -> Value {
        let (code, title, status) = self.kind.parts();
        let mut body = Map::new();
        body.insert("type".to_owned(), format!("{PAGE}#{code}").into());
        body.insert("title".to_owned(), title.into());
        body.insert("status".to_owned(), status.into());
        body.insert("detail".to_owned(), self.detail.clone().into());
        body.insert("code".to_owned(), code.into());
        body.extend(self.members.clone());
        Value::Object(body)
    }
}

impl From<InvalidField> for ServiceProblem {
    fn from(field: InvalidField) -> Self {
        let error = json!({"pointer": field.pointer, "detail": field.message});
        Self::new(ProblemKind::InvalidBody, field.message).with("errors", vec![error])
    }
}

impl IntoResponse for ServiceProblem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() = self.kind.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self.kind {
            ProblemKind::Overloaded | ProblemKind::Stopping | ProblemKind::Timeout | ProblemKind::Waiting => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            ProblemKind::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_describes_every_kind_of_problem() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md")).unwrap();
        for kind in ProblemKind::ALL {
            let heading = format!("### {}\n", kind.code());
            assert!(page.contains(&heading), "docs/service.md lacks the heading `{}`", heading.trim());
        }
    }

    #[test]
    fn a_problem_has_the_members_of_the_standard_and_its_own() {
        let problem = ServiceProblem::new(ProblemKind::Waiting, "the policy waits").with("outstanding", vec![3, 4]);
        let body = problem.to_json();
        assert_eq!((&body["status"], &body["title"]), (&json!(409), &json!("The policy waits for losses")));
        assert_eq!((&body["outstanding"], &body["detail"]), (&json!([3, 4]), &json!("the policy waits")));
        assert!(body["type"].as_str().unwrap().ends_with("docs/service.md#waiting"));
    }
}
