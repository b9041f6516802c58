//! Several policies on many instances of a game, in one expression.

use super::outcome::{PolicyOutcome, SimulationOutcome};
use super::{
    BatchItem, Engine, Grid, GridError, SimulateError, Trajectory, batch_size, simulate_batch_interruptible,
    simulate_interruptible,
};
use crate::game::{GameError, Optima, OptimumError};
use crate::{AnyPolicy, Game, GameSpec, Interrupt, Policy, PolicyError, PolicySpec, Problem, Stream, StreamKey};

/// Instances are drawn and simulated in groups of this size, which bounds the memory: enough for one SIMD batch.
const GROUP: u64 = 8;

/// Several policies on many instances of a game.
///
/// ```
/// use calibandit::policy::{Calibrated, Thompson};
/// use calibandit::{Arm, Game, LossCurve, Noise, Simulation, Weights};
///
/// let worker = |losses: [f64; 4]| Arm::new(Weights::unit(4)?, LossCurve::by_plays(losses), Noise::Bernoulli);
/// let game = Game::new(vec![worker([0.5, 0.5, 0.5, 0.5])?, worker([0.9, 0.7, 0.5, 0.1])?])?;
/// let outcome = Simulation::new(game)
///     .policy(Calibrated::builder(4))
///     .policy(Thompson::builder())
///     .horizon(100_000)
///     .run()?;
/// println!("{outcome}");
/// let [calibrated, thompson] = outcome.policies() else { unreachable!("two policies were given") };
/// assert!(calibrated.regret() < 100.0 && thompson.regret() > 10_000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Defaults and reproducibility
///
/// | setting | default |
/// |---|---|
/// | [`horizon`](Self::horizon) | 100,000 plays |
/// | [`instances`](Self::instances) | 20 |
/// | [`seed`](Self::seed) | 1 |
/// | [`name`](Self::name) | `"simulation"` |
/// | [`engine`](Self::engine) | [`Engine::Leaping`] |
/// | [`checkpoints`](Self::checkpoints) | the horizon only |
///
/// Instance i uses the streams of [`StreamKey::new(seed, name, i)`](StreamKey::new). An experiment file with the same
/// game, policies, name and seed gives the same numbers, bit for bit on one platform.
///
/// A simulation runs on the calling thread. To use several cores, several machines or an interrupted run's results,
/// write an experiment file.
#[must_use = "call `run` to simulate"]
pub struct Simulation<'a> {
    game: SimulationGame,
    policies: Vec<(String, SimulationPolicy<'a>)>,
    name: String,
    seed: u64,
    instances: u64,
    horizon: u64,
    engine: Engine,
    checkpoints: CheckpointRule,
    interrupt: Interrupt<'a>,
}

/// The game of a [`Simulation`]: one game, or a spec from which each instance draws its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SimulationGame {
    /// The same game in every instance.
    Fixed(Game),
    /// One draw per instance.
    Drawn(GameSpec),
}

impl From<Game> for SimulationGame {
    fn from(game: Game) -> Self {
        Self::Fixed(game)
    }
}

impl<T: Into<GameSpec>> From<T> for SimulationGame {
    fn from(spec: T) -> Self {
        Self::Drawn(spec.into())
    }
}

type BoxedFactory<'a> = Box<dyn Fn(&Problem, Stream) -> Box<dyn Policy + 'a> + 'a>;

enum SimulationPolicy<'a> {
    Spec(PolicySpec),
    Factory(BoxedFactory<'a>),
}

/// The times at which the regret is recorded.
enum CheckpointRule {
    Linear(usize),
    Logarithmic(usize),
    At(Vec<u64>),
}

/// Why a [`Simulation`] failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// No policy was given.
    #[error("the simulation has no policy: add one with `policy` or `policy_with`")]
    NoPolicies,
    /// The number of instances is 0.
    #[error("the simulation has 0 instances: there must be at least one")]
    NoInstances,
    /// Two policies have the same label.
    #[error("two policies have the label {label:?}: give them different labels")]
    SameLabel {
        /// The label.
        label: String,
    },
    /// The horizon or the checkpoints are invalid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The game cannot be drawn.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The optimum of the game cannot be computed.
    #[error(transparent)]
    Optimum(#[from] OptimumError),
    /// A policy cannot be built.
    #[error("policy {label:?}: {source}")]
    Policy {
        /// Its label.
        label: String,
        /// The cause.
        source: PolicyError,
    },
    /// A policy could not be simulated.
    #[error("policy {label:?}, instance {instance}: {source}")]
    Simulate {
        /// Its label.
        label: String,
        /// The instance.
        instance: u64,
        /// The cause.
        source: SimulateError,
    },
}

