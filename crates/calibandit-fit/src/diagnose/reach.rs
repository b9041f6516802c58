//! The noise of an arm, and its reach: the longest memory that the runs of a log can speak of.

use super::cells::Cells;
use super::runs::ArmRun;

/// Numbers of losses, in units of (sd / tolerance)²: with so many, a mean has a standard error of this part of the
/// tolerance.
const COMFORTABLE: f64 = 50.0; // a seventh
const REACHING: f64 = 16.0; // a quarter
const SUFFICIENT: f64 = 8.0; // a third

/// No comparison rests on fewer losses,
pub(super) const LEAST_PLAYS: f64 = 30.0;

/// or on fewer runs.
pub(super) const LEAST_RUNS: usize = 5;

/// How many losses comparisons need. Fewer would not make the test wrong: it would hardly ever pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EnoughPlays {
    /// A window of positions is not made wider than this needs,
    pub(super) comfortable: f64,
    /// memories are within the reach with this,
    pub(super) reaching: f64,
    /// and a window with less is not used.
    pub(super) sufficient: f64,
}

impl EnoughPlays {
    pub(super) fn new(sd: f64, tolerance: f64) -> Self {
        let plays = |constant: f64| (constant * (sd / tolerance).powi(2)).max(LEAST_PLAYS);
        Self { comfortable: plays(COMFORTABLE), reaching: plays(REACHING), sufficient: plays(SUFFICIENT) }
    }
}

/// The standard deviation of a loss around the mean of its position in a run.
pub(super) fn noise_sd(losses: &[f64], runs: &[ArmRun]) -> f64 {
    let Some(longest) = runs.iter().map(|run| run.plays).max() else { return 0.0 };
    let cells = Cells::below(longest.saturating_add(1));
    let mut sums = vec![(0.0_f64, 0.0_f64, 0.0_f64); cells.len()];
    // Deviations from one loss: squares of losses far from 0 would lose their digits.
    let origin = runs.iter().flat_map(|run| &losses[run.range()]).copied().find(|loss| !loss.is_nan()).unwrap_or(0.0);
    for run in runs {
        let mut cell = 0;
        for (position, &loss) in (1..).zip(&losses[run.range()]) {
            if position > cells.last(cell) {
                cell += 1;
            }
            if !loss.is_nan() {
                let (n, sum, squares) = &mut sums[cell];
                let deviation = loss - origin;
                *n += 1.0;
                *sum += deviation;
                *squares += deviation * deviation;
            }
        }
    }
    let (mut squares, mut freedom) = (0.0, 0.0);
    for &(n, sum, sum_sq) in sums.iter().filter(|cell| cell.0 > 1.0) {
        squares += (sum_sq - sum * sum / n).max(0.0);
        freedom += n - 1.0;
    }
    if freedom > 0.0 { (squares / freedom).sqrt() } else { 0.0 }
}

/// The largest R up to `longest` (if it is given) for which there are enough plays at positions from R on, and enough
/// plays at positions from R/2 to R of runs that rested at least R plays; 0 if there are too few plays for anything.
///
/// If no arm remembers more than R plays, plays after such a rest are those of a rested arm, and plays at positions
/// from R on are those of a calibrated arm.
pub(super) fn reach(runs: &[ArmRun], enough: f64, longest: Option<u32>) -> u32 {
    let Some(most) = runs.iter().map(|run| run.plays).max() else { return 0 };
    let cells = Cells::below(most.saturating_add(1));
    let mut candidates: Vec<u32> = (0..cells.len()).map(|cell| cells.first(cell)).collect();
    if let Some(longest) = longest.filter(|&longest| longest <= most)
        && let Err(place) = candidates.binary_search(&longest)
    {
        candidates.insert(place, longest);
    }
    // Plays at positions from R on; plays before, and runs with such plays, of rested runs.
    let mut counts = vec![(0.0_f64, 0.0_f64, 0_usize); candidates.len()];
    for run in runs {
        for (&candidate, (after, before, rested)) in candidates.iter().zip(&mut counts) {
            let half = candidate.div_ceil(2);
            if half > run.plays {
                break;
            }
            if candidate <= run.plays {
                *after += f64::from(run.plays - candidate + 1);
            }
            if run.rest >= candidate && candidate > 1 {
                *before += f64::from(run.plays.min(candidate - 1) + 1 - half);
                *rested += 1;
            }
        }
    }
    let reached = |&(&candidate, &(after, before, rested)): &(&u32, &(f64, f64, usize))| {
        after >= enough && (candidate == 1 || (before >= enough && rested >= LEAST_RUNS))
    };
    candidates.iter().zip(&counts).rev().find(reached).map_or(0, |(&candidate, _)| candidate)
}

