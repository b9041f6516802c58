//! Several instances side by side.

use std::collections::BTreeMap;

use super::by_level::ByLevel;
use super::history::Tracks;
use super::lanes::{self, Lane};
use super::levels::Levels;
use super::policies::Player;
use super::rounds::{self, Bout};
use super::{Engine, Grid, SimulateError, Trajectory, simulate};
use crate::policy::weights::IN_LINE;
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
/// that is EXP3 and batched EXP3 with up to 32 arms; eight instances or more make the most of it.
///
/// ```
/// use calibandit::rng::StreamKey;
/// use calibandit::{Engine, GameSpec, Grid, PolicySpec, Seat, simulate, simulate_together};
/// let game: GameSpec = serde_json::from_str(r#"{"kind": "step", "arms": 5, "memory": 3}"#)?;
/// let game = game.draw(&mut StreamKey::new(1, "together", 0).game())?;
/// let spec: PolicySpec = serde_json::from_str(r#"{"kind": "exp3"}"#)?;
/// let grid = Grid::end(1000);
/// let noise = |instance| StreamKey::new(1, "together", instance).noise();
/// let policy = |instance| spec.build(&game.problem(1000), StreamKey::new(1, "together", instance).policy());
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
    let mut played: Vec<Option<Trajectory>> = seats.iter().map(|_| None).collect();
    let mut companies: BTreeMap<Company, BTreeMap<usize, Levels>> = BTreeMap::new();
    for (position, seat) in seats.iter().enumerate() {
        if let Some((company, levels)) = Company::of(seat) {
            companies.entry(company).or_default().insert(position, levels);
        }
    }
    for (company, mut members) in companies.into_iter().filter(|(_, members)| members.len() > 1) {
        let positions: Vec<usize> = members.keys().copied().collect();
        let at = seats.iter_mut().enumerate().filter_map(|(position, seat)| Some((seat, members.remove(&position)?)));
        if let Some(trajectories) = company.play(at, horizon, &times) {
            positions.into_iter().zip(trajectories).for_each(|(position, new)| played[position] = Some(new));
        }
    }
    let alone = |(seat, played): (&mut Seat<'_>, Option<Trajectory>)| match played {
        Some(trajectory) => Ok(trajectory),
        None => simulate(seat.game, seat.policy, grid, Engine::Leaping, seat.noise),
    };
    seats.iter_mut().zip(played).map(alone).collect()
}

/// Seats that can be played side by side.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Company {
    arms: usize,
    batch: u64,
    /// Whether the games are in the vectors as well.
    in_lanes: bool,
}

impl Company {
    /// `None` for a seat that is played alone.
    fn of(seat: &Seat<'_>) -> Option<(Self, Levels)> {
        let (weights, batch) = match &*seat.policy {
            AnyPolicy::Exp3(policy) => (&policy.weights, 1),
            AnyPolicy::BatchedExp3(policy) => (&policy.weights, policy.batch),
            _ => return None,
        };
        let arms = seat.game.arms().len();
        if arms > IN_LINE || weights.weights.len() != arms {
            return None;
        }
        let levels = Levels::new(seat.game).filter(Levels::are_short)?;
        Some((Self { arms, batch, in_lanes: batch == 1 && lanes::suits(seat.game, &levels) }, levels))
    }

    /// `None` if nothing was played.
    fn play<'s, 'a: 's>(
        &self,
        seats: impl Iterator<Item = (&'s mut Seat<'a>, Levels)>,
        horizon: u64,
        times: &[u64],
    ) -> Option<Vec<Trajectory>> {
        let mut lanes = Vec::new();
        let mut bouts = Vec::new();
        for (seat, levels) in seats {
            let (weights, own) = match &mut *seat.policy {
                AnyPolicy::Exp3(policy) => (&mut policy.weights, &mut policy.stream),
                AnyPolicy::BatchedExp3(policy) => (&mut policy.weights, &mut policy.stream),
                _ => return None,
            };
            let player = Player::new(weights, own);
            if self.in_lanes {
                lanes.push(Lane::new(seat.game, levels, player, seat.noise, times));
            } else {
                let game = ByLevel::new(seat.game, &levels, Tracks::new(self.arms), times.to_vec(), seat.noise);
                bouts.push(Bout { player, game });
            }
        }
        Some(if self.in_lanes {
            lanes::play(&mut lanes);
            lanes.into_iter().map(|lane| lane.ledger.finish(horizon)).collect()
        } else {
            rounds::play(bouts, horizon, self.batch)
        })
    }
}
