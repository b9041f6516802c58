//! What a diagnosis says: plain data, the same in Rust, in `diagnosis.json` and in Python.

use calibandit::tallying::Kernel;
use serde::{Deserialize, Serialize};

use super::game::{ArmCurve, LossSummary};

/// What a log of plays says about the memory of its arms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The memory bound to give to a policy; `None` if the log does not support one.
    pub memory_bound: Option<u32>,
    /// Why there is, or is not, a memory bound.
    pub why: Why,
    /// The bound that holds if no arm remembers more than `reach` plays; `None` if some arm has none even then.
    pub conditional_bound: Option<u32>,
    /// The longest memory that the log can speak of: the least reach of its arms. It depends on which arms were played
    /// when, and on the noise, not on how losses change.
    pub reach: u32,
    /// The longest memory that the user considers possible.
    pub longest: Option<u32>,
    /// The largest difference of losses that does not matter.
    pub tolerance: f64,
    /// The confidence of every statement.
    pub confidence: f64,
    /// The number of plays in the log.
    pub plays: u64,
    /// The number of plays whose loss is missing.
    pub missing: u64,
    /// The number of units: sequences of plays with a memory of their own.
    pub units: usize,
    /// What clusters of losses are taken to be independent.
    pub clusters: Clusters,
    /// The arms, in order of first appearance.
    pub arms: Vec<ArmDiagnosis>,
    /// Whether repeated exposure is optimal.
    pub reo: ReoDiagnosis,
    /// The memories that a tallying model allows; `None` where the log does not support such a model.
    pub tallying: Option<TallyingDiagnosis>,
    /// What else a reader must know, most important first.
    pub notes: Vec<Note>,
    /// The pilot that would settle what this log cannot; `None` if nothing is open, or if nobody knows how long a
    /// memory is possible.
    pub pilot: Option<SuggestedPilot>,
    /// The range of the losses.
    pub losses: LossSummary,
    /// The expected losses by plays in a row, where they are known. They are the fitted games, and not what a diagnosis
    /// says.
    #[serde(skip)]
    pub(super) curves: Vec<Option<ArmCurve>>,
}

/// A diagnosis with its fitted curves: everything that is needed to continue from it in another process.
#[derive(Serialize, Deserialize)]
struct StoredDiagnosis {
    said: Diagnosis,
    curves: Vec<Option<ArmCurve>>,
}

impl Diagnosis {
    /// The whole diagnosis as JSON, fitted games included, unlike its serialisation, which has what is said only.
    ///
    /// # Errors
    /// None that is known: every number of a diagnosis is finite.
    pub fn to_stored_json(&self) -> Result<String, serde_json::Error> {
        let (said, curves) = (self.clone(), self.curves.clone());
        serde_json::to_string(&StoredDiagnosis { said, curves })
    }

    /// The diagnosis that [`to_stored_json`](Self::to_stored_json) wrote, with the same bits.
    ///
    /// # Errors
    /// If the text is not one that it wrote, as far as its fields show.
    pub fn from_stored_json(json: &str) -> Result<Self, serde_json::Error> {
        let StoredDiagnosis { said, curves } = serde_json::from_str(json)?;
        if curves.len() != said.arms.len() {
            return Err(serde::de::Error::custom("there must be one curve per arm"));
        }
        Ok(Self { curves, ..said })
    }

    /// The arm of this name.
    pub fn arm(&self, name: &str) -> Option<&ArmDiagnosis> {
        self.arms.iter().find(|arm| arm.name == name)
    }
}

/// Why a diagnosis has a memory bound, or has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// Every arm is shown to settle, and the log reaches as far as the longest possible memory.
    Settled,
    /// The user did not say how long a memory is possible, so the bound holds under a condition only.
    NoLongest,
    /// The log does not reach as far as the longest possible memory.
    Reach,
    /// Some arm still changes just below the reach.
    Changes,
    /// Some arm has too few plays for a decision.
    TooFewPlays,
}

/// What clusters of losses are taken to be independent in standard errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Clusters {
    /// Runs, and parts of long runs.
    Runs,
    /// Units.
    Units,
}

/// A value with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// What a log says about one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArmDiagnosis {
    /// The arm's name.
    pub name: String,
    /// Its plays.
    pub plays: u64,
    /// Its runs: sequences of plays in a row.
    pub runs: u64,
    /// The standard deviation of a loss around its expectation.
    pub sd: f64,
    /// The longest memory that the log can speak of for this arm.
    pub reach: u32,
    /// After how many plays in a row the loss stays within the tolerance of the eventual loss.
    pub settled: Settled,
    /// The eventual loss; `None` if there are too few calibrated plays.
    pub eventual: Option<Estimate>,
    /// The loss by position in a run after a rest.
    pub curve: Vec<CurveCell>,
    /// The loss of a play after a pause of its arm, by length of the pause, for plays that follow a long run.
    pub forgetting: Vec<CurveCell>,
    /// Positions where the loss is significantly lower than the eventual loss: the arm tires.
    pub fatigue: Option<Fatigue>,
}

