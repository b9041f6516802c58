//! What is checked and known about the curve of a rested arm, over any number of plays.

use super::ArmError;
use crate::game::loss::{Course, CurveDirection};
use crate::game::{ExponentialLinear, Exposure, LossCurve, Shape, Trend};

/// The longest horizon, where the eventual loss of a function is read off.
const LONGEST: u64 = 1 << 53;

/// A function is tried at each of the first so many plays when the arm is made, and at every power of two.
const TRIED: u64 = 1024;

/// Where the curve rises and falls, and its eventual loss; an error if it leaves [0, 1] or cannot be that of a rested
/// arm.
pub(super) fn analyse(curve: &LossCurve) -> Result<(Course, f64), ArmError> {
    if let Some(value) = curve.calibrated() {
        return Err(ArmError::NeverCalibrated { value });
    }
    let flat = Course::uniform(CurveDirection::Flat);
    let (course, eventual) = match curve.shape() {
        Shape::Constant(loss) => (flat, *loss),
        Shape::ByPlays(_) => return Err(ArmError::EndlessTable),
        Shape::Linear(line) if line.slope == 0.0 => (flat, line.intercept),
        Shape::Linear(line) => return Err(ArmError::EndlessLine { slope: line.slope }),
        Shape::ExponentialLinear(model) => exponential(model)?,
        Shape::Needle(needle) => (needle_course(needle.tally), needle.otherwise),
        // Refused before: such an arm has a window.
        Shape::Switching(_) => (Course::uniform(CurveDirection::Unknown), f64::NAN),
        Shape::Formula(formula) => (formula.course(), formula.eventual_loss()),
        Shape::Function { function, trend } => {
            try_function(curve, *trend)?;
            let direction = match trend {
                Trend::Unknown => CurveDirection::Unknown,
                Trend::Decreasing => CurveDirection::Falling,
                Trend::Increasing => CurveDirection::Rising,
            };
            (Course::uniform(direction), function(LONGEST as f64))
        }
    };
    let course = if curve.alone().is_some() { course.with_own_first() } else { course };
    check_range(curve, &course, eventual)?;
    Ok((course, eventual))
}

/// On a monotone piece the extremes are at its ends.
fn check_range(curve: &LossCurve, course: &Course, eventual: f64) -> Result<(), ArmError> {
    let mut first = 1;
    for &(last, _) in &course.pieces {
        check_at(curve, first)?;
        if last < Course::END {
            check_at(curve, last)?;
            first = last + 1;
        }
    }
    if (0.0..=1.0).contains(&eventual) {
        return Ok(());
    }
    Err(ArmError::Curve { loss: eventual, tally: f64::INFINITY, plays: usize::MAX })
}

fn check_at(curve: &LossCurve, plays: u64) -> Result<f64, ArmError> {
    let exposure = Exposure::rested(plays);
    let loss = curve.at(exposure);
    if (0.0..=1.0).contains(&loss) {
        return Ok(loss);
    }
    let loss = if let Shape::Function { function, .. } = curve.shape() { function(exposure.tally) } else { loss };
    Err(ArmError::Curve { loss, tally: exposure.tally, plays: exposure.plays })
}

fn exponential(model: &ExponentialLinear) -> Result<(Course, f64), ArmError> {
    if model.gamma != 0.0 {
        return Err(ArmError::EndlessLine { slope: -model.gamma.abs() });
    }
    let (direction, eventual) = match model.alpha * model.beta {
        0.0 => (CurveDirection::Flat, model.beta),
        change if change > 0.0 => (CurveDirection::Falling, 0.0),
        _ => (CurveDirection::Rising, 0.0),
    };
    // A negative rate grows without end.
    let eventual = if model.alpha < 0.0 && model.beta != 0.0 { f64::INFINITY } else { eventual };
    Ok((Course::uniform(direction), eventual))
}

