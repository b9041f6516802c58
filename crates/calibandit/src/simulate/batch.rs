//! Simulation of several instances at once.
//!
//! The result is that of [`simulate`](crate::simulate()) on each instance, bit for bit. With the cargo feature `simd`,
//! instances of some policies share the processor's vector registers, which is several times faster; without it they
//! run one by one.

#[cfg(feature = "simd")]
mod exp3_lanes;
#[cfg(feature = "simd")]
mod game_lanes;
#[cfg(feature = "simd")]
mod grouping;
#[cfg(feature = "simd")]
mod policy_lanes;
#[cfg(feature = "simd")]
mod vector;
#[cfg(feature = "simd")]
mod window_lanes;

use super::{Engine, Grid, SimulateError, Trajectory, simulate_interruptible};
use crate::{AnyPolicy, Game, Interrupt, Interrupted, PolicySpec, Stream};

/// One instance of a batch: a game, the policy that plays it, and the noise of its feedback.
pub struct BatchItem<'a> {
    /// The game.
    pub game: &'a Game,
    /// The policy.
    pub policy: &'a mut AnyPolicy,
    /// The stream from which the feedback is drawn.
    pub noise: &'a mut Stream,
}

/// Simulates every item with the [leaping engine](Engine::Leaping) up to the horizon of `grid`. The trajectories, and
/// the states of policies and streams afterwards, are those of [`simulate`](crate::simulate()), bit for bit, in the
/// order of the items.
///
/// [`batch_size`] says how many items are worth simulating in one call.
///
/// ```
/// use calibandit::policy::Exp3;
/// use calibandit::{Arm, BatchItem, Engine, Game, Grid, LossCurve, Noise, PolicySpec, StreamKey, Weights};
/// use calibandit::{batch_size, simulate, simulate_batch};
///
/// let arm = |losses: [f64; 2]| Arm::new(Weights::unit(2)?, LossCurve::by_plays(losses), Noise::Bernoulli);
/// let game = Game::new(vec![arm([0.5, 0.5])?, arm([0.8, 0.2])?])?;
/// let spec = PolicySpec::from(Exp3::builder());
/// let grid = Grid::end(1000)?;
/// let policy = |instance| spec.build(&game.problem(1000), StreamKey::new(1, "batch", instance).policy());
/// let noise = |instance| StreamKey::new(1, "batch", instance).noise();
///
/// let (mut policies, mut noises) = ([policy(0)?, policy(1)?], [noise(0), noise(1)]);
/// let items = policies.iter_mut().zip(&mut noises).map(|(policy, noise)| BatchItem { game: &game, policy, noise });
/// let batch = simulate_batch(&mut items.collect::<Vec<_>>(), &grid);
/// assert_eq!(batch[1], simulate(&game, &mut policy(1)?, &grid, Engine::Leaping, &mut noise(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate_batch(items: &mut [BatchItem<'_>], grid: &Grid) -> Vec<Result<Trajectory, SimulateError>> {
    simulate_batch_interruptible(items, grid, Interrupt::never())
}

/// [`simulate_batch`] with a stop flag and a counter, which counts the plays of all items. After an interruption, every
/// item that was not finished has the error [`SimulateError::Interrupted`].
pub fn simulate_batch_interruptible(
    items: &mut [BatchItem<'_>],
    grid: &Grid,
    interrupt: Interrupt<'_>,
) -> Vec<Result<Trajectory, SimulateError>> {
    let in_lanes = simulate_in_lanes(items, grid, interrupt);
    let others = |(item, played): (&mut BatchItem<'_>, Option<LanePlay>)| match played {
        Some(played) => Ok(played?),
        None => simulate_interruptible(item.game, item.policy, grid, Engine::Leaping, item.noise, interrupt),
    };
    items.iter_mut().zip(in_lanes).map(others).collect()
}

/// What became of an item that shared vectors.
type LanePlay = Result<Trajectory, Interrupted>;

/// How many instances of this policy are worth simulating in one call of [`simulate_batch`]: 1 if a batch is not faster
/// than one by one.
pub fn batch_size(policy: &PolicySpec) -> usize {
    match policy {
        // Two AVX2 registers of four numbers each.
        PolicySpec::Exp3(_) | PolicySpec::BatchedExp3(_) if cfg!(feature = "simd") => 8,
        _ => 1,
    }
}

/// The trajectories of those items that can share vectors; `None` for the others, which are not touched.
#[cfg(feature = "simd")]
fn simulate_in_lanes(items: &mut [BatchItem<'_>], grid: &Grid, interrupt: Interrupt<'_>) -> Vec<Option<LanePlay>> {
    grouping::simulate_in_lanes(items, grid, interrupt)
}

#[cfg(not(feature = "simd"))]
fn simulate_in_lanes(items: &mut [BatchItem<'_>], _: &Grid, _: Interrupt<'_>) -> Vec<Option<LanePlay>> {
    items.iter().map(|_| None).collect()
}
