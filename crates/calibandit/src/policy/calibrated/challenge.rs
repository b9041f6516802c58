//! The default index: arms that are not ruled out challenge the leader.
//!
//! The *leader* is the arm with the least mean. Another arm is *alive* while the evidence against its being as good as
//! the leader (`sample_stats.rs`) is below a threshold; the threshold falls as exploration can bring less. An alive arm
//! is *due* for a visit once the leader has a multiple of the arm's recorded plays. The multiple grows as the evidence
//! approaches the threshold, which gives the order of a confidence-bound index without solving an equation. Of all
//! alive arms, the one that is due first is the next challenger. Staying on an arm costs no burn-in, so a visit
//! continues beyond its minimum while the arm is alive.
//!
//! The constants were chosen on the games of docs/calibrated.md, which says how. The proof there needs only that the
//! threshold lies between `0.5·ln(1 + x/DISCOUNT)` and `ln(1 + x)`, where x is the prospect of the arm, and the values
//! of `MIN_LEAD`, `MAX_LEAD` and `STAY`.

use std::borrow::Cow;

use super::NextRun;
use super::arms_view::ArmsView;
use super::schedule::Schedule;
use super::stats_groups::with_slack;
use crate::math;
use crate::policy::grouped_arms::ArmGroup;

/// The threshold grows as `0.5·ln(1 + x/DISCOUNT)`. The factor 0.5 is the least for which regret of order sqrt(K·T) can
/// be shown; a larger discount means less exploration. Chosen by experiment.
const DISCOUNT: f64 = 80.0;
/// The threshold of an arm with few plays compared with what is left is at least this many nats. Chosen by experiment.
const FLOOR: f64 = 1.8;
/// The floor is reached with this slope in `ln(1 + x)`, so that it vanishes as the game ends. Chosen by experiment.
const FLOOR_SLOPE: f64 = 0.6;
/// Below about this sample size the threshold is raised: a few bad losses must not rule out the best arm.
const SMALL_SAMPLE: f64 = 38.0;
/// Above about this sample size the threshold is raised as well: an arm still undecided is close to the leader, so
/// eliminating it wrongly is likely and keeping it is cheap.
const LONG_CONTEST: f64 = 400.0;
/// The sample size raises the threshold at most to that of Lai (1987) for a known horizon,
/// `ln(1 + x/(LAI·sqrt(1 + ln(1 + x))))`. This constant is Lai's factor, chosen by experiment.
const LAI: f64 = 3.0;
/// The threshold is raised for an arm with about this many times fewer plays than the other explored arms have on
/// average: further plays of it cost little compared with what was already spent.
const DEFICIT: f64 = 8.0;
/// An arm without evidence against it is due once the leader has this many times its recorded plays.
const MIN_LEAD: f64 = 3.0;
/// An alive arm is due at the latest when the leader has this many times its recorded plays. The proof uses that an
/// alive arm has at least this fraction of the plays of every other arm.
const MAX_LEAD: f64 = 30.0;
/// Keep playing the current challenger while the leader would need at most STAY times its present plays before this
/// challenger is due again. With MIN_LEAD = 3 this caps a challenger at 5 times the leader's plays.
const STAY: f64 = 15.0;
/// While a challenger is played, the decision is reconsidered whenever its recorded plays have grown by this fraction.
const RECONSIDER: f64 = 1.0 / 64.0;
/// The leader is played for at most this fraction of its recorded plays before the decision is reconsidered.
const LEADER_GROWTH: f64 = 0.25;

/// The evidence, in nats, at which an arm is ruled out. `x` is its prospect, `n` its number of recorded plays, and
/// `deficit` the average number of plays of the explored arms divided by n. A `cautious` threshold is that of Lai
/// (1987) alone: a larger mean regret with a shorter tail.
pub(super) fn evidence_threshold(x: f64, n: f64, deficit: f64, cautious: bool) -> f64 {
    let log = math::ln_1p(x);
    let lai = |discount: f64| math::ln_1p(x / (discount * (1.0 + log).sqrt()));
    if cautious {
        return lai(LAI);
    }
    let slope = 0.5 * math::ln_1p(x / DISCOUNT);
    let floor = (FLOOR_SLOPE * log).min(FLOOR);
    let base = slope.max(floor);
    // Squared and to the fourth power, so that samples of moderate size are hardly affected.
    let doubt = math::powi(SMALL_SAMPLE / n, 2) + math::powi(n / LONG_CONTEST, 4);
    let by_size = base.max(lai(LAI).min(base * (1.0 + doubt)));
    let by_deficit = lai(1.0).min(by_size + math::ln_1p(deficit / DEFICIT));
    by_size.max(by_deficit)
}

