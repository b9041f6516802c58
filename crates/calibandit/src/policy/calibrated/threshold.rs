//! The evidence, in nats, at which an arm is ruled out.
//!
//! All thresholds lie between `0.5·ln(1 + x/DISCOUNT)` and `ln(1 + x)`, where x is the prospect of the arm; the proof
//! in docs/calibrated.md needs no other property.

use super::tuning::Tuning;
use crate::math;

/// The least threshold is `0.5·ln(1 + x/DISCOUNT)`. The factor 0.5 is the least for which regret of order sqrt(K·T) can
/// be shown; a larger discount means less exploration. Chosen by experiment.
pub(super) const DISCOUNT: f64 = 80.0;
/// Lai's factor for the index `cautious`, chosen by experiment.
const LAI: f64 = 3.0;

/// The threshold of Lai (1987) for a known horizon, with this factor.
fn lai(x: f64, factor: f64) -> f64 {
    math::ln_1p(x / (factor * (1.0 + math::ln_1p(x)).sqrt()))
}

/// The least threshold that the proof allows.
fn least(x: f64) -> f64 {
    0.5 * math::ln_1p(x / DISCOUNT)
}

/// The threshold of the index `cautious`.
pub(super) fn cautious(x: f64) -> f64 {
    lai(x, LAI)
}

/// The threshold of the index `empirical-bayes` for an arm with these prior odds: that of Lai for as many times the
/// prospect as the odds say, but at least what the proof needs.
pub(super) fn empirical_bayes(x: f64, odds: f64, tuning: &Tuning) -> f64 {
    let threshold = lai(x * odds, tuning.caution);
    // The logarithm is below its argument, so that the least threshold is seldom needed.
    if threshold >= 0.5 / DISCOUNT * x { threshold } else { threshold.max(least(x)) }
}

/// The threshold of the index `challenge`, the former default. `n` is the number of recorded plays of the arm, and
/// `deficit` the average number of plays of the explored arms divided by n.
pub(super) fn challenge(x: f64, n: f64, deficit: f64) -> f64 {
    let floor = (FLOOR_SLOPE * math::ln_1p(x)).min(FLOOR);
    let base = least(x).max(floor);
    // Squared and to the fourth power, so that samples of moderate size are hardly affected.
    let doubt = math::powi(SMALL_SAMPLE / n, 2) + math::powi(n / LONG_CONTEST, 4);
    let by_size = base.max(lai(x, LAI).min(base * (1.0 + doubt)));
    let by_deficit = lai(x, 1.0).min(by_size + math::ln_1p(deficit / DEFICIT));
    by_size.max(by_deficit)
}

/// The threshold of an arm with few plays compared with what is left is at least this many nats. Chosen by experiment.
const FLOOR: f64 = 1.8;
/// The floor is reached with this slope in `ln(1 + x)`, so that it vanishes as the game ends. Chosen by experiment.
const FLOOR_SLOPE: f64 = 0.6;
/// Below about this sample size the threshold is raised: a few bad losses must not rule out the best arm.
const SMALL_SAMPLE: f64 = 38.0;
/// Above about this sample size the threshold is raised as well: an arm still undecided is close to the leader, so
/// eliminating it wrongly is likely and keeping it is cheap.
const LONG_CONTEST: f64 = 400.0;
/// The threshold is raised for an arm with about this many times fewer plays than the other explored arms have on
/// average: further plays of it cost little compared with what was already spent.
const DEFICIT: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_lie_within_the_bounds_of_the_proof() {
        for x in [0.0, 0.1, 1.0, 10.0, 1e3, 1e6] {
            let bounds = 0.5 * (x / DISCOUNT).ln_1p()..=x.ln_1p();
            assert!(bounds.contains(&cautious(x)), "x {x}");
            for n in [1.0, 10.0, 100.0, 1e5] {
                for deficit in [0.0, 0.5, 10.0, 1e4] {
                    assert!(bounds.contains(&challenge(x, n, deficit)), "x {x}, n {n}, {deficit}");
                }
            }
            for caution in [1.0, 3.0, 1e12] {
                for odds in [1e-9, 0.1, 1.0] {
                    let threshold = empirical_bayes(x, odds, &Tuning::default().caution(caution));
                    assert!(bounds.contains(&threshold), "x {x}, odds {odds}, {caution}");
                }
            }
        }
    }

    #[test]
    fn the_threshold_is_zero_when_no_plays_are_left() {
        assert_eq!((cautious(0.0), challenge(0.0, 50.0, 3.0)), (0.0, 0.0));
        assert_eq!(empirical_bayes(0.0, 1.0, &Tuning::default()), 0.0);
    }

    /// Without a crowd the threshold is that of `cautious`; with one it falls with the odds.
    #[test]
    fn the_threshold_grows_with_the_odds() {
        let tuning = Tuning::default();
        for x in [1.0, 100.0, 1e5] {
            assert_eq!(empirical_bayes(x, 1.0, &tuning), cautious(x).max(least(x)));
            let falling = [1.0, 0.3, 0.1, 0.01].map(|odds| empirical_bayes(x, odds, &tuning));
            assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
        }
    }

    #[test]
    fn the_former_threshold_is_higher_for_small_and_for_long_undecided_samples() {
        assert!(challenge(1e4, 16.0, 1.0) > 1.5 * challenge(1e4, 100.0, 1.0));
        assert!(challenge(1e4, 800.0, 1.0) > 1.5 * challenge(1e4, 100.0, 1.0), "a long undecided sample");
        assert!(challenge(1e4, 100.0, 100.0) > 1.5 * challenge(1e4, 100.0, 1.0), "an arm with few plays");
    }
}
