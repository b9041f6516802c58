//! How cost grows with the horizon, the arms, the memory and the instances, as plots.

use std::fmt::Write;

use super::contestants::Contestant;
use super::{Workload, keep};
use crate::shell::Program;
use crate::steps::{Failure, Tally};

const SE: &str = "successive-elimination";
const POLICIES: [(&str, &str); 5] = [
    (SE, "SE"),
    ("exp3", "EXP3"),
    ("batched-exp3", "EXP3B"),
    ("epoch-ucb", "UCB (epochs)"),
    ("calibrated", "calibrated"),
];

/// One panel: what is on the horizontal axis, and the workload at each place.
struct Panel {
    id: &'static str,
    label: &'static str,
    places: Vec<u64>,
    at: fn(&'static str, u64) -> Option<Workload>,
    /// Time of an instance, or of a play.
    a_play: bool,
}

fn panels() -> Vec<Panel> {
    let powers = |from: u32, to: u32| (from..=to).map(|power| 10u64.pow(power)).collect();
    vec![
        Panel {
            id: "horizon",
            label: "T",
            places: powers(4, 12),
            at: |policy, horizon| {
                let most = if leaps(policy) { u64::MAX } else { 10_000_000 };
                (horizon <= most).then(|| Workload { horizon, ..repeated(policy, horizon) })
            },
            a_play: false,
        },
        Panel {
            id: "arms",
            label: "K",
            places: vec![2, 5, 10, 30, 100, 1000, 10_000, 100_000],
            at: |policy, arms| {
                let enough = policy != SE || 12 * arms <= 1_000_000;
                enough.then(|| Workload { arms, instances: if arms > 100 { 1 } else { 8 }, ..Workload::usual(policy) })
            },
            a_play: true,
        },
        Panel {
            id: "memory",
            label: "m",
            places: vec![1, 2, 4, 8, 16, 32, 64],
            at: |policy, memory| Some(Workload { memory, ..repeated(policy, 1_000_000) }),
            a_play: true,
        },
        Panel {
            id: "instances",
            label: "instances",
            places: vec![1, 2, 4, 8, 16, 32],
            at: |policy, instances| (policy == "exp3").then(|| Workload { instances, ..Workload::usual(policy) }),
            a_play: true,
        },
    ]
}

fn leaps(policy: &str) -> bool {
    policy == SE || policy == "calibrated"
}

/// As many instances as it takes to measure something.
fn repeated(policy: &'static str, horizon: u64) -> Workload {
    let instances = match policy {
        SE => 1000,
        "calibrated" => 100,
        _ => (8_000_000 / horizon).clamp(8, 200),
    };
    Workload { instances, horizon, ..Workload::usual(policy) }
}

/// Measures, and draws docs/images/growth.svg.
pub(crate) fn grow() -> Result<Tally, Failure> {
    let mut figure = String::from(
        r#"{"id": "growth", "title": "What a game costs", "caption": "CPU time; K = 5, m = M = 3, T = 10^6 unless said.", "panels": ["#,
    );
    for (position, panel) in panels().iter().enumerate() {
        let unit = if panel.a_play { "ns a play" } else { "microseconds an instance" };
        let separator = if position > 0 { "," } else { "" };
        let axes = format!(
            r#""x": {{"label": "{}", "scale": "log"}}, "y": {{"label": "{unit}", "scale": "log"}}"#,
            panel.label
        );
        let _ = write!(figure, r#"{separator}{{"id": "{0}", "title": "by {0}", {axes}, "series": ["#, panel.id);
        let mut first = true;
        for (policy, label) in POLICIES {
            let points = curve(panel, policy);
            if points.is_empty() {
                continue;
            }
            println!("{} {label}: {}", panel.id, shown(&points));
            let points: Vec<String> =
                points.iter().map(|(x, y)| format!(r#"{{"x": {x}, "mean": {y}, "stderr": 0.0}}"#)).collect();
            let separator = if first { "" } else { "," };
            first = false;
            let points = points.join(", ");
            let _ = write!(
                figure,
                r#"{separator}{{"policy": "{label}", "mark": "line-and-points", "points": [{points}]}}"#
            );
        }
        figure += "]}";
    }
    figure += "]}";
    keep("growth.json", &figure)?;
    let draw = ["run", "--quiet", "--release", "-p", "calibandit-lab", "--example", "draw", "--"];
    let [a, b, c, d, e, f, g, h] = draw;
    Program::cargo([a, b, c, d, e, f, g, h, "target/bench/growth.json", "docs/images/growth.svg"]).run()?;
    Ok(Tally::default())
}

fn curve(panel: &Panel, policy: &'static str) -> Vec<(u64, f64)> {
    let mut points = Vec::new();
    for &place in &panel.places {
        let Some(workload) = (panel.at)(policy, place) else { continue };
        let Some(measured) = Contestant::Calibandit.play(&workload, 2) else { continue };
        let an_instance = measured.seconds / workload.instances as f64;
        let value = if panel.a_play { an_instance * 1e9 / workload.horizon as f64 } else { an_instance * 1e6 };
        if value > 0.0 {
            points.push((place, value));
        }
    }
    points
}

fn shown(points: &[(u64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x}: {y:.3}")).collect::<Vec<_>>().join(", ")
}
