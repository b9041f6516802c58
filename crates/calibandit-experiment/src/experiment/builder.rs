//! Builds an experiment in code, also with games and policies that no file can hold.

use calibandit::rng::StreamKey;
use calibandit::simulate::{LiveError, LiveSpec};
use calibandit::{Game, Problem};
use serde_json::{Map, Value, json};

use super::{Experiment, GameSource, LabelledPolicy, Origin, PolicySource, RunSize};
use crate::spec::{
    Checkpoints, DiagnosticKind, Diagnostics, FigureSpec, Finding, LONGEST_LABEL, LONGEST_TITLE, MOST_CHECKPOINTS,
    MOST_INSTANCES, MOST_PLAYS, Overrides, Point, RegretReference, Source, TakenLabels, check_name,
};

/// Builds an [`Experiment`] with one game. Made by [`Experiment::builder`].
///
/// ```
/// use calibandit::policy::EpochUcb;
/// use calibandit::{Arm, Feedback, Game, LossCurve, Noise, Policy, Run, Weights};
/// use calibandit_experiment::run::{RunOptions, Shard, run};
/// use calibandit_experiment::{Experiment, PolicySource};
///
/// struct AlwaysFirst;
/// impl Policy for AlwaysFirst {
///     fn next_run(&mut self) -> Run { Run::forever(0) }
///     fn observe(&mut self, _: Run, _: Feedback) {}
///     fn recommend(&self) -> usize { 0 }
/// }
///
/// let warming = LossCurve::function(|tally| 0.8 - 0.2 * tally);
/// let game = Game::new(vec![
///     Arm::new(Weights::unit(3)?, LossCurve::constant(0.5), Noise::Bernoulli)?,
///     Arm::new(Weights::unit(3)?, warming, Noise::Bernoulli)?,
/// ])?;
/// let experiment = Experiment::builder("own")
///     .game(game)
///     .policy(PolicySource::user(|_, _| AlwaysFirst))
///     .policy(EpochUcb::builder(3))
///     .horizon(1000)
///     .instances(4)
///     .build()?;
/// let stop = Default::default();
/// let results = run(&experiment, &RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &() }, None)?;
/// // 1000 plays at 0.5 instead of 0.6, 0.4 and 998 at 0.2.
/// assert!((results.ends(0, 0).next().expect("four instances").last.cpr - 299.4).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ExperimentBuilder {
    source: String,
    name: String,
    title: Option<String>,
    game: Option<GameSource>,
    policies: Vec<(Option<String>, PolicySource)>,
    horizon: u64,
    instances: u64,
    seed: u64,
    checkpoints: Checkpoints,
    live: Option<LiveSpec>,
}

impl Experiment {
    /// Builds an experiment in code. The name identifies the results and is part of what the random numbers are derived
    /// from. The defaults are those of a file.
    pub fn builder(name: impl Into<String>) -> ExperimentBuilder {
        let name = name.into();
        ExperimentBuilder {
            source: name.clone(),
            name,
            title: None,
            game: None,
            policies: Vec::new(),
            horizon: 0,
            instances: 20,
            seed: 1,
            checkpoints: Checkpoints::default(),
            live: None,
        }
    }
}

impl ExperimentBuilder {
    /// The text that stands for the experiment in errors, instead of its name.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// The title of figures and reports.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The game.
    pub fn game(mut self, game: impl Into<GameSource>) -> Self {
        self.game = Some(game.into());
        self
    }

    /// Adds a policy. Its label is that of its kind, numbered if another policy has it.
    pub fn policy(mut self, policy: impl Into<PolicySource>) -> Self {
        self.policies.push((None, policy.into()));
        self
    }

    /// Adds a policy with a label, which must be unique.
    pub fn labelled_policy(mut self, label: impl Into<String>, policy: impl Into<PolicySource>) -> Self {
        self.policies.push((Some(label.into()), policy.into()));
        self
    }

