//! The least sum of future losses of an arm whose losses fall no faster than they just did.

/// The sum of max(0, loss - s·fall) over s = 1, ..., plays, in closed form. Losses are at least 0; a loss below that
/// stays what it is, and so does a loss that does not fall.
pub(super) fn optimistic_sum(loss: f64, fall: f64, plays: u64) -> f64 {
    if !(fall > 0.0 && loss > 0.0) {
        return plays as f64 * loss;
    }
    // The number of plays until the loss is 0; the conversion saturates.
    let falling = plays.min((loss / fall).floor() as u64) as f64;
    falling * loss - fall * falling * (falling + 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_sum() {
        for (loss, fall, plays) in [(0.7, 0.1, 3), (0.7, 0.1, 50), (0.5, 0.013, 30), (0.5, 0.013, 300), (0.9, 2.0, 7)] {
            let sum: f64 = (1..=plays).map(|s: u64| f64::max(0.0, loss - s as f64 * fall)).sum();
            assert!((optimistic_sum(loss, fall, plays) - sum).abs() < 1e-12);
        }
        assert_eq!(optimistic_sum(0.5, 0.0, 10), 5.0);
        assert_eq!(optimistic_sum(0.5, -0.1, 10), 5.0);
        assert_eq!(optimistic_sum(-0.5, 0.1, 10), -5.0);
        assert!(optimistic_sum(f64::NAN, 0.1, 10).is_nan());
    }
}
