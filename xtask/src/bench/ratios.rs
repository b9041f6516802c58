//! How much faster than the others, and than itself on other work.

use super::arena::Arena;
use super::contestants::Contestant;
use super::{DISAGREEMENTS, Workload, everyone, keep};
use crate::steps::{Failure, Tally};

pub(super) const SE: &str = "successive-elimination";
const PAPER: [&str; 4] = [SE, "exp3", "batched-exp3", "epoch-ucb"];

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

/// Plays everything, prints the tables, and takes note of contestants that did not do the same work.
pub(crate) fn compare() -> Result<Tally, Failure> {
    let mut arena = Arena::default();
    let mut table =
        String::from("| work | against | target | ratio | | nanoseconds a play (CPU) |\n|---|---|---|---|---|---|\n");
    for row in rows(&mut arena) {
        print!("{}", row.line());
        table += &row.line();
    }
    keep("ratios.md", &table)?;
    let everyone = everyone::table(&mut arena);
    print!("{everyone}");
    keep("everyone.md", &everyone)?;
    let found = arena.disagreements();
    found.iter().for_each(|line| println!("not the same work: {line}"));
    keep("agreement.md", &arena.agreement())?;
    keep(DISAGREEMENTS, &found.join("\n"))
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
