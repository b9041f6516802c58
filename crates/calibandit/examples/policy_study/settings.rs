//! The settings of the study: games that are drawn from a seed, sorted into kinds.
//!
//! A setting has fixed eventual losses, memory, warm-up and noise; instances differ in the order of the arms and in the
//! noise. The three sets (training, validation, test) are drawn in the same way from different seeds.

use calibandit::{Arm, Game, LossCurve, Noise, Stream, StreamKey, Weights};
use rand::RngExt;
use rand::seq::SliceRandom;

/// What is typical of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SettingKind {
    /// Two arms.
    Pair,
    /// Two good arms that are close to each other; the others are far worse.
    Rivals,
    /// All arms but the best are equal.
    Crowd,
    /// The eventual losses are evenly spaced.
    Ladder,
    /// The eventual losses are uniform or normal.
    Spread,
    /// Several best arms, or all arms equal.
    Ties,
    /// Memory 1.
    Plain,
    /// 200 to 1,000 arms.
    Many,
    /// A memory of 50 to 800.
    Long,
}

impl SettingKind {
    /// All kinds.
    pub(crate) const ALL: [Self; 9] = [
        Self::Pair,
        Self::Rivals,
        Self::Crowd,
        Self::Ladder,
        Self::Spread,
        Self::Ties,
        Self::Plain,
        Self::Many,
        Self::Long,
    ];
}

/// The losses of an arm before it is calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarmUpKind {
    /// Its eventual loss: a switch costs nothing.
    Free,
    /// The worst eventual loss of the game.
    Worst,
    /// 1.
    Dear,
    /// From 1 down to the eventual loss, linearly.
    Falling,
}

/// One setting.
#[derive(Clone, Debug)]
pub(crate) struct StudySetting {
    pub(crate) number: u64,
    pub(crate) kind: SettingKind,
    pub(crate) losses: Vec<f64>,
    pub(crate) memory: usize,
    pub(crate) memory_bound: u64,
    pub(crate) warm_up: WarmUpKind,
    pub(crate) noise: Noise,
    pub(crate) horizon: u64,
}

impl StudySetting {
    /// The game of an instance: the arms in a random order.
    pub(crate) fn game(&self, stream: &mut Stream) -> Game {
        let mut losses = self.losses.clone();
        losses.shuffle(stream);
        let worst = losses.iter().copied().fold(0.0, f64::max);
        let arm = |&eventual: &f64| {
            let curve = match self.warm_up {
                WarmUpKind::Free => LossCurve::constant(eventual),
                WarmUpKind::Worst => LossCurve::constant(worst).when_calibrated(eventual),
                WarmUpKind::Dear => LossCurve::constant(1.0).when_calibrated(eventual),
                WarmUpKind::Falling => {
                    let by = (1.0 - eventual) / self.memory as f64;
                    let at = |k: usize| 1.0 - by * k as f64;
                    LossCurve::by_plays((1..=self.memory).map(at).collect::<Vec<_>>()).when_calibrated(eventual)
                }
            };
            let weights = Weights::unit(self.memory).expect("the memory is positive");
            Arm::new(weights, curve, self.noise).expect("losses lie in [0, 1]")
        };
        Game::new(losses.iter().map(arm).collect()).expect("there are arms")
    }

    /// What tables say about it.
    pub(crate) fn title(&self) -> String {
        let Self { memory, memory_bound, warm_up, noise, horizon, .. } = self;
        let noise = match noise {
            Noise::Bernoulli => "Bernoulli".to_string(),
            Noise::Normal { sd } => format!("normal {sd:.3}"),
            Noise::Beta { concentration } => format!("beta {concentration:.1}"),
            _ => "none".to_string(),
        };
        let best = self.losses.iter().copied().fold(1.0, f64::min);
        let gap = self.losses.iter().map(|loss| loss - best).filter(|&gap| gap > 0.0).fold(1.0, f64::min);
        format!(
            "K {} m {memory} M {memory_bound} T {horizon:.0e} best {best:.3} gap {gap:.4} {warm_up:?} {noise}",
            self.losses.len(),
            horizon = *horizon as f64
        )
    }
}

