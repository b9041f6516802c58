//! One arm of a game: weights, loss curve, noise and an optional name, checked together.

use super::{Exposure, LossCurve, Noise, Shape, Trend, Weights};

/// One action of a game.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "ArmData", into = "ArmData")
)]
pub struct Arm {
    name: Option<String>,
    weights: Weights,
    curve: LossCurve,
    noise: Noise,
    eventual_loss: f64,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct ArmData {
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    name: Option<String>,
    weights: Weights,
    loss: LossCurve,
    #[cfg_attr(feature = "serde", serde(default))]
    feedback: Noise,
}

/// Up to this memory every window of an arm with a loss function is tried when the arm is made: 2048 calls of the
/// function at most.
const TRIED_AT_ONCE: usize = 12;

/// Names are printed in tables and legends, where longer ones have no room.
const LONGEST_NAME: usize = 100;

impl Arm {
    /// An arm. The curve must stay in [0, 1]. For a loss function over a long memory this is checked on some windows
    /// here, and on the others when they are played.
    pub fn new(weights: Weights, curve: LossCurve, noise: Noise) -> Result<Self, ArmError> {
        noise.check()?;
        let memory = weights.memory();
        if let Shape::ByPlays(losses) = curve.shape()
            && losses.len() != memory
        {
            return Err(ArmError::Table { values: losses.len(), memory });
        }
        let arm = Self { name: None, eventual_loss: curve.at(calibrated(&weights)), weights, curve, noise };
        arm.check_curve()?;
        Ok(arm)
    }

    /// The same arm with a name, which tables, figures and errors show. A name has 1 to 100 characters, none of them a
    /// control character, and is not blank. The names of a game differ, see [`Game::new`](super::Game::new).
    ///
    /// ```
    /// use calibandit::{Arm, LossCurve, Noise, Weights};
    /// let arm = Arm::new(Weights::unit(3)?, LossCurve::constant(0.5), Noise::Bernoulli)?.named("bob")?;
    /// assert_eq!(arm.name(), Some("bob"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named(mut self, name: impl Into<String>) -> Result<Self, ArmError> {
        let name = name.into();
        Self::check_name(&name)?;
        self.name = Some(name);
        Ok(self)
    }

    /// Checks a name without an arm, see [`named`](Arm::named).
    pub fn check_name(name: &str) -> Result<(), ArmError> {
        let valid = !name.trim().is_empty() && !name.contains(char::is_control) && name.chars().count() <= LONGEST_NAME;
        if valid { Ok(()) } else { Err(ArmError::Name { name: name.to_owned() }) }
    }

    fn check_curve(&self) -> Result<(), ArmError> {
        for (what, value) in [("calibrated", self.curve.calibrated()), ("alone", self.curve.alone())] {
            if let Some(value) = value
                && !(0.0..=1.0).contains(&value)
            {
                return Err(ArmError::SpecialValue { what, value });
            }
        }
        let memory = self.memory();
        // Windows in which the newest plays were of this arm and the rest were not. They include both ends of the range
        // of the tally and every number of plays, so for every shape but a function they are sufficient.
        let mut tally = 0.0;
        let mut before = None;
        for (i, weight) in self.weights.as_slice().iter().enumerate() {
            tally += weight;
            let exposure = Exposure { tally, plays: i + 1, memory };
            let loss = self.check_at(exposure)?;
            let special = exposure.is_calibrated() && self.curve.calibrated().is_some()
                || exposure.is_alone() && self.curve.alone().is_some();
            let now = (!special).then_some(loss);
            if let (Shape::Function { trend, .. }, Some(before), Some(now)) = (self.curve.shape(), before, now) {
                let against = match trend {
                    Trend::Unknown => false,
                    Trend::Decreasing => now > before,
                    Trend::Increasing => now < before,
                };
                if against {
                    return Err(ArmError::Trend { trend: *trend, plays: exposure.plays });
                }
            }
            before = now;
        }
        if let Shape::Needle(needle) = self.curve.shape() {
            for value in [needle.loss, needle.otherwise] {
                if !(0.0..=1.0).contains(&value) {
                    return Err(ArmError::SpecialValue { what: "needle", value });
                }
            }
        }
        if matches!(self.curve.shape(), Shape::Function { .. }) && memory <= TRIED_AT_ONCE {
            for bits in 0..1u32 << (memory - 1) {
                let window: Vec<bool> = (0..memory).map(|age| age == 0 || bits >> (age - 1) & 1 == 1).collect();
                self.check_at(Exposure::of(&window, &self.weights))?;
            }
        }
        Ok(())
    }

    fn check_at(&self, exposure: Exposure) -> Result<f64, ArmError> {
        let loss = self.curve.at(exposure);
        if (0.0..=1.0).contains(&loss) {
            return Ok(loss);
        }
        // The curve has replaced the function's value by NaN: call the function again, for the message.
        let loss = match self.curve.shape() {
            Shape::Function { function, .. } => function(exposure.tally),
            _ => loss,
        };
        Err(ArmError::Curve { loss, tally: exposure.tally, plays: exposure.plays })
    }

