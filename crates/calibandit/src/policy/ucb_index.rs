//! The index mean - sqrt(c·ln(N) / n) of every arm, and which is the least.

use super::grouped_arms::{ArmKey, GroupedArms, MANY_ARMS};
use super::history::{RestoredPlays, StateError, ensure};
use super::{RunReason, WarmStartError};
use crate::Feedback;
use crate::math;

/// The index of every arm.
///
/// Most choices do not compute all indices. While the arm with the least index is chosen again and again, the indices
/// of the other arms fall only as slowly as sqrt(ln N) grows, so a [`LeaderCache`] knows for some choices ahead that
/// the same arm stays the least. With very many arms, [`GroupedArms`] find the least index without computing all. The
/// choices are those of the definition, and neither is part of the saved state.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct UcbIndex {
    exploration: f64,
    /// N.
    choices: u64,
    /// By arm, n.
    chosen: Vec<u64>,
    /// By arm, the sum of the losses.
    sums: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    cache: LeaderCache,
}

/// What is known ahead about the arm with the least index.
///
/// Invariant: before choice number `until`, `leader` has the least index as long as its mean is below `bound`.
#[derive(Clone, Debug)]
struct LeaderCache {
    /// With fewer arms, computing all indices is faster than groups.
    many: usize,
    leader: usize,
    until: u64,
    bound: f64,
    /// The number of choices for which the last bound was computed.
    span: u64,
    /// By arm, the mean, up to date for every arm but the leader; empty if nothing has been computed yet.
    means: Vec<f64>,
    /// By arm, 1 / sqrt(n), likewise.
    widths: Vec<f64>,
    /// With very many arms, instead of means and widths: all arms, likewise.
    groups: Option<Box<GroupedArms>>,
}

impl Default for LeaderCache {
    fn default() -> Self {
        let (means, widths) = (Vec::new(), Vec::new());
        Self { many: MANY_ARMS, leader: 0, until: 0, bound: 0.0, span: 0, means, widths, groups: None }
    }
}

/// The cache follows from the rest of the state: it does not make two indices different.
impl PartialEq for LeaderCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl LeaderCache {
    /// Whether a leader with this sum of losses over `n` choices has a mean below the bound. Without a division; false
    /// if anything is NaN.
    #[inline]
    fn is_below_bound(&self, sum: f64, n: u64) -> bool {
        sum < self.bound * n as f64
    }

    /// The least index with this scale, and its arm; the first arm in case of a tie.
    fn least(&self, scale: f64) -> (usize, f64) {
        if let Some(groups) = &self.groups {
            return least_of_groups(groups, scale, None);
        }
        let mut least = (0, f64::INFINITY);
        for (arm, (mean, width)) in self.means.iter().zip(&self.widths).enumerate() {
            let index = mean - scale * width;
            if index < least.1 {
                least = (arm, index);
            }
        }
        least
    }

    /// The least index with this scale of all arms but the leader. It is a loop of its own, so that
    /// [`least`](Self::least) does not pay for the comparison.
    fn least_of_others(&self, scale: f64) -> f64 {
        if let Some(groups) = &self.groups {
            return least_of_groups(groups, scale, Some(self.leader)).1;
        }
        let mut least = f64::INFINITY;
        for (arm, (mean, width)) in self.means.iter().zip(&self.widths).enumerate() {
            let index = mean - scale * width;
            if arm != self.leader && index < least {
                least = index;
            }
        }
        least
    }

    /// Gives up the bound, so that the next choice computes all indices.
    fn invalidate(&mut self) {
        self.until = 0;
    }
}

/// The least index with this scale, of all arms but one, and its arm; the first arm in case of a tie.
fn least_of_groups(groups: &GroupedArms, scale: f64, but: Option<usize>) -> (usize, f64) {
    let mut least = (0, f64::INFINITY);
    for (plays, group) in groups.groups() {
        let width = width(plays);
        // Within a group the index rises with the sum. Sums that differ can have the same index, since it is
        // rounded.
        for equal in group.equal_arms(plays) {
            let index = equal.key.sum / plays as f64 - scale * width;
            if index > least.1 {
                break;
            }
            let Some(arm) = equal.arms().find(|&arm| Some(arm) != but) else { continue };
            if index < least.1 || index == least.1 && arm < least.0 {
                least = (arm, index);
            }
        }
    }
    least
}

