//! The recent plays, kept in a form from which the row of a play in the loss table follows without scanning the window.

use super::loss_table::{ArmRows, LossTable};

/// The plays so far, as far as the rows of the loss table depend on them.
pub(super) trait PlayHistory {
    /// Plays an arm once; returns the row.
    fn play(&mut self, arm: usize, rows: &ArmRows) -> usize;

    /// The same, faster if it cannot be predicted whether the arm will be calibrated.
    fn play_one(&mut self, arm: usize, rows: &ArmRows) -> usize;

    /// Whether this arm was played last and is calibrated, so that its next play is calibrated too.
    fn stays_calibrated(&self, arm: usize, rows: &ArmRows) -> bool;

    /// Adds plays of the arm played last, which is calibrated.
    fn stay(&mut self, arm: usize, plays: u64);
}

/// For games in which each arm's window fits into a 64-bit word.
pub(super) struct WordHistory {
    windows: Vec<ArmWindow>,
    /// The number of plays so far.
    time: u64,
}

/// The window of an arm as it was at its last play. It is updated when the arm is played again, so that a play touches
/// no other arm.
#[derive(Clone, Copy, Default)]
struct ArmWindow {
    /// One bit per play, the newest in the lowest bit.
    window: u64,
    time: u64,
}

impl WordHistory {
    pub(super) fn new(arms: usize) -> Self {
        Self { windows: vec![ArmWindow::default(); arms], time: 0 }
    }

    /// Plays an arm once; returns its window, masked by `memory` (as many ones as the memory).
    #[inline(always)]
    fn push(&mut self, arm: usize, memory: u64) -> u64 {
        self.time += 1;
        let slot = &mut self.windows[arm];
        let ago = self.time - slot.time;
        let earlier = if ago < 64 { slot.window << ago } else { 0 };
        *slot = ArmWindow { window: (earlier | 1) & memory, time: self.time };
        slot.window
    }
}

impl PlayHistory for WordHistory {
    #[inline(always)]
    fn play(&mut self, arm: usize, rows: &ArmRows) -> usize {
        let window = self.push(arm, rows.window);
        // The usual case, and cheaper to detect than to count.
        if window == rows.window { rows.calibrated } else { rows.of(window) }
    }

    #[inline(always)]
    fn play_one(&mut self, arm: usize, rows: &ArmRows) -> usize {
        rows.of(self.push(arm, rows.window))
    }

    #[inline(always)]
    fn stays_calibrated(&self, arm: usize, rows: &ArmRows) -> bool {
        let slot = self.windows[arm];
        slot.time == self.time && slot.window == rows.window
    }

    #[inline(always)]
    fn stay(&mut self, arm: usize, plays: u64) {
        self.time += plays;
        self.windows[arm].time = self.time;
    }
}

/// For games with memories longer than a word: plays of those arms are counted when they enter and when they leave the
/// window.
pub(super) struct RingHistory {
    short: WordHistory,
    /// The last plays, a ring buffer as long as the longest memory; `NONE` where nothing was played yet.
    recent: Vec<u32>,
    /// The position of the next play.
    next: usize,
    /// The memories longer than a word, without repetition.
    memories: Vec<usize>,
    /// Per arm, its memory if longer than a word (else 0), and its number of plays among that many last ones.
    arms: Vec<(usize, usize)>,
}

const NONE: u32 = u32::MAX;

impl RingHistory {
    pub(super) fn new(table: &LossTable) -> Self {
        let memory = |arm: &ArmRows| if arm.window == 0 { arm.calibrated - arm.first + 1 } else { 0 };
        let arms: Vec<(usize, usize)> = table.arms().iter().map(|arm| (memory(arm), 0)).collect();
        let mut memories: Vec<usize> = arms.iter().map(|&(memory, _)| memory).filter(|&memory| memory > 0).collect();
        memories.sort_unstable();
        memories.dedup();
        let longest = memories.last().copied().unwrap_or(1);
        Self { short: WordHistory::new(arms.len()), recent: vec![NONE; longest], next: 0, memories, arms }
    }

