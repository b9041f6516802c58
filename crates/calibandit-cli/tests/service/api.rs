//! What the service answers.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::HttpClient;
use crate::{RunningService, many_lanes};

fn started() -> (TempDir, RunningService) {
    let folder = tempfile::tempdir().unwrap();
    let service = RunningService::start(&folder.path().join("service.db"), &[]);
    (folder, service)
}

fn one_lane() -> Value {
    json!({
        "arms": ["ann", "bob"],
        "policy": {"kind": "calibrated", "memory_bound": 2},
        "feedback": {"on_timeout": "never"},
    })
}

fn code(answer: &crate::client::HttpAnswer) -> String {
    assert!(answer.head.to_ascii_lowercase().contains("content-type: application/problem+json"), "{}", answer.head);
    answer.json()["code"].as_str().unwrap().to_owned()
}

#[test]
fn creating_asking_and_telling_can_be_repeated() {
    let (_folder, service) = started();
    let mut client = service.client();
    let created = client.send("PUT", "/v1/experiments/x", &one_lane());
    assert_eq!((created.status, created.json()["burn_in"].as_u64()), (201, Some(1)));
    assert_eq!(client.send("PUT", "/v1/experiments/x", &one_lane()).status, 200);
    let other = client.send("PUT", "/v1/experiments/x", &many_lanes());
    assert_eq!((other.status, code(&other).as_str()), (409, "not-identical"));

    let ask = |client: &mut HttpClient, after: Value| {
        client.send("POST", "/v1/experiments/x/decisions", &json!({"after": after}))
    };
    let first = ask(&mut client, Value::Null);
    assert_eq!((first.status, first.json()["phase"].as_str()), (201, Some("warm-up")));
    let again = ask(&mut client, Value::Null);
    assert_eq!((again.status, again.json()["redelivered"].as_bool()), (200, Some(true)));
    assert_eq!(again.json()["id"], first.json()["id"]);

    let tell = |client: &mut HttpClient, loss: f64| {
        client.send("PUT", "/v1/experiments/x/decisions/0/outcome", &json!({"loss": loss}))
    };
    let told = tell(&mut client, 0.25).json();
    assert_eq!((&told["counted"], &told["first"]), (&json!("warm-up"), &json!(true)));
    assert_eq!(tell(&mut client, 0.25).json()["first"], json!(false));
    let changed = tell(&mut client, 0.3);
    assert_eq!((changed.status, code(&changed).as_str()), (409, "already-settled"));
    assert_eq!(changed.json()["recorded"], json!({"loss": 0.25}));
    let outside = client.send("PUT", "/v1/experiments/x/decisions/0/outcome", &json!({"loss": 2}));
    assert_eq!((outside.status, code(&outside).as_str()), (422, "loss-out-of-range"));

    let step = json!({"outcomes": [{"id": 0, "loss": 0.25}], "ask": {"after": 0}});
    let second = client.send("POST", "/v1/experiments/x/step", &step).json();
    assert_eq!((&second["decision"]["id"], &second["decision"]["phase"]), (&json!(1), &json!("measured")));
    let reward = client.send("PUT", "/v1/experiments/x/decisions/1/outcome", &json!({"reward": 0.25})).json();
    assert_eq!(reward["counted"], json!("run"));
    assert_eq!(client.get("/v1/experiments/x/curves").json()["points"].as_array().unwrap().len(), 2);
    let shown = client.get("/v1/experiments/x/decisions/1").json();
    assert_eq!((&shown["status"], &shown["reports"][0]["outcome"]), (&json!("settled"), &json!({"loss": 0.75})));
    assert_eq!(client.get("/v1/experiments/x/decisions?limit=1").json()["next"], json!(0));
    let lane = client.get("/v1/experiments/x/lanes/main").json();
    assert_eq!((&lane["streak"], &lane["calibrated"]), (&json!(2), &json!(true)));
    assert!(service.stop());
}

