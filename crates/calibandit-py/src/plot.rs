//! Figures of results for Python: numbers and labels, the styles of the curves, and the description for plotly.

use calibandit_experiment::Experiment;
use calibandit_experiment::results::Results;
use calibandit_experiment::spec::Scale;
use calibandit_report::chart::plotly::{SpreadMode, ViewOptions, description, styles};
use calibandit_report::chart::{AxisScale, Figure, Palette, StyleKey};
use calibandit_report::figures::{self, FigureChoice, PlottedColumn, chosen_figure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::table::Described;

/// What Python asks for. What is not given is as in the report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlotRequest {
    /// `t`, or a swept key.
    x: Option<String>,
    column: String,
    policies: Option<Vec<String>>,
    x_scale: Option<AxisScale>,
    y_scale: Option<AxisScale>,
    spread: Option<SpreadMode>,
}

/// [`PlotRequest::x`] for curves over time.
const TIME: &str = "t";

/// The figure, the style of every curve in it, and the description for plotly, as JSON.
pub(crate) fn plot(described: &[Described], results: &[Results], request: &PlotRequest) -> Result<Value, Failure> {
    let several = described.len() > 1;
    let mut figure = Figure::new("plot", "");
    let mut curves: Vec<(&str, Option<StyleKey>)> = Vec::new();
    for (described, results) in described.iter().zip(results) {
        let keys = described.styles();
        let part = of_experiment(described, results, &keys, request)?;
        if !several {
            figure.title = part.title;
        }
        for mut panel in part.panels {
            panel.x.scale = request.x_scale.unwrap_or(panel.x.scale);
            panel.y.scale = request.y_scale.unwrap_or(panel.y.scale);
            if several {
                panel.id = format!("{}-{}", results.experiment, panel.id);
                panel.title = format!("{}: {}", results.experiment, panel.title);
            }
            figure.panels.push(panel);
        }
        curves.extend(results.policies.iter().map(String::as_str).zip(keys));
    }
    // Of all policies, so that a policy keeps its style when others are left out.
    let palette = Palette::new(curves.iter().map(|(label, key)| (*label, key.as_ref())));
    let options = ViewOptions { spread: request.spread, ..ViewOptions::default() };
    Ok(json!({
        "figure": figure,
        "styles": styles(&figure, &palette),
        "plotly": description(&figure, &palette, &options),
    }))
}

/// The figure of one experiment.
fn of_experiment(
    described: &Described,
    results: &Results,
    keys: &[Option<StyleKey>],
    request: &PlotRequest,
) -> Result<Figure, Failure> {
    let column = match request.column.as_str() {
        "loss" | "reward" => PlottedColumn::Loss,
        "switches" => PlottedColumn::Switches,
        _ => PlottedColumn::Cpr,
    };
    let spec = described.spec();
    let own_x = spec.map(Experiment::figure).filter(|figure| !figure.is_over_time()).map_or(TIME, |figure| &figure.x);
    let x = request.x.as_deref().unwrap_or(own_x);
    if let Some(spec) = spec.filter(|_| x == own_x && request.policies.is_none() && column == PlottedColumn::Cpr) {
        return Ok(figures::figure(spec, results)?);
    }
    let policies: Vec<usize> = match &request.policies {
        None => (0..results.policies.len()).collect(),
        Some(wanted) => wanted.iter().filter_map(|name| results.policies.iter().position(|p| p == name)).collect(),
    };
    let symbol = |name: &str| {
        let settings = spec.into_iter().flat_map(Experiment::points).flat_map(|point| &point.settings);
        settings.into_iter().find(|setting| setting.name == name).map_or(name, |setting| &setting.symbol).to_owned()
    };
    let title = described.heading();
    let choice = FigureChoice {
        title: &title,
        games: &results.games,
        policies: &policies,
        styles: keys,
        column,
        x: (x != TIME).then_some(x),
        symbol: &symbol,
    };
    let mut figure = chosen_figure(results, &choice).map_err(|error| Failure::Unknown(error.to_string()))?;
    // The scales that the experiment chose for these axes.
    if let Some(spec) = spec.filter(|_| x == own_x) {
        for panel in &mut figure.panels {
            panel.x.scale = axis(spec.figure().x_scale);
            panel.y.scale = axis(spec.figure().y_scale);
        }
    }
    Ok(figure)
}

fn axis(scale: Scale) -> AxisScale {
    match scale {
        Scale::Linear => AxisScale::Linear,
        Scale::Log => AxisScale::Log,
    }
}
