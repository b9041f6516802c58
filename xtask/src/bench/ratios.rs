//! How much faster than the others, and than itself on other work.

use std::collections::HashMap;

use super::contestants::Contestant;
use super::{Measured, Workload, keep};
use crate::steps::{Failure, Tally};

const SE: &str = "successive-elimination";
const PAPER: [&str; 4] = [SE, "exp3", "batched-exp3", "epoch-ucb"];

/// What is measured, each once: every row takes its numbers from here.
#[derive(Default)]
struct Arena {
    measured: Vec<(Contestant, Workload, Measured)>,
}

impl Arena {
    fn play(&mut self, contestant: Contestant, workload: Workload) -> Option<Measured> {
        let known = self.measured.iter().find(|(who, what, _)| (*who, *what) == (contestant, workload));
        if let Some((_, _, measured)) = known {
            return Some(*measured);
        }
        let measured = contestant.play(&workload, 3)?;
        self.measured.push((contestant, workload, measured));
        Some(measured)
    }

    /// Nanoseconds a play.
    fn cost(&mut self, contestant: Contestant, workload: Workload) -> Option<f64> {
        Some(self.play(contestant, workload)?.seconds * 1e9 / workload.plays())
    }

    /// Pairs of contestants whose mean losses on the same work differ by more than chance.
    fn disagreements(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut by_work: HashMap<String, Vec<(Contestant, Measured)>> = HashMap::new();
        for (who, what, measured) in &self.measured {
            // Libraries of plain bandits have no policy that plays epochs.
            let work = format!("{} K={} m={} T={}", what.policy, what.arms, what.memory, what.horizon);
            by_work.entry(work).or_default().push((*who, *measured));
        }
        for (work, players) in by_work {
            for (i, (who, one)) in players.iter().enumerate() {
                for (whom, other) in players[..i].iter().filter(|(_, other)| !one.agrees_with(other)) {
                    let [who, whom] = [who.name(), whom.name()];
                    found.push(format!(
                        "{work}: {who} {} ± {}, {whom} {} ± {}",
                        one.mean, one.error, other.mean, other.error
                    ));
                }
            }
        }
        found
    }
}

/// A line of the table: what is compared, the ratio, and what it should be.
struct Row {
    work: &'static str,
    against: &'static str,
    target: Target,
    ratio: Option<f64>,
    numbers: String,
}

enum Target {
    AtLeast(f64),
    AtMost(f64),
}

impl Row {
    fn line(&self) -> String {
        let (target, reached) = match self.target {
            Target::AtLeast(least) => (format!("at least {least}x"), self.ratio.map(|ratio| ratio >= least)),
            Target::AtMost(most) => (format!("at most {most}x"), self.ratio.map(|ratio| ratio <= most)),
        };
        let ratio = self.ratio.map_or("not measured".to_string(), |ratio| format!("{ratio:.1}x"));
        let reached = reached.map_or("", |reached| if reached { "reached" } else { "**missed**" });
        format!("| {} | {} | {target} | {ratio} | {reached} | {} |\n", self.work, self.against, self.numbers)
    }
}

/// Plays everything, prints the table, and refuses it if contestants did not do the same work.
pub(crate) fn compare() -> Result<Tally, Failure> {
    let mut arena = Arena::default();
    let mut table =
        String::from("| work | against | target | ratio | | nanoseconds a play (CPU) |\n|---|---|---|---|---|---|\n");
    for row in rows(&mut arena) {
        print!("{}", row.line());
        table += &row.line();
    }
    keep("ratios.md", &table)?;
    let others = others(&mut arena);
    print!("{others}");
    keep("others.md", &others)?;
    match arena.disagreements() {
        found if found.is_empty() => Ok(Tally::default()),
        found => Err(Failure::Disagreement { found }),
    }
}

