//! The page of a diagnosis: the answer, four figures with a sentence each, and the tables behind them.

use calibandit_experiment::format::{plus_minus, rounded, thousands, typographic};
use calibandit_fit::diagnose::{ArmDiagnosis, CurveCell, Diagnosis, Price, PriceRow};

use super::figures::{difference_figure, forgetting_figure, price_figure, warm_up_figure};
use super::texts::{DiagnosisSource, DiagnosisTexts, eventual_text, percent, price_text, settled_text, stopped_text};
use crate::chart::Figure;
use crate::report::{Cell, DataTable, Footer, Report, ReportSection};

/// The arms that a sentence names.
const MOST_NAMED: usize = 5;

/// The arms that a table lists.
const MOST_ROWS: usize = 200;

/// The page of a diagnosis. `price` is the predicted price of a memory bound, or why there is none; `command` is the
/// command that makes the diagnosis again, and may be empty.
pub fn diagnosis_report(
    found: &Diagnosis,
    source: DiagnosisSource<'_>,
    price: Result<&Price, &str>,
    command: &str,
) -> Report {
    let texts = DiagnosisTexts::new(found, source);
    let mut report = Report::new(format!("Diagnosis of {}", source.log));
    report.lead = lead(&texts);
    report.sections = vec![warm_up(found), forgetting(found), still_to_change(found), priced(found, price)];
    let seeds = price.is_ok().then_some(calibandit_fit::diagnose::PriceOptions::default().seed);
    report.footer = Footer { command: command.to_owned(), ..Footer::for_seeds(seeds) };
    if seeds.is_none() {
        report.footer.generator.clear();
    }
    report
}

fn lead(texts: &DiagnosisTexts) -> String {
    let mut parts = vec![texts.answer.clone(), texts.read.clone(), texts.reo.clone()];
    parts.extend(texts.tallying.clone());
    parts.extend(texts.notes.iter().map(|note| format!("Note: {note}")));
    if let Some(pilot) = &texts.pilot {
        let [tallying, nothing] = &pilot.commands;
        parts.push(format!("{} `{tallying}`, or `{nothing}`.", pilot.text));
    }
    parts.join("\n\n")
}

fn section(figure: Figure, prose: String, missing: &str) -> ReportSection {
    let prose = if figure.panels.is_empty() { missing.to_owned() } else { prose };
    ReportSection { prose, ..ReportSection::new(figure) }
}

fn warm_up(found: &Diagnosis) -> ReportSection {
    let general = "The loss at the first, second, third play in a row, after a rest. An arm warms up where its curve \
                   falls, and has settled where the curve stays within the tolerance of its end.";
    let slowest = found.arms.iter().max_by_key(|arm| arm.settled.upper.unwrap_or(u32::MAX));
    let prose = format!("{general}{}", slowest.map(last_to_settle).unwrap_or_default());
    let missing = "There is no warm-up curve: no arm was played after a rest often enough.";
    let mut section = section(warm_up_figure(found), prose, missing);
    section.tables.push(arms_table(found));
    section
}

/// A sentence about the arm that decides the answer.
fn last_to_settle(arm: &ArmDiagnosis) -> String {
    let (Some(first), Some(eventual)) = (arm.curve.first(), arm.eventual) else { return String::new() };
    let (begin, end) = (rounded_loss(first.loss.mean), rounded_loss(eventual.mean));
    match arm.settled.upper {
        Some(1) => " No arm is seen to change.".to_owned(),
        Some(_) => {
            format!(" `{}` settles last, from {}: it begins at {begin} and ends at {end}.", arm.name, settled_text(arm))
        }
        None => {
            format!(" `{}` is not shown to settle: it begins at {begin} and is at {end} where the log ends.", arm.name)
        }
    }
}

/// A loss in a sentence: three decimals are enough beside a figure.
fn rounded_loss(loss: f64) -> String {
    rounded((loss * 1e3).round() / 1e3)
}

fn forgetting(found: &Diagnosis) -> ReportSection {
    let prose = "The loss of the first play after a pause, for pauses that follow a long run. Short \
                 pauses cost nothing where the curve is at the arm's eventual loss; an arm that has forgotten \
                 everything begins again at the left end of its warm-up curve. The longest pause at which the curve \
                 still rises is how far back the arm remembers.";
    section(forgetting_figure(found), prose.to_owned(), &without_forgetting(found))
}