/// The first bound is computed for this many choices; the number doubles while bounds hold to their end.
const FIRST_SPAN: u64 = 4;
/// The bound is lowered by this fraction of the numbers it is computed from, which is far above their rounding errors.
const ROUNDING: f64 = 1e-12;

impl UcbIndex {
    pub(super) fn new(arms: usize, exploration: f64) -> Self {
        let cache = LeaderCache::default();
        Self { exploration, choices: 0, chosen: vec![0; arms], sums: vec![0.0; arms], cache }
    }

    /// The arm with the least index, in case of a tie the first; before that every arm once, in order.
    #[inline]
    pub(super) fn least(&mut self) -> usize {
        let leader = self.cache.leader;
        let leads = self.cache.is_below_bound(self.sums[leader], self.chosen[leader]);
        if leads && self.choices < self.cache.until { leader } else { self.search() }
    }

    #[inline]
    pub(super) fn learn(&mut self, arm: usize, loss: f64) {
        self.choices += 1;
        self.chosen[arm] += 1;
        self.sums[arm] += loss;
        if arm != self.cache.leader {
            self.cache.invalidate();
            self.refresh(arm);
        }
    }

    /// Learns the loss of `arm` and, while the cache shows that it stays the least, more losses, up to `most`; returns
    /// how many.
    pub(super) fn learn_repeated(&mut self, arm: usize, most: u64, loss: &mut dyn FnMut() -> f64) -> u64 {
        let sure = if arm == self.cache.leader { self.cache.until.saturating_sub(self.choices).min(most) } else { 0 };
        let (mut sum, mut n) = (self.sums[arm], self.chosen[arm]);
        let mut learnt = 0;
        while learnt < sure {
            sum += loss();
            n += 1;
            learnt += 1;
            // As in `least`: if this no longer holds, all indices are computed.
            if !self.cache.is_below_bound(sum, n) {
                break;
            }
        }
        (self.sums[arm], self.chosen[arm]) = (sum, n);
        self.choices += learnt;
        if learnt == 0 {
            self.learn(arm, loss());
            learnt = 1;
        }
        learnt
    }

    /// Computes all indices and takes the least; extends the cache if the leader stays the same.
    fn search(&mut self) -> usize {
        if self.choices < self.sums.len() as u64 {
            return self.choices as usize;
        }
        if self.cache.means.is_empty() && self.cache.groups.is_none() {
            if self.sums.len() < self.cache.many {
                self.cache.means = vec![0.0; self.sums.len()];
                self.cache.widths = self.cache.means.clone();
            } else {
                self.cache.groups = Some(Box::new(GroupedArms::new(self.sums.len())));
            }
            (0..self.sums.len()).for_each(|arm| self.refresh(arm));
        }
        let bound_held = self.choices >= self.cache.until;
        self.refresh(self.cache.leader);
        let scale = self.scale(self.choices);
        let least = self.cache.least(scale);
        // A bound takes as long to compute as all indices, so it is computed only for an arm that leads twice in a row.
        if least.0 == self.cache.leader {
            let span = if bound_held { self.cache.span.saturating_mul(2) } else { self.cache.span / 2 };
            self.extend(scale, span.max(FIRST_SPAN));
        } else {
            self.cache.leader = least.0;
            self.cache.invalidate();
            self.cache.span = 0;
        }
        least.0
    }