/// One number of plays is different, if the tally is one.
fn needle_course(tally: f64) -> Course {
    let mut pieces = Vec::new();
    if tally >= 1.0 && tally <= LONGEST as f64 && tally.fract() == 0.0 {
        let plays = tally as u64;
        if plays > 1 {
            pieces.push((plays - 1, CurveDirection::Flat));
        }
        pieces.push((plays, CurveDirection::Flat));
    }
    pieces.push((Course::END, CurveDirection::Flat));
    Course::of(pieces)
}

/// Tries a function, and compares it with its declared trend.
fn try_function(curve: &LossCurve, trend: Trend) -> Result<(), ArmError> {
    let powers = (TRIED.trailing_zeros() + 1..=LONGEST.trailing_zeros()).map(|power| 1 << power);
    let mut before = None;
    for plays in (1..=TRIED).chain(powers) {
        let loss = check_at(curve, plays)?;
        // The first play may have a loss of its own.
        let now = (plays > 1 || curve.alone().is_none()).then_some(loss);
        if let (Some(before), Some(now)) = (before, now) {
            let against = match trend {
                Trend::Unknown => false,
                Trend::Decreasing => now > before,
                Trend::Increasing => now < before,
            };
            if against {
                return Err(ArmError::Trend { trend, plays: plays as usize });
            }
        }
        before = now;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Formula, PowerCurve};
    use crate::{Arm, Noise, Weights};

    fn rested(curve: LossCurve) -> Result<Arm, ArmError> {
        Arm::new(Weights::all(), curve, Noise::None)
    }

    #[test]
    fn eventual_losses_are_limits() {
        let power = PowerCurve { limit: 0.2, scale: 0.8, exponent: 0.1, every: 1 };
        for (curve, eventual) in [
            (LossCurve::constant(0.4), 0.4),
            (LossCurve::table([0.5, 0.9, 0.1]), 0.1),
            (LossCurve::steps([(1, 0.3), (1000, 0.6)]).when_alone(0.9), 0.6),
            (LossCurve::formula(Formula::Power(power)), 0.2),
            (LossCurve::needle(3.0, 0.0, 0.7), 0.7),
            (LossCurve::exponential_linear(0.5, 1.0, 0.0), 0.0),
            (LossCurve::function(|plays| 1.0 / plays).with_trend(Trend::Decreasing), 2f64.powi(-53)),
        ] {
            assert_eq!(rested(curve.clone()).unwrap().eventual_loss(), eventual, "{curve:?}");
        }
    }

    #[test]
    fn curves_that_no_rested_arm_can_have_are_refused() {
        let power =
            |limit, scale| LossCurve::formula(Formula::Power(PowerCurve { limit, scale, exponent: 1.0, every: 1 }));
        for (curve, part) in [
            (LossCurve::by_plays([0.5, 0.4]), "give `table`"),
            (LossCurve::linear(0.9, -0.1), "give `ramp`"),
            (LossCurve::exponential_linear(0.1, 0.9, 0.01), "give `ramp`"),
            (LossCurve::exponential_linear(-0.1, 0.5, 0.0), "must lie in [0, 1]"),
            (LossCurve::constant(0.5).when_calibrated(0.1), "never calibrated"),
            (LossCurve::steps([]), "there are none"),
            (LossCurve::steps([(2, 0.5)]), "from play 2"),
            (LossCurve::steps([(1, 0.5), (9, 0.1), (9, 0.2)]), "9 follows 9"),
            (LossCurve::table([]), "no values"),
            (LossCurve::table([0.5, 1.5]), "1.5 at 2 plays"),
            (power(0.5, 0.6), "at 1 plays"),
            (power(1.2, -0.6), "must lie in [0, 1]"),
            (LossCurve::function(|plays| plays / 1e6), "must lie in [0, 1]"),
            (LossCurve::function(|plays| plays / 1e18).with_trend(Trend::Decreasing), "declared Decreasing"),
        ] {
            let message = rested(curve.clone()).unwrap_err().to_string();
            assert!(message.contains(part), "{curve:?}: {message}");
        }
    }
}
