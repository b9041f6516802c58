//! What an output folder holds already, and whether new results may replace it.
//!
//! Results replace those of the same experiments: with the same names, games, policies and sweeps. Other numbers (seed,
//! instances, horizon, checkpoints), texts and figures are the same experiment with other parameters. Everything else
//! is refused, unless the user says that it may be replaced.

use std::fs;
use std::io;

use serde_json::Value;

use super::files::check_no_file;
use super::replace::{INCOMPLETE, MANIFEST, is_figure};
use super::seal::is_sealed;
use super::{FIGURES, LAYOUT, Manifest, ManifestExperiment, OutputDir, REPORT, TABLES};
use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::run::Shard;

/// The keys of an experiment file that make it another experiment.
const IDENTITY: [(&str, &str); 3] = [("game", "game"), ("policy", "policies"), ("sweep", "sweep")];

/// The number of names of experiments that a message lists.
const MOST_NAMES: usize = 3;

/// What a folder has.
enum Holding {
    /// Nothing that a run would replace.
    Nothing,
    /// Results of experiments, complete or not.
    Experiments(Manifest),
    /// The results of a tournament, complete or not.
    Tournament,
    /// The diagnosis of a log, complete or not.
    Diagnosis,
    /// Something else, in words.
    Other(&'static str),
}

impl Holding {
    fn in_words(&self) -> String {
        match self {
            Holding::Nothing => "nothing".to_owned(),
            Holding::Experiments(old) => format!("the results of {}", listed(&names(old))),
            Holding::Tournament => "the results of a tournament".to_owned(),
            Holding::Diagnosis => "the diagnosis of a log".to_owned(),
            Holding::Other(holds) => (*holds).to_owned(),
        }
    }
}

impl OutputDir {
    /// Whether the folder holds results, and those of some of these experiments only.
    pub fn holds_only(&self, known: &[Experiment]) -> bool {
        let Ok(Holding::Experiments(manifest)) = self.holding() else { return false };
        let known: Vec<Value> = known.iter().filter_map(Experiment::to_json).collect();
        let is_known = |held: &ManifestExperiment| {
            known.iter().any(|spec| spec["name"] == held.spec["name"] && differences(spec, &held.spec).is_empty())
        };
        manifest.experiments.iter().all(is_known)
    }

    /// Checks that the results of a tournament would replace nothing but those of a tournament.
    ///
    /// # Errors
    /// [`ErrorKind::Occupied`] if the folder holds something else; [`ErrorKind::Io`] if it cannot be read.
    pub fn check_replaceable_by_tournament(&self) -> Result<(), Error> {
        match self.holding()? {
            Holding::Nothing | Holding::Tournament => Ok(()),
            other => self.occupied(other.in_words()),
        }
    }

    /// Checks that the diagnosis of a log would replace nothing but a diagnosis. `files` are the files of a diagnosis:
    /// one without a manifest is somebody else's.
    ///
    /// # Errors
    /// [`ErrorKind::Occupied`] if the folder holds something else; [`ErrorKind::Io`] if it cannot be read.
    pub fn check_replaceable_by_diagnosis(&self, files: &[&str]) -> Result<(), Error> {
        match self.holding()? {
            Holding::Diagnosis => Ok(()),
            Holding::Nothing => match files.iter().find(|name| self.path.join(name).exists()) {
                Some(name) => self.occupied(format!("a file `{name}` without `manifest.json`")),
                None => Ok(()),
            },
            other => self.occupied(other.in_words()),
        }
    }

    /// Checks that results of these experiments would replace nothing but results of the same experiments.
    ///
    /// # Errors
    /// [`ErrorKind::Occupied`] if the folder holds something else; [`ErrorKind::Io`] if it cannot be read;
    /// [`ErrorKind::UserCode`] if an experiment has a game or a policy that no manifest can hold.
    pub fn check_replaceable(&self, experiments: &[Experiment], shard: Shard) -> Result<(), Error> {
        let old = match self.holding()? {
            Holding::Nothing => return Ok(()),
            Holding::Experiments(old) => old,
            other => return self.occupied(other.in_words()),
        };
        let new = Manifest::new(experiments, shard)?;
        let (old_names, new_names) = (names(&old), names(&new));
        if old_names != new_names {
            return self.occupied(format!("the results of {}", listed(&old_names)));
        }
        for experiment in &new.experiments {
            let same = |other: &&ManifestExperiment| other.spec["name"] == experiment.spec["name"];
            let Some(other) = old.experiments.iter().find(same) else { continue };
            let other_parts = differences(&other.spec, &experiment.spec);
            if !other_parts.is_empty() {
                let name = experiment.spec["name"].as_str().unwrap_or_default();
                return self.occupied(format!(
                    "the results of another experiment `{name}`, with other values of {}",
                    other_parts.join(" and ")
                ));
            }
        }
        match old.shard {
            old if old == shard => Ok(()),
            Shard::WHOLE => self.occupied("the results of all shards".to_owned()),
            old => self.occupied(format!("shard {old} of this run")),
        }
    }

