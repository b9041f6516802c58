//! A game that the caller plays one play at a time, with noise: for environments and notebooks.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, TryLockError};

use calibandit::rng::StreamKey;
use calibandit::{CurveLeftRange, Game, GameError, Stream, Window};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::failure::{Failure, Raised};
use crate::interpreter::called;

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
#[pyclass(name = "Session", module = "calibandit", frozen)]
pub(crate) struct PySession {
    game: Game,
    raised: Raised,
    state: Mutex<SessionState>,
}

struct SessionState {
    window: Window,
    recent: VecDeque<usize>,
    noise: Stream,
    plays: u64,
}

impl PySession {
    pub(crate) fn new(game: Game, seed: u64, experiment: &str, instance: u64, raised: Raised) -> Self {
        let window = game.empty_window();
        let noise = StreamKey::new(seed, experiment, instance).noise();
        let state = SessionState { window, recent: VecDeque::new(), noise, plays: 0 };
        Self { game, raised, state: Mutex::new(state) }
    }

    /// The state, unless it is in use: by another thread, or by the call that called a loss function.
    fn state(&self) -> Result<MutexGuard<'_, SessionState>, Failure> {
        self.state.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => Failure::Busy("the session is in the middle of another call"),
            TryLockError::Poisoned(_) => Failure::Panic("an earlier call of the session failed".to_owned()),
        })
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
        // `True` is the integer 1 in Python, but it is no arm.
        let number = if arm.is_instance_of::<PyBool>() { None } else { arm.extract::<i64>().ok() };
        let Some(index) = number else {
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
    fn step(&self, arm: &Bound<'_, PyAny>) -> Result<(f64, f64), Failure> {
        called(|| {
            let arm = self.index(arm)?;
            let mut state = self.state()?;
            let mut window = state.window.clone();
            let expected = self.game.play(arm, &mut window);
            // If a loss function raised, the play was not made.
            let expected = self.raised.or(Ok::<_, Failure>(expected))?;
            if expected.is_nan() {
                let tally = window.exposure(arm, self.game.arms()[arm].weights()).tally;
                return Err(GameError::from(CurveLeftRange::new(&self.game, arm, tally)).into());
            }
            let loss = self.game.arms()[arm].noise().draw(expected, &mut state.noise);
            state.window = window;
            state.recent.truncate(self.game.window_length() - 1);
            state.recent.push_front(arm);
            state.plays += 1;
            Ok((loss, expected))
        })
    }

    /// The number of plays.
    #[getter]
    fn plays(&self) -> Result<u64, Failure> {
        called(|| Ok(self.state()?.plays))
    }

    /// The indices of the arms of the plays in the window, oldest first.
    #[getter]
    fn window(&self) -> Result<Vec<usize>, Failure> {
        called(|| Ok(self.state()?.recent.iter().rev().copied().collect()))
    }

    fn __repr__(&self) -> Result<String, Failure> {
        called(|| {
            let state = self.state()?;
            let last: Vec<String> = state.recent.iter().rev().map(|&arm| self.game.arm_label(arm)).collect();
            Ok(match state.plays {
                0 => "<Session: no plays>".to_owned(),
                plays => format!("<Session: {plays} plays, the last of them {}>", last.join(", ")),
            })
        })
    }
}
