//! What was measured: every table takes its numbers from here.

use std::collections::BTreeMap;

use super::contestants::Contestant;
use super::{Measured, Workload};

/// How often everything is tried; the least time counts.
const TRIES: u32 = 15;

/// Everything that was measured, each once.
#[derive(Default)]
pub(super) struct Arena {
    measured: Vec<(Contestant, Workload, Measured)>,
}

impl Arena {
    pub(super) fn play(&mut self, contestant: Contestant, workload: Workload) -> Option<Measured> {
        let known = self.measured.iter().find(|(who, what, _)| (*who, *what) == (contestant, workload));
        if let Some((_, _, measured)) = known {
            return Some(*measured);
        }
        let tries = if contestant.is_slow() { 1 } else { TRIES };
        let measured = contestant.play(&workload, tries)?;
        self.measured.push((contestant, workload, measured));
        Some(measured)
    }

    /// Nanoseconds a play.
    pub(super) fn cost(&mut self, contestant: Contestant, workload: Workload) -> Option<f64> {
        Some(self.play(contestant, workload)?.seconds * 1e9 / workload.plays())
    }

    /// What was measured of the same policy on the same game by several contestants, whatever the number of instances.
    fn by_work(&self) -> BTreeMap<String, Vec<(Contestant, Measured)>> {
        let mut by_work: BTreeMap<String, Vec<(Contestant, Measured)>> = BTreeMap::new();
        for (who, what, measured) in self.measured.iter().filter(|(_, what, _)| what.instances > 1) {
            let work = format!("{}, K = {}, m = {}, T = {}", what.policy, what.arms, what.memory, what.horizon);
            let players = by_work.entry(work).or_default();
            // The one with the most instances speaks for a contestant.
            match players.iter_mut().find(|(player, _)| player == who) {
                Some((_, known)) if known.instances >= measured.instances => {}
                Some((_, known)) => *known = *measured,
                None => players.push((*who, *measured)),
            }
        }
        by_work.retain(|_, players| players.len() > 1);
        by_work
    }

    /// Pairs of contestants whose mean losses on the same work differ by more than chance.
    pub(super) fn disagreements(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (work, players) in self.by_work() {
            for (i, (who, one)) in players.iter().enumerate() {
                for (whom, other) in players[..i].iter().filter(|(_, other)| !one.agrees_with(other)) {
                    let [who, whom] = [who.name(), whom.name()];
                    let [one, other] = [one, other].map(|of| format!("{:.1} ± {:.1}", of.mean, of.error));
                    found.push(format!("{work}: {who} {one}, {whom} {other}"));
                }
            }
        }
        found
    }

    /// The mean losses of all, side by side.
    pub(super) fn agreement(&self) -> String {
        let mut table =
            String::from("| work | mean loss in excess of the calibrated best arm ± standard error |\n|---|---|\n");
        for (work, players) in self.by_work() {
            let of = |(who, of): &(Contestant, Measured)| format!("{} {:.0} ± {:.0}", who.name(), of.mean, of.error);
            let all: Vec<String> = players.iter().map(of).collect();
            table += &format!("| {work} | {} |\n", all.join(", "));
        }
        table
    }
}