    /// The name, if the arm has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The weights, newest play first.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The loss curve.
    pub fn curve(&self) -> &LossCurve {
        &self.curve
    }

    /// The noise of the feedback.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// How far back plays of this arm matter.
    pub fn memory(&self) -> usize {
        self.weights.memory()
    }

    /// The loss of the calibrated arm, the paper's mu(x).
    pub fn eventual_loss(&self) -> f64 {
        self.eventual_loss
    }

    /// About how many bytes the arm takes.
    pub(crate) fn memory_estimate(&self) -> u64 {
        let table = if let Shape::ByPlays(losses) = self.curve.shape() { losses.len() } else { 0 };
        let name = self.name.as_ref().map_or(0, String::len);
        (size_of::<Self>() + (self.memory() + table) * size_of::<f64>() + name) as u64
    }

    /// The exposures of 1, 2, ... plays in a row, up to the memory. Their tallies are added newest play first.
    pub(crate) fn straight_exposures(&self) -> impl Iterator<Item = Exposure> + '_ {
        let memory = self.memory();
        let tallies = self.weights.as_slice().iter().scan(0.0, |tally, weight| {
            *tally += weight;
            Some(*tally)
        });
        tallies.zip(1..).map(move |(tally, plays)| Exposure { tally, plays, memory })
    }

    /// The expected loss of a play with this exposure.
    pub fn loss(&self, exposure: Exposure) -> f64 {
        self.curve.at(exposure)
    }
}

/// The beginning of a name, with control characters escaped: a refused name may be long, or spoil a terminal.
pub(super) fn excerpt(name: &str) -> String {
    let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
    if name.chars().count() > 40 { shown + "…" } else { shown }
}

fn calibrated(weights: &Weights) -> Exposure {
    Exposure { tally: weights.total(), plays: weights.memory(), memory: weights.memory() }
}

impl TryFrom<ArmData> for Arm {
    type Error = ArmError;
    fn try_from(data: ArmData) -> Result<Self, ArmError> {
        let arm = Self::new(data.weights, data.loss, data.feedback)?;
        match data.name {
            Some(name) => arm.named(name),
            None => Ok(arm),
        }
    }
}

impl From<Arm> for ArmData {
    fn from(arm: Arm) -> Self {
        Self { name: arm.name, weights: arm.weights, loss: arm.curve, feedback: arm.noise }
    }
}