    #[inline(always)]
    fn push(&mut self, arm: usize) {
        let longest = self.recent.len();
        for &memory in &self.memories {
            let oldest = self.next + longest - memory;
            let leaving = self.recent[if oldest >= longest { oldest - longest } else { oldest }];
            if let Some((own_memory, plays)) = self.arms.get_mut(leaving as usize)
                && *own_memory == memory
            {
                *plays -= 1;
            }
        }
        self.arms[arm].1 += 1;
        self.recent[self.next] = arm as u32;
        self.next = if self.next + 1 == longest { 0 } else { self.next + 1 };
    }

    fn newest(&self) -> u32 {
        self.recent[if self.next == 0 { self.recent.len() - 1 } else { self.next - 1 }]
    }
}

impl PlayHistory for RingHistory {
    #[inline(always)]
    fn play(&mut self, arm: usize, rows: &ArmRows) -> usize {
        let row = self.short.play(arm, rows);
        self.push(arm);
        if rows.window == 0 { rows.first + self.arms[arm].1 - 1 } else { row }
    }

    #[inline(always)]
    fn play_one(&mut self, arm: usize, rows: &ArmRows) -> usize {
        self.play(arm, rows)
    }

    fn stays_calibrated(&self, arm: usize, rows: &ArmRows) -> bool {
        if rows.window == 0 {
            self.newest() == arm as u32 && self.arms[arm].0 == self.arms[arm].1
        } else {
            self.short.stays_calibrated(arm, rows)
        }
    }

    fn stay(&mut self, arm: usize, plays: u64) {
        self.short.stay(arm, plays);
        for _ in 0..plays.min(self.recent.len() as u64) {
            self.push(arm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arm, Game, LossCurve, Noise, Weights};

    fn arm(weights: Vec<f64>, curve: LossCurve) -> Arm {
        Arm::new(Weights::new(weights).unwrap(), curve, Noise::None).unwrap()
    }

    /// Compares with the game's own windows on many plays.
    fn assert_losses_of_the_definition(game: &Game, mut history: impl PlayHistory) {
        let table = LossTable::new(game).unwrap();
        let arms = game.arms().len() as u64;
        let mut window = game.empty_window();
        let mut state = 1u64;
        for play in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Runs of one arm, some of them long, some of them skipped with `stay`.
            let arm = ((state >> 40) % arms * u64::from(play % 500 < 300)) as usize;
            let rows = &table.arms()[arm];
            let singly = play % 3 == 0;
            let row = if singly { history.play_one(arm, rows) } else { history.play(arm, rows) };
            assert_eq!(table.losses()[row], game.play(arm, &mut window), "play {play} of arm {arm}");
            let calibrated = window.streak() >= game.arms()[arm].memory();
            assert_eq!(history.stays_calibrated(arm, &table.arms()[arm]), calibrated);
            assert!(!history.stays_calibrated((arm + 1) % arms as usize, &table.arms()[(arm + 1) % arms as usize]));
            if calibrated && play % 7 == 0 {
                history.stay(arm, play % 150);
                window.push_many(arm, play % 150);
            }
        }
    }

    #[test]
    fn rows_have_the_losses_of_the_definition() {
        let game = Game::new(vec![
            arm(vec![1.0, 0.5, 0.25, 0.3], LossCurve::linear(1.0, -0.3).when_calibrated(0.2)),
            arm(vec![1.0; 64], LossCurve::linear(0.9, -0.01).when_alone(0.95)),
            arm(vec![0.7, 0.1], LossCurve::by_plays([0.8, 0.4])),
            arm(vec![1.0], LossCurve::constant(0.5)),
        ])
        .unwrap();
        assert_losses_of_the_definition(&game, WordHistory::new(4));
    }

    #[test]
    fn long_memories_and_windows_have_the_losses_of_the_definition() {
        let fading = |memory: u32| (1..=memory).map(|age| 1.0 / f64::from(age)).collect();
        let game = Game::new(vec![
            arm(vec![0.3; 100], LossCurve::linear(1.0, -0.02).when_calibrated(0.2)),
            arm(fading(13), LossCurve::linear(0.9, -0.1)),
            arm(fading(65), LossCurve::exponential_linear(0.02, 0.5, 0.0)),
            arm(vec![1.0; 100], LossCurve::linear(0.9, -0.005)),
            arm(vec![1.0; 3], LossCurve::constant(0.5)),
        ])
        .unwrap();
        let table = LossTable::new(&game).unwrap();
        assert!(!table.windows_fit_into_words());
        assert_losses_of_the_definition(&game, RingHistory::new(&table));
    }
}
