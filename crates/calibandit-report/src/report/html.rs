//! The page around the figures and tables.
//!
//! Everything that the caller supplies is inserted as text and escaped by `maud`. Only the drawings, the style sheet,
//! the scripts and their JSON data are inserted unescaped (`PreEscaped`), and all of these are produced by this crate.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::json;

use super::text::{anchor, paragraphs, script_json};
use super::{Footer, Report, ReportSection, data, figure, table};
use crate::chart::plotly::{Theme, template};
use crate::chart::{Palette, Style};

const STYLE: &str = include_str!("../../assets/report/report.css");
const SCRIPTS: [&str; 4] = [
    include_str!("../../assets/report/address.js"),
    include_str!("../../assets/report/reading.js"),
    include_str!("../../assets/report/figure.js"),
    include_str!("../../assets/report/page.js"),
];
/// The page runs this text as a script after the first paint.
const PLOTLY: &str = include_str!("../../assets/plotly/plotly-scatter.min.js");

/// Forbids every request and every script that is not part of the file. Images from memory (`blob:`) are needed for
/// downloads of figures as PNG.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                                       img-src data: blob:; base-uri 'none'; form-action 'none'";

/// What CPR is, for reports whose lead does not say it.
const CPR: &str = "CPR (complete policy regret) is the expected loss of the plays that a policy made, minus the least \
                   expected loss that any sequence of plays can have. Less is better, and 0 is the optimum.";

/// The labels of a report with their styles. The position of a label identifies a policy in the page's CSS variables
/// and scripts.
pub(super) struct Legend<'a> {
    palette: &'a Palette,
    labels: Vec<&'a str>,
}

impl<'a> Legend<'a> {
    fn new(report: &'a Report, palette: &'a Palette) -> Self {
        let mut labels: Vec<&str> = Vec::new();
        for label in report.sections.iter().flat_map(|section| section.figure.labels()) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        Legend { palette, labels }
    }

    /// The position of a label; `None` for a label without a curve.
    pub(super) fn position(&self, label: &str) -> Option<usize> {
        self.labels.iter().position(|known| *known == label)
    }

    /// The styles.
    pub(super) fn palette(&self) -> &'a Palette {
        self.palette
    }

    fn styles(&self) -> impl Iterator<Item = (&'a str, Style)> {
        self.labels.iter().map(|label| (*label, self.palette.style(label)))
    }

    /// The colours as CSS variables, so that a change of the theme does not redraw the figures.
    fn css(&self) -> String {
        let variables = |pick: fn(Style) -> &'static str| -> String {
            self.styles().enumerate().map(|(i, (_, style))| format!("--p{i}:{};", pick(style))).collect()
        };
        let (light, dark) = (variables(|style| style.color), variables(|style| style.dark));
        format!(
            ":root{{{light}}}\n\
             @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
             @media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        )
    }

    /// What the scripts need to know of all figures: labels with their colours, and the two themes.
    fn json(&self) -> serde_json::Value {
        let colors = |(label, style): (&str, Style)| json!({"label": label, "color": style.color, "dark": style.dark});
        json!({
            "policies": self.styles().map(colors).collect::<Vec<_>>(),
            "templates": {"light": template(Theme::Light), "dark": template(Theme::Dark)},
        })
    }
}

/// The whole page. `beside_results` says that the files with all results are in the folder of the page.
pub(super) fn page(report: &Report, beside_results: bool) -> String {
    let palette = report.palette();
    let legend = Legend::new(report, &palette);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(CONTENT_SECURITY_POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (report.title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) (PreEscaped(legend.css())) }
                script { "document.documentElement.classList.add('js')" }
            }
            body {
                a class="skip" href="#main" { "Skip to the figures" }
                (header(report))
                (contents(report))
                main id="main" {
                    @for (nth, each) in report.sections.iter().enumerate() {
                        (section(each, nth, &report.title, &legend))
                    }
                }
                (footer(&report.footer, beside_results))
                div id="live" class="visually-hidden" aria-live="polite" {}
                // Data and scripts come last, so that the browser can paint before it has read them.
                (data_script("report-data", &legend.json()))
                @for (nth, each) in report.sections.iter().enumerate() {
                    (data_script(&format!("f{}-data", nth + 1), &data::figure(&each.figure, &palette)))
                }
                script type="text/plain" id="plotly" { (PreEscaped(PLOTLY)) }
                script { (PreEscaped("\n(() => {\n\"use strict\";\n")) (PreEscaped(SCRIPTS.join("\n"))) "})();\n" }
            }
        }
    };
    page.into_string() + "\n"
}

