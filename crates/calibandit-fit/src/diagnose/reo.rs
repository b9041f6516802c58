//! Whether repeated exposure is optimal: is some state of some arm better than every eventual loss?
//!
//! The states are those that the log visits: an arm and a range of positions after a rest. With unit weights, a rested
//! run visits every tally, so these are all states that matter.

use super::bound::ArmCells;
use super::cluster::ClusteredMean;
use super::diagnosis::{Fatigue, ReoDiagnosis, ReoVerdict, ReoWitness};

/// A state seen less often than this may hide anything.
const LEAST_PLAYS: f64 = 30.0;

/// What the verdict needs to know about an arm.
pub(super) struct ReoArm<'a> {
    pub(super) name: &'a str,
    pub(super) cells: &'a ArmCells,
    pub(super) eventual: Option<ClusteredMean>,
    /// The arm has settled from this position on, if that is known.
    pub(super) settled: Option<u32>,
    /// The arm still changes as far as the log reaches, so its eventual loss is not the one that was seen.
    pub(super) changing: bool,
}

/// One state: positions of an arm after a rest.
struct ReoState {
    arm: usize,
    first: u32,
    last: u32,
    loss: ClusteredMean,
}

pub(super) fn judge(arms: &[ReoArm<'_>], tolerance: f64, confidence: f64, memoryless: bool) -> ReoDiagnosis {
    let mut states = Vec::new();
    let mut rare = None;
    for (arm, info) in arms.iter().enumerate() {
        let cells = info.cells.cells();
        // Without a state nothing is known about the arm, so nothing can hold.
        if cells.len() == 0 && !memoryless {
            rare.get_or_insert_with(|| format!("arm `{}` is hardly ever played twice after a rest", info.name));
        }
        let unsettled = |cell: &usize| info.settled.is_none_or(|settled| cells.first(*cell) < settled);
        for cell in (0..cells.len()).filter(unsettled) {
            let plays = info.cells.plays(cell);
            match info.cells.compare(cell, cell, false).filter(|_| plays >= LEAST_PLAYS) {
                Some(loss) => states.push(ReoState { arm, first: cells.first(cell), last: cells.last(cell), loss }),
                None => {
                    rare.get_or_insert_with(|| {
                        let (first, last) = (cells.first(cell), cells.last(cell));
                        format!(
                            "arm `{}` was seen {plays} times at {} after a rest",
                            info.name,
                            plays_text(first, last)
                        )
                    });
                }
            }
        }
    }
    let eventual: Vec<ClusteredMean> = arms.iter().filter_map(|arm| arm.eventual).collect();
    let unknown = arms.iter().find(|arm| arm.eventual.is_none());
    let Some(best) = eventual.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value)) else {
        let reason = Some("no eventual loss is known".to_string());
        return ReoDiagnosis { verdict: ReoVerdict::Undecided, alpha: (0.0, None), witness: None, reason };
    };
    let count = states.len().max(1) as f64;
    let each = 1.0 - (1.0 - confidence) / count;
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    let mut witness: Option<ReoWitness> = None;
    for state in &states {
        high = high.max(excess(best, state.loss, |d| d.value + d.margin(each)));
        // The state must be better than every arm. Quantiles are slow, so the arm that decides is found without them.
        let nearest = closest(&eventual, state.loss, |value, error| value - NORMAL_MARGIN * error);
        low = low.max(excess(nearest, state.loss, |d| d.value - d.margin(each)));
        let least_sure = closest(&eventual, state.loss, |value, error| value / error.max(f64::MIN_POSITIVE));
        let p = excess(least_sure, state.loss, |d| d.p_above());
        let p = (p * count).min(1.0);
        if witness.as_ref().is_none_or(|found| p < found.p) {
            witness =
                Some(ReoWitness { arm: arms[state.arm].name.to_string(), first: state.first, last: state.last, p });
        }
    }
    let changing = arms.iter().find(|arm| arm.changing);
    let complete = rare.is_none() && unknown.is_none() && changing.is_none();
    let significant = witness.filter(|found| found.p < 1.0 - confidence);
    let (verdict, reason) = if complete && high <= tolerance {
        (ReoVerdict::Holds, None)
    } else if let (Some(found), None) = (&significant, unknown) {
        let ReoWitness { arm, first, last, .. } = found;
        let plays = plays_text(*first, *last);
        let text = format!("arm `{arm}` at {plays} after a rest is better than every eventual loss");
        (ReoVerdict::Violated, Some(text))
    } else {
        let text = unknown.map(|arm| format!("the eventual loss of arm `{}` is not known", arm.name)).or(rare);
        let text = text.or(changing.map(|arm| format!("arm `{}` still changes as far as the log reaches", arm.name)));
        (ReoVerdict::Undecided, text.or_else(|| Some(format!("alpha may be as large as {high:.3}"))))
    };
    let witness = significant.filter(|_| verdict == ReoVerdict::Violated);
    ReoDiagnosis { verdict, alpha: (low, complete.then_some(high)), witness, reason }
}

/// About the half width of the intervals below, in standard errors.
const NORMAL_MARGIN: f64 = 3.0;

/// The arm with the least score of its eventual loss less the loss of a state, and of the standard error of that.
fn closest(eventual: &[ClusteredMean], state: ClusteredMean, score: impl Fn(f64, f64) -> f64) -> ClusteredMean {
    let of = |arm: &ClusteredMean| score(arm.value - state.value, arm.error.hypot(state.error));
    let first = (eventual[0], of(&eventual[0]));
    let least = eventual[1..].iter().map(|arm| (*arm, of(arm)));
    least.fold(first, |least, next| if next.1 < least.1 { next } else { least }).0
}

/// "play 1", "plays 3 to 5".
pub(super) fn plays_text(first: u32, last: u32) -> String {
    if first == last { format!("play {first}") } else { format!("plays {first} to {last}") }
}

/// A statistic of the eventual loss of an arm less the loss of a state. The two are taken to be independent.
fn excess(arm: ClusteredMean, state: ClusteredMean, statistic: impl Fn(ClusteredMean) -> f64) -> f64 {
    let (a, b) = (arm.error * arm.error, state.error * state.error);
    let freedom = if a + b > 0.0 { (a + b).powi(2) / (a * a / arm.freedom + b * b / state.freedom) } else { 1e6 };
    statistic(ClusteredMean { value: arm.value - state.value, error: (a + b).sqrt(), freedom: freedom.max(1.0) })
}

/// The position at which an arm is most significantly better than eventually, if it is so at all.
pub(super) fn fatigue(cells: &ArmCells, tolerance: f64, level: f64) -> Option<Fatigue> {
    let all = cells.cells();
    let count = all.len() as f64;
    let found = (0..all.len()).filter_map(|cell| {
        let difference = cells.compare(cell, cell, true).filter(|_| cells.plays(cell) >= LEAST_PLAYS)?;
        let drop = -difference.value;
        let p = (ClusteredMean { value: drop, ..difference }.p_above() * count).min(1.0);
        (drop > 0.5 * tolerance && p < level).then_some(Fatigue {
            first: all.first(cell),
            last: all.last(cell),
            drop,
            p,
        })
    });
    found.min_by(|a, b| a.p.total_cmp(&b.p).then(b.drop.total_cmp(&a.drop)))
}
