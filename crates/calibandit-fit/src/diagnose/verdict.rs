//! From what was found to what is said: the memory bound, the notes, the pilot.

use calibandit::PilotDesign;

use super::cluster::ClusteredMean;
use super::diagnosis::{
    ArmDiagnosis, Clusters, Diagnosis, Estimate, Note, NoteKind, ReoDiagnosis, ReoVerdict, Stopped, SuggestedPilot,
    TallyingDiagnosis, Why,
};
use super::game::{ArmCurve, LossSummary};
use super::log::Log;
use super::reo::plays_text;
use super::runs::RunsByArm;
use super::{ArmAnalysis, DiagnoseOptions, Starts};

/// An arm with fewer runs says nothing about tallying.
const LEAST_RUNS: usize = 20;

/// Arms that never rest and then play this many times in a row say nothing about tallying either.
const LEAST_SWITCHED: u32 = 3;

/// Below this p-value a tallying model does not fit.
const BAD_FIT: f64 = 0.01;

/// Everything that was found.
pub(super) struct Findings<'a> {
    pub(super) log: &'a Log,
    pub(super) options: &'a DiagnoseOptions,
    pub(super) tolerance: f64,
    pub(super) clusters: Clusters,
    pub(super) arms: &'a [ArmAnalysis],
    pub(super) runs: &'a RunsByArm,
    /// The number of time blocks whose effects were removed.
    pub(super) blocks: usize,
    pub(super) tallying: Option<TallyingDiagnosis>,
    /// The curves of the tallying model with unit weights.
    pub(super) tally_curves: Option<Vec<ArmCurve>>,
    pub(super) reo: ReoDiagnosis,
}

