//! The bound on the memory of one arm: a step-down equivalence test over positions in a run after a rest.
//!
//! The reference is the mean loss at positions from R on. From the longest positions down, each window of positions is
//! compared with it; the arm is settled from a window on if the difference is within the tolerance, with confidence,
//! there and in all windows above. The order is fixed and the first failure ends the search, so no correction for
//! several tests is needed (Hsu and Berger 1999, "Stepwise confidence intervals without multiplicity adjustment for
//! dose-response and toxicity studies", JASA 94).

use calibandit::tallying::{LossSum, monotone_means};

use super::cells::Cells;
use super::cluster::{ClusterSums, ClusteredMean};
use super::diagnosis::{Clusters, CurveCell, Estimate, Settled, Stopped};
use super::reach::{EnoughPlays, LEAST_RUNS};
use super::runs::ArmRun;

/// Losses at the end of long runs are divided into batches of this many plays.
const BATCH: usize = 64;

/// What the test is told about an arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundSettings {
    /// The length R of a rest, and the first calibrated position.
    pub(super) reach: u32,
    pub(super) tolerance: f64,
    pub(super) confidence: f64,
    /// The numbers of losses that a window needs.
    pub(super) enough: EnoughPlays,
    pub(super) sd: f64,
    pub(super) clusters: Clusters,
}

/// The losses of an arm, by run and cell.
pub(super) struct ArmCells {
    cells: Cells,
    /// The longest runs first.
    runs: Vec<RunSums>,
    /// For each rested run and number of cells, the number and sum of the losses in the first cells.
    cumulative: Vec<(f64, f64)>,
    /// The calibrated losses in batches.
    batches: Vec<ClusterSums>,
    settings: BoundSettings,
    units: usize,
}

/// One run: where its cells are, and its calibrated losses.
struct RunSums {
    plays: u32,
    unit: u32,
    offset: usize,
    /// 0 if the run did not rest.
    cells: usize,
    calibrated: (f64, f64),
}

impl ArmCells {
    pub(super) fn new(losses: &[f64], runs: &[ArmRun], units: usize, settings: BoundSettings) -> Self {
        let reach = settings.reach;
        let cells = Cells::below(reach);
        let mut long: Vec<&ArmRun> = runs.iter().filter(|run| run.rest >= reach || run.plays >= reach).collect();
        long.sort_by_key(|run| std::cmp::Reverse(run.plays));
        let mut arm = Self { cells, runs: Vec::new(), cumulative: Vec::new(), batches: Vec::new(), settings, units };
        for run in long {
            let losses = &losses[run.range()];
            let (early, late) = losses.split_at((reach as usize - 1).min(losses.len()));
            let offset = arm.cumulative.len();
            let mut count = 0;
            if run.rest >= reach && !early.is_empty() {
                count = arm.cells.of(early.len() as u32) + 1;
                let mut total = (0.0, 0.0);
                arm.cumulative.push(total);
                for cell in 0..count {
                    let (first, last) = (arm.cells.first(cell) as usize, arm.cells.last(cell) as usize);
                    add_losses(&mut total, &early[first - 1..last.min(early.len())]);
                    arm.cumulative.push(total);
                }
            }
            let mut calibrated = (0.0, 0.0);
            for batch in late.chunks(BATCH) {
                let mut part = (0.0, 0.0);
                add_losses(&mut part, batch);
                calibrated = (calibrated.0 + part.0, calibrated.1 + part.1);
                arm.batches.push(ClusterSums { n: [0.0, part.0], sum: [0.0, part.1] });
            }
            arm.runs.push(RunSums { plays: run.plays, unit: run.unit, offset, cells: count, calibrated });
        }
        arm
    }

    pub(super) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The losses of a run in the cells from `first` to `last`, and its calibrated losses.
    fn sums(&self, run: &RunSums, first: usize, last: usize, reference: bool) -> ClusterSums {
        let mut sums = ClusterSums::default();
        let end = (last + 1).min(run.cells);
        if first < end {
            let (before, after) = (self.cumulative[run.offset + first], self.cumulative[run.offset + end]);
            (sums.n[0], sums.sum[0]) = (after.0 - before.0, after.1 - before.1);
        }
        if reference {
            (sums.n[1], sums.sum[1]) = run.calibrated;
        }
        sums
    }