/// What can be wrong with an arm.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArmError {
    /// The memory is 0.
    #[error("the memory is 0: give at least one weight (memory 1 is the plain stochastic bandit)")]
    NoMemory,
    /// A weight outside (0, 1].
    #[error("weight {} is {weight}, but weights must lie in (0, 1]", position + 1)]
    Weight {
        /// Its position, from 0.
        position: usize,
        /// Its value.
        weight: f64,
    },
    /// The curve leaves [0, 1].
    #[error(
        "the loss curve is {loss} at {plays} plays in the window (tally {tally}), \
         but expected losses must lie in [0, 1]"
    )]
    Curve {
        /// The value.
        loss: f64,
        /// At this tally.
        tally: f64,
        /// At this number of plays.
        plays: usize,
    },
    /// A special value outside [0, 1].
    #[error("the loss `{what}` is {value}, but expected losses must lie in [0, 1]")]
    SpecialValue {
        /// Which value.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A loss function contradicts its declared trend.
    #[error(
        "the loss function is declared {trend:?} in the tally, but is not from {} to {plays} plays in a row",
        plays - 1
    )]
    Trend {
        /// What was declared.
        trend: Trend,
        /// Where it is wrong.
        plays: usize,
    },
    /// The table `by_plays` has the wrong length.
    #[error(
        "the list of losses by plays has {values} values, but the memory is {memory}: \
         give one loss for each number of plays from 1 to {memory}"
    )]
    Table {
        /// How many values were given.
        values: usize,
        /// How many are needed.
        memory: usize,
    },
    /// A parameter of the noise is not a positive number.
    #[error("{parameter} must be a positive number, but is {value}")]
    Noise {
        /// Which.
        parameter: &'static str,
        /// Its value.
        value: f64,
    },
    /// A name that is blank, too long, or has control characters.
    #[error(
        "the name of an arm must have 1 to {LONGEST_NAME} characters, not all blank and none of them a control \
         character, but is `{}`",
        excerpt(name)
    )]
    Name {
        /// The name.
        name: String,
    },
    /// An arm in a file has neither `weights` nor `memory`.
    #[error("the arm has no weights: give `weights`, newest play first, or `memory` for that many weights of 1")]
    NoWeights,
    /// An arm in a file has both `weights` and `memory`.
    #[error("the arm has both `weights` and `memory`: the memory is the number of weights, so give one of them")]
    WeightsAndMemory,
    /// A curve in a file has no shape.
    #[error(
        "the loss curve has no shape: give one of `constant`, `by_plays`, `linear`, `exponential_linear`, `needle`"
    )]
    NoShape,
    /// A curve in a file has two shapes.
    #[error("the loss curve has two shapes, `{one}` and `{other}`: give exactly one")]
    TwoShapes {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(memory: usize) -> Weights {
        Weights::unit(memory).unwrap()
    }

    #[test]
    fn curves_that_leave_the_unit_interval_are_refused() {
        for curve in [
            LossCurve::constant(1.5),
            LossCurve::constant(f64::NAN),
            LossCurve::by_plays([0.5, 0.5, -0.1]),
            LossCurve::linear(1.0, -0.5),
            LossCurve::exponential_linear(0.0, 0.1, 0.2),
            LossCurve::constant(0.5).when_calibrated(-0.1),
            LossCurve::constant(0.5).when_alone(2.0),
            LossCurve::needle(1.0, -1.0, 1.0),
            LossCurve::function(|tally| tally),
            LossCurve::function(|_| f64::NAN),
        ] {
            assert!(Arm::new(unit(3), curve.clone(), Noise::Bernoulli).is_err(), "{curve:?}");
        }
    }

    #[test]
    fn a_function_is_tried_on_every_window_of_a_short_memory() {
        // 1.25 is the tally of one window only, (1, 0, 1).
        let spiked = LossCurve::function(|tally| if tally == 1.25 { 7.0 } else { 0.5 });
        let weights = Weights::new(vec![1.0, 0.5, 0.25]).unwrap();
        let refused = Arm::new(weights, spiked, Noise::None).unwrap_err();
        assert_eq!(refused, ArmError::Curve { loss: 7.0, tally: 1.25, plays: 2 });
    }

    #[test]
    fn a_table_has_one_value_for_each_number_of_plays() {
        let refused = Arm::new(unit(3), LossCurve::by_plays([0.5, 0.4]), Noise::None).unwrap_err();
        assert_eq!(refused, ArmError::Table { values: 2, memory: 3 });
    }

    #[test]
    fn a_wrong_trend_is_noticed() {
        let rising = LossCurve::function(|tally| tally / 10.0).with_trend(Trend::Decreasing);
        assert!(matches!(Arm::new(unit(4), rising, Noise::None), Err(ArmError::Trend { plays: 2, .. })));
        let special = LossCurve::function(|tally| 1.0 - tally / 10.0).with_trend(Trend::Decreasing);
        let special = special.when_calibrated(0.9).when_alone(0.0);
        assert!(Arm::new(unit(4), special, Noise::None).is_ok());
    }

    #[test]
    fn noise_parameters_are_positive_numbers() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            for noise in [Noise::Normal { sd: bad }, Noise::Beta { concentration: bad }] {
                let refused = Arm::new(unit(1), LossCurve::constant(0.5), noise);
                assert!(matches!(refused, Err(ArmError::Noise { .. })), "{noise:?}");
            }
        }
    }

    #[test]
    fn names_are_short_visible_texts() {
        let arm = || Arm::new(unit(1), LossCurve::constant(0.5), Noise::None).unwrap();
        for good in ["bob", "Jürgen Müller 2", &"ß".repeat(100)] {
            assert_eq!(arm().named(good).unwrap().name(), Some(good));
        }
        for bad in ["", "  ", "a\nb", "red \u{1b}[31m", "\u{9b}", &"ß".repeat(101)] {
            let refused = arm().named(bad).unwrap_err();
            assert_eq!(refused, ArmError::Name { name: bad.to_owned() });
            let message = refused.to_string();
            assert!(!message.contains(char::is_control) && message.chars().count() < 250, "{message:?}");
        }
        assert_eq!(arm().name(), None);
    }

    #[test]
    fn arms_survive_a_file() {
        let named = Arm::new(unit(1), LossCurve::constant(0.5), Noise::None).unwrap().named("bob").unwrap();
        let text = serde_json::to_string(&named).unwrap();
        assert_eq!(text, r#"{"name":"bob","weights":[1.0],"loss":{"constant":0.5},"feedback":"none"}"#);
        assert_eq!(serde_json::from_str::<Arm>(&text).unwrap(), named);
        assert!(serde_json::from_str::<Arm>(&text.replace("bob", "")).is_err());
        let arm = Arm::new(unit(3), LossCurve::constant(0.5).when_calibrated(0.35), Noise::Normal { sd: 0.1 }).unwrap();
        let text = serde_json::to_string(&arm).unwrap();
        assert_eq!(serde_json::from_str::<Arm>(&text).unwrap(), arm);
        assert!(!text.contains("name"), "files of arms without a name are as before: {text}");
    }
}
