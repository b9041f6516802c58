//! From values to places on an axis, and the ticks between.

use super::AxisScale;

/// An axis as drawn: its limits in the data and on the drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mapping {
    pub(super) scale: AxisScale,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// A labelled place (or, with an empty label, a minor one).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// Coordinates stay within this, so that limits far inside the data cannot overflow a rasteriser.
const FAR: f64 = 1e5;

/// A log axis shows at most this ratio unless its limits are given.
const LOG_RATIO: f64 = 1e8;

impl Mapping {
    /// Where a value goes; `None` if it has no place on the axis.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let share = match self.scale {
            AxisScale::Linear => (value - self.low) / (self.high - self.low),
            AxisScale::Log if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            AxisScale::Log => return None,
        };
        let at = self.from + share * (self.to - self.from);
        at.is_finite().then(|| at.clamp(-FAR, FAR))
    }

    /// As [`place`](Self::place), but a value too small for a log axis goes to its low end: for the lower edge of a band.
    pub(super) fn place_or_low(&self, value: f64) -> Option<f64> {
        if self.scale == AxisScale::Log && value <= 0.0 { Some(self.from) } else { self.place(value) }
    }
}

/// The limits for some values: `fixed` limits where usable, otherwise around the data.
///
/// A linear axis starts at zero when the data are positive and reach down far enough; `pad` adds some room at free ends.
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
    // Limits that contradict each other or the data would turn the axis round.
    if low_fixed < high_fixed { (low_fixed, high_fixed) } else { (low, high) }
}

/// Ticks at round values; about `wanted` of them are labelled.
pub(super) fn ticks(scale: AxisScale, low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    match scale {
        AxisScale::Linear => linear_ticks(low, high, wanted),
        AxisScale::Log => log_ticks(low, high, wanted),
    }
}

/// Ticks at the values of a sweep.
pub(super) fn sweep_ticks(values: &[f64]) -> Vec<Tick> {
    let significant = |value: f64| 10f64.powi(value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32 - 2);
    values
        .iter()
        .map(|at| (*at, (at / significant(*at)).round() * significant(*at)))
        .map(|(at, shown)| Tick { at, label: number(shown, shown.abs()) })
        .collect()
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
        .map(|at| Tick { at: at + 0.0, label: number(at, step) })
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
            // Short axes have too few powers of ten to be read by them alone.
            let labelled = match decades {
                0 => true,
                1 | 2 => matches!(digit, 1 | 2 | 5),
                _ => digit == 1 && exponent.rem_euclid(every) == 0,
            };
            // Where only some powers of ten have a label, the digits between would only be noise.
            if labelled || every == 1 || digit == 1 {
                ticks.push(Tick { at, label: if labelled { number(at, at) } else { String::new() } });
            }
        }
    }
    ticks
}