fn header(report: &Report) -> Markup {
    html! {
        header class="top" {
            div class="top-row" {
                h1 { (report.title) }
                button type="button" id="theme" class="quiet needs-js" aria-label="Switch between light and dark" {
                    "Dark"
                }
            }
            (paragraphs(&report.lead))
            @if shows_cpr(report) && !report.lead.contains("complete policy regret") { p { (CPR) } }
            noscript { p class="notice" { "JavaScript is disabled: the figures are static images." } }
        }
    }
}

fn shows_cpr(report: &Report) -> bool {
    let panels = report.sections.iter().flat_map(|section| &section.figure.panels);
    panels.into_iter().any(|panel| panel.y.label.contains("CPR"))
}

/// The table of contents; nothing for a single section.
fn contents(report: &Report) -> Markup {
    html! {
        @if report.sections.len() > 1 {
            nav class="contents" aria-label="Figures" {
                ol {
                    @for (nth, section) in report.sections.iter().enumerate() {
                        li { a href={ "#" (anchor(&section.figure.id, nth)) } { (section.figure.title) } }
                    }
                }
            }
        }
    }
}

fn section(section: &ReportSection, nth: usize, report_title: &str, legend: &Legend<'_>) -> Markup {
    let figure = &section.figure;
    let id = anchor(&figure.id, nth);
    let title_id = format!("{id}-title");
    let repeats_title = figure.title == report_title;
    let csv = !(section.summary.is_empty() && section.tables.is_empty());
    html! {
        section id=(id) aria-labelledby=(title_id) {
            // A report on one figure may have its title already.
            h2 id=(title_id) class=[repeats_title.then_some("visually-hidden")] { (figure.title) }
            (paragraphs(&section.prose))
            // Without a panel there is nothing to draw, and the text says why.
            @if !figure.panels.is_empty() { (figure::markup(figure, &format!("f{}", nth + 1), csv, legend)) }
            (table::summary(section, legend))
            @for each in &section.tables { (table::data_table(each, legend)) }
            @if !section.command.is_empty() {
                div class="again" {
                    span class="small-title" { "Reproduce this figure" }
                    (code_box(&section.command))
                }
            }
            @if !section.spec.is_empty() {
                details class="spec" {
                    summary { "Experiment file" }
                    (code_box(&section.spec))
                }
            }
        }
    }
}

/// JSON that the scripts read.
fn data_script(id: &str, value: &serde_json::Value) -> Markup {
    html! { script type="application/json" id=(id) { (PreEscaped(script_json(value))) } }
}

fn code_box(text: &str) -> Markup {
    html! {
        div class="code" {
            pre tabindex="0" { code { (text.trim_end()) } }
            button type="button" class="quiet copy needs-js" { "Copy" }
        }
    }
}

fn footer(footer: &Footer, beside_results: bool) -> Markup {
    let facts = [("Seed", footer.seed.as_str()), ("Generator", footer.generator.as_str())];
    let versions = footer.versions.iter().map(|(name, version)| (name.as_str(), version.as_str()));
    html! {
        footer {
            @if !footer.command.is_empty() {
                div class="again" {
                    span class="small-title" { "Reproduce the whole report" }
                    (code_box(&footer.command))
                }
            }
            dl {
                @for (name, value) in facts.into_iter().chain(versions).filter(|(_, value)| !value.is_empty()) {
                    div { dt { (name) } dd { (value) } }
                }
            }
            @if beside_results { p { "The files next to this page have all results with all digits." } }
        }
    }
}
