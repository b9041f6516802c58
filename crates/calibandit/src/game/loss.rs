//! Loss curves: an arm's expected loss as a function of its exposure, the paper's `h_x`.

#[cfg(feature = "serde")]
mod files;
mod formula;
mod switching;

pub(crate) use formula::{Course, CurveDirection};
pub use formula::{CurveStep, ExponentialApproach, Formula, LossStep, PeakCurve, PowerCurve, Ramp, RationalApproach};
pub use switching::SwitchingLoss;

use std::fmt;
use std::sync::Arc;

use super::{ArmError, Exposure};
use crate::math;

/// A function from tally to expected loss.
pub type LossFn = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// An arm's expected loss: a [`Shape`], with another value when the arm is calibrated and another when the play is the
/// arm's only one in the window, if these are given. Where both apply (memory 1), `calibrated` wins.
///
/// ```
/// use calibandit::LossCurve;
/// // The paper's unweighted game: 0.5 until the arm is calibrated, then 0.35.
/// let best = LossCurve::constant(0.5).when_calibrated(0.35);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LossCurve {
    shape: Shape,
    calibrated: Option<f64>,
    alone: Option<f64>,
}

/// The base of a [`LossCurve`].
#[derive(Clone)]
#[non_exhaustive]
pub enum Shape {
    /// The same loss at every play.
    Constant(f64),
    /// By the number of plays in the window: the first value is for one play. One value for each play up to the memory.
    ByPlays(Vec<f64>),
    /// `intercept + slope · tally`.
    Linear(Linear),
    /// An exponential decrease plus a linear one, by the number `k` of plays in the window: the lap-time model of the
    /// paper's F1 section.
    ExponentialLinear(ExponentialLinear),
    /// One value at exactly one tally and another everywhere else: Proposition 1's needle in the haystack.
    Needle(NeedleCurve),
    /// By the number of plays in the window, or since the beginning if the arm is rested.
    Formula(Formula),
    /// By the number of plays since the arm's last one, by its streak, or by both.
    Switching(SwitchingLoss),
    /// Any function of the tally.
    Function {
        /// The function. It must map the arm's tallies into [0, 1].
        function: LossFn,
        /// Its declared trend: with a known trend, `reo` and `optimum` need not enumerate windows.
        trend: Trend,
    },
}

/// Parameters of [`Shape::Linear`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Linear {
    /// The loss at tally 0.
    pub intercept: f64,
    /// What a unit of tally adds.
    pub slope: f64,
}

/// Parameters of [`Shape::ExponentialLinear`]: `beta · exp(-alpha · k) - |gamma| · k`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExponentialLinear {
    /// The rate of the exponential decrease.
    pub alpha: f64,
    /// The height of the exponential part.
    pub beta: f64,
    /// The linear decrease per play; its sign does not matter.
    pub gamma: f64,
}

impl ExponentialLinear {
    /// The expected loss at `k` plays in the window, from 1 on.
    pub fn at(&self, k: usize) -> f64 {
        let k = k as f64;
        self.beta * math::exp(-self.alpha * k) - self.gamma.abs() * k
    }
}

/// Parameters of [`Shape::Needle`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NeedleCurve {
    /// The tally that is different, compared exactly: the weights should be powers of two.
    pub tally: f64,
    /// The loss there.
    pub loss: f64,
    /// The loss everywhere else.
    pub otherwise: f64,
}

/// What is known about the direction of a loss function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trend {
    /// Nothing.
    Unknown,
    /// A larger tally never means a larger loss.
    Decreasing,
    /// A larger tally never means a smaller loss.
    Increasing,
}

impl LossCurve {
    /// A curve of this shape.
    pub fn new(shape: Shape) -> Self {
        Self { shape, calibrated: None, alone: None }
    }

    /// The same loss at every play.
    pub fn constant(loss: f64) -> Self {
        Self::new(Shape::Constant(loss))
    }

    /// By the number of plays in the window; the first value is for one play.
    pub fn by_plays(losses: impl Into<Vec<f64>>) -> Self {
        Self::new(Shape::ByPlays(losses.into()))
    }

    /// `intercept + slope · tally`.
    pub fn linear(intercept: f64, slope: f64) -> Self {
        Self::new(Shape::Linear(Linear { intercept, slope }))
    }

    /// `beta · exp(-alpha · k) - |gamma| · k` for `k` plays in the window.
    pub fn exponential_linear(alpha: f64, beta: f64, gamma: f64) -> Self {
        Self::new(Shape::ExponentialLinear(ExponentialLinear { alpha, beta, gamma }))
    }

