//! Playing the tournament, an instance at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use calibandit::{
    Engine, Game, Grid, Limits, Noise, Optima, PolicyError, PolicySpec, SimulateError, StreamKey, simulate,
};

use super::{Contender, Entry, Group, Options, TournamentError, Yardstick, cost, field, games};
use calibandit_experiment::parallel;
use calibandit_experiment::run::Progress;
use calibandit_report::chart::StyleKey;
use calibandit_report::figures::style_key;

/// What came of a tournament.
#[derive(Clone, Debug, PartialEq)]
pub struct Tournament {
    /// How large it was.
    pub options: Options,
    /// The labels of the policies.
    pub policies: Vec<String>,
    /// The style keys of the policies, for figures.
    pub styles: Vec<StyleKey>,
    /// The games, in order.
    pub games: Vec<GameResult>,
}

/// What happened in one game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameResult {
    /// The game.
    pub entry: Entry,
    /// The number of arms.
    pub arms: usize,
    /// The noise of the feedback (of the first arm).
    pub feedback: Noise,
    /// The yardstick of each instance.
    pub yardsticks: Vec<Yardstick>,
    /// In how many instances the optimum is only known to lie between bounds; the lower one is used there.
    pub inexact: usize,
    /// What each policy did, in the order of [`Tournament::policies`].
    pub outcomes: Vec<Outcome>,
}

/// What a policy did in a game.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It played this many instances, from the first on.
    Played(Vec<Played>),
    /// The horizon is shorter than the least it needs.
    Cannot,
    /// A single instance would take longer than the tournament gives it.
    TooSlow,
}

/// One instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The CPR at the horizon.
    pub cpr: f64,
    /// How often the arm changed.
    pub switches: u64,
}

/// How many windows and states may be looked at for the optimum of a random game. Where that is not enough the lower
/// bound is used: in games that satisfy REO it is off by no more than one arm's warm-up.
const RANDOM_LIMITS: Limits = Limits { states: 20_000, windows: 20_000 };

