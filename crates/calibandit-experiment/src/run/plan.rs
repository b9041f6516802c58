//! The plan of a run: which curves an experiment consists of, which of them are the same, which are simulated together,
//! and how a batch of them is computed.

use std::collections::HashMap;
use std::sync::Arc;

use calibandit::rng::StreamKey;
use calibandit::simulate::{LiveSpec, LiveTrajectory, simulate_live, simulate_live_policy};
use calibandit::{
    AnyPolicy, BatchItem, Checkpoint, Engine, Interrupt, Noise, PolicySpec, Stream, Trajectory, batch_size,
    simulate_batch_interruptible, simulate_interruptible,
};
use sha2::{Digest, Sha256};

use super::instances::{Instance, Instances};
use super::{RunOptions, Shard};
use crate::error::{Error, ErrorKind, InstanceError};
use crate::experiment::{PolicySource, UserPolicyFactory};
use crate::results::{Curve, CurveCollector, Results, Sample};
use crate::schedule::{ScheduleError, Scheduler, Task};
use crate::spec::Point;
use crate::{Experiment, cost};

/// Instances that need more memory than this together are prepared in several stages.
const STAGE_BYTES: u64 = 64 << 20;

/// A policy at a point of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PointPolicy {
    pub(super) point: usize,
    pub(super) policy: usize,
}

/// Curves that are computed together: several instances of one policy, if that is faster than one by one.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// Index into [`RunPlan::groups`].
    group: usize,
    /// In increasing order; never empty.
    pub(super) instances: Vec<u64>,
}

/// What estimates need to know of a game: that of the first instance.
struct GameSize {
    arms: usize,
    noise: Noise,
    /// In memory, without the optimum.
    bytes: u64,
}

/// An instance, a policy built for it and the noise: what one simulation needs.
type PreparedItem = (Arc<Instance>, AnyPolicy, Stream);

/// An experiment, prepared for computing its curves.
pub(super) struct RunPlan<'a> {
    experiment: &'a Experiment,
    shard: Shard,
    /// The places of a sweep that have the same curves, because game and policy are the same: a sweep over a parameter
    /// that only some policies have repeats the curves of the others. In the order of the results.
    groups: Vec<Vec<PointPolicy>>,
    instances: Instances<'a>,
    /// By game: the bytes of the instances of all games before it, and of one of its own.
    stages: Vec<(u64, u64)>,
    /// By point, for the cost model.
    sizes: Vec<GameSize>,
    /// One bit per curve, in the order of the results: whether it is known already.
    known: Vec<u64>,
    known_count: usize,
}

impl<'a> RunPlan<'a> {
    pub(super) fn new(experiment: &'a Experiment, shard: Shard) -> Self {
        let size = |point: &Point| {
            let mut stream = StreamKey::new(experiment.seed(), experiment.name(), 0).game();
            let game = point.game.draw(&mut stream).expect("validation has drawn the game of the first instance");
            GameSize { arms: game.arms().len(), noise: game.arms()[0].noise(), bytes: game.memory_estimate() }
        };
        let sizes: Vec<GameSize> = experiment.points().iter().map(size).collect();
        let instances = Instances::new(experiment);
        let (groups, stages) = (groups(experiment, &instances), stages(experiment, &instances, &sizes));
        let known = vec![0; (experiment.size().curves() as usize).div_ceil(64)];
        Self { experiment, shard, groups, instances, stages, sizes, known, known_count: 0 }
    }