#[test]
fn a_key_makes_asks_and_plays_repeatable() {
    let (_folder, service) = started();
    let mut client = service.client();
    client.send("PUT", "/v1/experiments/x", &many_lanes());
    client.headers.push(("Idempotency-Key".into(), "k1".into()));
    let ask = |client: &mut HttpClient, lane: &str| {
        client.send("POST", "/v1/experiments/x/decisions", &json!({"lane": lane}))
    };
    let (first, again) = (ask(&mut client, "u"), ask(&mut client, "u"));
    assert_eq!((first.status, again.status), (201, 200));
    assert_eq!(first.json()["id"], again.json()["id"]);
    let misused = ask(&mut client, "v");
    assert_eq!((misused.status, code(&misused).as_str()), (422, "key-reused"));
    client.headers[0].1 = "k2".into();
    let play = |client: &mut HttpClient| {
        client.send("POST", "/v1/experiments/x/plays", &json!({"lane": "u", "arm": "bob", "loss": 0.5}))
    };
    assert_eq!((play(&mut client).status, play(&mut client).status), (201, 200));
    assert_eq!(client.get("/v1/experiments/x/state").json()["decisions"], json!(2));
}

#[test]
fn a_paused_experiment_plays_its_leader_and_learns_nothing() {
    let (_folder, service) = started();
    let mut client = service.client();
    client.send("PUT", "/v1/experiments/x", &one_lane());
    assert_eq!(client.send("POST", "/v1/experiments/x/pause", &Value::Null).json()["status"], json!("paused"));
    let ask = |client: &mut HttpClient, after: Value| {
        client.send("POST", "/v1/experiments/x/decisions", &json!({"after": after})).json()
    };
    let first = ask(&mut client, Value::Null);
    assert_eq!((&first["phase"], &first["redelivered"]), (&json!("filler"), &json!(false)));
    assert_eq!(ask(&mut client, Value::Null)["redelivered"], json!(true));
    assert_eq!(ask(&mut client, json!(0))["id"], json!(1));
    let told = client.send("PUT", "/v1/experiments/x/decisions/1/outcome", &json!({"loss": 0})).json();
    assert_eq!(told["counted"], json!("not"));
    client.send("POST", "/v1/experiments/x/resume", &Value::Null);
    assert_eq!(ask(&mut client, json!(1))["position"], json!(3), "the plays of the pause are part of the window");
    client.send("POST", "/v1/experiments/x/finish", &Value::Null);
    let resumed = client.send("POST", "/v1/experiments/x/resume", &Value::Null);
    assert_eq!((resumed.status, code(&resumed).as_str()), (409, "experiment-finished"));
    assert_eq!(ask(&mut client, json!(2))["phase"], json!("filler"));
}

#[test]
fn mistakes_are_answered_with_problems() {
    let (_folder, service) = started();
    let mut client = service.client();
    client.send("PUT", "/v1/experiments/x", &one_lane());
    let cases = [
        ("GET", "/v1/experiments/nobody/state", "", 404, "unknown-experiment"),
        ("PUT", "/v1/experiments/.x", "{}", 400, "invalid-name"),
        ("PUT", "/v1/experiments/y", "{\"arms\": 3}", 422, "invalid-body"),
        ("PUT", "/v1/experiments/y", "no json", 422, "invalid-body"),
        ("POST", "/v1/experiments/x/decisions", "{\"lan\": \"u\"}", 422, "invalid-body"),
        ("POST", "/v1/experiments/x/decisions", "{\"available\": [\"eve\"]}", 422, "unknown-arm"),
        ("POST", "/v1/experiments/x/decisions", "{\"available\": []}", 422, "invalid-body"),
        ("PUT", "/v1/experiments/x/decisions/7/outcome", "{\"loss\": 0}", 404, "unknown-decision"),
        ("PUT", "/v1/experiments/x/decisions/x/outcome", "{\"loss\": 0}", 400, "invalid-name"),
        (
            "PUT",
            "/v1/experiments/x/decisions/18446744073709551615/outcome",
            "{\"lost\": true}",
            404,
            "unknown-decision",
        ),
        ("GET", "/v1/experiments/x/decisions/18446744073709551615", "", 404, "unknown-decision"),
        ("GET", "/v1/experiments/x/decisions?limit=0", "", 400, "invalid-query"),
        ("GET", "/v1/experiments/x/lanes/u", "", 404, "unknown-lane"),
        ("POST", "/v1/experiments/x/lanes/u/reset", "", 404, "unknown-lane"),
        ("DELETE", "/v1/experiments/x", "", 400, "invalid-query"),
        ("DELETE", "/v1/tokens/9", "", 404, "unknown-token"),
        ("GET", "/v2", "", 404, "not-found"),
        ("PATCH", "/v1/experiments/x", "", 405, "method-not-allowed"),
    ];
    for (method, path, body, status, expected) in cases {
        let answer = client.try_send(method, path, body).unwrap();
        assert_eq!((answer.status, code(&answer).as_str()), (status, expected), "{method} {path} {body}");
    }
    let large = client.try_send("PUT", "/v1/experiments/y", &" ".repeat(2 << 20));
    // The service may close the connection before the whole body is sent.
    assert!(large.is_err() || large.unwrap().status == 413);
    let mut client = service.client();
    assert_eq!(client.send("DELETE", "/v1/experiments/x?confirm=x", &Value::Null).status, 200);
    assert_eq!(client.get("/v1/experiments/x").status, 404);
}

