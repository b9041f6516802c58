//! What an output folder holds already, and whether new results may replace it.
//!
//! Results replace those of the same experiments: with the same names, games, policies and sweeps. Other numbers (seed,
//! instances, horizon, checkpoints), texts and figures are the same experiment with other parameters. Everything else
//! is refused, unless the user says that it may be replaced.

use std::fs;
use std::io;

use serde_json::Value;

use super::{Manifest, OutputDir};
use crate::Experiment;
use crate::error::{Error, ErrorKind};
use crate::run::Shard;

/// The keys of an experiment file that make it another experiment.
const IDENTITY: [(&str, &str); 3] = [("game", "game"), ("policy", "policies"), ("sweep", "sweep")];

/// The number of names of experiments that a message lists.
const MOST_NAMES: usize = 3;

impl OutputDir {
    /// Whether the folder holds results of experiments, all with names that `is_known` accepts.
    pub fn holds_only(&self, is_known: impl Fn(&str) -> bool) -> bool {
        let manifest = fs::read(self.path.join("manifest.json")).ok();
        let manifest = manifest.and_then(|text| serde_json::from_slice::<Manifest>(&text).ok());
        manifest.is_some_and(|manifest| names(&manifest).iter().all(|name| is_known(name)))
    }

    /// Checks that results of these experiments would replace nothing but results of the same experiments.
    ///
    /// # Errors
    /// [`ErrorKind::Occupied`] if the folder has a manifest of something else; [`ErrorKind::Io`] if the manifest cannot
    /// be read; [`ErrorKind::UserCode`] if an experiment has a game or a policy that no manifest can hold.
    pub fn check_replaceable(&self, experiments: &[Experiment], shard: Shard) -> Result<(), Error> {
        let path = self.path.join("manifest.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(&path, error)),
        };
        let occupied = |holds: String| Err(ErrorKind::Occupied { path: self.path.clone(), holds }.into());
        let Ok(old) = serde_json::from_slice::<Manifest>(&text) else {
            return occupied(other_kind(&text).to_owned());
        };
        let new = Manifest::new(experiments, shard)?;
        let (old_names, new_names) = (names(&old), names(&new));
        if old_names != new_names {
            return occupied(format!("the results of {}", listed(&old_names)));
        }
        for experiment in &new.experiments {
            let same = |other: &&super::ManifestExperiment| other.spec["name"] == experiment.spec["name"];
            let Some(other) = old.experiments.iter().find(same) else { continue };
            let differ = |key: &str| other.spec.get(key) != experiment.spec.get(key);
            let other_parts: Vec<&str> =
                IDENTITY.iter().filter(|(key, _)| differ(key)).map(|(_, name)| *name).collect();
            if !other_parts.is_empty() {
                let name = experiment.spec["name"].as_str().unwrap_or_default();
                return occupied(format!(
                    "the results of another experiment `{name}`, with other values of {}",
                    other_parts.join(" and ")
                ));
            }
        }
        match old.shard {
            old if old == shard => Ok(()),
            Shard::WHOLE => occupied("the results of all shards".to_owned()),
            old => occupied(format!("shard {old} of this run")),
        }
    }

    /// Removes the figures whose file names (without extension) `is_kept` does not accept.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if a file cannot be removed.
    pub fn remove_figures(&self, is_kept: impl Fn(&str) -> bool) -> Result<(), Error> {
        let folder = self.path.join("figures");
        let files = match fs::read_dir(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io(&folder, error)),
        };
        for file in files {
            let path = file.map_err(|error| Error::io(&folder, error))?.path();
            let is_figure = path.extension().is_some_and(|extension| extension == "svg" || extension == "png");
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if is_figure && !is_kept(&name) {
                fs::remove_file(&path).map_err(|error| Error::io(&path, error))?;
            }
        }
        Ok(())
    }

    /// Removes the report and all figures, which results of a single shard do not have.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if a file cannot be removed.
    pub fn remove_report(&self) -> Result<(), Error> {
        self.remove_figures(|_| false)?;
        let path = self.path.join("report.html");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(&path, error)),
            _ => Ok(()),
        }
    }
}

/// What a manifest that is not of experiments belongs to.
pub(super) fn other_kind(manifest: &[u8]) -> &'static str {
    let value: Value = serde_json::from_slice(manifest).unwrap_or_default();
    match value.get("options").is_some() && value.get("games").is_some() {
        true => "the results of a tournament",
        false => "a `manifest.json` that this program did not write",
    }
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
        output.write_json("manifest.json", &Manifest::new(&[experiment(FILE)], shard).unwrap()).unwrap();
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
        assert!(output.holds_only(|name| name == "x") && !output.holds_only(|name| name == "y"));
        output.write("manifest.json", b"{\"name\": \"an extension\"}").unwrap();
        assert!(refused(&output, FILE, shard).unwrap().contains("did not write"));
        assert!(!output.holds_only(|_| true));
    }

    #[test]
    fn long_lists_of_experiments_are_cut() {
        let names = |n: usize| (0..n).map(|i| format!("e{i}")).collect::<Vec<_>>();
        assert_eq!(listed(&names(1)), "the experiment `e0`");
        assert_eq!(listed(&names(3)), "the experiments `e0`, `e1`, `e2`");
        assert_eq!(listed(&names(11)), "the experiments `e0`, `e1`, `e2` and 8 more");
    }

    #[test]
    fn figures_of_earlier_results_are_removed_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputDir::new(folder.path());
        for name in ["figures/old.svg", "figures/old.png", "figures/new.svg", "figures/notes.txt", "report.html"] {
            output.write(name, b"").unwrap();
        }
        output.remove_figures(|name| name == "new").unwrap();
        let exists = |name: &str| folder.path().join(name).exists();
        assert!(!exists("figures/old.svg") && !exists("figures/old.png"));
        assert!(exists("figures/new.svg") && exists("figures/notes.txt") && exists("report.html"));
        output.remove_report().unwrap();
        assert!(!exists("figures/new.svg") && !exists("report.html") && exists("figures/notes.txt"));
    }
}
