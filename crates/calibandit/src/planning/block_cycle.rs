//! The best block cycle: each arm at most once per period, with its plays in a row.
//!
//! In a cycle of P plays that is repeated for ever, let arm x have one block of `a` plays. The tally of the i-th play
//! of the block, the number of plays of x among the last m, depends on a, P and i only, not on the order of the other
//! arms. With m = qP + r, 0 <= r < P, and s = max(0, r - (P - a)), the tallies of the block are
//!
//! ```text
//! q·a + s (s times),  q·a + s + 1,  ...,  q·a + min(r, a),  and q·a + r for the rest.
//! ```
//!
//! So the cost of a block is a sum of a stretch of the loss curve, and the blocks with the least cost for a given P are
//! a min-plus knapsack over the arms, in O(K·P²). Staying with one arm is the cycle with a single block.
//!
//! Not here: cycles in which an arm has several blocks; those are among the cycles of a [`Graph`](super::graph::Graph).

/// Cycles whose means differ by less than this count as equally good: sums of losses are rounded.
const ROUNDING: f64 = 1e-12;

/// A cycle in which each arm has at most one block of plays in a row.
///
/// ```
/// use calibandit::BlockCycle;
/// // Expected losses by the number of plays among the last three: better in small doses, and a constant arm.
/// let losses = [vec![0.3, 0.1, 0.4], vec![0.2, 0.2, 0.2]];
/// let best = BlockCycle::best(&losses, 6).expect("there are two arms with three losses each");
/// assert_eq!(best.blocks, [(0, 2), (1, 1)]);
/// assert!((best.mean - 0.4 / 3.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlockCycle {
    /// The arms of the cycle and the lengths of their blocks, by arm.
    pub blocks: Vec<(usize, usize)>,
    /// The mean loss per play once the cycle has been repeated for as long as the memory.
    pub mean: f64,
}

impl BlockCycle {
    /// The block cycle with the least mean loss, of all with a period of at most `longest` plays. `losses[x][y - 1]` is
    /// the loss of arm x at a tally of y plays; the length of `losses[x]` is the memory of the arm. Of cycles that are
    /// equally good it is one with the shortest period. The work is of order K·`longest`³.
    ///
    /// `None` if there is no arm, an arm without losses, a loss that is not a finite number, or `longest` is 0.
    pub fn best(losses: &[Vec<f64>], longest: usize) -> Option<Self> {
        Self::best_from(losses, longest, &[])
    }

    /// The same, but `known` blocks are kept if no cycle is better.
    pub(crate) fn best_from(losses: &[Vec<f64>], longest: usize, known: &[(usize, usize)]) -> Option<Self> {
        let valid = |curve: &Vec<f64>| !curve.is_empty() && curve.iter().all(|loss| loss.is_finite());
        if losses.is_empty() || longest == 0 || !losses.iter().all(valid) {
            return None;
        }
        let curves: Vec<CurveSums<'_>> = losses.iter().map(|curve| CurveSums::new(curve)).collect();
        let mut knapsack = Knapsack::default();
        let mut best = (0, f64::INFINITY);
        for period in 1..=longest {
            let mean = knapsack.least(&curves, period) / period as f64;
            if mean < best.1 - ROUNDING {
                best = (period, mean);
            }
        }
        let known_mean = mean(&curves, known);
        if known_mean <= best.1 + ROUNDING {
            return Some(Self { blocks: known.to_vec(), mean: known_mean });
        }
        let blocks = knapsack.blocks(&curves, best.0);
        Some(Self { mean: mean(&curves, &blocks), blocks })
    }

    /// The number of plays.
    pub fn period(&self) -> usize {
        self.blocks.iter().map(|&(_, plays)| plays).sum()
    }
}

/// The mean loss of a block cycle; infinite if it has no plays.
fn mean(curves: &[CurveSums<'_>], blocks: &[(usize, usize)]) -> f64 {
    let period = blocks.iter().map(|&(_, plays)| plays).sum::<usize>();
    if period == 0 {
        return f64::INFINITY;
    }
    blocks.iter().map(|&(arm, plays)| curves[arm].block(plays, period)).sum::<f64>() / period as f64
}

/// The tallies of a block of `plays` in a cycle of `period` plays, play by play.
#[cfg(test)]
pub(crate) fn block_tallies(plays: usize, period: usize, memory: usize) -> Vec<usize> {
    let (rounds, rest) = (memory / period, memory % period);
    let start = (rest + plays).saturating_sub(period);
    (1..=plays).map(|i| rounds * plays + i.max(start).min(rest)).collect()
}

/// A loss curve with its running sums.
struct CurveSums<'a> {
    losses: &'a [f64],
    /// The sum of the first losses, for 0, 1, ... of them.
    sums: Vec<f64>,
}