    fn occupied(&self, holds: String) -> Result<(), Error> {
        Err(ErrorKind::Occupied { path: self.path.clone(), holds }.into())
    }

    fn holding(&self) -> Result<Holding, Error> {
        check_no_file(&self.path)?;
        // A folder whose results are being written has only the note of what they will be. If another process finishes
        // them between the first two looks, the third one finds the manifest.
        for name in [MANIFEST, INCOMPLETE, MANIFEST] {
            let path = self.path.join(name);
            match fs::read(&path) {
                Ok(text) => return Ok(held(&text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(&path, error)),
            }
        }
        if TABLES.into_iter().chain([REPORT]).any(|name| self.path.join(name).exists()) {
            return Ok(Holding::Other("tables or a report without `manifest.json`"));
        }
        let mut figures = fs::read_dir(self.path.join(FIGURES)).into_iter().flatten().flatten();
        match figures.any(|file| is_figure(&file.path())) {
            true => Ok(Holding::Other("a folder `figures` without `manifest.json`")),
            false => Ok(Holding::Nothing),
        }
    }
}

fn held(text: &[u8]) -> Holding {
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        return Holding::Other("a `manifest.json` that is damaged, or that this program did not write");
    };
    let layout = value.get("manifest").and_then(Value::as_u64);
    match layout {
        Some(layout) if layout > u64::from(LAYOUT) => return Holding::Other("the results of a newer version"),
        Some(1) => {}
        _ if is_sealed(text) => {}
        Some(_) => return Holding::Other("results whose `manifest.json` is damaged or was edited"),
        None => {}
    }
    if is_tournament(&value) {
        return Holding::Tournament;
    }
    if is_diagnosis(&value) {
        return Holding::Diagnosis;
    }
    match serde_json::from_value(value) {
        Ok(manifest) => Holding::Experiments(manifest),
        Err(_) => Holding::Other("a `manifest.json` that this program did not write"),
    }
}

/// Whether a manifest is that of a tournament.
pub(super) fn is_tournament(manifest: &Value) -> bool {
    manifest.get("options").is_some() && manifest.get("games").is_some()
}

/// Whether a manifest is that of a diagnosis.
pub(super) fn is_diagnosis(manifest: &Value) -> bool {
    manifest.get("diagnosis").is_some()
}

/// The parts in which two experiments of the same name differ, if they are not the same experiment.
fn differences(one: &Value, other: &Value) -> Vec<&'static str> {
    IDENTITY.iter().filter(|(key, _)| one.get(key) != other.get(key)).map(|(_, name)| *name).collect()
}

fn names(manifest: &Manifest) -> Vec<String> {
    let name = |spec: &Value| spec["name"].as_str().unwrap_or_default().to_owned();
    let mut names: Vec<String> = manifest.experiments.iter().map(|experiment| name(&experiment.spec)).collect();
    names.sort();
    names
}

