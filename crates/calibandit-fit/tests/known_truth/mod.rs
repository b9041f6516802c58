//! Logs whose truth is known: games with memory, and several ways to choose their plays.

#![allow(dead_code, reason = "tests and the study use different parts")]

use calibandit::policy::{EpochUcb, Thompson};
use calibandit::{Advisor, Noise, PolicySpec, Stream, StreamKey};
use calibandit_fit::diagnose::{Log, LogBuilder};
use rand::{Rng, RngExt};

/// An arm: its loss depends on the weighted number of its plays among the last `weights.len()` plays.
#[derive(Clone)]
pub(crate) struct TrueArm {
    /// The weight of each play by age.
    pub(crate) weights: Vec<f64>,
    /// The expected loss by share of the largest tally, in (0, 1].
    pub(crate) curve: fn(f64) -> f64,
    pub(crate) level: f64,
    pub(crate) drop: f64,
}

impl TrueArm {
    fn new(memory: usize, curve: fn(f64) -> f64, level: f64, drop: f64) -> Self {
        Self { weights: vec![1.0; memory], curve, level, drop }
    }

    fn loss(&self, share: f64) -> f64 {
        self.level + self.drop * (self.curve)(share)
    }

    /// The expected loss of the k-th play in a row after a rest.
    pub(crate) fn rested(&self, k: usize) -> f64 {
        let total: f64 = self.weights.iter().sum();
        self.loss((self.weights.iter().take(k).sum::<f64>() / total).min(1.0))
    }

    pub(crate) fn eventual(&self) -> f64 {
        self.loss(1.0)
    }

    /// The first play in a row from which on the loss is within the tolerance of the eventual one.
    pub(crate) fn settles(&self, tolerance: f64) -> u32 {
        let outside = |&k: &usize| (self.rested(k) - self.eventual()).abs() > tolerance + 1e-12;
        (1..=self.weights.len()).rev().find(outside).map_or(1, |k| k as u32 + 1)
    }

    /// The tally of the last of these plays, as a share of the largest one.
    fn share(&self, plays: &[usize]) -> f64 {
        let arm = plays[plays.len() - 1];
        let recent = plays.iter().rev().zip(&self.weights).filter(|(played, _)| **played == arm);
        recent.map(|(_, weight)| weight).sum::<f64>() / self.weights.iter().sum::<f64>()
    }
}

fn step(share: f64) -> f64 {
    f64::from(u8::from(share < 1.0 - 1e-9))
}
fn linear(share: f64) -> f64 {
    1.0 - share
}
fn exponential(share: f64) -> f64 {
    (-8.0 * share).exp()
}
fn flat(_: f64) -> f64 {
    0.0
}
/// Falls, then rises: the least loss is at half of the memory.
fn tiring(share: f64) -> f64 {
    (2.0 * share - 1.0).powi(2) - 1.0
}
/// Rises from the first play on.
fn first_impression(share: f64) -> f64 {
    -(1.0 - share)
}

/// The games by name: four arms, of which the first is the best eventually.
pub(crate) const GAMES: [&str; 9] =
    ["none", "step8", "step32", "linear16", "exp32", "decay24", "mixed", "fatigue", "first-impression"];

pub(crate) fn game(name: &str) -> Vec<TrueArm> {
    let levels = [0.2, 0.35, 0.45, 0.3];
    let all = |memory: usize, curve: fn(f64) -> f64, drops: [f64; 4]| {
        (0..4).map(|arm| TrueArm::new(memory, curve, levels[arm], drops[arm])).collect::<Vec<_>>()
    };
    match name {
        "none" => all(1, flat, [0.0; 4]),
        "step8" => all(8, step, [0.5, 0.3, 0.3, 0.4]),
        "step32" => all(32, step, [0.5, 0.3, 0.3, 0.4]),
        "linear16" => all(16, linear, [0.6, 0.3, 0.3, 0.4]),
        "exp32" => all(32, exponential, [0.7, 0.5, 0.4, 0.5]),
        "decay24" => {
            let weights: Vec<f64> = (0..24).map(|age| 0.85_f64.powi(age)).collect();
            all(24, linear, [0.7, 0.5, 0.4, 0.5])
                .into_iter()
                .map(|arm| TrueArm { weights: weights.clone(), ..arm })
                .collect()
        }
        "mixed" => [4, 8, 16, 32]
            .iter()
            .zip(all(1, step, [0.4, 0.3, 0.3, 0.4]))
            .map(|(&memory, arm)| TrueArm { weights: vec![1.0; memory], ..arm })
            .collect(),
        "fatigue" => {
            let mut arms = all(16, tiring, [0.0; 4]);
            for (arm, (level, drop)) in arms.iter_mut().zip([(0.5, 0.4), (0.6, 0.3), (0.6, 0.2), (0.55, 0.3)]) {
                (arm.level, arm.drop) = (level, drop);
            }
            arms
        }
        "first-impression" => {
            let mut arms = all(16, first_impression, [0.0; 4]);
            for (arm, (level, drop)) in arms.iter_mut().zip([(0.4, 0.2), (0.5, 0.45), (0.6, 0.3), (0.5, 0.2)]) {
                (arm.level, arm.drop) = (level, drop);
            }
            arms
        }
        _ => panic!("no game {name}"),
    }
}