    /// Prepares the first instance of each game. A game whose optimum is out of reach is refused here, before anything
    /// is simulated. `keep`: they stay in memory, for the run that follows, unless they are large.
    pub(super) fn check_games(&self, options: &RunOptions<'_>, keep: bool) -> Result<(), Error> {
        let bytes: u64 = self.sizes.iter().map(|size| size.bytes).sum();
        let check = |&point: &usize| {
            let checked = self.instances.get(point, 0, Interrupt::new(options.stop)).map(drop);
            if !keep || bytes > STAGE_BYTES {
                self.instances.free_unused();
            }
            checked.map_err(|source| {
                let (experiment, point) = (self.experiment, &self.experiment.points()[point]);
                let (experiment, point) = (experiment.name().to_owned(), point.label.clone());
                Error::from(ErrorKind::Refused { experiment, point, source })
            })
        };
        let tasks = self.instances.points().map(|point| Task::new(point, 1.0)).collect();
        let schedule = Scheduler::new(options.threads).stop(options.stop);
        schedule.run(tasks, check, |_, ()| Ok(())).map_err(|error| match error {
            ScheduleError::Task(refused) => refused,
            ScheduleError::Stopped { .. } => {
                let curves = options.shard.count(self.experiment.size().curves() as u64) as usize;
                ErrorKind::Stopped { done: self.known_count, total: curves }.into()
            }
        })
    }

    /// Frees the instances that were only prepared for [`check_games`](Self::check_games).
    pub(super) fn free_unused(&self) {
        self.instances.free_unused();
    }

    /// Notes that a curve is known. `false` if it was already, or is not a curve of this run.
    pub(super) fn add_known(&mut self, curve: &Curve) -> bool {
        let place = PointPolicy { point: curve.game, policy: curve.policy };
        let exists = curve.game < self.experiment.points().len()
            && curve.policy < self.experiment.policies().len()
            && curve.instance < self.experiment.instances();
        if !exists || !self.is_wanted(place, curve.instance) {
            return false;
        }
        let index = self.index(place, curve.instance);
        self.known[index / 64] |= 1 << (index % 64);
        self.known_count += 1;
        true
    }

    /// The number of curves that are known.
    pub(super) fn known_count(&self) -> usize {
        self.known_count
    }

    /// The position of a curve in the order of the results. It decides its shard.
    fn index(&self, place: PointPolicy, instance: u64) -> usize {
        let row = place.point * self.experiment.policies().len() + place.policy;
        row * self.experiment.instances() as usize + instance as usize
    }

    fn is_wanted(&self, place: PointPolicy, instance: u64) -> bool {
        let index = self.index(place, instance);
        self.shard.has(index) && self.known[index / 64] >> (index % 64) & 1 == 0
    }

    /// The places whose curves are still to be computed, for an instance of a batch.
    pub(super) fn wanted(&self, batch: &Batch, instance: u64) -> impl Iterator<Item = PointPolicy> {
        self.groups[batch.group].iter().copied().filter(move |&place| self.is_wanted(place, instance))
    }

    /// The number of curves of a batch.
    pub(super) fn units(&self, batch: &Batch) -> usize {
        batch.instances.iter().map(|&instance| self.wanted(batch, instance).count()).sum()
    }

    /// All curves that are to be computed, as batches. Curves that are the same are computed once.
    pub(super) fn batches(&self) -> Vec<Batch> {
        let mut batches: Vec<Batch> = Vec::new();
        for (group, places) in self.groups.iter().enumerate() {
            let size = match (self.policy(places[0]), self.live(places[0])) {
                (PolicySource::Spec(spec), None) => batch_size(spec),
                _ => 1,
            };
            let mut open: Vec<u64> = Vec::new();
            for instance in 0..self.experiment.instances() {
                if !places.iter().any(|&place| self.is_wanted(place, instance)) {
                    continue;
                }
                self.instances.announce(places[0].point, instance);
                open.push(instance);
                if open.len() == size {
                    batches.push(Batch { group, instances: std::mem::take(&mut open) });
                }
            }
            if !open.is_empty() {
                batches.push(Batch { group, instances: open });
            }
        }
        batches
    }

    /// Batches of a later stage are started later, so that not all instances are in memory at once.
    pub(super) fn stage(&self, batch: &Batch) -> u64 {
        let (before, one) = self.stages[self.instances.game(self.place(batch).point)];
        (before + batch.instances[0] * one) / STAGE_BYTES
    }

    /// The estimated time of a batch, in nanoseconds.
    pub(super) fn cost(&self, batch: &Batch) -> f64 {
        let place = self.place(batch);
        let horizon = self.experiment.horizon();
        let GameSize { arms, noise, .. } = self.sizes[place.point];
        cost::of_source(self.policy(place), self.live(place), arms, horizon, noise) * batch.instances.len() as f64
    }

