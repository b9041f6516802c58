//! Explorers: with many lanes, the few that play the arm of the policy's run. The others play the recommended arm.
//!
//! How many lanes are active is not told. It is estimated from the decisions between two decisions of the same lane,
//! whose mean is the number of lanes if all are equally fast.

use rand::RngExt;

use super::settings::{ExplorerCount, LaneSettings};
use crate::Stream;

/// The lanes that explore for the open run.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(super) struct Explorers {
    places: Vec<ExplorerPlace>,
    /// The mean number of decisions from one decision of a lane to its next, recent ones counting more; 0 before the
    /// first.
    spacing: f64,
    /// Plays of explorers since one of them was measured.
    pub(super) without_loss: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
struct ExplorerPlace {
    lane: u64,
    /// Its newest decision.
    newest: u64,
    /// Its measured plays in this visit.
    measured: u64,
}

/// The weight of the newest spacing in the mean.
const SPACING_WEIGHT: f64 = 1.0 / 64.0;
/// An explorer that was silent for this many times the spacing has gone.
const GONE: f64 = 8.0;
/// A cold lane is chosen with this probability, so that the choice does not follow the order in which lanes come.
const COLD_CHOICE: f64 = 0.5;

impl Explorers {
    /// Notes that a lane asks for this decision, whose last decision was `before`.
    pub(super) fn note_ask(&mut self, before: Option<u64>, decision: u64) {
        let Some(before) = before else { return };
        let spacing = (decision - before) as f64;
        let first = self.spacing == 0.0;
        self.spacing = if first { spacing } else { self.spacing + SPACING_WEIGHT * (spacing - self.spacing) };
    }

    /// An estimate of the number of lanes that are asked at present, at least 1.
    pub(super) fn active_lanes(&self) -> f64 {
        self.spacing.max(1.0)
    }

    /// The number of explorers for a run that wants this many losses. An explorer records at least as many plays as
    /// its burn-in has, otherwise most of its plays would be burn-in.
    fn most(&self, settings: &LaneSettings, wanted: u64) -> usize {
        let limit = match settings.explorers {
            // With l explorers of L lanes, burn-in costs l(M - 1) plays and the others wait n/l steps, L plays each.
            ExplorerCount::Auto => {
                (self.active_lanes() * wanted as f64 / settings.burn_in().max(1) as f64).sqrt().ceil()
            }
            ExplorerCount::AtMost(most) => f64::from(most),
        };
        let useful = wanted.div_ceil(settings.burn_in().max(1));
        (limit as u64).min(useful).max(1) as usize
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.without_loss = 0;
    }

    pub(super) fn contains(&self, lane: u64) -> bool {
        self.places.iter().any(|place| place.lane == lane)
    }

    /// Whether this lane explores now. `cold` lanes must warm up in any case and come first; the choice is random.
    pub(super) fn admit(
        &mut self,
        lane: u64,
        cold: bool,
        decision: u64,
        wanted: u64,
        settings: &LaneSettings,
        stream: &mut Stream,
    ) -> bool {
        if let Some(place) = self.places.iter_mut().position(|place| place.lane == lane) {
            if self.places[place].measured < settings.most_per_visit() || self.active_lanes() < 2.0 {
                self.places[place].newest = decision;
                return true;
            }
            self.places.swap_remove(place);
            return false;
        }
        if self.without_loss >= settings.most_without_loss() {
            return false;
        }
        let most = self.most(settings, wanted);
        if self.places.len() >= most {
            let gone = GONE * (self.active_lanes() + 1.0);
            self.places.retain(|place| ((decision - place.newest) as f64) < gone);
        }
        let Some(free) = most.checked_sub(self.places.len()).filter(|&free| free > 0) else { return false };
        let share = free as f64 / self.active_lanes();
        let chance = if cold { share.max(COLD_CHOICE) } else { share };
        if chance < 1.0 && stream.random::<f64>() >= chance {
            return false;
        }
        self.places.push(ExplorerPlace { lane, newest: decision, measured: 0 });
        true
    }

    /// Notes a play of an explorer.
    pub(super) fn note_play(&mut self, lane: u64, measured: bool) {
        if let Some(place) = self.places.iter_mut().find(|place| place.lane == lane) {
            place.measured += u64::from(measured);
            self.without_loss = if measured { 0 } else { self.without_loss.saturating_add(1) };
        }
    }

    /// The lane has lost its memory, or has left its arm.
    pub(super) fn restart_visit(&mut self, lane: u64) {
        if let Some(place) = self.places.iter_mut().find(|place| place.lane == lane) {
            place.measured = 0;
        }
    }
}
