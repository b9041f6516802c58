//! Weighted isotonic regression in both directions, by the pool-adjacent-violators algorithm.

use super::LossSum;

/// The better one of the best increasing and the best decreasing curve.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MonotoneFit {
    /// Sum over levels of plays·value².
    pub(super) explained: f64,
    pub(super) blocks: Vec<Block>,
}

/// Consecutive levels with one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    /// The first level with losses.
    first: usize,
    sum: LossSum,
}

impl Block {
    fn mean(&self) -> f64 {
        self.sum.sum / self.sum.plays
    }
}

impl MonotoneFit {
    /// The value at a level: that of the last block that begins there or before, or of the first block.
    pub(super) fn value(&self, level: usize) -> Option<f64> {
        self.block(level).map(Block::mean)
    }

    /// The number of losses of that block.
    pub(super) fn plays(&self, level: usize) -> f64 {
        self.block(level).map_or(0.0, |block| block.sum.plays)
    }

    fn block(&self, level: usize) -> Option<&Block> {
        let after = self.blocks.partition_point(|block| block.first <= level);
        self.blocks.get(after.saturating_sub(1))
    }
}

/// The monotone curve with the least squared error. Levels without losses are passed over.
pub(super) fn monotone(levels: &[LossSum]) -> MonotoneFit {
    let rising = pool(levels, |before, after| before > after);
    let falling = pool(levels, |before, after| before < after);
    if rising.explained > falling.explained { rising } else { falling }
}

fn pool(levels: &[LossSum], violates: impl Fn(f64, f64) -> bool) -> MonotoneFit {
    let mut blocks: Vec<Block> = Vec::new();
    for (level, &sum) in levels.iter().enumerate().filter(|(_, sum)| sum.plays > 0.0) {
        let mut last = Block { first: level, sum };
        while let Some(before) = blocks.last().filter(|before| violates(before.mean(), last.mean())) {
            let sum = LossSum { plays: before.sum.plays + last.sum.plays, sum: before.sum.sum + last.sum.sum };
            last = Block { first: before.first, sum };
            blocks.pop();
        }
        blocks.push(last);
    }
    // Equal neighbours are one value of the curve.
    blocks.dedup_by(|block, before| {
        let equal = block.mean() == before.mean();
        if equal {
            before.sum.plays += block.sum.plays;
            before.sum.sum += block.sum.sum;
        }
        equal
    });
    let explained = blocks.iter().map(|block| block.sum.sum * block.sum.sum / block.sum.plays).sum();
    MonotoneFit { explained, blocks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    use crate::StreamKey;

    /// The max-min formula of isotonic regression (Robertson, Wright and Dykstra 1988, theorem 1.4.4): the value at i
    /// is the largest over s <= i of the least over t >= i of the mean of levels s to t.
    fn by_max_min(levels: &[LossSum]) -> Vec<f64> {
        let mean = |s: usize, t: usize| {
            let (plays, sum) = levels[s..=t].iter().fold((0.0, 0.0), |(n, y), level| (n + level.plays, y + level.sum));
            sum / plays
        };
        (0..levels.len())
            .map(|i| {
                let least = |s: usize| (i..levels.len()).map(|t| mean(s, t)).fold(f64::INFINITY, f64::min);
                (0..=i).map(least).fold(f64::NEG_INFINITY, f64::max)
            })
            .collect()
    }

    #[test]
    fn pooling_gives_the_max_min_formula_in_both_directions() {
        let mut stream = StreamKey::new(3, "isotonic", 0).noise();
        for _ in 0..300 {
            let count = 1 + (stream.random::<f64>() * 8.0) as usize;
            let levels: Vec<LossSum> = (0..count)
                .map(|_| {
                    let plays = 1.0 + (stream.random::<f64>() * 5.0).floor();
                    LossSum { plays, sum: (stream.random::<f64>() * plays * 4.0).round() }
                })
                .collect();
            let explained = |values: &[f64]| -> f64 {
                levels.iter().zip(values).map(|(level, value)| level.plays * value * value).sum()
            };
            let rising = by_max_min(&levels);
            let mirrored: Vec<LossSum> =
                levels.iter().map(|level| LossSum { plays: level.plays, sum: -level.sum }).collect();
            let falling: Vec<f64> = by_max_min(&mirrored).iter().map(|value| -value).collect();
            let fit = monotone(&levels);
            let best = if explained(&rising) > explained(&falling) { &rising } else { &falling };
            assert!((fit.explained - explained(best)).abs() < 1e-9);
            for (level, value) in best.iter().enumerate() {
                assert!((fit.value(level).unwrap() - value).abs() < 1e-9, "{levels:?} {fit:?}");
            }
        }
    }

    #[test]
    fn levels_without_losses_take_their_value_from_below() {
        let level = |plays: f64, sum: f64| LossSum { plays, sum };
        let fit = monotone(&[level(0.0, 0.0), level(2.0, 2.0), level(0.0, 0.0), level(1.0, 3.0)]);
        let values: Vec<_> = (0..5).map(|level| fit.value(level).unwrap()).collect();
        assert_eq!(values, [1.0, 1.0, 1.0, 3.0, 3.0]);
        assert_eq!(monotone(&[]).value(0), None);
    }
}
