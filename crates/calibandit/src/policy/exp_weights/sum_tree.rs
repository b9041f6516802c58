//! A tree of partial sums, in which a weight is found and changed in logarithmic time.

/// The number of children of a node.
const FAN: usize = 16;

/// Sums of [`FAN`] weights each, of as many of these sums each, and so on, until no more than [`FAN`] are left. Empty
/// when not in use.
///
/// A sum is always computed anew from its parts in the same order, never adjusted, so that no error builds up.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(in crate::policy) struct SumTree {
    levels: Vec<Vec<f64>>,
}

impl SumTree {
    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Computes all sums; returns the total.
    pub(in crate::policy) fn rebuild(&mut self, weights: &[f64]) -> f64 {
        self.levels.clear();
        let mut below = weights;
        let mut levels: Vec<Vec<f64>> = Vec::new();
        while below.len() > FAN {
            levels.push(below.chunks(FAN).map(sum).collect());
            below = levels.last().map_or(&[], Vec::as_slice);
        }
        let total = sum(below);
        self.levels = levels;
        total
    }

    /// Updates the sums that contain a weight that changed; returns the total.
    pub(in crate::policy) fn update(&mut self, position: usize, weights: &[f64]) -> f64 {
        let mut node = position / FAN;
        let mut below = weights;
        for level in &mut self.levels {
            let start = node * FAN;
            level[node] = sum(&below[start..below.len().min(start + FAN)]);
            node /= FAN;
            below = level;
        }
        sum(below)
    }

    /// The first position at which the sum of the weights up to it, itself included, is above `target`.
    pub(in crate::policy) fn find(&self, mut target: f64, weights: &[f64]) -> usize {
        let mut node = 0;
        for level in self.levels.iter().rev().map(Vec::as_slice).chain([weights]) {
            let start = node * FAN;
            let children = &level[start..level.len().min(start + FAN)];
            node = start + children.len() - 1; // the last one, if rounding leads past it
            for (child, weight) in children.iter().enumerate() {
                if target < *weight {
                    node = start + child;
                    break;
                }
                target -= weight;
            }
        }
        node
    }
}

/// Four interleaved sums, which a processor computes at once, then their sum.
fn sum(parts: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = parts.as_chunks::<4>();
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, part)| *sum += part);
    }
    sums.iter_mut().zip(rest).for_each(|(sum, part)| *sum += part);
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers as weights, so that every sum is exact and every target has one right answer.
    #[test]
    fn positions_agree_with_a_linear_search() {
        for arms in [17, 33, 256, 257, 1000, 5000] {
            let mut weights: Vec<f64> = (0..arms).map(|i| f64::from(i * 7919 % 5)).collect();
            let mut tree = SumTree::default();
            tree.rebuild(&weights);
            for round in 0..300usize {
                let changed = round * 7477 % weights.len();
                weights[changed] = ((round * 31) % 7) as f64;
                let total = tree.update(changed, &weights);
                assert_eq!(total, weights.iter().sum::<f64>());
                let mut anew = SumTree::default();
                assert_eq!(anew.rebuild(&weights), total);
                assert_eq!(anew, tree);
                for target in [0.0, total - 1.0, (total * round as f64 / 300.0).floor(), total * 0.37] {
                    let mut left = target;
                    let first = weights.iter().position(|weight| {
                        left -= weight;
                        left < 0.0
                    });
                    assert_eq!(Some(tree.find(target, &weights)), first, "{arms} arms, {target} of {total}");
                }
            }
        }
    }
}
