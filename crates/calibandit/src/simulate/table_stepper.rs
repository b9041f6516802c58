//! Leaping on a game that has a loss table.

use super::loss_accumulator::LossAccumulator;
use super::loss_table::{ArmRows, LossTable};
use super::play_history::PlayHistory;
use super::{GameStepper, Trajectory};
use crate::game::{bernoulli, threshold};
use crate::{Feedback, Game, Noise, Policy, Run, Stream};

/// The data of one arm. A game has many arms but few kinds of arms, so this is small and the data of a large game stay
/// in the processor's caches.
#[derive(Clone, Copy)]
struct ArmSlot {
    /// The arm's first row in the loss accumulator.
    first: u32,
    kind: u32,
}

/// The data that equal arms share.
#[derive(Clone, Copy)]
struct ArmKind {
    /// Numbered from 0.
    rows: ArmRows,
    noise: Noise,
    /// Where its losses begin in [`TableStepper::losses`].
    losses: usize,
}

/// An arm is compared with at most this many kinds, so that preparing a game of all-different arms takes linear time.
const MOST_KINDS_COMPARED: usize = 16;

/// A game in progress. Plays before the arm is calibrated are made one by one, drawing only what is recorded; all
/// others are made at once.
pub(super) struct TableStepper<'a, H> {
    arms: Vec<ArmSlot>,
    kinds: Vec<ArmKind>,
    /// Per kind and row, the expected loss and, for Bernoulli draws, its threshold.
    losses: Vec<(f64, u64)>,
    /// Whether the accumulator counts by row; otherwise it counts only calibrated plays, by arm.
    counted: bool,
    history: H,
    accumulator: LossAccumulator,
    noise: &'a mut Stream,
}

impl<'a, H: PlayHistory> TableStepper<'a, H> {
    pub(super) fn new(game: &Game, table: &LossTable, history: H, times: Vec<u64>, noise: &'a mut Stream) -> Self {
        let mut kinds: Vec<ArmKind> = Vec::new();
        let mut losses: Vec<(f64, u64)> = Vec::new();
        let mut arms = Vec::with_capacity(game.arms().len());
        for (arm, rows) in game.arms().iter().zip(table.arms()) {
            let own = table.losses()[rows.first..=rows.calibrated].iter().map(|&loss| (loss, threshold(loss)));
            let kind = ArmKind { rows: rows.renumbered(), noise: arm.noise(), losses: losses.len() };
            let same = |other: &ArmKind| {
                let known = &losses[other.losses..];
                (other.rows == kind.rows && other.noise == kind.noise)
                    && own.clone().eq(known[..=kind.rows.calibrated].iter().copied())
            };
            let kind = kinds.iter().take(MOST_KINDS_COMPARED).position(same).unwrap_or_else(|| {
                losses.extend(own.clone());
                kinds.push(kind);
                kinds.len() - 1
            });
            arms.push(ArmSlot { first: rows.first as u32, kind: kind as u32 });
        }
        let counted = table.is_counted();
        let accumulator = LossAccumulator::new(game, counted.then_some(table), times);
        Self { arms, kinds, losses, counted, history, accumulator, noise }
    }

    /// The arm's first row in the accumulator, and its kind.
    #[inline(always)]
    fn kind(&self, arm: usize) -> (usize, ArmKind) {
        let ArmSlot { first, kind } = self.arms[arm];
        (first as usize, self.kinds[kind as usize])
    }

    /// Adds one play of a row to the losses.
    #[inline(always)]
    fn add_play(&mut self, arm: usize, first: usize, kind: &ArmKind, row: usize) {
        if self.counted {
            self.accumulator.count(arm, first + row, 1);
        } else if row == kind.rows.calibrated {
            self.accumulator.count(arm, arm, 1);
        } else {
            self.accumulator.add_one(arm, self.losses[kind.losses + row].0);
        }
    }

    /// [`Noise::draw`], with the threshold precomputed.
    #[inline(always)]
    fn draw(&mut self, kind: &ArmKind, row: usize) -> f64 {
        let (loss, threshold) = self.losses[kind.losses + row];
        match kind.noise {
            Noise::Bernoulli => bernoulli(threshold, self.noise),
            _ => kind.noise.draw(loss, self.noise),
        }
    }
}

impl<H: PlayHistory> GameStepper for TableStepper<'_, H> {
    #[inline(always)]
    fn run(&mut self, arm: usize, burn_in: u64, record: u64) -> Feedback {
        let (first, kind) = self.kind(arm);
        let plays = burn_in + record;
        if plays == 1 {
            let row = self.history.play_one(arm, &kind.rows);
            self.add_play(arm, first, &kind, row);
            return if record == 1 { Feedback::one(self.draw(&kind, row)) } else { Feedback::default() };
        }
        let mut feedback = Feedback::default();
        for played in 0..plays {
            let row = self.history.play(arm, &kind.rows);
            if row == kind.rows.calibrated {
                let calibrated = plays - played;
                self.history.stay(arm, calibrated - 1);
                self.accumulator.count(arm, if self.counted { first + row } else { arm }, calibrated);
                let recorded = calibrated.min(record);
                feedback += if recorded == 1 {
                    Feedback::one(self.draw(&kind, row))
                } else {
                    kind.noise.draw_many(self.losses[kind.losses + row].0, recorded, self.noise)
                };
                break;
            }
            self.add_play(arm, first, &kind, row);
            if played >= burn_in {
                feedback += Feedback::one(self.draw(&kind, row));
            }
        }
        feedback
    }

    #[inline(always)]
    fn repeat<P: Policy + ?Sized>(&mut self, policy: &mut P, run: Run, most: u64) -> u64 {
        let (first, ArmKind { rows, noise, losses }) = self.kind(run.arm);
        let single = run.record == 1 && noise == Noise::Bernoulli && most >= 2;
        if !single || !self.history.stays_calibrated(run.arm, &rows) {
            return 0;
        }
        let threshold = self.losses[losses + rows.calibrated].1;
        let stream = &mut *self.noise;
        let repeated = policy.observe_repeated(run, most, &mut || Feedback::one(bernoulli(threshold, stream)));
        self.history.stay(run.arm, repeated * run.plays());
        let row = if self.counted { first + rows.calibrated } else { run.arm };
        self.accumulator.count(run.arm, row, repeated * run.plays());
        repeated
    }

    fn losses(&self) -> &LossAccumulator {
        &self.accumulator
    }

    fn finish(self, runs: u64) -> Trajectory {
        self.accumulator.finish(runs)
    }
}
