//! The default index and its relatives: arms that are not ruled out challenge the leader.
//!
//! The *leader* is the arm with the least mean. Another arm is *alive* while the evidence against its being as good as
//! the leader (`sample_stats.rs`) is below a threshold (`threshold.rs`); the threshold falls as exploration can bring
//! less and, with the index `empirical-bayes`, for an arm that looks like a crowd of worse arms (`crowd.rs`). An alive
//! arm is *due* for a visit once the leader has a multiple of the arm's recorded plays. The multiple grows as the
//! evidence approaches the threshold, which gives the order of a confidence-bound index without solving an equation.
//! Of all alive arms, the one that is due first is the next challenger. Staying on an arm costs no burn-in, so a visit
//! continues beyond its minimum while the arm is alive.
//!
//! The constants were chosen on the games of docs/calibrated.md, which says how. The proof there needs only the bounds
//! of the thresholds, and that `MIN_LEAD` is at least 1, `MAX_LEAD` 30 and `STAY` 5.

use std::borrow::Cow;

use super::arms_view::ArmsView;
use super::crowd::Crowd;
use super::price::MeanDifference;
use super::sample_stats::EvidenceCut;
use super::schedule::Schedule;
use super::stats_groups::with_slack;
use super::tuning::Tuning;
use super::{NextRun, threshold};
use crate::policy::grouped_arms::ArmGroup;

/// An arm without evidence against it is due once the leader has this many times its recorded plays.
const MIN_LEAD: f64 = 3.0;
/// The same for the index `empirical-bayes`, whose higher thresholds for arms that may be the best have to be reached
/// sooner.
const MIN_LEAD_BAYES: f64 = 2.0;
/// An alive arm is due at the latest when the leader has this many times its recorded plays. The proof uses that an
/// alive arm has at least this fraction of the plays of every other arm.
const MAX_LEAD: f64 = 30.0;
/// A challenger that is played stays while the leader would need at most STAY times the least lead of its present plays
/// before this challenger is due again. So a challenger has at most STAY times the leader's plays.
const STAY: f64 = 5.0;
/// While a challenger is played, the decision is reconsidered whenever its recorded plays have grown by this fraction.
const RECONSIDER: f64 = 1.0 / 64.0;
/// The leader is played for at most this fraction of its recorded plays before the decision is reconsidered.
const LEADER_GROWTH: f64 = 0.25;

/// How an arm compares with the leader.
struct ChallengerStatus {
    /// The evidence against its being as good as the leader.
    evidence: f64,
    /// The evidence at which it is ruled out.
    threshold: f64,
    /// Whether it is not ruled out.
    alive: bool,
    due: DueTime,
}

/// When an arm is due for a visit, as a number of recorded plays of the leader. Earlier ones are less.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct DueTime {
    plays: f64,
    /// The same without its upper limit [`MAX_LEAD`]: of the arms that are due at the limit, the one with the least
    /// evidence against it is the first. With very many arms, the others are then not looked at.
    without_limit: f64,
}

impl DueTime {
    const NEVER: Self = Self { plays: f64::INFINITY, without_limit: f64::INFINITY };

    /// That of an arm with `n` plays and this evidence and threshold.
    fn new(evidence: f64, threshold: f64, n: f64, least_lead: f64) -> Self {
        let margin = (1.0 - (evidence / threshold).sqrt()).max(0.0);
        let without_limit = least_lead / (margin * margin) * n;
        Self { plays: without_limit.min(MAX_LEAD * n), without_limit }
    }

    fn earlier(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// Later by more than rounding errors.
    fn with_slack(self) -> Self {
        Self { plays: with_slack(self.plays), without_limit: with_slack(self.without_limit) }
    }

    /// The evidence above which an arm with this threshold is due later than this or ruled out, with some slack for
    /// rounding errors; negative if every such arm is due later.
    fn most_evidence(self, threshold: f64, n: f64, least_lead: f64) -> f64 {
        let limit = MAX_LEAD * n;
        let lead = if self.plays < limit {
            self.plays
        } else if self.plays <= with_slack(with_slack(limit)) {
            self.without_limit
        } else {
            f64::INFINITY
        };
        let margin = (least_lead * n / lead).sqrt();
        if margin > 1.0 + 1e-9 {
            return -1.0;
        }
        let evidence = threshold * (1.0 - margin).max(0.0) * (1.0 - margin).max(0.0);
        evidence + 1e-9 * (1.0 + evidence)
    }
}

/// The rule that gives the threshold of an arm.
#[derive(Clone, Copy)]
pub(super) enum ThresholdRule {
    Challenge,
    Cautious,
    EmpiricalBayes(Tuning),
}

impl ThresholdRule {
    fn is_bayes(self) -> bool {
        matches!(self, Self::EmpiricalBayes(_))
    }

