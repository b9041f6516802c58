//! EXP3 on several instances with Bernoulli feedback at once: policies and games in the lanes of vectors, each instance
//! with its own streams.
//!
//! Every lane computes what [`simulate`](crate::simulate()) computes with [`Exp3`](crate::policy::Exp3), bit for bit,
//! independently of the other lanes. The only difference is that one instruction serves several instances.

use super::exp3_lanes::{Exp3Lanes, Exp3Parts, next_word};
use super::vector::{Vector, VectorTask, dispatch};
use super::window_lanes::{JointWindows, SeparateWindows, WindowLanes};
use crate::game::threshold;
use crate::interrupt::PlayMeter;
use crate::simulate::loss_accumulator::LossAccumulator;
use crate::simulate::loss_table::LossTable;
use crate::{Game, Interrupt, Interrupted, Stream};

/// One instance: its policy, the noise of its feedback, its loss table and its losses.
pub(super) struct GameLane<'a> {
    policy: Exp3Parts<'a>,
    noise: &'a mut Stream,
    table: LossTable,
    pub(super) losses: LossAccumulator,
}

impl<'a> GameLane<'a> {
    /// For a game with Bernoulli feedback whose plays are counted by row.
    pub(super) fn new(
        game: &Game,
        table: LossTable,
        policy: Exp3Parts<'a>,
        noise: &'a mut Stream,
        times: &[u64],
    ) -> Self {
        let losses = LossAccumulator::new(game, Some(&table), times.to_vec());
        Self { policy, noise, table, losses }
    }

    pub(super) fn table(&self) -> &LossTable {
        &self.table
    }
}

