//! Windows as states: the part of the last plays that still matters, up to interchangeable arms.
//!
//! A window here holds the plays before the next one, newest first. Plays that can no longer change any loss are
//! blank: those of constant arms, those older than their arm's memory, and those of a step arm (whose loss changes only
//! when it is calibrated) once its streak is broken. In *canonical* windows the arms of one interchangeability class
//! appear in increasing order.

use crate::game::least_loss::interchangeable;
use crate::game::{CurveLeftRange, Exposure, Game};

use crate::planning::fixed_point::fixed;

/// A play that no longer matters, or none. Not an `Option`, because windows are packed: blank plus one wraps to 0.
pub(crate) const BLANK: u32 = u32::MAX;

/// How an arm's loss depends on its window.
#[derive(Clone, Copy, PartialEq)]
enum Dependence {
    Constant,
    /// The same until calibrated.
    Step,
    Tallied,
}

/// The states of a game: which window follows which, and what plays cost.
pub(crate) struct StateSpace<'g> {
    game: &'g Game,
    kinds: Vec<Dependence>,
    pub(crate) class_of: Vec<usize>,
    pub(crate) classes: Vec<Vec<usize>>,
    /// The best of the constant arms: no other constant arm is ever needed.
    constant: Option<u32>,
    /// mu(x*) in units.
    best: i128,
    /// How many plays before the next one can matter.
    pub(crate) length: usize,
}

impl<'g> StateSpace<'g> {
    pub(crate) fn new(game: &'g Game) -> Self {
        let (class_of, classes) = interchangeable(game);
        let mut kinds = vec![Dependence::Tallied; game.arms().len()];
        for class in &classes {
            let kind = kind(game, class[0]);
            class.iter().for_each(|&x| kinds[x] = kind);
        }
        let constant = (0..kinds.len())
            .filter(|&x| kinds[x] == Dependence::Constant)
            .min_by(|&a, &b| game.arms()[a].eventual_loss().total_cmp(&game.arms()[b].eventual_loss()))
            .map(|x| x as u32);
        let length =
            (0..kinds.len()).filter(|&x| kinds[x] != Dependence::Constant).map(|x| game.arms()[x].memory() - 1).max();
        Self { game, kinds, class_of, classes, constant, best: fixed(game.best_loss()), length: length.unwrap_or(0) }
    }

