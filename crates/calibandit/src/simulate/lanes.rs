//! EXP3 on several instances side by side, in the lanes of vectors, each with its own streams.
//!
//! Every lane does what [`simulate`](super::simulate) does with [`Exp3`] on a game with Bernoulli feedback: the same draws
//! in the same order and the same operations on them, so that the numbers are the same, bit for bit, whoever sits in the
//! neighbouring lanes. What differs is only that the arithmetic of several instances is one instruction.

use serde::{Deserialize, Serialize};

use super::ledger::Ledger;
use super::levels::Levels;
use super::vector::{Vector, WithVectors, dispatch};
use super::windows::{Joint, Separate, Windows};
use crate::exponential::{COTH, LEAST, LN_2_HIGH, LN_2_LOW, LOG2_E, ROUND};
use crate::game::threshold;
use crate::policy::Exp3;
use crate::policy::weights::{IN_LINE, REBASE_ABOVE};
use crate::{Game, Noise, Stream};

/// One instance: its policy, the noise it meets, its levels and its account.
pub(super) struct Lane<'a> {
    policy: &'a mut Exp3,
    noise: &'a mut Stream,
    /// The states of both streams.
    streams: [[u64; 4]; 2],
    levels: Levels,
    pub(super) ledger: Ledger,
}