/// Why there is no figure of forgetting.
fn without_forgetting(found: &Diagnosis) -> String {
    let pauses: Vec<(&str, &CurveCell)> =
        found.arms.iter().flat_map(|arm| arm.forgetting.iter().map(|cell| (arm.name.as_str(), cell))).collect();
    let range = pauses.iter().map(|(_, cell)| (cell.first, cell.last)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some((shortest, longest)) = range else {
        let missing = "This log says nothing about forgetting: no arm was played in a long run, then paused, and \
                       played again, often enough.";
        return missing.to_owned();
    };
    let losses: Vec<String> = pauses
        .iter()
        .take(MOST_NAMED)
        .map(|(name, cell)| format!("`{name}` {}", rounded_loss(cell.loss.mean)))
        .collect();
    let length = if shortest == longest { longest.to_string() } else { format!("{shortest} to {longest}") };
    format!(
        "This log cannot show how arms forget: after long runs, all pauses of an arm are about equally long (in plays: \
         {length}). The loss of the first play after such a pause: {}.",
        losses.join(", ")
    )
}

fn still_to_change(found: &Diagnosis) -> ReportSection {
    let sure = percent(found.confidence);
    let prose = format!(
        "This is the proof of M. Each band has the one-sided {sure} bounds of the difference between the loss at a \
         play in a row and the eventual loss. Read it from the right to the left: as long as the band of an arm is \
         within the tolerance (± {}), the arm is shown to be settled there; the search ends where a band leaves it. A \
         narrow band that leaves it shows a change; a wide one shows that there are too few plays.",
        rounded(found.tolerance)
    );
    let missing = "Nothing could be compared with an eventual loss: there are too few plays after a rest, or too few \
                   plays in a row.";
    section(difference_figure(found), prose, missing)
}

fn priced(found: &Diagnosis, price: Result<&Price, &str>) -> ReportSection {
    match price {
        Ok(price) => {
            let prose = format!(
                "{} Games are drawn from the uncertainty of the curves above and simulated; regret is the loss in \
                 excess of the best arm played throughout. Bounds that are too small are predicted within a factor of \
                 two or three only.",
                price_text(found, price)
            );
            let mut section = section(price_figure(price), prose, "");
            section.tables.push(price_table(price));
            section
        }
        Err(reason) => {
            let figure = Figure::new("price", "The price of M: predicted regret by memory bound");
            section(figure, String::new(), &format!("No price can be predicted: {reason}."))
        }
    }
}

fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), value: None }
}

fn number(text: impl Into<String>, value: f64) -> Cell {
    Cell { text: text.into(), value: Some(value) }
}

fn whole(value: u64) -> Cell {
    number(thousands(value), value as f64)
}

fn arms_table(found: &Diagnosis) -> DataTable {
    let columns = ["Arm", "Plays", "Runs", "Reach", "Settled from", "Eventual loss", "The search ended"];
    let row = |arm: &ArmDiagnosis| {
        let settled = settled_text(arm);
        let eventual = eventual_text(arm.eventual);
        vec![
            text(&arm.name),
            whole(arm.plays),
            whole(arm.runs),
            whole(u64::from(arm.reach)),
            Cell { value: arm.settled.upper.map(f64::from), text: settled },
            Cell { value: arm.eventual.map(|eventual| eventual.mean), text: eventual },
            text(stopped_text(arm)),
        ]
    };
    let caption = match found.arms.len() > MOST_ROWS {
        true => format!("The first {MOST_ROWS} of {} arms; diagnosis.json has all", thousands(found.arms.len() as u64)),
        false => format!("Arms, with {} intervals of eventual losses", percent(found.confidence)),
    };
    let rows = found.arms.iter().take(MOST_ROWS).map(row).collect();
    DataTable { caption, columns: columns.map(str::to_owned).to_vec(), rows }
}

fn price_table(price: &Price) -> DataTable {
    let row = |row: &PriceRow| {
        let bound = row.memory_bound.map_or_else(|| text("none"), |bound| whole(u64::from(bound)));
        vec![text(&row.policy), bound, number(typographic(&plus_minus(row.regret, row.stderr, 3)), row.regret)]
    };
    DataTable {
        caption: format!("Predicted regret over {} plays, ± standard error", thousands(price.horizon)),
        columns: ["Policy", "M", "Regret"].map(str::to_owned).to_vec(),
        rows: price.rows.iter().map(row).collect(),
    }
}
