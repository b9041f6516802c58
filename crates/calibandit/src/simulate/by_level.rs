//! Leaping on a game whose losses have levels.

use super::history::History;
use super::ledger::Ledger;
use super::levels::{ArmLevels, Levels};
use super::{Play, Trajectory};
use crate::game::{bernoulli, threshold};
use crate::{Feedback, Game, Noise, Policy, Run, Stream};

/// What a play needs to know of an arm. Games have many arms but few kinds of them; an arm takes little room, so that those
/// of a large game stay in the processor's caches.
#[derive(Clone, Copy)]
struct Place {
    /// Its first level in the ledger.
    first: u32,
    kind: u32,
}

/// What arms can have in common.
#[derive(Clone, Copy)]
struct Kind {
    /// Numbered from 0.
    levels: ArmLevels,
    noise: Noise,
    /// Where its losses begin.
    losses: usize,
}

/// An arm is compared with no more kinds than this.
const FEW: usize = 16;

/// A game being played: plays before the arm is calibrated one by one, drawing only what is recorded; all others at once.
pub(super) struct ByLevel<'a, H> {
    arms: Vec<Place>,
    kinds: Vec<Kind>,
    /// Each level's expected loss and, for Bernoulli draws, its threshold, kind by kind.
    losses: Vec<(f64, u64)>,
    /// Whether the ledger counts by level; otherwise it only counts calibrated plays, by arm.
    counted: bool,
    history: H,
    ledger: Ledger,
    noise: &'a mut Stream,
}

impl<'a, H: History> ByLevel<'a, H> {
    pub(super) fn new(game: &Game, levels: &Levels, history: H, times: Vec<u64>, noise: &'a mut Stream) -> Self {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut losses: Vec<(f64, u64)> = Vec::new();
        let mut arms = Vec::with_capacity(game.arms().len());
        for (arm, own) in game.arms().iter().zip(levels.arms()) {
            let theirs = levels.losses()[own.first..=own.calibrated].iter().map(|&loss| (loss, threshold(loss)));
            let kind = Kind { levels: own.renumbered(), noise: arm.noise(), losses: losses.len() };
            let same = |other: &Kind| {
                let known = &losses[other.losses..];
                (other.levels == kind.levels && other.noise == kind.noise)
                    && theirs.clone().eq(known[..=kind.levels.calibrated].iter().copied())
            };
            let place = kinds.iter().take(FEW).position(same).unwrap_or_else(|| {
                losses.extend(theirs.clone());
                kinds.push(kind);
                kinds.len() - 1
            });
            arms.push(Place { first: own.first as u32, kind: place as u32 });
        }
        let counted = levels.are_counted();
        let ledger = Ledger::new(game, counted.then_some(levels), times);
        Self { arms, kinds, losses, counted, history, ledger, noise }
    }

    /// The arm's first level in the ledger, and its kind.
    #[inline(always)]
    fn kind(&self, arm: usize) -> (usize, Kind) {
        let Place { first, kind } = self.arms[arm];
        (first as usize, self.kinds[kind as usize])
    }

    /// One play of a level.
    #[inline(always)]
    fn note(&mut self, arm: usize, first: usize, kind: &Kind, level: usize) {
        if self.counted {
            self.ledger.count(arm, first + level, 1);
        } else if level == kind.levels.calibrated {
            self.ledger.count(arm, arm, 1);
        } else {
            self.ledger.one(arm, self.losses[kind.losses + level].0);
        }
    }

    /// [`Noise::draw`], with the threshold at hand.
    #[inline(always)]
    fn draw(&mut self, kind: &Kind, level: usize) -> f64 {
        let (loss, threshold) = self.losses[kind.losses + level];
        match kind.noise {
            Noise::Bernoulli => bernoulli(threshold, self.noise),
            _ => kind.noise.draw(loss, self.noise),
        }
    }
}

impl<H: History> Play for ByLevel<'_, H> {
    #[inline(always)]
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let (first, kind) = self.kind(arm);
        let plays = burn_in + record;
        if plays == 1 {
            let level = self.history.play_one(arm, &kind.levels);
            self.note(arm, first, &kind, level);
            return if record == 1 { Feedback::one(self.draw(&kind, level)) } else { Feedback::default() };
        }
        let mut feedback = Feedback::default();
        for played in 0..plays {
            let level = self.history.play(arm, &kind.levels);
            if level == kind.levels.calibrated {
                let calibrated = plays - played;
                self.history.stay(arm, calibrated - 1);
                self.ledger.count(arm, if self.counted { first + level } else { arm }, calibrated);
                let recorded = calibrated.min(record);
                feedback += if recorded == 1 {
                    Feedback::one(self.draw(&kind, level))
                } else {
                    kind.noise.draw_many(self.losses[kind.losses + level].0, recorded, self.noise)
                };
                break;
            }
            self.note(arm, first, &kind, level);
            if played >= burn_in {
                feedback += Feedback::one(self.draw(&kind, level));
            }
        }
        feedback
    }

    #[inline(always)]
    fn repeat<P: Policy + ?Sized>(&mut self, policy: &mut P, run: Run, most: u64) -> u64 {
        let (first, Kind { levels, noise, losses }) = self.kind(run.arm);
        let single = run.record == 1 && noise == Noise::Bernoulli && most >= 2;
        if !single || !self.history.stays_calibrated(run.arm, &levels) {
            return 0;
        }
        let threshold = self.losses[losses + levels.calibrated].1;
        let stream = &mut *self.noise;
        let repeated = policy.observe_repeated(run, most, &mut || Feedback::one(bernoulli(threshold, stream)));
        self.history.stay(run.arm, repeated * run.plays());
        let level = if self.counted { first + levels.calibrated } else { run.arm };
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
