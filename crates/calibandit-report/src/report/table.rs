//! The table under a figure.

use super::text::{escape, table_number};
use super::{DataTable, PolicyRow, ReportSection};
use std::fmt::Write as _;

/// The table as HTML; nothing if it has no rows. It is complete without JavaScript, which only adds sorting and the choice of a panel.
pub(super) fn table(section: &ReportSection, label_index: impl Fn(&str) -> Option<usize>) -> String {
    let rows = &section.summary;
    if rows.is_empty() {
        return String::new();
    }
    let panels = rows.iter().any(|row| !row.panel.is_empty());
    let caption = if section.summary_caption.is_empty() { "Over all instances" } else { &section.summary_caption };
    let mut out = String::from(
        "<div class=\"table-box\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">\n<table class=\"summary\">\n",
    );
    // Writing into a `String` cannot fail.
    let _ = writeln!(out, "<caption>{}</caption>", escape(caption));
    out.push_str("<thead><tr>");
    if panels {
        out.push_str("<th scope=\"col\" data-sort=\"text\">Panel</th>");
    }
    out.push_str("<th scope=\"col\" data-sort=\"text\">Policy</th>");
    for name in ["Mean ± stderr", "Median", "90 %", "99 %", "Max", "n"] {
        let _ = write!(out, "<th scope=\"col\" data-sort=\"number\" class=\"number\">{name}</th>");
    }
    out.push_str("<th scope=\"col\">Significantly below</th></tr></thead>\n<tbody>\n");
    for row in rows {
        write_row(&mut out, row, panels, label_index(&row.policy));
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// A table of any columns; the name of a policy in the first one gets its colour.
pub(super) fn data_table(table: &DataTable, label_index: impl Fn(&str) -> Option<usize>) -> String {
    let mut out = String::from(
        "<div class=\"table-box\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">\n<table class=\"summary\">\n",
    );
    let _ = writeln!(out, "<caption>{}</caption>\n<thead><tr>", escape(&table.caption));
    for (column, name) in table.columns.iter().enumerate() {
        let numbers = table.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.value.is_some()));
        let kind = if numbers { "\"number\" class=\"number\"" } else { "\"text\"" };
        let _ = write!(out, "<th scope=\"col\" data-sort={kind}>{}</th>", escape(name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let text = escape(&cell.text);
            let _ = match (column, cell.value) {
                (0, _) => {
                    let dot = |at| format!("<span class=\"dot\" style=\"background:var(--p{at})\"></span>");
                    let swatch = label_index(&cell.text).map(dot).unwrap_or_default();
                    write!(out, "<th scope=\"row\">{swatch}{text}</th>")
                }
                (_, Some(value)) => write!(out, "<td class=\"number\" data-value=\"{value}\">{text}</td>"),
                (_, None) => write!(out, "<td class=\"number\">{text}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn write_row(out: &mut String, row: &PolicyRow, panels: bool, policy: Option<usize>) {
    let _ = write!(out, "<tr data-panel=\"{}\">", escape(&row.panel));
    if panels {
        let _ = write!(out, "<td>{}</td>", escape(&row.panel));
    }
    let swatch =
        policy.map(|at| format!("<span class=\"dot\" style=\"background:var(--p{at})\"></span>")).unwrap_or_default();
    let _ = write!(out, "<th scope=\"row\">{swatch}{}</th>", escape(&row.policy));
    let number = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
    let _ = write!(
        out,
        "<td class=\"number\" data-value=\"{}\"><b>{}</b> <span class=\"stderr\">± {}</span></td>",
        number(row.mean),
        table_number(row.mean),
        table_number(row.stderr)
    );
    for value in [row.median, row.p90, row.p99, row.max] {
        let _ = write!(out, "<td class=\"number\" data-value=\"{}\">{}</td>", number(value), table_number(value));
    }
    let _ = write!(out, "<td class=\"number\" data-value=\"{0}\">{0}</td>", row.instances);
    let better = if row.better_than.is_empty() { "–".to_owned() } else { escape(&row.better_than.join(" · ")) };
    let _ = writeln!(out, "<td class=\"better\">{better}</td></tr>");
}
