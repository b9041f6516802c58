//! The forecast: which runs a policy would ask for next, if losses stayed as they were.
//!
//! A policy asks for one run at a time. With many lanes, a run that is measured while all other lanes wait costs as
//! many plays as there are lanes. So a copy of the policy is told imagined losses, the present means, and what it asks
//! for is measured in advance and in parallel. The bank keeps these losses until the policy itself asks for them. The
//! forecast depends on losses that were handed over to the policy, never on those that were not.

use super::LaneBooks;
use crate::{Feedback, Policy, Run};

/// A forecast has at most this many runs.
const MOST_RUNS: usize = 1024;

/// Longer runs are not followed: they have no end, or will not reach it.
const MOST_RECORD: u64 = 1 << 40;

/// What a policy would ask for next.
pub(super) struct Forecast {
    /// The arms in the order in which they are asked for, and the losses asked for.
    pub(super) demands: Vec<(usize, u64)>,
    /// Whether these are first measurements: nothing is known of the arms.
    pub(super) opening: bool,
    /// The losses asked for in all that the bank does not have.
    pub(super) losses: u64,
}

impl LaneBooks {
    /// What the policy would ask for in the next `window` losses. While arms are measured for the first time, it looks
    /// ahead to as many arms as there are lanes.
    pub(super) fn forecast<P: Policy>(&self, mut policy: P, window: u64, lanes: usize) -> Option<Forecast> {
        let open = self.run.as_ref().filter(|open| !open.is_endless())?;
        let opening = self.known(open.run.arm).plays == 0;
        let mut forecast = Forecast { demands: Vec::new(), opening, losses: 0 };
        let (mut run, mut got) = (open.run, open.total());
        let usual = self.usual_losses();
        for _ in 0..MOST_RUNS {
            let is_new = self.known(run.arm).plays == 0;
            let last = forecast.demands.last().map(|&(arm, losses)| (arm == run.arm, losses));
            let known = forecast.demands.iter_mut().find(|(arm, _)| *arm == run.arm);
            // The first measurements end with the first run of an arm that has been asked for before, or is measured.
            let again = last.is_some_and(|(same, losses)| known.is_some() && !(same && losses < window));
            if run.record > MOST_RECORD || opening && (again || !is_new && known.is_none()) {
                break;
            }
            let rest = run.record - got.plays;
            let before = known.as_ref().map_or(0, |(_, losses)| *losses);
            match known {
                Some((_, losses)) => *losses = losses.saturating_add(rest),
                None => forecast.demands.push((run.arm, rest)),
            }
            // Losses that the bank has cost no plays.
            let lacks = |losses: u64| losses.saturating_sub(self.banks[run.arm].len());
            let more = lacks(before.saturating_add(rest)) - lacks(before);
            forecast.losses = forecast.losses.saturating_add(more);
            let enough = if opening { forecast.demands.len() >= lanes } else { forecast.losses >= window };
            if enough {
                break;
            }
            got += self.imagine(run.arm, rest, &usual);
            policy.observe(run, got);
            run = policy.next_run();
            got = Feedback::default();
            if run.record == 0 || run.arm >= self.banks.len() {
                break;
            }
        }
        Some(forecast)
    }

    /// This many losses like the past ones of an arm, or like the `usual` ones if there are none.
    fn imagine(&self, arm: usize, plays: u64, usual: &Feedback) -> Feedback {
        let known = self.known(arm);
        let past = if known.plays > 0 { &known } else { usual };
        let scale = plays as f64 / past.plays as f64;
        Feedback { plays, sum: past.sum * scale, sum_sq: past.sum_sq * scale }
    }

    /// The losses of all arms, or one from the middle of the range if there are none.
    fn usual_losses(&self) -> Feedback {
        let all = self.taken.iter().chain(&self.past).fold(Feedback::default(), |mut all, losses| {
            all += *losses;
            all
        });
        if all.plays > 0 {
            return all;
        }
        let (low, high) = (self.range.low(), self.range.high());
        match self.range.is_unbounded() {
            true => Feedback { plays: 2, sum: 0.0, sum_sq: 2.0 },
            false => Feedback { plays: 2, sum: low + high, sum_sq: low * low + high * high },
        }
    }
}

/// Whether a run can be given out by lanes.
pub(super) fn is_playable(run: Run, arms: usize, keeps_runs: bool) -> bool {
    run.arm < arms && run.plays() > 0 && (run.record > 0 || keeps_runs)
}