/// A value as a tick says it, with the decimals that `step` asks for: 250k, 1.5M, 0.05, 10⁹.
pub(super) fn number(value: f64, step: f64) -> String {
    let size = value.abs();
    if size < step * 1e-6 {
        return "0".to_owned();
    }
    if !(1e-4..1e9).contains(&size) {
        return scientific(value);
    }
    let (unit, suffix) = match size {
        s if s >= 1e6 => (1e6, "M"),
        s if s >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let mut digits = format!("{:.*}", decimals(step / unit), value / unit).replace('-', "−");
    if !suffix.is_empty() && digits.contains('.') {
        // After 900k comes 1M, not 1.0M.
        digits.truncate(digits.trim_end_matches('0').trim_end_matches('.').len());
    }
    digits + suffix
}

/// The decimals needed to write multiples of `step`.
fn decimals(step: f64) -> usize {
    (0..9).find(|d| ((step * 10f64.powi(*d)).round() / 10f64.powi(*d) - step).abs() < step * 1e-6).unwrap_or(9) as usize
}

fn scientific(value: f64) -> String {
    let exponent = value.abs().log10().floor() as i32;
    let digits = value / 10f64.powi(exponent);
    let power: String = exponent
        .to_string()
        .chars()
        .map(|c| {
            if c == '-' {
                '⁻'
            } else {
                ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c.to_digit(10).unwrap_or(0) as usize]
            }
        })
        .collect();
    let digits = format!("{digits:.2}").trim_end_matches('0').trim_end_matches('.').replace('-', "−");
    match digits.as_str() {
        "1" => format!("10{power}"),
        _ => format!("{digits}×10{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        for (value, step, text) in [
            (0.0, 1.0, "0"),
            (250_000.0, 50_000.0, "250k"),
            (1_000_000.0, 100_000.0, "1M"),
            (1_500_000.0, 500_000.0, "1.5M"),
            (-0.05, 0.05, "−0.05"),
            (0.1, 0.05, "0.10"),
            (2e-5, 1e-5, "2×10⁻⁵"),
            (1e9, 1e9, "10⁹"),
            (-2.5e12, 5e11, "−2.5×10¹²"),
            (7.0, 1.0, "7"),
        ] {
            assert_eq!(number(value, step), text);
        }
    }

    #[test]
    fn linear_ticks_are_round_and_inside() {
        assert_eq!(labels(&ticks(AxisScale::Linear, 0.0, 1e6, 5)), ["0", "200k", "400k", "600k", "800k", "1M"]);
        assert_eq!(labels(&ticks(AxisScale::Linear, -0.3, 0.31, 3)), ["−0.25", "0", "0.25"]);
        for wanted in 2..10 {
            let ticks = ticks(AxisScale::Linear, 0.123, 0.987, wanted);
            assert!(ticks.iter().all(|tick| tick.at >= 0.123 && tick.at <= 0.987));
            assert!((1..=wanted + 1).contains(&ticks.len()), "{wanted}: {}", ticks.len());
        }
    }

    #[test]
    fn log_ticks_label_powers_of_ten_or_fewer_or_more() {
        assert_eq!(labels(&ticks(AxisScale::Log, 10.0, 1e6, 6)), ["10", "100", "1k", "10k", "100k", "1M"]);
        assert_eq!(labels(&ticks(AxisScale::Log, 1.0, 1e8, 4)), ["1", "1k", "1M"]);
        assert_eq!(labels(&ticks(AxisScale::Log, 0.9, 64.0, 6)), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(&ticks(AxisScale::Log, 3.0, 7.0, 6)), ["3", "4", "5", "6", "7"]);
        assert_eq!(ticks(AxisScale::Log, 10.0, 1000.0, 6).len(), 19, "two decades have 2 x 9 + 1 marks");
    }

    #[test]
    fn limits_follow_the_data_unless_fixed() {
        let data = [2.0, f64::NAN, 10.0, f64::INFINITY, -1.0];
        let of = |scale, fixed, pad| limits(scale, fixed, data.into_iter(), pad, true);
        assert_eq!(of(AxisScale::Linear, (None, None), false), (-1.0, 10.0));
        assert_eq!(of(AxisScale::Log, (None, None), false), (2.0, 10.0));
        assert_eq!(of(AxisScale::Log, (Some(0.0), Some(100.0)), false), (2.0, 100.0), "0 is no place on a log axis");
        assert_eq!(of(AxisScale::Linear, (Some(5.0), Some(5.0)), false), (-1.0, 10.0), "an empty range is ignored");
        assert_eq!(limits(AxisScale::Linear, (None, None), [4.0, 10.0].into_iter(), false, true), (0.0, 10.0));
        assert_eq!(limits(AxisScale::Linear, (None, None), [8.0, 10.0].into_iter(), false, true), (8.0, 10.0));
        for scale in [AxisScale::Linear, AxisScale::Log] {
            for values in [vec![], vec![3.0], vec![f64::NAN]] {
                let (low, high) = limits(scale, (None, None), values.into_iter(), true, true);
                assert!(low < high && low.is_finite() && high.is_finite());
            }
        }
    }

    #[test]
    fn a_mapping_puts_ends_at_ends_and_ratios_at_equal_distances() {
        let log = Mapping { scale: AxisScale::Log, low: 1.0, high: 1e4, from: 0.0, to: 400.0 };
        for (value, at) in [(1.0, 0.0), (10.0, 100.0), (100.0, 200.0), (1e4, 400.0)] {
            assert!((log.place(value).unwrap() - at).abs() < 1e-9);
        }
        assert_eq!((log.place(0.0), log.place_or_low(-3.0)), (None, Some(0.0)));
        let linear = Mapping { scale: AxisScale::Linear, low: -1.0, high: 1.0, from: 100.0, to: 0.0 };
        assert_eq!((linear.place(-1.0), linear.place(0.0), linear.place(1.0)), (Some(100.0), Some(50.0), Some(0.0)));
        assert_eq!((linear.place(f64::NAN), linear.place(f64::INFINITY)), (None, None));
    }
}
