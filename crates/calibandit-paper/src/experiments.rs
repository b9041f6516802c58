//! The experiment files behind the paper's figures. They are in `experiments/` of this package.

use calibandit_experiment::Experiment;
use calibandit_experiment::spec::Diagnostics;

/// The experiment of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperExperiment {
    /// The name of the experiment, which is also the name of the figure.
    pub name: &'static str,
    text: &'static str,
}

impl PaperExperiment {
    /// Reads and validates the experiment file.
    ///
    /// # Errors
    /// [`Diagnostics`] if the file is not valid; the tests of this crate read all files.
    pub fn read(&self) -> Result<Experiment, Diagnostics> {
        Experiment::from_toml(&format!("experiments/{}.toml", self.name), self.text)
    }
}

macro_rules! experiments {
    ($($(#[$doc:meta])* $constant:ident = $name:literal;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: PaperExperiment = PaperExperiment {
                name: $name,
                text: include_str!(concat!("../experiments/", $name, ".toml")),
            };
        )*
    };
}

experiments! {
    /// Figure 1a: CPR over time, unweighted step game.
    FIG1A = "fig1a";
    /// Figure 1b: CPR by memory bound.
    FIG1B = "fig1b";
    /// Figure 2a: the weighted game.
    FIG2A = "fig2a";
    /// Figure 2b: the darts tournament.
    FIG2B = "fig2b";
    /// The race of the paper's main text.
    F1_MAIN = "f1-main";
    /// The unweighted games of the appendix.
    APP_UNWEIGHTED = "fig-app-unweighted";
    /// The game with alpha > 0.
    ALPHA_REO = "fig-alpha-reo";
    /// All ten races.
    F1_CPR = "f1-cpr";
    /// Not in the paper: the constants of the policies in Figure 1a.
    CONSTANTS = "constants";
    /// Not in the paper: memory bounds below and above the memory.
    WRONG_M = "wrong-m";
    /// Not in the paper: the game of the lower bound for games without repeated exposure optimality.
    NEEDLE = "needle";
}