    /// `loss` at exactly this tally, `otherwise` everywhere else.
    pub fn needle(tally: f64, loss: f64, otherwise: f64) -> Self {
        Self::new(Shape::Needle(NeedleCurve { tally, loss, otherwise }))
    }

    /// By the number of plays, given by a formula.
    pub fn formula(formula: Formula) -> Self {
        Self::new(Shape::Formula(formula))
    }

    /// By the number of plays; the first value is for one play, and the last one is repeated for ever.
    pub fn table(losses: impl Into<Vec<f64>>) -> Self {
        Self::formula(Formula::Table(losses.into()))
    }

    /// Constant from some numbers of plays on: pairs of a number and a loss, the first of them from play 1.
    pub fn steps(steps: impl IntoIterator<Item = (u64, f64)>) -> Self {
        Self::formula(Formula::Steps(steps.into_iter().map(|(from, loss)| LossStep { from, loss }).collect()))
    }

    /// By the gap: the number of plays since the arm's last one. The first value is for a play right after another one
    /// of the arm, and the last one for a gap of the memory or more. One value for each gap up to the memory.
    pub fn by_gap(losses: impl Into<Vec<f64>>) -> Self {
        Self::new(Shape::Switching(SwitchingLoss { by_gap: Some(losses.into()), by_streak: None }))
    }

    /// By the streak: the number of plays of the arm in a row, this one included. The last value is for a streak of the
    /// memory or more. One value for each streak up to the memory.
    pub fn by_streak(losses: impl Into<Vec<f64>>) -> Self {
        Self::new(Shape::Switching(SwitchingLoss { by_gap: None, by_streak: Some(losses.into()) }))
    }

    /// By the last switch: the first play of a streak has its loss by the gap before it, all others by the streak.
    pub fn last_switch(by_gap: impl Into<Vec<f64>>, by_streak: impl Into<Vec<f64>>) -> Self {
        let (by_gap, by_streak) = (Some(by_gap.into()), Some(by_streak.into()));
        Self::new(Shape::Switching(SwitchingLoss { by_gap, by_streak }))
    }

    /// Any function of the tally. If it is monotone, declare it with [`with_trend`](LossCurve::with_trend).
    pub fn function(function: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::new(Shape::Function { function: Arc::new(function), trend: Trend::Unknown })
    }

    /// Declares the trend of a [`function`](LossCurve::function). Other shapes ignore it, because their trend is known.
    pub fn with_trend(mut self, declared: Trend) -> Self {
        if let Shape::Function { trend, .. } = &mut self.shape {
            *trend = declared;
        }
        self
    }

    /// The same curve with another value when the arm is calibrated.
    pub fn when_calibrated(mut self, loss: f64) -> Self {
        self.calibrated = Some(loss);
        self
    }

    /// The same curve with another value when the play is the arm's only one in the window.
    pub fn when_alone(mut self, loss: f64) -> Self {
        self.alone = Some(loss);
        self
    }

    /// The shape below the special values.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The value when calibrated, if it is special.
    pub fn calibrated(&self) -> Option<f64> {
        self.calibrated
    }

    /// The value when alone, if it is special.
    pub fn alone(&self) -> Option<f64> {
        self.alone
    }

    /// The expected loss at this exposure.
    ///
    /// NaN if a [`Shape::Function`] leaves [0, 1] there, and only then. It is not a `Result`, because this is computed
    /// at every play; everything that sums up plays ([`Game::losses`](super::Game::losses), [`reo`](super::reo()),
    /// [`optimum`](super::optimum()), [`simulate`](crate::simulate())) turns NaN into an error that names the arm.
    ///
    /// # Panics
    /// If the shape is [`Shape::ByPlays`] with fewer values than the exposure has plays, which an
    /// [`Arm`](super::Arm) excludes.
    pub fn at(&self, exposure: Exposure) -> f64 {
        match (self.calibrated, self.alone) {
            (Some(loss), _) if exposure.is_calibrated() => loss,
            (_, Some(loss)) if exposure.is_alone() => loss,
            _ => self.shape.at(exposure),
        }
    }

    /// Whether the loss depends on nothing but the number of plays in the window, whatever the weights.
    pub fn depends_on_plays_only(&self) -> bool {
        matches!(self.shape, Shape::Constant(_) | Shape::ByPlays(_) | Shape::ExponentialLinear(_) | Shape::Formula(_))
    }

