//! Runs the tournament: one task per game and instance, in which all policies play the same instance.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use calibandit::{
    Engine, Game, Grid, Limits, Noise, Optima, PolicyError, PolicySpec, SimulateError, StreamKey, simulate,
};
use calibandit_experiment::cost;
use calibandit_experiment::output::{Fingerprint, Journal, JournalRecord, OutputDir};
use calibandit_experiment::schedule::{Progress, ScheduleError, Scheduler, Task};
use calibandit_report::chart::StyleKey;
use calibandit_report::figures::style_key;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::earlier::EarlierResults;
use super::{
    LowerBoundEstimate, TournamentError, TournamentGame, TournamentGroup, TournamentOptions, TournamentPolicy, games,
    policies,
};

/// The results of a tournament.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tournament {
    /// The options that it was run with.
    pub options: TournamentOptions,
    /// The labels of the policies.
    pub policies: Vec<String>,
    /// The style keys of the policies, for figures.
    pub styles: Vec<StyleKey>,
    /// The games, in order.
    pub games: Vec<GameResult>,
}

/// The results of one game.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GameResult {
    /// The game.
    pub entry: TournamentGame,
    /// The number of arms.
    pub arms: usize,
    /// The noise of the feedback (of the first arm).
    pub feedback: Noise,
    /// The lower-bound estimate of each instance.
    pub lower_bounds: Vec<LowerBoundEstimate>,
    /// The number of instances whose optimum is only known within bounds; their CPR uses the lower one.
    pub inexact: usize,
    /// The outcome per policy, in the order of [`Tournament::policies`].
    pub outcomes: Vec<TournamentOutcome>,
}

/// The outcome of one policy in one game.
#[derive(Clone, Debug, PartialEq)]
pub enum TournamentOutcome {
    /// The policy played these instances, from the first on.
    Played(Vec<PlayedInstance>),
    /// The horizon is shorter than the policy needs.
    Cannot,
    /// A single instance would take longer than [`TournamentOptions::instance_seconds`].
    TooSlow,
}

/// One instance of one policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedInstance {
    /// The CPR at the horizon.
    pub cpr: f64,
    /// The number of switches between arms.
    pub switches: u64,
}

/// The limits of the search for the optimum of a random game. Beyond them the lower bound is used; in games that
/// satisfy REO it is off by no more than the warm-up cost of one arm.
const RANDOM_LIMITS: Limits = Limits { states: 20_000, windows: 20_000, bytes: 1 << 30 };

