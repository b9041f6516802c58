//! A contest: what an experiment is, for games and policies that no file can hold.
//!
//! A loss curve may be a function and a policy may be somebody's own code; neither can be written down. A contest takes them as they
//! are. Everything else is as in an experiment: the same streams, so that a built-in policy has the same numbers to the last bit
//! in both.

use calibandit::{Game, GameError, GameSpec, Grid, Policy, PolicySpec, Problem, Stream};

/// Policies against one game.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use calibandit::{Arm, Feedback, Game, Grid, LossCurve, Noise, Policy, PolicySpec, Problem, Run, Stream, Weights};
/// use calibandit_experiment::run::{Contest, Contestant, Entrant, GameSource, OwnPolicy, RunOptions, Shard, run_contest};
///
/// struct AlwaysFirst;
/// impl Policy for AlwaysFirst {
///     fn next_run(&mut self) -> Run { Run::forever(0) }
///     fn observe(&mut self, _: Run, _: Feedback) {}
///     fn recommend(&self) -> usize { 0 }
/// }
/// struct Factory;
/// impl OwnPolicy for Factory {
///     fn with_policy(&self, _: &Problem, _: Stream, play: &mut dyn FnMut(&mut dyn Policy)) { play(&mut AlwaysFirst) }
/// }
///
/// let warming = LossCurve::function(|tally| 0.8 - 0.2 * tally);
/// let game = Game::new(vec![
///     Arm::new(Weights::unit(3)?, LossCurve::constant(0.5), Noise::Bernoulli)?,
///     Arm::new(Weights::unit(3)?, warming, Noise::Bernoulli)?,
/// ])?;
/// let ucb: PolicySpec = serde_json::from_str(r#"{"kind": "epoch-ucb", "memory_bound": 3}"#)?;
/// let contest = Contest {
///     name: "own".into(),
///     seed: 1,
///     instances: 4,
///     grid: Grid::end(1000)?,
///     game_label: "two workers".into(),
///     game: GameSource::Fixed(game),
///     entrants: vec![
///         Entrant { label: "first".into(), policy: Contestant::Own(&Factory) },
///         Entrant { label: "UCB".into(), policy: Contestant::Spec(ucb) },
///     ],
/// };
/// let (stop, progress) = (AtomicBool::new(false), |_| ());
/// let options = RunOptions { threads: 1, shard: Shard::WHOLE, stop: &stop, progress: &progress };
/// let results = run_contest(&contest, &options)?;
/// // 1000 plays at 0.5 instead of 0.6, 0.4 and 998 at 0.2.
/// assert!((results.of(0, 0)[0].final_cpr() - 299.4).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Contest<'a> {
    /// Names the results, and is part of what the random numbers are derived from.
    pub name: String,
    /// The seed.
    pub seed: u64,
    /// How many instances of the game each policy plays.
    pub instances: u64,
    /// When the regret is recorded; the last time is the horizon.
    pub grid: Grid,
    /// What tables and figures call the game.
    pub game_label: String,
    /// The game.
    pub game: GameSource,
    /// Who plays it. Labels must differ.
    pub entrants: Vec<Entrant<'a>>,
}

/// Where the games of the instances come from.
#[derive(Clone, Debug, PartialEq)]
pub enum GameSource {
    /// Drawn anew for each instance.
    Spec(GameSpec),
    /// The same for all.
    Fixed(Game),
}

impl GameSource {
    /// The game of an instance.
    pub fn draw(&self, stream: &mut Stream) -> Result<Game, GameError> {
        match self {
            GameSource::Spec(spec) => spec.draw(stream),
            GameSource::Fixed(game) => Ok(game.clone()),
        }
    }
}

/// A policy of a contest, by the label that tables and figures show.
#[derive(Clone)]
pub struct Entrant<'a> {
    /// Its label, different from all others.
    pub label: String,
    /// The policy.
    pub policy: Contestant<'a>,
}

/// A policy of the library or one's own.
#[derive(Clone)]
pub enum Contestant<'a> {
    /// One of the library.
    Spec(PolicySpec),
    /// One's own.
    Own(&'a dyn OwnPolicy),
}

/// Contestants are the same if they are known to play the same way.
impl PartialEq for Contestant<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Contestant::Spec(one), Contestant::Spec(other)) => one == other,
            _ => false,
        }
    }
}

/// Makes policies of one's own: a fresh one for each instance.
pub trait OwnPolicy: Sync {
    /// Makes a policy for this problem, with `stream` for its own randomisation, and has it play by calling `play` once. Called from
    /// any thread. Whatever must be held while the policy plays can be held here.
    fn with_policy(&self, problem: &Problem, stream: Stream, play: &mut dyn FnMut(&mut dyn Policy));
}
