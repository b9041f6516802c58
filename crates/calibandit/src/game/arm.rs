//! One arm of a game: weights, loss curve, noise and an optional name, checked together.

mod error;
mod rested;

pub use error::ArmError;

use std::sync::Arc;

use super::loss::Course;
use super::{Exposure, LossCurve, Memory, Noise, Shape, Trend, Weights};

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
    /// Where the curve of a rested arm rises and falls; `None` if the arm has a window.
    course: Option<Arc<Course>>,
}

#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct ArmData {
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    name: Option<String>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    weights: Option<Vec<f64>>,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    memory: Option<Memory>,
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
    ///
    /// With [`Weights::all`] the arm is rested: its loss depends on the number of its plays since the beginning, and
    /// its eventual loss is the limit of its curve.
    ///
    /// ```
    /// use calibandit::{Arm, Game, LossCurve, Noise, Weights};
    /// let fading = LossCurve::steps([(1, 0.1), (3, 0.8)]); // good twice, and never again
    /// let game = Game::new(vec![
    ///     Arm::new(Weights::all(), fading, Noise::None)?,
    ///     Arm::new(Weights::all(), LossCurve::constant(0.5), Noise::None)?,
    /// ])?;
    /// assert_eq!(game.losses(&[0, 1, 1, 1, 0, 0])?, [0.1, 0.5, 0.5, 0.5, 0.1, 0.8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(weights: Weights, curve: LossCurve, noise: Noise) -> Result<Self, ArmError> {
        noise.check()?;
        if let Shape::Formula(formula) = curve.shape() {
            formula.check()?;
        }
        let weights = match curve.shape() {
            Shape::Switching(switching) => switching.checked_weights(&weights)?,
            _ => weights,
        };
        if weights.is_rested() {
            let (course, eventual_loss) = rested::analyse(&curve)?;
            return Ok(Self { name: None, eventual_loss, weights, curve, noise, course: Some(Arc::new(course)) });
        }
        let memory = weights.memory();
        if let Shape::ByPlays(losses) = curve.shape()
            && losses.len() != memory
        {
            return Err(ArmError::Table { values: losses.len(), memory });
        }
        let arm =
            Self { name: None, eventual_loss: curve.at(calibrated(&weights)), weights, curve, noise, course: None };
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

    /// How far back plays of this arm matter: `usize::MAX` if it is rested.
    pub fn memory(&self) -> usize {
        self.weights.memory()
    }

    /// Whether the loss depends on all plays of the arm since the beginning (`memory = "all"`).
    pub fn is_rested(&self) -> bool {
        self.weights.is_rested()
    }

    /// Where the curve of a rested arm rises and falls.
    pub(crate) fn course(&self) -> Option<&Course> {
        self.course.as_deref()
    }

    /// The loss of the calibrated arm, the paper's mu(x). A rested arm is never calibrated; for it this is the limit of
    /// its loss as the number of its plays grows.
    pub fn eventual_loss(&self) -> f64 {
        self.eventual_loss
    }

    /// About how many bytes the arm takes.
    pub(crate) fn memory_estimate(&self) -> u64 {
        let table = match self.curve.shape() {
            Shape::ByPlays(losses) => size_of_val(losses.as_slice()),
            Shape::Formula(formula) => formula.memory_estimate(),
            Shape::Switching(_) => 2 * size_of_val(self.weights.as_slice()),
            _ => 0,
        };
        let course = self.course().map_or(0, |course| size_of_val(course.pieces.as_slice()));
        let name = self.name.as_ref().map_or(0, String::len);
        (size_of::<Self>() + size_of_val(self.weights.as_slice()) + table + course + name) as u64
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
        let weights = match (data.weights, data.memory) {
            (Some(weights), None) => Weights::new(weights)?,
            (None, Some(memory)) => Weights::of(memory)?,
            (Some(_), Some(_)) => return Err(ArmError::WeightsAndMemory),
            (None, None) => return Err(ArmError::NoWeights),
        };
        let arm = Self::new(weights, data.loss, data.feedback)?;
        match data.name {
            Some(name) => arm.named(name),
            None => Ok(arm),
        }
    }
}

impl From<Arm> for ArmData {
    fn from(arm: Arm) -> Self {
        let rested = arm.is_rested();
        Self {
            name: arm.name,
            weights: (!rested).then(|| arm.weights.as_slice().to_vec()),
            memory: rested.then_some(Memory::All),
            loss: arm.curve,
            feedback: arm.noise,
        }
    }
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
        let rested = Arm::new(Weights::all(), LossCurve::table([0.2, 0.4]), Noise::None).unwrap();
        let text = serde_json::to_string(&rested).unwrap();
        assert_eq!(text, r#"{"memory":"all","loss":{"table":[0.2,0.4]},"feedback":"none"}"#);
        assert_eq!(serde_json::from_str::<Arm>(&text).unwrap(), rested);
    }
}