    /// Whether the loss is the same at every play.
    pub fn is_constant(&self) -> bool {
        matches!(self.shape, Shape::Constant(loss)
            if self.calibrated.is_none_or(|c| c == loss) && self.alone.is_none_or(|a| a == loss))
    }
}

impl Shape {
    fn at(&self, exposure: Exposure) -> f64 {
        match self {
            Shape::Constant(loss) => *loss,
            Shape::ByPlays(losses) => losses[exposure.plays - 1],
            Shape::Linear(line) => line.intercept + line.slope * exposure.tally,
            Shape::ExponentialLinear(model) => model.at(exposure.plays),
            Shape::Needle(needle) if exposure.tally == needle.tally => needle.loss,
            Shape::Needle(needle) => needle.otherwise,
            Shape::Formula(formula) => formula.at(exposure.plays as u64),
            Shape::Switching(switching) => switching.at(exposure),
            Shape::Function { function, .. } => match function(exposure.tally) {
                loss if (0.0..=1.0).contains(&loss) => loss,
                _ => f64::NAN,
            },
        }
    }

    /// The direction of the curve in the tally, where its form tells.
    pub fn trend(&self) -> Trend {
        match self {
            Shape::Constant(_) => Trend::Decreasing,
            Shape::Linear(line) if line.slope <= 0.0 => Trend::Decreasing,
            Shape::Linear(_) => Trend::Increasing,
            Shape::Function { trend, .. } => *trend,
            Shape::ByPlays(_)
            | Shape::ExponentialLinear(_)
            | Shape::Needle(_)
            | Shape::Formula(_)
            | Shape::Switching(_) => Trend::Unknown,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Shape::Constant(_) => "constant",
            Shape::ByPlays(_) => "by_plays",
            Shape::Linear(_) => "linear",
            Shape::ExponentialLinear(_) => "exponential_linear",
            Shape::Needle(_) => "needle",
            Shape::Formula(formula) => formula.name(),
            Shape::Switching(switching) if switching.by_gap.is_some() => "by_gap",
            Shape::Switching(_) => "by_streak",
            Shape::Function { .. } => "function",
        }
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Shape::Constant(a), Shape::Constant(b)) => a == b,
            (Shape::ByPlays(a), Shape::ByPlays(b)) => a == b,
            (Shape::Linear(a), Shape::Linear(b)) => a == b,
            (Shape::ExponentialLinear(a), Shape::ExponentialLinear(b)) => a == b,
            (Shape::Needle(a), Shape::Needle(b)) => a == b,
            (Shape::Formula(a), Shape::Formula(b)) => a == b,
            (Shape::Switching(a), Shape::Switching(b)) => a == b,
            // Functions cannot be compared, only their addresses.
            (Shape::Function { function: a, trend: s }, Shape::Function { function: b, trend: t }) => {
                Arc::ptr_eq(a, b) && s == t
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Constant(loss) => f.debug_tuple("Constant").field(loss).finish(),
            Shape::ByPlays(losses) => f.debug_tuple("ByPlays").field(losses).finish(),
            Shape::Linear(line) => line.fmt(f),
            Shape::ExponentialLinear(model) => model.fmt(f),
            Shape::Needle(needle) => needle.fmt(f),
            Shape::Formula(formula) => formula.fmt(f),
            Shape::Switching(switching) => switching.fmt(f),
            Shape::Function { trend, .. } => f.debug_struct("Function").field("trend", trend).finish_non_exhaustive(),
        }
    }
}

/// A loss curve as in files: exactly one shape, and the special values. A number stands for `constant`, and a list for
/// `by_plays`. Curves are always written as tables.
///
/// ```
/// use calibandit::LossCurveSpec;
/// let curve: LossCurveSpec = serde_json::from_str("[0.9, 0.5, 0.1]")?;
/// assert_eq!(serde_json::to_string(&curve)?, r#"{"by_plays":[0.9,0.5,0.1]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    // The derived functions are those of tables. The traits are implemented in `files`.
    serde(deny_unknown_fields, remote = "Self")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = files::or_number_or_list))]
