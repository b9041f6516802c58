//! Leaping on a rested game: plays are counted, and made at once wherever the curve is flat.

use super::loss_accumulator::LossAccumulator;
use super::{GameStepper, Trajectory};
use crate::game::{bernoulli, threshold};
use crate::{Arm, Exposure, Feedback, Game, Interrupt, Noise, Policy, Run, Stream};

/// A rested game in progress.
pub(super) struct CountStepper<'a> {
    game: &'a Game,
    arms: Vec<Stretch>,
    losses: LossAccumulator,
    noise: &'a mut Stream,
    interrupt: Interrupt<'a>,
}

/// The plays of an arm, and the flat stretch that its next play belongs to.
#[derive(Clone, Copy)]
struct Stretch {
    /// The number of plays so far.
    plays: u64,
    /// The last number of plays with this loss.
    last: u64,
    loss: f64,
    /// The loss as a threshold for Bernoulli draws.
    threshold: u64,
}

impl Stretch {
    /// Looks up the next flat stretch, after so many plays.
    fn after(arm: &Arm, plays: u64) -> Self {
        let (loss, last) = match arm.course() {
            Some(course) => (arm.loss(Exposure::rested(plays + 1)), course.flat_until(plays + 1)),
            // An arm that is not rested, beside rested ones, has a constant loss.
            None => (arm.eventual_loss(), u64::MAX),
        };
        Self { plays, last, loss, threshold: threshold(loss) }
    }

    /// Adds plays of this stretch; the next one is looked up at its end.
    #[inline(always)]
    fn advance(&mut self, arm: &Arm, plays: u64) {
        self.plays += plays;
        if self.plays == self.last {
            *self = Self::after(arm, self.plays);
        }
    }

    /// One observed loss.
    #[inline(always)]
    fn draw(&self, noise: Noise, stream: &mut Stream) -> f64 {
        match noise {
            Noise::Bernoulli => bernoulli(self.threshold, stream),
            _ => noise.draw(self.loss, stream),
        }
    }
}

impl<'a> CountStepper<'a> {
    pub(super) fn new(game: &'a Game, times: Vec<u64>, noise: &'a mut Stream, interrupt: Interrupt<'a>) -> Self {
        let arms = game.arms().iter().map(|arm| Stretch::after(arm, 0)).collect();
        Self { game, arms, losses: LossAccumulator::new(game, None, times), noise, interrupt }
    }
}

impl GameStepper for CountStepper<'_> {
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let this = &self.game.arms()[arm];
        let noise = this.noise();
        let stretch = &mut self.arms[arm];
        let mut feedback = Feedback::default();
        let (mut ignored, mut recorded) = (burn_in, record);
        while ignored + recorded > 0 && !self.interrupt.is_stopped() {
            let taken = (stretch.last - stretch.plays).min(ignored + recorded);
            let (skipped, seen) = (taken.min(ignored), taken - taken.min(ignored));
            self.losses.add_many(arm, stretch.loss, taken);
            match seen {
                0 => {}
                1 => feedback += Feedback::one(stretch.draw(noise, self.noise)),
                _ => feedback += noise.draw_many(stretch.loss, seen, self.noise),
            }
            ignored -= skipped;
            recorded -= seen;
            stretch.advance(this, taken);
        }
        feedback
    }

    fn repeat<P: Policy + ?Sized>(&mut self, policy: &mut P, run: Run, most: u64) -> u64 {
        let this = &self.game.arms()[run.arm];
        let stretch = &mut self.arms[run.arm];
        let most = most.min((stretch.last - stretch.plays) / run.plays());
        if run.record != 1 || most < 2 || stretch.loss.is_nan() {
            return 0;
        }
        let (noise, stream) = (this.noise(), &mut *self.noise);
        let repeated = policy.observe_repeated(run, most, &mut || Feedback::one(stretch.draw(noise, stream)));
        let plays = repeated * run.plays();
        self.losses.add_many(run.arm, stretch.loss, plays);
        stretch.advance(this, plays);
        repeated
    }

    fn losses(&self) -> &LossAccumulator {
        &self.losses
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.losses.finish(runs)
    }
}
