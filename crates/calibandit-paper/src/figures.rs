//! The figures that `calibandit paper` makes, as sets: the paper's in the paper's order with three more, those of
//! neighbouring papers, and those about lanes.

use calibandit_experiment::Experiment;

use crate::captions;
use crate::experiments::{
    ALPHA_REO, APP_UNWEIGHTED, BEYOND_ALPHA, BEYOND_CONGESTION, BEYOND_CONVEX, BEYOND_FATIGUE, BEYOND_NEEDLE,
    BEYOND_PAPER_ALPHA, BEYOND_WINDOWS, CONSTANTS, EFFICIENT_WINDOWS, F1_CPR, F1_MAIN, FIG1A, FIG1B, FIG2A, FIG2B,
    IMPROVING_ARMS, LANES_DELAY, LANES_EXPLORERS, LANES_FILLER, LANES_NUMBER, LANES_OVERLAP, LANES_SESSION,
    LEARNING_CURVE_ARMS, NEEDLE, PRINTED_ALPHA, PaperExperiment, RESTED_WINDOWED, RISING_FIFTEEN_ARMS, RISING_TWO_ARMS,
    ROTTING_LARGE, ROTTING_NINE, ROTTING_SMALL, ROTTING_SWEEP, SINGLE_PEAKED_ARMS, SINGLE_PEAKED_NOISE, WRONG_M,
};
use crate::{f1, identification};

/// Figures that one report shows together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FigureSet {
    /// The name of the output folder, and of the option of `calibandit paper` except for the paper itself.
    pub name: &'static str,
    /// The figures, in the order of the report.
    pub figures: &'static [PaperFigure],
    /// The title of the report.
    pub title: &'static str,
    /// The text under the title.
    pub lead: &'static str,
}

/// The paper's figures, and three more.
pub const PAPER: FigureSet =
    FigureSet { name: "paper", figures: FIGURES, title: "Weighted Tallying Bandits, reproduced", lead: captions::LEAD };

/// The figures of neighbouring papers.
pub const NEIGHBOUR_SET: FigureSet = FigureSet {
    name: "neighbours",
    figures: NEIGHBOURS,
    title: "Neighbouring models, reproduced",
    lead: captions::NEIGHBOURS_LEAD,
};

/// The figures about lanes.
pub const LANE_SET: FigureSet =
    FigureSet { name: "lanes", figures: LANES, title: "Many lanes, late losses", lead: captions::LANES_LEAD };

/// All sets.
pub const SETS: [FigureSet; 3] = [PAPER, NEIGHBOUR_SET, LANE_SET];

/// A figure, by what it is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaperFigure {
    /// One experiment.
    Experiment(PaperExperiment),
    /// The lap-time models of the ten pairs of drivers; no experiment.
    LapTimeModels,
    /// The share of wrong recommendations in best-arm identification; no experiment.
    Identification,
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

/// The figures of neighbouring papers: rested arms that rot, improve, have a peak or rise, and windowed games without
/// repeated exposure.
pub const NEIGHBOURS: &[PaperFigure] = &[
    PaperFigure::Experiment(ROTTING_SWEEP),
    PaperFigure::Experiment(ROTTING_SMALL),
    PaperFigure::Experiment(ROTTING_LARGE),
    PaperFigure::Experiment(ROTTING_NINE),
    PaperFigure::Experiment(PRINTED_ALPHA),
    PaperFigure::Experiment(EFFICIENT_WINDOWS),
    PaperFigure::Experiment(IMPROVING_ARMS),
    PaperFigure::Experiment(SINGLE_PEAKED_ARMS),
    PaperFigure::Experiment(SINGLE_PEAKED_NOISE),
    PaperFigure::Experiment(RISING_TWO_ARMS),
    PaperFigure::Experiment(RISING_FIFTEEN_ARMS),
    PaperFigure::Experiment(LEARNING_CURVE_ARMS),
    PaperFigure::Identification,
    PaperFigure::Experiment(RESTED_WINDOWED),
    PaperFigure::Experiment(BEYOND_ALPHA),
    PaperFigure::Experiment(BEYOND_PAPER_ALPHA),
    PaperFigure::Experiment(BEYOND_WINDOWS),
    PaperFigure::Experiment(BEYOND_CONGESTION),
    PaperFigure::Experiment(BEYOND_CONVEX),
    PaperFigure::Experiment(BEYOND_FATIGUE),
    PaperFigure::Experiment(BEYOND_NEEDLE),
];

/// Figures about lanes: many users, machines or workers at once, late losses, sessions, overlap.
pub const LANES: &[PaperFigure] = &[
    PaperFigure::Experiment(LANES_NUMBER),
    PaperFigure::Experiment(LANES_DELAY),
    PaperFigure::Experiment(LANES_EXPLORERS),
    PaperFigure::Experiment(LANES_SESSION),
    PaperFigure::Experiment(LANES_FILLER),
    PaperFigure::Experiment(LANES_OVERLAP),
];

impl PaperFigure {
    /// The name on the command line and in files.
    pub fn name(&self) -> &'static str {
        match self {
            PaperFigure::Experiment(experiment) | PaperFigure::FittedPairs(experiment) => experiment.name,
            PaperFigure::LapTimeModels => f1::FIGURE,
            PaperFigure::Identification => identification::IDENTIFICATION,
        }
    }

    /// The experiment behind the figure; `None` for lap-time models and identification.
    pub fn experiment(&self) -> Option<PaperExperiment> {
        match self {
            PaperFigure::Experiment(experiment) | PaperFigure::FittedPairs(experiment) => Some(*experiment),
            PaperFigure::LapTimeModels | PaperFigure::Identification => None,
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

/// The figures of a list with these names, in the order of the list; all if there are no names.
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

/// The figures of all sets.
pub fn all() -> impl Iterator<Item = &'static PaperFigure> {
    SETS.iter().flat_map(|set| set.figures)
}

/// The caption of an experiment of the paper: the paper's claim, and the result here. `None` for other experiments,
/// also for those that only share the name of a figure.
pub fn caption(experiment: &Experiment) -> Option<String> {
    let figure = all().find(|figure| figure.name() == experiment.name())?;
    let paper = figure.experiment()?.read().expect("the tests read all embedded experiment files");
    let (paper, own) = (paper.file()?, experiment.file()?);
    let is_same = (&paper.game, &paper.sweep, &paper.live) == (&own.game, &own.sweep, &own.live);
    captions::of(figure.name()).filter(|_| is_same).map(str::to_string)
}

/// The caption of the figure of identification.
pub fn identification_caption() -> &'static str {
    captions::of(identification::IDENTIFICATION).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use calibandit_experiment::spec::Overrides;

    #[test]
    fn every_experiment_has_a_caption_and_can_be_shortened_for_a_preview() {
        for experiment in all().filter_map(PaperFigure::experiment) {
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