    /// The number of plays, T.
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.horizon = horizon;
        self
    }

    /// The number of instances of the game that each policy plays.
    pub fn instances(mut self, instances: u64) -> Self {
        self.instances = instances;
        self
    }

    /// The seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// When the regret is recorded.
    pub fn checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// Live use: lanes, late and lost losses, sessions.
    pub fn live(mut self, live: LiveSpec) -> Self {
        self.live = Some(live);
        self
    }

    /// Validates the experiment. Without code of the user it is validated as a file is, and equal to the one read from
    /// that file.
    ///
    /// # Errors
    /// Everything that is wrong with the experiment.
    pub fn build(self) -> Result<Experiment, Diagnostics> {
        match self.to_json() {
            Some(file) => Experiment::from_json(&self.source, &file),
            None => self.build_with_user_code(),
        }
    }

    /// The experiment with the keys of a file; `None` if a file cannot hold it.
    fn to_json(&self) -> Option<Value> {
        let mut file = Map::new();
        file.insert("name".into(), self.name.clone().into());
        if let Some(title) = &self.title {
            file.insert("title".into(), title.clone().into());
        }
        file.insert("horizon".into(), self.horizon.into());
        file.insert("instances".into(), self.instances.into());
        file.insert("seed".into(), self.seed.into());
        file.insert("checkpoints".into(), json!(self.checkpoints));
        if let Some(game) = &self.game {
            file.insert("game".into(), json!(game.spec()?));
        }
        if let Some(live) = &self.live {
            file.insert("live".into(), json!(live));
        }
        let policies = self.policies.iter().map(|(label, policy)| {
            let mut table = json!(policy.spec()?);
            if let Some(label) = label {
                table["label"] = label.clone().into();
            }
            Some(table)
        });
        file.insert("policy".into(), policies.collect::<Option<_>>()?);
        Some(Value::Object(file))
    }

    fn build_with_user_code(self) -> Result<Experiment, Diagnostics> {
        let source = Source::without_text(&self.source);
        let fail = |findings: Vec<Finding>| Err(source.locate_all(findings));
        let mut findings = self.number_findings();
        findings.extend(check_name(&self.name, None));
        let policies = self.labelled_policies().map_err(|more| findings.extend(more));
        let grid = self.checkpoints.grid(self.horizon).map_err(|error| {
            findings.push(impossible("checkpoints.at", error.to_string()));
        });
        let Some(game) = &self.game else {
            findings.push(impossible("game", "there is no game"));
            return fail(findings);
        };
        let drawn = game.draw(&mut StreamKey::new(self.seed, &self.name, 0).game()).map_err(|error| {
            findings.push(impossible("game", error.to_string()));
        });
        let checkpoints = grid.as_ref().map_or(1, |grid| grid.times().len());
        let size = RunSize::new(1, self.policies.len(), self.instances, checkpoints);
        findings.extend(size.refusal(None).map(|refusal| impossible("instances", refusal)));
        let (Ok(policies), Ok(grid), Ok(drawn), true) = (policies, grid, drawn, findings.is_empty()) else {
            return fail(findings);
        };
        let problem = drawn.problem(self.horizon);
        let mut resolved = Vec::new();
        for (i, entry) in policies.iter().enumerate() {
            match resolve(entry, &problem) {
                Ok(policy) => resolved.push(policy),
                Err(message) => findings.push(impossible(format!("policy[{i}]"), message)),
            }
        }
        findings.extend(self.live.and_then(|live| live_finding(&live, &drawn, &policies)));
        if !findings.is_empty() {
            return fail(findings);
        }
        let point = Point {
            index: 0,
            id: "game".to_owned(),
            label: game.title(),
            title: game.title(),
            settings: Vec::new(),
            game: game.clone(),
            policies: resolved,
            live: self.live,
        };
        Ok(Experiment {
            name: self.name.clone(),
            title: self.title.clone(),
            description: None,
            horizon: self.horizon,
            instances: self.instances,
            seed: self.seed,
            reference: RegretReference::default(),
            show: None,
            figure: FigureSpec::default(),
            policies,
            points: vec![point],
            grid,
            origin: Origin::Built(Box::new(self)),
        })
    }

    /// The limits that the schema of files sets.
    fn number_findings(&self) -> Vec<Finding> {
        let largest = i64::MAX as u64;
        let points = self.checkpoints.points as u64;
        let mut findings = Vec::new();
        for (key, value, least, most) in [
            ("horizon", self.horizon, 1, MOST_PLAYS),
            ("instances", self.instances, 1, MOST_INSTANCES),
            ("seed", self.seed, 0, largest),
            ("checkpoints.points", points, 1, MOST_CHECKPOINTS),
        ] {
            let name = key.rsplit('.').next().unwrap_or(key);
            if value < least {
                findings.push(impossible(key, format!("`{name}` must be at least {least}, but is {value}")));
            } else if value > most {
                findings.push(impossible(key, format!("`{name}` must be at most {most}, but is {value}")));
            }
        }
        findings.extend(self.title.as_ref().and_then(|title| too_long("title", title, LONGEST_TITLE)));
        if self.policies.is_empty() {
            findings.push(impossible("policy", "there is no policy"));
        }
        findings
    }

    fn labelled_policies(&self) -> Result<Vec<LabelledPolicy>, Vec<Finding>> {
        let mut findings = Vec::new();
        let mut taken = TakenLabels::default();
        for (i, (label, _)) in self.policies.iter().enumerate() {
            let Some(label) = label else { continue };
            let key = format!("policy[{i}].label");
            if !taken.add(label) {
                let message = format!("two policies have the label {label:?}: results could not be told apart");
                findings.push(impossible(key, message));
            } else {
                findings.extend(too_long(&key, label, LONGEST_LABEL));
            }
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        let labelled = self.policies.iter().map(|(label, policy)| {
            let label = label.clone().unwrap_or_else(|| taken.unused(&policy.label()));
            LabelledPolicy { label, policy: policy.clone() }
        });
        Ok(labelled.collect())
    }

    /// The same with other numbers, not validated.
    pub(super) fn with(mut self, overrides: Overrides) -> Self {
        self.seed = overrides.seed.unwrap_or(self.seed);
        self.instances = overrides.instances.unwrap_or(self.instances);
        if let Some(horizon) = overrides.horizon {
            self.horizon = horizon;
            if let Some(times) = &mut self.checkpoints.at {
                times.retain(|&time| time <= horizon);
                if times.is_empty() {
                    times.push(horizon);
                }
            }
        }
        self
    }
}

