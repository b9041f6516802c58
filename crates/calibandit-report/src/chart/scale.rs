//! Axes: limits, positions of values, ticks and their labels.
//!
//! `scale_cases.json` holds the expected results.

use super::AxisScale;
use calibandit_experiment::format::{self, typographic};

/// A map from the values between `low` and `high` to the positions between `from` and `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mapping {
    pub(super) scale: AxisScale,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// A tick; a minor one has an empty label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// Bound on positions, in pixels: limits far inside the data must not overflow the numbers of a rasteriser.
const FAR: f64 = 1e5;

/// The greatest ratio between the limits of a log axis that are computed from data: a single value near zero must not
/// compress all others.
const LOG_RATIO: f64 = 1e8;

impl Mapping {
    /// The position of a value; `None` if it has none, as a negative value on a log axis.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let share = match self.scale {
            AxisScale::Linear => (value - self.low) / (self.high - self.low),
            AxisScale::Log if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            AxisScale::Log => return None,
        };
        let at = self.from + share * (self.to - self.from);
        at.is_finite().then(|| at.clamp(-FAR, FAR))
    }

    /// As [`place`](Self::place), but a value that is not positive is placed at the low end of a log axis. For the
    /// lower edge of a band.
    pub(super) fn place_or_low(&self, value: f64) -> Option<f64> {
        if self.scale == AxisScale::Log && value <= 0.0 { Some(self.from) } else { self.place(value) }
    }
}

/// The limits of an axis: `fixed` where they are usable, otherwise from the data.
///
/// With `from_zero`, a linear axis of data that are not negative starts at zero if the least value is below half of the
/// greatest. `pad` adds 4 % of the range at both ends, except at zero.
pub(super) fn limits(
    scale: AxisScale,
    fixed: (Option<f64>, Option<f64>),
    values: impl Iterator<Item = f64>,
    pad: bool,
    from_zero: bool,
) -> (f64, f64) {
    let usable = |value: &f64| value.is_finite() && (scale == AxisScale::Linear || *value > 0.0);
    let (mut low, mut high) = values
        .filter(usable)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        (low, high) = if scale == AxisScale::Log { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    match scale {
        AxisScale::Linear => {
            let zero = from_zero && low >= 0.0 && low < 0.5 * high;
            let room = if pad { 0.04 * (high - low) } else { 0.0 };
            low = if zero { 0.0 } else { low - room };
            high += room;
            if low == high {
                let half = if low == 0.0 { 0.5 } else { 0.1 * low.abs() };
                (low, high) = (low - half, high + half);
            }
        }
        AxisScale::Log => {
            low = low.max(high / LOG_RATIO);
            let room = if pad { (high / low).powf(0.04) } else { 1.0 };
            (low, high) = (low / room, high * room);
            if low == high {
                (low, high) = (low / 2.0, high * 2.0);
            }
        }
    }
    let low_fixed = fixed.0.filter(usable).unwrap_or(low);
    let high_fixed = fixed.1.filter(usable).unwrap_or(high);
    // Fixed limits that contradict each other or the data would reverse the axis.
    if low_fixed < high_fixed { (low_fixed, high_fixed) } else { (low, high) }
}

/// Ticks at round values; about `wanted` of them are labelled.
pub(super) fn ticks(scale: AxisScale, low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    match scale {
        AxisScale::Linear => linear_ticks(low, high, wanted),
        AxisScale::Log => log_ticks(low, high, wanted),
    }
}

/// Ticks at the values of a sweep, labelled with three significant digits.
pub(super) fn sweep_ticks(values: &[f64]) -> Vec<Tick> {
    let label = |at: f64| {
        if at == 0.0 {
            return "0".to_owned();
        }
        let unit = 10f64.powi(at.abs().log10().floor() as i32 - 2);
        let shown = (at / unit).round() * unit;
        tick_label(shown, shown.abs())
    };
    values.iter().map(|&at| Tick { at, label: label(at) }).collect()
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let rough = (high - low) / wanted.max(1) as f64;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|f| f * power).find(|s| *s >= rough * 0.999).unwrap_or(rough);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !(first.is_finite() && last.is_finite()) || last - first > 50.0 {
        return Vec::new();
    }
    (0..=(last - first) as i64)
        .map(|i| (first + i as f64) * step)
        .map(|at| Tick { at: at + 0.0, label: tick_label(at, step) })
        .collect()
}

fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |at: f64| at >= low * (1.0 - 1e-9) && at <= high * (1.0 + 1e-9);
    let decades = (first..=last).filter(|e| inside(10f64.powi(*e))).count();
    let every = decades.div_ceil(wanted.max(1)).max(1) as i32;
    let mut ticks = Vec::new();
    for exponent in first..=last {
        for digit in 1..=9 {
            let at = f64::from(digit) * 10f64.powi(exponent);
            if !inside(at) {
                continue;
            }
            // An axis of one or two decades has too few powers of ten: 2 and 5 are labelled as well.
            let labelled = match decades {
                0 => true,
                1 | 2 => matches!(digit, 1 | 2 | 5),
                _ => digit == 1 && exponent.rem_euclid(every) == 0,
            };
            // If only some powers of ten have a label, ticks between them are left out.
            if labelled || every == 1 || digit == 1 {
                ticks.push(Tick { at, label: if labelled { tick_label(at, at) } else { String::new() } });
            }
        }
    }
    ticks
}

/// The label of a tick, with as many decimals as multiples of `step` need.
fn tick_label(value: f64, step: f64) -> String {
    typographic(&format::tick(value, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// `scale_cases.json`.
    #[derive(Deserialize)]
    struct Cases {
        limits: Vec<LimitsCase>,
        places: Vec<PlaceCase>,
        ticks: Vec<TicksCase>,
        sweep_ticks: Vec<SweepCase>,
        tick_labels: Vec<LabelCase>,
    }

    #[derive(Deserialize)]
    struct LimitsCase {
        scale: AxisScale,
        min: Option<f64>,
        max: Option<f64>,
        values: Vec<Option<f64>>,
        #[serde(default)]
        pad: bool,
        #[serde(default)]
        from_zero: bool,
        limits: (f64, f64),
    }

    #[derive(Deserialize)]
    struct PlaceCase {
        scale: AxisScale,
        limits: (f64, f64),
        span: (f64, f64),
        value: Option<f64>,
        at: Option<f64>,
    }

    #[derive(Deserialize)]
    struct TicksCase {
        scale: AxisScale,
        limits: (f64, f64),
        wanted: usize,
        labels: Vec<String>,
        count: usize,
    }

    #[derive(Deserialize)]
    struct SweepCase {
        values: Vec<f64>,
        labels: Vec<String>,
    }

    #[derive(Deserialize)]
    struct LabelCase {
        value: f64,
        step: f64,
        text: String,
    }

    fn cases() -> Cases {
        serde_json::from_str(include_str!("scale_cases.json")).unwrap()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
    }

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn limits_follow_the_data_unless_they_are_fixed() {
        for (nth, case) in cases().limits.into_iter().enumerate() {
            let values = case.values.into_iter().map(|value| value.unwrap_or(f64::NAN));
            let (low, high) = limits(case.scale, (case.min, case.max), values, case.pad, case.from_zero);
            assert!(near(low, case.limits.0) && near(high, case.limits.1), "limits[{nth}]: {low} and {high}");
        }
    }

    #[test]
    fn values_have_the_expected_positions() {
        for (nth, case) in cases().places.into_iter().enumerate() {
            let ((low, high), (from, to)) = (case.limits, case.span);
            let at = Mapping { scale: case.scale, low, high, from, to }.place(case.value.unwrap_or(f64::NAN));
            let same = at.is_some() == case.at.is_some() && at.zip(case.at).is_none_or(|(one, other)| near(one, other));
            assert!(same, "places[{nth}]: {at:?}");
        }
    }

    #[test]
    fn ticks_are_at_round_values() {
        for (nth, case) in cases().ticks.into_iter().enumerate() {
            let ticks = ticks(case.scale, case.limits.0, case.limits.1, case.wanted);
            assert_eq!(labels(&ticks), case.labels, "ticks[{nth}]");
            assert_eq!(ticks.len(), case.count, "ticks[{nth}]");
        }
    }

    #[test]
    fn sweep_ticks_are_at_the_values_with_three_digits() {
        for (nth, case) in cases().sweep_ticks.into_iter().enumerate() {
            assert_eq!(labels(&sweep_ticks(&case.values)), case.labels, "sweep_ticks[{nth}]");
        }
    }

    #[test]
    fn tick_labels_have_the_decimals_of_their_step() {
        for case in cases().tick_labels {
            assert_eq!(tick_label(case.value, case.step), case.text);
        }
    }

    #[test]
    fn linear_ticks_are_within_the_limits() {
        for wanted in 2..10 {
            let ticks = ticks(AxisScale::Linear, 0.123, 0.987, wanted);
            assert!(ticks.iter().all(|tick| tick.at >= 0.123 && tick.at <= 0.987));
            assert!((1..=wanted + 1).contains(&ticks.len()), "{wanted}: {}", ticks.len());
        }
    }

    #[test]
    fn the_lower_edge_of_a_band_is_placed_at_the_low_end_of_a_log_axis() {
        let log = Mapping { scale: AxisScale::Log, low: 1.0, high: 1e4, from: 0.0, to: 400.0 };
        assert_eq!(log.place_or_low(-3.0), Some(0.0));
    }
}
