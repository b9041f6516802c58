//! Where the games and policies of an experiment come from: specifications, or code of the user.

use std::fmt;
use std::sync::Arc;

use calibandit::{Game, GameError, GameSpec, Policy, PolicySpec, Problem, RewardRange, Stream};
use serde::ser::Error;
use serde::{Serialize, Serializer};

/// Where the games of the instances come from.
#[derive(Clone, Debug, PartialEq)]
pub enum GameSource {
    /// A specification: a game is drawn per instance.
    Spec(GameSpec),
    /// One game for all instances, for example with a loss curve that is a function.
    Fixed(Game),
    /// One game for all instances, with a title of its own.
    Titled {
        /// The title in tables and figures.
        title: String,
        /// The game.
        game: Game,
    },
}

impl GameSource {
    /// The game of an instance.
    ///
    /// # Errors
    /// [`GameError`] if the specification is invalid.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        match self {
            GameSource::Spec(spec) => spec.draw(stream),
            GameSource::Fixed(game) | GameSource::Titled { game, .. } => Ok(game.clone()),
        }
    }

    /// The name in tables and figures.
    pub fn title(&self) -> String {
        match self {
            GameSource::Spec(spec) => spec.title(),
            GameSource::Fixed(game) if game.is_rested() => format!("custom, K = {}, rested", game.arms().len()),
            GameSource::Fixed(game) => format!("custom, K = {}, m = {}", game.arms().len(), game.memory()),
            GameSource::Titled { title, .. } => title.clone(),
        }
    }

    /// Whether all instances are the same game. Most named games place their best arm at random, so that instances
    /// differ at least in the order of the arms.
    pub(crate) fn is_same_in_all_instances(&self) -> bool {
        self.spec().is_none_or(|spec| matches!(spec, GameSpec::Custom(_)))
    }

    /// Whether instances differ in more than the order of their arms.
    pub fn is_random(&self) -> bool {
        match self {
            GameSource::Spec(spec) => spec.is_random(),
            GameSource::Fixed(_) | GameSource::Titled { .. } => false,
        }
    }

    /// The range of rewards, if the game or its source is stated in rewards.
    pub fn rewards(&self) -> Option<RewardRange> {
        match self {
            GameSource::Spec(spec) => spec.rewards(),
            GameSource::Fixed(game) | GameSource::Titled { game, .. } => game.rewards(),
        }
    }

    /// Whether the user stated it in rewards, and not only its source.
    pub(crate) fn states_rewards(&self) -> bool {
        self.spec().map_or(self.rewards().is_some(), GameSpec::states_rewards)
    }

    /// The specification, if there is one.
    pub fn spec(&self) -> Option<&GameSpec> {
        match self {
            GameSource::Spec(spec) => Some(spec),
            GameSource::Fixed(_) | GameSource::Titled { .. } => None,
        }
    }
}

impl From<GameSpec> for GameSource {
    fn from(spec: GameSpec) -> Self {
        GameSource::Spec(spec)
    }
}

impl From<Game> for GameSource {
    fn from(game: Game) -> Self {
        GameSource::Fixed(game)
    }
}

/// As the `[game]` table of a file; an error for a game without a specification.
impl Serialize for GameSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spec = self.spec().ok_or_else(|| S::Error::custom("a fixed game cannot be written to a file"))?;
        spec.serialize(serializer)
    }
}

/// Where the policies of the instances come from.
#[derive(Clone)]
pub enum PolicySource {
    /// A policy of the library.
    Spec(PolicySpec),
    /// A policy of the user.
    User(Arc<dyn UserPolicyFactory>),
}

impl PolicySource {
    /// A policy of the user, built per instance by `build`.
    pub fn user<P: Policy>(build: impl Fn(&Problem, Stream) -> P + Send + Sync + 'static) -> Self {
        PolicySource::User(Arc::new(build))
    }

    /// The label if none is given.
    pub fn label(&self) -> String {
        match self {
            PolicySource::Spec(spec) => spec.label(),
            PolicySource::User(_) => "own".to_owned(),
        }
    }

    /// The bound on the memory that the policy is told, if it is told one and this is known.
    pub fn memory_bound(&self) -> Option<u64> {
        self.spec().and_then(PolicySpec::memory_bound)
    }

    /// The specification, if there is one.
    pub fn spec(&self) -> Option<&PolicySpec> {
        match self {
            PolicySource::Spec(spec) => Some(spec),
            PolicySource::User(_) => None,
        }
    }
}

impl<T: Into<PolicySpec>> From<T> for PolicySource {
    fn from(spec: T) -> Self {
        PolicySource::Spec(spec.into())
    }
}

impl fmt::Debug for PolicySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicySource::Spec(spec) => f.debug_tuple("Spec").field(spec).finish(),
            PolicySource::User(_) => f.debug_tuple("User").finish_non_exhaustive(),
        }
    }
}

/// Policies are equal if they are known to make the same decisions.
impl PartialEq for PolicySource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (PolicySource::Spec(one), PolicySource::Spec(other)) => one == other,
            _ => false,
        }
    }
}

/// As the `[[policy]]` table of a file; an error for a policy of the user.
impl Serialize for PolicySource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spec = self.spec().ok_or_else(|| S::Error::custom("a policy of the user cannot be written to a file"))?;
        spec.serialize(serializer)
    }
}

/// Builds policies of the user, one per instance. Functions `Fn(&Problem, Stream) -> impl Policy` implement it.
pub trait UserPolicyFactory: Send + Sync {
    /// Builds a policy for this problem, with `stream` for its own random numbers, and calls `play` with it, once.
    ///
    /// Called on any thread. A lock that the policy needs while it plays can be held by this function.
    fn with_policy(&self, problem: &Problem, stream: Stream, play: &mut dyn FnMut(&mut dyn Policy));
}

impl<P: Policy, F: Fn(&Problem, Stream) -> P + Send + Sync> UserPolicyFactory for F {
    fn with_policy(&self, problem: &Problem, stream: Stream, play: &mut dyn FnMut(&mut dyn Policy)) {
        play(&mut self(problem, stream));
    }
}

/// A policy of an experiment with the label that tables and figures show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelledPolicy {
    /// The label, unique in the experiment.
    pub label: String,
    /// The policy.
    #[serde(flatten)]
    pub policy: PolicySource,
}

impl LabelledPolicy {
    pub(crate) fn new(label: String, policy: impl Into<PolicySource>) -> Self {
        Self { label, policy: policy.into() }
    }
}
