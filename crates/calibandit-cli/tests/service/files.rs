//! The file of a service: damage, two processes, backups, tokens from the command line.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

use crate::{RunningService, many_lanes, program};

fn calibandit(arguments: &[&str], path: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calibandit")).args(arguments).arg(path).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file with one experiment and 20 decisions.
fn with_history(data: &Path) {
    let service = RunningService::start(data, &["--digest-every", "8"]);
    let mut client = service.client();
    client.send("PUT", "/v1/experiments/x", &many_lanes());
    for lane in 0..20 {
        client.send("POST", "/v1/experiments/x/decisions", &json!({"lane": format!("user-{lane}")}));
    }
    assert!(service.stop());
}

#[test]
fn a_second_process_is_refused_and_a_backup_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (data, copy) = (folder.path().join("a.db"), folder.path().join("b.db"));
    let service = RunningService::start(&data, &[]);
    service.client().send("PUT", "/v1/experiments/x", &many_lanes());
    let second = program(&["serve", "--listen", "127.0.0.1:0"], &data).output().unwrap();
    assert!(!second.status.success() && stderr(&second).contains("in use by another process"), "{}", stderr(&second));
    let backup = program(&["backup", copy.to_str().unwrap()], &data).output().unwrap();
    assert!(backup.status.success(), "{}", stderr(&backup));
    let verified = calibandit(&["verify"], &copy);
    let text = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert_eq!(text, "x: 1 records, all answers and states as stored\n1 experiments verified\n");
    assert!(calibandit(&["verify"], &data).status.success(), "a file in use can be verified");
}

#[test]
fn damage_is_named_and_nothing_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a.db");
    with_history(&data);
    let damages = [
        ("UPDATE records SET body = replace(body, 'user-7', 'user-8') WHERE seq = 8", 8),
        ("UPDATE records SET at_ms = at_ms + 1 WHERE seq = 3", 3),
        ("DELETE FROM records WHERE seq = 5", 6),
        ("DELETE FROM records WHERE seq > 10", 15),
        ("UPDATE state_digests SET sha256 = zeroblob(32) WHERE seq = 15", 15),
    ];
    for (number, (sql, seq)) in damages.iter().enumerate() {
        let damaged = folder.path().join(format!("{number}.db"));
        std::fs::copy(&data, &damaged).unwrap();
        let connection = rusqlite::Connection::open(&damaged).unwrap();
        assert!(connection.execute(sql, []).unwrap() > 0);
        connection.close().unwrap();
        let refused = program(&["serve", "--listen", "127.0.0.1:0"], &damaged).output().unwrap();
        let expected = format!("record {seq} of experiment `x` is damaged");
        assert!(!refused.status.success() && stderr(&refused).contains(&expected), "{sql}: {}", stderr(&refused));
        let verified = calibandit(&["verify"], &damaged);
        assert!(!verified.status.success() && stderr(&verified).contains(&expected), "{sql}");
    }
}

#[test]
fn files_of_other_programs_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    std::fs::write(&text, "This is no database, but a text that is long enough for a header. ".repeat(20)).unwrap();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    for path in [&text, &other] {
        let before = std::fs::read(path).unwrap();
        let refused = program(&["serve", "--listen", "127.0.0.1:0"], path).output().unwrap();
        assert!(!refused.status.success() && stderr(&refused).contains("choose another file"), "{}", stderr(&refused));
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

#[test]
fn beyond_this_machine_a_token_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a.db");
    let refused = program(&["serve", "--listen", "0.0.0.0:0"], &data).output().unwrap();
    assert!(!refused.status.success() && stderr(&refused).contains("calibandit token add"), "{}", stderr(&refused));
    let made = program(&["token", "add", "--role", "admin"], &data).output().unwrap();
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    assert!(token.starts_with("cban_"));
    let service = RunningService::start(&data, &[]);
    let mut client = service.client();
    assert_eq!(client.get("/v1/experiments").status, 401);
    client.headers.push(("Authorization".into(), format!("Bearer {token}")));
    assert_eq!(client.get("/v1/experiments").status, 200);
    drop(service);
    let bytes = std::fs::read(&data).unwrap();
    let wal = std::fs::read(folder.path().join("a.db-wal")).unwrap_or_default();
    let found = [bytes, wal].iter().any(|file| file.windows(token.len()).any(|part| part == token.as_bytes()));
    assert!(!found, "the file has the token itself");
}

#[test]
fn a_commit_that_fails_ends_the_service_and_a_restart_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a.db");
    let mut service = RunningService::start(&data, &[]);
    let mut client = service.client();
    client.send("PUT", "/v1/experiments/x", &many_lanes());
    client.send("POST", "/v1/experiments/x/decisions", &json!({"lane": "u", "after": null}));
    // Another writer takes the next number, as a disk that refuses would: the commit fails.
    let thief = rusqlite::Connection::open(&data).unwrap();
    let sql = "INSERT INTO records SELECT experiment, seq + 1, at_ms, version, kind, 99, lane, body, checksum \
               FROM records WHERE seq = 1";
    thief.execute(sql, []).unwrap();
    let answer = client.try_send("POST", "/v1/experiments/x/decisions", r#"{"lane": "u", "after": 0}"#);
    assert!(answer.is_err() || answer.unwrap().status == 503);
    assert!(!service.child.wait().unwrap().success(), "the process has ended with an error");
    thief.execute("DELETE FROM records WHERE decision = 99", []).unwrap();
    let service = RunningService::start(&data, &[]);
    let body = json!({"lane": "u", "after": 0});
    let next = service.client().send("POST", "/v1/experiments/x/decisions", &body).json();
    assert_eq!((&next["id"], &next["redelivered"]), (&json!(1), &json!(false)));
}
