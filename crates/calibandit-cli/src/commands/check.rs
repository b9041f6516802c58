//! `calibandit check`: static analysis of an experiment.

use std::io::{self, Write};

use calibandit::{ArmPlays, Memory};
use calibandit_experiment::Experiment;
use calibandit_experiment::format::{bytes, duration, rounded, thousands};
use calibandit_experiment::preflight::{Preflight, estimated_seconds, preflight, to_json};

use super::lists::print_json;
use crate::args;
use crate::error::CliError;
use crate::text::{hanging, terminal_width, visible};

pub(crate) fn check(arguments: &args::CheckArgs) -> Result<(), CliError> {
    let spec = Experiment::read(&arguments.file)?;
    let checks = preflight(&spec);
    let refusal = refusal(&checks);
    if arguments.json {
        print_json(&to_json(&spec, &checks))?;
        return refusal.map_or(Ok(()), Err);
    }
    let out = &mut io::stdout().lock();
    let (name, heading) = (visible(spec.name()), visible(spec.heading()));
    writeln!(out, "{}", if name == heading { name } else { format!("{name}: {heading}") })?;
    // What holds at every point of a sweep is said once.
    let at_all = |note: &&String| checks.len() > 1 && checks.iter().all(|check| check.warnings.contains(note));
    let width = terminal_width();
    for check in &checks {
        print(out, check)?;
        for note in check.warnings.iter().filter(|note| !at_all(note)) {
            write!(out, "{}", hanging(&format!("note: {}", visible(note)), "  ", "    ", width))?;
        }
    }
    let shared: Vec<&String> = checks.first().iter().flat_map(|first| &first.warnings).filter(at_all).collect();
    if !shared.is_empty() {
        writeln!(out, "\nAt every point")?;
    }
    for note in shared {
        write!(out, "{}", hanging(&format!("note: {}", visible(note)), "  ", "    ", width))?;
    }
    let size = size_sentence(&spec);
    write!(out, "\n{}", hanging(&size, "", "  ", width))?;
    refusal.map_or(Ok(()), Err)
}

/// What a run of the experiment would refuse.
fn refusal(checks: &[Preflight]) -> Option<CliError> {
    let mut refused = checks.iter().filter_map(|check| Some((check, check.refusal.as_ref()?)));
    let (first, why) = refused.next()?;
    let more = match refused.count() {
        0 => String::new(),
        more => format!(" (and {more} more of {} points)", checks.len()),
    };
    Some(CliError::Usage(format!("the experiment cannot be run: {}{more}: {why}", first.point)))
}

/// "simulations: 60 (about 3.2 s on one core, up to 2.4 MB of files)".
fn size_sentence(spec: &Experiment) -> String {
    let (size, seconds) = (spec.size(), estimated_seconds(spec));
    let curves = u64::try_from(size.curves()).map_or_else(|_| size.curves().to_string(), thousands);
    let time = if seconds < 0.1 { "less than 0.1 s".to_owned() } else { format!("about {}", duration(seconds)) };
    format!("simulations: {curves} ({time} on one core, up to {} of files)", bytes(size.disk()))
}

