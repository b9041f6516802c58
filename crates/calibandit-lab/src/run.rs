//! Running an experiment: every policy of every point of the sweep on every instance, spread over threads and shards.
//!
//! Whatever the spread, the numbers are the same: each instance has its own streams, and what is computed for it depends on
//! nothing else. Finished pieces can be kept on disk as they come (see [`Journal`]), so that an interrupted run goes on where it
//! stopped.

mod journal;
mod shard;

pub use journal::{Journal, JournalError};
pub use shard::{Shard, ShardError};

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use calibandit::rng::{Purpose, stream};
use calibandit::{
    AnyPolicy, Checkpoint, Game, GameError, Grid, GridError, Optima, OptimumError, PolicyError, PolicySpec, Seat,
    Setting, SimulateError, Stream, Trajectory, simulate_together,
};

use crate::parallel;
use crate::results::{Curve, Results, Sample};
use crate::spec::{ExperimentSpec, Point, SpecErrors};

/// How to run, apart from what to run. None of it changes a number.
pub struct RunOptions<'a> {
    /// How many threads; 0 for as many as the machine can run at once.
    pub threads: usize,
    /// Which part of the work to do.
    pub shard: Shard,
    /// Set from elsewhere to stop: pieces under way are finished, no new ones begun.
    pub stop: &'a AtomicBool,
    /// Called when a piece is finished, from any thread.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Pieces finished.
    pub done: usize,
    /// Pieces in all.
    pub pieces: usize,
    /// The part of the expected work that is done, from 0 to 1.
    pub work: f64,
}

/// Why a run did not give results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The experiment cannot be run.
    #[error(transparent)]
    Spec(#[from] SpecErrors),
    /// A piece of the work could not be done.
    #[error(transparent)]
    Piece(#[from] Box<PieceError>),
    /// The checkpoints are not valid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Finished pieces could not be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// It was told to stop before all was done.
    #[error("stopped after {done} of {pieces} pieces")]
    Stopped {
        /// Pieces finished.
        done: usize,
        /// Pieces in all.
        pieces: usize,
    },
}

/// Why one policy could not play one game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{experiment}, {point}, policy {policy}: {why}")]
pub struct PieceError {
    /// The experiment.
    pub experiment: String,
    /// The point of the sweep.
    pub point: String,
    /// The policy's label.
    pub policy: String,
    /// Why.
    pub why: PieceErrorKind,
}

/// What went wrong with a piece.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PieceErrorKind {
    /// The game could not be drawn.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The optimum is not known.
    #[error("there is no regret without the optimum: {0}")]
    Optimum(#[from] OptimumError),
    /// The policy could not be made.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The policy could not be played.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
}

/// One policy on one instance of one point of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Piece {
    point: usize,
    policy: usize,
    instance: u64,
}

/// Pieces that have the same curve.
type Job = Vec<Piece>;

/// How many instances are played side by side: enough for two vectors, few enough to leave work for every thread.
const SIDE_BY_SIDE: usize = 8;

/// An instance of a game with what its policies are measured against.
struct Instance {
    game: Game,
    /// The optimum's excess over mu(x*) at each checkpoint.
    optimum: Vec<f64>,
}

