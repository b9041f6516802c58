//! The paper's figures: one experiment each, in the order in which the paper has them, and three more.

mod prose;

use crate::f1;
use calibandit_experiment::Experiment;
use calibandit_experiment::spec::SpecErrors;

/// The title of the report.
pub const TITLE: &str = "Weighted Tallying Bandits, reproduced";

/// A figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperFigure {
    /// Its name, which is also the experiment's.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! figures {
    ($($name:literal),* $(,)?) => {
        /// All figures.
        pub const FIGURES: &[PaperFigure] = &[$(PaperFigure {
            name: $name,
            text: include_str!(concat!("../experiments/", $name, ".toml")),
        },)*];
    };
}

figures![
    "fig1a",
    "fig1b",
    "fig2a",
    "fig2b",
    "f1-main",
    "fig-app-unweighted",
    "fig-alpha-reo",
    "f1-cpr",
    "constants",
    "wrong-m",
    "needle",
];

impl PaperFigure {
    /// The experiment behind the figure.
    pub fn spec(&self) -> Result<Experiment, SpecErrors> {
        Experiment::from_toml(&format!("experiments/{}.toml", self.name), self.text)
    }
}

/// The names of all figures in the paper's order; the lap-time models are no experiment, but a figure all the same.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
    let races = names.iter().position(|name| name.starts_with("f1-")).unwrap_or(names.len());
    names.insert(races, f1::FIGURE);
    names
}

/// The experiment of a figure.
pub fn find(name: &str) -> Option<PaperFigure> {
    FIGURES.iter().find(|figure| figure.name == name).copied()
}

/// The figures with these names, in the paper's order; all of them if none is named.
pub fn select(wanted: &[String]) -> Result<Vec<&'static str>, String> {
    let names = names();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(format!("there is no figure `{unknown}`; there are {}", names.join(", ")));
    }
    Ok(names.into_iter().filter(|name| wanted.is_empty() || wanted.iter().any(|one| one == name)).collect())
}

/// What to say in a report on this experiment, if it is one of the paper's: what the paper says, and what comes out.
pub fn prose(spec: &Experiment) -> Option<&'static str> {
    let figure = FIGURES.iter().find(|figure| figure.name == spec.name())?;
    // Somebody's own experiment may have the same name.
    let own = figure
        .spec()
        .ok()
        .is_some_and(|paper| (&paper.file().game, &paper.file().sweep) == (&spec.file().game, &spec.file().sweep));
    prose::of(figure.name).filter(|_| own)
}

/// [`prose`] in the form in which reports take captions.
pub fn caption(spec: &Experiment) -> Option<String> {
    prose(spec).map(str::to_string)
}

/// What a report on all figures begins with.
pub const LEAD: &str = prose::LEAD;

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use calibandit_experiment::spec::Overrides;

    #[test]
    fn every_figure_has_words_and_can_be_made_quickly() {
        for figure in FIGURES {
            let spec = figure.spec().unwrap();
            assert!(prose(&spec).is_some(), "{}", figure.name);
            let horizon = Some(spec.horizon() / 10);
            spec.with(Overrides { horizon, ..Overrides::default() }).unwrap_or_else(|errors| panic!("{errors}"));
        }
    }

    #[test]
    fn words_are_for_the_paper_s_own_games() {
        let mut file = FIGURES[0].spec().unwrap().file().clone();
        file.game = FIGURES[2].spec().unwrap().file().game.clone();
        assert_eq!(prose(&file.validate().unwrap()), None);
    }
}
