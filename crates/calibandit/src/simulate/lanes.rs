//! EXP3 on several instances with Bernoulli feedback side by side, in the lanes of vectors, each with its own streams.
//!
//! Every lane does what [`simulate`](super::simulate) does with [`Exp3`](crate::policy::Exp3): policy, game and feedback
//! alike, bit for bit, whoever sits in the neighbouring lanes. What differs is only that the arithmetic of several
//! instances is one instruction.

use super::ledger::Ledger;
use super::levels::Levels;
use super::policies::{Player, Policies, Words, next};
use super::vector::{Vector, WithVectors, dispatch};
use super::windows::{Joint, Separate, Windows};
use crate::game::threshold;
use crate::{Game, Noise, Stream};

/// One instance: its policy, the noise it meets, its levels and its account.
pub(super) struct Lane<'a> {
    player: Player<'a>,
    noise: &'a mut Stream,
    words: Words,
    levels: Levels,
    pub(super) ledger: Ledger,
}

/// Whether a game is one for these lanes.
pub(super) fn suits(game: &Game, levels: &Levels) -> bool {
    levels.are_counted() && game.arms().iter().all(|arm| arm.noise() == Noise::Bernoulli)
}

impl<'a> Lane<'a> {
    /// For a game that [suits](suits).
    pub(super) fn new(game: &Game, levels: Levels, player: Player<'a>, noise: &'a mut Stream, times: &[u64]) -> Self {
        let words = noise.state();
        let ledger = Ledger::new(game, Some(&levels), times.to_vec());
        Self { player, noise, words, levels, ledger }
    }

    pub(super) fn levels(&self) -> &Levels {
        &self.levels
    }
}

