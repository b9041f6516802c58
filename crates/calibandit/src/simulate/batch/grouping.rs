//! Which items of a batch share vectors.

use std::collections::BTreeMap;

use super::exp3_lanes::Exp3Parts;
use super::game_lanes::{self, GameLane};
use super::policy_lanes::{self, PolicyLane};
use super::{BatchItem, LanePlay};
use crate::policy::exp_weights::IN_LINE;
use crate::simulate::loss_table::LossTable;
use crate::simulate::play_history::WordHistory;
use crate::simulate::table_stepper::TableStepper;
use crate::simulate::{Grid, Trajectory};
use crate::{AnyPolicy, Interrupt, Interrupted, Noise};

/// Simulates the items that can share vectors with another one; `None` for the others, which are not touched.
pub(super) fn simulate_in_lanes(
    items: &mut [BatchItem<'_>],
    grid: &Grid,
    interrupt: Interrupt<'_>,
) -> Vec<Option<LanePlay>> {
    let mut trajectories: Vec<Option<LanePlay>> = items.iter().map(|_| None).collect();
    let mut groups: BTreeMap<GroupKey, BTreeMap<usize, LossTable>> = BTreeMap::new();
    for (position, item) in items.iter().enumerate() {
        if let Some((key, table)) = GroupKey::of(item) {
            groups.entry(key).or_default().insert(position, table);
        }
    }
    for (key, mut members) in groups.into_iter().filter(|(_, members)| members.len() > 1) {
        let positions: Vec<usize> = members.keys().copied().collect();
        let members =
            items.iter_mut().enumerate().filter_map(|(position, item)| Some((item, members.remove(&position)?)));
        match key.simulate(members, grid, interrupt) {
            Ok(played) => {
                positions.into_iter().zip(played).for_each(|(position, new)| trajectories[position] = Some(Ok(new)));
            }
            Err(stopped) => positions.into_iter().for_each(|position| trajectories[position] = Some(Err(stopped))),
        }
    }
    trajectories
}

/// Items with the same key can share vectors.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    arms: usize,
    /// The number of plays per run.
    batch: u64,
    /// Whether the games are in the vectors too, not only the policies.
    games_in_lanes: bool,
}

impl GroupKey {
    /// `None` for an item that cannot share vectors.
    fn of(item: &BatchItem<'_>) -> Option<(Self, LossTable)> {
        let (weights, batch) = match &*item.policy {
            AnyPolicy::Exp3(policy) => (&policy.weights, 1),
            AnyPolicy::BatchedExp3(policy) => (&policy.weights, policy.batch),
            _ => return None,
        };
        let arms = item.game.arms().len();
        if arms > IN_LINE || weights.weights.len() != arms {
            return None;
        }
        let table = LossTable::new(item.game).filter(LossTable::windows_fit_into_words)?;
        let bernoulli = item.game.arms().iter().all(|arm| arm.noise() == Noise::Bernoulli);
        let games_in_lanes = batch == 1 && bernoulli && table.is_counted();
        Some((Self { arms, batch, games_in_lanes }, table))
    }

    /// Simulates the items of a group, in their order.
    fn simulate<'s, 'a: 's>(
        &self,
        items: impl Iterator<Item = (&'s mut BatchItem<'a>, LossTable)>,
        grid: &Grid,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<Trajectory>, Interrupted> {
        let times = grid.times();
        let mut games = Vec::new();
        let mut policies = Vec::new();
        for (item, table) in items {
            let policy = match &mut *item.policy {
                AnyPolicy::Exp3(policy) => Exp3Parts { weights: &mut policy.weights, stream: &mut policy.stream },
                AnyPolicy::BatchedExp3(policy) => {
                    Exp3Parts { weights: &mut policy.weights, stream: &mut policy.stream }
                }
                _ => unreachable!("only policies with the weights of EXP3 have a group"),
            };
            if self.games_in_lanes {
                games.push(GameLane::new(item.game, table, policy, item.noise, times));
            } else {
                let history = WordHistory::new(self.arms);
                let game = TableStepper::new(item.game, &table, history, times.to_vec(), item.noise);
                policies.push(PolicyLane { policy, game });
            }
        }
        if self.games_in_lanes {
            game_lanes::play(&mut games, interrupt)?;
            Ok(games.into_iter().map(|lane| lane.losses.finish(grid.horizon())).collect())
        } else {
            policy_lanes::play(policies, grid.horizon(), self.batch, interrupt)
        }
    }
}
