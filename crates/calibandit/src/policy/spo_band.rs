//! The best future of a single-peaked arm that agrees with its noisy losses so far, in closed form.
//!
//! Observed losses l_1, ..., l_n lie within a band: L_k = l_k - band, U_k = l_k + band, both cut to [0, 1]. The
//! question of SPO is whether some non-increasing convex v has L <= v <= U, and if so, how low its next values can be.
//! It needs no linear program. With the lines through (i, U_i) and (j, L_j), i < j < n,
//!
//! ```text
//! y = max(0, L_n, the greatest of those lines at n)         the least possible v_n
//! v exists  if and only if  y <= min U, and every U_k is at least the greatest of the lines before it at k
//! d = min over i < n of (U_i - y)/(n - i)                   how fast it can still fall: no faster than before
//! ```
//!
//! For each j only its flattest line counts, whose slope does not depend on n. So each play costs a search for two
//! tangents of the lower hull of the points (k, U_k), and a look at the lines that can still be the greatest.

use super::history::{StateError, ensure};

/// What the band of an arm's losses says about its future.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct LossBand {
    /// The number of losses.
    plays: u64,
    /// Whether no v exists: the arm is past its peak.
    fallen: bool,
    /// The least U so far.
    least_upper: f64,
    /// The lower hull of the points (k, U_k): the corners, in order.
    hull: Vec<(u64, f64)>,
    /// Lines that can be the greatest from here on: (j, L_j, slope), in order of j.
    lines: Vec<(u64, f64, f64)>,
    /// y.
    value: f64,
    /// d.
    fall: f64,
}

/// The slope from a point of the hull to the point (n, value): the change of the loss per play.
fn slope((at, upper): (u64, f64), n: u64, value: f64) -> f64 {
    (value - upper) / (n - at) as f64
}

impl LossBand {
    pub(super) fn new() -> Self {
        Self { plays: 0, fallen: false, least_upper: 1.0, hull: vec![], lines: vec![], value: 0.0, fall: 0.0 }
    }

    /// y and d, or the value of a fallen arm and no fall.
    pub(super) fn future(&self) -> (f64, f64) {
        (self.value, self.fall)
    }

    /// Learns the next loss.
    pub(super) fn learn(&mut self, loss: f64, band: f64) {
        let (lower, upper) = ((loss - band).clamp(0.0, 1.0), (loss + band).clamp(0.0, 1.0));
        self.plays += 1;
        self.least_upper = self.least_upper.min(upper);
        let n = self.plays;
        if !self.fallen {
            let line_at = |&(at, value, slope): &(u64, f64, f64)| value + slope * (n - at) as f64;
            let greatest = self.lines.iter().map(line_at).fold(0.0, f64::max);
            let value = lower.max(greatest);
            self.fallen = !(value <= self.least_upper && greatest <= upper);
            self.value = value;
            self.fall = self.tangent(n, value).map_or(0.0, |slope| (-slope).max(0.0));
        }
        if self.fallen {
            self.value = lower;
            self.fall = 0.0;
            self.hull = Vec::new();
            self.lines = Vec::new();
        } else {
            if let Some(slope) = self.tangent(n, lower) {
                self.push_line(n, lower, slope);
            }
            self.push_corner(n, upper);
        }
    }

    /// The greatest slope from the points before n to (n, value): that of the tangent of the hull.
    fn tangent(&self, n: u64, value: f64) -> Option<f64> {
        // The slopes from the corners of a convex chain rise towards the tangent and fall after it.
        let (mut low, mut high) = (0, self.hull.len().checked_sub(1)?);
        while low < high {
            let middle = (low + high) / 2;
            let (here, next) = (slope(self.hull[middle], n, value), slope(self.hull[middle + 1], n, value));
            if here < next { low = middle + 1 } else { high = middle }
        }
        Some(slope(self.hull[low], n, value))
    }

    fn push_corner(&mut self, n: u64, upper: f64) {
        while let [.., first, second] = self.hull[..] {
            // The second corner is above the segment from the first to the new point, or on it.
            if slope(first, second.0, second.1) < slope(first, n, upper) {
                break;
            }
            self.hull.pop();
        }
        self.hull.push((n, upper));
    }

    /// Keeps the lines that are the greatest somewhere from here on: a line that is now below a flatter one stays
    /// below.
    fn push_line(&mut self, n: u64, value: f64, new: f64) {
        let now = |&(at, value, slope): &(u64, f64, f64)| value + slope * (n - at) as f64;
        if self.lines.iter().any(|line| now(line) >= value && line.2 >= new) {
            return;
        }
        self.lines.retain(|line| !(now(line) <= value && line.2 <= new));
        self.lines.push((n, value, new));
    }

