//! The plan: with many lanes, how many of them play which arm. The others play the recommended arm.
//!
//! The plan follows the [forecast](super::forecast) of the policy's runs: an arm of which the policy would ask for a
//! fraction of its losses gets that fraction of the lanes. While arms are measured for the first time, nobody knows
//! which arm is the best, and all lanes measure.

use rand::RngExt;

use super::forecast::Forecast;
use super::settings::{ExplorerCount, LaneFiller};
use super::{LaneAdvisor, LaneBooks};
use crate::Policy;
#[cfg(feature = "serde")]
use crate::policy::history::{StateError, ensure};

/// How many lanes explore which arm.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct LanePlan {
    /// The arms to explore, in their order.
    needs: Vec<LaneNeed>,
    /// The places of these arms in `needs`, those that the policy asks for first coming first.
    order: Vec<usize>,
    /// The first of them that may lack lanes.
    next: usize,
    /// When it was made: the next decision, the number of runs and the number of active lanes then.
    made_at: Option<(u64, u64, f64)>,
    /// Whether arms are measured for the first time.
    opening: bool,
    /// Plays of explorers of the run's arm since one of them was measured.
    pub(super) without_loss: u64,
}

/// What an arm to explore needs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct LaneNeed {
    arm: usize,
    /// The number of lanes.
    lanes: u64,
    /// The losses that the bank should have.
    losses: u64,
}

/// A warm lane leaves the recommended arm with this many times the probability that would fill the places in one round.
const EAGERNESS: f64 = 3.0;
/// A cold lane is chosen with this probability, so that the choice does not follow the order in which lanes come.
const COLD_CHOICE: f64 = 0.5;
/// A visit of an arm takes at least this many losses, in one run or in several.
const VISIT: u64 = 8;
/// What a play of the recommended arm costs because it may be the wrong one, beside the cost of a play of the burn-in.
const WRONG_LEADER: f64 = 0.25;
/// A plan covers this many measured plays of every lane after its burn-in, at least.
const LEAST_STEPS: u64 = 4;
/// A new plan is made at most once in this fraction of the active lanes, and of the arms.
const LANES_PER_PLAN: f64 = 16.0;
const ARMS_PER_PLAN: u64 = 16;
/// If the number of active lanes changes by this factor, there is a new plan.
const LANES_CHANGED: f64 = 1.25;

impl LanePlan {
    #[cfg(feature = "serde")]
    pub(super) fn check_restored(&self, arms: usize, next: u64) -> Result<(), StateError> {
        let sorted = self.needs.is_sorted_by(|a, b| a.arm < b.arm) && self.needs.iter().all(|need| need.arm < arms);
        ensure(sorted, "the arms of the plan are not in order")?;
        let mut order = self.order.clone();
        order.sort_unstable();
        let whole = order.len() == self.needs.len() && order.iter().enumerate().all(|(place, &other)| place == other);
        ensure(whole && self.next <= order.len(), "the order of the plan does not fit its arms")?;
        let made = |(decision, _, lanes): (u64, u64, f64)| decision <= next && lanes >= 1.0 && lanes.is_finite();
        ensure(self.made_at.is_none_or(made), "the plan is of the future")
    }

    /// The arms that lanes should play.
    #[cfg(feature = "serde")]
    pub(super) fn arms(&self) -> impl Iterator<Item = usize> + '_ {
        self.needs.iter().map(|need| need.arm)
    }

    /// The next ask makes a new plan.
    pub(super) fn renew(&mut self) {
        *self = Self { without_loss: self.without_loss, ..Self::default() };
    }

    fn need(&self, arm: usize) -> Option<&LaneNeed> {
        self.needs.binary_search_by_key(&arm, |need| need.arm).ok().map(|place| &self.needs[place])
    }
}

impl<P: Policy> LaneAdvisor<P> {
    /// Makes a new plan if the old one no longer fits.
    pub(super) fn plan(&mut self) {
        let books = &self.books;
        if !books.is_plan_due() {
            return;
        }
        let lanes = books.presence.active_lanes();
        let window = books.plan_steps().saturating_mul(lanes as u64);
        let forecast = self.fork.copy(&self.policy).and_then(|policy| books.forecast(policy, window, lanes as usize));
        self.books.set_plan(forecast, window);
    }
}

