//! The list of the paper's figures, in the paper's order, and three more figures.

use calibandit_experiment::Experiment;

use crate::captions;
use crate::experiments::{
    ALPHA_REO, APP_UNWEIGHTED, CONSTANTS, F1_CPR, F1_MAIN, FIG1A, FIG1B, FIG2A, FIG2B, IMPROVING_ARMS, NEEDLE,
    PaperExperiment, RISING_FIFTEEN_ARMS, RISING_TWO_ARMS, ROTTING_LARGE, ROTTING_NINE, ROTTING_SMALL,
    SINGLE_PEAKED_ARMS, SINGLE_PEAKED_NOISE, WRONG_M,
};
use crate::f1;

pub use captions::{LEAD, NEIGHBOURS_LEAD};

/// The title of the report on all figures.
pub const TITLE: &str = "Weighted Tallying Bandits, reproduced";

/// The title of the report on the figures of neighbouring papers.
pub const NEIGHBOURS_TITLE: &str = "Neighbouring models, reproduced";

/// A figure, by what it is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaperFigure {
    /// One experiment.
    Experiment(PaperExperiment),
    /// The lap-time models of the ten pairs of drivers; no experiment.
    LapTimeModels,
    /// An experiment on fitted pairs of drivers. It uses the pairs that come with the library. If pairs are selected
    /// again from raw lap times, one experiment per pair ([`f1::experiments`]) replaces all figures of this kind.
    FittedPairs(PaperExperiment),
}

/// All figures.
pub const FIGURES: &[PaperFigure] = &[
    PaperFigure::Experiment(FIG1A),
    PaperFigure::Experiment(FIG1B),
    PaperFigure::Experiment(FIG2A),
    PaperFigure::Experiment(FIG2B),
    PaperFigure::LapTimeModels,
    PaperFigure::FittedPairs(F1_MAIN),
    PaperFigure::Experiment(APP_UNWEIGHTED),
    PaperFigure::Experiment(ALPHA_REO),
    PaperFigure::FittedPairs(F1_CPR),
    PaperFigure::Experiment(CONSTANTS),
    PaperFigure::Experiment(WRONG_M),
    PaperFigure::Experiment(NEEDLE),
];

/// The figures of neighbouring papers: rested arms that rot, improve, have a peak or rise.
pub const NEIGHBOURS: &[PaperFigure] = &[
    PaperFigure::Experiment(ROTTING_SMALL),
    PaperFigure::Experiment(ROTTING_LARGE),
    PaperFigure::Experiment(ROTTING_NINE),
    PaperFigure::Experiment(IMPROVING_ARMS),
    PaperFigure::Experiment(SINGLE_PEAKED_ARMS),
    PaperFigure::Experiment(SINGLE_PEAKED_NOISE),
    PaperFigure::Experiment(RISING_TWO_ARMS),
    PaperFigure::Experiment(RISING_FIFTEEN_ARMS),
];

impl PaperFigure {
    /// The name on the command line and in files.
    pub fn name(&self) -> &'static str {
        match self {
            PaperFigure::Experiment(experiment) | PaperFigure::FittedPairs(experiment) => experiment.name,
            PaperFigure::LapTimeModels => f1::FIGURE,
        }
    }

    /// The experiment behind the figure; `None` for [`PaperFigure::LapTimeModels`].
    pub fn experiment(&self) -> Option<PaperExperiment> {
        match self {
            PaperFigure::Experiment(experiment) | PaperFigure::FittedPairs(experiment) => Some(*experiment),
            PaperFigure::LapTimeModels => None,
        }
    }
}

/// There is no figure with this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure `{name}`; the figures are {}", names(.figures))]
pub struct UnknownFigure {
    /// The name.
    pub name: String,
    /// The list that it was looked for in.
    pub figures: &'static [PaperFigure],
}

fn names(figures: &[PaperFigure]) -> String {
    figures.iter().map(PaperFigure::name).collect::<Vec<_>>().join(", ")
}

/// The figures of [`FIGURES`] or [`NEIGHBOURS`] with these names, in the order of the list; all if there are no names.
///
/// # Errors
/// [`UnknownFigure`] for the first name that is not the name of a figure.
pub fn select(figures: &'static [PaperFigure], names: &[String]) -> Result<Vec<PaperFigure>, UnknownFigure> {
    if let Some(name) = names.iter().find(|name| figures.iter().all(|figure| figure.name() != name.as_str())) {
        return Err(UnknownFigure { name: name.clone(), figures });
    }
    let wanted = |figure: &&PaperFigure| names.is_empty() || names.iter().any(|name| name == figure.name());
    Ok(figures.iter().filter(wanted).copied().collect())
}

/// The caption of an experiment of the paper: the paper's claim, and the result here. `None` for other experiments,
/// also for those that only share the name of a figure.
pub fn caption(experiment: &Experiment) -> Option<String> {
    let figure = FIGURES.iter().chain(NEIGHBOURS).find(|figure| figure.name() == experiment.name())?;
    let paper = figure.experiment()?.read().expect("the tests read all embedded experiment files");
    let (paper, own) = (paper.file()?, experiment.file()?);
    let is_same = (&paper.game, &paper.sweep) == (&own.game, &own.sweep);
    captions::of(figure.name()).filter(|_| is_same).map(str::to_string)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use calibandit_experiment::spec::Overrides;

    #[test]
    fn every_experiment_has_a_caption_and_can_be_shortened_for_a_preview() {
        for experiment in FIGURES.iter().chain(NEIGHBOURS).filter_map(PaperFigure::experiment) {
            let spec = experiment.read().unwrap();
            assert_eq!(spec.name(), experiment.name);
            assert!(caption(&spec).is_some(), "{}", experiment.name);
            let horizon = Some(spec.horizon() / 10);
            spec.with(Overrides { horizon, ..Overrides::default() }).unwrap_or_else(|errors| panic!("{errors}"));
        }
    }

    #[test]
    fn an_experiment_with_the_same_name_but_another_game_has_no_caption() {
        let mut file = FIG1A.read().unwrap().file().unwrap().clone();
        file.game = FIG2A.read().unwrap().file().unwrap().game.clone();
        assert_eq!(caption(&file.validate().unwrap()), None);
    }

    #[test]
    fn figures_are_selected_by_name_in_the_order_of_the_paper() {
        let names = |figures: Vec<PaperFigure>| figures.iter().map(PaperFigure::name).collect::<Vec<_>>();
        assert_eq!(names(select(FIGURES, &["needle".into(), "f1-models".into()]).unwrap()), ["f1-models", "needle"]);
        assert_eq!(select(FIGURES, &[]).unwrap(), FIGURES);
        let message = select(FIGURES, &["fig9".into()]).unwrap_err().to_string();
        assert!(message.contains("`fig9`") && message.contains("fig1a, fig1b"), "{message}");
    }
}
