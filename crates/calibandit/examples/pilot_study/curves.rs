//! The games of the study: four arms that warm up alike, with different eventual losses.

use calibandit::{Arm, Game, LossCurve, Noise, Weights};

/// How the loss falls while an arm warms up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WarmUpShape {
    Step,
    Linear,
    Exponential,
}

/// A warm-up: its shape, its memory and by how much the loss falls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StudyCurve {
    pub(crate) shape: WarmUpShape,
    pub(crate) memory: usize,
    pub(crate) drop: f64,
}

impl StudyCurve {
    pub(crate) fn new(shape: WarmUpShape, memory: usize, drop: f64) -> Self {
        Self { shape, memory, drop }
    }

    pub(crate) fn name(&self) -> String {
        let shape = match self.shape {
            WarmUpShape::Step => "step",
            WarmUpShape::Linear => "linear",
            WarmUpShape::Exponential => "exponential",
        };
        format!("{shape} {}", self.memory)
    }

    /// The loss above the eventual one at a tally from 1 to the memory.
    fn excess(&self, tally: usize) -> f64 {
        let (t, m) = (tally as f64, self.memory as f64);
        self.drop
            * match self.shape {
                WarmUpShape::Step => f64::from(u8::from(tally < self.memory)),
                WarmUpShape::Linear => 1.0 - t / m,
                WarmUpShape::Exponential => ((-4.0 * t / m).exp() - (-4.0_f64).exp()) / (1.0 - (-4.0_f64).exp()),
            }
    }

    /// The least number of plays in a row from which on the loss is within `tolerance` of the eventual one.
    pub(crate) fn settled(&self, tolerance: f64) -> u64 {
        let within = |tally: &usize| self.excess(*tally) <= tolerance;
        (1..=self.memory).find(within).unwrap_or(self.memory) as u64
    }

    /// Four arms with eventual losses 0.1, 0.2, 0.3 and 0.4.
    pub(crate) fn game(&self, noise: Noise) -> Game {
        let arm = |x: usize| {
            let eventual = 0.1 + 0.1 * x as f64;
            let losses = (1..=self.memory).map(|tally| eventual + self.excess(tally));
            let weights = Weights::unit(self.memory).expect("a positive memory");
            Arm::new(weights, LossCurve::by_plays(losses.collect::<Vec<_>>()), noise).expect("losses in [0, 1]")
        };
        Game::new((0..4).map(arm).collect()).expect("arms with one memory")
    }
}
