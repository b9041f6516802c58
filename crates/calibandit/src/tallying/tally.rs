//! The tally of each play, updated in constant time per play for every kernel.

use super::Kernel;
use crate::math;

/// Tallies are sorted into at most so many levels.
const LEVELS: usize = 256;

/// The number of levels of unit weights.
pub(crate) fn unit_levels(memory: u32) -> usize {
    (memory as usize).min(LEVELS)
}

/// The level of a tally of unit weights: a number of plays from 1 to the memory.
#[inline]
pub(crate) fn unit_level(plays: u32, memory: u32) -> usize {
    let (level, memory) = (plays as usize - 1, memory as usize);
    if memory <= LEVELS { level } else { level * LEVELS / memory }
}

/// The weight that a geometric or power-law kernel gives to the play `memory` plays ago.
const LEAST_WEIGHT: f64 = 0.05;

/// The tallies of all arms.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) enum Tally {
    Window(WindowTally),
    Decay(DecayTally),
}

impl Tally {
    pub(super) fn new(kernel: Kernel, memory: u32, arms: usize) -> Self {
        match kernel {
            Kernel::Unit | Kernel::Linear => Self::Window(WindowTally::new(kernel == Kernel::Linear, memory, arms)),
            Kernel::Geometric | Kernel::PowerLaw => Self::Decay(DecayTally::new(kernel, memory, arms)),
        }
    }

    pub(super) fn levels(&self) -> usize {
        match self {
            Self::Window(window) if !window.linear => unit_levels(window.memory),
            _ => LEVELS,
        }
    }

    #[inline]
    pub(super) fn play(&mut self, arm: usize) -> usize {
        match self {
            Self::Window(window) => window.play(arm),
            Self::Decay(decay) => decay.play(arm),
        }
    }

    pub(super) fn rest(&mut self) {
        match self {
            Self::Window(window) => window.rest(),
            Self::Decay(decay) => decay.rest(),
        }
    }
}

/// Weights that end after `memory` plays: equal ones, or linearly falling ones.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct WindowTally {
    linear: bool,
    memory: u32,
    /// The last `memory` plays: a ring, in which `next` is the oldest one once it is full.
    ring: Vec<u32>,
    next: usize,
    /// The plays of each arm in the ring,
    counts: Vec<u32>,
    /// and the sum of their times, for linear weights.
    times: Vec<u64>,
    now: u64,
}

impl WindowTally {
    fn new(linear: bool, memory: u32, arms: usize) -> Self {
        let times = if linear { vec![0; arms] } else { Vec::new() };
        Self { linear, memory, ring: Vec::new(), next: 0, counts: vec![0; arms], times, now: 0 }
    }

    #[inline]
    fn play(&mut self, arm: usize) -> usize {
        let memory = self.memory as usize;
        self.now += 1;
        if self.ring.len() < memory {
            self.ring.push(arm as u32);
        } else {
            let gone = std::mem::replace(&mut self.ring[self.next], arm as u32) as usize;
            self.next = if self.next + 1 == memory { 0 } else { self.next + 1 };
            self.counts[gone] -= 1;
            if self.linear {
                self.times[gone] -= self.now - u64::from(self.memory);
            }
        }
        self.counts[arm] += 1;
        if !self.linear {
            return unit_level(self.counts[arm], self.memory);
        }
        let count = u64::from(self.counts[arm]);
        self.times[arm] += self.now;
        // The sum over plays of (memory - age), with age = now - time.
        let tally = self.times[arm] + count * u64::from(self.memory) - count * self.now;
        let most = u64::from(self.memory) * (u64::from(self.memory) + 1) / 2;
        ((tally - 1) * LEVELS as u64 / most) as usize
    }

    fn rest(&mut self) {
        for &arm in &self.ring {
            self.counts[arm as usize] = 0;
            if self.linear {
                self.times[arm as usize] = 0;
            }
        }
        self.ring.clear();
        (self.next, self.now) = (0, 0);
    }
}

/// Gaps up to this have their decay in a table.
const TABLE: usize = 1024;

/// Nodes and weights of the Gauss-Laguerre rule with weight v·e^(-v): the mixture of geometric weights that falls like
/// (1 + age/scale)^(-2). Computed as the roots of the generalised Laguerre polynomial of degree 5 with parameter 1.
const POWER_LAW: [(f64, f64); 5] = [
    (0.617_030_853_278_270_4, 0.348_014_540_023_348_86),
    (2.112_965_958_578_524, 0.502_280_674_132_493),
    (4.610_833_151_017_532, 0.140_915_919_494_472_56),
    (8.399_066_971_204_842, 0.008_719_893_026_099_98),
    (14.260_103_065_920_83, 0.000_068_973_323_585_64),
];

/// Weights that fall geometrically, or a mixture of such weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct DecayTally {
    /// For each part of the mixture, its share and the logarithm of its factor per play.
    parts: Vec<(f64, f64)>,
    /// The tally of each arm at its last play, by arm and part.
    tallies: Vec<f64>,
    last: Vec<u64>,
    now: u64,
    /// The tally of a run without end.
    most: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    table: Vec<f64>,
}