/// Plays all lanes to their last checkpoint. All have the same number of arms and the same checkpoints.
pub(super) fn play(lanes: &mut [Lane<'_>]) {
    if !play_with::<Joint<8>, Joint<4>>(lanes) {
        play_with::<Separate<8>, Separate<4>>(lanes);
    }
}

/// The same with windows of a kind; false if they do not suit these games, and nothing was played.
fn play_with<E: Windows<8>, F: Windows<4>>(lanes: &mut [Lane<'_>]) -> bool {
    // In eights as long as they are more than half full.
    let in_eights = (lanes.len() + 3) / 8 * 8;
    let (of_eights, of_fours) = lanes.split_at_mut(in_eights.min(lanes.len()));
    let eights: Option<Vec<_>> = of_eights.chunks(8).map(|eight| Some((Group::of(eight), E::new(eight)?))).collect();
    let fours: Option<Vec<_>> = of_fours.chunks(4).map(|four| Some((Group::of(four), F::new(four)?))).collect();
    let (Some(mut eights), Some(mut fours)) = (eights, fours) else { return false };
    let ledger = |eights: &[Lane<'_>], fours: &[Lane<'_>]| {
        let lane = eights.first().or(fours.first())?;
        Some((lane.ledger.time(), lane.ledger.next())).filter(|&(_, next)| next < u64::MAX)
    };
    while let Some((time, next)) = ledger(of_eights, of_fours) {
        dispatch(Steps { eights: &mut eights, fours: &mut fours, steps: next - time });
        let settle_eights = of_eights.chunks_mut(8).zip(&mut eights);
        settle_eights.for_each(|(lanes, (group, _))| group.settle(next, lanes));
        of_fours.chunks_mut(4).zip(&mut fours).for_each(|(lanes, (group, _))| group.settle(next, lanes));
    }
    of_eights.chunks_mut(8).zip(&eights).for_each(|(lanes, (group, _))| group.give_back(lanes));
    of_fours.chunks_mut(4).zip(&fours).for_each(|(lanes, (group, _))| group.give_back(lanes));
    true
}

/// The state of `L` policies and their games, lane by lane in every array. Lanes without an instance repeat the first.
struct Group<const L: usize> {
    policies: Policies<L>,
    /// The streams of the noise, word by word.
    noise: [[u64; L]; 4],
    levels: Vec<[LevelState; L]>,
    /// The newest arm; `NONE` before the first play.
    newest: [u64; L],
    switches: [u64; L],
}

/// The threshold of a level, and how often it was played since the last checkpoint.
#[derive(Clone, Copy)]
struct LevelState {
    threshold: u64,
    plays: u64,
}

const NONE: u64 = u64::MAX;

impl<const L: usize> Group<L> {
    fn of(lanes: &[Lane<'_>]) -> Self {
        let lane = |lane: usize| lanes.get(lane).unwrap_or(&lanes[0]);
        let level = |l: usize, level: usize| {
            let loss = lane(l).levels.losses().get(level); // other games may have fewer
            LevelState { threshold: loss.map_or(0, |&loss| threshold(loss)), plays: 0 }
        };
        let levels = lanes.iter().map(|lane| lane.levels.losses().len()).max().unwrap_or(0);
        Self {
            policies: Policies::of(lanes.iter().map(|lane| &lane.player)),
            noise: std::array::from_fn(|word| std::array::from_fn(|l| lane(l).words[word])),
            levels: (0..levels).map(|number| std::array::from_fn(|l| level(l, number))).collect(),
            newest: [NONE; L],
            switches: [0; L],
        }
    }

    /// Moves what was counted to the ledgers.
    fn settle(&mut self, time: u64, lanes: &mut [Lane<'_>]) {
        for (l, lane) in lanes.iter_mut().enumerate() {
            let counts = self.levels.iter_mut().map(|states| std::mem::take(&mut states[l].plays));
            let counts = counts.enumerate().filter(|(_, plays)| *plays > 0);
            lane.ledger.take(time, counts, self.switches[l], self.newest[l] as usize);
        }
    }

    fn give_back(&self, lanes: &mut [Lane<'_>]) {
        for (l, lane) in lanes.iter_mut().enumerate() {
            self.policies.give_back(l, &mut lane.player);
            *lane.noise = Stream::from_state(self.noise.map(|word| word[l]));
        }
    }
}

/// Some plays of all groups.
struct Steps<'a, E, F> {
    eights: &'a mut [(Group<8>, E)],
    fours: &'a mut [(Group<4>, F)],
    steps: u64,
}

impl<E: Windows<8>, F: Windows<4>> WithVectors for Steps<'_, E, F> {
    #[inline(always)]
    fn with(self, eight: impl Vector<8>, four: impl Vector<4>) {
        for _ in 0..self.steps {
            for (group, windows) in &mut *self.eights {
                step(eight, group, windows);
            }
            for (group, windows) in &mut *self.fours {
                step(four, group, windows);
            }
        }
    }
}

/// One play of `L` instances: a draw, a play of the game with its Bernoulli draw, and what is learnt from it.
#[inline(always)]
fn step<const L: usize, V: Vector<L>>(v: V, group: &mut Group<L>, windows: &mut impl Windows<L>) {
    let chosen = group.policies.draw(v);

    let newest = v.u(&group.newest);
    let stays = v.or(v.equal(chosen, newest), v.equal(newest, v.splat_word(NONE)));
    group.switches = v.words(v.plus(v.plus(v.u(&group.switches), stays), v.splat_word(1)));
    let arm = v.words(chosen);
    group.newest = arm;
    let level = windows.play(v, chosen, &arm);
    let levels = group.levels.as_mut_slice();
    let mut thresholds = [0; L];
    for l in 0..L {
        let state = &mut levels[level[l]][l];
        state.plays += 1;
        thresholds[l] = state.threshold;
    }
    let draw = v.right::<11>(next(v, &mut group.noise));
    let lost = v.above(v.u(&thresholds), draw);

    // A gain of 1 or of 0.
    group.policies.learn(v, &arm, |growth| v.as_floats(v.choose(lost, v.splat_word(0), v.bits(growth))));
}
