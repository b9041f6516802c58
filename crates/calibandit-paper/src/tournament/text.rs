//! The tables as plain text and as Markdown.

use std::fmt::Write as _;

use super::games::LONGEST_WITH_BETA;
use super::{Tournament, TournamentGroup, tables};
use calibandit_experiment::format::thousands;
use calibandit_report::report::{Cell, DataTable};

/// How to read the tables; for the report and the Markdown file.
pub(super) const HOW_TO_READ: &str = "\
Every policy has its default parameters and is given K, T and the memory bound M, nothing else. CPR is exact: the \
expected loss of the plays made, minus the exact optimum. `games won` and the wins per game have Wilson's 95 % \
intervals; ties share the win. `× best` is the mean CPR plus 1 divided by the best mean CPR of the game plus 1, as a \
geometric mean over games, with its 99 % quantile and its maximum.

The lower bound is an estimate with two terms: for each arm gap · ln T / KL (Lai and Robbins), with the divergence of \
the arm's feedback (Bernoulli; normal with its deviation; beta with its concentration; without noise the term is 0) \
and at most T/K plays; plus the burn-in of calibrating each arm once in one run, minus what the optimum pays itself. \
The first term holds as T goes to infinity: it is not a bound at a given T, and a policy may stay below it. The \
estimate is meant for games with repeated exposure optimality; in other games it is only a scale.

A policy `cannot` play if the horizon is shorter than the least it needs; it then counts as last. In the paper's \
games, at both horizons, all policies play the same number of instances. In the other games, policies that decide \
before every play are slow: a fixed estimate of their time decides how many instances they play (n in the tables). \
They are `too slow` for such a game if not even one instance is within the budget; these games do not count for them.";

/// All tables as Markdown; `command` is the command that runs the tournament again.
pub fn markdown(tournament: &Tournament, command: &str) -> String {
    let mut out = format!("# Tournament\n\n{}\n\n", HOW_TO_READ.trim());
    // Writing into a `String` cannot fail.
    let _ =
        writeln!(out, "Made by `{command}`. The manifest beside its results has the full specifications of the games.");
    for &group in tournament.options.part.groups() {
        let all = tables(tournament, group);
        if all.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {}\n\n{}\n", group.title(), about(tournament, group));
        for table in all {
            let _ = write!(out, "\n{}\n\n{}", table.caption, markdown_table(&table));
        }
    }
    out
}

/// The columns that a narrow table keeps, as long as they fit.
const KEPT: [&str; 6] = ["policy", "mean rank", "games won", "× best", "p99", "worst"];

/// The first table of every group as plain text. Tables that are wider than `width` columns have only the most
/// important columns; the report has all of them.
pub fn plain(tournament: &Tournament, width: usize) -> String {
    let mut out = String::new();
    for &group in tournament.options.part.groups() {
        if let Some(table) = tables(tournament, group).first() {
            let _ = write!(out, "\n{}\n{}\n{}", group.title(), table.caption, fitted(table, width));
        }
    }
    out
}

/// A description of a group.
pub(super) fn about(tournament: &Tournament, group: TournamentGroup) -> String {
    let options = &tournament.options;
    let inexact: usize =
        tournament.games.iter().filter(|game| game.entry.group == group).map(|game| game.inexact).sum();
    let note = match inexact {
        0 => String::new(),
        n => format!(
            " In {n} instances the search for the optimum was stopped at its limit, and CPR uses a lower bound on the \
             optimum: it is too large by at most the warm-up cost of one arm, the same for all policies."
        ),
    };
    let what = match group {
        TournamentGroup::Paper => {
            "The unweighted step game, the game with alpha > 0, the weighted game and the darts.".into()
        }
        TournamentGroup::Short => "The same games with little time to learn.".into(),
        TournamentGroup::Zoo => {
            "One game of every other kind, with M = m. The needle has no repeated exposure optimality: \
                       policies find its optimum only by chance."
                .into()
        }
        TournamentGroup::Rested | TournamentGroup::RestedLong => {
            "Arms that remember all of their plays: rotting, improving, single-peaked, rising. Every policy has its \
             default scale sd = 1/2, also where the noise of the game is another one."
                .into()
        }
        TournamentGroup::Windowed => {
            "Arms that congest, tire or recover, and random losses by tally, with M = m: the best sequence is a cycle \
             of several arms. The losses of recovering and last-switch arms are no functions of a tally."
                .into()
        }
        TournamentGroup::Races => "Lap times of pairs of drivers, fitted to public data; normal noise.".into(),
        TournamentGroup::Random => format!(
            "{} games with alpha = 0: K from 2 to 200, memory from 1 to 32, M/m from 1 to 8, gaps from 0.001 to 0.5, T \
             from 10,000 to {} (to {} with beta feedback, which is drawn play by play), all log-uniform; all families \
             of weights and curves, all kinds of feedback; {} instances each.",
            options.random_games,
            thousands(options.longest),
            thousands(LONGEST_WITH_BETA.min(options.longest)),
            options.random_instances
        ),
    };
    format!("{what}{note}")
}

fn markdown_table(table: &DataTable) -> String {
    let mut out = format!("| {} |\n|---|", table.columns.join(" | "));
    out.push_str(&"---:|".repeat(table.columns.len().saturating_sub(1)));
    out.push('\n');
    for row in &table.rows {
        let cells: Vec<&str> = row.iter().map(|cell| cell.text.as_str()).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// The table as plain text, with fewer columns if it is too wide.
fn fitted(table: &DataTable, width: usize) -> String {
    let fits = |text: &str| text.lines().all(|line| line.chars().count() <= width);
    let whole = plain_table(table);
    if fits(&whole) {
        return whole;
    }
    let kept = |column: &usize| KEPT.contains(&table.columns[*column].as_str());
    let mut kept: Vec<usize> = (0..table.columns.len()).filter(kept).collect();
    loop {
        let text = plain_table(&DataTable {
            caption: String::new(),
            columns: kept.iter().map(|&column| table.columns[column].clone()).collect(),
            rows: table.rows.iter().map(|row| kept.iter().map(|&column| row[column].clone()).collect()).collect(),
        });
        if fits(&text) || kept.len() <= 1 {
            return text;
        }
        kept.pop();
    }
}

fn plain_table(table: &DataTable) -> String {
    let width = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count());
        cells.chain([table.columns[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::from(" ");
        for (column, cell) in cells.enumerate() {
            let width = widths[column];
            let _ = if column == 0 { write!(line, " {cell:width$}") } else { write!(line, "  {cell:>width$}") };
        }
        line.trim_end().to_string() + "\n"
    };
    let mut out = line(&mut table.columns.iter().map(String::as_str));
    for row in &table.rows {
        out.push_str(&line(&mut row.iter().map(|cell: &Cell| cell.text.as_str())));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_tables_are_aligned() {
        let cell = |text: &str| Cell { text: text.into(), value: None };
        let table = DataTable {
            caption: String::new(),
            columns: vec!["policy".into(), "×".into()],
            rows: vec![vec![cell("A"), cell("1,000")], vec![cell("longer"), cell("2")]],
        };
        assert_eq!(plain_table(&table), "  policy      ×\n  A       1,000\n  longer      2\n");
        assert_eq!(fitted(&table, 15), plain_table(&table));
        assert_eq!(fitted(&table, 14), "  policy\n  A\n  longer\n");
        assert_eq!(markdown_table(&table), "| policy | × |\n|---|---:|\n| A | 1,000 |\n| longer | 2 |\n");
    }
}