impl<'a> Simulation<'a> {
    /// A simulation on a [`Game`], on a [`GameSpec`] or on one of the specs in [`zoo`](crate::zoo).
    pub fn new(game: impl Into<SimulationGame>) -> Self {
        Self {
            game: game.into(),
            policies: Vec::new(),
            name: "simulation".to_owned(),
            seed: 1,
            instances: 20,
            horizon: 100_000,
            engine: Engine::Leaping,
            checkpoints: CheckpointRule::At(Vec::new()),
            interrupt: Interrupt::never(),
        }
    }

    /// Adds a policy of this library under its usual [label](PolicySpec::label), numbered if the label is taken.
    pub fn policy(self, policy: impl Into<PolicySpec>) -> Self {
        let policy = policy.into();
        let plain = policy.label();
        let numbered = (2..).map(|n| format!("{plain} #{n}"));
        let taken = |label: &String| self.policies.iter().any(|(other, _)| other == label);
        let label = std::iter::once(plain.clone()).chain(numbered).find(|label| !taken(label));
        let label = label.expect("there are infinitely many numbered labels");
        self.labelled(label, SimulationPolicy::Spec(policy))
    }

    /// Adds a policy of this library under a label of your choice.
    pub fn policy_as(self, label: impl Into<String>, policy: impl Into<PolicySpec>) -> Self {
        self.labelled(label.into(), SimulationPolicy::Spec(policy.into()))
    }

