//! How cost grows with the horizon, the arms, the memory, the instances and the threads, as plots.

use std::fmt::Write;

use super::contestants::Contestant;
use super::ratios::SE;
use super::{Workload, keep, paper};
use crate::shell::Program;
use crate::steps::{Failure, Tally};

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
                // SE needs room for an epoch, index policies look at every arm.
                let most = match policy {
                    SE | "epoch-ucb" => 10_000,
                    "calibrated" => 1000,
                    _ => u64::MAX,
                };
                let instances = match policy {
                    SE => (5_000 / arms).max(1),
                    _ if arms > 100 => 1,
                    _ => 8,
                };
                (arms <= most).then(|| Workload { arms, instances, ..Workload::usual(policy) })
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
            at: |policy, instances| policy.ends_with("exp3").then(|| Workload { instances, ..Workload::usual(policy) }),
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
    let mut drawn = Vec::new();
    for panel in panels() {
        let unit = if panel.a_play { "ns a play" } else { "microseconds an instance" };
        let mut series = Vec::new();
        for (policy, label) in POLICIES {
            let points = curve(&panel, policy);
            if !points.is_empty() {
                println!("{} {label}: {}", panel.id, shown(&points));
                series.push(one_series(label, &points));
            }
        }
        drawn.push(one_panel(panel.id, panel.label, (unit, LOG), &series));
    }
    let points = by_threads();
    println!("threads: {}", shown(&points));
    let series = [one_series("all six policies", &points)];
    drawn.push(one_panel("threads", "threads", ("seconds by the clock", FROM_0), &series));
    let figure = format!(
        r#"{{"id": "growth", "title": "What a game costs", "caption": "{CAPTION}", "panels": [{}]}}"#,
        drawn.join(", ")
    );
    keep("growth.json", &figure)?;
    let [from, svg, png] = ["target/bench/growth.json", "docs/images/growth.svg", "target/bench/growth.png"];
    Program::new("target/release/examples/draw", [from, svg, png]).run()?;
    Ok(Tally::default())
}

const CAPTION: &str = "CPU time of this project; K = 5, m = M = 3 and T = 10^6 unless said. By threads: ten panels of \
                       the appendix with 20 instances each, report written, by the clock.";

const LOG: &str = r#""scale": "log""#;
const FROM_0: &str = r#""scale": "linear", "min": 0.0"#;

fn one_panel(id: &str, x: &str, (y, y_scale): (&str, &str), series: &[String]) -> String {
    let axes = format!(r#""x": {{"label": "{x}", {LOG}}}, "y": {{"label": "{y}", {y_scale}}}"#);
    format!(r#"{{"id": "{id}", "title": "by {id}", {axes}, "series": [{}]}}"#, series.join(", "))
}

fn one_series(label: &str, points: &[(u64, f64)]) -> String {
    let mut list = String::new();
    for (position, (x, y)) in points.iter().enumerate() {
        let separator = if position > 0 { ", " } else { "" };
        let _ = write!(list, r#"{separator}{{"x": {x}, "mean": {y}, "stderr": 0.0}}"#);
    }
    format!(r#"{{"policy": "{label}", "mark": "line-and-points", "points": [{list}]}}"#)
}

/// Seconds by the clock on 1, 2, 4, ... threads, up to twice as many as the machine can run at once.
fn by_threads() -> Vec<(u64, f64)> {
    let threads = (0..).map(|power| 1 << power).take_while(|&threads| threads <= 2 * paper::available());
    let least = |threads| {
        let tries = (0..2).filter_map(|_| paper::run(&["paper", "fig-app-unweighted"], threads));
        tries.map(|taken| taken.seconds).reduce(f64::min)
    };
    threads.filter_map(|threads| Some((threads as u64, least(threads)?))).collect()
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
