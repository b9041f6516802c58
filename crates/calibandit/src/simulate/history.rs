//! What was played lately, kept so that a play is turned into its level without looking at all of it.

use super::levels::{ArmLevels, Levels};

/// The plays so far, as far as levels depend on them.
pub(super) trait History {
    /// Plays an arm once; returns the level.
    fn play(&mut self, arm: usize, levels: &ArmLevels) -> usize;

    /// The same, better where nobody can tell whether the arm will be calibrated.
    fn play_one(&mut self, arm: usize, levels: &ArmLevels) -> usize;

    /// Whether this arm was played last and is calibrated, so that the next play of it is as well.
    fn stays_calibrated(&self, arm: usize, levels: &ArmLevels) -> bool;

    /// More plays of the arm played last, which is calibrated.
    fn stay(&mut self, arm: usize, plays: u64);
}

/// Where every window fits into a word: each arm's plays among the last ones.
pub(super) struct Tracks {
    tracks: Vec<Track>,
    /// The number of plays so far.
    time: u64,
}

/// The window of an arm as it was at its last play: it is brought up to date when the arm is played again, so that a play
/// touches no other arm.
#[derive(Clone, Copy, Default)]
struct Track {
    /// One bit a play, newest in the last bit.
    window: u64,
    time: u64,
}

impl Tracks {
    pub(super) fn new(arms: usize) -> Self {
        Self { tracks: vec![Track::default(); arms], time: 0 }
    }

    /// Plays an arm once; returns its window, cut to `memory`, as many ones as that.
    #[inline(always)]
    fn push(&mut self, arm: usize, memory: u64) -> u64 {
        self.time += 1;
        let track = &mut self.tracks[arm];
        let ago = self.time - track.time;
        let earlier = if ago < 64 { track.window << ago } else { 0 };
        *track = Track { window: (earlier | 1) & memory, time: self.time };
        track.window
    }
}

impl History for Tracks {
    #[inline(always)]
    fn play(&mut self, arm: usize, levels: &ArmLevels) -> usize {
        let window = self.push(arm, levels.window);
        // Mostly so, and cheaper to see than to count.
        if window == levels.window { levels.calibrated } else { levels.of(window) }
    }

    #[inline(always)]
    fn play_one(&mut self, arm: usize, levels: &ArmLevels) -> usize {
        levels.of(self.push(arm, levels.window))
    }

    #[inline(always)]
    fn stays_calibrated(&self, arm: usize, levels: &ArmLevels) -> bool {
        let track = self.tracks[arm];
        track.time == self.time && track.window == levels.window
    }

    #[inline(always)]
    fn stay(&mut self, arm: usize, plays: u64) {
        self.time += plays;
        self.tracks[arm].time = self.time;
    }
}

/// Where some memories are longer than a word: the plays of those arms are counted as they come and as they leave the window.
pub(super) struct LongTracks {
    short: Tracks,
    /// The last plays, a ring as long as the longest memory; `NONE` where nothing was played yet.
    recent: Vec<u32>,
    /// Where the next play goes.
    next: usize,
    /// The memories that are longer than a word, each once.
    memories: Vec<usize>,
    /// The memory of each arm, and its plays among as many last ones.
    arms: Vec<(usize, usize)>,
}

const NONE: u32 = u32::MAX;

impl LongTracks {
    pub(super) fn new(levels: &Levels) -> Self {
        let memory = |arm: &ArmLevels| if arm.window == 0 { arm.calibrated - arm.first + 1 } else { 0 };
        let arms: Vec<(usize, usize)> = levels.arms().iter().map(|arm| (memory(arm), 0)).collect();
        let mut memories: Vec<usize> = arms.iter().map(|&(memory, _)| memory).filter(|&memory| memory > 0).collect();
        memories.sort_unstable();
        memories.dedup();
        let longest = memories.last().copied().unwrap_or(1);
        Self { short: Tracks::new(arms.len()), recent: vec![NONE; longest], next: 0, memories, arms }
    }

