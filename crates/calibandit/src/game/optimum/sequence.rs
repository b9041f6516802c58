//! A best sequence of plays: a prefix, a repeated cycle and a tail.

use std::collections::HashMap;

use super::state_space::StateSpace;
use crate::planning::plan::Plan;

/// Plays of one arm in a row, in a [`BestSequence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ArmPlays {
    /// The arm.
    pub arm: usize,
    /// The number of its plays.
    pub plays: u64,
}

/// One best sequence of plays: the blocks, then the prefix, then the cycle this many times, then the tail. Only rested
/// games have blocks, and they have nothing else: the order of their plays does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BestSequence {
    /// The plays of each arm of a rested game, one arm after the other.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub blocks: Vec<ArmPlays>,
    /// The first plays.
    pub prefix: Vec<usize>,
    /// The plays that repeat; empty where the horizon is too short for any to.
    pub cycle: Vec<usize>,
    /// How often they do.
    pub repeats: u64,
    /// The last plays.
    pub tail: Vec<usize>,
}

impl BestSequence {
    /// The number of plays.
    pub fn len(&self) -> u64 {
        let blocks: u64 = self.blocks.iter().map(|block| block.plays).sum();
        blocks + self.prefix.len() as u64 + self.cycle.len() as u64 * self.repeats + self.tail.len() as u64
    }

    /// Whether there are no plays.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The arms, play by play.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let rounds = (0..self.repeats).flat_map(|_| self.cycle.iter());
        let blocks = self.blocks.iter().flat_map(|block| (0..block.plays).map(|_| &block.arm));
        blocks.chain(&self.prefix).chain(rounds).chain(&self.tail).copied()
    }
}

impl Plan {
    /// The arms themselves. Where interchangeable arms take turns, several rounds of the plan's cycle may pass until
    /// every arm is where it was: these rounds together are then the sequence's cycle.
    pub(crate) fn sequence(&self, space: &StateSpace<'_>) -> BestSequence {
        if let Some(straight) = self.straight_sequence(space) {
            return straight;
        }
        let mut replay = Replay { space, window: space.empty() };
        let mut prefix = replay.play_all(&self.prefix);
        let mut rounds: Vec<Vec<usize>> = Vec::new();
        let mut seen: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut repeated_from = None;
        while (rounds.len() as u64) < self.repeats && !self.cycle.is_empty() {
            repeated_from = seen.insert(replay.window.clone(), rounds.len());
            if repeated_from.is_some() {
                break;
            }
            rounds.push(replay.play_all(&self.cycle));
        }
        // Rounds before the window that came back happen once. If none came back, all rounds were played out: together
        // they are one cycle, repeated once.
        let before = repeated_from.unwrap_or_default();
        prefix.extend(rounds.drain(..before).flatten());
        let left = self.repeats - before as u64;
        let period = rounds.len() as u64;
        // Without a cycle there are no rounds, and nothing repeats.
        let (repeats, extra) = left.checked_div(period).map_or((0, 0), |repeats| (repeats, left % period));
        let mut tail: Vec<usize> = Vec::new();
        // The window is where the rounds began, so the remaining ones continue from it.
        for _ in 0..extra {
            tail.extend(replay.play_all(&self.cycle));
        }
        tail.extend(replay.play_all(&self.tail));
        let cycle = if repeats == 0 { Vec::new() } else { rounds.concat() };
        BestSequence { blocks: Vec::new(), prefix, cycle, repeats, tail }
    }

    /// The sequence of a plan that plays one arm only and repeats nothing before that arm is calibrated: the names are
    /// the arms. It needs no replay, which takes the square of the memory.
    fn straight_sequence(&self, space: &StateSpace<'_>) -> Option<BestSequence> {
        let mut names = self.prefix.iter().chain(&self.cycle).chain(&self.tail);
        let &arm = names.next()?;
        let warm = self.repeats == 0 || self.prefix.len() + 1 >= space.game().arms()[arm as usize].memory();
        let straight = warm && self.cycle.len() <= 1 && names.all(|&other| other == arm);
        straight.then(|| {
            let plays = |names: &[u32]| names.iter().map(|&arm| arm as usize).collect();
            let cycle = if self.repeats == 0 { Vec::new() } else { plays(&self.cycle) };
            BestSequence {
                blocks: Vec::new(),
                prefix: plays(&self.prefix),
                cycle,
                repeats: self.repeats,
                tail: plays(&self.tail),
            }
        })
    }
}

/// Replays a plan in canonical names with the arms themselves.
struct Replay<'a, 'g> {
    space: &'a StateSpace<'g>,
    window: Vec<u32>,
}

impl Replay<'_, '_> {
    fn play_all(&mut self, names: &[u32]) -> Vec<usize> {
        names.iter().map(|&name| self.play(name)).collect()
    }

    fn play(&mut self, name: u32) -> usize {
        let names = self.space.canonicalise(&mut self.window.clone());
        let known = names.iter().find(|&&(new, _)| new == name).map(|&(_, old)| old);
        let arm = known.unwrap_or_else(|| {
            // A fresh arm: any of the class that is not in the window.
            let class = &self.space.classes[self.space.class_of[name as usize]];
            if class.len() == 1 || self.space.is_constant(name as usize) {
                return name;
            }
            class.iter().map(|&x| x as u32).find(|x| !self.window.contains(x)).expect("a fresh name has a fresh arm")
        });
        self.space.advance(&mut self.window, arm);
        arm as usize
    }
}