    pub(super) fn check_restored(&self, plays: u64) -> Result<(), StateError> {
        ensure(self.plays == plays, "the losses of an arm differ from its plays")?;
        let unit = |value: f64| (0.0..=1.0).contains(&value);
        ensure(unit(self.least_upper) && unit(self.value), "the value of an arm is out of range")?;
        ensure((0.0..=1.0).contains(&self.fall), "the fall of an arm is out of range")?;
        let before = |at: u64| at >= 1 && at <= plays;
        let corners = self.hull.iter().all(|&(at, upper)| before(at) && unit(upper));
        ensure(corners && self.hull.windows(2).all(|pair| pair[0].0 < pair[1].0), "the hull of an arm is damaged")?;
        let lines = |&(at, value, slope): &(u64, f64, f64)| before(at) && unit(value) && slope.abs() <= 1.0;
        let ordered = self.lines.windows(2).all(|pair| pair[0].0 < pair[1].0);
        ensure(ordered && self.lines.iter().all(lines), "the lines of an arm are damaged")?;
        let last = self.hull.last().map(|corner| corner.0);
        let ends = if self.fallen || plays == 0 { last.is_none() } else { last == Some(plays) };
        let empty = !self.hull.is_empty() || self.lines.is_empty();
        ensure(ends && empty, "the hull of an arm does not fit its plays")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;
    use rand::RngExt;

    /// The closed form as it is written, by all pairs of points.
    fn by_pairs(lower: &[f64], upper: &[f64]) -> Option<(f64, f64)> {
        let n = lower.len() - 1;
        let line = |i: usize, j: usize, at: usize| upper[i] + (lower[j] - upper[i]) * (at - i) as f64 / (j - i) as f64;
        let greatest = |at: usize| {
            let pairs = (0..at).flat_map(|j| (0..j).map(move |i| (i, j)));
            pairs.map(|(i, j)| line(i, j, at)).fold(0.0, f64::max)
        };
        let y = lower[n].max(greatest(n));
        let least = upper.iter().copied().fold(1.0, f64::min);
        let convex = (0..=n).all(|k| greatest(k) <= upper[k]);
        let fall = (0..n).map(|i| (upper[i] - y) / (n - i) as f64).reduce(f64::min).unwrap_or(0.0);
        (y <= least && convex).then_some((y, fall))
    }

    #[test]
    fn the_closed_form_is_that_over_all_pairs() {
        let mut draws = StreamKey::new(1, "band", 0).noise();
        let (mut alive, mut fallen) = (0, 0);
        for case in 0..400 {
            let band = [0.02, 0.1, 0.3][case % 3];
            let rate: f64 = draws.random();
            let mut arm = LossBand::new();
            let (mut lower, mut upper) = (vec![], vec![]);
            for play in 0..40u32 {
                let noise: f64 = draws.random();
                let loss = 0.9 * (-0.1 * rate * f64::from(play)).exp() + 1.1 * band * (2.0 * noise - 1.0);
                arm.learn(loss, band);
                lower.push((loss - band).clamp(0.0, 1.0));
                upper.push((loss + band).clamp(0.0, 1.0));
                match by_pairs(&lower, &upper) {
                    None => {
                        assert!(arm.fallen, "case {case}, play {play}");
                        fallen += 1;
                    }
                    Some((y, fall)) => {
                        alive += 1;
                        assert!(!arm.fallen, "case {case}, play {play}");
                        assert!((arm.value - y).abs() < 1e-9 && (arm.fall - fall).abs() < 1e-9, "case {case}");
                    }
                }
            }
        }
        assert!(alive > 2000 && fallen > 2000, "{alive} {fallen}");
    }

    /// A non-increasing convex sequence inside the band, found by search on a grid, never has a lower end than y, and
    /// some such sequence comes close to it.
    #[test]
    fn the_least_value_is_that_of_a_search() {
        let mut draws = StreamKey::new(2, "band", 0).noise();
        const STEPS: i32 = 40;
        let mut compared = 0;
        for _ in 0..60 {
            let mut arm = LossBand::new();
            let mut bounds = vec![];
            for play in 0..5u32 {
                let noise: f64 = draws.random();
                let loss = 0.8 - 0.1 * f64::from(play) + 0.15 * (2.0 * noise - 1.0);
                arm.learn(loss, 0.12);
                bounds.push(((loss - 0.12).max(0.0), (loss + 0.12).min(1.0)));
            }
            let within = |play: usize, step: i32| {
                let value = f64::from(step) / f64::from(STEPS);
                value >= bounds[play].0 - 1e-12 && value <= bounds[play].1 + 1e-12
            };
            // By value and fall of the last two plays: reachable or not.
            let mut reachable = vec![];
            for first in 0..=STEPS {
                for second in 0..=first {
                    if within(0, first) && within(1, second) {
                        reachable.push((second, first - second));
                    }
                }
            }
            for play in 2..5 {
                let mut next = vec![];
                for &(value, fall) in &reachable {
                    for smaller in 0..=fall.min(value) {
                        if within(play, value - smaller) {
                            next.push((value - smaller, smaller));
                        }
                    }
                }
                next.sort_unstable();
                next.dedup();
                reachable = next;
            }
            if let Some(&(least, _)) = reachable.first() {
                let least = f64::from(least) / f64::from(STEPS);
                assert!(!arm.fallen && arm.value <= least + 1e-9, "{} {least}", arm.value);
                assert!(arm.value > least - 8.0 / f64::from(STEPS), "{} {least}", arm.value);
                compared += 1;
            }
        }
        assert!(compared > 20, "{compared}");
    }
}