fn rows(arena: &mut Arena) -> Vec<Row> {
    use Contestant::{C, Calibandit, Numba};
    // What leaps is over in microseconds: many instances, so that there is something to measure.
    let many = |workload: Workload| Workload { instances: 2000, ..workload };
    let se = Workload { instances: 100, ..Workload::usual(SE) };
    let exp3 = Workload::usual("exp3");
    let with_arms = |policy, arms| Workload { arms, ..Workload::usual(policy) };
    let large = |arms| Workload { arms, instances: 1, ..exp3 };
    let calibrated = Workload { instances: 200, ..Workload::usual("calibrated") };
    let far = Workload { horizon: 1_000_000_000_000, ..many(se) };

    let mut rows = Vec::new();
    let mut against = |work, target, ours: (Workload, &'static str), theirs: (Contestant, Workload, &'static str)| {
        let one = arena.cost(Calibandit, ours.0);
        let other = arena.cost(theirs.0, theirs.1);
        let both = one.zip(other);
        let numbers =
            both.map_or(String::new(), |(one, other)| format!("{one:.4} ({}), {other:.3} ({})", ours.1, theirs.2));
        // How many times cheaper ours is, or for a limit on our own growth, how many times dearer.
        let ratio = both.map(|(one, other)| if let Target::AtMost(_) = target { one / other } else { other / one });
        rows.push(Row { work, against: theirs.2, target, ratio, numbers });
    };
    let ours = "ours";
    against("SE", Target::AtLeast(150.0), (many(se), ours), (C, se, "C"));
    against("EXP3, 20 instances", Target::AtLeast(6.0), (exp3, ours), (Numba, exp3, "numba"));
    against("EXP3, 20 instances", Target::AtLeast(4.0), (exp3, ours), (C, exp3, "C"));
    let batched = Workload::usual("batched-exp3");
    against("batched EXP3", Target::AtLeast(3.0), (batched, ours), (C, batched, "C"));
    for (work, least, arms) in [("epoch UCB, K = 5", 2.0, 5), ("epoch UCB, K = 20", 4.0, 20)] {
        let ucb = with_arms("epoch-ucb", arms);
        against(work, Target::AtLeast(least), (ucb, ours), (C, ucb, "C"));
    }
    against(
        "EXP3, K = 10^5",
        Target::AtMost(3.0),
        (large(100_000), "K = 10^5"),
        (Calibandit, large(1000), "ours, K = 10^3"),
    );
    against("calibrated, T = 10^6", Target::AtLeast(20.0), (calibrated, ours), (Calibandit, exp3, "EXP3, ours"));

    let seconds = |arena: &mut Arena, who, what: Workload| Some(arena.play(who, what)?.seconds / what.instances as f64);
    let near = seconds(arena, Calibandit, many(se)).zip(seconds(arena, Calibandit, far));
    rows.push(Row {
        work: "SE, T = 10^12",
        against: "ours, T = 10^6",
        target: Target::AtMost(2.0),
        ratio: near.map(|(near, far)| far / near),
        numbers: near.map_or(String::new(), |(near, far)| {
            format!("{:.1} and {:.1} microseconds an instance", far * 1e6, near * 1e6)
        }),
    });
    let mut panel = |who| {
        let of = |policy| if who == Calibandit && policy == SE { many(se) } else { Workload::usual(policy) };
        PAPER.iter().map(|policy| Some(seconds(arena, who, of(policy))? * 20.0)).sum::<Option<f64>>()
    };
    let both = panel(Calibandit).zip(panel(Numba));
    rows.push(Row {
        work: "one panel: 20 instances of the paper's 4 policies",
        against: "numba prange",
        target: Target::AtLeast(8.0),
        ratio: both.map(|(ours, theirs)| theirs / ours),
        numbers: both.map_or(String::new(), |(ours, theirs)| format!("{ours:.3} and {theirs:.3} s in all")),
    });
    rows
}

/// What a play costs with everyone, on shorter games for those that are slow.
fn others(arena: &mut Arena) -> String {
    let mut table = String::from("| | SE | EXP3 | batched EXP3 | epoch UCB (UCB1) |\n|---|---|---|---|---|\n");
    let scripts = [Contestant::NumPy, Contestant::River, Contestant::SmpyBandits];
    let all = [Contestant::Calibandit, Contestant::C, Contestant::Numba].into_iter().chain(scripts);
    for contestant in all {
        let slow = scripts.contains(&contestant);
        let mut cells = Vec::new();
        for policy in PAPER {
            let usual = Workload::usual(policy);
            let workload = match (contestant, policy) {
                (Contestant::NumPy, SE) => None,
                (Contestant::River | Contestant::SmpyBandits, SE | "batched-exp3") => None,
                (Contestant::Calibandit, SE) => Some(Workload { instances: 2000, ..usual }),
                (_, SE) => Some(Workload { instances: 100, ..usual }),
                _ if slow => Some(Workload { horizon: 10_000, instances: 2, ..usual }),
                _ => Some(usual),
            };
            // Times only: libraries of plain bandits do not play epochs.
            let cost = workload.and_then(|workload| {
                let measured = if slow { contestant.play(&workload, 1) } else { arena.play(contestant, workload) };
                Some(measured?.seconds * 1e9 / workload.plays())
            });
            cells.push(
                cost.map_or(
                    "–".to_string(),
                    |cost| if cost < 1.0 { format!("{cost:.3}") } else { format!("{cost:.1}") },
                ),
            );
        }
        table += &format!("| {} | {} |\n", contestant.name(), cells.join(" | "));
    }
    table
}
