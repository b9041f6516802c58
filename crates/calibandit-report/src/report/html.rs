//! The page around figures and tables.

use super::text::{anchor, escape, paragraphs, script_json};
use super::{Footer, Report, ReportSection, data, table};
use crate::chart::{Palette, Style};
use serde_json::json;
use std::fmt::Write as _;

const STYLE: &str = include_str!("../../assets/report/report.css");
const SCRIPTS: [&str; 3] = [
    include_str!("../../assets/report/scale.js"),
    include_str!("../../assets/report/chart.js"),
    include_str!("../../assets/report/page.js"),
];

/// Nothing may be fetched, sent or framed; only what is in the file runs.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Writes the whole page. Writing into a `String` cannot fail, which is why results of `write!` are dropped here.
pub(super) fn page(report: &Report) -> String {
    let palette = report.palette();
    let mut labels: Vec<&str> = Vec::new();
    for label in report.sections.iter().flat_map(|section| section.figure.labels()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let styles: Vec<Style> = labels.iter().map(|label| palette.style(label)).collect();
    let title = escape(&report.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n",
        colors(&styles)
    );
    out.push_str(
        "<a class=\"skip\" href=\"#main\">Skip to the figures</a>\n<header class=\"top\">\n<div class=\"top-row\">",
    );
    let _ = writeln!(out, "<h1>{title}</h1>");
    out.push_str("<button type=\"button\" id=\"theme\" class=\"quiet needs-js\" aria-label=\"Switch between light and dark\">Dark</button></div>\n");
    out.push_str(&paragraphs(&report.lead));
    out.push_str(
        "<noscript><p class=\"notice\">Without JavaScript the figures are still pictures.</p></noscript>\n</header>\n",
    );
    contents(&mut out, report);
    out.push_str("<main id=\"main\">\n");
    for (nth, each) in report.sections.iter().enumerate() {
        let label_index = |label: &str| labels.iter().position(|known| *known == label);
        section(&mut out, each, nth, &palette, label_index);
    }
    out.push_str("</main>\n");
    footer(&mut out, &report.footer);
    out.push_str("<div id=\"live\" class=\"unseen\" aria-live=\"polite\"></div>\n");
    let policies: Vec<_> = labels
        .iter()
        .zip(&styles)
        .map(|(label, style)| json!({"label": label, "dash": style.dash, "width": style.width, "marker": style.marker.polygon()}))
        .collect();
    let _ =
        writeln!(out, "<script type=\"application/json\" id=\"policies\">{}</script>", script_json(&json!(policies)));
    let _ = writeln!(
        out,
        "<script>\n(() => {{\n\"use strict\";\n{}}})();\n</script>\n</body>\n</html>",
        SCRIPTS.join("\n")
    );
    out
}

/// The policies' colours as variables, so that a change of theme needs no drawing.
fn colors(styles: &[Style]) -> String {
    let variables = |pick: fn(&Style) -> &'static str| -> String {
        styles.iter().enumerate().map(|(i, style)| format!("--p{i}:{};", pick(style))).collect()
    };
    let dark = variables(|style| style.dark);
    format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n",
        variables(|style| style.color)
    )
}

fn contents(out: &mut String, report: &Report) {
    if report.sections.len() < 2 {
        return;
    }
    out.push_str("<nav class=\"contents\" aria-label=\"Figures\">\n<ol>\n");
    for (nth, section) in report.sections.iter().enumerate() {
        let id = anchor(&section.figure.id, nth);
        let _ = writeln!(out, "<li><a href=\"#{id}\">{}</a></li>", escape(&section.figure.title));
    }
    out.push_str("</ol>\n</nav>\n");
}

fn section(
    out: &mut String,
    section: &ReportSection,
    nth: usize,
    palette: &Palette,
    index: impl Fn(&str) -> Option<usize>,
) {
    let figure = &section.figure;
    let id = anchor(&figure.id, nth);
    let _ = writeln!(out, "<section id=\"{id}\" aria-labelledby=\"{id}-title\">");
    let _ = writeln!(out, "<h2 id=\"{id}-title\">{}</h2>", escape(&figure.title));
    out.push_str(&paragraphs(&section.prose));
    let _ = writeln!(out, "<figure class=\"chart\" data-source=\"{id}-data\" data-panels=\"{}\">", figure.panels.len());
    let _ = writeln!(out, "<noscript>{}</noscript>", figure.to_svg(palette));
    let caption = escape(&figure.caption);
    let _ = writeln!(out, "<figcaption>{caption}{}</figcaption>\n</figure>", notes(section));
    let data = script_json(&data::figure(figure, &index));
    let _ = writeln!(out, "<script type=\"application/json\" id=\"{id}-data\">{data}</script>");
    out.push_str(&table::table(section, &index));
    for each in &section.tables {
        out.push_str(&table::data_table(each, &index));
    }
    if !section.command.is_empty() {
        out.push_str("<div class=\"again\"><span class=\"small-title\">Run it again</span>");
        let _ = writeln!(out, "{}</div>", code_box(&section.command));
    }
    if !section.spec.is_empty() {
        let _ = writeln!(
            out,
            "<details class=\"spec\"><summary>The specification that made it</summary>{}</details>",
            code_box(&section.spec)
        );
    }
    out.push_str("</section>\n");
}

fn notes(section: &ReportSection) -> String {
    let figure = &section.figure;
    let several = figure.panels.len() > 1;
    let mut out = String::new();
    for panel in &figure.panels {
        for note in &panel.notes {
            let name = if several { format!("<b>{}</b>: ", escape(&panel.title)) } else { String::new() };
            let _ = write!(out, "<span class=\"note\">{name}{}</span>", escape(note));
        }
    }
    out
}

fn code_box(text: &str) -> String {
    format!(
        "<div class=\"code\"><pre tabindex=\"0\"><code>{}</code></pre>\
         <button type=\"button\" class=\"quiet copy needs-js\">Copy</button></div>",
        escape(text.trim_end())
    )
}

fn footer(out: &mut String, footer: &Footer) {
    out.push_str("<footer>\n");
    if !footer.command.is_empty() {
        let _ = writeln!(
            out,
            "<div class=\"again\"><span class=\"small-title\">The whole report again</span>{}</div>",
            code_box(&footer.command)
        );
    }
    out.push_str("<dl>\n");
    let facts = [("Seed", &footer.seed), ("Generator", &footer.generator)];
    let versions = footer.versions.iter().map(|(name, version)| (name.as_str(), version));
    for (name, value) in facts.into_iter().chain(versions).filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    }
    out.push_str("</dl>\n<p>Curves are means over instances, rounded to five digits; the result files beside this page have all of them.</p>\n</footer>\n");
}
