//! Figures with a choice of what they show: the quantity, the horizontal axis and the policies. Python's `plot` makes
//! them; reports show the figure of the experiment.

use std::collections::HashMap;
use std::io;

use super::{over_games, series};
use crate::chart::{Axis, AxisScale, Figure, Panel, Series, StyleKey};
use calibandit_experiment::format::thousands;
use calibandit_experiment::results::{Results, Sample, swept_text};

/// The quantity on the vertical axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlottedColumn {
    /// The complete policy regret.
    #[default]
    Cpr,
    /// The expected loss.
    Loss,
    /// The number of switches.
    Switches,
}

impl PlottedColumn {
    fn of(self, sample: &Sample) -> f64 {
        match self {
            PlottedColumn::Cpr => sample.cpr,
            PlottedColumn::Loss => sample.loss,
            PlottedColumn::Switches => sample.switches as f64,
        }
    }

    fn label(self, results: &Results) -> String {
        match self {
            PlottedColumn::Cpr => results.regret_name("CPR"),
            PlottedColumn::Loss => format!("expected {}", results.loss_column()),
            PlottedColumn::Switches => "switches".to_owned(),
        }
    }
}

/// What a figure of results shows.
#[derive(Clone, Copy)]
pub struct FigureChoice<'a> {
    /// The title.
    pub title: &'a str,
    /// The titles of the panels over time: one per game.
    pub games: &'a [String],
    /// The indices of the policies that are shown.
    pub policies: &'a [usize],
    /// The style keys of all policies of the results.
    pub styles: &'a [Option<StyleKey>],
    /// The quantity.
    pub column: PlottedColumn,
    /// The swept key on the horizontal axis; `None` for the time.
    pub x: Option<&'a str>,
    /// The symbol of a swept key in labels.
    pub symbol: &'a dyn Fn(&str) -> String,
}

/// Why a figure cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// The sweep does not set this key.
    #[error("there is no swept key {x:?}; {}", if known.is_empty() {
        "nothing is swept".to_owned()
    } else {
        format!("the swept keys are {}", known.join(", "))
    })]
    UnknownKey {
        /// The key.
        x: String,
        /// The keys that the sweep sets.
        known: Vec<String>,
    },
    /// The values of the key are not numbers.
    #[error("the values of {x:?} are not numbers, so they cannot be on an axis")]
    NotNumbers {
        /// The key.
        x: String,
    },
    /// Curves in a temporary file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The figure of these results that shows what was chosen, with linear axes: one panel per game over time, or one panel
/// per combination of the other swept keys with the values at the horizon.
///
/// # Errors
/// [`ChoiceError`] if the horizontal axis is not a swept key with numbers, or if curves cannot be read.
pub fn chosen_figure(results: &Results, choice: &FigureChoice<'_>) -> Result<Figure, ChoiceError> {
    let mut figure = Figure::new(&results.experiment, choice.title);
    let styled = |curve: Series, policy: usize| curve.style(choice.styles.get(policy).cloned().flatten());
    let Some(x) = choice.x else {
        for (game, label) in choice.games.iter().enumerate() {
            let (x, y) = axes("plays t", &choice.column.label(results));
            let mut panel = Panel::new(format!("game{game}"), label, x, y);
            for &policy in choice.policies {
                let curve = series(results, game, policy, None, |sample, _| choice.column.of(sample))?;
                panel = panel.series(styled(curve, policy));
            }
            figure = figure.panel(panel);
        }
        return Ok(figure);
    };
    for (nth, (title, games)) in groups(results, x, choice.symbol)?.into_iter().enumerate() {
        let label = format!("{} at T = {}", choice.column.label(results), thousands(results.end_time()));
        let (x, y) = axes(&(choice.symbol)(x), &label);
        let mut panel = Panel::new(format!("group{nth}"), title, x, y);
        for &policy in choice.policies {
            panel =
                panel.series(styled(over_games(results, &games, policy, |sample| choice.column.of(sample)), policy));
        }
        figure = figure.panel(panel);
    }
    Ok(figure)
}

fn axes(x: &str, y: &str) -> (Axis, Axis) {
    (Axis::new(x, AxisScale::Linear), Axis::new(y, AxisScale::Linear))
}

/// The games that differ in nothing but `x`: a title, and each game with its position, from left to right.
type PanelGames = (String, Vec<(f64, usize)>);

