//! The tables under a figure. They are complete without JavaScript, which adds sorting and the choice of a panel.

use maud::{Markup, html};

use super::html::Legend;
use super::text::table_number;
use super::{DataTable, PolicyRow, ReportSection};

/// The columns of numbers: the name in CSV files, and the heading.
const NUMBERS: [(&str, &str); 6] = [
    ("mean", "Mean ± stderr"),
    ("median", "Median"),
    ("p90", "90 %"),
    ("p99", "99 %"),
    ("max", "Max"),
    ("instances", "n"),
];

/// The summary table of a section; nothing if it has no rows.
pub(super) fn summary(section: &ReportSection, legend: &Legend<'_>) -> Markup {
    let rows = &section.summary;
    let with_panels = rows.iter().any(|row| !row.panel.is_empty());
    let caption = if section.summary_caption.is_empty() { "Over all instances" } else { &section.summary_caption };
    let head = html! {
        @if with_panels { th scope="col" data-sort="text" data-name="panel" { (sorter("Panel")) } }
        th scope="col" data-sort="text" data-name="policy" { (sorter("Policy")) }
        @for (name, title) in NUMBERS {
            th scope="col" data-sort="number" data-name=(name) class="number" { (sorter(title)) }
        }
        th scope="col" data-name="better_than" { "Significantly below" }
    };
    let body = html! { @for row in rows { (summary_row(row, with_panels, legend)) } };
    html! {
        @if !rows.is_empty() {
            @if with_panels { (filter(rows)) }
            (table(caption, &head, &body))
        }
    }
}

/// The selection of one panel of a table.
fn filter(rows: &[PolicyRow]) -> Markup {
    let mut panels: Vec<&str> = rows.iter().map(|row| row.panel.as_str()).collect();
    panels.dedup();
    html! {
        @if panels.len() > 1 {
            label class="filter needs-js" {
                "Show rows of "
                select autocomplete="off" {
                    option value="" { "all panels" }
                    @for panel in panels { option value=(panel) { (panel) } }
                }
            }
        }
    }
}

/// The heading of a column that can be sorted.
fn sorter(title: &str) -> Markup {
    html! { button type="button" { (title) } }
}

fn summary_row(row: &PolicyRow, with_panels: bool, legend: &Legend<'_>) -> Markup {
    let better_than = if row.better_than.is_empty() { "–".to_owned() } else { row.better_than.join(" · ") };
    html! {
        tr data-panel=(row.panel) {
            @if with_panels { td class="of-panel" { (row.panel) } }
            (row_head(&row.policy, legend))
            td class="number" data-value=(sort_value(row.mean)) data-stderr=(sort_value(row.stderr)) {
                b { (table_number(row.mean)) } " " span class="stderr" { "± " (table_number(row.stderr)) }
            }
            @for value in [row.median, row.p90, row.p99, row.max] {
                td class="number" data-value=(sort_value(value)) { (table_number(value)) }
            }
            td class="number" data-value=(row.instances) { (row.instances) }
            td class="better" data-value=(row.better_than.join("; ")) { (better_than) }
        }
    }
}

/// A table with columns of the caller's choice. A policy's label in the first column has its colour beside it.
pub(super) fn data_table(data: &DataTable, legend: &Legend<'_>) -> Markup {
    let is_number =
        |column: usize| data.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.value.is_some()));
    let head = html! {
        @for (column, name) in data.columns.iter().enumerate() {
            @if is_number(column) {
                th scope="col" data-sort="number" class="number" { (sorter(name)) }
            } @else {
                th scope="col" data-sort="text" { (sorter(name)) }
            }
        }
    };
    let body = html! {
        @for row in &data.rows {
            tr {
                @for (column, cell) in row.iter().enumerate() {
                    @if column == 0 {
                        (row_head(&cell.text, legend))
                    } @else {
                        td class=[is_number(column).then_some("number")] data-value=[cell.value.map(sort_value)] {
                            (cell.text)
                        }
                    }
                }
            }
        }
    };
    table(&data.caption, &head, &body)
}

/// A table in a box that scrolls on narrow screens.
fn table(caption: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        div class="table-box" tabindex="0" role="region" aria-label="Table" {
            table class="summary" {
                caption { (caption) }
                thead { tr { (head) } }
                tbody { (body) }
            }
        }
    }
}

/// The first cell of a row, with the colour of the policy that it names.
fn row_head(label: &str, legend: &Legend<'_>) -> Markup {
    html! {
        th scope="row" {
            @if let Some(at) = legend.position(label) {
                span class="dot" style={ "background:var(--p" (at) ")" } {}
            }
            (label)
        }
    }
}

/// The value by which a column is sorted; empty, which sorts last, for what is not a finite number.
fn sort_value(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
