//! Measures the diagnosis of logs on games whose memory is known, as Markdown tables:
//! `cargo run --release -p calibandit-fit --example memory_study [-- SHARE [PART]]`.
//!
//! SHARE is the part of the full number of logs, 1 by default, which takes about ten minutes on one core. PART is one
//! of `bound`, `tally`, `reo`, `robustness` and `price`; without it, all are measured.

mod bound;
mod price;
mod reo;
mod robustness;
mod tally;

#[path = "../../tests/known_truth/mod.rs"]
mod known_truth;

use calibandit_fit::diagnose::{DiagnoseOptions, Diagnosis, Log, diagnose};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let share: f64 = std::env::args().nth(1).map_or(Ok(1.0), |share| share.parse())?;
    let part = std::env::args().nth(2);
    let wanted = |name: &str| part.as_ref().is_none_or(|part| part == name);
    let size = |full: u64| ((full as f64 * share).ceil() as u64).max(1);
    if wanted("bound") {
        bound::least_favourable(size(375));
        bound::zoo(10_000, size(60), size(20));
        bound::zoo(100_000, size(10), size(10));
    }
    if wanted("tally") {
        tally::sets(size(300));
    }
    if wanted("reo") {
        reo::verdicts(size(1000));
    }
    if wanted("robustness") {
        robustness::disturbances(size(30));
    }
    if wanted("price") {
        price::prices(size(400));
    }
    Ok(())
}

/// The options of all parts of the study; the tolerance is 0.1.
const OPTIONS: DiagnoseOptions = DiagnoseOptions {
    longest: Some(40),
    tolerance: Some(TOLERANCE),
    confidence: 0.95,
    starts: calibandit_fit::diagnose::Starts::Cold,
    drifting: false,
};

const TOLERANCE: f64 = 0.1;

/// The names of the arms of a log.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn diagnosed(log: &Log, options: &DiagnoseOptions) -> Diagnosis {
    diagnose(log, options).expect("the log has losses and the options are valid")
}

/// A share in percent.
fn percent(part: u64, all: u64) -> String {
    if all == 0 { "–".to_string() } else { format!("{:.1} %", 100.0 * part as f64 / all as f64) }
}

fn median(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    match values.get(values.len() / 2) {
        Some(value) if value.is_finite() => format!("{value:.2}"),
        Some(_) => "not bounded".to_string(),
        None => "–".to_string(),
    }
}

/// Counts of yes and no.
#[derive(Clone, Copy, Default)]
struct Share {
    yes: u64,
    all: u64,
}

impl Share {
    fn count(&mut self, yes: bool) {
        self.all += 1;
        self.yes += u64::from(yes);
    }

    fn percent(self) -> String {
        percent(self.yes, self.all)
    }
}