/// Holds a tournament. The same options give the same numbers at any number of threads (0 for all there are).
pub fn run(
    options: &Options,
    threads: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Tournament, TournamentError> {
    let field = field()?;
    let matches: Vec<Match> =
        games(options).into_iter().map(|entry| Match::new(entry, &field, options)).collect::<Result<_, _>>()?;
    let mut jobs: Vec<(usize, u64, f64)> = Vec::new();
    for (m, each) in matches.iter().enumerate() {
        jobs.extend((0..each.entry.instances).map(|instance| (m, instance, each.cost(instance))));
    }
    jobs.sort_by(|a, b| b.2.total_cmp(&a.2));
    let total: f64 = jobs.iter().map(|job| job.2).sum();
    let state = Mutex::new(State { done: Vec::new(), work: 0.0, error: None });
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let threads = if threads == 0 { parallel::available_threads() } else { threads };
    parallel::for_each(threads, &jobs, |&(m, instance, cost)| {
        if stop.load(Ordering::Relaxed) || lock().error.is_some() {
            return;
        }
        let result = matches[m].play(&field, options.seed, instance);
        let mut state = lock();
        match result {
            Ok(result) => state.done.push((m, instance, result)),
            Err(error) => state.error = Some(error),
        }
        state.work += cost;
        progress(Progress { done: state.done.len(), pieces: jobs.len(), work: state.work / total.max(1.0) });
    });
    let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.error {
        return Err(error);
    }
    if state.done.len() < jobs.len() {
        return Err(TournamentError::Stopped { done: state.done.len(), pieces: jobs.len() });
    }
    state.done.sort_by_key(|&(m, instance, _)| (m, instance));
    let mut games: Vec<GameResult> = matches.into_iter().map(Match::into_result).collect();
    for (m, _, result) in state.done {
        games[m].add(result);
    }
    let styles = field.iter().map(|contender| Ok(style_key(&contender.policy(1)?))).collect::<Result<_, _>>()?;
    let policies = field.into_iter().map(|contender| contender.label).collect();
    Ok(Tournament { options: options.clone(), policies, styles, games })
}

struct State {
    done: Vec<(usize, u64, InstanceResult)>,
    work: f64,
    error: Option<TournamentError>,
}

/// A game with the policies as they play it.
struct Match {
    entry: Entry,
    arms: usize,
    noise: Noise,
    sides: Vec<Side>,
}

/// How one policy takes part in one game.
enum Side {
    Plays { policy: PolicySpec, instances: u64, cost: f64 },
    Cannot,
    TooSlow,
}

struct InstanceResult {
    yardstick: Yardstick,
    exact: bool,
    /// By policy; none where it does not play the instance.
    played: Vec<Option<Played>>,
}

impl Match {
    fn new(entry: Entry, field: &[Contender], options: &Options) -> Result<Self, TournamentError> {
        let game = draw(&entry, options.seed, 0)?;
        let problem = game.problem(entry.horizon);
        let noise = game.arms()[0].noise();
        let mut sides = Vec::new();
        for contender in field {
            let policy = contender.policy(entry.memory_bound)?;
            sides.push(match policy.resolve(&problem) {
                Ok(policy) => {
                    let cost = cost::nanoseconds(&policy, problem.arms, entry.horizon, noise);
                    match options.fit(entry.group, cost, entry.instances) {
                        Some(instances) => Side::Plays { policy, instances, cost },
                        None => Side::TooSlow,
                    }
                }
                Err(PolicyError::HorizonTooShort { .. }) => Side::Cannot,
                Err(source) => {
                    let (game, policy) = (entry.name.clone(), contender.label.clone());
                    return Err(TournamentError::Policy { game, policy, source });
                }
            });
        }
        Ok(Self { arms: problem.arms, noise, sides, entry })
    }

    /// The nanoseconds that an instance takes, roughly.
    fn cost(&self, instance: u64) -> f64 {
        let of = |side: &Side| match side {
            Side::Plays { instances, cost, .. } if instance < *instances => *cost,
            _ => 0.0,
        };
        self.sides.iter().map(of).sum()
    }

    fn play(&self, field: &[Contender], seed: u64, instance: u64) -> Result<InstanceResult, TournamentError> {
        let entry = &self.entry;
        let game = draw(entry, seed, instance)?;
        let limits = if entry.group == Group::Random { RANDOM_LIMITS } else { Limits::default() };
        let optimum = Optima::with_limits(&game, limits).bounds_at(entry.horizon);
        let yardstick = Yardstick::of(&game, entry.horizon, optimum.lower_excess);
        let problem = game.problem(entry.horizon);
        let name = entry.stream_name();
        let streams = StreamKey::new(seed, &name, instance);
        let grid = Grid::end(entry.horizon).expect("the horizons of the games are positive");
        let mut played = Vec::new();
        for (side, contender) in self.sides.iter().zip(field) {
            let Side::Plays { policy, instances, .. } = side else {
                played.push(None);
                continue;
            };
            if instance >= *instances {
                played.push(None);
                continue;
            }
            let names = || (entry.name.clone(), contender.label.clone());
            let mut policy = policy.build(&problem, streams.policy()).map_err(|source| {
                let (game, policy) = names();
                TournamentError::Policy { game, policy, source }
            })?;
            let mut noise = streams.noise();
            let last = simulate(&game, &mut policy, &grid, Engine::Leaping, &mut noise)
                .map_err(|source: SimulateError| {
                    let (game, policy) = names();
                    TournamentError::Simulate { game, policy, source }
                })?
                .last();
            played.push(Some(Played { cpr: last.excess - optimum.lower_excess, switches: last.switches }));
        }
        Ok(InstanceResult { yardstick, exact: optimum.exact, played })
    }

    fn into_result(self) -> GameResult {
        let outcome = |side: &Side| match side {
            Side::Plays { .. } => Outcome::Played(Vec::new()),
            Side::Cannot => Outcome::Cannot,
            Side::TooSlow => Outcome::TooSlow,
        };
        GameResult {
            outcomes: self.sides.iter().map(outcome).collect(),
            arms: self.arms,
            feedback: self.noise,
            yardsticks: Vec::new(),
            inexact: 0,
            entry: self.entry,
        }
    }
}

impl GameResult {
    /// Adds the next instance.
    fn add(&mut self, result: InstanceResult) {
        self.yardsticks.push(result.yardstick);
        self.inexact += usize::from(!result.exact);
        for (outcome, played) in self.outcomes.iter_mut().zip(result.played) {
            if let (Outcome::Played(all), Some(played)) = (outcome, played) {
                all.push(played);
            }
        }
    }
}

fn draw(entry: &Entry, seed: u64, instance: u64) -> Result<Game, TournamentError> {
    let mut stream = StreamKey::new(seed, &entry.stream_name(), instance).game();
    entry.game.draw(&mut stream).map_err(|source| TournamentError::Game { game: entry.name.clone(), source })
}
