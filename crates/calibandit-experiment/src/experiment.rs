//! A validated experiment: what the runner, the pre-flight analysis, figures and output folders work on.
//!
//! [`ExperimentFile`] is what a user writes. Validating it gives an [`Experiment`], in which the points of the sweep are
//! expanded and every default is filled in. An `Experiment` cannot be invalid: its fields are private, and every way to
//! change it validates again. Reading files and explaining mistakes is the job of [`spec`](crate::spec).

use calibandit::Grid;
use serde_json::Value;

use crate::spec::{self, Diagnostics, Document, ExperimentFile, FigureSpec, Overrides, Point};

/// A validated experiment.
///
/// ```
/// use calibandit_experiment::Experiment;
/// let experiment = Experiment::from_toml("first.toml", r#"
///     name = "first"
///     horizon = 10_000
///     game = { kind = "step", arms = 5, memory = 3 }
///     policy = [{ kind = "epoch-ucb", memory_bound = 3 }]
///     sweep = { "policy.memory_bound" = [3, 6, 12] }
/// "#)?;
/// assert_eq!(experiment.instances(), 20); // the default
/// let labels: Vec<_> = experiment.points().iter().map(|point| point.label.as_str()).collect();
/// assert_eq!(labels, ["M=3", "M=6", "M=12"]);
/// # Ok::<(), calibandit_experiment::spec::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct Experiment {
    file: ExperimentFile,
    points: Vec<Point>,
    grid: Grid,
    /// What `file` was read from: overrides are applied to it, so that errors still point into the text.
    document: Document,
}

/// Experiments are equal if their files are: points and grid follow from the file.
impl PartialEq for Experiment {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

impl Experiment {
    /// Only validation calls this: `points` and `grid` must be those of `file`.
    pub(crate) fn new(file: ExperimentFile, points: Vec<Point>, grid: Grid, document: Document) -> Self {
        Self { file, points, grid, document }
    }

    /// The same experiment with other numbers, validated like those of a file.
    ///
    /// # Errors
    /// [`Diagnostics`] if the experiment is invalid with these numbers.
    pub fn with(self, overrides: Overrides) -> Result<Self, Diagnostics> {
        if overrides == Overrides::default() {
            return Ok(self);
        }
        self.document.with(overrides).validate()
    }

    /// The experiment as a file says it, with every default that does not depend on a point of the sweep.
    pub fn file(&self) -> &ExperimentFile {
        &self.file
    }

    /// The name: identifies the results, and is part of what the random numbers are derived from.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// The title, or the name if there is no title.
    pub fn heading(&self) -> &str {
        self.file.title.as_deref().unwrap_or(&self.file.name)
    }

    /// The description; empty if there is none.
    pub fn description(&self) -> &str {
        self.file.description.as_deref().unwrap_or_default()
    }

    /// The number of plays, T.
    pub fn horizon(&self) -> u64 {
        self.file.horizon
    }

    /// The number of instances of the game that each policy plays.
    pub fn instances(&self) -> u64 {
        self.file.instances
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.file.seed
    }

    /// How the figure is drawn.
    pub fn figure(&self) -> &FigureSpec {
        &self.file.figure
    }

    /// The times at which the regret is recorded.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The points of the sweep, each with its game and its policies. Without a sweep there is one.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The labels of the games: one per point of the sweep.
    pub fn game_labels(&self) -> Vec<String> {
        self.points.iter().map(|point| point.label.clone()).collect()
    }

    /// The labels of the policies, which are the same at all points.
    pub fn policy_labels(&self) -> Vec<String> {
        self.file.policy.iter().map(|entry| entry.label.clone()).collect()
    }

    /// The experiment as a value with the keys of a file, every default written out.
    pub fn to_json(&self) -> Value {
        self.file.to_json()
    }

    /// The experiment as a file, every default written out. Reading it gives the same experiment.
    pub fn to_toml(&self) -> String {
        spec::to_toml(&self.file)
    }
}
