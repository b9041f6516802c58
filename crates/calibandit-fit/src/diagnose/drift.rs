//! Losses that change with time: a check, and an adjustment.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::cells::Cells;
use super::cluster::{ClusterSums, ClusteredMean, student_quantile};
use super::log::Log;
use super::runs::ArmRun;

/// A time block has at least so many runs: shorter blocks would take the differences between arms for those of time.
const RUNS_PER_BLOCK: usize = 10;

/// More blocks follow no real drift.
const MOST_BLOCKS: usize = 64;

/// The check compares so many parts of the log.
const PARTS: usize = 4;

/// By how much the calibrated losses of an arm change between quarters of the log, if they do so significantly.
pub(super) fn drift(log: &Log, losses: &[f64], runs: &[ArmRun], first: u32, sd: f64, level: f64) -> Option<f64> {
    let (least, most) = time_range(log);
    let part_of = |play: usize| {
        let share = f64::from(log.time(play) - least) / (f64::from(most - least) + 1.0);
        ((share * PARTS as f64) as usize).min(PARTS - 1)
    };
    let mut parts: Vec<Vec<ClusterSums>> = vec![Vec::new(); PARTS];
    for run in runs.iter().filter(|run| run.plays >= first) {
        let begin = run.start as usize + first as usize - 1;
        for (index, batch) in losses[begin..run.range().end].chunks(64).enumerate() {
            let known = batch.iter().filter(|loss| !loss.is_nan());
            let (n, sum) = known.fold((0.0, 0.0), |(n, sum), loss| (n + 1.0, sum + loss));
            parts[part_of(begin + 64 * index)].push(ClusterSums { n: [n, 0.0], sum: [sum, 0.0] });
        }
    }
    let enough = |part: &&Vec<ClusterSums>| part.iter().filter(|batch| batch.n[0] > 0.0).count() >= 5;
    let precise = |part: &Vec<ClusterSums>| {
        let plays: f64 = part.iter().map(|batch| batch.n[0]).sum();
        let mean = ClusteredMean::of(part.iter().copied())?.at_least(sd / plays.sqrt());
        // With few clusters the error is uncertain itself: as wide as Student's distribution at the usual level.
        let wide = student_quantile(mean.freedom, 0.995) / student_quantile(1e6, 0.995);
        Some(ClusteredMean { error: mean.error * wide, ..mean })
    };
    let means: Vec<ClusteredMean> = parts.iter().filter(enough).filter_map(precise).collect();
    if means.len() < 2 || means.iter().any(|mean| mean.error == 0.0) {
        return None;
    }
    let weight = |mean: &ClusteredMean| 1.0 / (mean.error * mean.error);
    let total: f64 = means.iter().map(weight).sum();
    let middle = means.iter().map(|mean| weight(mean) * mean.value).sum::<f64>() / total;
    let statistic: f64 = means.iter().map(|mean| weight(mean) * (mean.value - middle).powi(2)).sum();
    let law = ChiSquared::new((means.len() - 1) as f64).expect("at least one degree of freedom");
    let values = means.iter().map(|mean| mean.value);
    let range = values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min);
    (law.sf(statistic) < level).then_some(range)
}

fn time_range(log: &Log) -> (u32, u32) {
    match &log.times {
        None => (0, log.plays() as u32 - 1),
        Some(times) => (times.iter().copied().min().unwrap_or(0), times.iter().copied().max().unwrap_or(0)),
    }
}

/// The losses without the effects of time: loss = state + block of time, by least squares. A state is an arm, a range
/// of positions, and whether the arm rested. Also the number of blocks.
pub(super) fn without_drift(log: &Log, runs: &[Vec<ArmRun>]) -> (Vec<f64>, usize) {
    let total_runs: usize = runs.iter().map(Vec::len).sum();
    let blocks = (total_runs / (RUNS_PER_BLOCK * runs.len().max(1))).clamp(1, MOST_BLOCKS);
    let mut losses = log.losses.clone();
    if blocks == 1 {
        return (losses, 1);
    }
    let (least, most) = time_range(log);
    let block_of = |play: usize| {
        let share = f64::from(log.time(play) - least) / (f64::from(most - least) + 1.0);
        ((share * blocks as f64) as usize).min(blocks - 1)
    };
    let longest = runs.iter().flatten().map(|run| run.plays).max().unwrap_or(1);
    let cells = Cells::below(longest.saturating_add(1));
    let states = runs.len() * cells.len() * 2;
    // Number and sum of losses by state and block.
    let mut table = vec![(0.0_f64, 0.0_f64); states * blocks];
    for (arm, runs) in runs.iter().enumerate() {
        for run in runs {
            let rested = usize::from(run.rest >= run.plays);
            let mut cell = 0;
            for (position, play) in (1..).zip(run.range()) {
                if position > cells.last(cell) {
                    cell += 1;
                }
                if !losses[play].is_nan() {
                    let state = (arm * cells.len() + cell) * 2 + rested;
                    let entry = &mut table[state * blocks + block_of(play)];
                    *entry = (entry.0 + 1.0, entry.1 + losses[play]);
                }
            }
        }
    }
    let effects = block_effects(&table, states, blocks);
    for (play, loss) in losses.iter_mut().enumerate() {
        *loss -= effects[block_of(play)];
    }
    (losses, blocks)
}

/// The effects of blocks in loss = state + block, by least squares in turns; their mean over all losses is 0.
fn block_effects(table: &[(f64, f64)], states: usize, blocks: usize) -> Vec<f64> {
    let mut effects = vec![0.0; blocks];
    let mut means = vec![0.0; states];
    let row = |state: usize| &table[state * blocks..(state + 1) * blocks];
    let plays: Vec<f64> = (0..blocks).map(|block| (0..states).map(|state| row(state)[block].0).sum()).collect();
    for _ in 0..500 {
        for (state, mean) in means.iter_mut().enumerate() {
            let (n, sum) = row(state)
                .iter()
                .zip(&effects)
                .fold((0.0, 0.0), |(n, sum), (cell, effect)| (n + cell.0, sum + cell.1 - cell.0 * effect));
            *mean = if n > 0.0 { sum / n } else { 0.0 };
        }
        let mut change = 0.0_f64;
        let before = effects.clone();
        for block in 0..blocks {
            let sum: f64 = (0..states).map(|state| row(state)[block].1 - row(state)[block].0 * means[state]).sum();
            effects[block] = if plays[block] > 0.0 { sum / plays[block] } else { 0.0 };
        }
        let centre = effects.iter().zip(&plays).map(|(effect, n)| effect * n).sum::<f64>() / plays.iter().sum::<f64>();
        for (effect, before) in effects.iter_mut().zip(before) {
            *effect -= centre;
            change = change.max((*effect - before).abs());
        }
        let scale = effects.iter().fold(0.0_f64, |most, effect| most.max(effect.abs()));
        if change <= 1e-9 * scale {
            break;
        }
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additive_effects_are_found_exactly() {
        // Three states, four blocks, unequal counts, no noise.
        let (states, blocks) = ([0.2, 0.5, 0.9], [0.1, -0.3, 0.0, 0.4]);
        let mut table = Vec::new();
        for (i, state) in states.iter().enumerate() {
            for (j, block) in blocks.iter().enumerate() {
                let n = ((i * 7 + j * 3) % 5) as f64;
                table.push((n, n * (state + block)));
            }
        }
        let effects = block_effects(&table, 3, 4);
        for (found, truth) in effects.iter().zip(blocks) {
            assert!((found - effects[0] - (truth - blocks[0])).abs() < 1e-6, "{effects:?}");
        }
    }
}
