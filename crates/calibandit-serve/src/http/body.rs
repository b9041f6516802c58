//! Bodies, queries and headers of requests, read into valid values.

use axum::body::{Body, to_bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::problem::{ProblemKind, ServiceProblem};
use crate::record::RequestKey;
use crate::spec::InvalidField;

/// The longest Idempotency-Key, in bytes.
const LONGEST_KEY: usize = 200;

/// The body of a request as bytes.
pub(super) async fn bytes(body: Body, most: usize) -> Result<Vec<u8>, ServiceProblem> {
    match to_bytes(body, most).await {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(_) => {
            let detail = format!("the body is larger than {most} bytes, or did not arrive whole");
            Err(ServiceProblem::new(ProblemKind::TooLarge, detail).with("most", most))
        }
    }
}

/// The value of a JSON body. An empty body stands for `{}` where that is valid.
pub(super) fn parse<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, ServiceProblem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("application/json");
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_json = kind.eq_ignore_ascii_case("application/json") || kind.to_ascii_lowercase().ends_with("+json");
    if !is_json {
        let detail = format!("the body is sent as `{kind}`: send JSON with `Content-Type: application/json`");
        return Err(ServiceProblem::new(ProblemKind::NotJson, detail));
    }
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let pointer = pointer(error.path());
        InvalidField::new(pointer, error.into_inner().to_string())
    })?;
    deserializer.end().map_err(|error| InvalidField::new("", error.to_string()))?;
    Ok(value)
}

/// A path in a JSON document as a JSON pointer (RFC 6901).
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segments = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    segments.collect()
}

/// The Idempotency-Key of a request, with a digest of what is asked.
pub(super) fn request_key(headers: &HeaderMap, path: &str, bytes: &[u8]) -> Result<Option<RequestKey>, ServiceProblem> {
    let Some(header) = headers.get("idempotency-key") else { return Ok(None) };
    let key = header.to_str().ok().filter(|key| (1..=LONGEST_KEY).contains(&key.len())).ok_or_else(|| {
        let detail = format!("an Idempotency-Key has 1 to {LONGEST_KEY} visible ASCII characters");
        ServiceProblem::new(ProblemKind::InvalidQuery, detail)
    })?;
    let mut hash = Sha256::new();
    hash.update(path.as_bytes());
    hash.update([0]);
    hash.update(bytes);
    let request = hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(RequestKey { key: key.to_owned(), request }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::LiveExperimentSpec;

    #[test]
    fn mistakes_are_named_with_their_place() {
        let parse = |text: &str| parse::<LiveExperimentSpec>(&HeaderMap::new(), text.as_bytes()).unwrap_err();
        let pointer = |text: &str| parse(text).members["errors"][0]["pointer"].as_str().unwrap().to_owned();
        assert_eq!(pointer(r#"{"arms": ["a", 7]}"#), "/arms/1");
        assert_eq!(pointer(r#"{"arms": ["a"], "lanes": {"overlap": "x"}}"#), "/lanes/overlap");
        assert_eq!(pointer(r#"{"lanes": {"over/~lap": 1}}"#), "/lanes/over~1~0lap");
        assert_eq!(pointer("{} {}"), "");
        assert!(parse("{").detail.contains("EOF"), "{}", parse("{").detail);
    }

    #[test]
    fn other_media_types_are_refused() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, "application/x-www-form-urlencoded".parse().unwrap());
        let problem = parse::<serde_json::Value>(&headers, b"{}").unwrap_err();
        assert_eq!(problem.kind, ProblemKind::NotJson);
        headers.insert(CONTENT_TYPE, "application/json; charset=utf-8".parse().unwrap());
        assert!(parse::<serde_json::Value>(&headers, b"{}").is_ok());
    }
}
