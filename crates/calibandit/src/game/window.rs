//! The window: which arm was played at each of the last plays.

use super::Weights;

/// What an arm's loss depends on at a play of it: its own part of the window, the paper's `y` with `y_1 = 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure {
    /// `w·y`, the weighted number of plays of the arm in its window, this play included.
    pub tally: f64,
    /// The number of plays of the arm in its window, this play included: at least 1.
    pub plays: usize,
    /// The arm's memory: the length of its window. `usize::MAX` for a rested arm, whose window is all plays so far.
    pub memory: usize,
}

impl Exposure {
    /// The exposure of a rested arm at its `plays`-th play.
    pub fn rested(plays: u64) -> Self {
        Self { tally: plays as f64, plays: usize::try_from(plays).unwrap_or(usize::MAX - 1), memory: usize::MAX }
    }

    /// The exposure of a window given newest play first, as in the paper's `y`.
    pub fn of(window: &[bool], weights: &Weights) -> Self {
        let own = &window[..window.len().min(weights.memory())];
        Self {
            tally: weights.tally(own.iter().copied()),
            plays: own.iter().filter(|&&played| played).count(),
            memory: weights.memory(),
        }
    }

    /// The whole window is this arm. Decided by counting plays, never by comparing tallies.
    pub fn is_calibrated(&self) -> bool {
        self.plays == self.memory
    }

    /// This play is the arm's only one in the window.
    pub fn is_alone(&self) -> bool {
        self.plays == 1
    }
}

/// The last plays of a game, up to its memory. Empty before the first play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// A ring; `EMPTY` where nothing has been played yet.
    recent: Vec<u32>,
    /// Where the next play goes.
    next: usize,
    /// How many plays in a row the newest arm has had, never counted beyond the memory.
    streak: usize,
    /// The number of plays of each arm so far, for rested arms; empty where no arm is rested.
    counts: Vec<u64>,
}

const EMPTY: u32 = u32::MAX;

impl Window {
    /// The empty window of a game with this memory.
    pub fn new(memory: usize) -> Self {
        Self::counting(memory, 0)
    }

    /// The empty window of a game with rested arms: the plays of `arms` arms are counted too.
    pub(super) fn counting(memory: usize, arms: usize) -> Self {
        Self { recent: vec![EMPTY; memory.max(1)], next: 0, streak: 0, counts: vec![0; arms] }
    }

    /// The game's memory.
    pub fn memory(&self) -> usize {
        self.recent.len()
    }

    /// The arm played last.
    pub fn newest(&self) -> Option<usize> {
        let newest = self.recent[(self.next + self.memory() - 1) % self.memory()];
        (newest != EMPTY).then_some(newest as usize)
    }

    /// For how many plays in a row the newest arm has been played, at most the memory.
    pub fn streak(&self) -> usize {
        self.streak
    }

    /// Plays `arm` once.
    pub fn push(&mut self, arm: usize) {
        self.streak = if self.newest() == Some(arm) { (self.streak + 1).min(self.memory()) } else { 1 };
        self.recent[self.next] = arm as u32;
        self.next += 1;
        if self.next == self.recent.len() {
            self.next = 0;
        }
        if let Some(count) = self.counts.get_mut(arm) {
            *count += 1;
        }
    }

    /// Plays `arm` this many times, in no more than `memory` steps of work.
    pub fn push_many(&mut self, arm: usize, plays: u64) {
        let pushed = plays.min(self.memory() as u64);
        for _ in 0..pushed {
            self.push(arm);
        }
        if let Some(count) = self.counts.get_mut(arm) {
            *count += plays - pushed;
        }
    }

    /// How often a rested arm was played so far; 0 where no arm of the game is rested.
    pub fn plays_so_far(&self, arm: usize) -> u64 {
        self.counts.get(arm).copied().unwrap_or(0)
    }

    /// The paper's `y` of an arm, newest play first.
    pub fn plays_of(&self, arm: usize) -> impl Iterator<Item = bool> + '_ {
        let memory = self.memory();
        (1..=memory).map(move |age| self.recent[(self.next + memory - age) % memory] == arm as u32)
    }

    /// The exposure of the arm just played.
    pub fn exposure(&self, arm: usize, weights: &Weights) -> Exposure {
        if weights.is_rested() {
            return Exposure::rested(self.plays_so_far(arm));
        }
        let memory = weights.memory();
        if self.streak >= memory && self.newest() == Some(arm) {
            return Exposure { tally: weights.total(), plays: memory, memory };
        }
        let mut tally = 0.0;
        let mut plays = 0;
        for (weight, played) in weights.as_slice().iter().zip(self.plays_of(arm)) {
            if played {
                tally += weight;
                plays += 1;
            }
        }
        Exposure { tally, plays, memory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn y(window: &Window, arm: usize) -> Vec<u8> {
        window.plays_of(arm).map(u8::from).collect()
    }

    /// Worked by hand from the paper's definition: y_i = 1 if a_{t-i+1} = x, and 0 where t-i+1 < 1.
    #[test]
    fn window_is_the_paper_s_y() {
        let mut window = Window::new(3);
        assert_eq!(y(&window, 0), [0, 0, 0]);
        assert_eq!(window.newest(), None);
        window.push(1); // a = (1)
        assert_eq!(y(&window, 0), [0, 0, 0]);
        assert_eq!(y(&window, 1), [1, 0, 0]);
        window.push(0); // a = (1, 0)
        assert_eq!(y(&window, 0), [1, 0, 0]);
        assert_eq!(y(&window, 1), [0, 1, 0]);
        window.push(1); // a = (1, 0, 1)
        assert_eq!(y(&window, 1), [1, 0, 1]);
        window.push(1); // a = (1, 0, 1, 1): the first play has left the window
        assert_eq!(y(&window, 1), [1, 1, 0]);
        assert_eq!(y(&window, 0), [0, 0, 1]);
        window.push(1);
        assert_eq!(y(&window, 1), [1, 1, 1]);
        assert_eq!(window.streak(), 3);
    }

    #[test]
    fn an_arm_with_a_shorter_memory_looks_at_the_newest_plays_only() {
        let mut window = Window::new(4);
        for arm in [0, 1, 1, 0, 0] {
            window.push(arm);
        }
        let short = window.exposure(0, &Weights::unit(2).unwrap());
        assert!(short.is_calibrated());
        let long = window.exposure(0, &Weights::unit(4).unwrap());
        assert_eq!((long.plays, long.is_calibrated()), (2, false));
    }

    #[test]
    fn many_plays_at_once_are_the_same_as_one_by_one() {
        for plays in [0, 1, 2, 4, 5, 1_000_000_000_000] {
            let (mut at_once, mut singly) = (Window::new(4), Window::new(4));
            for arm in [2, 0, 1] {
                at_once.push(arm);
                singly.push(arm);
            }
            at_once.push_many(1, plays);
            for _ in 0..plays.min(1000) {
                singly.push(1);
            }
            assert_eq!((y(&at_once, 1), y(&at_once, 0)), (y(&singly, 1), y(&singly, 0)));
            assert_eq!(at_once.streak(), singly.streak());
        }
    }
}