/// Runs a tournament on this many threads (0 for all). The results do not depend on the number of threads.
///
/// # Errors
/// [`TournamentError`] if a game or a policy is not valid, or if the stop flag was set.
pub fn run(
    options: &TournamentOptions,
    threads: usize,
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<Tournament, TournamentError> {
    PlannedTournament::new(options)?.run(threads, stop, progress, None)
}

/// The sources that decide what an instance gives, besides those of the crates below.
const SOURCES: [&str; 6] = [
    include_str!("play.rs"),
    include_str!("games.rs"),
    include_str!("neighbours.rs"),
    include_str!("policies.rs"),
    include_str!("lower_bound.rs"),
    include_str!("earlier.rs"),
];

/// The fingerprint of everything that the instances depend on.
pub(super) fn fingerprint(options: &TournamentOptions, only: &[String]) -> Fingerprint {
    Fingerprint::new(&json!({"tournament": options, "only": only, "sources": SOURCES}))
}

/// A tournament that can be run.
pub(super) struct PlannedTournament {
    options: TournamentOptions,
    policies: Vec<TournamentPolicy>,
    games: Vec<PlannedGame>,
    earlier: EarlierResults,
}

impl PlannedTournament {
    pub(super) fn new(options: &TournamentOptions) -> Result<Self, TournamentError> {
        let policies = policies(options.part)?;
        let planned = games(options).into_iter().map(|entry| PlannedGame::new(entry, &policies, options));
        let games = planned.collect::<Result<_, _>>()?;
        Ok(Self { options: options.clone(), games, policies, earlier: EarlierResults::default() })
    }

    /// Takes the results of all policies except those of the kinds in `only` from a folder.
    pub(super) fn take_over(&mut self, out: &OutputDir, only: &[String]) -> Result<(), TournamentError> {
        let games: Vec<&TournamentGame> = self.games.iter().map(|game| &game.entry).collect();
        self.earlier = EarlierResults::read(out, &self.options, &games, &self.policies, only)?;
        Ok(())
    }

    /// The number of instances of all games.
    pub(super) fn instances(&self) -> usize {
        self.games.iter().map(|game| game.entry.instances as usize).sum()
    }

    /// Whether this can be the result of an instance of this tournament.
    pub(super) fn is_valid(&self, result: &InstanceResult) -> bool {
        let Some(game) = self.games.get(result.game) else { return false };
        let LowerBoundEstimate { information, burn_in } = result.lower_bound;
        let plays = game.participations.iter().map(|participation| participation.plays(result.instance));
        result.instance < game.entry.instances
            && information.is_finite()
            && burn_in.is_finite()
            && plays.eq(result.played.iter().map(Option::is_some))
            && result.played.iter().flatten().all(|played| played.cpr.is_finite())
    }

    /// Plays all instances that the journal does not have.
    pub(super) fn run(
        self,
        threads: usize,
        stop: &AtomicBool,
        progress: &dyn Progress,
        mut journal: Option<&mut Journal<InstanceResult>>,
    ) -> Result<Tournament, TournamentError> {
        let mut done: Vec<InstanceResult> = Vec::new();
        if let Some(journal) = &journal {
            journal.for_each(|result| {
                done.push(result);
                Ok(())
            })?;
        }
        let known: HashSet<(usize, u64)> = done.iter().map(InstanceResult::key).collect();
        let mut tasks = Vec::new();
        for (g, game) in self.games.iter().enumerate() {
            let open = (0..game.entry.instances).filter(|&instance| !known.contains(&(g, instance)));
            tasks.extend(open.map(|instance| Task::new((g, instance), game.cost(&self.earlier, g, instance))));
        }
        let collect = |_: &(usize, u64), result: InstanceResult| {
            if let Some(journal) = &mut journal {
                journal.add(&result)?;
            }
            done.push(result);
            Ok(())
        };
        let play = |&(g, instance): &(usize, u64)| self.play(g, instance);
        let schedule = Scheduler::new(threads).stop(stop).progress(progress).done_before(known.len());
        schedule.run(tasks, play, collect).map_err(|error| match error {
            ScheduleError::Task(error) => error,
            ScheduleError::Stopped { done, total } => TournamentError::Stopped { done, total },
        })?;
        done.sort_by_key(InstanceResult::key);
        let Self { options, policies, games, .. } = self;
        let mut games: Vec<GameResult> = games.into_iter().map(PlannedGame::into_result).collect();
        for result in done {
            games[result.game].add(result);
        }
        let styles = policies.iter().map(|policy| Ok(style_key(&policy.spec(1)?)));
        let styles = styles.collect::<Result<_, TournamentError>>()?;
        let policies = policies.into_iter().map(|policy| policy.label).collect();
        Ok(Tournament { options, policies, styles, games })
    }

    /// Plays one instance of a game with all policies.
    fn play(&self, index: usize, instance: u64) -> Result<InstanceResult, TournamentError> {
        let planned = &self.games[index];
        let (entry, seed) = (&planned.entry, self.options.seed);
        let game = draw(entry, seed, instance)?;
        let limits = if entry.group == TournamentGroup::Random { RANDOM_LIMITS } else { Limits::default() };
        let optimum = Optima::with_limits(&game, limits).bounds_at(entry.horizon);
        let lower_bound = LowerBoundEstimate::of(&game, entry.horizon, optimum.lower_excess);
        let problem = game.problem(entry.horizon);
        let name = entry.stream_name();
        let streams = StreamKey::new(seed, &name, instance);
        let grid = Grid::end(entry.horizon).expect("the horizons of the games are positive");
        let mut played = Vec::new();
        for (at, (participation, policy)) in planned.participations.iter().zip(&self.policies).enumerate() {
            let spec = match participation {
                Participation::Plays { policy, instances, .. } if instance < *instances => policy,
                _ => {
                    played.push(None);
                    continue;
                }
            };
            let known = self.earlier.get(index, at, instance);
            if self.earlier.replaces(index, at, instance) {
                played.push(known);
                continue;
            }
            let names = || (entry.name.clone(), policy.label.clone());
            let mut policy = spec.build(&problem, streams.policy()).map_err(|source| {
                let (game, policy) = names();
                TournamentError::Policy { game, policy, source: Box::new(source) }
            })?;
            let mut noise = streams.noise();
            let last = simulate(&game, &mut policy, &grid, Engine::Leaping, &mut noise)
                .map_err(|source: SimulateError| {
                    let (game, policy) = names();
                    TournamentError::Simulate { game, policy, source }
                })?
                .last();
            let now = PlayedInstance { cpr: last.excess - optimum.lower_excess, switches: last.switches };
            if let Some(before) = known.filter(|before| *before != now) {
                let (game, policy) = names();
                return Err(TournamentError::Changed { game, policy, before: before.cpr, now: now.cpr });
            }
            played.push(Some(now));
        }
        Ok(InstanceResult { game: index, instance, lower_bound, exact: optimum.exact, played })
    }
}

/// A game with the policies that play it.
struct PlannedGame {
    entry: TournamentGame,
    arms: usize,
    noise: Noise,
    participations: Vec<Participation>,
}

/// Whether and how one policy plays one game.
enum Participation {
    Plays { policy: PolicySpec, instances: u64, cost: f64 },
    Cannot,
    TooSlow,
}

impl Participation {
    fn plays(&self, instance: u64) -> bool {
        matches!(self, Participation::Plays { instances, .. } if instance < *instances)
    }
}

/// The result of one instance of one game.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InstanceResult {
    game: usize,
    instance: u64,
    lower_bound: LowerBoundEstimate,
    exact: bool,
    /// By policy; `None` if it does not play this instance.
    played: Vec<Option<PlayedInstance>>,
}