/// How an arm compares with the leader.
struct ChallengerStatus {
    /// Whether it is not ruled out.
    alive: bool,
    /// The number of recorded plays of the leader at which the arm is due for a visit.
    due: f64,
}

/// The number of recorded plays of the leader at which an arm with this evidence and threshold is due.
fn due_at(evidence: f64, threshold: f64, n: f64) -> f64 {
    let margin = 1.0 - (evidence / threshold).sqrt();
    let lead = if margin > 0.0 { (MIN_LEAD / (margin * margin)).min(MAX_LEAD) } else { MAX_LEAD };
    lead * n
}

/// The comparison of all arms with the leader.
struct Challenge<'a> {
    view: &'a ArmsView<'a>,
    leader: usize,
    /// The recorded plays of all arms but the leader, divided by the number of arms.
    explored: f64,
    cautious: bool,
}

impl<'a> Challenge<'a> {
    fn new(view: &'a ArmsView<'a>, cautious: bool) -> Self {
        let leader = view.leader();
        // All are whole numbers below 2^53, so the order of the sum does not matter.
        let others = match view.groups {
            Some(groups) => groups.plays() - view.stats[leader].n,
            None => view.arms.iter().filter(|&&arm| arm != leader).map(|&arm| view.stats[arm].n).sum::<f64>(),
        };
        let explored = others / view.stats.len() as f64;
        Self { view, leader, explored, cautious }
    }

    fn status(&self, arm: usize) -> ChallengerStatus {
        let stats = &self.view.stats[arm];
        let evidence = stats.against(self.view.stats[self.leader].mean(), self.view.now.bounded);
        let threshold = self.threshold(stats.n, self.view.now.current == Some(arm));
        ChallengerStatus { alive: evidence < threshold, due: due_at(evidence, threshold, stats.n) }
    }

    /// The evidence at which an arm with this many recorded plays is ruled out.
    fn threshold(&self, n: f64, is_current: bool) -> f64 {
        evidence_threshold(self.view.prospect(n, is_current), n, self.explored / n, self.cautious)
    }

