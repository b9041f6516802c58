//! The journal of a run: which curves it may hold, and what they depend on.

use serde_json::{Value, json};

use super::Shard;
use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::output::{Fingerprint, Journal, JournalRecord, KeyOfCurve, OutputLock, OutputNote, contradiction};
use crate::results::Curve;
use crate::spec::RegretReference;

impl JournalRecord for Curve {
    type Key = KeyOfCurve;

    fn key(&self) -> KeyOfCurve {
        (self.game, self.policy, self.instance)
    }
}

/// Opens the journal of an experiment, or of one shard of it, in a folder.
///
/// # Errors
/// [`ErrorKind::Io`] if the journal cannot be read or written; [`ErrorKind::UserCode`] if the experiment has a game or
/// a policy of the user, which cannot be recognised.
pub fn open_journal(
    lock: &OutputLock,
    experiment: &Experiment,
    shard: Shard,
    note: &dyn Fn(OutputNote),
) -> Result<Journal<Curve>, Error> {
    let policies = experiment.policies().len();
    let instances = experiment.instances();
    let is_valid = |curve: &Curve| {
        let (point, policy, instance) = curve.key();
        if point >= experiment.points().len() || policy >= policies || instance >= instances {
            return false;
        }
        let task = (point * policies + policy) * instances as usize + instance as usize;
        shard.has(task) && contradiction(experiment, curve).is_none()
    };
    Journal::open(lock, experiment.name(), fingerprint(experiment, shard)?, is_valid, note)
}

/// The fingerprint of everything that curves depend on, and of which of them there are. Titles, labels and figures are
/// not part of it.
fn fingerprint(experiment: &Experiment, shard: Shard) -> Result<Fingerprint, Error> {
    let user_code = || ErrorKind::UserCode { experiment: experiment.name().to_owned() };
    let mut points = Vec::new();
    for point in experiment.points() {
        let game = point.game.spec().ok_or_else(user_code)?;
        let policies: Option<Vec<_>> = point.policies.iter().map(|entry| entry.policy.spec()).collect();
        let mut of_point = vec![json!(game), json!(policies.ok_or_else(user_code)?)];
        // What a plain experiment does not have is not part of its fingerprint.
        of_point.extend(point.live.map(|live| json!(live)));
        points.push(Value::Array(of_point));
    }
    let mut all = json!({
        "name": experiment.name(),
        "seed": experiment.seed(),
        "horizon": experiment.horizon(),
        "instances": experiment.instances(),
        "shard": shard,
        "checkpoints": experiment.grid().times(),
        "points": points,
    });
    if experiment.reference() != RegretReference::Time {
        all["reference"] = json!(experiment.reference());
    }
    Ok(Fingerprint::new(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "name = \"x\"\ntitle = \"A\"\nhorizon = 100\ninstances = 2\n\
                        game = { kind = \"step\", arms = 3, memory = 2 }\n\
                        policy = [{ kind = \"ucb1\", label = \"U\" }]\n";

    fn of(text: &str, shard: Shard) -> Fingerprint {
        let experiment = Experiment::from_toml("x.toml", text).unwrap_or_else(|errors| panic!("{errors}"));
        fingerprint(&experiment, shard).unwrap()
    }

    #[test]
    fn texts_and_figures_are_not_part_of_the_fingerprint_and_everything_else_is() {
        let whole = of(FILE, Shard::WHOLE);
        for (from, to) in
            [("\"A\"", "\"B\""), ("label = \"U\"", "label = \"V\""), ("title = \"A\"", "figure = { y_min = 0.0 }")]
        {
            assert_eq!(of(&FILE.replace(from, to), Shard::WHOLE), whole, "{to}");
        }
        for (from, to) in [
            ("\"x\"", "\"y\""),
            ("100", "101"),
            ("instances = 2", "instances = 3"),
            ("title = \"A\"", "seed = 2"),
            ("title = \"A\"", "checkpoints = { points = 3 }"),
            ("arms = 3", "arms = 4"),
            ("ucb1", "thompson"),
            ("title = \"A\"", "live = {}"),
            ("title = \"A\"", "reference = \"horizon\""),
        ] {
            assert_ne!(of(&FILE.replace(from, to), Shard::WHOLE), whole, "{to}");
        }
        assert_ne!(of(FILE, Shard::new(1, 2).unwrap()), whole);
    }
}