impl<'a> Lane<'a> {
    /// `None` if this is nothing for a lane; then it is to be played by itself.
    pub(super) fn new(game: &Game, policy: &'a mut Exp3, noise: &'a mut Stream, times: &[u64]) -> Option<Self> {
        let arms = game.arms().len();
        let fits = arms <= IN_LINE && policy.weights.weights.len() == arms;
        if !fits || game.arms().iter().any(|arm| arm.noise() != Noise::Bernoulli) {
            return None;
        }
        let streams = [state(&policy.stream)?, state(noise)?];
        let levels = Levels::new(game)?;
        let ledger = Ledger::new(game, Some(&levels), times.to_vec());
        Some(Self { policy, noise, streams, levels, ledger })
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

/// The state of a stream, which is all that it serialises.
#[derive(Serialize, Deserialize)]
struct State {
    s: [u64; 4],
}

/// The words of a stream, if it can be made from them again.
fn state(stream: &Stream) -> Option<[u64; 4]> {
    let State { s } = serde_json::from_value(serde_json::to_value(stream).ok()?).ok()?;
    (self::stream(s).as_ref() == Some(stream)).then_some(s)
}

fn stream(s: [u64; 4]) -> Option<Stream> {
    serde_json::from_value(serde_json::to_value(State { s }).ok()?).ok()
}

/// The state of `L` policies and their games, lane by lane in every array. Lanes without an instance repeat the first.
struct Group<const L: usize> {
    /// The streams of the policies and of the noise, word by word.
    policy: [[u64; L]; 4],
    noise: [[u64; L]; 4],
    gamma: [f64; L],
    even: [f64; L],
    stretch: [f64; L],
    by_weight: [f64; L],
    arms: Vec<ArmState<L>>,
    total: [f64; L],
    levels: Vec<[LevelState; L]>,
    /// The newest arm; `NONE` before the first play.
    newest: [u64; L],
    switches: [u64; L],
}

struct ArmState<const L: usize> {
    weight: [f64; L],
    log_weight: [f64; L],
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
        let rate = |l: usize| lane(l).policy.weights.rate;
        let words = |which: usize| std::array::from_fn(|word| std::array::from_fn(|l| lane(l).streams[which][word]));
        let arm = |x: usize| ArmState {
            weight: std::array::from_fn(|l| lane(l).policy.weights.weights[x]),
            log_weight: std::array::from_fn(|l| lane(l).policy.weights.log_weights[x]),
        };
        let level = |l: usize, level: usize| {
            let loss = lane(l).levels.losses().get(level); // other games may have fewer
            LevelState { threshold: loss.map_or(0, |&loss| threshold(loss)), plays: 0 }
        };
        let levels = lanes.iter().map(|lane| lane.levels.losses().len()).max().unwrap_or(0);
        Self {
            policy: words(0),
            noise: words(1),
            gamma: std::array::from_fn(|l| rate(l).gamma),
            even: std::array::from_fn(|l| rate(l).even),
            stretch: std::array::from_fn(|l| rate(l).stretch),
            by_weight: std::array::from_fn(|l| rate(l).by_weight),
            arms: (0..lanes[0].policy.weights.weights.len()).map(arm).collect(),
            total: std::array::from_fn(|l| lane(l).policy.weights.total),
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
            let weights = &mut lane.policy.weights;
            weights.weights = self.arms.iter().map(|arm| arm.weight[l]).collect();
            weights.log_weights = self.arms.iter().map(|arm| arm.log_weight[l]).collect();
            weights.total = self.total[l];
            let streams = (stream(self.policy.map(|word| word[l])), stream(self.noise.map(|word| word[l])));
            if let (Some(policy), Some(noise)) = streams {
                (lane.policy.stream, *lane.noise) = (policy, noise);
            }
        }
    }

    /// `Weights::rebase`, for one lane.
    #[cold]
    #[inline(never)]
    fn rebase(&mut self, l: usize) {
        let largest = self.arms.iter().map(|arm| arm.log_weight[l]).fold(f64::NEG_INFINITY, f64::max);
        for arm in &mut self.arms {
            arm.log_weight[l] -= largest;
            arm.weight[l] = crate::exponential::exp(arm.log_weight[l]);
        }
        self.total[l] = self.arms.iter().map(|arm| arm.weight[l]).sum();
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

/// One play of `L` instances: `Weights::draw`, a play of the game with its Bernoulli draw, `Weights::learn`.
#[inline(always)]
fn step<const L: usize, V: Vector<L>>(v: V, group: &mut Group<L>, windows: &mut impl Windows<L>) {
    let arms = group.arms.as_mut_slice();
    let levels = group.levels.as_mut_slice();
    let gamma = v.f(&group.gamma);
    let total = v.f(&group.total);

    // Draw.
    let word = next(v, &mut group.policy);
    let one = v.splat(1.0);
    let uniform = v.sub(v.as_floats(v.or(v.right::<12>(word), v.bits(one))), one);
    let but_last = &arms[..arms.len() - 1];
    let last = v.splat(but_last.len() as f64);
    let evenly = v.integers(v.min(v.mul(uniform, v.f(&group.even)), last));
    let target = v.mul(v.mul(v.sub(uniform, gamma), v.f(&group.stretch)), total);
    let mut chosen = v.splat_word(0);
    let mut sum = v.splat(0.0);
    for arm in but_last {
        sum = v.add(sum, v.f(&arm.weight));
        chosen = v.minus(chosen, v.not_less(target, sum));
    }
    let chosen = v.choose(v.less(uniform, gamma), evenly, chosen);

    // Play.
    let newest = v.u(&group.newest);
    let stays = v.or(v.equal(chosen, newest), v.equal(newest, v.splat_word(NONE)));
    group.switches = v.words(v.plus(v.plus(v.u(&group.switches), stays), v.splat_word(1)));
    let arm = v.words(chosen);
    group.newest = arm;
    let level = windows.play(v, chosen, &arm);
    let mut thresholds = [0; L];
    for l in 0..L {
        let state = &mut levels[level[l]][l];
        state.plays += 1;
        thresholds[l] = state.threshold;
    }
    let draw = v.right::<11>(next(v, &mut group.noise));
    let lost = v.above(v.u(&thresholds), draw);

    // Learn: a gain of 1 or of 0.
    let (mut weight, mut log_weight) = ([0.0; L], [0.0; L]);
    for l in 0..L {
        let state = &arms[arm[l] as usize];
        (weight[l], log_weight[l]) = (state.weight[l], state.log_weight[l]);
    }
    let (weight, log_weight) = (v.f(&weight), v.f(&log_weight));
    let even = v.mul(gamma, total);
    let growth = v.div(even, v.add(v.mul(v.f(&group.by_weight), weight), even));
    let growth = v.as_floats(v.choose(lost, v.splat_word(0), v.bits(growth)));
    let log_weight = v.add(log_weight, growth);
    let grown = exp(v, log_weight);
    group.total = v.floats(v.add(total, v.sub(grown, weight)));
    let (logs, grown) = (v.floats(log_weight), v.floats(grown));
    for l in 0..L {
        let state = &mut arms[arm[l] as usize];
        (state.weight[l], state.log_weight[l]) = (grown[l], logs[l]);
    }
    if v.any(v.less(v.splat(REBASE_ABOVE), log_weight)) {
        for l in (0..L).filter(|&l| logs[l] > REBASE_ABOVE) {
            group.rebase(l);
        }
    }
}

/// The next word of `L` xoshiro256++ streams.
#[inline(always)]
fn next<const L: usize, V: Vector<L>>(v: V, state: &mut [[u64; L]; 4]) -> V::U {
    let [s0, s1, s2, s3] = [v.u(&state[0]), v.u(&state[1]), v.u(&state[2]), v.u(&state[3])];
    let sum = v.plus(s0, s3);
    let result = v.plus(v.or(v.left::<23>(sum), v.right::<41>(sum)), s0);
    let t = v.left::<17>(s1);
    let s2 = v.xor(s2, s0);
    let s3 = v.xor(s3, s1);
    let s1 = v.xor(s1, s2);
    let s0 = v.xor(s0, s3);
    let s2 = v.xor(s2, t);
    let s3 = v.or(v.left::<45>(s3), v.right::<19>(s3));
    *state = [v.words(s0), v.words(s1), v.words(s2), v.words(s3)];
    result
}

/// [`exp`](crate::exponential::exp) of `L` numbers.
#[inline(always)]
fn exp<const L: usize, V: Vector<L>>(v: V, x: V::F) -> V::F {
    let shifted = v.add(v.mul(x, v.splat(LOG2_E)), v.splat(ROUND));
    let n = v.sub(shifted, v.splat(ROUND));
    let r = v.sub(v.sub(x, v.mul(n, v.splat(LN_2_HIGH))), v.mul(n, v.splat(LN_2_LOW)));
    let t = v.mul(r, r);
    let tt = v.mul(t, t);
    let pair = |k: usize| v.add(v.splat(COTH[k]), v.mul(t, v.splat(COTH[k + 1])));
    let series = v.add(pair(0), v.mul(tt, v.add(pair(2), v.mul(tt, pair(4)))));
    let below = v.sub(v.add(v.splat(2.0), v.mul(t, series)), r);
    let fraction = v.add(v.splat(1.0), v.div(v.add(r, r), below));
    let power = v.as_floats(v.plus(v.left::<52>(v.bits(shifted)), v.splat_word(1f64.to_bits())));
    let result = v.mul(fraction, power);
    v.as_floats(v.choose(v.less(x, v.splat(LEAST)), v.splat_word(0), v.bits(result)))
}
