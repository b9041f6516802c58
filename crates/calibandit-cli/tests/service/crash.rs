//! kill -9 at random moments, with several callers, and a check of the whole history.
//!
//! Every caller writes down what the service has acknowledged. After the last restart the log must have each of these
//! decisions and outcomes exactly once and unchanged, and replaying it must give the same answers and states.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::HttpClient;
use crate::{RunningService, many_lanes};

const CALLERS: u64 = 8;

/// SplitMix64: the moments and the losses, not the arms, depend on it.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// What one caller was told by the service, over all its lives.
#[derive(Default)]
struct Caller {
    lane: String,
    /// The newest decision that it has received.
    newest: Option<u64>,
    /// The decisions that it has received, with their arms.
    decisions: BTreeMap<u64, String>,
    /// Decisions without an acknowledged outcome, and the outcome that it reports.
    open: BTreeMap<u64, f64>,
    /// Acknowledged outcomes.
    outcomes: BTreeMap<u64, f64>,
    redelivered: u64,
}

impl Caller {
    /// Asks and tells until the service is gone.
    fn work(&mut self, client: &mut HttpClient, draws: &mut Draws, count: &AtomicU64, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let done =
                if self.open.is_empty() || draws.below(3) > 0 { self.ask(client, draws) } else { self.tell(client) };
            if done.is_err() {
                return;
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn ask(&mut self, client: &mut HttpClient, draws: &mut Draws) -> Result<(), ()> {
        let body = json!({"lane": self.lane, "after": self.newest}).to_string();
        let answer = client.try_send("POST", "/v1/experiments/crash/decisions", &body).map_err(|_| ())?;
        if answer.status == 503 {
            return Err(());
        }
        let decision = answer.json();
        assert!([200, 201].contains(&answer.status), "{decision}");
        self.redelivered += u64::from(answer.status == 200);
        let (id, arm) = (decision["id"].as_u64().unwrap(), decision["arm"].as_str().unwrap().to_owned());
        assert_eq!(decision["lane"], json!(self.lane));
        assert_eq!(self.decisions.insert(id, arm), None, "decision {id} was given out twice");
        self.newest = Some(id);
        self.open.insert(id, draws.below(2) as f64);
        Ok(())
    }

    fn tell(&mut self, client: &mut HttpClient) -> Result<(), ()> {
        let Some((&id, &loss)) = self.open.first_key_value() else { return Ok(()) };
        let body = json!({"loss": loss}).to_string();
        let path = format!("/v1/experiments/crash/decisions/{id}/outcome");
        let answer = client.try_send("PUT", &path, &body).map_err(|_| ())?;
        if answer.status == 503 {
            return Err(());
        }
        assert_eq!(answer.status, 200, "{}", answer.text);
        self.open.remove(&id);
        self.outcomes.insert(id, loss);
        Ok(())
    }
}

/// Lets the callers work until the service is killed after a random time.
fn one_life(data: &Path, callers: &mut [Caller], draws: &mut Draws) -> u64 {
    let service = RunningService::start(data, &["--digest-every", "50"]);
    let created = service.client().send("PUT", "/v1/experiments/crash", &many_lanes());
    assert!([200, 201].contains(&created.status), "{}", created.text);
    let (count, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (pause, seeds) = (20 + draws.below(150), draws.below(u64::MAX));
    thread::scope(|scope| {
        for (number, caller) in callers.iter_mut().enumerate() {
            let (mut client, mut draws) = (service.client(), Draws(seeds ^ number as u64));
            let (count, stop) = (&count, &stop);
            scope.spawn(move || caller.work(&mut client, &mut draws, count, stop));
        }
        thread::sleep(Duration::from_millis(pause));
        service.kill();
        stop.store(true, Ordering::Relaxed);
    });
    count.into_inner()
}

/// The log as the service shows it.
fn log(service: &RunningService) -> Vec<Value> {
    let text = service.client().get("/v1/experiments/crash/events").text;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check(data: &Path, callers: &[Caller]) -> (usize, usize) {
    let verified = Command::new(env!("CARGO_BIN_EXE_calibandit")).arg("verify").arg(data).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let service = RunningService::start(data, &[]);
    let (mut given, mut told) = (BTreeMap::new(), BTreeMap::new());
    for record in log(&service) {
        let (command, answer) = (&record["body"]["command"], &record["body"]["answer"]);
        match (command["kind"].as_str().unwrap(), answer["kind"].as_str().unwrap()) {
            ("ask", "decision") => {
                let arm = ["ann", "bob", "cem"][answer["arm"].as_u64().unwrap() as usize];
                let place = (command["lane"].as_str().unwrap().to_owned(), arm.to_owned());
                assert!(given.insert(answer["id"].as_u64().unwrap(), place).is_none(), "an id twice: {record}");
            }
            ("settle", "recorded") => {
                let loss = command["outcome"]["loss"].as_f64().unwrap();
                let id = answer["decision"].as_u64().unwrap();
                assert!(told.insert(id, loss).is_none(), "an outcome counted twice: {record}");
            }
            ("create", "noted") => {}
            _ => panic!("an unexpected record: {record}"),
        }
    }
    let mut all = BTreeSet::new();
    for caller in callers {
        for (id, arm) in &caller.decisions {
            assert!(all.insert(*id), "decision {id} was given to two callers");
            assert_eq!(given.get(id), Some(&(caller.lane.clone(), arm.clone())), "decision {id} was lost or changed");
        }
        for (id, loss) in &caller.outcomes {
            assert_eq!(told.get(id), Some(loss), "the acknowledged outcome of decision {id} was lost or changed");
        }
    }
    let told_in_state = service.client().get("/v1/experiments/crash/state").json()["counts"]["told"].as_u64();
    assert_eq!(told_in_state, Some(told.len() as u64), "the state counts other outcomes than the log");
    (given.len(), told.len())
}

#[test]
fn killed_services_lose_nothing_and_count_nothing_twice() {
    let kills: u64 = std::env::var("CALIBANDIT_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("service.db");
    let mut draws = Draws(18);
    let caller = |number: u64| Caller { lane: format!("user-{number}"), ..Caller::default() };
    let mut callers: Vec<Caller> = (0..CALLERS).map(caller).collect();
    let mut acknowledged = 0;
    for life in 1..=kills {
        acknowledged += one_life(&data, &mut callers, &mut draws);
        // The whole history, now and then: it grows with the number of lives.
        if life % 100 == 0 {
            check(&data, &callers);
        }
    }
    let (decisions, outcomes) = check(&data, &callers);
    let redelivered: u64 = callers.iter().map(|caller| caller.redelivered).sum();
    assert!(acknowledged > 0 && outcomes > 0, "the callers did nothing");
    println!(
        "kills of services: {kills}, acknowledged requests: {acknowledged}, decisions in the log: {decisions}, \
         outcomes: {outcomes}, redelivered: {redelivered}, lost, changed or counted twice: 0"
    );
}
