//! The schedule: how much to record of an arm, at the start and at each visit.

/// How much to record.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Schedule {
    /// Recorded plays of each arm at the start.
    first: u64,
    /// The least number of recorded plays of a visit.
    least: u64,
    /// A visit records at least this part of what the arm had before.
    growth: f64,
}

impl Schedule {
    /// The schedule for this many arms and plays, and how many arms can be tried at all: where the horizon is so short
    /// that measuring every arm would take half of it, a part of them must do.
    pub(super) fn new(first: u64, growth: f64, arms: usize, horizon: Option<u64>, burn_in: u64) -> (Self, usize) {
        let least = LEAST.min(first);
        let Some(horizon) = horizon else {
            return (Self { first: first.max(burn_in), least, growth }, arms);
        };
        let (t, k, warm) = (horizon as f64, arms as f64, burn_in as f64);
        let few = (t / (128.0 * k)).clamp(least as f64, first as f64).max(warm).ceil();
        let first = (t / (4.0 * k) - warm).floor().min(few).max(FEWEST);
        let tried = (t / (2.0 * (warm + first))).floor().clamp(1.0, k);
        (Self { first: first as u64, least, growth }, tried as usize)
    }

    pub(super) fn first(&self) -> f64 {
        self.first as f64
    }

    pub(super) fn least(&self) -> f64 {
        self.least as f64
    }

    /// The least a visit records of an arm that had `n` before: as much as its burn-in at least, so that burn-in is never
    /// more than half of what is played after the start, and enough that visits are few.
    pub(super) fn visit(&self, n: f64, burn_in: f64) -> f64 {
        self.least().max(self.growth * n).max(burn_in)
    }

    /// How much to record of the leader when nobody challenges it.
    pub(super) fn visit_leader(&self, n: f64) -> f64 {
        self.first().max(self.growth * n)
    }
}

/// The least number of recorded plays of a visit.
const LEAST: u64 = 8;
/// Fewer than this many plays say nothing at all.
const FEWEST: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_start() {
        let (schedule, tried) = Schedule::new(32, 0.15, 5, Some(1_000_000), 2);
        assert_eq!((schedule.first(), tried), (32.0, 5));
        let (schedule, tried) = Schedule::new(32, 0.15, 20, Some(1_000_000), 39);
        assert_eq!((schedule.first(), tried), (39.0, 20), "at least as much as the burn-in");
        let (schedule, tried) = Schedule::new(32, 0.15, 20, None, 1);
        assert_eq!((schedule.first(), tried), (32.0, 20));
    }

    #[test]
    fn a_short_horizon_tries_less_and_fewer() {
        let (schedule, tried) = Schedule::new(32, 0.15, 20, Some(10_000), 1);
        assert_eq!((schedule.first(), tried), (8.0, 20));
        let (schedule, tried) = Schedule::new(32, 0.15, 200, Some(10_000), 200);
        assert_eq!(schedule.first(), 4.0);
        assert_eq!(tried, 24, "half the horizon for the start: 10000 / 2 / 204");
        for horizon in 1..200 {
            let (schedule, tried) = Schedule::new(32, 0.15, 7, Some(horizon), 3);
            assert!(schedule.first() >= 1.0 && (1..=7).contains(&tried));
        }
    }

    #[test]
    fn visits_grow_geometrically() {
        let (schedule, _) = Schedule::new(32, 0.15, 5, Some(1_000_000), 2);
        assert_eq!(schedule.visit(10.0, 2.0), 8.0);
        assert_eq!(schedule.visit(10.0, 30.0), 30.0);
        assert_eq!(schedule.visit(1000.0, 2.0), 150.0);
    }
}