/// StudySetting `number` of the set with this seed. The kinds follow each other in turn.
pub(crate) fn setting(seed: u64, number: u64) -> StudySetting {
    let from = &mut StreamKey::new(seed, "policy-study/setting", number).game();
    let kind = SettingKind::ALL[number as usize % SettingKind::ALL.len()];
    let arms = match kind {
        SettingKind::Pair => 2,
        SettingKind::Rivals => whole(3, 30, from),
        SettingKind::Many => whole(200, 1000, from),
        SettingKind::Long => whole(2, 50, from),
        _ => whole(3, 100, from),
    };
    let (shortest, longest) = match kind {
        SettingKind::Many => (10_000, 1_000_000),
        SettingKind::Long => (10_000, 10_000_000),
        _ => (1_000, 10_000_000),
    };
    let mut horizon = whole(shortest, longest, from);
    let noise = match whole_evenly(6, from) {
        0..=2 => Noise::Bernoulli,
        3 => Noise::Normal { sd: logarithmic(0.01, 0.5, from) },
        4 => Noise::Beta { concentration: logarithmic(1.0, 100.0, from) },
        _ => match whole_evenly(3, from) {
            0 => Noise::None,
            _ => Noise::Normal { sd: logarithmic(0.05, 0.5, from) },
        },
    };
    if matches!(noise, Noise::Beta { .. }) {
        // Beta losses are drawn play by play, which is slow.
        horizon = horizon.min(100_000);
    }
    let memory = match kind {
        SettingKind::Plain => 1,
        SettingKind::Long => whole(50, 800, from),
        _ => whole(1, 50, from),
    } as usize;
    let memory_bound = match kind {
        SettingKind::Plain => 1,
        _ => (memory as f64 * logarithmic(0.5, 4.0, from).max(1.0)).round().min(800.0) as u64,
    };
    let memory_bound = memory_bound.max(memory as u64);
    let warm_up = match whole_evenly(5, from) {
        0 => WarmUpKind::Free,
        1 | 2 => WarmUpKind::Worst,
        3 => WarmUpKind::Dear,
        _ => WarmUpKind::Falling,
    };
    let losses = losses(kind, arms as usize, from);
    StudySetting { number, kind, losses, memory, memory_bound, warm_up, noise, horizon }
}

/// The eventual losses.
fn losses(kind: SettingKind, arms: usize, from: &mut Stream) -> Vec<f64> {
    // The best loss: anywhere, or near 0 or 1.
    let best = match whole_evenly(4, from) {
        0 => logarithmic(0.002, 0.1, from),
        1 => 1.0 - logarithmic(0.02, 0.3, from),
        _ => 0.1 + 0.5 * from.random::<f64>(),
    };
    let room = 0.98 * (1.0 - best);
    let gap = logarithmic(0.001, 0.5, from).min(room);
    let mut losses = match kind {
        SettingKind::Pair => vec![best, best + gap],
        SettingKind::Rivals => {
            let near = logarithmic(0.001, 0.05, from).min(0.3 * room);
            let far = (near * logarithmic(3.0, 30.0, from)).clamp(0.05, 0.5).min(room);
            let mut losses = vec![best + far; arms];
            losses[1] = best + near;
            if whole_evenly(2, from) == 1 {
                losses[2..].iter_mut().for_each(|loss| *loss += (room - far).min(0.3) * from.random::<f64>());
            }
            losses
        }
        SettingKind::Ladder => (0..arms).map(|i| best + (gap * i as f64 / (arms as f64 - 1.0)).min(room)).collect(),
        SettingKind::Ties => match whole_evenly(3, from) {
            0 => vec![best; arms],
            1 => (0..arms).map(|i| if i < 2 + arms / 5 { best } else { best + gap }).collect(),
            _ => (0..arms).map(|i| if i < 2 { best } else { best + gap * from.random::<f64>() }).collect(),
        },
        SettingKind::Crowd => vec![best + gap; arms],
        _ => match whole_evenly(4, from) {
            0 => vec![best + gap; arms],
            1 => (0..arms).map(|_| best + room * from.random::<f64>()).collect(),
            2 => (0..arms).map(|_| best + gap * (0.2 + 0.8 * from.random::<f64>())).collect(),
            _ => {
                let sum = |from: &mut Stream| (0..4).map(|_| from.random::<f64>()).sum::<f64>();
                (0..arms).map(|_| best + gap.max(0.05).min(room) * sum(from) / 4.0).collect()
            }
        },
    };
    losses[0] = best;
    losses
}

/// A log-uniform number from `low` to `high`.
pub(crate) fn logarithmic(low: f64, high: f64, from: &mut Stream) -> f64 {
    let u: f64 = from.random();
    (low * (high / low).powf(u)).clamp(low, high)
}

/// A log-uniform whole number from `low` to `high`, both included.
fn whole(low: u64, high: u64, from: &mut Stream) -> u64 {
    (logarithmic(low as f64, high as f64 + 1.0, from) as u64).min(high)
}

/// A uniform whole number from 0 to `n - 1`.
fn whole_evenly(n: usize, from: &mut Stream) -> usize {
    let u: f64 = from.random();
    ((u * n as f64) as usize).min(n - 1)
}
