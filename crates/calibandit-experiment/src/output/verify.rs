//! Whether a table has exactly the curves of its experiments.
//!
//! The digests of the manifest find accidental damage. These checks find everything else that contradicts the manifest:
//! curves that are missing, twice or foreign, other checkpoints, and numbers that no run gives.

use std::collections::HashSet;
use std::io;

use crate::Experiment;
use crate::results::{Curve, Results};
use crate::run::Shard;

/// Which curve: the point of the sweep, the policy, and the instance.
pub(crate) type KeyOfCurve = (usize, usize, u64);

/// The keys of the curves of a shard of an experiment, in the order of the results.
pub(crate) fn keys(experiment: &Experiment, shard: Shard) -> impl Iterator<Item = KeyOfCurve> {
    let instances = experiment.instances();
    let pairs = experiment.points().iter().enumerate();
    let pairs = pairs.flat_map(|(point, at)| (0..at.policies.len()).map(move |policy| (point, policy)));
    let keys = pairs.flat_map(move |(point, policy)| (0..instances).map(move |instance| (point, policy, instance)));
    keys.enumerate().filter(move |(i, _)| shard.has(*i)).map(|(_, key)| key)
}

/// The number of curves of all shards.
pub(super) fn number_of_curves(experiment: &Experiment) -> u64 {
    let pairs: usize = experiment.points().iter().map(|point| point.policies.len()).sum();
    pairs as u64 * experiment.instances()
}

/// Why a curve cannot be of this experiment, apart from its key; `None` if it can.
pub(crate) fn contradiction(experiment: &Experiment, curve: &Curve) -> Option<String> {
    let times = experiment.grid().times();
    if !curve.samples.iter().map(|sample| &sample.t).eq(times) {
        return Some(format!("its times are not the {} checkpoints of the experiment", times.len()));
    }
    let wrong = curve.samples.iter().find(|at| !at.loss.is_finite() || !at.cpr.is_finite() || at.switches >= at.t)?;
    Some(format!("its numbers at t = {} are impossible", wrong.t))
}

/// Why results could not be verified.
pub(super) enum Unverified {
    /// The tables contradict the manifest.
    Contradiction(String),
    /// The temporary file of many curves cannot be read or written.
    Io(io::Error),
}

impl From<String> for Unverified {
    fn from(why: String) -> Self {
        Unverified::Contradiction(why)
    }
}

impl From<io::Error> for Unverified {
    fn from(error: io::Error) -> Self {
        Unverified::Io(error)
    }
}

/// The results of each experiment, in order, if these have exactly what the shard of each has. Results of several
/// tables become one.
pub(super) fn verified(experiments: &[Experiment], shard: Shard, read: &[Results]) -> Result<Vec<Results>, Unverified> {
    if let Some(results) = read.iter().find(|results| experiments.iter().all(|one| one.name() != results.experiment)) {
        let name = &results.experiment;
        return Err(format!("it has curves of the experiment `{name}`, which the manifest does not have").into());
    }
    experiments.iter().map(|experiment| verified_one(experiment, shard, read)).collect()
}

fn verified_one(experiment: &Experiment, shard: Shard, read: &[Results]) -> Result<Results, Unverified> {
    for results in read.iter().filter(|results| results.experiment == experiment.name()) {
        check_labels(&results.games, &experiment.game_labels())?;
        check_labels(&results.policies, &experiment.policy_labels())?;
    }
    let results = Results::of_experiment(experiment, read)?;
    let named = |(game, policy, instance): KeyOfCurve| {
        let (game, policy) = (&results.games[game], &results.policies[policy]);
        format!("the curve of {policy} on instance {instance} of {game} ({})", results.experiment)
    };
    let mut expected = keys(experiment, shard);
    for curve in results.curves() {
        let curve = curve?;
        let key = (curve.game, curve.policy, curve.instance);
        match expected.next() {
            Some(next) if next == key => {}
            // Curves are sorted: one that is greater than the expected one has left it out.
            Some(next) if next < key => return Err(format!("{} is missing", named(next)).into()),
            _ => return Err(format!("{} is there twice, or does not belong there", named(key)).into()),
        }
        if let Some(why) = contradiction(experiment, &curve) {
            return Err(format!("{} is wrong: {why}", named(key)).into());
        }
    }
    match expected.next() {
        Some(next) => Err(format!("{} is missing", named(next)).into()),
        None => Ok(results),
    }
}

/// Whether all labels of a table are those of the experiment.
fn check_labels(found: &[String], known: &[String]) -> Result<(), String> {
    let known: HashSet<&String> = known.iter().collect();
    match found.iter().find(|label| !known.contains(label)) {
        Some(label) => Err(format!("its experiment has no game or policy `{label}`")),
        None => Ok(()),
    }
}