    #[inline(always)]
    fn push(&mut self, arm: usize) {
        let longest = self.recent.len();
        for &memory in &self.memories {
            let oldest = self.next + longest - memory;
            let leaving = self.recent[if oldest >= longest { oldest - longest } else { oldest }];
            if let Some((its_memory, plays)) = self.arms.get_mut(leaving as usize)
                && *its_memory == memory
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

impl History for LongTracks {
    #[inline(always)]
    fn play(&mut self, arm: usize, levels: &ArmLevels) -> usize {
        let level = self.short.play(arm, levels);
        self.push(arm);
        if levels.window == 0 { levels.first + self.arms[arm].1 - 1 } else { level }
    }

    #[inline(always)]
    fn play_one(&mut self, arm: usize, levels: &ArmLevels) -> usize {
        self.play(arm, levels)
    }

    fn stays_calibrated(&self, arm: usize, levels: &ArmLevels) -> bool {
        if levels.window == 0 {
            self.newest() == arm as u32 && self.arms[arm].0 == self.arms[arm].1
        } else {
            self.short.stays_calibrated(arm, levels)
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

    /// Against the game's own windows, on many sequences of plays.
    fn assert_losses_of_the_definition(game: &Game, mut history: impl History) {
        let levels = Levels::new(game).unwrap();
        let arms = game.arms().len() as u64;
        let mut window = game.empty_window();
        let mut state = 1u64;
        for play in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Runs of one arm, now and then long ones, some of them leapt over.
            let arm = ((state >> 40) % arms * u64::from(play % 500 < 300)) as usize;
            let levels_of_arm = &levels.arms()[arm];
            let singly = play % 3 == 0;
            let level = if singly { history.play_one(arm, levels_of_arm) } else { history.play(arm, levels_of_arm) };
            assert_eq!(levels.losses()[level], game.play(arm, &mut window), "play {play} of arm {arm}");
            let calibrated = window.streak() >= game.arms()[arm].memory();
            assert_eq!(history.stays_calibrated(arm, &levels.arms()[arm]), calibrated);
            assert!(!history.stays_calibrated((arm + 1) % arms as usize, &levels.arms()[(arm + 1) % arms as usize]));
            if calibrated && play % 7 == 0 {
                history.stay(arm, play % 150);
                window.push_many(arm, play % 150);
            }
        }
    }

    #[test]
    fn levels_have_the_losses_of_the_definition() {
        let game = Game::new(vec![
            arm(vec![1.0, 0.5, 0.25, 0.3], LossCurve::linear(1.0, -0.3).when_calibrated(0.2)),
            arm(vec![1.0; 64], LossCurve::linear(0.9, -0.01).when_alone(0.95)),
            arm(vec![0.7, 0.1], LossCurve::by_plays([0.8, 0.4])),
            arm(vec![1.0], LossCurve::constant(0.5)),
        ])
        .unwrap();
        assert_losses_of_the_definition(&game, Tracks::new(4));
    }

    #[test]
    fn long_memories_and_windows_have_the_losses_of_the_definition() {
        let fading = |memory: u32| (1..=memory).map(|age| 1.0 / f64::from(age)).collect();
        let game = Game::new(vec![
            arm(vec![0.3; 100], LossCurve::linear(1.0, -0.02).when_calibrated(0.2)),
            arm(fading(13), LossCurve::linear(0.9, -0.1)),
            arm(fading(65), LossCurve::lap(0.02, 0.5, 0.0)),
            arm(vec![1.0; 100], LossCurve::linear(0.9, -0.005)),
            arm(vec![1.0; 3], LossCurve::constant(0.5)),
        ])
        .unwrap();
        let levels = Levels::new(&game).unwrap();
        assert!(!levels.are_short());
        assert_losses_of_the_definition(&game, LongTracks::new(&levels));
    }
}
