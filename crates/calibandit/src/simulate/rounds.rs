//! Policies with the weights of EXP3 on several instances side by side: the policies in the lanes of vectors, each game by
//! itself.
//!
//! For whatever feedback a game has and for batches of any length: what is not in [`lanes`](super::lanes), where the games
//! are in the vectors as well. Here, too, the numbers are those of [`simulate`](super::simulate), bit for bit.

use super::by_level::ByLevel;
use super::history::Tracks;
use super::policies::{Player, Policies};
use super::vector::{Vector, WithVectors, dispatch};
use super::{Play, Trajectory};

/// One instance: its policy and its game.
pub(super) struct Bout<'a> {
    pub(super) player: Player<'a>,
    pub(super) game: ByLevel<'a, Tracks>,
}

/// Plays all bouts for `horizon` plays, `batch` at a time. All have the same number of arms.
pub(super) fn play(mut bouts: Vec<Bout<'_>>, horizon: u64, batch: u64) -> Vec<Trajectory> {
    // In eights as long as they are more than half full.
    let in_eights = ((bouts.len() + 3) / 8 * 8).min(bouts.len());
    let (of_eights, of_fours) = bouts.split_at_mut(in_eights);
    let eights = of_eights.chunks_mut(8).map(Group::of).collect();
    let fours = of_fours.chunks_mut(4).map(Group::of).collect();
    dispatch(Rounds { eights, fours, rounds: horizon / batch, batch, rest: horizon % batch });
    bouts.into_iter().map(|bout| bout.game.finish(horizon.div_ceil(batch))).collect()
}

/// Up to `L` bouts.
struct Group<'g, 'a, const L: usize> {
    policies: Policies<L>,
    bouts: &'g mut [Bout<'a>],
}

impl<'g, 'a, const L: usize> Group<'g, 'a, L> {
    fn of(bouts: &'g mut [Bout<'a>]) -> Self {
        Self { policies: Policies::of(bouts.iter().map(|bout| &bout.player)), bouts }
    }

    #[inline(always)]
    fn play<V: Vector<L>>(mut self, v: V, rounds: u64, batch: u64, rest: u64) {
        for _ in 0..rounds {
            let arms = v.words(self.policies.draw(v));
            let mut gains = [0.0; L];
            for ((bout, arm), gain) in self.bouts.iter_mut().zip(arms).zip(&mut gains) {
                let feedback = bout.game.run(arm as usize, 0, batch);
                *gain = 1.0 - feedback.mean().clamp(0.0, 1.0);
            }
            self.policies.learn(v, &arms, |growth| v.mul(v.f(&gains), growth));
        }
        if rest > 0 {
            // Cut by the horizon, and not learnt from.
            let arms = v.words(self.policies.draw(v));
            for (bout, arm) in self.bouts.iter_mut().zip(arms) {
                bout.game.run(arm as usize, 0, rest);
            }
        }
        for (l, bout) in self.bouts.iter_mut().enumerate() {
            self.policies.give_back(l, &mut bout.player);
        }
    }
}

/// All rounds of all groups.
struct Rounds<'g, 'a> {
    eights: Vec<Group<'g, 'a, 8>>,
    fours: Vec<Group<'g, 'a, 4>>,
    rounds: u64,
    batch: u64,
    /// What is left of the horizon after that many rounds.
    rest: u64,
}

impl WithVectors for Rounds<'_, '_> {
    #[inline(always)]
    fn with(self, eight: impl Vector<8>, four: impl Vector<4>) {
        for group in self.eights {
            group.play(eight, self.rounds, self.batch, self.rest);
        }
        for group in self.fours {
            group.play(four, self.rounds, self.batch, self.rest);
        }
    }
}
