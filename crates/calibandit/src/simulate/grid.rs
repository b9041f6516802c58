//! The times at which a trajectory is recorded.

use crate::math;

/// A horizon and the checkpoints up to it. The horizon itself is always the last checkpoint. A `Grid` is valid from its
/// construction on.
///
/// ```
/// use calibandit::Grid;
/// assert_eq!(Grid::linear(1000, 4)?.times(), [250, 500, 750, 1000]);
/// assert_eq!(Grid::logarithmic(1000, 4)?.times(), [1, 10, 100, 1000]);
/// assert_eq!(Grid::at(1000, [10, 500])?.times(), [10, 500, 1000]);
/// # Ok::<(), calibandit::GridError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Increasing; the last one is the horizon.
    times: Vec<u64>,
    horizon: u64,
}

/// Why a horizon or its checkpoints are invalid.
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
    /// The horizon as the only checkpoint.
    pub fn end(horizon: u64) -> Result<Self, GridError> {
        Self::at(horizon, [])
    }

    /// This many checkpoints, evenly spaced.
    pub fn linear(horizon: u64, points: usize) -> Result<Self, GridError> {
        if points == 0 {
            return Err(GridError::NoPoints);
        }
        // In 128 bits, so that no horizon overflows.
        let at = |i| (u128::from(horizon) * i as u128 / points as u128) as u64;
        Self::new(horizon, (1..=points).map(at).filter(|&t| t > 0).collect())
    }

    /// Up to this many checkpoints from 1 on, with a constant ratio between neighbours as far as integers allow.
    pub fn logarithmic(horizon: u64, points: usize) -> Result<Self, GridError> {
        match points {
            0 => return Err(GridError::NoPoints),
            1 => return Self::end(horizon),
            _ => {}
        }
        if horizon == 0 {
            return Err(GridError::NoHorizon);
        }
        let step = math::ln(horizon as f64) / (points - 1) as f64;
        let at = |i| (math::exp(step * i as f64).round() as u64).clamp(1, horizon);
        Self::new(horizon, (0..points).map(at).collect())
    }

    /// These checkpoints, in any order.
    pub fn at(horizon: u64, times: impl Into<Vec<u64>>) -> Result<Self, GridError> {
        Self::new(horizon, times.into())
    }

    fn new(horizon: u64, mut times: Vec<u64>) -> Result<Self, GridError> {
        if horizon == 0 {
            return Err(GridError::NoHorizon);
        }
        if let Some(&time) = times.iter().find(|&&time| time == 0 || time > horizon) {
            return Err(GridError::Outside { time, horizon });
        }
        times.push(horizon);
        times.sort_unstable();
        times.dedup();
        Ok(Self { times, horizon })
    }

    /// The number of plays.
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The checkpoints: increasing, without repetition, ending with the horizon.
    pub fn times(&self) -> &[u64] {
        &self.times
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
                    let grid = grid.unwrap();
                    let times = grid.times();
                    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{grid:?}");
                    assert_eq!(times.last(), Some(&horizon));
                    assert!(times[0] >= 1 && times.len() <= points + 1);
                }
            }
        }
    }

    #[test]
    fn invalid_grids_are_errors() {
        for empty in [Grid::end(0), Grid::linear(0, 3), Grid::logarithmic(0, 3), Grid::at(0, [])] {
            assert_eq!(empty, Err(GridError::NoHorizon));
        }
        assert_eq!(Grid::linear(5, 0), Err(GridError::NoPoints));
        assert_eq!(Grid::logarithmic(5, 0), Err(GridError::NoPoints));
        assert_eq!(Grid::at(5, [6]), Err(GridError::Outside { time: 6, horizon: 5 }));
        assert_eq!(Grid::at(5, [0]), Err(GridError::Outside { time: 0, horizon: 5 }));
    }
}
