//! The experiment files behind the paper's figures, those of neighbouring papers, and those about lanes. They are in
//! `experiments/` of this package.

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
    /// Rotting arms by the size of the fall: Seznec et al. 2019, Figure 1.
    ROTTING_SWEEP = "rotting-sweep";
    /// The constants of the theory of RAW-UCB and FEWA.
    PRINTED_ALPHA = "printed-alpha";
    /// The grid of window lengths of RAW-UCB and FEWA.
    EFFICIENT_WINDOWS = "efficient-windows";
    /// Rotting arms with a small difference: Seznec et al. 2019, Figure 1.
    ROTTING_SMALL = "rotting-small";
    /// Rotting arms with a large difference: Seznec et al. 2019, Figure 1.
    ROTTING_LARGE = "rotting-large";
    /// Ten arms, of which nine rot: Seznec et al. 2019, Figure 2.
    ROTTING_NINE = "rotting-nine";
    /// Improving arms without noise.
    IMPROVING_ARMS = "improving-arms";
    /// Single-peaked arms without noise: Lindner et al. 2021.
    SINGLE_PEAKED_ARMS = "single-peaked-arms";
    /// Single-peaked arms with noise.
    SINGLE_PEAKED_NOISE = "single-peaked-noise";
    /// Two rising arms: Metelli et al. 2022.
    RISING_TWO_ARMS = "rising-two-arms";
    /// Fifteen rising arms: Metelli et al. 2022.
    RISING_FIFTEEN_ARMS = "rising-fifteen-arms";
    /// Learning curves as arms.
    LEARNING_CURVE_ARMS = "learning-curve-arms";
    /// One curve with memories of 10, 100 and 1,000 plays, and without end.
    RESTED_WINDOWED = "rested-windowed";
    /// Random games without repeated exposure, by alpha.
    BEYOND_ALPHA = "beyond-alpha";
    /// The paper's game with alpha > 0, for policies that plan.
    BEYOND_PAPER_ALPHA = "beyond-paper-alpha";
    /// K m cells against K^m windows.
    BEYOND_WINDOWS = "beyond-windows";
    /// Congestion, linear in the tally.
    BEYOND_CONGESTION = "beyond-congestion";
    /// Congestion, convex in the tally.
    BEYOND_CONVEX = "beyond-convex";
    /// Fatigue after a sweet spot.
    BEYOND_FATIGUE = "beyond-fatigue";
    /// The game of Proposition 1, for policies that plan.
    BEYOND_NEEDLE = "beyond-needle";
    /// Lanes: the same number of plays on more lanes.
    LANES_NUMBER = "lanes-number";
    /// Lanes: late losses.
    LANES_DELAY = "lanes-delay";
    /// Lanes: the number of explorers.
    LANES_EXPLORERS = "lanes-explorers";
    /// Lanes: the length of sessions.
    LANES_SESSION = "lanes-session";
    /// Lanes: what is played while losses are outstanding.
    LANES_FILLER = "lanes-filler";
    /// Lanes: a policy that ignores overlap.
    LANES_OVERLAP = "lanes-overlap";
}
