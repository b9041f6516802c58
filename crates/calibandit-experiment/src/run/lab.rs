//! An experiment or a contest laid out for work: which pieces there are, and how one is played.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use calibandit::rng::StreamKey;
use calibandit::{
    AnyPolicy, BatchItem, Checkpoint, Engine, Game, Grid, Optima, PolicySpec, Stream, Trajectory, batch_size, simulate,
    simulate_batch,
};

use super::contest::{Contest, Contestant, Entrant, GameSource, OwnPolicy};
use super::{PieceError, PieceErrorKind, RunError};
use crate::Experiment;
use crate::results::{Curve, Results, Sample};
use crate::spec::{Point, PolicyEntry};

/// One policy on one instance of one point of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Piece {
    pub(super) point: usize,
    pub(super) policy: usize,
    pub(super) instance: u64,
}

/// Pieces that have the same curve.
pub(super) type Job = Vec<Piece>;

/// An instance of a game with what its policies are measured against.
struct Instance {
    game: Game,
    /// The optimum's excess over mu(x*) at each checkpoint.
    optimum: Vec<f64>,
}

/// By point and instance, made by whoever comes first.
type Instances = Vec<Vec<OnceLock<Result<Instance, PieceErrorKind>>>>;

/// A game and those who play it.
struct Match<'a> {
    label: String,
    game: GameSource,
    policies: Vec<Entrant<'a>>,
}

/// What is to be played, laid out for work.
pub(super) struct Lab<'a> {
    name: String,
    seed: u64,
    instances: u64,
    policies: Vec<String>,
    matches: Vec<Match<'a>>,
    grid: Grid,
    times: Vec<u64>,
    drawn: Instances,
}

impl<'a> Lab<'a> {
    pub(super) fn of_experiment(spec: &Experiment) -> Self {
        let of_point = |point: &Point| {
            let entrant = |entry: PolicyEntry| Entrant { label: entry.label, policy: Contestant::Spec(entry.policy) };
            let policies = point.policies.iter().cloned().map(entrant).collect();
            Match { label: point.label.clone(), game: GameSource::Spec(point.game.clone()), policies }
        };
        let matches = spec.points().iter().map(of_point).collect();
        Self::new(spec.name().to_owned(), spec.seed(), spec.instances(), spec.grid().clone(), matches)
    }

    pub(super) fn of_contest(contest: &Contest<'a>) -> Self {
        let Contest { name, game_label, game, entrants, .. } = contest.clone();
        let only = Match { label: game_label, game, policies: entrants };
        Self::new(name, contest.seed, contest.instances, contest.grid.clone(), vec![only])
    }

    fn new(name: String, seed: u64, instances: u64, grid: Grid, matches: Vec<Match<'a>>) -> Self {
        let times = grid.times().to_vec();
        let row = || (0..instances).map(|_| OnceLock::new()).collect();
        let drawn = matches.iter().map(|_| row()).collect();
        let labels = |game: &Match<'_>| game.policies.iter().map(|entrant| entrant.label.clone()).collect();
        let policies = matches.first().map_or_else(Vec::new, labels);
        Self { name, seed, instances, policies, matches, grid, times, drawn }
    }

    /// All pieces in the order of the results, numbered: the number decides the shard.
    pub(super) fn pieces(&self) -> Vec<(usize, Piece)> {
        let instances = self.instances;
        let of_match = |(point, game): (usize, &Match<'_>)| {
            let policies = 0..game.policies.len();
            policies.flat_map(move |policy| (0..instances).map(move |instance| Piece { point, policy, instance }))
        };
        self.matches.iter().enumerate().flat_map(of_match).enumerate().collect()
    }

    /// The pieces as jobs: pieces of one job are the same policy on the same instance of the same game, so they have the
    /// same curve. Sweeps over what only some policies know have many of them.
    pub(super) fn jobs(&self, pieces: &[(usize, Piece)]) -> Vec<Job> {
        let what = |piece: Piece| (&self.matches[piece.point].game, self.policy(piece));
        let mut kinds: Vec<(usize, usize)> = Vec::new();
        let mut kind_of: HashMap<(usize, usize), usize> = HashMap::new();
        let mut jobs: HashMap<(usize, u64), usize> = HashMap::new();
        let mut all: Vec<Job> = Vec::new();
        for &(_, piece) in pieces {
            let kind = *kind_of.entry((piece.point, piece.policy)).or_insert_with(|| {
                let same = |&(point, policy): &(usize, usize)| what(Piece { point, policy, ..piece }) == what(piece);
                kinds.iter().position(same).unwrap_or_else(|| {
                    kinds.push((piece.point, piece.policy));
                    kinds.len() - 1
                })
            });
            match jobs.entry((kind, piece.instance)) {
                Entry::Occupied(job) => all[*job.get()].push(piece),
                Entry::Vacant(place) => {
                    place.insert(all.len());
                    all.push(vec![piece]);
                }
            }
        }
        all
    }

