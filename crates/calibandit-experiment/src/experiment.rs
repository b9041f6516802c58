//! A validated experiment: what the runner, the pre-flight analysis, figures and output folders work on.
//!
//! [`ExperimentFile`] is what a user writes. Validating it gives an [`Experiment`], in which the points of the sweep
//! are expanded and every default is filled in. [`Experiment::builder`] makes one in code, also with games and policies
//! that no file can hold. An `Experiment` cannot be invalid: its fields are private, and every way to change it
//! validates again. Reading files and explaining mistakes is the job of [`spec`](crate::spec).

mod builder;
mod size;
mod source;

pub use builder::ExperimentBuilder;
pub use size::RunSize;
pub use source::{GameSource, LabelledPolicy, PolicySource, UserPolicyFactory};

use calibandit::{Grid, RewardRange};
use serde_json::Value;

use crate::results::SweptColumn;
use crate::spec::{
    self, Diagnostics, Document, ExperimentFile, FigureSpec, Overrides, Point, RegretReference, ShownUnit,
};

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
    name: String,
    title: Option<String>,
    description: Option<String>,
    horizon: u64,
    instances: u64,
    seed: u64,
    reference: RegretReference,
    show: Option<ShownUnit>,
    figure: FigureSpec,
    grid: Grid,
    /// As given, without the defaults that depend on a point.
    policies: Vec<LabelledPolicy>,
    points: Vec<Point>,
    origin: Origin,
}

/// What an experiment was made from. Overrides are applied to it and validated again.
#[derive(Clone, Debug)]
enum Origin {
    /// A file, and the document that it was read from, into which errors point.
    File(Box<ExperimentFile>, Document),
    /// A builder with code of the user.
    Built(Box<ExperimentBuilder>),
}

/// Experiments are equal if they give the same results and figures. Policies of the user are never equal.
impl PartialEq for Experiment {
    fn eq(&self, other: &Self) -> bool {
        self.file() == other.file()
            && (self.horizon, self.instances, self.seed) == (other.horizon, other.instances, other.seed)
            && (&self.name, &self.title, &self.grid) == (&other.name, &other.title, &other.grid)
            && self.points == other.points
    }
}

impl Experiment {
    /// Only validation calls this: `points` and `grid` must be those of `file`.
    pub(crate) fn from_file(file: ExperimentFile, points: Vec<Point>, grid: Grid, document: Document) -> Self {
        let policy = |entry: &spec::PolicyEntry| LabelledPolicy::new(entry.label.clone(), entry.policy.clone());
        Self {
            name: file.name.clone(),
            title: file.title.clone(),
            description: file.description.clone(),
            horizon: file.horizon,
            instances: file.instances,
            seed: file.seed,
            reference: file.reference,
            show: file.show,
            figure: file.figure.clone(),
            grid,
            policies: file.policy.iter().map(policy).collect(),
            points,
            origin: Origin::File(Box::new(file), document),
        }
    }

    /// The same experiment with other numbers, validated like those of a file.
    ///
    /// # Errors
    /// [`Diagnostics`] if the experiment is invalid with these numbers.
    pub fn with(self, overrides: Overrides) -> Result<Self, Diagnostics> {
        if overrides == Overrides::default() {
            return Ok(self);
        }
        match self.origin {
            Origin::File(_, document) => document.with(overrides).validate(),
            Origin::Built(builder) => builder.with(overrides).build(),
        }
    }

    /// The experiment as a file says it, with every default that does not depend on a point of the sweep. `None` if it
    /// has a fixed game or a policy of the user, which no file can hold.
    pub fn file(&self) -> Option<&ExperimentFile> {
        match &self.origin {
            Origin::File(file, _) => Some(file),
            Origin::Built(_) => None,
        }
    }