    /// Alive arms other than the leader among which is the one that is due first; all arms if there are few. In
    /// increasing order.
    fn contenders(&self) -> Cow<'_, [usize]> {
        let Some(groups) = self.view.groups else { return Cow::Borrowed(self.view.arms) };
        let mut found = Vec::new();
        let mut first_due = f64::INFINITY;
        for (plays, group) in groups.groups() {
            if MIN_LEAD * plays as f64 > with_slack(first_due) {
                break;
            }
            self.visit_alive(plays, group, |at_least, arms| {
                let arm = arms[0];
                let status = self.status(arm);
                if status.alive {
                    first_due = first_due.min(status.due);
                    found.extend_from_slice(arms);
                }
                at_least <= with_slack(first_due)
            });
        }
        found.extend(self.view.now.current.filter(|&current| groups.is_in_play(current)));
        found.sort_unstable();
        found.dedup();
        Cow::Owned(found)
    }

    /// Calls `visit` with the first arms of each kind of arm in a group, other than the leader, as long as they may be
    /// alive, and with a lower bound of the plays at which the further ones are due; until `visit` returns false.
    fn visit_alive(&self, plays: u64, group: &ArmGroup, mut visit: impl FnMut(f64, &[usize]) -> bool) {
        let (best, bounded) = (self.view.stats[self.leader].mean(), self.view.now.bounded);
        let n = plays as f64;
        let threshold = self.threshold(n, false);
        for equal in group.equal_arms(plays) {
            let stats = &self.view.stats[equal.first()];
            let evidence = stats.against_at_least(best, bounded, group.most_variance());
            // The rounding errors of the evidence are far smaller.
            let evidence = evidence - 1e-9 * (1.0 + evidence);
            if evidence > threshold {
                return;
            }
            let mut arms = [0; 3];
            let mut count = 0;
            for arm in equal.arms().filter(|&arm| arm != self.leader) {
                arms[count] = arm;
                count += 1;
            }
            if count > 0 && !visit(due_at(evidence.max(0.0), threshold, n), &arms[..count]) {
                return;
            }
        }
    }

    /// Whether an alive arm other than the leader has less than 1/MAX_LEAD of the plays of `current`. Without this
    /// check, arms that take the lead in turn could each have five times the plays of the one before, while the best
    /// arm waits.
    fn starves(&self, current: usize) -> bool {
        let most = self.view.stats[current].n / MAX_LEAD;
        if let Some(groups) = self.view.groups {
            let mut fewer = groups.groups().take_while(|&(plays, _)| (plays as f64) < most);
            return fewer.any(|(plays, group)| {
                let mut found = false;
                self.visit_alive(plays, group, |_, arms| {
                    found = arms.iter().any(|&arm| arm != current && self.status(arm).alive);
                    !found
                });
                found
            });
        }
        let mut others = self.view.arms.iter().filter(|&&arm| arm != current && arm != self.leader);
        others.any(|&arm| self.view.stats[arm].n < most && self.status(arm).alive)
    }

    /// The alive arm that is due first, and the number of the leader's plays at which it is.
    fn challenger(&self) -> Option<(usize, f64)> {
        let contenders = self.contenders();
        let others = contenders.iter().filter(|&&arm| arm != self.leader);
        let alive = others.map(|&arm| (arm, self.status(arm))).filter(|(_, status)| status.alive);
        alive.map(|(arm, status)| (arm, status.due)).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The next part of the visit under way: up to its minimum, and beyond it while the arm may stay. `None` if the
    /// visit is over. `visit` has the plays recorded in this visit and those recorded before it.
    fn stay(&self, schedule: &Schedule, visit: Option<(f64, f64)>) -> Option<NextRun> {
        let current = self.view.now.current?;
        let missing = visit.map_or(0.0, |(recorded, before)| schedule.visit(before, self.view.now.burn_in) - recorded);
        let part = (self.view.stats[current].n * RECONSIDER).max(1.0);
        if missing > 0.0 {
            return Some(NextRun { arm: current, record: if current == self.leader { missing } else { part } });
        }
        if current == self.leader {
            return None;
        }
        let status = self.status(current);
        let stays = status.alive && status.due <= STAY * self.view.stats[self.leader].n && !self.starves(current);
        stays.then_some(NextRun { arm: current, record: part })
    }

    /// The first run of the next visit: of the challenger if it is due, otherwise of the leader.
    fn challenge_or_lead(&self, schedule: &Schedule) -> NextRun {
        let leading = self.view.stats[self.leader].n;
        let lead = |record| NextRun { arm: self.leader, record };
        match self.challenger() {
            None => lead(schedule.visit_leader(leading)),
            Some((_, due)) if due > leading => {
                lead((due - leading).min((LEADER_GROWTH * leading).max(schedule.first())))
            }
            Some((arm, _)) => {
                let n = self.view.stats[arm].n;
                let part = (n * RECONSIDER).max(schedule.least());
                NextRun { arm, record: schedule.visit(n, self.view.now.burn_in).min(part) }
            }
        }
    }
}

/// The evidence against each of these arms being as good as the leader, and the threshold at which it rules the arm
/// out.
pub(super) fn evidence(view: &ArmsView<'_>, arms: &[usize], cautious: bool) -> Vec<(f64, f64)> {
    let challenge = Challenge::new(view, cautious);
    let best = view.stats[challenge.leader].mean();
    let compare = |&arm: &usize| {
        let stats = &view.stats[arm];
        (stats.against(best, view.now.bounded), challenge.threshold(stats.n, view.now.current == Some(arm)))
    };
    arms.iter().map(compare).collect()
}

