//! All measurements of one `cargo xtask bench`: every table takes its numbers from here.

use std::collections::BTreeMap;

use super::implementations::Implementation;
use super::{Measurement, Workload};

/// How often each workload is run; the least time counts.
const TRIES: u32 = 15;

/// Everything that was measured; each workload is run once per implementation.
#[derive(Default)]
pub(super) struct Measurements {
    known: Vec<(Implementation, Workload, Measurement)>,
}

impl Measurements {
    pub(super) fn measure(&mut self, implementation: Implementation, workload: Workload) -> Option<Measurement> {
        let known = self.known.iter().find(|(i, w, _)| (*i, *w) == (implementation, workload));
        if let Some((_, _, measurement)) = known {
            return Some(*measurement);
        }
        let tries = if implementation.is_slow() { 1 } else { TRIES };
        let measurement = implementation.run(&workload, tries)?;
        self.known.push((implementation, workload, measurement));
        Some(measurement)
    }

    /// CPU time in ns per play.
    pub(super) fn cost(&mut self, implementation: Implementation, workload: Workload) -> Option<f64> {
        Some(self.measure(implementation, workload)?.seconds * 1e9 / workload.plays())
    }

    /// Measurements of the same policy on the same game by several implementations, for any number of instances.
    fn by_work(&self) -> BTreeMap<String, Vec<(Implementation, Measurement)>> {
        let mut by_work: BTreeMap<String, Vec<(Implementation, Measurement)>> = BTreeMap::new();
        for (implementation, workload, measurement) in self.known.iter().filter(|(_, w, _)| w.instances > 1) {
            let Workload { policy, arms, memory, horizon, .. } = workload;
            let memory = if *memory == 0 { "rested".to_string() } else { format!("m = {memory}") };
            let group = by_work.entry(format!("{policy}, K = {arms}, {memory}, T = {horizon}")).or_default();
            // Of several measurements of one implementation, the one with the most instances is used.
            match group.iter_mut().find(|(other, _)| other == implementation) {
                Some((_, known)) if known.instances >= measurement.instances => {}
                Some((_, known)) => *known = *measurement,
                None => group.push((*implementation, *measurement)),
            }
        }
        by_work.retain(|_, group| group.len() > 1);
        by_work
    }

    /// Pairs of implementations whose mean losses on the same work differ by more than chance.
    pub(super) fn disagreements(&self) -> Vec<String> {
        let shown = |(implementation, of): &(Implementation, Measurement)| {
            format!("{} {:.1} ± {:.1}", implementation.name(), of.mean, of.error)
        };
        let mut found = Vec::new();
        for (work, group) in self.by_work() {
            for (position, one) in group.iter().enumerate() {
                for other in group[..position].iter().filter(|other| !one.1.agrees_with(&other.1)) {
                    found.push(format!("{work}: {}, {}", shown(one), shown(other)));
                }
            }
        }
        found
    }

    /// The mean losses of all implementations on the same work, as a table.
    pub(super) fn agreement(&self) -> String {
        let mut table =
            String::from("| work | mean loss in excess of the calibrated best arm ± standard error |\n|---|---|\n");
        for (work, group) in self.by_work() {
            let shown = |(implementation, of): &(Implementation, Measurement)| {
                format!("{} {:.0} ± {:.0}", implementation.name(), of.mean, of.error)
            };
            let all: Vec<String> = group.iter().map(shown).collect();
            table += &format!("| {work} | {} |\n", all.join(", "));
        }
        table
    }
}