impl JournalRecord for InstanceResult {
    type Key = (usize, u64);

    fn key(&self) -> (usize, u64) {
        (self.game, self.instance)
    }
}

impl PlannedGame {
    fn new(
        entry: TournamentGame,
        policies: &[TournamentPolicy],
        options: &TournamentOptions,
    ) -> Result<Self, TournamentError> {
        let game = draw(&entry, options.seed, 0)?;
        let problem = game.problem(entry.horizon);
        let noise = game.arms()[0].noise();
        let mut participations = Vec::new();
        for policy in policies {
            let spec = policy.spec(entry.memory_bound)?;
            participations.push(match spec.resolve(&problem) {
                Ok(policy) => {
                    let cost = cost::nanoseconds(&policy, problem.arms, entry.horizon, noise);
                    match options.instances_within_budget(entry.group, cost, entry.instances) {
                        Some(instances) => Participation::Plays { policy, instances, cost },
                        None => Participation::TooSlow,
                    }
                }
                Err(PolicyError::HorizonTooShort { .. } | PolicyError::PlanTooLarge { .. }) => Participation::Cannot,
                Err(source) => {
                    let (game, policy) = (entry.name.clone(), policy.label.clone());
                    return Err(TournamentError::Policy { game, policy, source: Box::new(source) });
                }
            });
        }
        Ok(Self { arms: problem.arms, noise, participations, entry })
    }

    /// The estimated time of an instance of all policies, in nanoseconds.
    fn cost(&self, earlier: &EarlierResults, index: usize, instance: u64) -> f64 {
        let of = |(policy, participation): (usize, &Participation)| match participation {
            Participation::Plays { instances, cost, .. }
                if instance < *instances && !earlier.replaces(index, policy, instance) =>
            {
                *cost
            }
            _ => 0.0,
        };
        self.participations.iter().enumerate().map(of).sum()
    }

    /// The result of a game before its first instance.
    fn into_result(self) -> GameResult {
        let outcome = |participation: &Participation| match participation {
            Participation::Plays { .. } => TournamentOutcome::Played(Vec::new()),
            Participation::Cannot => TournamentOutcome::Cannot,
            Participation::TooSlow => TournamentOutcome::TooSlow,
        };
        GameResult {
            outcomes: self.participations.iter().map(outcome).collect(),
            arms: self.arms,
            feedback: self.noise,
            lower_bounds: Vec::new(),
            inexact: 0,
            entry: self.entry,
        }
    }
}

impl TournamentOutcome {
    /// The instances that were played.
    pub(super) fn instances(&self) -> &[PlayedInstance] {
        match self {
            TournamentOutcome::Played(instances) => instances,
            TournamentOutcome::Cannot | TournamentOutcome::TooSlow => &[],
        }
    }
}

impl GameResult {
    /// Adds the next instance.
    fn add(&mut self, result: InstanceResult) {
        self.lower_bounds.push(result.lower_bound);
        self.inexact += usize::from(!result.exact);
        for (outcome, played) in self.outcomes.iter_mut().zip(result.played) {
            if let (TournamentOutcome::Played(all), Some(played)) = (outcome, played) {
                all.push(played);
            }
        }
    }
}

fn draw(entry: &TournamentGame, seed: u64, instance: u64) -> Result<Game, TournamentError> {
    let mut stream = StreamKey::new(seed, &entry.stream_name(), instance).game();
    entry.game.draw(&mut stream).map_err(|source| TournamentError::Game { game: entry.name.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_results_replace_all_but_the_first_instance_which_must_be_the_same() {
        let options = TournamentOptions { instances: 2, horizon: 200, random_games: 0, ..TournamentOptions::quick() };
        let mut plan = PlannedTournament::new(&options).unwrap();
        let played = |plan: &PlannedTournament, instance| plan.play(0, instance).map(|result| result.played);
        let [first, second] = [0, 1].map(|instance| played(&plan, instance).unwrap());
        let policy = first.iter().position(Option::is_some).unwrap();
        let (before, made_up) = (first[policy].unwrap(), PlayedInstance { cpr: -1.0, switches: 7 });
        plan.earlier = EarlierResults::of([((0, policy, 0), before), ((0, policy, 1), made_up)]);
        assert_eq!(played(&plan, 0).unwrap(), first);
        let mut expected = second;
        expected[policy] = Some(made_up);
        assert_eq!(played(&plan, 1).unwrap(), expected);
        plan.earlier = EarlierResults::of([((0, policy, 0), made_up)]);
        let refused = played(&plan, 0).unwrap_err();
        let TournamentError::Changed { policy: label, now, .. } = &refused else { panic!("{refused}") };
        assert_eq!((label, *now), (&plan.policies[policy].label, before.cpr));
    }
}
