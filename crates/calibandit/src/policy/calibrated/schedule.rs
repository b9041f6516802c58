//! The schedule: the number of plays to record of an arm, at the start and at each visit.

use crate::policy::history::{StateError, ensure};

/// The numbers of plays to record.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Schedule {
    /// Recorded plays of each arm at the start.
    first: u64,
    /// The least number of recorded plays of a visit.
    least: u64,
    /// A visit records at least this fraction of the earlier recorded plays of its arm.
    growth: f64,
}

impl Schedule {
    /// The schedule for these numbers of arms and plays, and the number of arms to try: all of them, unless the horizon
    /// is so short that measuring every arm would take more than half of it.
    pub(super) fn new(first: u64, growth: f64, arms: usize, horizon: Option<u64>, burn_in: u64) -> (Self, usize) {
        let least = LEAST.min(first);
        let Some(horizon) = horizon else {
            return (Self { first: first.max(burn_in), least, growth }, arms);
        };
        let (t, k, burn_in) = (horizon as f64, arms as f64, burn_in as f64);
        let wanted = (t / (START_SHARE * k)).clamp(least as f64, first as f64).max(burn_in).ceil();
        let fits = (t / (START_LIMIT * k) - burn_in).floor();
        let first = fits.min(wanted).max(FEWEST);
        let tried = (t / (TRIED_LIMIT * (burn_in + first))).floor().clamp(1.0, k);
        (Self { first: first as u64, least, growth }, tried as usize)
    }

    /// Adapts the first visits to one more arm and to the plays left, and returns whether measuring it takes at most
    /// half of these.
    pub(super) fn make_room(&mut self, arms: usize, left: Option<u64>, burn_in: u64) -> bool {
        let Some(left) = left else { return true };
        let (fitting, _) = Self::new(self.first, self.growth, arms, Some(left), burn_in);
        self.first = self.first.min(fitting.first);
        TRIED_LIMIT * (burn_in as f64 + self.first as f64) <= left as f64
    }

    pub(super) fn check_restored(&self, horizon: Option<u64>) -> Result<(), StateError> {
        // `u64::MAX` recorded plays would be a run without an end.
        let most = horizon.map_or(u64::MAX - 1, |horizon| horizon.max(FEWEST as u64));
        ensure((1..=most).contains(&self.first), "the length of the first visits is out of range")?;
        ensure((1..=LEAST).contains(&self.least), "the least length of a visit is out of range")?;
        ensure(is_growth(self.growth), "the growth of visits is out of range")
    }

    pub(super) fn first(&self) -> f64 {
        self.first as f64
    }

    pub(super) fn least(&self) -> f64 {
        self.least as f64
    }

    /// The least number of plays to record in a visit of an arm with `n` recorded plays: at least the burn-in, so that
    /// burn-in is at most half of the plays after the start, and at least a fraction of n, so that there are few
    /// visits.
    pub(super) fn visit(&self, n: f64, burn_in: f64) -> f64 {
        self.least().max(self.growth * n).max(burn_in)
    }

    /// The number of plays to record of the leader when no other arm is alive.
    pub(super) fn visit_leader(&self, n: f64) -> f64 {
        self.first().max(self.growth * n)
    }
}

/// Whether visits can grow by this fraction. With more than [`MOST_GROWTH`], the third visit of an arm would be longer
/// than any game.
pub(super) fn is_growth(growth: f64) -> bool {
    growth > 0.0 && growth <= MOST_GROWTH
}

/// The greatest growth of visits.
pub(super) const MOST_GROWTH: f64 = 100.0;

/// The least number of recorded plays of a visit. Chosen by experiment.
const LEAST: u64 = 8;
/// The least number of plays to record of an arm at the start; fewer carry hardly any information.
const FEWEST: f64 = 4.0;
/// The recorded plays at the start are at most one part in this many of the horizon, between `LEAST` and `first` per
/// arm. Chosen by experiment.
const START_SHARE: f64 = 128.0;
/// The start, burn-in included, takes at most one part in this many of the horizon, unless `FEWEST` requires more.
const START_LIMIT: f64 = 4.0;
/// If the start would take more than one part in this many of the horizon, fewer arms are tried.
const TRIED_LIMIT: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_start_records_32_plays_or_the_burn_in() {
        let (schedule, tried) = Schedule::new(32, 0.15, 5, Some(1_000_000), 2);
        assert_eq!((schedule.first(), tried), (32.0, 5));
        let (schedule, tried) = Schedule::new(32, 0.15, 20, Some(1_000_000), 39);
        assert_eq!((schedule.first(), tried), (39.0, 20), "at least as much as the burn-in");
        let (schedule, tried) = Schedule::new(32, 0.15, 20, None, 1);
        assert_eq!((schedule.first(), tried), (32.0, 20));
    }

    #[test]
    fn a_short_horizon_records_fewer_plays_of_fewer_arms() {
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