    /// The number of losses in a cell.
    pub(super) fn plays(&self, cell: usize) -> f64 {
        self.counts(cell, cell).0
    }

    /// The number of losses in these cells, and of runs that have any.
    fn counts(&self, first: usize, last: usize) -> (f64, usize) {
        let reaching = self.runs.partition_point(|run| run.plays >= self.cells.first(first));
        let all = self.runs[..reaching].iter().map(|run| self.sums(run, first, last, false).n[0]);
        all.filter(|&n| n > 0.0).fold((0.0, 0), |(plays, runs), n| (plays + n, runs + 1))
    }

    /// The mean loss in these cells, less the reference if `reference`.
    pub(super) fn compare(&self, first: usize, last: usize, reference: bool) -> Option<ClusteredMean> {
        let reaching = self.runs.partition_point(|run| run.plays >= self.cells.first(first));
        let runs = &self.runs[..reaching];
        let by_run = runs.iter().map(|run| self.sums(run, first, last, reference));
        let batches: &[ClusterSums] = if reference { &self.batches } else { &[] };
        let windows = runs.iter().map(|run| self.sums(run, first, last, false));
        let by_batch = ClusteredMean::of(windows.chain(batches.iter().copied()))?;
        let by_cluster = match self.settings.clusters {
            Clusters::Runs => ClusteredMean::of(by_run),
            Clusters::Units => {
                let mut sums = vec![ClusterSums::default(); self.units];
                for (run, part) in runs.iter().zip(by_run) {
                    add_cluster(&mut sums[run.unit as usize], part);
                }
                ClusteredMean::of(sums.into_iter().filter(|unit| unit.n != [0.0; 2]))
            }
        };
        // Long runs hide differences between runs, short ones differences within them: the wider interval counts.
        let wider = by_cluster.map_or(by_batch, |by_cluster| by_cluster.wider(by_batch));
        let (plays, _) = self.counts(first, last);
        // A small sample of 0 and 1 that happens to have few ones also has a small variance: the noise of the arm
        // counts.
        let reference_plays: f64 = batches.iter().map(|batch| batch.n[1]).sum();
        let others = if reference { 1.0 / reference_plays.max(1.0) } else { 0.0 };
        Some(wider.at_least(self.settings.sd * (1.0 / plays + others).sqrt()))
    }

    /// The window of cells that ends at this cell: as few cells as have comfortably many losses, at most a factor of
    /// two wide. The choice depends on the plays, not on their losses.
    fn window(&self, last: usize) -> Option<usize> {
        let mut widest = None;
        for first in (0..=last).rev().take_while(|&first| 2 * self.cells.first(first) >= self.cells.last(last)) {
            let (plays, runs) = self.counts(first, last);
            if plays >= self.settings.enough.sufficient && runs >= LEAST_RUNS {
                widest = Some(first);
                if plays >= self.settings.enough.comfortable {
                    break;
                }
            }
        }
        widest
    }

    /// The step-down test: bounds on the play from which on the arm has settled, and the curve with every comparison.
    pub(super) fn test(&self) -> (Settled, Vec<CurveCell>) {
        let BoundSettings { tolerance, confidence, .. } = self.settings;
        let count = self.cells.len();
        let mut points: Vec<CurveCell> = (0..count).filter_map(|cell| self.point(cell)).collect();
        let mut settled = Settled { lower: 1, upper: None, estimate: None, stopped: Stopped::First };
        if count == 0 {
            settled.upper = Some(1);
        }
        let own = self.cell_differences();
        let mut unbroken = true;
        for cell in (0..count).rev() {
            let difference = self.window(cell).and_then(|first| self.compare(first, cell, true));
            let within = difference.is_some_and(|d| d.value.abs() + d.margin(confidence) <= tolerance);
            let passed = within && !own[cell].is_some_and(|own| self.contradicts(own));
            if unbroken && passed {
                settled.upper = Some(self.cells.last(cell));
            } else if unbroken {
                let changes = difference.is_some_and(|d| d.value.abs() > d.margin(1.0 - (1.0 - confidence) / 2.0));
                settled.stopped = if changes { Stopped::Changes } else { Stopped::TooFewPlays };
                unbroken = false;
            }
            if let Some(point) = points.iter_mut().find(|point| point.first == self.cells.first(cell)) {
                point.difference = difference.map(|d| {
                    let margin = d.margin(confidence);
                    Estimate { mean: d.value, low: d.value - margin, high: d.value + margin }
                });
                point.settled = unbroken;
            }
        }
        if unbroken && count > 0 {
            settled.upper = Some(1);
        }
        settled.lower = self.lower_bound(&own);
        settled.upper = settled.upper.map(|upper| upper.max(settled.lower));
        settled.estimate = self.estimate();
        points.extend(self.reference_point());
        (settled, points)
    }

