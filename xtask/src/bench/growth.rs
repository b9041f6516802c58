//! How cost grows with the horizon, the arms, the memory, the instances and the threads, as plots.

use std::fmt::Write;

use super::implementations::Implementation;
use super::ratios::SE;
use super::{Workload, paper, store};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::Program;

const POLICIES: [(&str, &str); 5] = [
    (SE, "SE"),
    ("exp3", "EXP3"),
    ("batched-exp3", "EXP3B"),
    ("epoch-ucb", "UCB (epochs)"),
    ("calibrated", "calibrated"),
];

/// One panel of the figure: the values on the horizontal axis, and the workload at each of them.
struct GrowthPanel {
    id: &'static str,
    label: &'static str,
    values: Vec<u64>,
    at: fn(&'static str, u64) -> Option<Workload>,
    /// Whether time is shown per play, not per instance.
    per_play: bool,
}

fn panels() -> Vec<GrowthPanel> {
    let powers = |from: u32, to: u32| (from..=to).map(|power| 10u64.pow(power)).collect();
    vec![
        GrowthPanel {
            id: "horizon",
            label: "T",
            values: powers(4, 12),
            at: |policy, horizon| {
                let most = if leaps(policy) { u64::MAX } else { 10_000_000 };
                (horizon <= most).then(|| Workload { horizon, ..repeated(policy, horizon) })
            },
            per_play: false,
        },
        GrowthPanel {
            id: "arms",
            label: "K",
            values: vec![2, 5, 10, 30, 100, 1000, 10_000, 100_000],
            at: |policy, arms| {
                // The horizon must have room for an epoch of SE; index policies look at every arm.
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
                (arms <= most).then(|| Workload { arms, instances, ..Workload::standard(policy) })
            },
            per_play: true,
        },
        GrowthPanel {
            id: "memory",
            label: "m",
            values: vec![1, 2, 4, 8, 16, 32, 64],
            at: |policy, memory| Some(Workload { memory, ..repeated(policy, 1_000_000) }),
            per_play: true,
        },
        GrowthPanel {
            id: "instances",
            label: "instances",
            values: vec![1, 2, 4, 8, 16, 32],
            at: |policy, instances| {
                policy.ends_with("exp3").then(|| Workload { instances, ..Workload::standard(policy) })
            },
            per_play: true,
        },
    ]
}

/// Whether the policy asks for long runs, whose losses are drawn at once.
fn leaps(policy: &str) -> bool {
    policy == SE || policy == "calibrated"
}

/// Enough instances for a measurable time.
fn repeated(policy: &'static str, horizon: u64) -> Workload {
    let instances = match policy {
        SE => 1000,
        "calibrated" => 100,
        _ => (8_000_000 / horizon).clamp(8, 200),
    };
    Workload { instances, horizon, ..Workload::standard(policy) }
}

/// Measures, and draws docs/images/growth.svg.
pub(crate) fn measure_growth(_: &Machine) -> Result<StepOutcome, StepError> {
    let mut drawn = Vec::new();
    for panel in panels() {
        let unit = if panel.per_play { "ns per play" } else { "microseconds per instance" };
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
    drawn.push(one_panel("threads", "threads", ("elapsed seconds", FROM_0), &series));
    let figure = format!(
        r#"{{"id": "growth", "title": "CPU time of one game", "caption": "{CAPTION}", "panels": [{}]}}"#,
        drawn.join(", ")
    );
    store("growth.json", &figure)?;
    let [from, svg, png] = ["target/bench/growth.json", "docs/images/growth.svg", "target/bench/growth.png"];
    Program::new("target/release/examples/draw", [from, svg, png]).run()?;
    Ok(StepOutcome::default())
}

const CAPTION: &str = "CPU time of this project; K = 5, m = M = 3 and T = 10^6 unless stated otherwise. By threads: \
                       elapsed time of ten panels of the appendix with 20 instances each, and their report.";

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
    format!(r#"{{"label": "{label}", "mark": "line-and-points", "points": [{list}]}}"#)
}

/// Elapsed seconds on 1, 2, 4, ... threads, up to twice the number of hardware threads.
fn by_threads() -> Vec<(u64, f64)> {
    let threads = (0..).map(|power| 1 << power).take_while(|&threads| threads <= 2 * paper::available());
    let least = |threads| {
        let tries = (0..2).filter_map(|_| paper::run(&["paper", "fig-app-unweighted"], threads));
        tries.map(|cost| cost.seconds).reduce(f64::min)
    };
    threads.filter_map(|threads| Some((threads as u64, least(threads)?))).collect()
}

fn curve(panel: &GrowthPanel, policy: &'static str) -> Vec<(u64, f64)> {
    let mut points = Vec::new();
    for &value in &panel.values {
        let Some(workload) = (panel.at)(policy, value) else { continue };
        let Some(measurement) = Implementation::Calibandit.run(&workload, 2) else { continue };
        let per_instance = measurement.seconds / workload.instances as f64;
        let time = if panel.per_play { per_instance * 1e9 / workload.horizon as f64 } else { per_instance * 1e6 };
        if time > 0.0 {
            points.push((value, time));
        }
    }
    points
}

fn shown(points: &[(u64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x}: {y:.3}")).collect::<Vec<_>>().join(", ")
}