/// What to play next. `visit` has the plays recorded in the visit under way and those recorded before it.
pub(super) fn choose(view: &ArmsView<'_>, schedule: &Schedule, visit: Option<(f64, f64)>, cautious: bool) -> NextRun {
    let challenge = Challenge::new(view, cautious);
    challenge.stay(schedule, visit).unwrap_or_else(|| challenge.challenge_or_lead(schedule))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::arms_view::Situation;
    use super::super::sample_stats::SampleStats;
    use super::*;
    use crate::Feedback;
    use crate::rng::StreamKey;

    #[test]
    fn thresholds_lie_within_the_bounds_of_the_proof() {
        for x in [0.0, 0.1, 1.0, 10.0, 1e3, 1e6] {
            let least = 0.5 * (x / DISCOUNT).ln_1p();
            for n in [1.0, 10.0, 100.0, 1e5] {
                for deficit in [0.0, 0.5, 10.0, 1e4] {
                    for cautious in [false, true] {
                        let threshold = evidence_threshold(x, n, deficit, cautious);
                        assert!(threshold >= least && threshold <= x.ln_1p(), "x {x}, n {n}, {deficit}: {threshold}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_threshold_is_zero_when_no_plays_are_left() {
        assert_eq!(evidence_threshold(0.0, 50.0, 3.0, false), 0.0);
        assert_eq!(evidence_threshold(0.0, 50.0, 3.0, true), 0.0);
    }

    #[test]
    fn the_threshold_is_higher_for_small_and_for_long_undecided_samples() {
        assert!(evidence_threshold(1e4, 16.0, 1.0, false) > 1.5 * evidence_threshold(1e4, 100.0, 1.0, false));
        assert!(
            evidence_threshold(1e4, 800.0, 1.0, false) > 1.5 * evidence_threshold(1e4, 100.0, 1.0, false),
            "a long undecided sample"
        );
        assert!(
            evidence_threshold(1e4, 100.0, 100.0, false) > 1.5 * evidence_threshold(1e4, 100.0, 1.0, false),
            "an arm with few plays"
        );
    }

    /// Lemma 5: the best arm, at n to 2n recorded plays, is dropped for a leader that is worse by delta no more often
    /// than the smaller of two bounds: the evidence is that of chance, and the arm has to look worse than the leader.
    #[test]
    fn the_best_arm_is_dropped_as_rarely_as_claimed() {
        let (arms, burn_in, paths) = (5.0, 2.0, 2000);
        for (case, &(n, delta, left)) in
            [(32, 0.05, 1e6), (32, 0.15, 1e6), (64, 0.1, 1e4), (128, 0.02, 1e3), (128, 0.1, 2e2)].iter().enumerate()
        {
            let mut stream = StreamKey::new(7, "race", case as u64).noise();
            let mean = 0.35;
            let mut dropped = 0;
            for _ in 0..paths {
                let mut record = SampleStats::default();
                let mut any = false;
                for s in 1..2 * n {
                    record.add(Feedback::one(f64::from(stream.random::<f64>() < mean)));
                    let prospect = left / (arms * (record.n + burn_in));
                    let evidence = record.against(mean + delta, true);
                    any |= s >= n && evidence >= evidence_threshold(prospect, record.n, 0.0, false);
                }
                dropped += u64::from(any);
            }
            let n = n as f64;
            let c = 0.5 * (left / (DISCOUNT * arms * (2.0 * n + burn_in))).ln_1p();
            let e = std::f64::consts::E;
            let factor = e * (c + 2.0) + 1.0 + e * ((c + 1.0) * (c + (2.0 * n).ln()) + 2.0);
            let bound = (factor * (-c).exp()).min((-2.0 * n * delta * delta).exp());
            let frequency = dropped as f64 / paths as f64;
            assert!(frequency <= bound + 4.0 * (bound / paths as f64).sqrt(), "case {case}: {frequency} above {bound}");
        }
    }

    /// Lemma 6: while the best arm is alive, no other arm is chosen with more than thirty times its plays.
    #[test]
    fn no_arm_is_played_while_an_alive_one_starves() {
        let mut stream = StreamKey::new(7, "race", 99).noise();
        let (schedule, _) = Schedule::new(32, 0.15, 4, Some(10_000_000), 2);
        let (mut free, mut starving) = (0, 0);
        for _ in 0..20_000 {
            let mut random = |least: f64, most: f64| (least.ln() + (most / least).ln() * stream.random::<f64>()).exp();
            let records: Vec<SampleStats> = (0..4)
                .map(|_| {
                    let plays = random(32.0, 100_000.0) as u64;
                    let sum = (plays as f64 * random(0.45, 0.55)).round();
                    let mut record = SampleStats::default();
                    record.add(Feedback { plays, sum, sum_sq: sum });
                    record
                })
                .collect();
            let now = Situation {
                bounded: true,
                plays: random(1e3, 1e7),
                horizon_known: true,
                burn_in: 2.0,
                current: Some(1),
            };
            let view = ArmsView { stats: &records, arms: &[0, 1, 2, 3], now, groups: None };
            let challenge = Challenge::new(&view, false);
            let leader = challenge.leader;
            let choice = choose(&view, &schedule, None, false);
            free += u64::from(choice.arm == 1);
            for arm in (0..4).filter(|&arm| arm != leader && arm != choice.arm) {
                if challenge.status(arm).alive {
                    let ratio = records[choice.arm].n / records[arm].n;
                    starving += u64::from(ratio > 10.0);
                    assert!(ratio <= MAX_LEAD, "arm {} has {ratio} times the plays of arm {arm}", choice.arm);
                }
            }
        }
        assert!(free > 1000 && starving > 50, "{free} {starving}: the cases that matter are not there");
    }
}
