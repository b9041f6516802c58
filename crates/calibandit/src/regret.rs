//! Complete policy regret (CPR): expected loss of the plays made, less the optimum over as many plays.
//!
//! Both sides are *expected* losses; no sampled loss is used. Each checkpoint is compared with the best sequence of its
//! own length, as in the paper's definition, not with the beginning of the best sequence of the whole horizon.

use crate::game::{Game, Optima, OptimumError};
use crate::simulate::Checkpoint;

/// The CPR at each checkpoint.
///
/// It is computed from the excess over mu(x*) of both sides, so that it keeps its digits at any time. It is never
/// negative beyond rounding. Use [`cpr_with`] to share the optima between trajectories on one game.
///
/// ```
/// use calibandit::{Arm, Checkpoint, Game, LossCurve, Noise, Weights, cpr};
/// let game = Game::new(vec![
///     Arm::new(Weights::unit(2)?, LossCurve::constant(0.5), Noise::Bernoulli)?,
///     Arm::new(Weights::unit(2)?, LossCurve::by_plays([0.6, 0.3]), Noise::Bernoulli)?,
/// ])?;
/// // Four plays of arm 0 at 0.5, where arm 1 would have cost 0.6 + 3 · 0.3.
/// let played = Checkpoint { t: 4, loss: 2.0, excess: 0.8, switches: 0 };
/// assert!((cpr(&game, &[played])?[0] - 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cpr(game: &Game, checkpoints: &[Checkpoint]) -> Result<Vec<f64>, OptimumError> {
    cpr_with(&mut Optima::new(game), checkpoints)
}

/// The CPR at each checkpoint of a trajectory on the game of these optima.
pub fn cpr_with(optima: &mut Optima<'_>, checkpoints: &[Checkpoint]) -> Result<Vec<f64>, OptimumError> {
    checkpoints.iter().map(|checkpoint| Ok(checkpoint.excess - optima.excess_at(checkpoint.t)?)).collect()
}