/// How arms are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Logging {
    /// Each arm for so many plays, in turn.
    Blocks(usize),
    /// Another arm, at random, with this probability less than one per play: the probability to stay.
    Stay(f64),
    /// Arms at random, in runs of log-uniform length up to this.
    LogUniform(usize),
    /// The policy of this name.
    EpochUcb(u64),
    Thompson,
}

/// Something that is added to losses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Disturbance {
    /// The standard deviation of an effect of each run,
    pub(crate) runs: f64,
    /// of each of `unit_count` units,
    pub(crate) units: f64,
    pub(crate) unit_count: usize,
    /// and a change over the whole log, all arms alike.
    pub(crate) drift: f64,
}

pub(crate) fn log(arms: &[TrueArm], logging: Logging, noise: Noise, plays: usize, seed: u64) -> Log {
    disturbed_log(arms, logging, noise, plays, seed, Disturbance::default())
}

pub(crate) fn disturbed_log(
    arms: &[TrueArm],
    logging: Logging,
    noise: Noise,
    plays: usize,
    seed: u64,
    disturbance: Disturbance,
) -> Log {
    let name = format!("{logging:?} {noise:?}");
    let key = StreamKey::new(seed, &name, plays as u64);
    let (mut choice, mut losses) = (key.game(), key.noise());
    let mut chooser = Chooser::new(logging, arms.len(), plays, seed);
    let mut builder = LogBuilder::new();
    let units = disturbance.unit_count.max(1);
    for unit in 0..units {
        let unit_effect = disturbance.units * normal(&mut losses);
        let mut run_effect = 0.0;
        let mut history: Vec<usize> = Vec::new();
        for play in 0..plays / units {
            let arm = chooser.next(&mut choice);
            if history.last() != Some(&arm) {
                run_effect = disturbance.runs * normal(&mut losses);
            }
            history.push(arm);
            let start = history.len().saturating_sub(64);
            let mean = arms[arm].loss(arms[arm].share(&history[start..]));
            let time = (unit * (plays / units) + play) as f64 / plays as f64;
            let shift = unit_effect + run_effect + disturbance.drift * time;
            let loss = noise.draw(mean, &mut losses) + shift;
            chooser.tell(loss);
            let unit = (units > 1).then(|| format!("unit {unit}"));
            let name = ["a", "b", "c", "d", "e", "f", "g", "h"][arm];
            builder.push(name, Some(loss), None, unit.as_deref()).expect("losses are finite");
        }
    }
    builder.build().expect("the log has plays")
}

fn normal(stream: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - stream.random::<f64>(), stream.random());
    (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
}

/// Chooses the arms of a log.
struct Chooser {
    logging: Logging,
    arms: usize,
    made: usize,
    arm: usize,
    left: usize,
    advisor: Option<Advisor<calibandit::AnyPolicy>>,
    asked: Option<u64>,
}

impl Chooser {
    fn new(logging: Logging, arms: usize, plays: usize, seed: u64) -> Self {
        let spec: Option<PolicySpec> = match logging {
            Logging::EpochUcb(memory_bound) => Some(EpochUcb::builder(memory_bound).into()),
            Logging::Thompson => Some(Thompson::builder().into()),
            _ => None,
        };
        let advisor = spec.map(|spec| {
            let range = calibandit::LossRange::new(-2.0, 3.0).expect("a valid range");
            Advisor::builder(spec, arms).seed(seed).horizon(plays as u64).loss_range(range).build().expect("valid")
        });
        Self { logging, arms, made: 0, arm: 0, left: 0, advisor, asked: None }
    }

    fn next(&mut self, stream: &mut Stream) -> usize {
        self.made += 1;
        match self.logging {
            Logging::Blocks(length) => self.arm = (self.made - 1) / length % self.arms,
            Logging::Stay(stay) => {
                if stream.random::<f64>() >= stay {
                    self.arm = other(self.arm, self.arms, stream);
                }
            }
            Logging::LogUniform(most) => {
                if self.left == 0 {
                    self.arm = other(self.arm, self.arms, stream);
                    self.left = ((most as f64 + 1.0).ln() * stream.random::<f64>()).exp() as usize;
                    self.left = self.left.max(1);
                }
                self.left -= 1;
            }
            Logging::EpochUcb(_) | Logging::Thompson => {
                let decision = self.advisor.as_mut().expect("a policy").ask().expect("all losses are told");
                (self.arm, self.asked) = (decision.arm, Some(decision.id));
            }
        }
        self.arm
    }

    fn tell(&mut self, loss: f64) {
        if let (Some(advisor), Some(id)) = (&mut self.advisor, self.asked.take()) {
            advisor.tell(id, loss).expect("the loss is in range");
        }
    }
}

fn other(arm: usize, arms: usize, stream: &mut Stream) -> usize {
    let other = (stream.random::<f64>() * (arms - 1) as f64) as usize;
    if other >= arm { other + 1 } else { other }
}