    fn point(&self, cell: usize) -> Option<CurveCell> {
        let (plays, _) = self.counts(cell, cell);
        let mean = self.compare(cell, cell, false)?;
        Some(self.curve_point(self.cells.first(cell), self.cells.last(cell), plays, mean))
    }

    fn curve_point(&self, first: u32, last: u32, plays: f64, mean: ClusteredMean) -> CurveCell {
        let margin = mean.margin(1.0 - (1.0 - self.settings.confidence) / 2.0);
        let loss = Estimate { mean: mean.value, low: mean.value - margin, high: mean.value + margin };
        CurveCell { first, last, plays: plays as u64, loss, difference: None, settled: false }
    }

    /// All positions from R on.
    fn reference_point(&self) -> Option<CurveCell> {
        let plays = self.runs.iter().map(|run| run.calibrated.0).sum();
        let mean = ClusteredMean::of(self.batches.iter().map(first_sample))?;
        let last = self.runs.first().map_or(self.settings.reach, |run| run.plays);
        Some(CurveCell { settled: true, ..self.curve_point(self.settings.reach, last, plays, mean) })
    }

    /// The difference of each cell to the reference, where there are enough runs.
    fn cell_differences(&self) -> Vec<Option<ClusteredMean>> {
        let enough = |cell: usize| self.counts(cell, cell).1 >= LEAST_RUNS;
        (0..self.cells.len()).map(|cell| self.compare(cell, cell, true).filter(|_| enough(cell))).collect()
    }

    /// The confidence of a statement about one cell if all are to hold together: Bonferroni.
    fn each_confidence(&self) -> f64 {
        1.0 - (1.0 - self.settings.confidence) / self.cells.len().max(1) as f64
    }

    /// Whether the losses of a cell contradict a window that passed: they differ by more than the tolerance, and
    /// significantly. That happens where the loss crosses the eventual one, so that differences cancel in the window.
    fn contradicts(&self, own: ClusteredMean) -> bool {
        own.value.abs() > self.settings.tolerance.max(own.margin(self.each_confidence()))
    }

    /// The arm has not settled before this play.
    fn lower_bound(&self, own: &[Option<ClusteredMean>]) -> u32 {
        let each = self.each_confidence();
        let differs =
            |own: &Option<ClusteredMean>| own.is_some_and(|d| d.value.abs() - d.margin(each) > self.settings.tolerance);
        // Some position of the cell is outside the tolerance, at least the first.
        own.iter().rposition(differs).map_or(1, |cell| self.cells.first(cell) + 1)
    }

    /// The first position from which on a monotone curve stays within the tolerance of the reference.
    fn estimate(&self) -> Option<u32> {
        let sums: Vec<LossSum> = (0..self.cells.len())
            .map(|cell| {
                let all = self.runs.iter().map(|run| self.sums(run, cell, cell, false));
                all.fold(LossSum::default(), |total, part| LossSum {
                    plays: total.plays + part.n[0],
                    sum: total.sum + part.sum[0],
                })
            })
            .collect();
        let (plays, sum) = self.runs.iter().fold((0.0, 0.0), |t, run| (t.0 + run.calibrated.0, t.1 + run.calibrated.1));
        if plays == 0.0 || sums.iter().all(|cell| cell.plays == 0.0) {
            return None;
        }
        let curve = monotone_means(&sums);
        let outside =
            |value: &Option<f64>| value.is_some_and(|value| (value - sum / plays).abs() > self.settings.tolerance);
        Some(curve.iter().rposition(outside).map_or(1, |cell| self.cells.last(cell) + 1))
    }
}

