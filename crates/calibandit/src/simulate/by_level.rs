//! Leaping on a game whose losses have levels.

use super::history::History;
use super::ledger::Ledger;
use super::levels::{ArmLevels, Levels};
use super::{Play, Trajectory};
use crate::game::{bernoulli, threshold};
use crate::{Arm, Feedback, Game, Noise, Policy, Run, Stream};

/// A game being played: plays before the arm is calibrated one by one, drawing only what is recorded; all others at once.
pub(super) struct ByLevel<'a, H> {
    arms: Vec<(ArmLevels, Noise)>,
    /// Each level's expected loss and, for Bernoulli draws, its threshold.
    losses: Vec<(f64, u64)>,
    /// Whether the ledger counts by level; otherwise it only counts calibrated plays, by arm.
    counted: bool,
    history: H,
    ledger: Ledger,
    noise: &'a mut Stream,
}

impl<'a, H: History> ByLevel<'a, H> {
    pub(super) fn new(game: &Game, levels: &Levels, history: H, times: Vec<u64>, noise: &'a mut Stream) -> Self {
        Self {
            arms: levels.arms().iter().copied().zip(game.arms().iter().map(Arm::noise)).collect(),
            losses: levels.losses().iter().map(|&loss| (loss, threshold(loss))).collect(),
            counted: levels.are_counted(),
            history,
            ledger: Ledger::new(game, levels.are_counted().then_some(levels), times),
            noise,
        }
    }

    /// [`Noise::draw`], with the threshold at hand.
    #[inline(always)]
    fn draw(&mut self, noise: Noise, level: usize) -> f64 {
        let (loss, threshold) = self.losses[level];
        match noise {
            Noise::Bernoulli => bernoulli(threshold, self.noise),
            _ => noise.draw(loss, self.noise),
        }
    }
}

impl<H: History> Play for ByLevel<'_, H> {
    #[inline(always)]
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let (levels, noise) = self.arms[arm];
        let plays = burn_in + record;
        let mut feedback = Feedback::default();
        for played in 0..plays {
            let level = self.history.play(arm, &levels);
            if level == levels.calibrated {
                let calibrated = plays - played;
                self.history.stay(arm, calibrated - 1);
                self.ledger.count(arm, if self.counted { level } else { arm }, calibrated);
                let recorded = calibrated.min(record);
                feedback += if recorded == 1 {
                    Feedback::one(self.draw(noise, level))
                } else {
                    noise.draw_many(self.losses[level].0, recorded, self.noise)
                };
                break;
            }
            if self.counted {
                self.ledger.count(arm, level, 1);
            } else {
                self.ledger.one(arm, self.losses[level].0);
            }
            if played >= burn_in {
                feedback += Feedback::one(self.draw(noise, level));
            }
        }
        feedback
    }

    #[inline(always)]
    fn repeat<P: Policy + ?Sized>(&mut self, policy: &mut P, run: Run, most: u64) -> u64 {
        let (levels, noise) = self.arms[run.arm];
        if run.record != 1 || noise != Noise::Bernoulli || most < 2 || !self.history.stays_calibrated(run.arm, &levels)
        {
            return 0;
        }
        let threshold = self.losses[levels.calibrated].1;
        let stream = &mut *self.noise;
        let repeated = policy.observe_repeated(run, most, &mut || Feedback::one(bernoulli(threshold, stream)));
        self.history.stay(run.arm, repeated * run.plays());
        let level = if self.counted { levels.calibrated } else { run.arm };
        self.ledger.count(run.arm, level, repeated * run.plays());
        repeated
    }

    fn arms(&self) -> usize {
        self.arms.len()
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.ledger.finish(runs)
    }
}