#[test]
fn foreign_hosts_are_refused_without_tokens_and_roles_are_kept_with_them() {
    let (_folder, service) = started();
    let mut client = service.client();
    client.headers.push(("Host".into(), "evil.example".into()));
    let refused = client.get("/v1/experiments");
    assert_eq!((refused.status, code(&refused).as_str()), (421, "wrong-host"));
    assert!(refused.head.contains("x-content-type-options: nosniff"));
    client.headers.clear();

    let admin = client.send("POST", "/v1/tokens", &json!({"role": "admin", "name": "me"})).json();
    let without = client.get("/v1/experiments");
    assert_eq!((without.status, code(&without).as_str()), (401, "unauthorized"));
    let bearer =
        |token: &Value| vec![("Authorization".to_owned(), format!("Bearer {}", token["token"].as_str().unwrap()))];
    client.headers = bearer(&admin);
    let play = client.send("POST", "/v1/tokens", &json!({"role": "play"})).json();
    assert_eq!(client.send("PUT", "/v1/experiments/x", &one_lane()).status, 201);
    assert!(!client.get("/v1/tokens").text.contains("cban_"));
    client.headers = bearer(&play);
    assert_eq!(client.send("POST", "/v1/experiments/x/decisions", &json!({})).status, 201);
    let forbidden = client.send("PUT", "/v1/experiments/y", &one_lane());
    assert_eq!((forbidden.status, code(&forbidden).as_str()), (403, "forbidden"));
    client.headers = bearer(&admin);
    assert_eq!(client.send("DELETE", "/v1/tokens/2", &Value::Null).status, 200);
    client.headers = bearer(&play);
    assert_eq!(client.get("/v1/experiments").status, 401);
}

#[test]
fn open_event_streams_do_not_hold_up_the_end() {
    let (_folder, service) = started();
    let mut client = service.client();
    client.send("PUT", "/v1/experiments/x", &one_lane());
    let mut stream = TcpStream::connect(&service.address).unwrap();
    let request = "GET /v1/experiments/x/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "event: create"));
    client.send("POST", "/v1/experiments/x/decisions", &json!({}));
    assert!(lines.any(|line| line == "event: ask"), "later events come without a new request");
    assert!(service.stop());
    assert!(lines.last().is_none_or(|line| !line.starts_with("data")), "the stream has ended");
}

#[test]
fn expired_decisions_are_found_without_a_request() {
    let (_folder, service) = started();
    let mut client = service.client();
    let spec = json!({"arms": ["a"], "policy": {"kind": "calibrated", "memory_bound": 1},
                      "feedback": {"on_timeout": {"loss": 1}, "timeout_seconds": 0.001}});
    client.send("PUT", "/v1/experiments/x", &spec);
    client.send("POST", "/v1/experiments/x/decisions", &json!({}));
    while client.get("/v1/experiments/x/state").json()["counts"]["expired"] == json!(0) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let late = client.send("PUT", "/v1/experiments/x/decisions/0/outcome", &json!({"loss": 0}));
    assert_eq!((late.status, code(&late).as_str()), (409, "expired"));
    assert_eq!(client.get("/v1/experiments/x/decisions/0").json()["status"], json!("expired"));
    let metrics = client.get("/metrics").text;
    assert!(metrics.contains("calibandit_expired_total{experiment=\"x\"} 1\n"), "{metrics}");
    assert!(metrics.contains("calibandit_late_total{experiment=\"x\"} 1\n"), "{metrics}");
    assert_eq!(client.get("/readyz").json()["experiments"], json!(1));
}