    /// The number of plays of a batch.
    pub(super) fn plays(&self, batch: &Batch) -> u64 {
        self.experiment.horizon().saturating_mul(batch.instances.len() as u64)
    }

    /// The samples of each instance of a batch. An error if the flag of `interrupt` is set.
    pub(super) fn simulate(&self, batch: &Batch, interrupt: Interrupt<'_>) -> Result<Vec<Vec<Sample>>, Error> {
        let place = self.place(batch);
        let curves: Vec<Result<Vec<Sample>, InstanceError>> = match (self.live(place), self.policy(place)) {
            (Some(live), _) => {
                let simulate = |&instance: &u64| self.simulate_live(place, instance, live, interrupt);
                batch.instances.iter().map(simulate).collect()
            }
            (None, PolicySource::User(factory)) => {
                let simulate = |&instance: &u64| self.simulate_user(place, instance, factory.as_ref(), interrupt);
                batch.instances.iter().map(simulate).collect()
            }
            (None, PolicySource::Spec(spec)) => self.simulate_batch(place, &batch.instances, spec, interrupt),
        };
        for &instance in &batch.instances {
            self.instances.release(place.point, instance);
        }
        curves.into_iter().map(|curve| curve.map_err(|source| self.error(place, source))).collect()
    }

    fn simulate_live(
        &self,
        place: PointPolicy,
        instance: u64,
        live: &LiveSpec,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Sample>, InstanceError> {
        let prepared = self.instances.get(place.point, instance, interrupt)?;
        let (game, grid, streams) = (&prepared.game, self.experiment.grid(), self.streams(instance));
        let LiveTrajectory { trajectory, optimum, .. } = match self.policy(place) {
            PolicySource::Spec(spec) => simulate_live(game, spec, grid, live, streams, interrupt)?,
            PolicySource::User(factory) => {
                let problem = game.problem(self.experiment.horizon());
                let mut played = None;
                factory.with_policy(&problem, streams.policy(), &mut |policy| {
                    played = Some(simulate_live_policy(game, policy, grid, live, streams, interrupt));
                });
                played.ok_or(InstanceError::NoPolicy)??
            }
        };
        Ok(samples(&trajectory, &optimum))
    }

    fn simulate_user(
        &self,
        place: PointPolicy,
        instance: u64,
        factory: &dyn UserPolicyFactory,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Sample>, InstanceError> {
        let prepared = self.instances.get(place.point, instance, interrupt)?;
        let problem = prepared.game.problem(self.experiment.horizon());
        let mut noise = self.streams(instance).noise();
        let mut played = None;
        factory.with_policy(&problem, self.streams(instance).policy(), &mut |policy| {
            let (game, grid) = (&prepared.game, self.experiment.grid());
            played = Some(simulate_interruptible(game, policy, grid, Engine::Leaping, &mut noise, interrupt));
        });
        Ok(samples(&played.ok_or(InstanceError::NoPolicy)??, &prepared.optimum))
    }

    fn simulate_batch(
        &self,
        place: PointPolicy,
        instances: &[u64],
        spec: &PolicySpec,
        interrupt: Interrupt<'_>,
    ) -> Vec<Result<Vec<Sample>, InstanceError>> {
        let prepare = |&instance: &u64| self.prepare(place, instance, spec, interrupt);
        let mut prepared: Vec<Result<PreparedItem, InstanceError>> = instances.iter().map(prepare).collect();
        let ready = prepared.iter_mut().filter_map(|prepared| prepared.as_mut().ok());
        let mut items: Vec<BatchItem<'_>> =
            ready.map(|(instance, policy, noise)| BatchItem { game: &instance.game, policy, noise }).collect();
        let mut played = simulate_batch_interruptible(&mut items, self.experiment.grid(), interrupt).into_iter();
        let mut curves = Vec::new();
        for prepared in prepared {
            curves.push(prepared.and_then(|(instance, ..)| {
                let played = played.next().expect("one trajectory per prepared item, in the same order")?;
                Ok(samples(&played, &instance.optimum))
            }));
        }
        curves
    }

    fn prepare(
        &self,
        place: PointPolicy,
        instance: u64,
        spec: &PolicySpec,
        interrupt: Interrupt<'_>,
    ) -> Result<PreparedItem, InstanceError> {
        let prepared = self.instances.get(place.point, instance, interrupt)?;
        let problem = prepared.game.problem(self.experiment.horizon());
        let policy = spec.build(&problem, self.streams(instance).policy())?;
        Ok((prepared, policy, self.streams(instance).noise()))
    }

    fn streams(&self, instance: u64) -> StreamKey<'a> {
        StreamKey::new(self.experiment.seed(), self.experiment.name(), instance)
    }

    fn place(&self, batch: &Batch) -> PointPolicy {
        self.groups[batch.group][0]
    }

    fn policy(&self, place: PointPolicy) -> &'a PolicySource {
        &self.experiment.points()[place.point].policies[place.policy].policy
    }