    /// Establishes the invariant of the cache for the next `span` choices: the indices of the other arms are at least
    /// those with the scale of the last of these choices, and the leader's is at most its mean minus the present scale
    /// times the least width that it can have by then.
    fn extend(&mut self, scale: f64, span: u64) {
        let leader = self.cache.leader;
        let until = self.choices.saturating_add(span);
        let last_scale = self.scale(until);
        let others = self.cache.least_of_others(last_scale);
        let width = width(self.chosen[leader].saturating_add(span));
        let size = 1.0 + others.abs() + last_scale;
        let bound = others + scale * width - ROUNDING * size;
        // A single arm is always the least.
        self.cache.bound = if others == f64::INFINITY { f64::INFINITY } else { bound };
        self.cache.until = until;
        self.cache.span = span;
    }

    /// sqrt(c·ln(N)).
    fn scale(&self, choices: u64) -> f64 {
        (self.exploration * math::ln(choices as f64)).sqrt()
    }

    fn refresh(&mut self, arm: usize) {
        if let Some(groups) = &mut self.cache.groups {
            groups.set(arm, ArmKey { plays: self.chosen[arm], sum: self.sums[arm], sum_sq: 0.0 });
        }
        if let Some(mean) = self.cache.means.get_mut(arm) {
            *mean = self.sums[arm] / self.chosen[arm] as f64;
            self.cache.widths[arm] = width(self.chosen[arm]);
        }
    }

    /// Before the feedback of a choice, every arm was chosen once or this one opens it.
    pub(super) fn run_reason(&self) -> RunReason {
        if self.choices < self.sums.len() as u64 { RunReason::Opening } else { RunReason::Index }
    }

    /// Counts past losses as choices.
    pub(super) fn warm_start(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
        if self.choices > 0 {
            return Err(WarmStartError::Started);
        }
        if past.len() != self.chosen.len() {
            return Err(WarmStartError::Arms { given: past.len(), arms: self.chosen.len() });
        }
        if let Some(arm) = past.iter().position(|past| past.plays == 0) {
            return Err(WarmStartError::Missing { arm });
        }
        for (arm, past) in past.iter().enumerate() {
            self.choices = self.choices.saturating_add(past.plays);
            self.chosen[arm] = past.plays;
            self.sums[arm] = past.sum;
        }
        Ok(())
    }

    /// The arm chosen most often; in case of a tie, the one with the least mean. This is the recommendation of Bubeck,
    /// Munos and Stoltz (2011), which does not depend on a few low losses of one arm.
    pub(super) fn most_chosen(&self) -> usize {
        let mut most = 0;
        for arm in 1..self.chosen.len() {
            let (n, best) = (self.chosen[arm], self.chosen[most]);
            // With equal counts, the lesser sum has the lesser mean.
            if n > best || n == best && self.sums[arm] < self.sums[most] {
                most = arm;
            }
        }
        most
    }
}

impl UcbIndex {
    /// Checks a restored index, which is asked for runs of one recorded play after `burn_in` plays.
    pub(super) fn check_restored(&self, burn_in: u64, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let arms = history.arms;
        let total = self.chosen.iter().try_fold(0u64, |sum, &chosen| sum.checked_add(chosen));
        ensure(self.chosen.len() == arms && self.sums.len() == arms, "the policy has another number of arms")?;
        ensure(self.exploration > 0.0 && self.exploration.is_finite(), "the exploration is not a positive number")?;
        ensure(total == Some(self.choices), "the choices of the arms do not add up")?;
        let sums = self.chosen.iter().zip(&self.sums).all(|(&n, &sum)| history.allows_sum(n as f64, sum));
        ensure(sums, "the sum of the losses of an arm is out of range")?;
        // Every arm is chosen once before any is chosen again.
        let start = usize::try_from(self.choices).map_or(arms, |choices| choices.min(arms));
        let started = self.chosen.iter().enumerate().all(|(arm, &chosen)| (chosen > 0) == (arm < start));
        ensure(started, "an arm was skipped at the start")?;
        let recorded = self.chosen.iter().enumerate().all(|(arm, &chosen)| history.has_recorded(arm, chosen));
        ensure(recorded, "the choices of an arm differ from its recorded plays")?;
        ensure(history.has_burn_in(burn_in, 1), "the burn-in plays do not fit the memory bound")?;
        let asked = |run: crate::Run| run.burn_in == burn_in && run.record == 1;
        ensure(history.open.is_none_or(asked), "the open run is not one that the policy asks for")
    }
}

