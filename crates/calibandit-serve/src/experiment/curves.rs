//! Losses by position: the warm-up curve of an arm as it was observed.

use calibandit::Feedback;

/// At most this many positions are kept per arm.
const MOST_POSITIONS: usize = 1024;

/// The losses of one arm, by the number of plays in a row.
#[derive(Clone, Debug)]
pub(super) struct LossByPosition {
    most: usize,
    /// From position 1 on.
    sums: Vec<Feedback>,
}

impl LossByPosition {
    /// Positions up to 4 times the memory bound are kept, and at least 16.
    pub(super) fn new(burn_in: u64) -> Self {
        let most = usize::try_from(burn_in.saturating_add(1).saturating_mul(4)).unwrap_or(MOST_POSITIONS);
        Self { most: most.clamp(16, MOST_POSITIONS), sums: Vec::new() }
    }

    pub(super) fn add(&mut self, position: u64, loss: f64) {
        let Some(index) = usize::try_from(position).ok().and_then(|position| position.checked_sub(1)) else { return };
        if index >= self.most {
            return;
        }
        if self.sums.len() <= index {
            self.sums.resize(index + 1, Feedback::default());
        }
        self.sums[index] += Feedback::one(loss);
    }

    /// The positions with losses, from 1 on.
    pub(super) fn positions(&self) -> impl Iterator<Item = (u64, Feedback)> + '_ {
        let numbered = self.sums.iter().enumerate().map(|(index, sum)| (index as u64 + 1, *sum));
        numbered.filter(|(_, sum)| sum.plays > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_added_by_position_up_to_the_last_one_kept() {
        let mut curve = LossByPosition::new(7);
        for (position, loss) in [(1, 1.0), (1, 0.5), (32, 0.25), (33, 0.0), (u64::MAX, 0.0), (0, 0.0)] {
            curve.add(position, loss);
        }
        let positions: Vec<(u64, u64, f64)> = curve.positions().map(|(at, sum)| (at, sum.plays, sum.mean())).collect();
        assert_eq!(positions, [(1, 2, 0.75), (32, 1, 0.25)]);
    }
}
