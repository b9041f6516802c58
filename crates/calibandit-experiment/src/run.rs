//! Running an experiment: every policy of every point of the sweep on every instance, spread over threads and shards.
//!
//! Whatever the spread, the numbers are the same: each instance has its own streams, and what is computed for it depends on
//! nothing else. Finished pieces can be kept on disk as they come (see [`Journal`]), so that an interrupted run goes on where it
//! stopped.

mod contest;
mod journal;
mod lab;
mod shard;

pub use contest::{Contest, Contestant, Entrant, GameSource, OwnPolicy};
pub use journal::{Journal, JournalError};
pub use shard::{Shard, ShardError};

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use calibandit::{GameError, OptimumError, PolicyError, SimulateError};

use crate::Experiment;
use crate::parallel;
use crate::results::{Curve, Results};
use lab::{Lab, Piece};

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
    /// A piece of the work could not be done.
    #[error(transparent)]
    Piece(#[from] Box<PieceError>),
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
    /// A policy of one's own was not there when it was to play.
    #[error("the policy could not be made")]
    NoPolicy,
}

/// Runs an experiment, or one shard of it. What the journal already has is not done again.
pub fn run(
    experiment: &Experiment,
    options: &RunOptions<'_>,
    journal: Option<&mut Journal>,
) -> Result<Results, RunError> {
    work(&Lab::of_experiment(experiment), options, journal)
}

/// Runs a contest: the same numbers as an experiment of that name has where both have the same game and policy.
pub fn run_contest(contest: &Contest<'_>, options: &RunOptions<'_>) -> Result<Results, RunError> {
    work(&Lab::of_contest(contest), options, None)
}

fn work(lab: &Lab<'_>, options: &RunOptions<'_>, journal: Option<&mut Journal>) -> Result<Results, RunError> {
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
    Ok(lab.results(curves))
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