/// Bounds on the number of plays in a row after which an arm has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// It has not settled before this play.
    pub lower: u32,
    /// It has settled from this play on; `None` if the log does not show it.
    pub upper: Option<u32>,
    /// A point estimate, which is too small as often as too large.
    pub estimate: Option<u32>,
    /// Why the search for a smaller upper bound ended.
    pub stopped: Stopped,
}

/// Why the search from long to short positions ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stopped {
    /// The loss is within the tolerance from the first play on.
    First,
    /// The loss differs there from the eventual loss.
    Changes,
    /// There are too few plays there for a decision.
    TooFewPlays,
}

/// The mean loss of a range of positions, and what is still to change there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurveCell {
    /// The first position, or the shortest pause.
    pub first: u32,
    /// The last position, or the longest pause.
    pub last: u32,
    /// The number of losses.
    pub plays: u64,
    /// Their mean, with its pointwise interval.
    pub loss: Estimate,
    /// The difference to the eventual loss in the window that ends here, with the one-sided bounds of the test; `None`
    /// if the test has no window here.
    pub difference: Option<Estimate>,
    /// Whether the test showed that the loss is settled from here on.
    pub settled: bool,
}

/// Positions at which an arm is better than eventually.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fatigue {
    /// The first position.
    pub first: u32,
    /// The last position.
    pub last: u32,
    /// By how much the loss is lower there.
    pub drop: f64,
    /// The p-value, corrected for the number of positions tested.
    pub p: f64,
}

/// Whether playing one arm over and over is optimal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReoDiagnosis {
    /// The verdict.
    pub verdict: ReoVerdict,
    /// The interval of alpha over the states that the log visits; the upper end is `None` if it cannot be bounded.
    pub alpha: (f64, Option<f64>),
    /// The state that is better than every eventual loss, if there is one.
    pub witness: Option<ReoWitness>,
    /// Why the verdict is not "holds".
    pub reason: Option<String>,
}

/// The verdict about repeated exposure optimality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReoVerdict {
    /// Alpha is at most the tolerance.
    Holds,
    /// Some state has a lower loss than every eventual loss.
    Violated,
    /// Neither can be said.
    Undecided,
}

/// A state with a lower loss than every eventual loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReoWitness {
    /// The arm.
    pub arm: String,
    /// The first position of the state.
    pub first: u32,
    /// The last position of the state.
    pub last: u32,
    /// The p-value, corrected for the number of states.
    pub p: f64,
}

/// The memories that a tallying model with a monotone loss curve allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TallyingDiagnosis {
    /// The weights of past plays.
    pub kernel: Kernel,
    /// The likeliest memory.
    pub memory: u32,
    /// The memories that are not excluded: the least, and the largest or `None` if the largest candidate is not
    /// excluded.
    pub set: (u32, Option<u32>),
    /// The largest number of plays in a row after which the loss has settled, over every kind of weights that is not
    /// excluded; `None` if it is not bounded.
    pub settled: Option<u32>,
    /// By how much deviances were divided because losses of one run are alike.
    pub dispersion: f64,
    /// The p-value of the hypothesis that the model fits; small values speak against tallying.
    pub fit: Option<f64>,
}

/// The sizes of pilots that would settle what a log cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedPilot {
    /// The longest memory that it can speak of.
    pub longest: u32,
    /// Plays of all arms, in runs of log-uniform length, if tallying with a monotone curve is believed.
    pub tallying: u64,
    /// Plays of all arms, in blocks, if nothing is believed.
    pub blocks: u64,
}

/// Something a reader must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Note {
    /// What it is about, for programs.
    pub kind: NoteKind,
    /// What it says, for people.
    pub text: String,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoteKind {
    /// Position in a run and time of the unit cannot be told apart.
    Confounded,
    /// Losses change with time.
    Drift,
    /// Losses of one run, or of one unit, are alike.
    Clustered,
    /// The log does not reach as far as the longest possible memory.
    Reach,
    /// An arm has too few plays.
    TooFewPlays,
    /// An arm still changes at the reach.
    Changes,
    /// An arm is better after few plays than eventually.
    Fatigue,
    /// A tallying model does not fit, or cannot be judged.
    Tallying,
    /// Rows were left out, or sequences interrupted.
    Rows,
}
