//! The weights of EXP3 in several policies at once: `policy::exp_weights`, written for vectors.
//!
//! Every lane performs the draws and operations of [`ExpWeights`] in the same order, so the numbers are the same, bit
//! for bit, independently of the other lanes.

use super::vector::Vector;
use crate::Stream;
use crate::exponential::{COTH, LEAST, LN_2_HIGH, LN_2_LOW, LOG2_E, ROUND};
use crate::policy::exp_weights::{ExpWeights, REBASE_ABOVE};

/// The parts of a policy that draws its arms by the weights of EXP3, with up to
/// [`IN_LINE`](crate::policy::exp_weights::IN_LINE) arms.
pub(super) struct Exp3Parts<'a> {
    pub(super) weights: &'a mut ExpWeights,
    pub(super) stream: &'a mut Stream,
}

/// The state of `L` policies, one lane per policy in every array. Lanes without a policy repeat the first.
pub(super) struct Exp3Lanes<const L: usize> {
    /// The streams, word by word.
    streams: [[u64; L]; 4],
    gamma: [f64; L],
    even: [f64; L],
    stretch: [f64; L],
    by_weight: [f64; L],
    arms: Vec<ArmWeights<L>>,
    total: [f64; L],
}

struct ArmWeights<const L: usize> {
    weight: [f64; L],
    log_weight: [f64; L],
}

impl<const L: usize> Exp3Lanes<L> {
    /// All policies have the same number of arms.
    pub(super) fn of<'p, 'a: 'p>(policies: impl Iterator<Item = &'p Exp3Parts<'a>>) -> Self {
        let policies: Vec<&Exp3Parts<'_>> = policies.collect();
        let policy = |l: usize| *policies.get(l).unwrap_or(&policies[0]);
        let streams: [[u64; 4]; L] = std::array::from_fn(|l| policy(l).stream.state());
        let rate = |l: usize| policy(l).weights.rate;
        let arm = |x: usize| ArmWeights {
            weight: std::array::from_fn(|l| policy(l).weights.weights[x]),
            log_weight: std::array::from_fn(|l| policy(l).weights.log_weights[x]),
        };
        Self {
            streams: std::array::from_fn(|word| streams.map(|state| state[word])),
            gamma: std::array::from_fn(|l| rate(l).gamma),
            even: std::array::from_fn(|l| rate(l).even),
            stretch: std::array::from_fn(|l| rate(l).stretch),
            by_weight: std::array::from_fn(|l| rate(l).by_weight),
            arms: (0..policies[0].weights.weights.len()).map(arm).collect(),
            total: std::array::from_fn(|l| policy(l).weights.total),
        }
    }

    /// Writes the state of lane `l` back into its policy.
    pub(super) fn write_back(&self, l: usize, policy: &mut Exp3Parts<'_>) {
        policy.weights.weights = self.arms.iter().map(|arm| arm.weight[l]).collect();
        policy.weights.log_weights = self.arms.iter().map(|arm| arm.log_weight[l]).collect();
        policy.weights.total = self.total[l];
        *policy.stream = Stream::from_state(self.streams.map(|word| word[l]));
    }

    /// [`ExpWeights::draw`].
    #[inline(always)]
    pub(super) fn draw<V: Vector<L>>(&mut self, v: V) -> V::U {
        let (gamma, total) = (v.f(&self.gamma), v.f(&self.total));
        let word = next_word(v, &mut self.streams);
        let one = v.splat(1.0);
        let uniform = v.sub(v.as_floats(v.or(v.right::<12>(word), v.bits(one))), one);
        let but_last = &self.arms[..self.arms.len() - 1];
        let last = v.splat(but_last.len() as f64);
        let evenly = v.integers(v.min(v.mul(uniform, v.f(&self.even)), last));
        let target = v.mul(v.mul(v.sub(uniform, gamma), v.f(&self.stretch)), total);
        let mut chosen = v.splat_word(0);
        let mut sum = v.splat(0.0);
        for arm in but_last {
            sum = v.add(sum, v.f(&arm.weight));
            chosen = v.minus(chosen, v.not_less(target, sum));
        }
        v.choose(v.less(uniform, gamma), evenly, chosen)
    }

    /// [`ExpWeights::learn`], where `gained` maps the growth for a gain of 1 to the growth for the observed gain.
    #[inline(always)]
    pub(super) fn learn<V: Vector<L>>(&mut self, v: V, arm: &[u64; L], gained: impl FnOnce(V::F) -> V::F) {
        let arms = self.arms.as_mut_slice();
        let (gamma, total) = (v.f(&self.gamma), v.f(&self.total));
        let (mut weight, mut log_weight) = ([0.0; L], [0.0; L]);
        for l in 0..L {
            let state = &arms[arm[l] as usize];
            (weight[l], log_weight[l]) = (state.weight[l], state.log_weight[l]);
        }
        let (weight, log_weight) = (v.f(&weight), v.f(&log_weight));
        let even = v.mul(gamma, total);
        let growth = gained(v.div(even, v.add(v.mul(v.f(&self.by_weight), weight), even)));
        let log_weight = v.add(log_weight, growth);
        let grown = exp(v, log_weight);
        self.total = v.floats(v.add(total, v.sub(grown, weight)));
        let (logs, grown) = (v.floats(log_weight), v.floats(grown));
        for l in 0..L {
            let state = &mut arms[arm[l] as usize];
            (state.weight[l], state.log_weight[l]) = (grown[l], logs[l]);
        }
        if v.any(v.less(v.splat(REBASE_ABOVE), log_weight)) {
            for l in (0..L).filter(|&l| logs[l] > REBASE_ABOVE) {
                self.rebase(l);
            }
        }
    }

    /// [`ExpWeights::rebase`] of one lane.
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

/// The next word of `L` xoshiro256++ streams.
#[inline(always)]
pub(super) fn next_word<const L: usize, V: Vector<L>>(v: V, state: &mut [[u64; L]; 4]) -> V::U {
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