impl LaneBooks {
    fn is_plan_due(&self) -> bool {
        let Some((decision, runs, lanes)) = self.plan.made_at else { return true };
        let active = self.presence.active_lanes();
        let changed = active > lanes * LANES_CHANGED || active * LANES_CHANGED < lanes;
        let age = self.next - decision;
        let pause = ((active / LANES_PER_PLAN) as u64).max(self.banks.len() as u64 / ARMS_PER_PLAN);
        (changed || runs != self.runs || age as f64 >= active * self.plan_steps() as f64) && age >= pause
    }

    /// The number of plays of each lane that a plan covers.
    fn plan_steps(&self) -> u64 {
        let burn_in = self.settings.burn_in();
        burn_in.saturating_add(burn_in.max(LEAST_STEPS))
    }

    fn set_plan(&mut self, forecast: Option<Forecast>, window: u64) {
        let made_at = Some((self.next, self.runs, self.presence.active_lanes()));
        let mut plan = LanePlan { made_at, without_loss: self.plan.without_loss, ..LanePlan::default() };
        let Some(forecast) = forecast else {
            self.plan = plan;
            return;
        };
        plan.opening = forecast.opening;
        // A forecast that was cut is taken for the share of each arm.
        let whole = (window as f64 / forecast.losses.max(1) as f64).max(1.0);
        let whole = if plan.opening { 1.0 } else { whole };
        let mut left = match self.settings.explorers {
            ExplorerCount::Auto => u64::MAX,
            ExplorerCount::AtMost(most) => u64::from(most),
        };
        for (arm, losses) in forecast.demands {
            let lacks = losses.saturating_sub(self.banks[arm].len());
            if lacks == 0 || arm == self.leader && !plan.opening {
                continue;
            }
            let share = (lacks as f64 * whole / self.plan_steps() as f64).ceil() as u64;
            let lanes = share.min(left);
            left -= lanes;
            if lanes > 0 {
                plan.needs.push(LaneNeed { arm, lanes, losses: (losses as f64 * whole) as u64 });
            }
        }
        plan.order = (0..plan.needs.len()).collect();
        plan.order.sort_by_key(|&place| plan.needs[place].arm);
        let sorted: Vec<LaneNeed> = plan.order.iter().map(|&place| plan.needs[place]).collect();
        let mut places = vec![0; sorted.len()];
        plan.order.iter().enumerate().for_each(|(to, &from)| places[from] = to);
        (plan.needs, plan.order) = (sorted, places);
        self.plan = plan;
    }

    /// The number of lanes that should play this arm.
    fn need(&self, arm: usize) -> u64 {
        let banked = self.banks[arm].len();
        let planned = self.plan.need(arm).map_or(0, |need| if banked < need.losses { need.lanes } else { 0 });
        match &self.run {
            Some(open) if open.run.arm == arm && arm != self.leader => planned.max(self.run_need()),
            _ => planned,
        }
    }

    /// The number of lanes that the open run needs whatever the plan says. The policy learns nothing before it is over:
    /// l explorers of L lanes burn in for l·B plays, and the others wait n/l steps, L plays each. A visit of an arm has
    /// many short runs, so that n is a part of the losses that were measured.
    fn run_need(&self) -> u64 {
        let Some(open) = self.run.as_ref().filter(|_| self.wanted() > 0) else { return 0 };
        let losses = self.wanted().max(self.known(open.run.arm).plays / 16).max(VISIT) as f64;
        let balance = self.presence.active_lanes() * losses * WRONG_LEADER / self.settings.burn_in().max(1) as f64;
        let lanes = balance.sqrt().min(losses).ceil() as u64;
        match self.settings.explorers {
            ExplorerCount::Auto => lanes,
            ExplorerCount::AtMost(most) => lanes.min(u64::from(most)),
        }
    }

