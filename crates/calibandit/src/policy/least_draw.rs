//! Thompson sampling among very many arms: the arm with the least of independent draws, without drawing for every arm.
//!
//! Fix a *cut*. The arms whose draw is below it are independent of each other, each with its own probability p. Let
//! every arm have the hazard -ln(1 - p), and let a Poisson number of hits, with the sum of all hazards as its mean,
//! fall on arms in proportion to their hazards. Then each arm is hit at least once with probability p, independently
//! of the others: the arms hit are those below the cut. If there are any, the least draw is among theirs, and only
//! they draw, given that they are below the cut. If there are none, all arms draw, given that they are not below it.
//! The cut is chosen such that there are about a dozen hits.
//!
//! The law is that of a draw for every arm; the random numbers are others.

use rand::RngExt;
use rand_distr::{Distribution, Poisson};
use rustc_hash::FxHashMap;

use super::exp_weights::SumTree;
use super::posterior::Posterior;
use crate::Stream;

/// The cut is chosen for about this many hits...
const HITS: f64 = 13.0;
/// ... and again when their expected number leaves this range. With fewer, all arms draw too often.
const FEWEST: f64 = 8.0;
const MOST: f64 = 26.0;
/// The tolerance with which it is chosen.
const TOLERANCE: f64 = 0.1;

/// The posteriors of all arms and their hazards at the cut. They follow from the state of the policy and the cut, so
/// only the cut is saved.
#[derive(Clone, Debug)]
pub(super) struct LeastDraw {
    posteriors: Vec<Posterior>,
    hazards: Vec<f64>,
    sums: SumTree,
    total: f64,
}

impl LeastDraw {
    /// For these posteriors, with the cut of a restored policy, or with one to be chosen.
    pub(super) fn new(posteriors: Vec<Posterior>, cut: Option<f64>) -> Self {
        let mut this = Self { posteriors, hazards: Vec::new(), sums: SumTree::default(), total: 0.0 };
        if let Some(cut) = cut {
            this.compute_hazards(cut);
        }
        this
    }

    fn compute_hazards(&mut self, cut: f64) {
        let mut known: FxHashMap<[u64; 3], f64> = FxHashMap::default();
        let hazard = |posterior: &Posterior| *known.entry(key(posterior)).or_insert_with(|| posterior.hazard(cut));
        self.hazards = self.posteriors.iter().map(hazard).collect();
        self.total = self.sums.rebuild(&self.hazards);
    }

    /// Takes the new posterior of an arm.
    pub(super) fn update(&mut self, arm: usize, posterior: Posterior, cut: Option<f64>) {
        self.posteriors[arm] = posterior;
        if let (Some(hazard), Some(cut)) = (self.hazards.get_mut(arm), cut) {
            *hazard = posterior.hazard(cut);
            self.total = self.sums.update(arm, &self.hazards);
        }
    }

    fn is_usable(&self) -> bool {
        (FEWEST..=MOST).contains(&self.total)
    }

    /// The arm with the least draw. The cut is chosen again when there would be too few hits or too many.
    pub(super) fn choose(&mut self, cut: &mut Option<f64>, stream: &mut Stream) -> usize {
        if !self.is_usable() {
            let chosen = choose_cut(&self.posteriors);
            *cut = Some(chosen);
            self.compute_hazards(chosen);
        }
        match *cut {
            Some(cut) if self.is_usable() => self.least(cut, stream),
            // Posteriors without spread have no such cut.
            _ => least_of_all(&self.posteriors, f64::NEG_INFINITY, stream),
        }
    }

    fn least(&self, cut: f64, stream: &mut Stream) -> usize {
        let hits = Poisson::new(self.total).expect("the total is a positive number").sample(stream);
        let mut hit: Vec<usize> = Vec::with_capacity(hits as usize);
        for _ in 0..hits as u64 {
            let arm = self.sums.find(self.total * stream.random::<f64>(), &self.hazards);
            if !hit.contains(&arm) {
                hit.push(arm);
            }
        }
        let mut least = None;
        for arm in hit {
            let draw = self.posteriors[arm].draw_below(cut, self.hazards[arm], stream);
            if least.is_none_or(|(_, other)| draw < other) {
                least = Some((arm, draw));
            }
        }
        least.map_or_else(|| least_of_all(&self.posteriors, cut, stream), |(arm, _)| arm)
    }
}

/// The arm with the least draw, given that no draw is below `cut`; in case of a tie, the first.
fn least_of_all(posteriors: &[Posterior], cut: f64, stream: &mut Stream) -> usize {
    let mut least = (0, f64::INFINITY);
    for (arm, posterior) in posteriors.iter().enumerate() {
        let draw = loop {
            let draw = posterior.draw(stream);
            if draw >= cut || draw.is_nan() {
                break draw;
            }
        };
        if draw < least.1 {
            least = (arm, draw);
        }
    }
    least.0
}

/// Equal posteriors have equal keys.
fn key(posterior: &Posterior) -> [u64; 3] {
    match *posterior {
        Posterior::Beta { ones, zeros } => [ones.to_bits(), zeros.to_bits(), 0],
        Posterior::Student { mean, variance, freedom } => [mean.to_bits(), variance.to_bits(), freedom.to_bits()],
    }
}