    /// The multiple of its recorded plays at which an arm without evidence against it is due.
    fn least_lead(self) -> f64 {
        if self.is_bayes() { MIN_LEAD_BAYES } else { MIN_LEAD }
    }
}

/// The comparison of all arms with the leader.
struct Challenge<'a> {
    view: &'a ArmsView<'a>,
    leader: usize,
    rule: ThresholdRule,
    /// The recorded plays of all arms but the leader, divided by the number of arms; for the rule `Challenge` only.
    explored: f64,
    /// The crowd of worse arms without the arm that is being visited; for the rule `EmpiricalBayes` only.
    crowd: Crowd,
}

impl<'a> Challenge<'a> {
    fn new(view: &'a ArmsView<'a>, rule: ThresholdRule, crowd: Crowd) -> Self {
        let leader = view.leader();
        let mut explored = 0.0;
        if matches!(rule, ThresholdRule::Challenge) {
            // All are whole numbers below 2^53, so the order of the sum does not matter.
            let others = match view.groups {
                Some(groups) => groups.plays() - view.stats[leader].n,
                None => view.arms.iter().filter(|&&arm| arm != leader).map(|&arm| view.stats[arm].n).sum::<f64>(),
            };
            explored = others / view.stats.len() as f64;
        }
        Self { view, leader, rule, explored, crowd }
    }

    fn evidence(&self, arm: usize) -> f64 {
        self.view.stats[arm].against(self.view.stats[self.leader].mean(), self.view.now.bounded)
    }

    /// Brings the crowd up to date at the end of a visit.
    fn gather(&mut self) {
        if !self.rule.is_bayes() {
            return;
        }
        let (stats, bounded) = (self.view.stats, self.view.now.bounded);
        if self.crowd.is_old(self.view.arms.len()) {
            let others = self.view.arms.iter().filter(|&&arm| arm != self.leader);
            self.crowd = Crowd::new(others.map(|&arm| (&stats[arm], self.evidence(arm))), bounded);
        } else if let Some(visited) = self.view.now.current.filter(|&arm| arm != self.leader) {
            self.crowd.add(&stats[visited], self.evidence(visited), bounded);
        }
    }

    /// The status of an arm that is part of the crowd.
    fn status(&self, arm: usize) -> ChallengerStatus {
        let (stats, evidence) = (&self.view.stats[arm], self.evidence(arm));
        let mut crowd = self.crowd;
        if self.rule.is_bayes() {
            crowd.remove(stats, evidence, self.view.now.bounded);
        }
        self.status_beside(&crowd, arm, evidence)
    }

    /// The status of an arm beside a crowd without it.
    fn status_beside(&self, crowd: &Crowd, arm: usize, evidence: f64) -> ChallengerStatus {
        let stats = &self.view.stats[arm];
        let odds = match &self.rule {
            ThresholdRule::EmpiricalBayes(tuning) => {
                crowd.odds(stats, &self.view.stats[self.leader], self.view.now.bounded, tuning)
            }
            _ => 1.0,
        };
        let threshold = self.threshold(stats.n, self.view.now.current == Some(arm), odds);
        let due = DueTime::new(evidence, threshold, stats.n, self.rule.least_lead());
        ChallengerStatus { evidence, threshold, alive: evidence < threshold && self.is_worth_a_switch(arm), due }
    }

    /// What a burn-in costs; 0 for the other rules, which are not told.
    fn price(&self) -> f64 {
        self.view.now.burn_in_losses.price(self.view.now.burn_in, self.view.stats[self.leader].mean())
    }

    /// Whether the arm can be expected to bring as much as a switch to it and back costs.
    fn is_worth_a_switch(&self, arm: usize) -> bool {
        let price = self.price();
        price == 0.0
            || self.view.now.current == Some(arm)
            || self.difference(arm).gain(self.view.now.plays) >= 2.0 * price
    }