/// Runs an experiment, or one shard of it. What the journal already has is not done again.
pub fn run(
    spec: &ExperimentSpec,
    options: &RunOptions<'_>,
    journal: Option<&mut Journal>,
) -> Result<Results, RunError> {
    let lab = Lab::new(spec)?;
    let mut pieces = lab.pieces();
    pieces.retain(|&(index, _)| options.shard.has(index));
    let all = pieces.len();
    let mut curves = journal.as_ref().map_or_else(Vec::new, |journal| journal.curves().to_vec());
    let piece = |curve: &Curve| Piece { point: curve.game, policy: curve.policy, instance: curve.instance };
    let known: HashSet<Piece> = curves.iter().map(piece).collect();
    pieces.retain(|(_, piece)| !known.contains(piece));
    let mut bundles = lab.bundles(lab.jobs(&pieces));
    // The dearest first; the results are sorted afterwards, so this changes no number.
    bundles.sort_by(|a, b| lab.cost(b).total_cmp(&lab.cost(a)));

    let total: f64 = bundles.iter().map(|bundle| lab.cost(bundle)).sum();
    let state = Mutex::new(State { journal, done: all - pieces.len(), work: 0.0, new: vec![], error: None });
    let threads = if options.threads == 0 { parallel::available_threads() } else { options.threads };
    parallel::for_each(threads, &bundles, |bundle| {
        if options.stop.load(Ordering::Relaxed) || lock(&state).error.is_some() {
            return;
        }
        let curves = lab.play(bundle);
        let mut state = lock(&state);
        for (job, curve) in bundle.iter().zip(curves) {
            state.take(curve, job);
        }
        state.work += lab.cost(bundle);
        let work = if total > 0.0 { state.work / total } else { 1.0 };
        (options.progress)(Progress { done: state.done, pieces: all, work });
    });
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.error {
        return Err(error);
    }
    if state.done < all {
        return Err(RunError::Stopped { done: state.done, pieces: all });
    }
    curves.extend(state.new);
    Ok(Results::new(spec.name.clone(), lab.labels(), lab.policies(), curves))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct State<'a> {
    journal: Option<&'a mut Journal>,
    done: usize,
    work: f64,
    new: Vec<Curve>,
    error: Option<RunError>,
}

impl State<'_> {
    /// Takes the curve that all pieces of a job have.
    fn take(&mut self, curve: Result<Curve, RunError>, job: &[Piece]) {
        let kept = curve.and_then(|curve| job.iter().try_for_each(|&piece| self.keep(&curve, piece)));
        if let Err(error) = kept {
            self.error = self.error.take().or(Some(error));
        }
    }

    fn keep(&mut self, curve: &Curve, piece: Piece) -> Result<(), RunError> {
        let mut curve = curve.clone();
        (curve.game, curve.policy) = (piece.point, piece.policy);
        if let Some(journal) = &mut self.journal {
            journal.add(&curve)?;
        }
        self.new.push(curve);
        self.done += 1;
        Ok(())
    }
}

/// By point and instance, made by whoever comes first.
type Instances = Vec<Vec<OnceLock<Result<Instance, PieceErrorKind>>>>;

/// An experiment laid out for work.
struct Lab<'a> {
    spec: &'a ExperimentSpec,
    points: Vec<Point>,
    grid: Grid,
    times: Vec<u64>,
    instances: Instances,
}

impl<'a> Lab<'a> {
    fn new(spec: &'a ExperimentSpec) -> Result<Self, RunError> {
        let points = spec.expand()?;
        let grid = spec.grid();
        let times = grid.times()?;
        let row = || (0..spec.instances).map(|_| OnceLock::new()).collect();
        let instances = points.iter().map(|_| row()).collect();
        Ok(Self { spec, points, grid, times, instances })
    }

    /// All pieces in the order of the results, numbered: the number decides the shard.
    fn pieces(&self) -> Vec<(usize, Piece)> {
        let instances = self.spec.instances;
        let of_point = |(p, point): (usize, &Point)| {
            let policies = 0..point.policies.len();
            policies.flat_map(move |policy| (0..instances).map(move |instance| Piece { point: p, policy, instance }))
        };
        self.points.iter().enumerate().flat_map(of_point).enumerate().collect()
    }