    fn live(&self, place: PointPolicy) -> Option<&'a LiveSpec> {
        self.experiment.points()[place.point].live.as_ref()
    }

    fn error(&self, place: PointPolicy, source: InstanceError) -> Error {
        let point = &self.experiment.points()[place.point];
        ErrorKind::Instance {
            experiment: self.experiment.name().to_owned(),
            point: point.label.clone(),
            policy: point.policies[place.policy].label.clone(),
            source,
        }
        .into()
    }

    /// The number of instances in memory.
    #[cfg(test)]
    pub(super) fn held_instances(&self) -> usize {
        self.instances.held()
    }

    /// The results with these curves.
    pub(super) fn results(&self, curves: CurveCollector) -> std::io::Result<Results> {
        let Self { experiment, .. } = self;
        let name = experiment.name().to_owned();
        let results = Results::collected(name, experiment.game_labels(), experiment.policy_labels(), curves)?;
        Ok(results.described_by(experiment))
    }
}

/// The places of a sweep, those with the same game and the same policy together.
fn groups(experiment: &Experiment, instances: &Instances<'_>) -> Vec<Vec<PointPolicy>> {
    let mut groups: Vec<Vec<PointPolicy>> = Vec::new();
    let mut known: HashMap<(usize, [u8; 32]), usize> = HashMap::new();
    for point in experiment.points() {
        for (policy, entry) in point.policies.iter().enumerate() {
            // A policy of the user, which has no text, is equal to no other.
            let text = serde_json::to_string(&entry.policy).ok();
            let key = text.map(|text| (instances.game(point.index), Sha256::digest(text).into()));
            let group = key.map_or(groups.len(), |key| *known.entry(key).or_insert(groups.len()));
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(PointPolicy { point: point.index, policy });
        }
    }
    groups
}

/// By game: the estimated bytes of the instances of all games before it, and of one of its own instances. An instance
/// has its game and the optimum at the checkpoints.
fn stages(experiment: &Experiment, instances: &Instances<'_>, sizes: &[GameSize]) -> Vec<(u64, u64)> {
    let mut stages: Vec<(u64, u64)> = Vec::new();
    let mut before = 0;
    for (point, size) in experiment.points().iter().zip(sizes) {
        if instances.game(point.index) < stages.len() {
            continue;
        }
        let bytes = size.bytes + 8 * experiment.grid().times().len() as u64;
        let same = point.game.is_same_in_all_instances();
        stages.push((before, if same { 0 } else { bytes }));
        before += bytes * if same { 1 } else { experiment.instances() };
    }
    stages
}

fn samples(played: &Trajectory, optimum: &[f64]) -> Vec<Sample> {
    let sample = |(at, optimum): (&Checkpoint, &f64)| Sample {
        t: at.t,
        loss: at.loss,
        cpr: at.excess - optimum,
        switches: at.switches,
    };
    played.checkpoints.iter().zip(optimum).map(sample).collect()
}
