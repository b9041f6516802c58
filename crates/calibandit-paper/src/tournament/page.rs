//! The tournament as a page: a section for each group.

use calibandit::rng::GENERATOR;

use super::standing::GameRow;
use super::tables::{FEEDBACK, feedback_name};
use super::text::{HOW_TO_READ, about};
use super::{GameResult, Group, Outcome, Tournament, in_game, tables};
use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};
use calibandit_report::report::{Footer, Report, ReportSection};

/// As many places of a distribution are drawn.
const PLACES: usize = 40;

/// The report of a tournament; `command` is what makes it again.
pub fn report(tournament: &Tournament, command: &str) -> Report {
    let mut report = Report::new("Tournament");
    report.lead = HOW_TO_READ.into();
    for group in Group::ALL {
        let games: Vec<&GameResult> = tournament.games.iter().filter(|game| game.entry.group == group).collect();
        if games.is_empty() {
            continue;
        }
        let figure =
            if group == Group::Random { profiles(tournament, &games) } else { spreads(tournament, group, &games) };
        let mut section = ReportSection::new(figure);
        section.prose = about(tournament, group);
        section.tables = tables(tournament, group);
        report.sections.push(section);
    }
    report.footer = Footer {
        versions: vec![("calibandit".into(), env!("CARGO_PKG_VERSION").into())],
        seed: tournament.options.seed.to_string(),
        generator: GENERATOR.into(),
        command: command.into(),
    };
    report
}

/// A panel for each game with the distribution of the CPR over instances: how likely is it to stay below a value?
fn spreads(tournament: &Tournament, group: Group, games: &[&GameResult]) -> Figure {
    let mut figure = Figure::new(group.name(), group.title()).caption(
        "The share of instances whose CPR is at most x: further left is better, a long way to the top a heavy tail.",
    );
    for (g, game) in games.iter().enumerate() {
        let axis = Axis::new("CPR at the horizon", AxisScale::Log);
        let share = Axis::new("share of instances", AxisScale::Linear).limits(0.0, 1.0);
        let mut panel = Panel::new(format!("{}-{g}", group.name()), &game.entry.name, axis, share);
        for ((label, style), outcome) in tournament.policies.iter().zip(&tournament.styles).zip(&game.outcomes) {
            let Outcome::Played(played) = outcome else { continue };
            // A regret below a thousandth of a play's loss is rounding; a logarithmic axis needs it positive.
            let values = played.iter().map(|each| each.cpr.max(1e-3)).collect();
            panel = panel.series(Series::new(label, distribution(values, played.len())).style(style.clone()));
        }
        figure = figure.panel(panel);
    }
    figure
}

/// Performance profiles (Dolan and Moré 2002): in what share of the games is a policy within a factor of the best?
fn profiles(tournament: &Tournament, games: &[&GameResult]) -> Figure {
    let mut figure = Figure::new(Group::Random.name(), Group::Random.title()).caption(
        "The share of games in which a policy's mean CPR (plus 1) is at most x times the best (plus 1). At x = 1: how often it \
         is the best. Games that a policy cannot play never count; games for which it is too slow are left out.",
    );
    let slices = [("all games", None)].into_iter().chain(FEEDBACK.map(|name| (name, Some(name))));
    for (title, feedback) in slices {
        let chosen = |game: &&&GameResult| feedback.is_none_or(|name| feedback_name(game.feedback) == name);
        let rows: Vec<Vec<GameRow>> = games.iter().filter(chosen).map(|game| in_game(tournament, game)).collect();
        let axis = Axis::new("times the best", AxisScale::Log);
        let share = Axis::new("share of games", AxisScale::Linear).limits(0.0, 1.0);
        let mut panel = Panel::new(format!("random-{title}").replace(' ', "-"), title, axis, share);
        for (p, label) in tournament.policies.iter().enumerate() {
            let times: Vec<f64> = rows.iter().filter_map(|rows| rows[p].times_best).collect();
            let counted = rows.iter().filter(|rows| rows[p].rank.is_some()).count();
            if !times.is_empty() {
                let style = tournament.styles[p].clone();
                panel = panel.series(Series::new(label, distribution(times, counted)).style(style));
            }
        }
        figure = figure.panel(panel);
    }
    figure
}

/// The share, out of `of`, of values up to each of some of them.
fn distribution(mut values: Vec<f64>, of: usize) -> Vec<CurvePoint> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let mut ranks: Vec<usize> = (0..=PLACES).map(|i| (i * n).div_ceil(PLACES).clamp(1, n)).collect();
    ranks.dedup();
    let point = |rank: usize| CurvePoint::new(values[rank - 1], rank as f64 / of as f64, 0.0);
    let mut points: Vec<CurvePoint> = ranks.into_iter().map(point).collect();
    // Of several shares at one value the largest is the one.
    points.reverse();
    points.dedup_by(|next, kept| next.x == kept.x);
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_climb_to_the_share_that_counts() {
        let points = distribution(vec![3.0, 1.0, 1.0, 2.0], 5);
        let places: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.mean)).collect();
        assert_eq!(places, [(1.0, 0.4), (2.0, 0.6), (3.0, 0.8)]);
        let many = distribution((1..=1000).map(f64::from).collect(), 1000);
        assert!(many.len() <= PLACES + 1 && many.iter().all(|point| point.mean == point.x / 1000.0));
    }
}