impl<'a> CurveSums<'a> {
    fn new(losses: &'a [f64]) -> Self {
        let mut sum = 0.0;
        let running = losses.iter().map(|loss| {
            sum += loss;
            sum
        });
        let sums = std::iter::once(0.0).chain(running).collect();
        Self { losses, sums }
    }

    /// The cost of a block in a cycle.
    fn block(&self, plays: usize, period: usize) -> f64 {
        let memory = self.losses.len();
        let (rounds, rest) = (memory / period, memory % period);
        let before = rounds * plays;
        // The tallies repeat before + start, rise from there, and repeat before + rest; see the head of this module.
        let start = (rest + plays).saturating_sub(period);
        let end = rest.min(plays);
        let mut cost = self.sums[before + end] - self.sums[before + start];
        if start > 0 {
            cost += start as f64 * self.losses[before + start - 1];
        }
        if plays > end {
            cost += (plays - end) as f64 * self.losses[before + end - 1];
        }
        cost
    }
}

/// The min-plus knapsack: the least cost of blocks that fill a period exactly.
#[derive(Default)]
struct Knapsack {
    /// The least cost of the arms so far, by the number of plays that they fill.
    least: Vec<f64>,
    next: Vec<f64>,
    /// The cost of a block of the present arm, by its length.
    costs: Vec<f64>,
}