fn groups(results: &Results, x: &str, symbol: &dyn Fn(&str) -> String) -> Result<Vec<PanelGames>, ChoiceError> {
    let known = || results.swept().iter().map(|column| column.name.clone()).collect();
    let Some(positions) = results.swept_column(x) else {
        return Err(ChoiceError::UnknownKey { x: x.to_owned(), known: known() });
    };
    let mut groups: Vec<PanelGames> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (game, value) in positions.values.iter().enumerate() {
        if value.is_null() {
            continue;
        }
        let at = value.as_f64().ok_or_else(|| ChoiceError::NotNumbers { x: x.to_owned() })?;
        let others = results.swept().iter().filter(|column| column.name != x && !column.values[game].is_null());
        let others = others.map(|column| format!("{} = {}", symbol(&column.name), swept_text(&column.values[game])));
        let title = others.collect::<Vec<_>>().join(", ");
        let group = *places.entry(title.clone()).or_insert(groups.len());
        if group == groups.len() {
            groups.push((title, Vec::new()));
        }
        groups[group].1.push((at, game));
    }
    for (_, games) in &mut groups {
        games.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibandit_experiment::results::{Curve, SweptColumn};
    use serde_json::json;

    /// Two policies, four games (M = 4, 2 at K = 3 and 5), two instances with the CPR `10 game + policy + instance`.
    fn results() -> Results {
        let sample = |t: u64, cpr: f64| Sample { t, loss: 2.0 * cpr, cpr, switches: 7 };
        let mut curves = Vec::new();
        for (game, policy, instance) in (0..4).flat_map(|g| (0..2).flat_map(move |p| (0..2).map(move |i| (g, p, i)))) {
            let cpr = (10 * game + policy + instance as usize) as f64;
            curves.push(Curve { game, policy, instance, samples: vec![sample(50, 0.0), sample(1000, cpr)] });
        }
        let column = |name: &str, values: serde_json::Value| SweptColumn {
            name: name.into(),
            values: values.as_array().cloned().unwrap_or_default(),
        };
        let text = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        Results::new("x".into(), text(&["a", "b", "c", "d"]), text(&["P", "Q"]), curves).with_swept(vec![
            column("policy.memory_bound", json!([4, 2, 4, 2])),
            column("game.arms", json!([3, 3, 5, 5])),
            column("game.kind", json!(["u", "u", "u", "u"])),
        ])
    }

    fn chosen<'a>(x: Option<&'a str>, policies: &'a [usize], games: &'a [String]) -> FigureChoice<'a> {
        let column = PlottedColumn::Loss;
        FigureChoice { title: "x", games, policies, styles: &[], column, x, symbol: &|name| name.replace("game.", "") }
    }

    #[test]
    fn over_time_there_is_one_panel_per_game_with_the_chosen_policies() {
        let results = results();
        let figure = chosen_figure(&results, &chosen(None, &[1], &results.games)).unwrap();
        assert_eq!(figure.panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(figure.labels(), ["Q"]);
        let curve = &figure.panels[2].series[0];
        // Game 2, policy 1: the CPRs 21 and 22, so the losses 42 and 44.
        assert_eq!(
            curve.points.iter().map(|point| (point.x, point.mean)).collect::<Vec<_>>(),
            [(50.0, 0.0), (1000.0, 43.0)]
        );
        assert_eq!(curve.points[1].stderr, 1.0);
    }

    #[test]
    fn over_a_swept_key_the_other_keys_select_the_panel() {
        let results = results();
        let figure = chosen_figure(&results, &chosen(Some("policy.memory_bound"), &[0, 1], &results.games)).unwrap();
        let titles: Vec<&str> = figure.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["arms = 3, kind = u", "arms = 5, kind = u"]);
        let curve = &figure.panels[1].series[0];
        // K = 5: M = 2 is game 3 with the CPRs 30 and 31, M = 4 is game 2 with 20 and 21.
        assert_eq!(
            curve.points.iter().map(|point| (point.x, point.mean)).collect::<Vec<_>>(),
            [(2.0, 61.0), (4.0, 41.0)]
        );
        assert_eq!(curve.instances, [[60.0, 40.0], [62.0, 42.0]]);
        assert_eq!(figure.panels[0].y.label, "expected loss at T = 1,000");
    }

    #[test]
    fn an_axis_must_be_a_swept_key_with_numbers() {
        let results = results();
        let of = |x| chosen_figure(&results, &chosen(Some(x), &[0], &results.games)).unwrap_err().to_string();
        let keys = "policy.memory_bound, game.arms, game.kind";
        assert_eq!(of("game.memory"), format!("there is no swept key \"game.memory\"; the swept keys are {keys}"));
        assert!(of("game.kind").contains("are not numbers"));
    }
}
