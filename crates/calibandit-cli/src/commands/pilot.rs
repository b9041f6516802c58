//! `calibandit pilot`: plans the plays whose log shows the memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};

use calibandit::PilotPlan;
use serde_json::json;

use super::lists::print_json;
use crate::args::pilot::PilotArgs;
use crate::error::CliError;
use crate::progress::notice;
use crate::text::{paragraph, terminal_width, visible};

pub(crate) fn pilot(arguments: &PilotArgs) -> Result<(), CliError> {
    let arms: Vec<&str> = arguments.arms.iter().map(|name| name.trim()).collect();
    let mut known = HashSet::new();
    for &name in &arms {
        if name.is_empty() {
            return Err(CliError::Usage("`--arms` has an empty name: separate the names by single commas".into()));
        }
        if name.contains(char::is_control) {
            let name = visible(name);
            return Err(CliError::Usage(format!(
                "`--arms` has the name `{name}`, with a control character: remove it"
            )));
        }
        if !known.insert(name) {
            return Err(CliError::Usage(format!("`--arms` has `{name}` twice: each arm needs a name of its own")));
        }
    }
    let PilotArgs { longest, believe, sd, drop, seed, .. } = *arguments;
    let plan = PilotPlan::new(believe.design(), arms.len(), longest, sd, drop, seed)?;
    notice(paragraph(&summary(&plan), "", terminal_width()).trim_end());
    if arguments.json {
        let runs: Vec<_> = plan.runs.iter().map(|run| json!({"arm": arms[run.arm], "plays": run.plays})).collect();
        return print_json(&json!({
            "design": plan.design.name(),
            "longest": plan.longest,
            "sd": plan.sd,
            "drop": plan.difference,
            "seed": plan.seed,
            "arms": arms,
            "plays_per_arm": plan.plays_per_arm,
            "plays": plan.plays,
            "answers": plan.answers(),
            "runs": runs,
        }));
    }
    let names: Vec<Cow<'_, str>> = arms.iter().map(|name| quoted(name)).collect();
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "arm,plays")?;
    for run in &plan.runs {
        writeln!(out, "{},{}", names[run.arm], run.plays)?;
    }
    Ok(out.flush()?)
}

fn summary(plan: &PilotPlan) -> String {
    let arms = plan.plays / plan.plays_per_arm;
    let PilotPlan { plays, plays_per_arm, runs, .. } = plan;
    let text =
        format!("{plays} plays: {plays_per_arm} of each of {arms} arms, in {} runs. {}", runs.len(), plan.answers());
    visible(&text)
}

/// A cell of a CSV table.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.contains(['"', '\n', '\r', ',']) {
        format!("\"{}\"", name.replace('"', "\"\"")).into()
    } else {
        name.into()
    }
}
