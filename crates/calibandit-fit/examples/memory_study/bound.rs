//! The bound that assumes nothing but a longest memory.

use calibandit::Noise;

use crate::known_truth::{GAMES, Logging, TrueArm, game, log};
use crate::{NAMES, OPTIONS, Share, TOLERANCE, diagnosed, median};

/// A step that is just larger than the tolerance is the curve for which the bound is wrong most often.
pub(crate) fn least_favourable(logs: u64) {
    println!(
        "The least favourable curve, a step of 1.01 tolerances after 8 plays; 40,000 Bernoulli plays of four arms:\n"
    );
    println!("| log | arms | bound at least the truth | common bound |");
    println!("|---|---:|---:|---:|");
    let step = |share: f64| f64::from(u8::from(share < 1.0 - 1e-9));
    let arms: Vec<TrueArm> = [0.2, 0.3, 0.4, 0.5]
        .map(|level| TrueArm { weights: vec![1.0; 8], curve: step, level, drop: 1.01 * TOLERANCE })
        .to_vec();
    for (label, logging) in [("blocks of 64", Logging::Blocks(64)), ("staying with 0.97", Logging::Stay(0.97))] {
        let (mut covered, mut common) = (Share::default(), Share::default());
        for seed in 0..logs {
            let options = calibandit_fit::diagnose::DiagnoseOptions { longest: Some(16), ..OPTIONS };
            let found = diagnosed(&log(&arms, logging, Noise::Bernoulli, 40_000, 1000 + seed), &options);
            // Without an answer nothing wrong is said.
            common.count(found.memory_bound.is_none_or(|bound| bound >= 8));
            for arm in &found.arms {
                covered.count(arm.settled.upper.is_none_or(|upper| upper >= 8));
            }
        }
        println!("| {label} | {} | {} | {} |", covered.all, covered.percent(), common.percent());
    }
}

/// All games and several ways to choose the plays.
pub(crate) fn zoo(plays: usize, logs: u64, adaptive_logs: u64) {
    println!(
        "\nNine games, four arms, Bernoulli losses, {plays} plays, tolerance {TOLERANCE}, longest memory 40 plays;"
    );
    println!("arms whose reach is at least their memory:\n");
    println!(
        "| log | arms | reach | answered | bound at least the truth | median bound / truth | eventual loss covered |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (label, logging, logs) in [
        ("blocks of 64", Logging::Blocks(64), logs),
        ("staying with 0.97", Logging::Stay(0.97), logs),
        ("staying with 0.9", Logging::Stay(0.9), logs),
        ("epoch UCB, 32", Logging::EpochUcb(32), adaptive_logs),
        ("Thompson", Logging::Thompson, adaptive_logs),
    ] {
        let mut all = Shares::default();
        for (number, name) in (0..).zip(GAMES) {
            let arms = game(name);
            for seed in 0..logs {
                all.add(&arms, logging, plays, 10_000 * number + seed);
            }
        }
        let Shares { reached, answered, covered, eventual, ratios } = all;
        println!(
            "| {label} | {} | {} | {} | {} | {} | {} |",
            reached.all,
            reached.percent(),
            answered.percent(),
            covered.percent(),
            median(ratios),
            eventual.percent()
        );
    }
}

#[derive(Default)]
struct Shares {
    reached: Share,
    answered: Share,
    covered: Share,
    eventual: Share,
    ratios: Vec<f64>,
}

impl Shares {
    fn add(&mut self, arms: &[TrueArm], logging: Logging, plays: usize, seed: u64) {
        let found = diagnosed(&log(arms, logging, Noise::Bernoulli, plays, seed), &OPTIONS);
        for (truth, name) in arms.iter().zip(NAMES) {
            let Some(arm) = found.arm(name) else { continue };
            let enough = arm.reach as usize >= truth.weights.len();
            self.reached.count(enough);
            if !enough {
                continue;
            }
            self.answered.count(arm.settled.upper.is_some());
            if let Some(upper) = arm.settled.upper {
                let settles = truth.settles(TOLERANCE);
                self.covered.count(upper >= settles);
                if settles > 1 {
                    self.ratios.push(f64::from(upper) / f64::from(settles));
                }
            }
            if let Some(eventual) = arm.eventual {
                self.eventual.count((eventual.low..=eventual.high).contains(&truth.eventual()));
            }
        }
    }
}
