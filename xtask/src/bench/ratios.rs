//! The table of ratios: this project against its peers, and against itself on other work, with targets.

use super::implementations::Implementation;
use super::measurements::Measurements;
use super::{DISAGREEMENTS, Workload, costs, rested, store};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;

pub(super) const SE: &str = "successive-elimination";
const PAPER: [&str; 4] = [SE, "exp3", "batched-exp3", "epoch-ucb"];

/// One row of the table: what is compared, the ratio, and its target.
struct RatioRow {
    work: &'static str,
    against: &'static str,
    target: RatioTarget,
    ratio: Option<f64>,
    numbers: String,
}

enum RatioTarget {
    AtLeast(f64),
    AtMost(f64),
}

impl RatioRow {
    fn line(&self) -> String {
        let (target, reached) = match self.target {
            RatioTarget::AtLeast(least) => (format!("at least {least}x"), self.ratio.map(|ratio| ratio >= least)),
            RatioTarget::AtMost(most) => (format!("at most {most}x"), self.ratio.map(|ratio| ratio <= most)),
        };
        let ratio = self.ratio.map_or("not measured".to_string(), |ratio| format!("{ratio:.1}x"));
        let reached = reached.map_or("", |reached| if reached { "reached" } else { "**missed**" });
        format!("| {} | {} | {target} | {ratio} | {reached} | {} |\n", self.work, self.against, self.numbers)
    }
}

/// Measures everything, stores the tables, and stores which implementations disagree.
pub(crate) fn compare(_: &Machine) -> Result<StepOutcome, StepError> {
    let mut measurements = Measurements::default();
    let mut table =
        String::from("| work | against | target | ratio | | ns per play (CPU) |\n|---|---|---|---|---|---|\n");
    for row in rows(&mut measurements) {
        print!("{}", row.line());
        table += &row.line();
    }
    store("ratios.md", &table)?;
    let costs = costs::table(&mut measurements);
    print!("{costs}");
    store("costs.md", &costs)?;
    let rested = rested::table(&mut measurements);
    print!("{rested}");
    store("rested.md", &rested)?;
    let found = measurements.disagreements();
    found.iter().for_each(|line| println!("different mean losses: {line}"));
    store("agreement.md", &measurements.agreement())?;
    store(DISAGREEMENTS, &found.join("\n"))
}

fn rows(measurements: &mut Measurements) -> Vec<RatioRow> {
    use Implementation::{C, Calibandit, Numba};
    // A leaping instance takes microseconds: many of them make the time measurable.
    let many = |workload: Workload| Workload { instances: 2000, ..workload };
    let se = Workload { instances: 100, ..Workload::standard(SE) };
    let exp3 = Workload::standard("exp3");
    let with_arms = |policy, arms| Workload { arms, ..Workload::standard(policy) };
    let large = |arms| Workload { arms, instances: 1, ..exp3 };
    let calibrated = Workload { instances: 200, ..Workload::standard("calibrated") };
    let far = Workload { horizon: 1_000_000_000_000, ..many(se) };

    let mut rows = Vec::new();
    let mut against =
        |work, target, ours: (Workload, &'static str), theirs: (Implementation, Workload, &'static str)| {
            let one = measurements.cost(Calibandit, ours.0);
            let other = measurements.cost(theirs.0, theirs.1);
            let both = one.zip(other);
            let numbers =
                both.map_or(String::new(), |(one, other)| format!("{one:.4} ({}), {other:.3} ({})", ours.1, theirs.2));
            // How many times cheaper ours is; for a limit on our own growth, how many times more expensive.
            let ratio =
                both.map(|(one, other)| if let RatioTarget::AtMost(_) = target { one / other } else { other / one });
            rows.push(RatioRow { work, against: theirs.2, target, ratio, numbers });
        };
    let ours = "ours";
    against("SE", RatioTarget::AtLeast(150.0), (many(se), ours), (C, se, "C"));
    against("EXP3, 20 instances", RatioTarget::AtLeast(6.0), (exp3, ours), (Numba, exp3, "numba"));
    against("EXP3, 20 instances", RatioTarget::AtLeast(4.0), (exp3, ours), (C, exp3, "C"));
    let batched = Workload::standard("batched-exp3");
    against("batched EXP3", RatioTarget::AtLeast(3.0), (batched, ours), (C, batched, "C"));
    for (work, least, arms) in [("epoch UCB, K = 5", 2.0, 5), ("epoch UCB, K = 20", 4.0, 20)] {
        let ucb = with_arms("epoch-ucb", arms);
        against(work, RatioTarget::AtLeast(least), (ucb, ours), (C, ucb, "C"));
    }
    against(
        "EXP3, K = 10^5",
        RatioTarget::AtMost(3.0),
        (large(100_000), "K = 10^5"),
        (Calibandit, large(1000), "ours, K = 10^3"),
    );
    let rotting = |policy| Workload { instances: 3, ..Workload::rested(policy, 10, 1_000_000) };
    against(
        "RAW-UCB, rotting arms, K = 10",
        RatioTarget::AtMost(10.0),
        (rotting("raw-ucb"), ours),
        (Calibandit, rotting("ucb1"), "UCB1, ours"),
    );
    against("calibrated, T = 10^6", RatioTarget::AtLeast(20.0), (calibrated, ours), (Calibandit, exp3, "EXP3, ours"));

    let seconds = |measurements: &mut Measurements, implementation, workload: Workload| {
        Some(measurements.measure(implementation, workload)?.seconds / workload.instances as f64)
    };
    let near = seconds(measurements, Calibandit, many(se)).zip(seconds(measurements, Calibandit, far));
    rows.push(RatioRow {
        work: "SE, T = 10^12",
        against: "ours, T = 10^6",
        target: RatioTarget::AtMost(2.0),
        ratio: near.map(|(near, far)| far / near),
        numbers: near.map_or(String::new(), |(near, far)| {
            format!("{:.1} and {:.1} microseconds per instance", far * 1e6, near * 1e6)
        }),
    });
    let mut panel = |implementation| {
        let of = |policy| {
            if implementation == Calibandit && policy == SE { many(se) } else { Workload::standard(policy) }
        };
        PAPER.iter().map(|policy| Some(seconds(measurements, implementation, of(policy))? * 20.0)).sum::<Option<f64>>()
    };
    let both = panel(Calibandit).zip(panel(Numba));
    rows.push(RatioRow {
        work: "one panel: 20 instances of the paper's 4 policies",
        against: "numba prange",
        target: RatioTarget::AtLeast(8.0),
        ratio: both.map(|(ours, theirs)| theirs / ours),
        numbers: both.map_or(String::new(), |(ours, theirs)| format!("{ours:.3} and {theirs:.3} s in total")),
    });
    rows
}
