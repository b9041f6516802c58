//! A figure in the page: controls, legend and the places of the panels.
//!
//! All of it is in the page before a script runs, with its final size, so that nothing moves when the panels are drawn.

use maud::{Markup, PreEscaped, html};

use super::html::Legend;
use crate::chart::plotly::SpreadMode;
use crate::chart::{AxisScale, Figure, Panel, Style};

/// The figure. `key` names it in addresses, and `csv` says whether its section has a table.
pub(super) fn markup(figure: &Figure, key: &str, csv: bool, legend: &Legend<'_>) -> Markup {
    let several = figure.panels.len() > 1;
    let spread = SpreadMode::of_drawing(figure);
    html! {
        figure class="chart" data-key=(key) data-name=(file_name(&figure.id))
            data-x=(scale(figure, |panel| panel.x.scale)) data-y=(scale(figure, |panel| panel.y.scale))
            data-spread=(spread.name()) {
            (controls(figure, key, spread, csv))
            (entries(figure, legend))
            div class={ "panels needs-js" @if several { " several" } } data-panels=(figure.panels.len()) {
                @for panel in &figure.panels {
                    div class="panel" {
                        @if !panel.title.is_empty() { h3 { (panel.title) } }
                        div class="plot" tabindex="0" role="group" aria-label=(spoken(panel)) {}
                    }
                }
            }
            noscript { (PreEscaped(figure.to_svg(legend.palette()))) }
            div class="drawn" {}
            figcaption {
                @if !figure.caption.is_empty() { (figure.caption) " " }
                @if figure.panels.iter().any(|panel| !panel.series.is_empty()) {
                    span class="spread-now needs-js" { (spread.sentence()) }
                    span class="spread-drawn" { (spread.sentence()) }
                }
                (notes(figure))
            }
        }
    }
}

/// The scale of the first panel, which the controls show at first.
fn scale(figure: &Figure, of: fn(&Panel) -> AxisScale) -> &'static str {
    match figure.panels.first().map(of) {
        Some(AxisScale::Log) => "log",
        _ => "linear",
    }
}

/// A name for downloaded files.
fn file_name(id: &str) -> String {
    let safe: String = id.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if safe.is_empty() { "figure".to_owned() } else { safe }
}

fn controls(figure: &Figure, key: &str, spread: SpreadMode, csv: bool) -> Markup {
    let scales = |which: &str, now: &'static str| {
        let options = ["linear", "log"].map(|name| (name, name, ""));
        choice(&format!("{key}-{which}"), &format!("{which} axis"), &options, now)
    };
    let modes: Vec<_> =
        SpreadMode::of(figure).into_iter().map(|mode| (mode.name(), short_name(mode), mode.sentence())).collect();
    html! {
        div class="controls needs-js" {
            (scales("x", scale(figure, |panel| panel.x.scale)))
            (scales("y", scale(figure, |panel| panel.y.scale)))
            @if modes.len() > 1 { (choice(&format!("{key}-spread"), "Spread", &modes, spread.name())) }
            span class="downloads" role="group" aria-label="Download" {
                button type="button" class="quiet" data-download="svg" title="Download the figure as SVG" { "SVG" }
                button type="button" class="quiet" data-download="png" title="Download the figure as PNG" { "PNG" }
                @if csv {
                    button type="button" class="quiet" data-download="csv" title="Download the table as CSV" { "CSV" }
                }
            }
        }
    }
}

fn short_name(mode: SpreadMode) -> &'static str {
    match mode {
        SpreadMode::Stderr => "± stderr",
        SpreadMode::Sigma => "± 2σ",
        other => other.name(),
    }
}

/// A group of radio buttons that is displayed as one segmented control.
fn choice(name: &str, title: &str, options: &[(&str, &str, &str)], chosen: &str) -> Markup {
    html! {
        fieldset class="choice" {
            legend { (title) }
            @for (value, label, sentence) in options {
                label {
                    input type="radio" name=(name) value=(value) checked[*value == chosen] autocomplete="off"
                        data-sentence=[Some(*sentence).filter(|text| !text.is_empty())];
                    span { (label) }
                }
            }
        }
    }
}

fn entries(figure: &Figure, legend: &Legend<'_>) -> Markup {
    const HELP: &str = "Click to hide or show this curve. Double-click (or Shift-click) to show only this curve, and \
                        again to show all.";
    html! {
        div class="legend needs-js" role="group" aria-label="Curves" {
            @for label in figure.labels() {
                @if let Some(at) = legend.position(label) {
                    button type="button" data-policy=(at) aria-pressed="true" title=(HELP) {
                        (swatch(at, legend.palette().style(label)))
                        (label)
                    }
                }
            }
        }
    }
}

/// The sample of a curve in the legend.
fn swatch(at: usize, style: Style) -> Markup {
    let corner = |(x, y): (f64, f64)| format!("{:.1} {:.1}", 17.0 + 3.6 * x, 7.0 + 3.6 * y);
    let corners: Vec<String> = style.marker.polygon().into_iter().map(corner).collect();
    let dash: Vec<String> = style.dash.iter().map(f64::to_string).collect();
    html! {
        svg width="34" height="14" aria-hidden="true" {
            line x1="1" x2="33" y1="7" y2="7" stroke-width=(style.width) stroke-dasharray=(dash.join(" "))
                style={ "stroke:var(--p" (at) ")" } {}
            path class="marker" d={ "M" (corners.join("L")) "Z" } style={ "fill:var(--p" (at) ")" } {}
        }
    }
}

/// The description of a panel for readers who hear it.
fn spoken(panel: &Panel) -> String {
    let labels: Vec<&str> = panel.series.iter().map(|series| series.label.as_str()).collect();
    let title = if panel.title.is_empty() { String::new() } else { format!("{}. ", panel.title) };
    let (x, y) = (&panel.x.label, &panel.y.label);
    format!("{title}{y} against {x} for {}. Use the arrow keys to read values.", labels.join(", "))
}

/// The remarks of all panels, with the titles of the panels if there are several.
fn notes(figure: &Figure) -> Markup {
    html! {
        @for panel in &figure.panels {
            @for note in &panel.notes {
                span class="note" {
                    @if figure.panels.len() > 1 { b { (panel.title) } ": " }
                    (note)
                }
            }
        }
    }
}
