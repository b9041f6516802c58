//! Repeated exposure optimality (REO): the smallest alpha of a game, computed exactly from the definition.
//!
//! A game satisfies alpha-REO if no play of any arm, whatever its window, is better than the best calibrated arm by
//! more than alpha: mu(x*) <= h_x(w_x·y) + alpha for every arm x and every window y in {1} x {0, 1}^(m_x - 1).

use super::least_loss::{ENUMERATION_LIMIT, LeastLossError, interchangeable, least_losses};
use super::loss::{Course, CurveDirection};
use super::{CurveLeftRange, Exposure, Game, arm_title};
use crate::{Interrupt, Interrupted};

/// The result of [`reo`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reo {
    /// The smallest alpha for which the game satisfies alpha-REO. Never negative: a calibrated play of x* attains 0.
    pub alpha: f64,
    /// The arm x* with the least eventual loss; the first of them if there are several.
    pub best_arm: usize,
    /// The arm with the least loss of all arms in all windows.
    pub arm: usize,
    /// The window of that arm that attains it, newest play first: `window[0]` is this play, and there are as many
    /// entries as the arm has memory. Empty if the arm is rested.
    pub window: Vec<bool>,
    /// The number of plays of a rested arm that attains it; `None` if the arm has a window, or if no number of plays
    /// attains what the loss approaches.
    pub plays: Option<u64>,
}

/// Why the smallest alpha is not known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReoError {
    /// Too many windows.
    #[error(
        "{} has memory {memory}, and all windows can be tried only up to memory {limit}: \
         declare the trend of its loss function if it is monotone",
        arm_title(*arm, name)
    )]
    MemoryTooLong {
        /// The arm.
        arm: usize,
        /// Its name, if it has one.
        name: Option<String>,
        /// Its memory.
        memory: usize,
        /// The longest memory that is enumerated.
        limit: usize,
    },
    /// A loss function of a rested arm, of which nothing is known.
    #[error(
        "{} is rested and has a loss function without a declared trend, so that its least loss over all numbers of \
         plays is not known: declare the trend of its loss function if it is monotone",
        arm_title(*arm, name)
    )]
    UnknownTrend {
        /// The arm.
        arm: usize,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// A loss function returned something outside [0, 1].
    #[error(transparent)]
    CurveLeftRange(#[from] CurveLeftRange),
    /// The computation was stopped by its [`Interrupt`].
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl ReoError {
    fn of(game: &Game, arm: usize, error: LeastLossError) -> Self {
        match error {
            LeastLossError::MemoryTooLong { memory } => {
                let name = game.arm_name(arm).map(str::to_owned);
                Self::MemoryTooLong { arm, name, memory, limit: ENUMERATION_LIMIT }
            }
            LeastLossError::CurveLeftRange { tally } => CurveLeftRange::new(game, arm, tally).into(),
            LeastLossError::Interrupted(interrupted) => interrupted.into(),
        }
    }
}

/// The smallest alpha for which `game` satisfies alpha-REO, and where it is attained.
///
/// Curves by plays, equal weights, monotone curves and needles in weights like `2^-i` need no enumeration, at any
/// memory. The windows of all other arms are enumerated, up to memory 24. The declared trend of a loss function is
/// taken for granted: it cannot be verified on all windows of a long memory.
///
/// In a rested game the eventual loss is the limit of the curve, and the least loss is that of any number of plays: an
/// improving arm that is best in the end has alpha 0, also where another arm is the best one at a given horizon.
///
/// ```
/// use calibandit::{Arm, Game, LossCurve, Noise, Weights, reo};
/// // Better in small doses: the second play in three costs 0.1, the third in a row 0.4.
/// let game = Game::new(vec![
///     Arm::new(Weights::unit(3)?, LossCurve::by_plays([0.5, 0.1, 0.4]), Noise::Bernoulli)?,
///     Arm::new(Weights::unit(3)?, LossCurve::constant(0.5), Noise::Bernoulli)?,
/// ])?;
/// let found = reo(&game)?;
/// assert_eq!((found.best_arm, found.arm), (0, 0));
/// assert!((found.alpha - 0.3).abs() < 1e-15);
/// assert_eq!(found.window, [true, true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reo(game: &Game) -> Result<Reo, ReoError> {
    reo_interruptible(game, Interrupt::never())
}

/// [`reo()`] with a stop flag.
pub fn reo_interruptible(game: &Game, interrupt: Interrupt<'_>) -> Result<Reo, ReoError> {
    let best_arm = game.best_arm();
    // Starts from the calibrated best arm, so that it is the result where nothing is strictly better.
    let mut least = game.best_loss();
    let mut arm = best_arm;
    if game.is_rested() {
        return rested_reo(game, interrupt);
    }
    let mut window = vec![true; game.arms()[best_arm].memory()];
    let (_, classes) = interchangeable(game);
    for class in classes {
        let x = class[0];
        let found = least_losses(&game.arms()[x], interrupt).map_err(|error| ReoError::of(game, x, error))?;
        let plays = found.best_plays();
        if found.losses()[plays - 1] < least {
            (least, arm, window) = (found.losses()[plays - 1], x, found.window(plays));
        }
    }
    Ok(Reo { alpha: game.best_loss() - least, best_arm, arm, window, plays: None })
}

/// The losses of a monotone piece are least at one of its ends, and in the limit.
fn rested_reo(game: &Game, interrupt: Interrupt<'_>) -> Result<Reo, ReoError> {
    let best_arm = game.best_arm();
    let (mut least, mut arm, mut plays) = (game.best_loss(), best_arm, None);
    for (x, candidate) in game.arms().iter().enumerate() {
        interrupt.check()?;
        let Some(course) = candidate.course() else { continue };
        if course.pieces.iter().any(|&(_, direction)| direction == CurveDirection::Unknown) {
            return Err(ReoError::UnknownTrend { arm: x, name: candidate.name().map(str::to_owned) });
        }
        let mut first = 1;
        for &(last, _) in &course.pieces {
            for n in [first, last] {
                let loss = candidate.loss(Exposure::rested(n));
                if n < Course::END && loss < least {
                    (least, arm, plays) = (loss, x, Some(n));
                }
            }
            first = last.saturating_add(1);
        }
    }
    Ok(Reo { alpha: game.best_loss() - least, best_arm, arm, window: Vec::new(), plays })
}