fn width(chosen: u64) -> f64 {
    (chosen as f64).sqrt().recip()
}

/// Implements [`Policy`](crate::Policy) for a type with a field `index: UcbIndex` and a method `burn_in`.
macro_rules! ucb_policy {
    ($policy:ty) => {
        impl crate::Policy for $policy {
            #[inline]
            fn next_run(&mut self) -> crate::Run {
                crate::Run { arm: self.index.least(), burn_in: self.burn_in(), record: 1 }
            }

            #[inline]
            fn observe(&mut self, run: crate::Run, feedback: crate::Feedback) {
                self.index.learn(run.arm, feedback.sum);
            }

            fn observe_repeated(
                &mut self,
                run: crate::Run,
                most: u64,
                feedback: &mut dyn FnMut() -> crate::Feedback,
            ) -> u64 {
                self.index.learn_repeated(run.arm, most, &mut || feedback().sum)
            }

            /// The arm that was chosen most often; in case of a tie, the one with the least mean.
            fn recommend(&self) -> usize {
                self.index.most_chosen()
            }

            fn run_reason(&self, _: crate::Run) -> crate::policy::RunReason {
                self.index.run_reason()
            }

            fn warm_start(&mut self, past: &[crate::Feedback]) -> Result<(), crate::policy::WarmStartError> {
                self.index.warm_start(past)
            }

            fn check_restored(
                &self,
                history: &crate::policy::RestoredPlays<'_>,
            ) -> Result<(), crate::policy::StateError> {
                self.check_parameters()?;
                self.index.check_restored(self.burn_in(), history)
            }
        }
    };
}
pub(super) use ucb_policy;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;
    use rand::RngExt;

    /// The definition: all indices at every choice.
    fn plain(index: &UcbIndex) -> usize {
        if index.choices < index.sums.len() as u64 {
            return index.choices as usize;
        }
        let scale = index.scale(index.choices);
        let mut least = (0, f64::INFINITY);
        for arm in 0..index.sums.len() {
            let value = index.sums[arm] / index.chosen[arm] as f64 - scale * width(index.chosen[arm]);
            if value < least.1 {
                least = (arm, value);
            }
        }
        least.0
    }

    /// Large gaps, ties, a single arm, losses outside [0, 1], constant losses, and a best arm whose losses rise.
    #[test]
    fn choices_are_those_of_the_definition() {
        let mut draws = StreamKey::new(1, "index", 0).noise();
        let means: [&[f64]; 6] = [&[0.5, 0.35, 0.5], &[0.5; 4], &[0.3], &[0.5, 0.49999], &[-40.0, 3.0, 1e6], &[0.0; 3]];
        for (case, means) in means.iter().enumerate() {
            for exploration in [1e-6, 0.5, 2.0, 1e4] {
                let mut index = UcbIndex::new(means.len(), exploration);
                let mut grouped = UcbIndex::new(means.len(), exploration);
                grouped.cache.many = 1;
                for choice in 0..20_000 {
                    let arm = index.least();
                    assert_eq!(arm, plain(&index), "case {case}, c = {exploration}, choice {choice}");
                    assert_eq!(arm, grouped.least(), "case {case}, c = {exploration}, choice {choice}, grouped");
                    let noise: f64 = draws.random();
                    let loss = match case {
                        4 => means[arm] + noise,
                        5 => means[arm],
                        _ if choice > 15_000 => f64::from(noise < 0.9 - means[arm]),
                        _ => f64::from(noise < means[arm]),
                    };
                    index.learn(arm, loss);
                    grouped.learn(arm, loss);
                }
            }
        }
    }

    /// Losses with few values have many ties; with the others, indices that differ are rounded to the same number.
    #[test]
    fn groups_choose_what_all_indices_choose() {
        let mut draws = StreamKey::new(4, "index", 0).noise();
        for case in 0..6 {
            let mut index = UcbIndex::new(150, [0.01, 2.0][case % 2]);
            index.cache.many = 1;
            for choice in 0..6000 {
                let arm = index.least();
                assert_eq!(arm, plain(&index), "case {case}, choice {choice}");
                let uniform: f64 = draws.random();
                let loss = match case / 2 {
                    0 => f64::from(uniform < 0.3 + 0.002 * arm as f64),
                    1 => 0.5 + 1e-16 * (8.0 * uniform).floor(),
                    _ => 1e3 * uniform,
                };
                index.learn(arm, loss);
            }
            assert!(index.cache.groups.is_some());
        }
    }

    #[test]
    fn repeated_learning_equals_single_learning() {
        let losses = |stream: &mut crate::Stream, arm: usize| f64::from(stream.random::<f64>() < [0.5, 0.3, 0.45][arm]);
        let mut draws = [StreamKey::new(3, "index", 0).noise(), StreamKey::new(3, "index", 0).noise()];
        let (mut bulk, mut single) = (UcbIndex::new(3, 2.0), UcbIndex::new(3, 2.0));
        let mut longest = 0;
        while bulk.choices < 50_000 {
            let arm = bulk.least();
            let learnt = bulk.learn_repeated(arm, 1000, &mut || losses(&mut draws[0], arm));
            for _ in 0..learnt {
                assert_eq!(single.least(), arm);
                single.learn(arm, losses(&mut draws[1], arm));
            }
            assert_eq!(bulk, single);
            longest = longest.max(learnt);
        }
        assert_eq!(longest, 1000);
    }

    #[test]
    fn a_restored_index_chooses_the_same() {
        let mut draws = StreamKey::new(2, "index", 0).noise();
        let mut index = UcbIndex::new(3, 2.0);
        for choice in 0..5000 {
            let arm = index.least();
            if choice % 97 == 0 {
                let text = serde_json::to_string(&index).unwrap();
                let mut restored: UcbIndex = serde_json::from_str(&text).unwrap();
                assert_eq!((restored.least(), &restored), (arm, &index));
                index = restored;
            }
            index.learn(arm, f64::from(draws.random::<f64>() < [0.5, 0.35, 0.45][arm]));
        }
    }

    #[test]
    fn choices_agree_with_a_calculation_by_hand() {
        let mut index = UcbIndex::new(2, 2.0);
        for (arm, loss) in [(0, 0.0), (1, 1.0), (0, 0.0), (0, 1.0)] {
            index.learn(arm, loss);
        }
        // N = 4. Arm 0: 1/3 - sqrt(2·ln 4 / 3) = 0.3333 - 0.9614 = -0.628; arm 1: 1 - sqrt(2·ln 4) = 1 - 1.6651 =
        // -0.665.
        assert_eq!(index.least(), 1);
        index.learn(1, 1.0);
        // N = 5. Arm 0: 0.3333 - sqrt(2·ln 5 / 3) = 0.3333 - 1.0358 = -0.702; arm 1: 1 - sqrt(ln 5) = 1 - 1.2686 =
        // -0.269.
        assert_eq!(index.least(), 0);
        assert_eq!(index.most_chosen(), 0);
    }

    #[test]
    fn the_least_index_agrees_with_the_formula() {
        let mut index = UcbIndex::new(4, 0.7);
        let mut losses: [Vec<f64>; 4] = Default::default();
        for round in 0..500u32 {
            let arm = index.least();
            if round >= 4 {
                let formula = |x: usize| {
                    let n = losses[x].len() as f64;
                    losses[x].iter().sum::<f64>() / n - (0.7 * f64::from(round).ln() / n).sqrt()
                };
                assert!((0..4).all(|other| formula(arm) <= formula(other) + 1e-12));
            }
            let loss = f64::from((round * 7919 + arm as u32 * 31) % 10) / 10.0 + 0.05 * arm as f64;
            losses[arm].push(loss);
            index.learn(arm, loss);
        }
    }
}