/// "the experiment `a`", "the experiments `a`, `b`, `c` and 4 more".
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 if names.len() == 1 => format!("the experiment {}", shown[0]),
        0 => format!("the experiments {}", shown.join(", ")),
        more => format!("the experiments {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::seal::seal;

    const FILE: &str = "name = \"x\"\nhorizon = 100\ninstances = 2\n\
                        game = { kind = \"step\", arms = 3, memory = 2 }\npolicy = [{ kind = \"ucb1\" }]\n";

    fn experiment(text: &str) -> Experiment {
        Experiment::from_toml("x.toml", text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// What the folder holds, if results of this experiment may not be written to it.
    fn refused(output: &OutputDir, text: &str, shard: Shard) -> Option<String> {
        match output.check_replaceable(&[experiment(text)], shard).map_err(Error::into_kind) {
            Ok(()) => None,
            Err(ErrorKind::Occupied { holds, .. }) => Some(holds),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn only_results_of_the_same_experiment_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        assert_eq!(refused(&output, FILE, Shard::WHOLE), None, "an empty folder");
        let shard = Shard::new(1, 2).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let manifest = serde_json::to_value(Manifest::new(&[experiment(FILE)], shard).unwrap()).unwrap();
        write("manifest.json", &seal(&manifest));
        for (new, part, expected) in [
            (FILE.to_owned(), shard, None),
            (FILE.replace("= 100", "= 50").replace("instances = 2", "seed = 9\ntitle = \"t\""), shard, None),
            (FILE.to_owned(), Shard::new(2, 2).unwrap(), Some("shard 1/2 of this run")),
            (FILE.to_owned(), Shard::WHOLE, Some("shard 1/2 of this run")),
            (FILE.replace("\"x\"", "\"y\""), shard, Some("the results of the experiment `x`")),
            (
                FILE.replace("arms = 3", "arms = 4"),
                shard,
                Some("the results of another experiment `x`, with other values of game"),
            ),
            (
                FILE.replace("ucb1", "exp3") + "sweep = { \"game.arms\" = [3] }",
                shard,
                Some("the results of another experiment `x`, with other values of policies and sweep"),
            ),
        ] {
            assert_eq!(refused(&output, &new, part).as_deref(), expected, "{new}");
        }
        let [x, y, other_x] =
            [FILE, &FILE.replace("\"x\"", "\"y\""), &FILE.replace("arms = 3", "arms = 4")].map(experiment);
        assert!(output.holds_only(&[y.clone(), x]) && !output.holds_only(&[y, other_x]));
        for (text, part) in [
            ("{\"name\": \"an extension\"}".to_owned(), "did not write"),
            ("{\"manifest\": 2, ".to_owned(), "damaged"),
            (seal(&manifest).replace("\"seed\": 1", "\"seed\": 2"), "damaged or was edited"),
            (seal(&manifest).replace("\"manifest\": 2", "\"manifest\": 3"), "newer version"),
        ] {
            write("manifest.json", &text);
            let refused = refused(&output, FILE, shard).unwrap();
            assert!(refused.contains(part), "{text}: {refused}");
            assert!(!output.holds_only(&[experiment(FILE)]));
        }
    }

    #[test]
    fn incomplete_results_are_known_by_what_they_will_be_and_files_of_others_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        fs::write(folder.path().join("results.csv"), "mine").unwrap();
        assert_eq!(refused(&output, FILE, Shard::WHOLE).as_deref(), Some("tables or a report without `manifest.json`"));
        let manifest = serde_json::to_value(Manifest::new(&[experiment(FILE)], Shard::WHOLE).unwrap()).unwrap();
        fs::write(folder.path().join(".incomplete.json"), seal(&manifest)).unwrap();
        assert_eq!(refused(&output, FILE, Shard::WHOLE), None);
        assert!(refused(&output, &FILE.replace("\"x\"", "\"y\""), Shard::WHOLE).is_some());
        assert!(output.check_replaceable_by_tournament().is_err());
    }

    #[test]
    fn a_diagnosis_replaces_a_diagnosis_and_no_file_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let refused_diagnosis = || output.check_replaceable_by_diagnosis(&["game.toml"]).err().map(Error::into_kind);
        assert!(refused_diagnosis().is_none(), "an empty folder");
        write("game.toml", "mine");
        let Some(ErrorKind::Occupied { holds, .. }) = refused_diagnosis() else { panic!("a game of the user") };
        assert_eq!(holds, "a file `game.toml` without `manifest.json`");
        write("manifest.json", &seal(&serde_json::json!({"manifest": LAYOUT, "diagnosis": {}})));
        assert!(refused_diagnosis().is_none());
        assert_eq!(refused(&output, FILE, Shard::WHOLE).as_deref(), Some("the diagnosis of a log"));
        assert!(output.check_replaceable_by_tournament().is_err());
        assert!(output.read().unwrap_err().to_string().contains("the diagnosis of a log"));
        let manifest = serde_json::to_value(Manifest::new(&[experiment(FILE)], Shard::WHOLE).unwrap()).unwrap();
        write("manifest.json", &seal(&manifest));
        let Some(ErrorKind::Occupied { holds, .. }) = refused_diagnosis() else { panic!("results of an experiment") };
        assert_eq!(holds, "the results of the experiment `x`");
    }

    #[test]
    fn long_lists_of_experiments_are_cut() {
        let names = |n: usize| (0..n).map(|i| format!("e{i}")).collect::<Vec<_>>();
        assert_eq!(listed(&names(1)), "the experiment `e0`");
        assert_eq!(listed(&names(3)), "the experiments `e0`, `e1`, `e2`");
        assert_eq!(listed(&names(11)), "the experiments `e0`, `e1`, `e2` and 8 more");
    }
}
