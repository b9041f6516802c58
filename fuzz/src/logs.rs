//! Logs of plays, as `calibandit diagnose` reads them: CSV and Parquet.

use calibandit_experiment::Experiment;
use calibandit_fit::diagnose::{DiagnoseOptions, Diagnosis, LogColumns, diagnose, parse_log};

/// Larger logs are accepted by the program; here they only take time.
const MOST_BYTES: usize = 16 * 1024;

/// A log is refused, or its diagnosis keeps its promises, whatever the columns mean.
pub fn logs(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    // The seed in Parquet is a table of results, with names of its own. Reading it is slow, so it is read once.
    let [arm, loss, order, unit] = match data.starts_with(b"PAR1") {
        true => ["policy", "loss", "t", "instance"],
        false => ["arm", "loss", "order", "unit"],
    };
    let choices = [(Some(order), Some(unit)), (None, None), (Some(order), None), (None, Some(unit))];
    let choices = if data.starts_with(b"PAR1") { &choices[..1] } else { &choices };
    for &(order, unit) in choices {
        let columns = LogColumns { arm, loss, order, unit };
        let Ok(log) = parse_log("log", data.to_vec(), columns) else { continue };
        for (longest, drifting) in [(None, false), (Some(2), true)] {
            let options = DiagnoseOptions { longest, drifting, ..DiagnoseOptions::default() };
            if let Ok(found) = diagnose(&log, &options) {
                check(&found);
            }
        }
    }
}

fn check(found: &Diagnosis) {
    if let Some(bound) = found.memory_bound {
        let longest = found.longest.expect("a bound needs the longest memory");
        assert!(found.reach >= longest, "reach {} is below {longest}", found.reach);
        assert!(found.arms.iter().all(|arm| arm.settled.upper.is_some_and(|upper| upper <= bound)));
    }
    for arm in &found.arms {
        assert!(arm.settled.upper.is_none_or(|upper| upper >= arm.settled.lower));
        let ordered =
            arm.eventual.is_none_or(|eventual| eventual.low <= eventual.mean && eventual.mean <= eventual.high);
        assert!(ordered || arm.eventual.is_some_and(|eventual| !eventual.mean.is_finite()), "{:?}", arm.eventual);
    }
    let rows: usize = found.arms.iter().map(|arm| arm.curve.len() + arm.forgetting.len()).sum();
    // A quoted name may have line breaks, so there are at least as many lines.
    assert!(found.curves_csv().lines().count() > rows);
    if let Ok(game) = found.game_toml() {
        let text = format!("name = \"fitted\"\nhorizon = 10\ninstances = 1\npolicy = [{{ kind = \"ucb1\" }}]\n{game}");
        Experiment::from_toml("fitted.toml", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    }
}