    /// The name: identifies the results, and is part of what the random numbers are derived from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The title, or the name if there is no title.
    pub fn heading(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The description; empty if there is none.
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    /// The number of plays, T.
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The number of instances of the game that each policy plays.
    pub fn instances(&self) -> u64 {
        self.instances
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What losses before the horizon are compared with.
    pub fn reference(&self) -> RegretReference {
        self.reference
    }

    /// The range of rewards of each point, if all of them have one: the game or its source is then stated in rewards.
    pub fn reward_ranges(&self) -> Option<Vec<RewardRange>> {
        self.points.iter().map(|point| point.game.rewards()).collect()
    }

    /// Whether tables and figures for people show losses or rewards.
    pub fn shown(&self) -> ShownUnit {
        let stated = self.points.iter().all(|point| point.game.states_rewards());
        self.show.unwrap_or(if stated { ShownUnit::Rewards } else { ShownUnit::Losses })
    }

    /// How the figure is drawn.
    pub fn figure(&self) -> &FigureSpec {
        &self.figure
    }

    /// The times at which the regret is recorded.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The policies as given. Those with every default filled in are in the [`points`](Self::points).
    pub fn policies(&self) -> &[LabelledPolicy] {
        &self.policies
    }

    /// The points of the sweep, each with its game and its policies. Without a sweep there is one.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The size of the run.
    pub fn size(&self) -> RunSize {
        RunSize::new(self.points.len(), self.policies.len(), self.instances, self.grid.times().len())
    }

    /// The labels of the games: one per point of the sweep.
    pub fn game_labels(&self) -> Vec<String> {
        self.points.iter().map(|point| point.label.clone()).collect()
    }

    /// The columns of the swept keys in result tables, with one value per point.
    pub fn swept(&self) -> Vec<SweptColumn> {
        SweptColumn::of_points(&self.points)
    }

    /// The labels of the policies, which are the same at all points.
    pub fn policy_labels(&self) -> Vec<String> {
        self.policies.iter().map(|entry| entry.label.clone()).collect()
    }

    /// The experiment as a value with the keys of a file, every default written out. `None` if no file can hold it.
    pub fn to_json(&self) -> Option<Value> {
        self.file().map(ExperimentFile::to_json)
    }

    /// The experiment as a file, every default written out. Reading it gives the same experiment. `None` if no file can
    /// hold it.
    pub fn to_toml(&self) -> Option<String> {
        self.file().map(spec::to_toml)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibandit::policy::{Calibrated, Ucb1};
    use calibandit::{Arm, Feedback, Game, LossCurve, Noise, Policy, Run, Weights};
    use serde_json::json;

    struct First;

    impl Policy for First {
        fn next_run(&mut self) -> Run {
            Run::forever(0)
        }
        fn observe(&mut self, _: Run, _: Feedback) {}
        fn recommend(&self) -> usize {
            0
        }
    }

    fn game() -> Game {
        let arm = |loss| Arm::new(Weights::unit(2).unwrap(), LossCurve::constant(loss), Noise::Bernoulli).unwrap();
        Game::new(vec![arm(0.2), arm(0.7)]).unwrap()
    }

    #[test]
    fn a_builder_without_user_code_gives_the_experiment_of_the_file() {
        let spec: calibandit::GameSpec =
            serde_json::from_value(json!({"kind": "step", "arms": 3, "memory": 2})).unwrap();
        let built = Experiment::builder("x").game(spec).policy(Ucb1::builder()).policy(Ucb1::builder()).horizon(100);
        let built = built.build().unwrap();
        let text = "name = \"x\"\nhorizon = 100\ngame = { kind = \"step\", arms = 3, memory = 2 }\n\
                    policy = [{ kind = \"ucb1\" }, { kind = \"ucb1\" }]\n";
        assert_eq!(built, Experiment::from_toml("x.toml", text).unwrap());
        assert_eq!(built.policy_labels(), ["UCB1", "UCB1 #2"]);
    }

    #[test]
    fn user_code_and_library_policies_are_labelled_by_one_rule() {
        let own = || PolicySource::user(|_: &calibandit::Problem, _| First);
        let built = Experiment::builder("x")
            .game(game())
            .policy(own())
            .labelled_policy("own #2", own())
            .policy(own())
            .policy(Calibrated::builder(2))
            .horizon(100)
            .build()
            .unwrap();
        assert_eq!(built.policy_labels(), ["own", "own #2", "own #3", "calibrated"]);
        assert_eq!((built.file(), built.to_json(), built.to_toml()), (None, None, None));
        assert_eq!(built.grid().times().last(), Some(&100));
        let shorter = built.with(Overrides { horizon: Some(50), ..Overrides::default() }).unwrap();
        assert_eq!(shorter.grid().times().last(), Some(&50));
    }

    #[test]
    fn a_builder_reports_everything_that_is_wrong() {
        let own = || PolicySource::user(|_: &calibandit::Problem, _| First);
        let wrong = Experiment::builder("a/b").game(game()).instances(0).labelled_policy("A", own());
        let errors = wrong.labelled_policy("A", own()).build().unwrap_err();
        let mut keys: Vec<&str> = errors.errors().iter().map(|error| error.key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["checkpoints.at", "horizon", "instances", "name", "policy[1].label"]);
        let none = Experiment::builder("x").policy(own()).horizon(10).build().unwrap_err();
        assert_eq!(none.errors()[0].key, "game");
    }
}
