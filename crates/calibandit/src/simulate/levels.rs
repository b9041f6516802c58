//! The expected losses that the plays of a game can have, numbered.
//!
//! An arm's loss depends on its own plays among the last ones. Where these can take few forms, each form is a *level* with
//! its loss worked out beforehand: a play then is a look into a table, and adding up losses is counting.

use crate::game::Exposure;
use crate::{Arm, Game};

/// Up to this memory every window of an arm is a level of its own; beyond, only games whose losses depend on no more than
/// the number of plays in the window have levels.
const LONGEST_WINDOW: usize = 12;
/// Windows are kept in the bits of one word.
const LONGEST_MEMORY: usize = 64;
/// Not more levels than this in all.
const MOST: usize = 1 << 20;

/// All levels of a game, arm by arm. The last level of each arm is the calibrated one.
pub(super) struct Levels {
    arms: Vec<ArmLevels>,
    /// The expected loss of each level.
    losses: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) struct ArmLevels {
    /// Its first level.
    pub(super) first: usize,
    /// Its calibrated level.
    pub(super) calibrated: usize,
    /// As many ones as its memory.
    pub(super) window: u64,
    /// The level is the number of plays, not the window.
    pub(super) by_plays: bool,
}

impl ArmLevels {
    /// The level of a play after which the arm's window is this one, newest play in the last bit.
    #[inline(always)]
    pub(super) fn of(&self, window: u64) -> usize {
        self.first + if self.by_plays { window.count_ones() as usize - 1 } else { (window >> 1) as usize }
    }
}

impl Levels {
    /// `None` if there are too many, or if a loss function leaves [0, 1] somewhere.
    pub(super) fn new(game: &Game) -> Option<Self> {
        let mut levels = Self { arms: Vec::with_capacity(game.arms().len()), losses: Vec::new() };
        for arm in game.arms() {
            let memory = arm.memory();
            let by_plays = arm.curve().depends_on_plays_only() || arm.weights().all_equal();
            if memory > LONGEST_MEMORY || !by_plays && memory > LONGEST_WINDOW || levels.losses.len() > MOST {
                return None;
            }
            let first = levels.losses.len();
            if by_plays {
                levels.losses.extend((1..=memory).map(|plays| loss(arm, u64::MAX >> (64 - plays))));
            } else {
                levels.losses.extend((0..1 << (memory - 1)).map(|earlier: u64| loss(arm, earlier << 1 | 1)));
            }
            let calibrated = levels.losses.len() - 1;
            levels.arms.push(ArmLevels { first, calibrated, window: u64::MAX >> (64 - memory), by_plays });
        }
        levels.losses.iter().all(|loss| !loss.is_nan()).then_some(levels)
    }

    pub(super) fn arms(&self) -> &[ArmLevels] {
        &self.arms
    }

    pub(super) fn losses(&self) -> &[f64] {
        &self.losses
    }
}

fn loss(arm: &Arm, window: u64) -> f64 {
    let window: Vec<bool> = (0..arm.memory()).map(|age| window >> age & 1 == 1).collect();
    let exposure = Exposure::of(&window, arm.weights());
    if exposure.is_calibrated() { arm.eventual_loss() } else { arm.loss(exposure) }
}

/// Each arm's plays among the last ones.
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

    /// Plays an arm once; returns the level.
    #[inline(always)]
    pub(super) fn play(&mut self, arm: usize, levels: &ArmLevels) -> usize {
        let window = self.push(arm, levels.window);
        // Mostly so, and cheaper to see than to count.
        if window == levels.window { levels.calibrated } else { levels.of(window) }
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

    /// Whether this arm was played last and is calibrated, so that the next play of it is as well.
    #[inline(always)]
    pub(super) fn stays_calibrated(&self, arm: usize, levels: &ArmLevels) -> bool {
        let track = self.tracks[arm];
        track.time == self.time && track.window == levels.window
    }

    /// More plays of the arm played last, which is calibrated.
    pub(super) fn stay(&mut self, arm: usize, plays: u64) {
        self.time += plays;
        self.tracks[arm].time = self.time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LossCurve, Noise, Weights};

    /// Against the game's own windows, on many sequences of plays.
    #[test]
    fn levels_have_the_losses_of_the_definition() {
        let arm = |weights: Vec<f64>, curve| Arm::new(Weights::new(weights).unwrap(), curve, Noise::None).unwrap();
        let game = Game::new(vec![
            arm(vec![1.0, 0.5, 0.25, 0.3], LossCurve::linear(1.0, -0.3).when_calibrated(0.2)),
            arm(vec![1.0; 64], LossCurve::linear(0.9, -0.01).when_alone(0.95)),
            arm(vec![0.7, 0.1], LossCurve::by_plays([0.8, 0.4])),
            arm(vec![1.0], LossCurve::constant(0.5)),
        ])
        .unwrap();
        let levels = Levels::new(&game).unwrap();
        let (mut tracks, mut window) = (Tracks::new(4), game.empty_window());
        let mut state = 1u64;
        for play in 0..20_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Runs of one arm, now and then long ones.
            let arm = ((state >> 40) % 4 * u64::from(play % 500 < 300)) as usize;
            let level = tracks.play(arm, &levels.arms()[arm]);
            assert_eq!(levels.losses()[level], game.play(arm, &mut window), "play {play} of arm {arm}");
        }
    }

    #[test]
    fn games_with_long_weighted_windows_have_none() {
        let weights = Weights::new((1..=13).map(|age| 1.0 / f64::from(age)).collect()).unwrap();
        let arm = Arm::new(weights, LossCurve::linear(1.0, -0.1), Noise::None).unwrap();
        assert!(Levels::new(&Game::new(vec![arm]).unwrap()).is_none());
        let arm = Arm::new(Weights::unit(65).unwrap(), LossCurve::constant(0.5), Noise::None).unwrap();
        assert!(Levels::new(&Game::new(vec![arm]).unwrap()).is_none());
    }
}
