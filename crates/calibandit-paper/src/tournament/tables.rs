//! The tables of the report, the terminal and the Markdown file.

use calibandit::Noise;

use super::ranking::{GameRow, GroupRow, RatioSummary};
use super::{GameResult, Tournament, TournamentGroup, WinRate, in_game, in_group};
use calibandit_experiment::format;
use calibandit_report::report::{Cell, DataTable};

/// The tables of a group: over all its games, and per game (for random games: per kind of feedback).
pub fn tables(tournament: &Tournament, group: TournamentGroup) -> Vec<DataTable> {
    let games: Vec<&GameResult> = tournament.games.iter().filter(|game| game.entry.group == group).collect();
    if games.is_empty() {
        return Vec::new();
    }
    let rows = in_group(tournament, group, |_| true);
    let mut tables = vec![standings(&rows, games.len())];
    if group == TournamentGroup::Random {
        tables.push(by_feedback(tournament, &rows));
    } else {
        tables.push(cpr_by_game(tournament, &games, &rows, group == TournamentGroup::Races));
        tables.push(wins_by_game(tournament, &games, &rows));
    }
    tables
}

fn standings(rows: &[GroupRow], games: usize) -> DataTable {
    let leader = rows.first().map_or("", |row| row.policy.as_str());
    let columns = ["policy", "mean rank", "games won", "beats the leader", "× best", "p99", "worst", "× lower bound"];
    let row = |row: &GroupRow| {
        let vs_leader = if row.policy == leader { text("") } else { rate(row.beats_leader) };
        let best = row.times_best;
        vec![
            text(&row.policy),
            row.mean_rank.map_or(text("–"), |rank| number(format!("{rank:.2}"), rank)),
            rate(row.wins),
            vs_leader,
            ratio(best.map(|times| times.mean)),
            ratio(best.map(|times| times.p99)),
            ratio(best.map(|times| times.worst)),
            ratio(row.times_lower_bound.map(|RatioSummary { mean, .. }| mean)),
            count(row.games),
            count(row.cannot),
            count(row.too_slow),
        ]
    };
    DataTable {
        caption: format!("Over {games} games, each counted once; leader: {leader}"),
        columns: columns.into_iter().chain(["played", "cannot", "too slow"]).map(String::from).collect(),
        rows: rows.iter().map(row).collect(),
    }
}

/// Mean CPR with its 99 % quantile and its worst, one column per game; the lower-bound estimates are the last row.
fn cpr_by_game(tournament: &Tournament, games: &[&GameResult], order: &[GroupRow], total: bool) -> DataTable {
    let tables: Vec<Vec<GameRow>> = games.iter().map(|game| in_game(tournament, game)).collect();
    let mut rows = Vec::new();
    for GroupRow { policy, .. } in order {
        let own: Vec<&GameRow> = tables.iter().flatten().filter(|row| row.policy == *policy).collect();
        let mut cells = vec![text(policy)];
        cells.extend(own.iter().map(|row| match row.cpr {
            Some(cpr) => {
                let few = if (cpr.instances as u64) < tournament.options.instances {
                    format!(" n={}", cpr.instances)
                } else {
                    String::new()
                };
                number(format!("{} ({}; {}){few}", short(cpr.mean), short(cpr.p99), short(cpr.max)), cpr.mean)
            }
            None if row.cannot => text("cannot"),
            None => text("too slow"),
        }));
        if total {
            let sum: Option<f64> = own.iter().map(|row| row.cpr.map(|cpr| cpr.mean)).sum();
            cells.push(sum.map_or(text("–"), |sum| number(short(sum), sum)));
        }
        rows.push(cells);
    }
    let lower_bound = |game: &&GameResult| {
        let all = &game.lower_bounds;
        all.iter().map(|each| each.total()).sum::<f64>() / all.len().max(1) as f64
    };
    let values: Vec<f64> = games.iter().map(lower_bound).collect();
    let mut last = vec![text("lower bound (estimate)")];
    last.extend(values.iter().map(|&value| number(short(value), value)));
    let mut columns = vec!["policy".to_string()];
    columns.extend(games.iter().map(|game| game.entry.name.clone()));
    if total {
        columns.push("total".into());
        let sum: f64 = values.iter().sum();
        last.push(number(short(sum), sum));
    }
    rows.push(last);
    let horizon = games.first().map_or(0, |game| game.entry.horizon);
    // Only the policies that a budget limits play fewer instances, and the paper's games have no budget.
    let fewer = |row: &GameRow| row.cpr.is_some_and(|cpr| (cpr.instances as u64) < tournament.options.instances);
    let caption = format!(
        "CPR at T = {}: mean (p99; worst) over {} instances{}",
        format::thousands(horizon),
        tournament.options.instances,
        if tables.iter().flatten().any(fewer) { ", or over n if a policy played fewer" } else { "" }
    );
    DataTable { caption, columns, rows }
}