fn print(out: &mut impl Write, check: &Preflight) -> io::Result<()> {
    writeln!(out, "\n{}", visible(&check.point))?;
    writeln!(out, "  {}", size(check))?;
    match check.alpha {
        Some(0.0) if check.memory == Memory::All => {
            writeln!(out, "  alpha = 0: no loss is below the eventual loss of the best arm")?
        }
        Some(0.0) => writeln!(out, "  alpha = 0: repeated exposure of the best arm is optimal")?,
        Some(alpha) => writeln!(out, "  alpha = {}", rounded(alpha))?,
        None => writeln!(out, "  alpha is unknown")?,
    }
    let best = check.eventual_losses[check.best_arm];
    let best_arm = visible(&check.arm_title(check.best_arm));
    writeln!(out, "  best arm x* = {best_arm} with eventual loss {}", rounded(best))?;
    let of_arm = |(arm, &loss): (usize, &f64)| match check.arm_names.is_empty() {
        true => rounded(loss),
        false => format!("{} {}", visible(&label(check, arm)), rounded(loss)),
    };
    let losses: Vec<String> = check.eventual_losses.iter().enumerate().take(20).map(of_arm).collect();
    let more = if check.eventual_losses.len() > 20 { ", ..." } else { "" };
    writeln!(out, "  eventual losses: {}{more}", losses.join(", "))?;
    let optimum = &check.optimum;
    let of = check.live.map_or_else(String::new, |live| format!(" of a session of {} plays", thousands(live.session)));
    if optimum.exact {
        writeln!(out, "  optimum{of}: {} (exact)", rounded(optimum.loss))?;
    } else {
        writeln!(out, "  optimum{of}: between {} and {}", rounded(optimum.lower), rounded(optimum.loss))?;
    }
    if optimum.blocks.is_empty() {
        print_sequence(out, check)?;
    } else {
        let plays = |block: &ArmPlays| format!("{}×{}", visible(&label(check, block.arm)), thousands(block.plays));
        let shown: Vec<String> = optimum.blocks.iter().take(12).map(plays).collect();
        let more = match optimum.blocks.len() {
            ..=12 => String::new(),
            all => format!(", and {} more", all - 12),
        };
        writeln!(out, "  best plays, in any order: {}{more}", shown.join(", "))?;
    }
    // A bound that says nothing is in a note.
    for bound in check.theorem_1.iter().filter(|bound| bound.bound < check.horizon as f64) {
        writeln!(
            out,
            "  Theorem 1 for {}: CPR at most {} with probability {}",
            visible(&bound.policy),
            rounded(bound.bound.ceil()),
            rounded(1.0 - bound.delta)
        )?;
    }
    if check.instances_differ {
        writeln!(out, "  (the game is drawn at random; this is the game of the first instance)")?;
    }
    Ok(())
}

fn print_sequence(out: &mut impl Write, check: &Preflight) -> io::Result<()> {
    let optimum = &check.optimum;
    writeln!(
        out,
        "  best sequence: {}{} × {}{}",
        if optimum.prefix.is_empty() { String::new() } else { format!("{}, then ", arms(check, &optimum.prefix)) },
        arms(check, &optimum.cycle),
        thousands(optimum.repeats),
        if optimum.tail.is_empty() { String::new() } else { format!(", then {}", arms(check, &optimum.tail)) },
    )
}

/// K, m and T, without what the label of the point says already.
fn size(check: &Preflight) -> String {
    let said: Vec<String> = check.point.split(',').map(|part| part.replace(' ', "")).collect();
    let mut parts = vec![
        format!("K = {}", check.arms),
        format!("m = {}", check.memory),
        format!("T = {}", thousands(check.horizon)),
    ];
    parts.extend(check.live.map(|live| format!("lanes = {}", thousands(live.lanes))));
    parts.into_iter().filter(|part| !said.contains(&part.replace(' ', ""))).collect::<Vec<_>>().join(", ")
}

/// An arm by its name, or by its index if it has none.
fn label(check: &Preflight, arm: usize) -> String {
    check.arm_name(arm).map_or_else(|| arm.to_string(), str::to_owned)
}

/// A sequence of plays with counted repetitions: (0×3 1), or with names (bob×3, anna).
fn arms(check: &Preflight, sequence: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for run in sequence.chunk_by(|a, b| a == b) {
        let arm = visible(&label(check, run[0]));
        parts.push(if run.len() > 1 { format!("{arm}×{}", run.len()) } else { arm });
    }
    if parts.len() > 12 {
        let left = parts.len() - 12;
        parts.truncate(12);
        parts.push(format!("... {left} more"));
    }
    format!("({})", parts.join(if check.arm_names.is_empty() { " " } else { ", " }))
}
