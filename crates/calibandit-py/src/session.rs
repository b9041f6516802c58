//! A game that the caller plays one play at a time, with noise: for environments and notebooks.

use std::collections::VecDeque;

use calibandit::rng::StreamKey;
use calibandit::{Game, GameError, Stream, Window};
use pyo3::prelude::*;

use crate::failure::{Failure, Raised};

/// A game that is played one play at a time. `Game.session` returns it.
///
/// >>> import calibandit as cb
/// >>> game = cb.Game(arms=[
/// ...     cb.Arm(memory=2, loss=[0.9, 0.1], name="ann"),
/// ...     cb.Arm(memory=2, loss=0.5, feedback=cb.NoNoise(), name="bob"),
/// ... ])
/// >>> session = game.session(seed=1)
/// >>> session.step("bob")
/// (0.5, 0.5)
/// >>> [session.step(0)[1] for _ in range(3)]
/// [0.9, 0.1, 0.1]
/// >>> session
/// <Session: 4 plays, the last of them ann, ann>
#[pyclass(name = "Session", module = "calibandit")]
pub(crate) struct PySession {
    game: Game,
    window: Window,
    recent: VecDeque<usize>,
    noise: Stream,
    plays: u64,
    raised: Raised,
}

impl PySession {
    pub(crate) fn new(game: Game, seed: u64, experiment: &str, instance: u64, raised: Raised) -> Self {
        let window = game.empty_window();
        let noise = StreamKey::new(seed, experiment, instance).noise();
        Self { game, window, recent: VecDeque::new(), noise, plays: 0, raised }
    }

    /// The index of an arm that is given by its index or its name.
    fn index(&self, arm: &Bound<'_, PyAny>) -> Result<usize, Failure> {
        let arms = self.game.arms().len();
        if let Ok(name) = arm.extract::<String>() {
            let found = (0..arms).find(|&arm| self.game.arm_name(arm) == Some(name.as_str()));
            return found.ok_or_else(|| {
                let names: Vec<String> = (0..arms).map(|arm| self.game.arm_label(arm)).collect();
                Failure::Unknown(format!("there is no arm {name:?}: the arms are {}", names.join(", ")))
            });
        }
        let Ok(index) = arm.extract::<i64>() else {
            return Err(Failure::Type(format!("`arm` must be the index or the name of an arm, not {}", arm.repr()?)));
        };
        let valid = usize::try_from(index).ok().filter(|&index| index < arms);
        valid.ok_or_else(|| Failure::Value(format!("`arm` is {index}: give an index from 0 to {}", arms - 1)))
    }
}

#[pymethods]
impl PySession {
    /// Plays an arm once, given by its index or its name, and returns the observed and the expected loss. A player does
    /// not observe the latter.
    fn step(&mut self, arm: &Bound<'_, PyAny>) -> Result<(f64, f64), Failure> {
        let arm = self.index(arm)?;
        let mut window = self.window.clone();
        let expected = self.game.play(arm, &mut window);
        // If a loss function raised, the play was not made.
        let expected = self.raised.or(Ok::<_, Failure>(expected))?;
        if expected.is_nan() {
            let tally = window.exposure(arm, self.game.arms()[arm].weights()).tally;
            let name = self.game.arm_name(arm).map(str::to_owned);
            return Err(GameError::CurveLeftRange { arm, name, tally }.into());
        }
        let loss = self.game.arms()[arm].noise().draw(expected, &mut self.noise);
        self.window = window;
        self.recent.truncate(self.game.memory() - 1);
        self.recent.push_front(arm);
        self.plays += 1;
        Ok((loss, expected))
    }

    /// The number of plays.
    #[getter]
    fn plays(&self) -> u64 {
        self.plays
    }

    /// The indices of the arms of the plays in the window, oldest first.
    #[getter]
    fn window(&self) -> Vec<usize> {
        self.recent.iter().rev().copied().collect()
    }

    fn __repr__(&self) -> String {
        let last: Vec<String> = self.window().into_iter().map(|arm| self.game.arm_label(arm)).collect();
        match self.plays {
            0 => "<Session: no plays>".to_owned(),
            plays => format!("<Session: {plays} plays, the last of them {}>", last.join(", ")),
        }
    }
}
