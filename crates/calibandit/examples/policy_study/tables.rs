//! Tables of the results, as Markdown.

use crate::play::{Regrets, StudyGame, StudyPolicy};
use crate::settings::SettingKind;

type StudyResults = [Vec<Option<Regrets>>];

/// Means below 1 do not matter: 1 is added to both sides of every ratio.
fn ratio(a: &Regrets, b: f64) -> f64 {
    (a.mean() + 1.0) / (b + 1.0)
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    (sum / count).exp()
}

/// Mean, p99 and worst instance of every policy on every game.
pub(crate) fn print_games(games: &[StudyGame], policies: &[StudyPolicy], results: &StudyResults) {
    let labels: Vec<_> = policies.iter().map(|policy| policy.label.as_str()).collect();
    println!("| game | {} |\n|---|{}", labels.join(" | "), "---|".repeat(labels.len()));
    let mut totals = vec![0.0; policies.len()];
    for (game, row) in games.iter().zip(results) {
        let cells = row.iter().enumerate().map(|(i, cell)| match cell {
            None => "-".to_string(),
            Some(cell) => {
                totals[i] += cell.mean();
                let (mean, error) = (cell.mean(), cell.standard_error());
                format!("{mean:.1} ({error:.1}; {:.0}; {:.0})", cell.p99(), cell.worst())
            }
        });
        let cells: Vec<_> = cells.collect();
        let kind = game.kind.map_or(String::new(), |kind| format!("{kind:?} "));
        println!("| {kind}{} | {} |", game.name, cells.join(" | "));
    }
    let totals: Vec<_> = totals.iter().map(|total| format!("{total:.0}")).collect();
    println!("| total | {} |\n", totals.join(" | "));
}

/// Every policy against the second one and against the best of all, and its tails; then the first policy by kind.
pub(crate) fn print_summary(games: &[StudyGame], policies: &[StudyPolicy], results: &StudyResults) {
    let best = |row: &[Option<Regrets>]| row.iter().flatten().map(Regrets::mean).fold(f64::INFINITY, f64::min);
    println!(
        "| policy | against {} | against best | loses by 20 % | p99 > 5 means | worst > 30 means |",
        policies[1 % policies.len()].label
    );
    println!("|---|---|---|---|---|---|");
    for (i, policy) in policies.iter().enumerate() {
        let rows: Vec<_> = results.iter().filter_map(|row| row[i].as_ref().map(|own| (own, row))).collect();
        if rows.is_empty() {
            continue;
        }
        let second = rows.iter().filter_map(|(own, row)| Some(ratio(own, row[1 % row.len()].as_ref()?.mean())));
        let lost = rows.iter().filter(|(own, row)| ratio(own, best(row)) > 1.2).count();
        let heavy = rows.iter().filter(|(own, _)| own.mean() > 30.0 && own.p99() > 5.0 * own.mean()).count();
        let ruin = rows.iter().filter(|(own, _)| own.mean() > 1.0 && own.worst() > 30.0 * own.mean()).count();
        println!(
            "| {} | {:.3} | {:.3} | {lost} | {heavy} | {ruin} |",
            policy.label,
            geometric_mean(second),
            geometric_mean(rows.iter().map(|(own, row)| ratio(own, best(row)))),
        );
    }
    if games[0].kind.is_none() {
        return;
    }
    let labels: Vec<_> = policies.iter().map(|policy| policy.label.as_str()).collect();
    println!("\n| kind (settings) | {} |\n|---|{}", labels.join(" | "), "---|".repeat(labels.len()));
    for kind in SettingKind::ALL {
        let rows: Vec<_> = games.iter().zip(results).filter(|(game, _)| game.kind == Some(kind)).collect();
        if rows.is_empty() {
            continue;
        }
        let cells = (0..policies.len()).map(|i| {
            let ratios = rows.iter().filter_map(|(_, row)| Some(ratio(row[i].as_ref()?, best(row))));
            format!("{:.3}", geometric_mean(ratios))
        });
        println!("| {kind:?} ({}) | {} |", rows.len(), cells.collect::<Vec<_>>().join(" | "));
    }
    println!("\nBy kind: geometric means against the best of all policies of the table.");
}