    fn policy(&self, piece: Piece) -> &Contestant<'a> {
        &self.matches[piece.point].policies[piece.policy].policy
    }

    pub(super) fn results(&self, curves: Vec<Curve>) -> Results {
        let games = self.matches.iter().map(|game| game.label.clone()).collect();
        Results::new(self.name.clone(), games, self.policies.clone(), curves)
    }

    /// Jobs that are done together, because side by side they take less time than one after the other: instances of a policy
    /// that `simulate_batch` plays in lanes.
    pub(super) fn bundles(&self, jobs: Vec<Job>) -> Vec<Vec<Job>> {
        let mut bundles: Vec<Vec<Job>> = Vec::new();
        let mut open: HashMap<(usize, usize), usize> = HashMap::new();
        for job in jobs {
            let Piece { point, policy, .. } = job[0];
            let most = match self.policy(job[0]) {
                Contestant::Spec(spec) => batch_size(spec),
                Contestant::Own(_) => 1,
            };
            match open.get(&(point, policy)) {
                Some(&bundle) if bundles[bundle].len() < most => bundles[bundle].push(job),
                _ => {
                    open.insert((point, policy), bundles.len());
                    bundles.push(vec![job]);
                }
            }
        }
        bundles
    }

    /// A rough measure of the time a bundle takes: the number of runs, times about the nanoseconds of one.
    pub(super) fn cost(&self, bundle: &[Job]) -> f64 {
        let plays = self.grid.horizon() as f64;
        let spec = match self.policy(bundle[0][0]) {
            Contestant::Spec(spec) => spec,
            // Nobody knows; but they are worth an early start.
            Contestant::Own(_) => return 1000.0 * plays * bundle.len() as f64,
        };
        let of_one = match spec {
            PolicySpec::Exp3(_) => 10.0 * plays,
            PolicySpec::Ucb1(_) => 20.0 * plays,
            PolicySpec::Thompson(_) => 100.0 * plays,
            PolicySpec::BatchedExp3(spec) => 40.0 * plays / spec.batch.map_or(plays.cbrt() / 4.0, |batch| batch as f64),
            PolicySpec::EpochUcb(spec) => 10.0 * plays / spec.memory_bound as f64,
            _ => 10_000.0,
        };
        of_one * bundle.len() as f64
    }

    fn instance(&self, piece: Piece) -> Result<&Instance, PieceErrorKind> {
        let place = &self.drawn[piece.point][piece.instance as usize];
        place.get_or_init(|| self.draw(piece)).as_ref().map_err(PieceErrorKind::clone)
    }

    fn draw(&self, piece: Piece) -> Result<Instance, PieceErrorKind> {
        let mut stream = self.streams(piece).game();
        let game = self.matches[piece.point].game.draw(&mut stream)?;
        let mut optima = Optima::new(&game);
        let optimum = self.times.iter().map(|&t| optima.excess_at(t)).collect::<Result<_, _>>()?;
        Ok(Instance { game, optimum })
    }

    fn streams(&self, piece: Piece) -> StreamKey<'_> {
        StreamKey::new(self.seed, &self.name, piece.instance)
    }

    /// The curve of each job of a bundle.
    pub(super) fn play(&self, bundle: &[Job]) -> Vec<Result<Curve, RunError>> {
        let pieces: Vec<Piece> = bundle.iter().map(|job| job[0]).collect();
        let curves = match self.policy(pieces[0]) {
            // A bundle is of one policy.
            Contestant::Own(own) => pieces.iter().map(|&piece| self.play_own(piece, *own)).collect(),
            Contestant::Spec(spec) => self.play_together(&pieces, spec),
        };
        let explain = |(&piece, curve): (&Piece, Result<_, _>)| curve.map_err(|why| self.explain(piece, why));
        pieces.iter().zip(curves).map(explain).collect()
    }

    fn play_own(&self, piece: Piece, own: &dyn OwnPolicy) -> Result<Curve, PieceErrorKind> {
        let instance = self.instance(piece)?;
        let problem = instance.game.problem(self.grid.horizon());
        let mut noise = self.streams(piece).noise();
        let mut played = None;
        own.with_policy(&problem, self.streams(piece).policy(), &mut |policy| {
            played = Some(simulate(&instance.game, policy, &self.grid, Engine::Leaping, &mut noise));
        });
        Ok(curve(piece, &played.ok_or(PieceErrorKind::NoPolicy)??, &instance.optimum))
    }

    fn play_together(&self, pieces: &[Piece], spec: &PolicySpec) -> Vec<Result<Curve, PieceErrorKind>> {
        let mut tables: Vec<_> = pieces.iter().map(|&piece| self.table(piece, spec)).collect();
        let ready = tables.iter_mut().filter_map(|table| table.as_mut().ok());
        let mut items: Vec<BatchItem<'_>> =
            ready.map(|(instance, policy, noise)| BatchItem { game: &instance.game, policy, noise }).collect();
        let mut played = simulate_batch(&mut items, &self.grid).into_iter();
        let mut curves = Vec::new();
        for (&piece, table) in pieces.iter().zip(tables) {
            // One was played for each table that was ready, in the same order.
            curves.extend(match table {
                Ok((instance, ..)) => played.next().map(|played| Ok(curve(piece, &played?, &instance.optimum))),
                Err(why) => Some(Err(why)),
            });
        }
        curves
    }

    fn explain(&self, piece: Piece, why: PieceErrorKind) -> RunError {
        let game = &self.matches[piece.point];
        let policy = game.policies[piece.policy].label.clone();
        Box::new(PieceError { experiment: self.name.clone(), point: game.label.clone(), policy, why }).into()
    }

    /// What is needed to play a piece: the instance, the policy ready for its first run, and the noise.
    fn table(&self, piece: Piece, spec: &PolicySpec) -> Result<(&Instance, AnyPolicy, Stream), PieceErrorKind> {
        let instance = self.instance(piece)?;
        let problem = instance.game.problem(self.grid.horizon());
        let policy = spec.build(&problem, self.streams(piece).policy())?;
        Ok((instance, policy, self.streams(piece).noise()))
    }
}

fn curve(piece: Piece, played: &Trajectory, optimum: &[f64]) -> Curve {
    let sample = |(at, optimum): (&Checkpoint, &f64)| Sample {
        t: at.t,
        loss: at.loss,
        cpr: at.excess - optimum,
        switches: at.switches,
    };
    let samples = played.checkpoints.iter().zip(optimum).map(sample).collect();
    Curve { game: piece.point, policy: piece.policy, instance: piece.instance, samples }
}