fn wins_by_game(tournament: &Tournament, games: &[&GameResult], order: &[GroupRow]) -> DataTable {
    let tables: Vec<Vec<GameRow>> = games.iter().map(|game| in_game(tournament, game)).collect();
    let cells = |GroupRow { policy, .. }: &GroupRow| {
        let own = tables.iter().flatten().filter(|row| row.policy == *policy);
        let mut cells = vec![text(policy)];
        cells.extend(own.map(|row| row.wins.map_or(text("–"), rate)));
        cells
    };
    let mut columns = vec!["policy".to_string()];
    columns.extend(games.iter().map(|game| game.entry.name.clone()));
    let caption = "Share of instances in which no policy had a smaller CPR, with Wilson's 95 % interval".into();
    DataTable { caption, columns, rows: order.iter().map(cells).collect() }
}

/// The name of a kind of feedback.
pub(super) fn feedback_name(noise: Noise) -> &'static str {
    match noise {
        Noise::Bernoulli => "Bernoulli",
        Noise::Normal { .. } => "normal",
        Noise::Beta { .. } => "beta",
        Noise::None => "no noise",
        _ => "other",
    }
}

/// The kinds of feedback of random games.
pub(super) const FEEDBACK: [&str; 4] = ["Bernoulli", "normal", "beta", "no noise"];

fn by_feedback(tournament: &Tournament, order: &[GroupRow]) -> DataTable {
    let slice = |name: &str| in_group(tournament, TournamentGroup::Random, |game| feedback_name(game.feedback) == name);
    let slices = FEEDBACK.map(slice);
    let cells = |GroupRow { policy, .. }: &GroupRow| {
        let mut cells = vec![text(policy)];
        for slice in &slices {
            let own = slice.iter().find(|row| row.policy == *policy);
            cells.push(match own.and_then(|row| Some((row.mean_rank?, row.times_best?))) {
                Some((rank, times)) => number(format!("{rank:.1} (× {})", short(times.mean)), rank),
                None => text("–"),
            });
        }
        cells
    };
    DataTable {
        caption: "Mean rank and ratio to the best mean CPR, by kind of feedback".into(),
        columns: ["policy"].into_iter().chain(FEEDBACK).map(String::from).collect(),
        rows: order.iter().map(cells).collect(),
    }
}

fn text(text: &str) -> Cell {
    Cell { text: text.into(), value: None }
}

fn number(text: String, value: f64) -> Cell {
    Cell { text, value: Some(value) }
}

fn count(count: usize) -> Cell {
    number(count.to_string(), count as f64)
}

fn ratio(value: Option<f64>) -> Cell {
    value.map_or(text("–"), |value| number(short(value), value))
}

fn rate(rate: WinRate) -> Cell {
    if rate.of == 0 {
        return text("–");
    }
    let [share, low, high] = [rate.share, rate.low, rate.high].map(|value| 100.0 * value);
    number(format!("{share:.0} % [{low:.0}, {high:.0}]"), rate.share)
}

/// Three digits, and all digits before the point.
fn short(value: f64) -> String {
    format::short(value, 3)
}