    /// Adds your own policy. The function is called once per instance; the stream is for the policy's own
    /// randomisation.
    pub fn policy_with<P: Policy + 'a>(
        self,
        label: impl Into<String>,
        policy: impl Fn(&Problem, Stream) -> P + 'a,
    ) -> Self {
        let factory =
            move |problem: &Problem, stream: Stream| Box::new(policy(problem, stream)) as Box<dyn Policy + 'a>;
        self.labelled(label.into(), SimulationPolicy::Factory(Box::new(factory)))
    }

    fn labelled(mut self, label: String, policy: SimulationPolicy<'a>) -> Self {
        self.policies.push((label, policy));
        self
    }

    /// The number of plays per instance.
    pub fn horizon(self, horizon: u64) -> Self {
        Self { horizon, ..self }
    }

    /// The number of instances. Each has its own streams and, if the game is random, its own game.
    pub fn instances(self, instances: u64) -> Self {
        Self { instances, ..self }
    }

    /// The seed from which all streams are derived.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The name from which, together with the seed, all streams are derived. An experiment file of the same name and
    /// seed has the same streams.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// How plays are computed.
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// Records the regret at this many evenly spaced times.
    pub fn checkpoints(self, points: usize) -> Self {
        Self { checkpoints: CheckpointRule::Linear(points), ..self }
    }

    /// Records the regret at up to this many times with a constant ratio between neighbours.
    pub fn logarithmic_checkpoints(self, points: usize) -> Self {
        Self { checkpoints: CheckpointRule::Logarithmic(points), ..self }
    }

    /// Records the regret at these times and at the horizon.
    pub fn checkpoints_at(self, times: impl Into<Vec<u64>>) -> Self {
        Self { checkpoints: CheckpointRule::At(times.into()), ..self }
    }

    /// Gives the simulation a stop flag and a counter of plays. Once the flag is set, [`run`](Self::run) ends with
    /// [`SimulateError::Interrupted`] or [`OptimumError::Interrupted`].
    pub fn interrupt(self, interrupt: Interrupt<'a>) -> Self {
        Self { interrupt, ..self }
    }

    /// Simulates all policies on all instances.
    pub fn run(&self) -> Result<SimulationOutcome, SimulationError> {
        let grid = self.check()?;
        let outcome = |(label, _): &(String, _)| PolicyOutcome::new(label.clone());
        let mut outcomes: Vec<PolicyOutcome> = self.policies.iter().map(outcome).collect();
        for first in (0..self.instances).step_by(GROUP as usize) {
            let instances: Vec<DrawnInstance<'_>> = (first..self.instances.min(first.saturating_add(GROUP)))
                .map(|instance| self.instance(instance, &grid))
                .collect::<Result<_, _>>()?;
            for ((label, policy), outcome) in self.policies.iter().zip(&mut outcomes) {
                for (instance, trajectory) in instances.iter().zip(self.simulate(label, policy, &instances, &grid)?) {
                    outcome.push(trajectory, &instance.optimum);
                }
            }
        }
        Ok(SimulationOutcome::new(grid.times().to_vec(), outcomes))
    }

    fn check(&self) -> Result<Grid, SimulationError> {
        if self.policies.is_empty() {
            return Err(SimulationError::NoPolicies);
        }
        if self.instances == 0 {
            return Err(SimulationError::NoInstances);
        }
        if self.horizon > Optima::LONGEST_HORIZON {
            return Err(OptimumError::HorizonTooLong { horizon: self.horizon }.into());
        }
        for (i, (label, _)) in self.policies.iter().enumerate() {
            if self.policies[..i].iter().any(|(other, _)| other == label) {
                return Err(SimulationError::SameLabel { label: label.clone() });
            }
        }
        Ok(match &self.checkpoints {
            CheckpointRule::Linear(points) => Grid::linear(self.horizon, *points)?,
            CheckpointRule::Logarithmic(points) => Grid::logarithmic(self.horizon, *points)?,
            CheckpointRule::At(times) => Grid::at(self.horizon, times.clone())?,
        })
    }

    fn instance(&self, number: u64, grid: &Grid) -> Result<DrawnInstance<'_>, SimulationError> {
        let streams = StreamKey::new(self.seed, &self.name, number);
        let game = match &self.game {
            SimulationGame::Fixed(game) => game.clone(),
            SimulationGame::Drawn(spec) => spec.draw(&mut streams.game())?,
        };
        let mut optima = Optima::new(&game).interruptible(self.interrupt);
        let optimum = grid.times().iter().map(|&time| optima.excess_at(time)).collect::<Result<_, _>>()?;
        Ok(DrawnInstance { number, streams, game, optimum })
    }

    /// The trajectories of one policy on some instances.
    fn simulate(
        &self,
        label: &str,
        policy: &SimulationPolicy<'a>,
        instances: &[DrawnInstance<'_>],
        grid: &Grid,
    ) -> Result<Vec<Trajectory>, SimulationError> {
        let failed = |instance: &DrawnInstance<'_>, source| SimulationError::Simulate {
            label: label.to_owned(),
            instance: instance.number,
            source,
        };
        let alone = |instance: &DrawnInstance<'_>, policy: &mut dyn Policy| {
            let noise = &mut instance.streams.noise();
            simulate_interruptible(&instance.game, policy, grid, self.engine, noise, self.interrupt)
                .map_err(|source| failed(instance, source))
        };
        let build = |spec: &PolicySpec, instance: &DrawnInstance<'_>| -> Result<AnyPolicy, SimulationError> {
            let built = spec.build(&instance.game.problem(self.horizon), instance.streams.policy());
            built.map_err(|source| SimulationError::Policy { label: label.to_owned(), source })
        };
        match policy {
            SimulationPolicy::Factory(factory) => instances
                .iter()
                .map(|instance| {
                    let mut policy = factory(&instance.game.problem(self.horizon), instance.streams.policy());
                    alone(instance, &mut *policy)
                })
                .collect(),
            SimulationPolicy::Spec(spec) if self.engine == Engine::Leaping && batch_size(spec) > 1 => {
                let mut policies =
                    instances.iter().map(|instance| build(spec, instance)).collect::<Result<Vec<_>, _>>()?;
                let mut noises: Vec<Stream> = instances.iter().map(|instance| instance.streams.noise()).collect();
                let mut items: Vec<BatchItem<'_>> = instances
                    .iter()
                    .zip(policies.iter_mut().zip(&mut noises))
                    .map(|(instance, (policy, noise))| BatchItem { game: &instance.game, policy, noise })
                    .collect();
                let trajectories =
                    simulate_batch_interruptible(&mut items, grid, self.interrupt).into_iter().zip(instances);
                trajectories.map(|(played, instance)| played.map_err(|source| failed(instance, source))).collect()
            }
            SimulationPolicy::Spec(spec) => {
                instances.iter().map(|instance| alone(instance, &mut build(spec, instance)?)).collect()
            }
        }
    }
}

/// One instance of the game.
struct DrawnInstance<'s> {
    number: u64,
    streams: StreamKey<'s>,
    game: Game,
    /// The optimum's excess over mu(x*) at each checkpoint.
    optimum: Vec<f64>,
}