impl DecayTally {
    fn new(kernel: Kernel, memory: u32, arms: usize) -> Self {
        let memory = f64::from(memory);
        let parts: Vec<(f64, f64)> = if kernel == Kernel::Geometric {
            vec![(1.0, math::ln(LEAST_WEIGHT) / memory)]
        } else {
            // (1 + memory/scale)^(-2) is the least weight.
            let scale = memory / ((1.0 / LEAST_WEIGHT).sqrt() - 1.0);
            POWER_LAW.iter().map(|&(node, share)| (share, -node / scale)).collect()
        };
        let most = parts.iter().map(|&(share, rate)| share / (1.0 - math::exp(rate))).sum();
        let tallies = vec![0.0; arms * parts.len()];
        Self { parts, tallies, last: vec![0; arms], now: 0, most, table: Vec::new() }
    }

    #[inline]
    fn play(&mut self, arm: usize) -> usize {
        if self.table.is_empty() {
            let rates = self.parts.iter().map(|&(_, rate)| rate);
            self.table = rates.flat_map(|rate| (0..TABLE).map(move |gap| math::exp(rate * gap as f64))).collect();
        }
        self.now += 1;
        let count = self.parts.len();
        // An arm that has not been played has a tally of 0, whatever its gap.
        let gap = self.now - std::mem::replace(&mut self.last[arm], self.now);
        let mut tally = 0.0;
        for (part, &(share, rate)) in self.parts.iter().enumerate() {
            let decay = match usize::try_from(gap) {
                Ok(gap) if gap < TABLE => self.table[part * TABLE + gap],
                _ => math::exp(rate * gap as f64),
            };
            let value = &mut self.tallies[arm * count + part];
            *value = share + decay * *value;
            tally += *value;
        }
        ((tally / self.most * LEVELS as f64) as usize).min(LEVELS - 1)
    }

    fn rest(&mut self) {
        self.tallies.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    use crate::StreamKey;

    fn random_plays(arms: usize, plays: usize) -> Vec<usize> {
        let mut stream = StreamKey::new(1, "tally", arms as u64).noise();
        let mut arm = 0;
        (0..plays)
            .map(|_| {
                if stream.random::<f64>() < 0.3 {
                    arm = (stream.random::<f64>() * arms as f64) as usize;
                }
                arm
            })
            .collect()
    }

    /// The sum of the weights by age, over the plays of the same arm.
    fn by_definition(plays: &[usize], weight: impl Fn(usize) -> f64) -> f64 {
        let arm = plays[plays.len() - 1];
        plays.iter().rev().enumerate().filter(|(_, played)| **played == arm).map(|(age, _)| weight(age)).sum()
    }

    #[test]
    fn window_tallies_are_sums_of_weights() {
        for memory in [1_usize, 2, 7, 40, 300] {
            let mut unit = Tally::new(Kernel::Unit, memory as u32, 3);
            let mut linear = Tally::new(Kernel::Linear, memory as u32, 3);
            let plays = random_plays(3, 1000);
            for end in 1..=plays.len() {
                let seen = &plays[..end];
                let count = by_definition(seen, |age| f64::from(u8::from(age < memory)));
                let level = if memory <= LEVELS { count as usize - 1 } else { (count as usize - 1) * LEVELS / memory };
                assert_eq!(unit.play(plays[end - 1]), level);
                let tally = by_definition(seen, |age| memory.saturating_sub(age) as f64);
                let most = (memory * (memory + 1) / 2) as f64;
                assert_eq!(linear.play(plays[end - 1]), ((tally - 1.0) * LEVELS as f64 / most) as usize);
            }
        }
    }

    #[test]
    fn decaying_tallies_are_sums_of_weights() {
        for memory in [2_u32, 10, 200] {
            let factor = LEAST_WEIGHT.powf(1.0 / f64::from(memory));
            let scale = f64::from(memory) / (20.0_f64.sqrt() - 1.0);
            let mixture = |age: usize| -> f64 {
                POWER_LAW.iter().map(|&(node, share)| share * (-node * age as f64 / scale).exp()).sum()
            };
            for age in 0..2 * memory as usize {
                let exact = (1.0 + age as f64 / scale).powi(-2);
                assert!((mixture(age) - exact).abs() < 0.02, "{age}: {} {exact}", mixture(age));
            }
            let geometric = |age: usize| factor.powi(age as i32);
            let plays = random_plays(3, 1500);
            for (kernel, weight) in [
                (Kernel::Geometric, &geometric as &dyn Fn(usize) -> f64),
                (Kernel::PowerLaw, &mixture as &dyn Fn(usize) -> f64),
            ] {
                let mut tally = Tally::new(kernel, memory, 3);
                let sum: f64 = (0..20_000).map(weight).sum();
                for end in 1..=plays.len() {
                    let exact = by_definition(&plays[..end], weight) / sum * LEVELS as f64;
                    let level = tally.play(plays[end - 1]);
                    // Rounding may decide at the border of two levels.
                    assert!((exact - 1e-6) as usize <= level && level <= (exact + 1e-6) as usize, "{level} {exact}");
                }
            }
        }
    }

    #[test]
    fn resting_forgets_all_plays() {
        for kernel in Kernel::ALL {
            let plays = random_plays(4, 200);
            let mut rested = Tally::new(kernel, 9, 4);
            for &arm in &plays {
                rested.play(arm);
            }
            rested.rest();
            let mut fresh = Tally::new(kernel, 9, 4);
            for &arm in &plays {
                assert_eq!(rested.play(arm), fresh.play(arm), "{kernel:?}");
            }
        }
    }
}
