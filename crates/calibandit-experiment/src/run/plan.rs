//! The plan of a run: which curves an experiment consists of, which of them are the same, which are simulated together,
//! and how a batch of them is computed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use calibandit::rng::StreamKey;
use calibandit::{
    AnyPolicy, BatchItem, Checkpoint, Engine, Game, Noise, Optima, PolicySpec, Stream, Trajectory, batch_size,
    simulate, simulate_batch,
};

use crate::error::{Error, ErrorKind, InstanceError};
use crate::experiment::{PolicySource, UserPolicyFactory};
use crate::results::{Curve, Results, Sample};
use crate::spec::Point;
use crate::{Experiment, cost};

/// Which curve: one policy on one instance of one point of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CurveKey {
    pub(super) point: usize,
    pub(super) policy: usize,
    pub(super) instance: u64,
}

impl CurveKey {
    pub(super) fn of(curve: &Curve) -> Self {
        Self { point: curve.game, policy: curve.policy, instance: curve.instance }
    }
}

/// The keys of curves that are the same, because game, policy and instance are: a sweep over a parameter that only some
/// policies have repeats the curves of the others. Never empty.
type SharedKeys = Vec<CurveKey>;

/// Curves that are computed together: several instances of one policy, if that is faster than one by one.
#[derive(Clone, Debug)]
pub(super) struct Batch(Vec<SharedKeys>);

impl Batch {
    /// The keys of each curve of the batch.
    pub(super) fn shared(&self) -> &[SharedKeys] {
        &self.0
    }

    /// All keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = CurveKey> {
        self.0.iter().flatten().copied()
    }

    /// One key per curve.
    fn representatives(&self) -> Vec<CurveKey> {
        self.0.iter().map(|shared| shared[0]).collect()
    }
}

/// An instance of a game with the optimum that its regret is measured against.
struct Instance {
    game: Game,
    /// The optimum's excess over mu(x*) at each checkpoint.
    optimum: Vec<f64>,
}

/// By point and instance; each is initialised by the first thread that needs it.
type Instances = Vec<Vec<OnceLock<Result<Instance, InstanceError>>>>;

/// An instance, a policy built for it and the noise: what one simulation needs.
type PreparedItem<'a> = (&'a Instance, AnyPolicy, Stream);

/// An experiment, prepared for computing its curves.
pub(super) struct RunPlan<'a> {
    experiment: &'a Experiment,
    instances: Instances,
    /// By point: the number of arms and the noise, for the cost model.
    sizes: Vec<(usize, Noise)>,
}

impl<'a> RunPlan<'a> {
    pub(super) fn new(experiment: &'a Experiment) -> Self {
        let row = |_: &_| (0..experiment.instances()).map(|_| OnceLock::new()).collect();
        let size = |point: &Point| {
            let mut stream = StreamKey::new(experiment.seed(), experiment.name(), 0).game();
            let game = point.game.draw(&mut stream).expect("validation has drawn the game of the first instance");
            (game.arms().len(), game.arms()[0].noise())
        };
        let points = experiment.points();
        Self { experiment, instances: points.iter().map(row).collect(), sizes: points.iter().map(size).collect() }
    }

    /// The keys of all curves, in the order of the results. The position of a key decides its shard.
    pub(super) fn keys(&self) -> Vec<CurveKey> {
        let mut keys = Vec::new();
        for point in self.experiment.points() {
            for policy in 0..point.policies.len() {
                let key = |instance| CurveKey { point: point.index, policy, instance };
                keys.extend((0..self.experiment.instances()).map(key));
            }
        }
        keys
    }

    /// These curves as batches. Curves that are the same are computed once.
    pub(super) fn batches(&self, keys: &[CurveKey]) -> Vec<Batch> {
        let mut batches: Vec<Batch> = Vec::new();
        let mut open: HashMap<(usize, usize), usize> = HashMap::new();
        for shared in self.shared_keys(keys) {
            let CurveKey { point, policy, .. } = shared[0];
            let size = match self.policy(shared[0]) {
                PolicySource::Spec(spec) => batch_size(spec),
                PolicySource::User(_) => 1,
            };
            match open.get(&(point, policy)) {
                Some(&batch) if batches[batch].0.len() < size => batches[batch].0.push(shared),
                _ => {
                    open.insert((point, policy), batches.len());
                    batches.push(Batch(vec![shared]));
                }
            }
        }
        batches
    }

    fn shared_keys(&self, keys: &[CurveKey]) -> Vec<SharedKeys> {
        let simulated = |point: usize, policy: usize| {
            let point = &self.experiment.points()[point];
            (&point.game, &point.policies[policy].policy)
        };
        // Pairs of game and policy that differ from each other, as (point, policy).
        let mut distinct: Vec<(usize, usize)> = Vec::new();
        let mut pair_of: HashMap<(usize, usize), usize> = HashMap::new();
        let mut place_of: HashMap<(usize, u64), usize> = HashMap::new();
        let mut all: Vec<SharedKeys> = Vec::new();
        for &key in keys {
            let pair = *pair_of.entry((key.point, key.policy)).or_insert_with(|| {
                let same =
                    |&(point, policy): &(usize, usize)| simulated(point, policy) == simulated(key.point, key.policy);
                distinct.iter().position(same).unwrap_or_else(|| {
                    distinct.push((key.point, key.policy));
                    distinct.len() - 1
                })
            });
            match place_of.entry((pair, key.instance)) {
                Entry::Occupied(place) => all[*place.get()].push(key),
                Entry::Vacant(place) => {
                    place.insert(all.len());
                    all.push(vec![key]);
                }
            }
        }
        all
    }

