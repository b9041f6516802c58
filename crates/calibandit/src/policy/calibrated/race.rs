//! The default index: a race between the leader and everyone who is not yet ruled out.
//!
//! An arm is *alive* while the evidence against its being as good as the leader (see `evidence.rs`) is below a level that
//! shrinks with what exploration can still bring. How much more the leader must have been played before an alive arm
//! challenges it is the order of a confidence-bound index, without inverting anything: the closer the evidence is to the
//! level, the longer the leader is preferred. Whoever may challenge first does. Staying on an arm costs no burn-in, so an
//! arm that is being played goes on while it is alive.

use super::Choice;
use super::board::Board;
use super::schedule::Schedule;
use crate::math;

/// The slope 1/2 is the least for which regret of order sqrt(K·T) can be shown; this sets where it begins.
const DISCOUNT: f64 = 80.0;
/// The level does not fall below this many nats while an arm has had little of its share...
const FLOOR: f64 = 1.8;
/// ... and rises to that as this part of the logarithm.
const FLOOR_SLOPE: f64 = 0.6;
/// With fewer recorded plays than this, the level is raised: a bad start of the best arm must not end it.
const SMALL_SAMPLE: f64 = 38.0;
/// With more recorded plays than this it is raised too: who is undecided for so long is close to the leader, so a wrong
/// decision is likely, and going on costs little.
const LONG_CONTEST: f64 = 400.0;
/// Neither raises it above ln(1 + x/(this·sqrt(1 + ln(1 + x)))), which is the level of Lai (1987) for a known horizon.
const LAI: f64 = 3.0;
/// An arm on which little was spent compared with all others has the benefit of the doubt, from about this many times on.
const SPARED: f64 = 8.0;
/// The leader must have this many times the plays of a challenger against whom there is no evidence...
const LEAD: f64 = 3.0;
/// ... and at most this many.
const MOST_LEAD: f64 = 30.0;
/// An arm that is being played goes on until it needs no more than this share of its lead.
const STAY: f64 = 15.0;
/// While an arm is being played, it is looked at again after a part of its plays, one in so many.
const LOOKS: f64 = 64.0;

/// How much evidence an arm may have against it, with prospect `x`, `n` recorded plays, and `spared` times less played than
/// the average of all that were explored. `cautious` is Lai's level alone: worse on average, with the shortest tail.
pub(super) fn level(x: f64, n: f64, spared: f64, cautious: bool) -> f64 {
    let log = math::ln_1p(x);
    let lai = |discount: f64| math::ln_1p(x / (discount * (1.0 + log).sqrt()));
    if cautious {
        return lai(LAI);
    }
    let base = (0.5 * math::ln_1p(x / DISCOUNT)).max((FLOOR_SLOPE * log).min(FLOOR));
    let doubt = math::powi(SMALL_SAMPLE / n, 2) + math::powi(n / LONG_CONTEST, 4);
    let level = base.max(lai(LAI).min(base * (1.0 + doubt)));
    level.max(lai(1.0).min(level + math::ln_1p(spared / SPARED)))
}

/// How an arm stands in the race.
struct Standing {
    alive: bool,
    /// How many plays the leader must have before the arm is looked at again.
    wait: f64,
}

/// The race as it stands.
struct Race<'a> {
    board: &'a Board<'a>,
    leader: usize,
    /// The mean number of recorded plays of an arm, the leader's left out.
    explored: f64,
    cautious: bool,
}

impl<'a> Race<'a> {
    fn new(board: &'a Board<'a>, cautious: bool) -> Self {
        let leader = board.leader();
        let others = board.arms.iter().filter(|&&arm| arm != leader);
        let explored = others.map(|&arm| board.records[arm].n).sum::<f64>() / board.records.len() as f64;
        Self { board, leader, explored, cautious }
    }

    fn standing(&self, arm: usize) -> Standing {
        let record = &self.board.records[arm];
        let evidence = record.against(self.board.records[self.leader].mean(), self.board.bounded);
        let level = level(self.board.prospect(arm), record.n, self.explored / record.n, self.cautious);
        let room = 1.0 - (evidence / level).sqrt();
        let lead = if room > 0.0 { (LEAD / (room * room)).min(MOST_LEAD) } else { MOST_LEAD };
        Standing { alive: evidence < level, wait: lead * record.n }
    }

    /// Whether an alive arm has had so little beside `current` that going on with it would starve that arm. Without this,
    /// arms that take the lead in turn could each play five times what the last had, while the best arm waits.
    fn starves(&self, current: usize) -> bool {
        let most = self.board.records[current].n / MOST_LEAD;
        let mut others = self.board.arms.iter().filter(|&&arm| arm != current && arm != self.leader);
        others.any(|&arm| self.board.records[arm].n < most && self.standing(arm).alive)
    }

