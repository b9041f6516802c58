//! Several instances side by side.

use std::collections::BTreeMap;

use super::lanes::{self, Lane};
use super::{Engine, Grid, SimulateError, Trajectory, simulate};
use crate::{AnyPolicy, Game, Stream};

/// One instance: a game, a policy that plays it, and the noise of its feedback.
pub struct Seat<'a> {
    /// The game.
    pub game: &'a Game,
    /// Its policy.
    pub policy: &'a mut AnyPolicy,
    /// Where the draws of the feedback come from.
    pub noise: &'a mut Stream,
}

/// Plays every seat with the [leaping engine](Engine::Leaping) up to the horizon of `grid`, as [`simulate`] would: the same
/// numbers, bit for bit, but faster where several instances of one policy can share the processor's vectors. At this time
/// that is EXP3 on games with Bernoulli feedback and up to 32 arms; eight instances or more make the most of it.
///
/// ```
/// use calibandit::rng::{Purpose, stream};
/// use calibandit::{Engine, GameSpec, Grid, PolicySpec, Seat, Setting, simulate, simulate_together};
/// let game: GameSpec = serde_json::from_str(r#"{"kind": "step", "arms": 5, "memory": 3}"#)?;
/// let game = game.draw(&mut stream(1, "together", 0, Purpose::Game))?;
/// let spec: PolicySpec = serde_json::from_str(r#"{"kind": "exp3"}"#)?;
/// let grid = Grid::end(1000);
/// let noise = |instance| stream(1, "together", instance, Purpose::Noise);
/// let policy = |instance| spec.build(&Setting::of(&game, 1000), stream(1, "together", instance, Purpose::Policy));
///
/// let (mut policies, mut noises) = ([policy(0)?, policy(1)?], [noise(0), noise(1)]);
/// let seats = policies.iter_mut().zip(&mut noises).map(|(policy, noise)| Seat { game: &game, policy, noise });
/// let together = simulate_together(&mut seats.collect::<Vec<_>>(), &grid);
/// assert_eq!(together[1], simulate(&game, &mut policy(1)?, &grid, Engine::Leaping, &mut noise(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate_together(seats: &mut [Seat<'_>], grid: &Grid) -> Vec<Result<Trajectory, SimulateError>> {
    let times = match grid.times() {
        Ok(times) => times,
        Err(error) => return seats.iter().map(|_| Err(error.clone().into())).collect(),
    };
    let horizon = grid.horizon();
    let mut played: Vec<Option<Result<Trajectory, SimulateError>>> = seats.iter().map(|_| None).collect();
    let mut by_arms: BTreeMap<usize, Vec<(usize, Lane<'_>)>> = BTreeMap::new();
    for (position, seat) in seats.iter_mut().enumerate() {
        if let AnyPolicy::Exp3(policy) = &mut *seat.policy
            && let Some(lane) = Lane::new(seat.game, policy, seat.noise, &times)
        {
            by_arms.entry(seat.game.arms().len()).or_default().push((position, lane));
        }
    }
    for lanes in by_arms.into_values().filter(|lanes| lanes.len() > 1) {
        let (positions, mut lanes): (Vec<usize>, Vec<Lane<'_>>) = lanes.into_iter().unzip();
        lanes::play(&mut lanes);
        for (position, lane) in positions.into_iter().zip(lanes) {
            played[position] = Some(Ok(lane.ledger.finish(horizon)));
        }
    }
    let alone = |(seat, played): (&mut Seat<'_>, Option<_>)| {
        played.unwrap_or_else(|| simulate(seat.game, seat.policy, grid, Engine::Leaping, seat.noise))
    };
    seats.iter_mut().zip(played).map(alone).collect()
}