    /// The estimated time of a batch, in nanoseconds.
    pub(super) fn cost(&self, batch: &Batch) -> f64 {
        let key = batch.0[0][0];
        let horizon = self.experiment.horizon();
        let of_one = match self.policy(key) {
            PolicySource::User(_) => cost::user_policy_nanoseconds(horizon),
            PolicySource::Spec(spec) => {
                let (arms, noise) = self.sizes[key.point];
                cost::nanoseconds(spec, arms, horizon, noise)
            }
        };
        of_one * batch.0.len() as f64
    }

    /// The curve of each of a batch's shared keys.
    pub(super) fn simulate(&self, batch: &Batch) -> Result<Vec<Curve>, Error> {
        let keys = batch.representatives();
        let curves: Vec<Result<Curve, InstanceError>> = match self.policy(keys[0]) {
            PolicySource::User(factory) => keys.iter().map(|&key| self.simulate_user(key, factory.as_ref())).collect(),
            PolicySource::Spec(spec) => self.simulate_batch(&keys, spec),
        };
        keys.iter().zip(curves).map(|(&key, curve)| curve.map_err(|source| self.error(key, source))).collect()
    }

    fn simulate_user(&self, key: CurveKey, factory: &dyn UserPolicyFactory) -> Result<Curve, InstanceError> {
        let instance = self.instance(key)?;
        let problem = instance.game.problem(self.experiment.horizon());
        let mut noise = self.streams(key).noise();
        let mut played = None;
        factory.with_policy(&problem, self.streams(key).policy(), &mut |policy| {
            played = Some(simulate(&instance.game, policy, self.experiment.grid(), Engine::Leaping, &mut noise));
        });
        Ok(curve(key, &played.ok_or(InstanceError::NoPolicy)??, &instance.optimum))
    }

    fn simulate_batch(&self, keys: &[CurveKey], spec: &PolicySpec) -> Vec<Result<Curve, InstanceError>> {
        let mut prepared: Vec<Result<PreparedItem<'_>, _>> = keys.iter().map(|&key| self.prepare(key, spec)).collect();
        let ready = prepared.iter_mut().filter_map(|prepared| prepared.as_mut().ok());
        let mut items: Vec<BatchItem<'_>> =
            ready.map(|(instance, policy, noise)| BatchItem { game: &instance.game, policy, noise }).collect();
        let mut played = simulate_batch(&mut items, self.experiment.grid()).into_iter();
        let mut curves = Vec::new();
        for (&key, prepared) in keys.iter().zip(prepared) {
            curves.push(prepared.and_then(|(instance, ..)| {
                let played = played.next().expect("one trajectory per prepared item, in the same order")?;
                Ok(curve(key, &played, &instance.optimum))
            }));
        }
        curves
    }

    fn prepare(&self, key: CurveKey, spec: &PolicySpec) -> Result<PreparedItem<'_>, InstanceError> {
        let instance = self.instance(key)?;
        let problem = instance.game.problem(self.experiment.horizon());
        let policy = spec.build(&problem, self.streams(key).policy())?;
        Ok((instance, policy, self.streams(key).noise()))
    }

    fn instance(&self, key: CurveKey) -> Result<&Instance, InstanceError> {
        let place = &self.instances[key.point][key.instance as usize];
        place.get_or_init(|| self.draw(key)).as_ref().map_err(InstanceError::clone)
    }

    fn draw(&self, key: CurveKey) -> Result<Instance, InstanceError> {
        let game = self.experiment.points()[key.point].game.draw(&mut self.streams(key).game())?;
        let mut optima = Optima::new(&game);
        let times = self.experiment.grid().times();
        let optimum = times.iter().map(|&t| optima.excess_at(t)).collect::<Result<_, _>>()?;
        Ok(Instance { game, optimum })
    }

    fn streams(&self, key: CurveKey) -> StreamKey<'a> {
        StreamKey::new(self.experiment.seed(), self.experiment.name(), key.instance)
    }

    fn policy(&self, key: CurveKey) -> &'a PolicySource {
        &self.experiment.points()[key.point].policies[key.policy].policy
    }

    fn error(&self, key: CurveKey, source: InstanceError) -> Error {
        let point = &self.experiment.points()[key.point];
        ErrorKind::Instance {
            experiment: self.experiment.name().to_owned(),
            point: point.label.clone(),
            policy: point.policies[key.policy].label.clone(),
            source,
        }
        .into()
    }

    /// The results with these curves.
    pub(super) fn results(&self, curves: Vec<Curve>) -> Results {
        let Self { experiment, .. } = self;
        Results::new(experiment.name().to_owned(), experiment.game_labels(), experiment.policy_labels(), curves)
            .with_swept(experiment.swept())
    }
}

fn curve(key: CurveKey, played: &Trajectory, optimum: &[f64]) -> Curve {
    let sample = |(at, optimum): (&Checkpoint, &f64)| Sample {
        t: at.t,
        loss: at.loss,
        cpr: at.excess - optimum,
        switches: at.switches,
    };
    let samples = played.checkpoints.iter().zip(optimum).map(sample).collect();
    Curve { game: key.point, policy: key.policy, instance: key.instance, samples }
}