/// The policy with every default filled in.
fn resolve(entry: &LabelledPolicy, problem: &Problem) -> Result<LabelledPolicy, String> {
    let policy = match &entry.policy {
        PolicySource::Spec(spec) => PolicySource::Spec(spec.resolve(problem).map_err(|error| error.to_string())?),
        PolicySource::User(factory) => PolicySource::User(factory.clone()),
    };
    Ok(LabelledPolicy { label: entry.label.clone(), policy })
}

/// Why live use is not possible with this game or one of these policies.
fn live_finding(live: &LiveSpec, game: &Game, policies: &[LabelledPolicy]) -> Option<Finding> {
    if let Err(error) = live.check() {
        return Some(impossible("live", error.to_string()));
    }
    if game.is_rested() {
        return Some(impossible("game", LiveError::Rested.to_string()));
    }
    policies.iter().enumerate().find_map(|(i, entry)| {
        let error = live.check_policy(entry.policy.spec()?).err()?;
        Some(impossible(format!("policy[{i}]"), error.to_string()))
    })
}

fn too_long(key: &str, text: &str, most: u64) -> Option<Finding> {
    let count = text.chars().count() as u64;
    let name = key.rsplit('.').next().unwrap_or(key);
    let message = || format!("`{name}` must have at most {most} characters, but has {count}");
    (count > most).then(|| impossible(key, message()))
}

fn impossible(key: impl Into<String>, message: impl Into<String>) -> Finding {
    Finding::new(None, key, DiagnosticKind::ImpossibleValue, message)
}