/// The eventual loss of an arm: the mean of its losses at positions from `first` on.
pub(super) fn eventual_loss(
    losses: &[f64],
    runs: &[ArmRun],
    first: u32,
    units: usize,
    clusters: Clusters,
) -> Option<ClusteredMean> {
    let mut batches = Vec::new();
    let mut by_cluster: Vec<ClusterSums> = Vec::new();
    if clusters == Clusters::Units {
        by_cluster.resize(units, ClusterSums::default());
    }
    for run in runs.iter().filter(|run| run.plays >= first) {
        let mut whole = ClusterSums::default();
        for batch in losses[run.range()][first as usize - 1..].chunks(BATCH) {
            let mut part = (0.0, 0.0);
            add_losses(&mut part, batch);
            let sums = ClusterSums { n: [part.0, 0.0], sum: [part.1, 0.0] };
            batches.push(sums);
            add_cluster(&mut whole, sums);
        }
        match clusters {
            Clusters::Runs => by_cluster.push(whole),
            Clusters::Units => add_cluster(&mut by_cluster[run.unit as usize], whole),
        }
    }
    let by_batch = ClusteredMean::of(batches.into_iter())?;
    let by_cluster = ClusteredMean::of(by_cluster.into_iter().filter(|cluster| cluster.n[0] > 0.0));
    Some(by_cluster.map_or(by_batch, |by_cluster| by_cluster.wider(by_batch)))
}

fn add_losses(total: &mut (f64, f64), losses: &[f64]) {
    for &loss in losses.iter().filter(|loss| !loss.is_nan()) {
        total.0 += 1.0;
        total.1 += loss;
    }
}

fn add_cluster(total: &mut ClusterSums, part: ClusterSums) {
    for side in 0..2 {
        total.n[side] += part.n[side];
        total.sum[side] += part.sum[side];
    }
}

/// The second sample as the first.
fn first_sample(cluster: &ClusterSums) -> ClusterSums {
    ClusterSums { n: [cluster.n[1], 0.0], sum: [cluster.sum[1], 0.0] }
}

/// The loss of the first play of a run by length of the rest before it, for runs that follow one of at least `long`
/// plays of the same arm.
pub(super) fn forgetting(losses: &[f64], runs: &[ArmRun], long: u32, confidence: f64) -> Vec<CurveCell> {
    let pairs = || runs.windows(2).filter(|pair| pair[0].plays >= long && follows(pair[0], pair[1]));
    let Some(most) = pairs().map(|pair| pair[1].rest).max() else { return Vec::new() };
    let cells = Cells::below(most.saturating_add(1));
    let mut samples: Vec<Vec<ClusterSums>> = vec![Vec::new(); cells.len()];
    for pair in pairs() {
        let loss = losses[pair[1].start as usize];
        if !loss.is_nan() {
            samples[cells.of(pair[1].rest)].push(ClusterSums { n: [1.0, 0.0], sum: [loss, 0.0] });
        }
    }
    let point = |(cell, sample): (usize, &Vec<ClusterSums>)| {
        let mean = ClusteredMean::of(sample.iter().copied()).filter(|_| sample.len() >= LEAST_RUNS)?;
        let margin = mean.margin(1.0 - (1.0 - confidence) / 2.0);
        Some(CurveCell {
            first: cells.first(cell),
            last: cells.last(cell),
            plays: sample.len() as u64,
            loss: Estimate { mean: mean.value, low: mean.value - margin, high: mean.value + margin },
            difference: None,
            settled: false,
        })
    };
    samples.iter().enumerate().filter_map(point).collect()
}

/// Whether the rest before a run is known to be the time since the other run ended.
fn follows(before: ArmRun, after: ArmRun) -> bool {
    // After a jump of the order, the rest is not known.
    after.unit == before.unit && after.rest > 0 && before.range().end + after.rest as usize == after.start as usize
}