    /// The pieces as jobs: pieces of one job are the same policy on the same instance of the same game, so they have the
    /// same curve. Sweeps over what only some policies know have many of them.
    fn jobs(&self, pieces: &[(usize, Piece)]) -> Vec<Job> {
        let what = |piece: Piece| {
            let point = &self.points[piece.point];
            (&point.game, &point.policies[piece.policy].policy)
        };
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

    fn labels(&self) -> Vec<String> {
        self.points.iter().map(|point| point.label.clone()).collect()
    }

    fn policies(&self) -> Vec<String> {
        self.spec.policy.iter().map(|entry| entry.label.clone()).collect()
    }

    /// Jobs that are done together, because side by side they take less time than one after the other: instances of a policy
    /// that `simulate_together` plays in lanes.
    fn bundles(&self, jobs: Vec<Job>) -> Vec<Vec<Job>> {
        let mut bundles: Vec<Vec<Job>> = Vec::new();
        let mut open: HashMap<(usize, usize), usize> = HashMap::new();
        for job in jobs {
            let Piece { point, policy, .. } = job[0];
            let policy_spec = &self.points[point].policies[policy].policy;
            let in_lanes = matches!(policy_spec, PolicySpec::Exp3(_) | PolicySpec::BatchedExp3(_));
            match open.get(&(point, policy)) {
                Some(&bundle) if in_lanes && bundles[bundle].len() < SIDE_BY_SIDE => bundles[bundle].push(job),
                _ => {
                    open.insert((point, policy), bundles.len());
                    bundles.push(vec![job]);
                }
            }
        }
        bundles
    }

    /// A rough measure of the time a bundle takes: the number of runs, times about the nanoseconds of one.
    fn cost(&self, bundle: &[Job]) -> f64 {
        let Piece { point, policy, .. } = bundle[0][0];
        let plays = self.spec.horizon as f64;
        let of_one = match &self.points[point].policies[policy].policy {
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
        let place = &self.instances[piece.point][piece.instance as usize];
        place.get_or_init(|| self.draw(piece)).as_ref().map_err(PieceErrorKind::clone)
    }

    fn draw(&self, piece: Piece) -> Result<Instance, PieceErrorKind> {
        let mut stream = self.stream(piece, Purpose::Game);
        let game = self.points[piece.point].game.draw(&mut stream)?;
        let mut optima = Optima::new(&game);
        let optimum = self.times.iter().map(|&t| optima.excess_at(t)).collect::<Result<_, _>>()?;
        Ok(Instance { game, optimum })
    }

    fn stream(&self, piece: Piece, purpose: Purpose) -> Stream {
        stream(self.spec.seed, &self.spec.name, piece.instance, purpose)
    }

    /// The curve of each job of a bundle.
    fn play(&self, bundle: &[Job]) -> Vec<Result<Curve, RunError>> {
        let pieces: Vec<Piece> = bundle.iter().map(|job| job[0]).collect();
        let mut tables: Vec<_> = pieces.iter().map(|&piece| self.table(piece)).collect();
        let ready = tables.iter_mut().filter_map(|table| table.as_mut().ok());
        let mut seats: Vec<Seat<'_>> =
            ready.map(|(instance, policy, noise)| Seat { game: &instance.game, policy, noise }).collect();
        let mut played = simulate_together(&mut seats, &self.grid).into_iter();
        let mut curves = Vec::new();
        for (piece, table) in pieces.into_iter().zip(tables) {
            // One was played for each table that was ready, in the same order.
            let curve = match table {
                Ok((instance, ..)) => played.next().map(|played| Ok(curve(piece, &played?, &instance.optimum))),
                Err(why) => Some(Err(why)),
            };
            curves.extend(curve.map(|curve| curve.map_err(|why| self.explain(piece, why))));
        }
        curves
    }

    fn explain(&self, piece: Piece, why: PieceErrorKind) -> RunError {
        let point = &self.points[piece.point];
        let policy = point.policies[piece.policy].label.clone();
        Box::new(PieceError { experiment: self.spec.name.clone(), point: point.label.clone(), policy, why }).into()
    }

    /// What is needed to play a piece: the instance, the policy ready for its first run, and the noise.
    fn table(&self, piece: Piece) -> Result<(&Instance, AnyPolicy, Stream), PieceErrorKind> {
        let instance = self.instance(piece)?;
        let policy = &self.points[piece.point].policies[piece.policy].policy;
        let setting = Setting::of(&instance.game, self.spec.horizon);
        let policy = policy.build(&setting, self.stream(piece, Purpose::Policy))?;
        Ok((instance, policy, self.stream(piece, Purpose::Noise)))
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