    /// The alive arm for which the leader has to be played least, with how many plays that is.
    fn challenger(&self) -> Option<(usize, f64)> {
        let others = self.board.arms.iter().filter(|&&arm| arm != self.leader);
        let alive = others.map(|&arm| (arm, self.standing(arm))).filter(|(_, standing)| standing.alive);
        alive.map(|(arm, standing)| (arm, standing.wait)).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// What to play next. `visit` is how much was recorded in this visit, and how much the arm had before it.
pub(super) fn choose(board: &Board<'_>, schedule: &Schedule, visit: Option<(f64, f64)>, cautious: bool) -> Choice {
    let race = Race::new(board, cautious);
    let leader = race.leader;
    let leading = board.records[leader].n;
    if let Some(current) = board.current {
        let n = board.records[current].n;
        let missing = visit.map_or(0.0, |(recorded, before)| schedule.visit(before, board.burn_in) - recorded);
        let look = (n / LOOKS).max(1.0);
        if missing > 0.0 {
            return Choice { arm: current, record: if current == leader { missing } else { look } };
        }
        if current != leader {
            let standing = race.standing(current);
            if standing.alive && standing.wait <= STAY * leading && !race.starves(current) {
                return Choice { arm: current, record: look };
            }
        }
    }
    match race.challenger() {
        None => Choice { arm: leader, record: schedule.visit_leader(leading) },
        Some((arm, wait)) => {
            if wait > leading {
                Choice { arm: leader, record: (wait - leading).min((0.25 * leading).max(schedule.first())) }
            } else {
                let n = board.records[arm].n;
                Choice { arm, record: schedule.visit(n, board.burn_in).min((n / LOOKS).max(schedule.least())) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::evidence::Record;
    use super::*;
    use crate::Feedback;
    use crate::rng::StreamKey;

    #[test]
    fn levels_lie_where_the_proof_needs_them() {
        for x in [0.0, 0.1, 1.0, 10.0, 1e3, 1e6] {
            let least = 0.5 * (x / DISCOUNT).ln_1p();
            for n in [1.0, 10.0, 100.0, 1e5] {
                for spared in [0.0, 0.5, 10.0, 1e4] {
                    for cautious in [false, true] {
                        let level = level(x, n, spared, cautious);
                        assert!(level >= least && level <= x.ln_1p(), "x {x}, n {n}, {spared}: {level}");
                    }
                }
            }
        }
    }

    #[test]
    fn with_nothing_left_to_gain_nothing_is_explored() {
        assert_eq!(level(0.0, 50.0, 3.0, false), 0.0);
        assert_eq!(level(0.0, 50.0, 3.0, true), 0.0);
    }

    #[test]
    fn a_small_sample_is_judged_with_caution() {
        assert!(level(1e4, 16.0, 1.0, false) > 1.5 * level(1e4, 100.0, 1.0, false));
        assert!(level(1e4, 800.0, 1.0, false) > 1.5 * level(1e4, 100.0, 1.0, false), "and a long contest");
        assert!(level(1e4, 100.0, 100.0, false) > 1.5 * level(1e4, 100.0, 1.0, false), "and a spared arm");
    }

    /// Lemma 5: the best arm, at n to 2n recorded plays, is dropped for a leader that is worse by delta no more often than
    /// the smaller of two bounds: the evidence is that of chance, and the arm has to look worse than the leader.
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
                let mut record = Record::default();
                let mut any = false;
                for s in 1..2 * n {
                    record.add(Feedback::one(f64::from(stream.random::<f64>() < mean)));
                    let prospect = left / (arms * (record.n + burn_in));
                    let evidence = record.against(mean + delta, true);
                    any |= s >= n && evidence >= level(prospect, record.n, 0.0, false);
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
            let records: Vec<Record> = (0..4)
                .map(|_| {
                    let plays = random(32.0, 100_000.0) as u64;
                    let sum = (plays as f64 * random(0.45, 0.55)).round();
                    let mut record = Record::default();
                    record.add(Feedback { plays, sum, sum_sq: sum });
                    record
                })
                .collect();
            let board = Board {
                records: &records,
                arms: &[0, 1, 2, 3],
                bounded: true,
                plays: random(1e3, 1e7),
                horizon_known: true,
                burn_in: 2.0,
                current: Some(1),
            };
            let race = Race::new(&board, false);
            let leader = race.leader;
            let choice = choose(&board, &schedule, None, false);
            free += u64::from(choice.arm == 1);
            for arm in (0..4).filter(|&arm| arm != leader && arm != choice.arm) {
                if race.standing(arm).alive {
                    let ratio = records[choice.arm].n / records[arm].n;
                    starving += u64::from(ratio > 10.0);
                    assert!(ratio <= MOST_LEAD, "arm {} has {ratio} times the plays of arm {arm}", choice.arm);
                }
            }
        }
        assert!(free > 1000 && starving > 50, "{free} {starving}: the cases that matter are not there");
    }
}