impl Knapsack {
    /// The least cost of a cycle with this period.
    fn least(&mut self, curves: &[CurveSums<'_>], period: usize) -> f64 {
        self.start(period);
        let (last, others) = curves.split_last().expect("there is an arm");
        for curve in others {
            self.add(curve, period);
        }
        // Of the last arm only full periods are needed.
        self.block_costs(last, period);
        let full = (1..=period).map(|plays| self.least[period - plays] + self.costs[plays]);
        full.fold(self.least[period], f64::min)
    }

    /// The blocks of a cycle that attains it.
    fn blocks(&mut self, curves: &[CurveSums<'_>], period: usize) -> Vec<(usize, usize)> {
        self.start(period);
        let mut stages = vec![self.least.clone()];
        for curve in curves {
            self.add(curve, period);
            stages.push(self.least.clone());
        }
        let mut blocks = Vec::new();
        let mut filled = period;
        for (arm, curve) in curves.iter().enumerate().rev() {
            let value = stages[arm + 1][filled];
            if stages[arm][filled] == value {
                continue;
            }
            let attains = |plays: &usize| stages[arm][filled - plays] + curve.block(*plays, period) == value;
            let plays = (1..=filled).find(attains).expect("the value of a stage comes from some block");
            blocks.push((arm, plays));
            filled -= plays;
        }
        blocks.reverse();
        blocks
    }

    fn start(&mut self, period: usize) {
        self.least.clear();
        self.least.resize(period + 1, f64::INFINITY);
        self.least[0] = 0.0;
    }

    fn block_costs(&mut self, curve: &CurveSums<'_>, period: usize) {
        self.costs.clear();
        self.costs.push(0.0);
        self.costs.extend((1..=period).map(|plays| curve.block(plays, period)));
    }

    fn add(&mut self, curve: &CurveSums<'_>, period: usize) {
        self.block_costs(curve, period);
        self.next.clone_from(&self.least);
        for (plays, &cost) in self.costs.iter().enumerate().skip(1) {
            for (next, &before) in self.next[plays..].iter_mut().zip(&self.least) {
                let with = before + cost;
                *next = if with < *next { with } else { *next };
            }
        }
        std::mem::swap(&mut self.least, &mut self.next);
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::StreamKey;

    /// A cycle repeated as often as needed, and the tallies of its last repetition, counted play by play.
    fn played(cycle: &[usize], memories: &[usize]) -> Vec<usize> {
        let longest = memories.iter().max().unwrap();
        let rounds = 2 + longest / cycle.len();
        let plays: Vec<usize> = (0..rounds).flat_map(|_| cycle.iter().copied()).collect();
        let tally = |at: usize| {
            let from = at + 1 - memories[plays[at]].min(at + 1);
            plays[from..=at].iter().filter(|&&arm| arm == plays[at]).count()
        };
        (plays.len() - cycle.len()..plays.len()).map(tally).collect()
    }

    /// The lemma in the head of the module, against play.
    #[test]
    fn the_tallies_of_a_block_are_those_of_its_plays() {
        for memory in 1..=9 {
            for period in 1..=2 * memory + 3 {
                for plays in 1..=period {
                    let cycle: Vec<usize> = (0..period).map(|i| usize::from(i >= plays)).collect();
                    let tallies = played(&cycle, &[memory, memory]);
                    assert_eq!(tallies[..plays], block_tallies(plays, period, memory), "{plays} {period} {memory}");
                    // Losses that tell tallies apart: the sum of a block is the sum over its plays.
                    let losses: Vec<f64> = (0..memory).map(|y| f64::from(1u32 << (2 * y))).collect();
                    let sum: f64 = tallies[..plays].iter().map(|&tally| losses[tally - 1]).sum();
                    assert_eq!(CurveSums::new(&losses).block(plays, period), sum, "{plays} {period} {memory}");
                }
            }
        }
    }

    /// Every block cycle, one after the other.
    fn enumerated(losses: &[Vec<f64>], longest: usize) -> f64 {
        fn extend(losses: &[Vec<f64>], left: usize, cycle: &mut Vec<usize>, best: &mut f64) {
            let memories: Vec<usize> = losses.iter().map(Vec::len).collect();
            if !cycle.is_empty() {
                let sum: f64 = played(cycle, &memories).iter().zip(&*cycle).map(|(&y, &x)| losses[x][y - 1]).sum();
                *best = best.min(sum / cycle.len() as f64);
            }
            let first = cycle.last().map_or(0, |arm| arm + 1);
            for arm in first..losses.len() {
                for plays in 1..=left {
                    cycle.extend(std::iter::repeat_n(arm, plays));
                    extend(losses, left - plays, cycle, best);
                    cycle.truncate(cycle.len() - plays);
                }
            }
        }
        let mut best = f64::INFINITY;
        extend(losses, longest, &mut Vec::new(), &mut best);
        best
    }

    #[test]
    fn the_knapsack_finds_the_best_of_all_block_cycles() {
        for instance in 0..150 {
            let stream = &mut StreamKey::new(3, "blocks", instance).game();
            let arms = stream.random_range(1..=3);
            let curve = |stream: &mut crate::Stream| {
                let memory = stream.random_range(1..=5);
                (0..memory).map(|_| f64::from(stream.random_range(0..8)) / 8.0).collect::<Vec<f64>>()
            };
            let losses: Vec<Vec<f64>> = (0..arms).map(|_| curve(stream)).collect();
            let longest = stream.random_range(1..=10);
            let best = BlockCycle::best(&losses, longest).unwrap();
            let expected = enumerated(&losses, longest);
            assert!((best.mean - expected).abs() < 1e-12, "instance {instance}: {best:?}, {expected}");
            assert!(best.period() <= longest);
            let cycle: Vec<usize> = best.blocks.iter().flat_map(|&(x, a)| std::iter::repeat_n(x, a)).collect();
            let memories: Vec<usize> = losses.iter().map(Vec::len).collect();
            let sum: f64 = played(&cycle, &memories).iter().zip(&cycle).map(|(&y, &x)| losses[x][y - 1]).sum();
            assert!((sum / cycle.len() as f64 - best.mean).abs() < 1e-12, "instance {instance}: {best:?}");
        }
    }

    /// Losses that rise with the tally: of two equal arms, taking turns is better than staying, by hand.
    #[test]
    fn arms_that_tire_take_turns() {
        for memory in 2..=6 {
            let tiring: Vec<f64> = (1..=memory).map(|tally| tally as f64 / memory as f64).collect();
            let best = BlockCycle::best(&[tiring.clone(), tiring.clone()], 2 * memory).unwrap();
            // Staying costs 1. Taking turns play by play gives half of each arm in a window, rounded up if m is odd.
            assert!(best.blocks.len() == 2 && best.mean <= tiring[memory.div_ceil(2) - 1], "memory {memory}: {best:?}");
            let expected = enumerated(&[tiring.clone(), tiring], 2 * memory);
            assert!((best.mean - expected).abs() < 1e-12, "memory {memory}: {best:?}, {expected}");
        }
        // The second of two plays in a row is good, the first and the third are not: a rest after every second play.
        let paired = vec![0.9, 0.1, 0.9];
        let rest = vec![0.3, 0.3, 0.3];
        let best = BlockCycle::best(&[paired, rest], 6).unwrap();
        assert_eq!(best.blocks, [(0, 2), (1, 1)]);
    }

    #[test]
    fn a_known_cycle_is_kept_unless_another_is_better() {
        let losses = [vec![0.5, 0.5], vec![0.5, 0.5]];
        assert_eq!(BlockCycle::best(&losses, 4).unwrap().blocks, [(0, 1)]);
        assert_eq!(BlockCycle::best_from(&losses, 4, &[(0, 1), (1, 2)]).unwrap().blocks, [(0, 1), (1, 2)]);
        let losses = [vec![0.5, 0.5], vec![0.5, 0.4]];
        let best = BlockCycle::best_from(&losses, 4, &[(0, 1), (1, 2)]).unwrap();
        assert_eq!((best.blocks, best.mean), (vec![(1, 1)], 0.4));
    }

    #[test]
    fn invalid_losses_have_no_cycle() {
        for losses in [vec![], vec![vec![0.5], vec![]], vec![vec![f64::NAN]], vec![vec![f64::INFINITY, 0.0]]] {
            assert_eq!(BlockCycle::best(&losses, 4), None);
        }
        assert_eq!(BlockCycle::best(&[vec![0.5]], 0), None);
    }
}