    pub(crate) fn game(&self) -> &'g Game {
        self.game
    }

    /// A loss in units above mu(x*).
    pub(crate) fn excess_of(&self, loss: f64) -> i128 {
        fixed(loss) - self.best
    }

    /// Whether the arm costs the same at every play.
    pub(crate) fn is_constant(&self, arm: usize) -> bool {
        self.kinds[arm] == Dependence::Constant
    }

    /// A lower bound of the number of states of the graph.
    ///
    /// An arm whose loss depends on its tally, and another arm beside it, can be played in any order, and every order
    /// of the last m - 1 plays is a state of its own, up to an exchange of the two. The states of a step arm are its
    /// streaks.
    pub(crate) fn states_at_least(&self) -> u128 {
        let longest = |wanted: Dependence| {
            let arms = self.game.arms().iter().zip(&self.kinds);
            arms.filter(|&(_, &kind)| kind == wanted).map(|(arm, _)| arm.memory()).max().unwrap_or(1)
        };
        let orders = match longest(Dependence::Tallied) {
            memory if self.kinds.len() > 1 && memory > 2 => 1u128.checked_shl(memory as u32 - 2).unwrap_or(u128::MAX),
            memory => memory as u128,
        };
        orders.max(longest(Dependence::Step) as u128)
    }

    /// An upper bound of the number of states of the graph: each play before the next one is of some arm or blank.
    pub(crate) fn states_at_most(&self) -> u128 {
        let values = 1 + self.kinds.iter().filter(|&&kind| kind != Dependence::Constant).count() as u128;
        values.saturating_pow(u32::try_from(self.length).unwrap_or(u32::MAX))
    }

    /// An upper bound of the number of arms worth considering after a window.
    pub(crate) fn actions_at_most(&self) -> usize {
        let of_class = |class: &Vec<usize>| class.len().min(self.length + 1);
        1 + self.classes.iter().filter(|class| !self.is_constant(class[0])).map(of_class).sum::<usize>()
    }

    pub(crate) fn empty(&self) -> Vec<u32> {
        vec![BLANK; self.length]
    }

    /// How many plays of `arm` the window holds within the arm's memory.
    pub(crate) fn count(&self, window: &[u32], arm: u32) -> usize {
        let memory = self.game.arms()[arm as usize].memory();
        window.iter().take(memory - 1).filter(|&&x| x == arm).count()
    }

    /// What a play of `arm` costs after `window`, in units above mu(x*).
    pub(crate) fn excess(&self, window: &[u32], arm: u32) -> Result<i128, CurveLeftRange> {
        let x = arm as usize;
        let weights = self.game.arms()[x].weights();
        let plays = self.count(window, arm) + 1;
        let tally = weights.tally(std::iter::once(true).chain(window.iter().map(|&other| other == arm)));
        let loss = self.game.arms()[x].loss(Exposure { tally, plays, memory: weights.memory() });
        if loss.is_nan() {
            return Err(CurveLeftRange::new(self.game, x, tally));
        }
        Ok(self.excess_of(loss))
    }

    /// Plays `arm`.
    pub(crate) fn advance(&self, window: &mut [u32], arm: u32) {
        if window.is_empty() {
            return;
        }
        window.rotate_right(1);
        window[0] = if self.is_constant(arm as usize) { BLANK } else { arm };
        let newest = window[0];
        let mut in_streak = true;
        for (age, slot) in window.iter_mut().enumerate() {
            in_streak &= *slot == newest;
            let Some(&kind) = self.kinds.get(*slot as usize) else { continue };
            let forgotten = age + 1 >= self.game.arms()[*slot as usize].memory();
            if forgotten || kind == Dependence::Step && !in_streak {
                *slot = BLANK;
            }
        }
    }

    /// Renames the arms of each class in the order of their appearance. Returns the new and the old name of every arm
    /// in the window that has another one like it.
    pub(crate) fn canonicalise(&self, window: &mut [u32]) -> Vec<(u32, u32)> {
        let mut names: Vec<(u32, u32)> = Vec::new();
        for slot in window {
            let Some(&class) = self.class_of.get(*slot as usize) else { continue };
            if self.classes[class].len() == 1 {
                continue;
            }
            let known = names.iter().find(|&&(_, old)| old == *slot).map(|&(new, _)| new);
            *slot = known.unwrap_or_else(|| {
                let earlier = names.iter().filter(|&&(new, _)| self.class_of[new as usize] == class).count();
                let new = self.classes[class][earlier] as u32;
                names.push((new, *slot));
                new
            });
        }
        names
    }

    /// The arms worth considering after a canonical window: those in it, and one fresh arm of each class.
    pub(crate) fn actions(&self, window: &[u32], actions: &mut Vec<u32>) {
        actions.clear();
        actions.extend(self.constant);
        for class in &self.classes {
            if self.is_constant(class[0]) {
                continue;
            }
            for &x in class {
                actions.push(x as u32);
                if !window.contains(&(x as u32)) {
                    break;
                }
            }
        }
    }
}

fn kind(game: &Game, x: usize) -> Dependence {
    let arm = &game.arms()[x];
    let memory = arm.memory();
    // A rested game has no windows: it is solved without a graph, and nothing is kept here for its arms.
    if arm.is_rested() {
        return Dependence::Constant;
    }
    if memory == 1 || arm.curve().is_constant() {
        return Dependence::Constant;
    }
    if !arm.curve().depends_on_plays_only() {
        return Dependence::Tallied;
    }
    let at = |plays| arm.loss(Exposure { tally: f64::NAN, plays, memory });
    match ((2..memory).all(|plays| at(plays) == at(1)), at(1) == at(memory)) {
        (true, true) => Dependence::Constant,
        (true, false) => Dependence::Step,
        (false, _) => Dependence::Tallied,
    }
}