impl Findings<'_> {
    pub(super) fn diagnosis(mut self) -> Diagnosis {
        let reach = self.arms.iter().map(|arm| arm.reach).min().unwrap_or(0);
        let mut uppers = self.arms.iter().map(|arm| arm.settled.upper);
        let bound = uppers.try_fold(1, |most, upper| upper.map(|upper| most.max(upper)));
        let (memory_bound, why) = self.verdict(reach, bound);
        let mut notes = Vec::new();
        self.order_notes(&mut notes);
        self.confounding(&mut notes);
        self.reach_notes(reach, bound, &mut notes);
        self.arm_notes(&mut notes);
        self.drift_notes(&mut notes);
        self.tallying_notes(&mut notes);
        self.row_notes(&mut notes);
        let arms = self.arm_diagnoses();
        let curves = self.curves(&arms, bound);
        Diagnosis {
            memory_bound,
            why,
            conditional_bound: bound,
            reach,
            longest: self.options.longest,
            tolerance: self.tolerance,
            confidence: self.options.confidence,
            plays: self.log.plays() as u64,
            missing: self.log.missing() as u64,
            units: self.log.units,
            clusters: self.clusters,
            arms,
            pilot: if memory_bound.is_none() { self.pilot() } else { None },
            reo: self.reo,
            tallying: self.tallying,
            notes,
            losses: LossSummary::of(self.log.finite_losses()),
            curves,
        }
    }

    fn verdict(&self, reach: u32, bound: Option<u32>) -> (Option<u32>, Why) {
        match (self.options.longest, bound) {
            (Some(longest), _) if reach < longest => (None, Why::Reach),
            (Some(_), Some(bound)) => (Some(bound), Why::Settled),
            (None, Some(_)) => (None, Why::NoLongest),
            (_, None) => {
                let changes =
                    |arm: &ArmAnalysis| arm.settled.upper.is_none() && arm.settled.stopped == Stopped::Changes;
                (None, if self.arms.iter().any(changes) { Why::Changes } else { Why::TooFewPlays })
            }
        }
    }

    fn arm_diagnoses(&self) -> Vec<ArmDiagnosis> {
        let named = self.log.names.iter().zip(&self.runs.runs).zip(self.arms);
        named
            .map(|((name, runs), arm)| ArmDiagnosis {
                name: name.clone(),
                plays: runs.iter().map(|run| u64::from(run.plays)).sum(),
                runs: runs.len() as u64,
                sd: arm.sd,
                reach: arm.reach,
                settled: arm.settled,
                eventual: arm.eventual.map(|mean| self.interval(mean)),
                curve: arm.curve.clone(),
                forgetting: arm.forgetting.clone(),
                fatigue: arm.fatigue,
            })
            .collect()
    }

    /// The curves of the fitted game: by tally where a tallying model fits, otherwise by position after a rest.
    /// They end at the bound, if there is one, up to the tolerance.
    fn curves(&self, arms: &[ArmDiagnosis], bound: Option<u32>) -> Vec<Option<ArmCurve>> {
        // Where nothing was compared and the set has no upper end, a curve would be no more than a guess.
        let seen = self.arms.iter().all(|arm| arm.reach > 1);
        let ended = self.tallying.as_ref().is_some_and(|found| found.set.1.is_some());
        let by_tally = (seen || ended) && self.tallying_fits();
        let confidence = self.options.confidence;
        let by_position = arms.iter().map(|arm| ArmCurve::of_positions(arm, confidence));
        let shortened = |curve: ArmCurve| match bound {
            Some(bound) => curve.settled_from(bound, self.tolerance),
            None => curve,
        };
        match (&self.tally_curves, by_tally) {
            (Some(curves), true) => curves.iter().cloned().map(|curve| Some(shortened(curve))).collect(),
            _ => by_position.map(|curve| curve.map(shortened)).collect(),
        }
    }

    fn tallying_fits(&self) -> bool {
        self.tallying.as_ref().is_some_and(|found| found.fit.is_none_or(|p| p >= BAD_FIT))
    }

    fn interval(&self, mean: ClusteredMean) -> Estimate {
        let margin = mean.margin(1.0 - (1.0 - self.options.confidence) / 2.0);
        Estimate { mean: mean.value, low: mean.value - margin, high: mean.value + margin }
    }

    /// Whether the order jumps so often that it seems to be something else than the number of the play.
    fn hardly_in_order(&self) -> bool {
        2 * self.log.jumps >= self.log.plays() as u64
    }

    /// What makes a log useless for the question, whatever its losses are.
    fn order_notes(&self, notes: &mut Vec<Note>) {
        if self.hardly_in_order() {
            let text = format!(
                "the order jumps at {} of {} plays, so there are hardly any plays in a row. If it is a time, or counts \
                 other things too, and no play is missing, then sort the rows by it and leave `--order` (Python: \
                 `order=`) out",
                self.log.jumps,
                self.log.plays()
            );
            notes.push(Note { kind: NoteKind::Rows, text });
        }
        if self.log.names.len() == 1 && self.log.segments.len() < 2 {
            let text = "the only arm never rests, so nothing shows how it warms up; with one arm there is nothing to \
                        choose either";
            notes.push(Note { kind: NoteKind::TooFewPlays, text: text.to_string() });
        }
    }

    fn confounding(&self, notes: &mut Vec<Note>) {
        let plays = self.log.plays() as f64;
        if self.log.units > 1 && self.runs.plays_from_start as f64 >= 0.9 * plays {
            let text = "nearly every run begins with its unit, so the play in a row and the time in the unit cannot be \
                        told apart: what looks like memory may be time. Restarts at other times would tell, or units \
                        at different stages at the same time";
            notes.push(Note { kind: NoteKind::Confounded, text: text.to_string() });
        }
    }

    fn reach_notes(&self, reach: u32, bound: Option<u32>, notes: &mut Vec<Note>) {
        let mut add = |text| notes.push(Note { kind: NoteKind::Reach, text });
        let shortest = self.arms.iter().zip(&self.log.names).min_by_key(|(arm, _)| arm.reach);
        let arm = shortest.map_or("", |(_, name)| name);
        match (self.options.longest, bound) {
            (Some(longest), _) if reach < longest => add(format!(
                "this log can speak of memories up to {reach} plays (arm `{arm}`), and {longest} are considered \
                 possible: no M"
            )),
            (None, Some(bound)) => add(format!(
                "M is at most {bound}, if no arm remembers more than {reach} plays; say how long a memory is possible \
                 with `--longest` (Python: `longest=`)"
            )),
            _ => {}
        }
    }

    fn arm_notes(&self, notes: &mut Vec<Note>) {
        for (arm, name) in self.arms.iter().zip(&self.log.names) {
            if arm.reach == 0 {
                let text = format!(
                    "arm `{name}` has too few plays: a comparison needs about {:.0}, because its losses vary by {:.3} \
                     and differences of {:.3} matter",
                    arm.enough.reaching, arm.sd, self.tolerance
                );
                notes.push(Note { kind: NoteKind::TooFewPlays, text });
            } else if arm.settled.upper.is_none() && arm.settled.stopped == Stopped::Changes {
                let text = format!("arm `{name}` still changes at play {} in a row: longer runs are needed", arm.reach);
                notes.push(Note { kind: NoteKind::Changes, text });
            } else if arm.settled.upper.is_none() {
                let text = format!("arm `{name}` has too few plays after a rest for a decision");
                notes.push(Note { kind: NoteKind::TooFewPlays, text });
            }
            if let Some(fatigue) = arm.fatigue {
                let text = format!(
                    "arm `{name}` is better at {} after a rest than eventually, by {:.3}",
                    plays_text(fatigue.first, fatigue.last),
                    fatigue.drop
                );
                notes.push(Note { kind: NoteKind::Fatigue, text });
            }
        }
    }

    fn drift_notes(&self, notes: &mut Vec<Note>) {
        let largest = self.arms.iter().filter_map(|arm| arm.drift).fold(0.0, f64::max);
        if largest > 0.0 && !self.options.drifting {
            let text = format!(
                "losses change with time by up to {largest:.3}: eventual losses are averages over the log, and the \
                 verdicts may be wrong; see `--drifting` (Python: `drifting=True`)"
            );
            notes.push(Note { kind: NoteKind::Drift, text });
        } else if largest > 0.0 {
            let text = format!(
                "after changes that all arms share were removed in {} blocks of time, losses still change by up to \
                 {largest:.3}: arms drift on their own",
                self.blocks
            );
            notes.push(Note { kind: NoteKind::Drift, text });
        } else if self.options.drifting && self.blocks == 1 {
            let text = "the log has too few runs to remove changes with time: nothing was removed".to_string();
            notes.push(Note { kind: NoteKind::Drift, text });
        }
    }

    /// Drops the tallying set where it means nothing, and says why.
    fn tallying_notes(&mut self, notes: &mut Vec<Note>) {
        let few = self.runs.runs.iter().zip(&self.log.names).find(|(runs, _)| runs.len() < LEAST_RUNS);
        let switched = self.arms.iter().map(|arm| arm.switched).min().unwrap_or(0);
        let reason = if switched < LEAST_SWITCHED {
            Some("some arm is hardly ever played several times in a row after a rest".to_string())
        } else if let Some((runs, name)) = few {
            Some(format!("arm `{name}` has {} runs, fewer than {LEAST_RUNS}", runs.len()))
        } else if self.arms.iter().any(|arm| arm.fatigue.is_some()) || self.reo.verdict == ReoVerdict::Violated {
            Some("some arm gets worse with its plays, so its curve is not monotone".to_string())
        } else if self.arms.iter().any(|arm| arm.drift.is_some()) {
            Some("losses change with time".to_string())
        } else {
            None
        };
        if let Some(reason) = reason {
            self.tallying = None;
            notes.push(Note { kind: NoteKind::Tallying, text: format!("no tallying set: {reason}") });
        }
        let Some(found) = &self.tallying else { return };
        if !self.tallying_fits() {
            let text = format!(
                "a tallying model with {} weights fits badly (p = {:.1e}): its set may be wrong",
                found.kernel.name(),
                found.fit.unwrap_or(0.0)
            );
            notes.push(Note { kind: NoteKind::Tallying, text });
        }
        if found.dispersion > 1.5 {
            let text = format!(
                "losses of one run are alike: their means vary {:.1} times as much as those of independent losses, and \
                 all intervals allow for it",
                found.dispersion.sqrt()
            );
            notes.push(Note { kind: NoteKind::Clustered, text });
        }
    }

    fn row_notes(&self, notes: &mut Vec<Note>) {
        let mut add = |text| notes.push(Note { kind: NoteKind::Rows, text });
        let missing = self.log.missing();
        if missing > 0 {
            add(format!("{missing} plays have no loss; they count as plays"));
        }
        // With so many jumps there are hardly any runs: `order_notes` says what is wrong.
        if self.log.jumps > 0 && !self.hardly_in_order() {
            add(format!(
                "the order jumps {} times; what was played in between is unknown, and runs end there",
                self.log.jumps
            ));
        }
        if self.log.units > 1 && self.options.starts == Starts::Cold {
            add(format!(
                "every arm is taken to be rested when one of the {} units begins; if not, say `--starts unknown`",
                self.log.units
            ));
        }
    }

    /// The sizes of pilots. The smallest warm-up worth finding is twice the tolerance. An arm that is alone never
    /// rests, so no pilot would tell.
    fn pilot(&self) -> Option<SuggestedPilot> {
        if self.log.names.len() < 2 {
            return None;
        }
        let longest = self.options.longest?;
        let sd = self.arms.iter().map(|arm| arm.sd).fold(0.0, f64::max);
        let plays = |design: PilotDesign, difference: f64| {
            let each = design.plays_per_arm(longest, sd, difference);
            (self.log.names.len() as f64 * each).min(9e15) as u64
        };
        let tallying = plays(PilotDesign::Tallying, 2.0 * self.tolerance);
        let blocks = plays(PilotDesign::Blocks, self.tolerance);
        Some(SuggestedPilot { longest, tallying, blocks })
    }
}
