//! A diagnosis as text for a terminal: the answer first, then what it rests on.

use calibandit_experiment::format::{shortened, thousands};
use calibandit_fit::diagnose::{Diagnosis, Price};
use calibandit_report::diagnosis::{DiagnosisTexts, eventual_text, price_text, settled_text, stopped_text};
use textwrap::core::display_width;

use crate::text::{aligned, hanging, paragraph, visible};

/// The arms that the table shows; `curves.csv` and the JSON have all.
const MOST_ARMS: usize = 30;
/// The notes that are printed.
const MOST_NOTES: usize = 12;
/// The longest name of an arm in the table.
const LONGEST_NAME: usize = 24;

/// The text, in lines of at most `width` columns where names allow it.
pub(super) fn text(found: &Diagnosis, texts: &DiagnosisTexts, price: Result<&Price, &str>, width: usize) -> String {
    let mut out = paragraph(&visible(&texts.read), "", width);
    let mut section = |text: String| {
        out.push('\n');
        out += &text;
    };
    section(paragraph(&visible(&texts.answer), "", width));
    section(arms(found, width));
    section(paragraph(&visible(&texts.reo), "", width));
    if let Some(tallying) = &texts.tallying {
        section(paragraph(&visible(tallying), "", width));
    }
    if !texts.notes.is_empty() {
        let mut notes: String =
            texts.notes.iter().take(MOST_NOTES).map(|note| hanging(&visible(note), "- ", "  ", width)).collect();
        if let Some(more) = texts.notes.len().checked_sub(MOST_NOTES).filter(|more| *more > 0) {
            notes += &format!("- {more} more notes: see `--json`\n");
        }
        section(notes);
    }
    if let Some(pilot) = &texts.pilot {
        let mut text = paragraph(&visible(&pilot.text), "", width);
        for command in &pilot.commands {
            text += &command_lines(&visible(command), width);
        }
        section(text);
    }
    let price = match price {
        Ok(price) => price_text(found, price),
        Err(reason) => format!("No price of a wrong M can be predicted: {reason}."),
    };
    section(paragraph(&visible(&price), "", width));
    out
}

/// A command over several lines that a shell reads as one. Lines begin with an option.
fn command_lines(command: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec!["  ".to_owned()];
    for (nth, part) in command.split(" --").enumerate() {
        let part = if nth == 0 { part.to_owned() } else { format!(" --{part}") };
        let line = lines.last_mut().expect("there is a first line");
        // Two columns for the mark at the end of a line.
        if nth > 0 && display_width(line) + display_width(&part) + 2 > width {
            lines.push(format!("   {part}"));
        } else {
            line.push_str(&part);
        }
    }
    format!("{}\n", lines.join(" \\\n"))
}

/// The table of arms; without the last column if the lines would be too long.
fn arms(found: &Diagnosis, width: usize) -> String {
    let header = ["arm", "plays", "runs", "reach", "settled from", "eventual loss", "the search ended"];
    let shown = found.arms.iter().take(MOST_ARMS);
    let rows: Vec<Vec<String>> = shown
        .map(|arm| {
            vec![
                visible(&shortened(&arm.name, LONGEST_NAME)),
                thousands(arm.plays),
                thousands(arm.runs),
                thousands(u64::from(arm.reach)),
                settled_text(arm),
                eventual_text(arm.eventual),
                stopped_text(arm).to_owned(),
            ]
        })
        .collect();
    let mut table = aligned(&header, &rows, 1);
    if table.lines().any(|line| display_width(line) > width) {
        let without = |row: &Vec<String>| [&row[..3], &row[4..]].concat();
        let header = [&header[..3], &header[4..]].concat();
        table = aligned(&header, &rows.iter().map(without).collect::<Vec<_>>(), 1);
    }
    if let Some(more) = found.arms.len().checked_sub(MOST_ARMS).filter(|more| *more > 0) {
        table += &format!("and {} more arms: see `--json`\n", thousands(more as u64));
    }
    table
}