    fn difference(&self, arm: usize) -> MeanDifference {
        MeanDifference::new(&self.view.stats[arm], &self.view.stats[self.leader], self.view.now.bounded)
    }

    /// The evidence at which an arm with this many recorded plays and these prior odds is ruled out.
    fn threshold(&self, n: f64, is_current: bool, odds: f64) -> f64 {
        let x = self.view.prospect(n, is_current);
        match &self.rule {
            ThresholdRule::Challenge => threshold::challenge(x, n, self.explored / n),
            ThresholdRule::Cautious => threshold::cautious(x),
            ThresholdRule::EmpiricalBayes(tuning) => threshold::empirical_bayes(x, odds, tuning),
        }
    }

    /// Alive arms other than the leader among which is the one that is due first; all arms if there are few. In
    /// increasing order.
    fn contenders(&self) -> Cow<'_, [usize]> {
        let Some(groups) = self.view.groups else { return Cow::Borrowed(self.view.arms) };
        let mut found = Vec::new();
        let mut first_due = DueTime::NEVER;
        for (plays, group) in groups.groups() {
            if self.rule.least_lead() * plays as f64 > with_slack(first_due.plays) {
                break;
            }
            self.visit_alive(plays, group, first_due, |arms| {
                let status = self.status(arms[0]);
                if status.alive {
                    first_due = first_due.earlier(status.due);
                    found.extend(arms.iter().map(|&arm| (status.due, arm)));
                }
                Some(first_due)
            });
        }
        let limit = first_due.with_slack();
        let first = found.into_iter().filter(|(due, _)| *due <= limit).map(|(_, arm)| arm);
        let mut found: Vec<usize> =
            first.chain(self.view.now.current.filter(|&current| groups.is_in_play(current))).collect();
        found.sort_unstable();
        found.dedup();
        Cow::Owned(found)
    }

    /// Calls `visit` with the first arms of each kind of arm in a group, other than the leader, that may be alive and
    /// due not after `limit`. `visit` returns the new limit, or `None` to end.
    fn visit_alive(
        &self,
        plays: u64,
        group: &ArmGroup,
        mut limit: DueTime,
        mut visit: impl FnMut(&[usize]) -> Option<DueTime>,
    ) {
        let (best, bounded) = (self.view.stats[self.leader].mean(), self.view.now.bounded);
        let n = plays as f64;
        let threshold = self.threshold(n, false, 1.0);
        let cut_at = |limit: DueTime| {
            EvidenceCut::new(limit.with_slack().most_evidence(threshold, n, self.rule.least_lead()), n)
        };
        let mut cut = cut_at(limit);
        for equal in group.equal_arms(plays) {
            let stats = &self.view.stats[equal.first()];
            if cut.excludes(stats, best, bounded, group.most_variance()) {
                return;
            }
            if cut.excludes(stats, best, bounded, stats.variance()) {
                continue;
            }
            let mut arms = [0; 3];
            let mut count = 0;
            for arm in equal.arms().filter(|&arm| arm != self.leader) {
                arms[count] = arm;
                count += 1;
            }
            if count > 0 {
                let Some(next) = visit(&arms[..count]) else { return };
                if next < limit {
                    (limit, cut) = (next, cut_at(next));
                }
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
                self.visit_alive(plays, group, DueTime::NEVER, |arms| {
                    found = arms.iter().any(|&arm| arm != current && self.status(arm).alive);
                    (!found).then_some(DueTime::NEVER)
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
        let alive = alive.map(|(arm, status)| (arm, status.due));
        let first = alive.reduce(|first, other| if other.1 < first.1 { other } else { first });
        first.map(|(arm, due)| (arm, due.plays))
    }

    /// The next part of the visit under way: up to its minimum, and beyond it while the arm may stay. `None` if the
    /// visit is over. `visit` has the plays recorded in this visit and those recorded before it.
    fn stay(&self, schedule: &Schedule, visit: Option<(f64, f64)>) -> Option<NextRun> {
        let current = self.view.now.current?;
        let (recorded, before) = visit.unwrap_or((f64::INFINITY, 0.0));
        let part = (self.view.stats[current].n * RECONSIDER).max(1.0);
        let continued = Some(NextRun { arm: current, record: part });
        let missing = schedule.visit(before, self.view.now.burn_in) - recorded;
        if current == self.leader {
            return (missing > 0.0).then_some(NextRun { arm: current, record: missing });
        }
        // A challenger that is ruled out need not be played as long as its burn-in was.
        if self.rule.is_bayes() && schedule.visit(before, 0.0) > recorded || !self.rule.is_bayes() && missing > 0.0 {
            return continued;
        }
        let status = self.status_beside(&self.crowd, current, self.evidence(current));
        if !status.alive {
            return None;
        }
        let (n, stay) = (self.view.stats[current].n, STAY * self.view.stats[self.leader].n);
        let near = status.due.plays <= self.rule.least_lead() * stay;
        let unpaid = n <= stay && self.difference(current).cost(recorded) < self.price();
        if missing > 0.0 || (near || unpaid) && !self.starves(current) { continued } else { None }
    }

    /// The first run of the next visit: of the challenger if it is due, otherwise of the leader.
    fn challenge_or_lead(&mut self, schedule: &Schedule) -> NextRun {
        self.gather();
        let leading = self.view.stats[self.leader].n;
        let lead = |record| NextRun { arm: self.leader, record };
        match self.challenger() {
            None => lead(schedule.visit_leader(leading)),
            Some((_, due)) if due > leading => {
                lead((due - leading).min((LEADER_GROWTH * leading).max(schedule.first())))
            }
            Some((arm, _)) => {
                let stats = &self.view.stats[arm];
                if self.rule.is_bayes() {
                    self.crowd.remove(stats, self.evidence(arm), self.view.now.bounded);
                }
                let part = (stats.n * RECONSIDER).max(schedule.least());
                NextRun { arm, record: schedule.visit(stats.n, self.view.now.burn_in).min(part) }
            }
        }
    }
}

/// The evidence against each of these arms being as good as the leader, and the threshold at which it rules the arm
/// out, with the crowd as it is now.
pub(super) fn evidence(view: &ArmsView<'_>, arms: &[usize], rule: ThresholdRule) -> Vec<(f64, f64)> {
    let mut challenge = Challenge::new(view, rule, Crowd::default());
    challenge.gather();
    let compare = |&arm: &usize| {
        let status = challenge.status(arm);
        (status.evidence, status.threshold)
    };
    arms.iter().map(compare).collect()
}

/// Whether an arm that is being measured for the first time is ruled out already, by this leader.
pub(super) fn is_ruled_out(view: &ArmsView<'_>, arm: usize, leader: usize, tuning: Tuning) -> bool {
    let rule = ThresholdRule::EmpiricalBayes(tuning);
    let challenge = Challenge { view, leader, rule, explored: 0.0, crowd: Crowd::default() };
    // The leader has few plays as well: the difference of the two means has the sum of their variances.
    let (n, leading) = (view.stats[arm].n, view.stats[leader].n);
    challenge.evidence(arm) * leading / (leading + n) >= challenge.threshold(n, true, 1.0)
}

/// What to play next. `visit` has the plays recorded in the visit under way and those recorded before it; `crowd` is
/// that of the last call.
pub(super) fn choose(
    view: &ArmsView<'_>,
    schedule: &Schedule,
    visit: Option<(f64, f64)>,
    rule: ThresholdRule,
    crowd: &mut Crowd,
) -> NextRun {
    let mut challenge = Challenge::new(view, rule, *crowd);
    let next = challenge.stay(schedule, visit).unwrap_or_else(|| challenge.challenge_or_lead(schedule));
    *crowd = challenge.crowd;
    next
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::arms_view::Situation;
    use super::super::price::BurnInLosses;
    use super::super::sample_stats::SampleStats;
    use super::*;
    use crate::Feedback;
    use crate::rng::StreamKey;

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
                    any |= s >= n && evidence >= threshold::challenge(prospect, record.n, 0.0);
                }
                dropped += u64::from(any);
            }
            let n = n as f64;
            let c = 0.5 * (left / (threshold::DISCOUNT * arms * (2.0 * n + burn_in))).ln_1p();
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
                burn_in_losses: BurnInLosses::default(),
                current: Some(1),
            };
            let view = ArmsView { stats: &records, arms: &[0, 1, 2, 3], now, groups: None };
            let challenge = Challenge::new(&view, ThresholdRule::Challenge, Crowd::default());
            let leader = challenge.leader;
            let choice = choose(&view, &schedule, None, ThresholdRule::Challenge, &mut Crowd::default());
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