pub struct LossCurveSpec {
    /// The same loss at every play.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub constant: Option<f64>,
    /// By the number of plays in the window; the first value is for one play.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub by_plays: Option<Vec<f64>>,
    /// Linear in the tally.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub linear: Option<Linear>,
    /// `beta · exp(-alpha · k) - |gamma| · k` for k plays in the window.
    #[cfg_attr(
        feature = "serde",
        serde(alias = "lap", alias = "exponential-linear", skip_serializing_if = "Option::is_none")
    )]
    #[cfg_attr(feature = "schema", schemars(extend("aliases" = ["lap", "exponential-linear"])))]
    pub exponential_linear: Option<ExponentialLinear>,
    /// One value at exactly one tally, another everywhere else.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub needle: Option<NeedleCurve>,
    /// Constant from some plays on: a list of `{ from, loss }`, or of `{ from, reward }` for rewards, the first of them
    /// from play 1.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub steps: Option<Vec<CurveStep>>,
    /// `limit + scale · n^(-exponent)` at n plays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub power: Option<PowerCurve>,
    /// From one loss to another within some plays, along a line or a power.
    #[cfg_attr(
        feature = "serde",
        serde(alias = "ramp_power", alias = "ramp-power", skip_serializing_if = "Option::is_none")
    )]
    #[cfg_attr(feature = "schema", schemars(extend("aliases" = ["ramp_power", "ramp-power"])))]
    pub ramp: Option<Ramp>,
    /// From one loss towards another, exponentially.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub exponential: Option<ExponentialApproach>,
    /// From one loss towards another, like a power of `1 / (x + scale)`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rational: Option<RationalApproach>,
    /// A fall of the loss followed by a rise.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub peak: Option<PeakCurve>,
    /// By the number of plays; the last value is repeated for ever.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub table: Option<Vec<f64>>,
    /// By the number of plays since the arm's last one, from 1 to the memory (or more, or never). Beside `by_streak` it
    /// is for the first play of a streak.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub by_gap: Option<Vec<f64>>,
    /// By the number of plays in a row, from 1 to the memory or more.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub by_streak: Option<Vec<f64>>,
    /// Another value when the arm is calibrated.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub calibrated: Option<f64>,
    /// Another value when this play is the arm's only one in the window.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub alone: Option<f64>,
}

impl TryFrom<LossCurveSpec> for LossCurve {
    type Error = ArmError;

    fn try_from(spec: LossCurveSpec) -> Result<Self, ArmError> {
        let steps = spec.steps.map(|steps| steps.into_iter().map(LossStep::try_from).collect()).transpose()?;
        let switching = (spec.by_gap.is_some() || spec.by_streak.is_some())
            .then_some(Shape::Switching(SwitchingLoss { by_gap: spec.by_gap, by_streak: spec.by_streak }));
        let mut shapes = [
            spec.constant.map(Shape::Constant),
            spec.by_plays.map(Shape::ByPlays),
            spec.linear.map(Shape::Linear),
            spec.exponential_linear.map(Shape::ExponentialLinear),
            spec.needle.map(Shape::Needle),
            steps.map(Formula::Steps).map(Shape::Formula),
            spec.power.map(Formula::Power).map(Shape::Formula),
            spec.ramp.map(Formula::Ramp).map(Shape::Formula),
            spec.exponential.map(Formula::Exponential).map(Shape::Formula),
            spec.rational.map(Formula::Rational).map(Shape::Formula),
            spec.peak.map(Formula::Peak).map(Shape::Formula),
            spec.table.map(Formula::Table).map(Shape::Formula),
            switching,
        ]
        .into_iter()
        .flatten();
        match (shapes.next(), shapes.next()) {
            (Some(shape), None) => Ok(Self { shape, calibrated: spec.calibrated, alone: spec.alone }),
            (None, _) => Err(ArmError::NoShape),
            (Some(one), Some(other)) => Err(ArmError::TwoShapes { one: one.name(), other: other.name() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(curve: &LossCurve, tally: f64, plays: usize, memory: usize) -> f64 {
        curve.at(Exposure { tally, plays, memory })
    }

    #[test]
    fn special_values_go_by_the_window_not_by_the_tally() {
        let curve = LossCurve::linear(1.0, -0.25).when_calibrated(0.1).when_alone(0.9);
        assert_eq!(at(&curve, 1.0, 1, 3), 0.9);
        assert_eq!(at(&curve, 2.0, 2, 3), 0.5);
        assert_eq!(at(&curve, 2.0, 3, 3), 0.1); // the same tally, but calibrated
        assert_eq!(at(&curve, 1.0, 1, 1), 0.1); // both apply
    }

    #[test]
    fn exponential_linear_curve_ignores_the_sign_of_gamma() {
        let minus = LossCurve::exponential_linear(0.5, 0.8, -0.01);
        let by_hand = 0.8 * (-1.0f64).exp() - 0.02;
        assert!((at(&minus, 2.0, 2, 4) - by_hand).abs() < 1e-15);
    }
}