#[cfg(test)]
mod tests {
    use super::super::runs::RESTED;
    use super::*;
    use proptest::prelude::*;

    fn run(plays: u32, rest: u32) -> ArmRun {
        ArmRun { start: 0, plays, rest, unit: 0 }
    }

    /// The definition, position by position.
    fn by_definition(runs: &[ArmRun], enough: f64, candidate: u32) -> bool {
        let (mut after, mut before, mut rested) = (0.0, 0.0, 0);
        for run in runs {
            let mut any = false;
            for position in 1..=run.plays {
                after += f64::from(u8::from(position >= candidate));
                if run.rest >= candidate && 2 * position >= candidate && position < candidate {
                    before += 1.0;
                    any = true;
                }
            }
            rested += usize::from(any);
        }
        after >= enough && (candidate == 1 || (before >= enough && rested >= LEAST_RUNS))
    }

    proptest! {
        #[test]
        fn the_reach_is_that_of_the_definition(
            runs in prop::collection::vec((1_u32..40, prop_oneof![0_u32..50, Just(RESTED)]), 1..40),
            enough in 1.0_f64..60.0,
        ) {
            let runs: Vec<ArmRun> = runs.into_iter().map(|(plays, rest)| run(plays, rest)).collect();
            let most = runs.iter().map(|run| run.plays).max().unwrap();
            let cells = Cells::below(most + 1);
            let starts: Vec<u32> = (0..cells.len()).map(|cell| cells.first(cell)).collect();
            let largest = starts.iter().rev().copied().find(|&r| by_definition(&runs, enough, r)).unwrap_or(0);
            prop_assert_eq!(reach(&runs, enough, None), largest);
        }

        #[test]
        fn more_calibrated_plays_never_lower_the_reach(
            runs in prop::collection::vec((1_u32..40, 0_u32..50), 1..30),
            more in 1_u32..50,
        ) {
            let mut runs: Vec<ArmRun> = runs.into_iter().map(|(plays, rest)| run(plays, rest)).collect();
            let before = reach(&runs, 30.0, None);
            runs.push(run(before.saturating_add(more), 0));
            prop_assert!(reach(&runs, 30.0, None) >= before);
        }
    }

    #[test]
    fn the_noise_is_taken_around_the_mean_of_each_position() {
        // Losses 1, 0 at the first play of two runs and 5, 5 at the second: the variance is 0.5 with one degree of
        // freedom and 0 with one.
        let runs = [ArmRun { start: 0, plays: 2, rest: 0, unit: 0 }, ArmRun { start: 2, plays: 2, rest: 0, unit: 0 }];
        let sd = noise_sd(&[1.0, 5.0, 0.0, 5.0], &runs);
        assert!((sd - 0.5).abs() < 1e-12, "{sd}");
        assert_eq!(noise_sd(&[], &[]), 0.0);
    }

    #[test]
    fn a_position_between_two_cells_is_tried_if_it_is_the_longest_memory() {
        let runs = vec![run(100, RESTED); 60];
        assert_eq!(reach(&runs, 1000.0, None), 81);
        assert_eq!(reach(&runs, 1000.0, Some(83)), 83);
    }
}