/// The cut at which the hazards of all arms sum up to about [`HITS`], by bisection.
fn choose_cut(posteriors: &[Posterior]) -> f64 {
    let mut places: FxHashMap<[u64; 3], usize> = FxHashMap::default();
    let mut kinds: Vec<(Posterior, f64)> = Vec::new();
    for posterior in posteriors {
        let place = *places.entry(key(posterior)).or_insert(kinds.len());
        match kinds.get_mut(place) {
            Some((_, count)) => *count += 1.0,
            None => kinds.push((*posterior, 1.0)),
        }
    }
    let total = |x: f64| kinds.iter().map(|(posterior, count)| count * posterior.hazard(x)).sum::<f64>();
    let (mut low, mut high) = bracket(&kinds, total);
    let mut middle = 0.5 * (low + high);
    for _ in 0..200 {
        let found = total(middle);
        if (found / HITS - 1.0).abs() < TOLERANCE {
            break;
        }
        if found < HITS {
            low = middle;
        } else {
            high = middle;
        }
        middle = 0.5 * (low + high);
    }
    middle
}

/// Numbers below and above the cut.
fn bracket(kinds: &[(Posterior, f64)], total: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut least, mut step) = (f64::INFINITY, 0.0f64);
    for (posterior, _) in kinds {
        let Posterior::Student { mean, variance, .. } = *posterior else { return (0.0, 1.0) };
        least = least.min(mean);
        step = step.max(variance.sqrt());
    }
    let (mut low, mut high) = (least - step, least + step);
    for _ in 0..200 {
        if total(low) > HITS {
            low -= step;
        } else if total(high) < HITS {
            high += step;
        } else {
            break;
        }
        step *= 2.0;
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamKey;

    fn posteriors(arms: usize) -> Vec<Posterior> {
        let beta = |arm: usize| Posterior::Beta { ones: 1.0 + (arm % 3) as f64, zeros: 1.0 + (arm % 5) as f64 / 2.0 };
        (0..arms).map(beta).collect()
    }

    /// How often each of the first `cells` arms, and then all others, is chosen.
    fn frequencies(cells: usize, draws: usize, mut choose: impl FnMut() -> usize) -> Vec<f64> {
        let mut counts = vec![0.0; cells + 1];
        (0..draws).for_each(|_| counts[choose().min(cells)] += 1.0);
        counts
    }

    /// Pearson's statistic of two samples of equal size.
    fn distance(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(a, b)| (a - b).powi(2) / (a + b).max(1.0)).sum()
    }

    #[test]
    fn arms_are_chosen_as_often_as_with_a_draw_for_every_arm() {
        let student = |arm: usize| {
            let freedom = 1.0 + (arm % 4) as f64;
            Posterior::Student { mean: 0.01 * (arm % 7) as f64, variance: 0.02, freedom }
        };
        for (case, posteriors) in [posteriors(60), (0..60).map(student).collect()].into_iter().enumerate() {
            let (mut one, mut other) = (StreamKey::new(1, "race", 0).noise(), StreamKey::new(2, "race", 0).noise());
            let (mut race, mut cut) = (LeastDraw::new(posteriors.clone(), None), None);
            let fast = frequencies(60, 100_000, || race.choose(&mut cut, &mut one));
            let plain = frequencies(60, 100_000, || least_of_all(&posteriors, f64::NEG_INFINITY, &mut other));
            // 59 degrees of freedom: 110 is exceeded with probability 0.0001.
            assert!(distance(&fast, &plain) < 110.0, "case {case}: {}", distance(&fast, &plain));
        }
    }

    #[test]
    fn the_cut_gives_the_wanted_number_of_hits_and_updates_equal_a_new_start() {
        for arms in [30, 3000] {
            let mut all = posteriors(arms);
            let cut = choose_cut(&all);
            let mut race = LeastDraw::new(all.clone(), Some(cut));
            assert!((race.total / HITS - 1.0).abs() < 2.0 * TOLERANCE, "{}", race.total);
            for arm in [3, 17, 3, 29] {
                all[arm] = Posterior::Beta { ones: 4.0, zeros: 9.0 };
                race.update(arm, all[arm], Some(cut));
            }
            let fresh = LeastDraw::new(all, Some(cut));
            assert_eq!((race.total, race.hazards), (fresh.total, fresh.hazards));
        }
    }

    #[test]
    fn posteriors_without_spread_are_compared_by_their_means() {
        let point = |mean| Posterior::Student { mean, variance: 0.0, freedom: 1.0 };
        let all: Vec<Posterior> = (0..40).map(|arm| point(0.1 * f64::from((arm * 7 + 3) % 40))).collect();
        let best = all.iter().position(|&posterior| posterior == point(0.0)).unwrap();
        let mut stream = StreamKey::new(1, "race", 1).noise();
        assert_eq!(LeastDraw::new(all, None).choose(&mut None, &mut stream), best);
    }
}