/// Simulates all lanes to their last checkpoint. All have the same number of arms and the same checkpoints.
pub(super) fn play(lanes: &mut [GameLane<'_>], interrupt: Interrupt<'_>) -> Result<(), Interrupted> {
    let mut meter = PlayMeter::new(interrupt);
    if !play_with::<JointWindows<8>, JointWindows<4>>(lanes, &mut meter)? {
        play_with::<SeparateWindows<8>, SeparateWindows<4>>(lanes, &mut meter)?;
    }
    Ok(())
}

/// The number of plays per instance between two looks at the stop flag.
const STEPS: u64 = 1 << 14;

/// Simulates with windows of these types; false if the games do not fit them, and then nothing was played.
fn play_with<E: WindowLanes<8>, F: WindowLanes<4>>(
    lanes: &mut [GameLane<'_>],
    meter: &mut PlayMeter<'_>,
) -> Result<bool, Interrupted> {
    let instances = lanes.len() as u64;
    // Groups of eight as long as they are more than half full.
    let in_eights = (lanes.len() + 3) / 8 * 8;
    let (of_eights, of_fours) = lanes.split_at_mut(in_eights.min(lanes.len()));
    let eights: Option<Vec<_>> =
        of_eights.chunks(8).map(|eight| Some((GameGroup::of(eight), E::new(eight)?))).collect();
    let fours: Option<Vec<_>> = of_fours.chunks(4).map(|four| Some((GameGroup::of(four), F::new(four)?))).collect();
    let (Some(mut eights), Some(mut fours)) = (eights, fours) else { return Ok(false) };
    let times = |eights: &[GameLane<'_>], fours: &[GameLane<'_>]| {
        let lane = eights.first().or(fours.first())?;
        Some((lane.losses.time(), lane.losses.next())).filter(|&(_, next)| next < u64::MAX)
    };
    while let Some((time, next)) = times(of_eights, of_fours) {
        let mut left = next - time;
        while left > 0 {
            let steps = left.min(STEPS);
            dispatch(GameSteps { eights: &mut eights, fours: &mut fours, steps });
            left -= steps;
            meter.add(instances * steps)?;
        }
        of_eights.chunks_mut(8).zip(&mut eights).for_each(|(lanes, (group, _))| group.settle(next, lanes));
        of_fours.chunks_mut(4).zip(&mut fours).for_each(|(lanes, (group, _))| group.settle(next, lanes));
    }
    of_eights.chunks_mut(8).zip(&eights).for_each(|(lanes, (group, _))| group.write_back(lanes));
    of_fours.chunks_mut(4).zip(&fours).for_each(|(lanes, (group, _))| group.write_back(lanes));
    Ok(true)
}

/// The state of `L` policies and their games, one lane per instance in every array. Lanes without an instance repeat
/// the first.
struct GameGroup<const L: usize> {
    policies: Exp3Lanes<L>,
    /// The streams of the noise, word by word.
    noise: [[u64; L]; 4],
    rows: Vec<[RowState; L]>,
    /// The newest arm; `NONE` before the first play.
    newest: [u64; L],
    switches: [u64; L],
}

/// The Bernoulli threshold of a row of the loss table, and its plays since the last checkpoint.
#[derive(Clone, Copy)]
struct RowState {
    threshold: u64,
    plays: u64,
}

const NONE: u64 = u64::MAX;

impl<const L: usize> GameGroup<L> {
    fn of(lanes: &[GameLane<'_>]) -> Self {
        let lane = |lane: usize| lanes.get(lane).unwrap_or(&lanes[0]);
        let noise: [[u64; 4]; L] = std::array::from_fn(|l| lane(l).noise.state());
        let row = |l: usize, row: usize| {
            let loss = lane(l).table.losses().get(row); // other games of the group may have more rows
            RowState { threshold: loss.map_or(0, |&loss| threshold(loss)), plays: 0 }
        };
        let rows = lanes.iter().map(|lane| lane.table.losses().len()).max().unwrap_or(0);
        Self {
            policies: Exp3Lanes::of(lanes.iter().map(|lane| &lane.policy)),
            noise: std::array::from_fn(|word| noise.map(|state| state[word])),
            rows: (0..rows).map(|number| std::array::from_fn(|l| row(l, number))).collect(),
            newest: [NONE; L],
            switches: [0; L],
        }
    }

    /// Moves the counts into the lanes' losses.
    fn settle(&mut self, time: u64, lanes: &mut [GameLane<'_>]) {
        for (l, lane) in lanes.iter_mut().enumerate() {
            let counts = self.rows.iter_mut().map(|states| std::mem::take(&mut states[l].plays));
            let counts = counts.enumerate().filter(|(_, plays)| *plays > 0);
            lane.losses.merge(time, counts, self.switches[l], self.newest[l] as usize);
        }
    }

    fn write_back(&self, lanes: &mut [GameLane<'_>]) {
        for (l, lane) in lanes.iter_mut().enumerate() {
            self.policies.write_back(l, &mut lane.policy);
            *lane.noise = Stream::from_state(self.noise.map(|word| word[l]));
        }
    }
}

/// Some plays of all groups.
struct GameSteps<'a, E, F> {
    eights: &'a mut [(GameGroup<8>, E)],
    fours: &'a mut [(GameGroup<4>, F)],
    steps: u64,
}

impl<E: WindowLanes<8>, F: WindowLanes<4>> VectorTask for GameSteps<'_, E, F> {
    type Output = ();

    #[inline(always)]
    fn run(self, eight: impl Vector<8>, four: impl Vector<4>) {
        for _ in 0..self.steps {
            for (group, windows) in &mut *self.eights {
                step(eight, group, windows);
            }
            for (group, windows) in &mut *self.fours {
                step(four, group, windows);
            }
        }
    }
}

/// One play of `L` instances: the choice of the arm, the play with its Bernoulli draw, and the update of the weights.
#[inline(always)]
fn step<const L: usize, V: Vector<L>>(v: V, group: &mut GameGroup<L>, windows: &mut impl WindowLanes<L>) {
    let chosen = group.policies.draw(v);

    let newest = v.u(&group.newest);
    // A mask of ones is -1, so that adding it and then 1 counts exactly the switches.
    let stays = v.or(v.equal(chosen, newest), v.equal(newest, v.splat_word(NONE)));
    group.switches = v.words(v.plus(v.plus(v.u(&group.switches), stays), v.splat_word(1)));
    let arm = v.words(chosen);
    group.newest = arm;
    let row = windows.play(v, chosen, &arm);
    let rows = group.rows.as_mut_slice();
    let mut thresholds = [0; L];
    for l in 0..L {
        let state = &mut rows[row[l]][l];
        state.plays += 1;
        thresholds[l] = state.threshold;
    }
    let draw = v.right::<11>(next_word(v, &mut group.noise));
    let lost = v.above(v.u(&thresholds), draw);

    // The gain is 0 if the loss is 1, and 1 otherwise.
    group.policies.learn(v, &arm, |growth| v.as_floats(v.choose(lost, v.splat_word(0), v.bits(growth))));
}
