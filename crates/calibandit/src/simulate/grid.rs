//! The times at which a trajectory is recorded.

/// A horizon and the checkpoints up to it. The horizon itself is always the last checkpoint.
///
/// ```
/// use calibandit::Grid;
/// assert_eq!(Grid::linear(1000, 4).times()?, [250, 500, 750, 1000]);
/// assert_eq!(Grid::logarithmic(1000, 4).times()?, [1, 10, 100, 1000]);
/// assert_eq!(Grid::at(1000, [10, 500]).times()?, [10, 500, 1000]);
/// # Ok::<(), calibandit::GridError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    horizon: u64,
    points: Points,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Points {
    Linear(usize),
    Logarithmic(usize),
    Given(Vec<u64>),
}

/// What can be wrong with a horizon and its checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// The horizon is 0.
    #[error("the horizon is 0: there must be at least one play")]
    NoHorizon,
    /// No checkpoints.
    #[error("0 checkpoints were asked for: there must be at least one")]
    NoPoints,
    /// A checkpoint outside 1..=horizon.
    #[error("checkpoint {time} is not between 1 and the horizon {horizon}")]
    Outside {
        /// The checkpoint.
        time: u64,
        /// The horizon.
        horizon: u64,
    },
}

impl Grid {
    /// The horizon alone.
    pub fn end(horizon: u64) -> Self {
        Self::linear(horizon, 1)
    }

    /// This many checkpoints, evenly spaced.
    pub fn linear(horizon: u64, points: usize) -> Self {
        Self { horizon, points: Points::Linear(points) }
    }

    /// Up to this many checkpoints from 1 on, each about the same factor after the one before.
    pub fn logarithmic(horizon: u64, points: usize) -> Self {
        Self { horizon, points: Points::Logarithmic(points) }
    }

    /// These checkpoints, in any order.
    pub fn at(horizon: u64, times: impl Into<Vec<u64>>) -> Self {
        Self { horizon, points: Points::Given(times.into()) }
    }

    /// The number of plays.
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The checkpoints: increasing, without repetition, ending with the horizon.
    pub fn times(&self) -> Result<Vec<u64>, GridError> {
        let horizon = self.horizon;
        if horizon == 0 {
            return Err(GridError::NoHorizon);
        }
        let mut times = match &self.points {
            Points::Linear(0) | Points::Logarithmic(0) => return Err(GridError::NoPoints),
            Points::Linear(points) => {
                // In 128 bits, so that no horizon overflows.
                let at = |i| (u128::from(horizon) * i as u128 / *points as u128) as u64;
                (1..=*points).map(at).filter(|&t| t > 0).collect()
            }
            Points::Logarithmic(1) => vec![],
            Points::Logarithmic(points) => {
                let step = (horizon as f64).ln() / (*points - 1) as f64;
                (0..*points).map(|i| ((step * i as f64).exp().round() as u64).clamp(1, horizon)).collect()
            }
            Points::Given(times) => {
                if let Some(&time) = times.iter().find(|&&time| time == 0 || time > horizon) {
                    return Err(GridError::Outside { time, horizon });
                }
                times.clone()
            }
        };
        times.push(horizon);
        times.sort_unstable();
        times.dedup();
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_end_with_the_horizon_and_never_leave_it() {
        for horizon in [1, 2, 3, 7, 1000, 1_000_000_000_000, u64::MAX] {
            for points in [1, 2, 3, 100] {
                for grid in [Grid::linear(horizon, points), Grid::logarithmic(horizon, points)] {
                    let times = grid.times().unwrap();
                    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{grid:?}: {times:?}");
                    assert_eq!(times.last(), Some(&horizon));
                    assert!(times[0] >= 1 && times.len() <= points + 1);
                }
            }
        }
    }

    #[test]
    fn impossible_grids_are_refused() {
        assert_eq!(Grid::end(0).times(), Err(GridError::NoHorizon));
        assert_eq!(Grid::linear(5, 0).times(), Err(GridError::NoPoints));
        assert_eq!(Grid::at(5, [6]).times(), Err(GridError::Outside { time: 6, horizon: 5 }));
        assert_eq!(Grid::at(5, [0]).times(), Err(GridError::Outside { time: 0, horizon: 5 }));
    }
}
