//! Stopping a computation from another thread, and reading how far it is.
//!
//! The flag and the counter belong to the caller; an [`Interrupt`] only refers to them. It is passed to each
//! computation, so there is no global state. This module starts no threads and handles no signals.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Plays are reported to the counter in steps of about this many, so that counting costs nothing measurable.
const REPORTED: u64 = 1 << 16;

/// A stop flag, and a counter of the plays made so far, for computations that take long.
///
/// A computation reads the flag so often that it ends within a second after the flag is set, with an [`Interrupted`]
/// error. One flag and one counter can serve any number of computations on any number of threads.
///
/// ```
/// use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
/// use calibandit::policy::Ucb1;
/// use calibandit::{
///     Arm, Engine, Game, Grid, Interrupt, LossCurve, Noise, SimulateError, StreamKey, Weights, simulate_interruptible,
/// };
///
/// let arm = |loss| Arm::new(Weights::unit(1)?, LossCurve::constant(loss), Noise::Bernoulli);
/// let game = Game::new(vec![arm(0.5)?, arm(0.3)?])?;
/// let (stop, plays) = (AtomicBool::new(false), AtomicU64::new(0));
/// let interrupt = Interrupt::new(&stop).counting(&plays);
/// let run = |horizon| -> Result<_, Box<dyn std::error::Error>> {
///     let mut policy = Ucb1::new(Ucb1::builder().params(&game.problem(horizon))?);
///     let mut noise = StreamKey::new(1, "doc", 0).noise();
///     let grid = Grid::end(horizon)?;
///     Ok(simulate_interruptible(&game, &mut policy, &grid, Engine::Leaping, &mut noise, interrupt))
/// };
/// assert!(run(1000)?.is_ok());
/// assert_eq!(plays.load(Ordering::Relaxed), 1000);
/// stop.store(true, Ordering::Relaxed); // usually done by another thread, or by a signal handler
/// assert!(matches!(run(1_000_000_000_000)?, Err(SimulateError::Interrupted(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Interrupt<'a> {
    stop: Option<&'a AtomicBool>,
    plays: Option<&'a AtomicU64>,
}

/// The computation was stopped by its stop flag, see [`Interrupt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the computation was interrupted")]
#[non_exhaustive]
pub struct Interrupted;

impl<'a> Interrupt<'a> {
    /// Stops when this flag is set.
    pub fn new(stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), plays: None }
    }

    /// Never stops and counts nothing.
    pub fn never() -> Self {
        Self::default()
    }

    /// Adds the plays of simulations to this counter while they are made: in steps of some ten thousand, and the rest
    /// at the end. A run that the leaping engine computes at once is added at once.
    pub fn counting(self, plays: &'a AtomicU64) -> Self {
        Self { plays: Some(plays), ..self }
    }

    /// Whether the flag is set.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// An error if the flag is set.
    #[inline(always)]
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_stopped() { Err(Interrupted) } else { Ok(()) }
    }
}

/// Counts the plays of one simulation and passes them on to the counter of an [`Interrupt`].
pub(crate) struct PlayMeter<'a> {
    interrupt: Interrupt<'a>,
    unreported: u64,
}

impl<'a> PlayMeter<'a> {
    pub(crate) fn new(interrupt: Interrupt<'a>) -> Self {
        Self { interrupt, unreported: 0 }
    }

    /// Adds plays; an error if the flag is set.
    #[inline(always)]
    pub(crate) fn add(&mut self, plays: u64) -> Result<(), Interrupted> {
        self.unreported += plays;
        if self.unreported >= REPORTED {
            self.report();
        }
        self.interrupt.check()
    }

    #[cold]
    fn report(&mut self) {
        if let Some(plays) = self.interrupt.plays {
            plays.fetch_add(self.unreported, Ordering::Relaxed);
        }
        self.unreported = 0;
    }
}

impl Drop for PlayMeter<'_> {
    fn drop(&mut self) {
        self.report();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_play_is_reported_once_and_in_time() {
        let (stop, plays) = (AtomicBool::new(false), AtomicU64::new(0));
        let mut meter = PlayMeter::new(Interrupt::new(&stop).counting(&plays));
        for made in 1..=300_000 {
            meter.add(1).unwrap();
            let reported = plays.load(Ordering::Relaxed);
            assert!(reported <= made && made - reported < REPORTED);
        }
        meter.add(1 << 40).unwrap();
        drop(meter);
        assert_eq!(plays.load(Ordering::Relaxed), 300_000 + (1 << 40));
    }

    #[test]
    fn only_a_flag_that_is_set_stops() {
        let stop = AtomicBool::new(false);
        let interrupt = Interrupt::new(&stop);
        assert_eq!((interrupt.check(), Interrupt::never().check()), (Ok(()), Ok(())));
        stop.store(true, Ordering::Relaxed);
        assert_eq!((interrupt.check(), PlayMeter::new(interrupt).add(0)), (Err(Interrupted), Err(Interrupted)));
    }
}
