//! The report of a tournament: one section per group.

use calibandit::rng::GENERATOR;

use super::ranking::GameRow;
use super::tables::{FEEDBACK, feedback_name};
use super::text::{HOW_TO_READ, about};
use super::{GameResult, Tournament, TournamentGroup, TournamentOutcome, in_game, tables};
use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};
use calibandit_report::report::{Footer, Report, ReportSection};

/// The number of steps of a drawn distribution.
const STEPS: usize = 40;

/// The report of a tournament; `command` is the command that runs it again.
pub fn report(tournament: &Tournament, command: &str) -> Report {
    let mut report = Report::new("Tournament");
    report.lead = HOW_TO_READ.into();
    for &group in tournament.options.part.groups() {
        let games: Vec<&GameResult> = tournament.games.iter().filter(|game| game.entry.group == group).collect();
        if games.is_empty() {
            continue;
        }
        let figure = if group == TournamentGroup::Random {
            profiles(tournament, &games)
        } else {
            spreads(tournament, group, &games)
        };
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

/// One panel per game with the distribution function of the CPR over instances.
fn spreads(tournament: &Tournament, group: TournamentGroup, games: &[&GameResult]) -> Figure {
    let mut figure = Figure::new(group.name(), group.title()).caption(
        "The share of instances whose CPR is at most x. Curves further left are better; a flat top is a heavy tail.",
    );
    for (g, game) in games.iter().enumerate() {
        let axis = Axis::new("CPR at the horizon", AxisScale::Log);
        let share = Axis::new("share of instances", AxisScale::Linear).limits(0.0, 1.0);
        let mut panel = Panel::new(format!("{}-{g}", group.name()), &game.entry.name, axis, share);
        for ((label, style), outcome) in tournament.policies.iter().zip(&tournament.styles).zip(&game.outcomes) {
            let TournamentOutcome::Played(played) = outcome else { continue };
            // A regret below 0.001 is rounding, and a logarithmic axis needs positive values.
            let values = played.iter().map(|each| each.cpr.max(1e-3)).collect();
            panel = panel.series(Series::new(label, distribution(values, played.len())).style(style.clone()));
        }
        figure = figure.panel(panel);
    }
    figure
}

/// Performance profiles (Dolan and Moré 2002): the share of games in which a policy is within a factor of the best.
fn profiles(tournament: &Tournament, games: &[&GameResult]) -> Figure {
    let mut figure = Figure::new(TournamentGroup::Random.name(), TournamentGroup::Random.title()).caption(
        "The share of games in which a policy's mean CPR (plus 1) is at most x times the best (plus 1). At x = 1 it is \
         the share of games in which the policy is the best. Games that a policy cannot play count as above every x; \
         games for which it is too slow are left out.",
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

/// The distribution function of the values at some of them, as shares of `of`.
fn distribution(mut values: Vec<f64>, of: usize) -> Vec<CurvePoint> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let mut ranks: Vec<usize> = (0..=STEPS).map(|i| (i * n).div_ceil(STEPS).clamp(1, n)).collect();
    ranks.dedup();
    let point = |rank: usize| CurvePoint::new(values[rank - 1], rank as f64 / of as f64, 0.0);
    let mut points: Vec<CurvePoint> = ranks.into_iter().map(point).collect();
    // Of several shares at the same value, the largest is the value of the distribution function.
    points.reverse();
    points.dedup_by(|next, kept| next.x == kept.x);
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_function_of_values_with_ties_and_missing_values() {
        let points = distribution(vec![3.0, 1.0, 1.0, 2.0], 5);
        let steps: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.mean)).collect();
        assert_eq!(steps, [(1.0, 0.4), (2.0, 0.6), (3.0, 0.8)]);
        let many = distribution((1..=1000).map(f64::from).collect(), 1000);
        assert!(many.len() <= STEPS + 1 && many.iter().all(|point| point.mean == point.x / 1000.0));
    }
}
