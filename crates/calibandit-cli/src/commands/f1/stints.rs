//! `calibandit f1 stints`: how the loss changes with the lap of a stint.

use std::io::{self, Write};
use std::path::Path;

use calibandit_experiment::format::thousands;
use calibandit_paper::f1::{LossChange, LossTrend, REFERENCE_LAP, StintEffects, StintRow, stint_effects, stint_figure};
use calibandit_report::chart::Palette;

use crate::args::f1::F1StintsArgs;
use crate::commands::lists::print_json;
use crate::commands::targets::{check_target, write_file};
use crate::error::CliError;
use crate::text::{aligned, paragraph, terminal_width, visible};

pub(super) fn stints(arguments: &F1StintsArgs) -> Result<(), CliError> {
    let folder = arguments.data.as_ref().unwrap_or(&arguments.folder);
    for path in &arguments.out {
        check_target(path)?;
    }
    let effects = stint_effects(folder, &arguments.options())?;
    for path in &arguments.out {
        write_file(path, &content(&effects, path)?)?;
    }
    if arguments.json {
        return print_json(&serde_json::to_value(&effects).map_err(io::Error::from)?);
    }
    let out = &mut io::stdout().lock();
    print(out, &effects)?;
    if !arguments.out.is_empty() {
        writeln!(out)?;
    }
    for path in &arguments.out {
        writeln!(out, "{}", visible(&path.display().to_string()))?;
    }
    Ok(())
}

/// The content of a file, by the end of its name.
fn content(effects: &StintEffects, path: &Path) -> io::Result<Vec<u8>> {
    let figure = || {
        let figure = stint_figure(effects);
        let palette = Palette::for_figures([&figure]);
        (figure, palette)
    };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => {
            let (figure, palette) = figure();
            Ok(figure.to_svg(&palette).into_bytes())
        }
        Some("png") => {
            let (figure, palette) = figure();
            figure.to_png(&palette, figure.png_scale(&palette, 2.0)).map_err(io::Error::other)
        }
        Some("json") => Ok(serde_json::to_vec_pretty(effects)?),
        _ => {
            let mut csv = Vec::new();
            effects.write_csv(&mut csv).map_err(io::Error::other)?;
            Ok(csv)
        }
    }
}

/// The laps of the stint in the printed table; the files have all.
fn is_printed(row: &StintRow) -> bool {
    row.lap <= 5 || row.lap.is_multiple_of(5)
}

/// A fraction of the fastest lap, in percent.
fn percent(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| format!("{:.2}", 100.0 * value))
}

fn print(out: &mut impl Write, effects: &StintEffects) -> io::Result<()> {
    let width = terminal_width();
    let count = |number: usize| thousands(number as u64);
    let (options, laps) = (effects.options, effects.laps);
    let text = format!(
        "{} races from {} to {}, {} driver-races, {} timed laps. Left out: {} into the pits, {} first laps of stints, \
         {} slow laps, {} after lap {} of the stint. Used: {}.",
        count(effects.races),
        options.first_year,
        options.last_year,
        count(effects.driver_races),
        count(laps.all),
        count(laps.into_pits),
        count(laps.first),
        count(laps.slow),
        count(laps.late),
        options.longest,
        count(laps.used),
    );
    write!(out, "{}", paragraph(&text, "", width))?;
    let text = format!(
        "\nChange of the lap time since lap {REFERENCE_LAP} of the stint, in % of the race's fastest lap, with \
         standard errors by a bootstrap over races ({} resamples, seed {}). Left: all stints, drivers compared on \
         the same lap of the same race. Right: before the first stop, within drivers; the median is over all laps, \
         slow ones included.",
        count(options.resamples),
        options.seed
    );
    writeln!(out, "{}", paragraph(&text, "", width))?;
    let rows: Vec<Vec<String>> = effects.rows.iter().filter(|row| is_printed(row)).map(cells).collect();
    let header = ["lap", "same lap", "s.e.", "laps", "before stop", "s.e.", "laps", "median"];
    write!(out, "{}", aligned(&header, &rows, 0))?;
    write!(out, "\n{}", paragraph(&verdict(effects), "", width))
}

fn cells(row: &StintRow) -> Vec<String> {
    let of =
        |change: LossChange| [percent(change.change), percent(change.standard_error), thousands(change.laps as u64)];
    let mut cells = vec![row.lap.to_string()];
    cells.extend(of(row.same_lap));
    cells.extend(of(row.before_stop));
    cells.push(percent(row.median_before_stop));
    cells
}

/// The row that the closing sentence quotes: the last printed lap that a tenth of the stints reach. Later ones have few
/// and selected stints.
fn quoted(effects: &StintEffects) -> Option<&StintRow> {
    let third = effects.rows.get(REFERENCE_LAP as usize - 1)?.same_lap.laps;
    let reached = |row: &&StintRow| row.lap > REFERENCE_LAP && row.same_lap.laps * 10 >= third.max(1);
    effects.rows.iter().filter(|row| is_printed(row)).rfind(reached)
}

fn verdict(effects: &StintEffects) -> String {
    const CONFOUNDED: &str = "Before the first stop every stint begins with its race: the lap of the stint is the lap \
        of the race, and no statistic can tell their effects apart.";
    const LIMITS: &str = "Limits: stops are chosen, and drivers whose laps get slower stop earlier; safety cars and \
        traffic are only in the effects of the laps of a race; wear of tyres and fatigue of drivers are not separated.";
    let Some(row) = quoted(effects) else {
        return format!("No lap of a stint can be compared with lap {REFERENCE_LAP}.\n{CONFOUNDED}");
    };
    let phrase = |change: &LossChange| {
        let (value, error) = (percent(change.change), percent(change.standard_error));
        match change.trend() {
            LossTrend::Rises => format!("laps get slower (+{value} %, s.e. {error})"),
            LossTrend::Falls => format!("laps get faster ({value} %, s.e. {error})"),
            LossTrend::Unknown if change.change.is_none() => "the change cannot be determined".to_string(),
            LossTrend::Unknown => format!("no change is shown ({value} %, s.e. {error})"),
        }
    };
    format!(
        "From lap {REFERENCE_LAP} to lap {} of the stint, on the same lap of the same race: {}. Before the first stop: \
         {}.\n{CONFOUNDED}\n{LIMITS}",
        row.lap,
        phrase(&row.same_lap),
        phrase(&row.before_stop)
    )
}