    /// The most losses that a lane measures in one visit of this arm.
    fn most_per_visit(&self, arm: usize) -> u64 {
        let least = self.settings.burn_in().saturating_mul(4).max(16);
        self.settings.visit_cap.unwrap_or_else(|| least.max(self.known(arm).plays / 4))
    }

    /// The arm of a lane, if there are many.
    pub(super) fn assign(&mut self, lane: u64) -> usize {
        let known = self.lanes.get(&lane);
        let present = known.and_then(|lane| lane.streak().arm()).filter(|arm| !self.retired.contains(arm));
        let run = self.run.as_ref().map(|open| open.run.arm);
        if let Some(arm) = run.filter(|&arm| self.presence.on(arm) == 0 && self.wanted() > 0 && !self.is_starved()) {
            return arm;
        }
        if self.plan.opening {
            return self.open_arm(present);
        }
        if let (Some(arm), Some(known)) = (present.filter(|&arm| arm != self.leader), known) {
            let in_a_row = known.streak().before(arm);
            let ended = in_a_row >= self.settings.burn_in().saturating_add(self.most_per_visit(arm));
            if self.presence.on(arm) < self.need(arm) && (!ended || self.presence.active_lanes() < 2.0) {
                return arm;
            }
            let in_run = self.run.as_ref().is_some_and(|open| open.run.arm == arm);
            let waits = self.settings.filler != LaneFiller::Leader || self.wanted() > 0;
            if in_run && waits && !ended {
                return arm;
            }
        }
        let Some(arm) = self.lacking(present) else { return self.leader };
        let lacks = self.need(arm).saturating_sub(self.presence.on(arm)) as f64;
        let share = EAGERNESS * lacks / self.presence.active_lanes();
        let chance = if present == Some(self.leader) { share } else { share.max(COLD_CHOICE) };
        if chance < 1.0 && self.stream.random::<f64>() >= chance { self.leader } else { arm }
    }

    /// The arm of a lane while arms are measured for the first time: the same as before if it lacks losses, otherwise
    /// the one with the fewest lanes of those that lack some.
    fn open_arm(&self, present: Option<usize>) -> usize {
        let open = self.run.as_ref().expect("a run was opened before a play is chosen");
        let lacks = |need: &LaneNeed| match need.arm == open.run.arm {
            true => self.wanted(),
            false => need.losses.saturating_sub(self.banks[need.arm].len()),
        };
        if let Some(need) = present.and_then(|arm| self.plan.need(arm))
            && lacks(need) > 0
        {
            return need.arm;
        }
        if let ExplorerCount::AtMost(most) = self.settings.explorers
            && self.presence.off(self.leader) >= u64::from(most)
        {
            return self.leader;
        }
        let places = self.plan.order.iter().map(|&place| &self.plan.needs[place]);
        let fewest = places.filter(|need| lacks(need) > 0).min_by_key(|need| self.presence.on(need.arm));
        // A lane that would have warmed up when the others are done stays where it is.
        let useful = |need: &&LaneNeed| {
            lacks(need) > self.presence.on(need.arm).saturating_mul(self.settings.burn_in()) || present.is_none()
        };
        fewest.filter(useful).map(|need| need.arm).or(present).unwrap_or(self.leader)
    }

    pub(super) fn is_starved(&self) -> bool {
        self.plan.without_loss >= self.settings.most_without_loss()
    }

    /// An arm that lacks lanes: that of the run, or the first of the plan.
    fn lacking(&mut self, except: Option<usize>) -> Option<usize> {
        let lacks = |books: &Self, arm: usize| books.presence.on(arm) < books.need(arm) && except != Some(arm);
        let run = self.run.as_ref().map(|open| open.run.arm);
        let starved = self.is_starved();
        if let Some(arm) = run.filter(|&arm| arm != self.leader && !starved && lacks(self, arm)) {
            return Some(arm);
        }
        while let Some(&place) = self.plan.order.get(self.plan.next) {
            let arm = self.plan.needs[place].arm;
            if lacks(self, arm) && !(starved && run == Some(arm)) {
                return Some(arm);
            }
            self.plan.next += 1;
        }
        None
    }
}
