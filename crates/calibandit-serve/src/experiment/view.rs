//! What callers see of an experiment.

use calibandit::lanes::PlayOutcome;
use serde::Serialize;

use super::{LiveAnswer, LiveExperiment};
use crate::record::{GivenDecision, LiveStatus, PhaseName};
use crate::spec::LiveExperimentSpec;
use crate::times::timestamp;

/// An experiment and its specification.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ExperimentView {
    /// Its name.
    pub name: String,
    /// Whether it learns.
    pub status: LiveStatus,
    /// When it was created.
    pub created_at: String,
    /// The number of plays of an arm in a row before its losses are calibrated.
    pub burn_in: u64,
    /// What is worth knowing about the specification.
    pub warnings: Vec<WarningView>,
    /// As it was created.
    pub spec: LiveExperimentSpec,
}

/// Something that is worth knowing.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WarningView {
    /// A name for programs.
    pub code: String,
    /// A sentence for people.
    pub detail: String,
}

/// One play to make.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DecisionView {
    /// The number of the decision. No number is given out twice.
    pub id: u64,
    /// The lane.
    pub lane: String,
    /// The arm to play.
    pub arm: String,
    /// The number of this arm, from 0.
    pub index: usize,
    /// How its loss will be used.
    pub phase: PhaseName,
    /// The policy's run that is open, from 0.
    pub run: u64,
    /// The plays of this arm in a row in this lane, this one included.
    pub position: u64,
    /// When it was asked for.
    pub asked_at: String,
    /// When it expires, if it does.
    pub expires_at: Option<String>,
    /// Whether it is beyond the horizon that the policy was told.
    pub beyond_horizon: bool,
    /// Whether it was given out before.
    pub redelivered: bool,
}

/// What an experiment knows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StateAnswer {
    /// The name of the experiment.
    pub name: String,
    /// Whether it learns.
    pub status: LiveStatus,
    /// The number of records of its log.
    pub seq: u64,
    /// The time of the latest record.
    pub at: String,
    /// The number of decisions and of plays without advice.
    pub decisions: u64,
    /// The arm to commit to if exploration ended now.
    pub leader: String,
    /// The number of decisions without an outcome.
    pub outstanding: usize,
    /// The number of lanes.
    pub lanes: usize,
    /// The run that the policy has asked for.
    pub open_run: Option<OpenRunView>,
    /// The arms.
    pub arms: Vec<ArmSummary>,
    /// What the policy guarantees, if it does.
    pub certificate: Option<CertificateView>,
    /// How many outcomes of each kind there were.
    pub counts: OutcomeCounts,
    /// What is worth knowing.
    pub warnings: Vec<WarningView>,
}

/// The run that the policy has asked for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OpenRunView {
    /// Its number, from 0.
    pub run: u64,
    /// Its arm.
    pub arm: String,
    /// The losses that it needs; null if it has no end.
    pub record: Option<u64>,
    /// The losses that it has.
    pub settled: u64,
    /// Calibrated losses of its arm that wait for a run.
    pub banked: usize,
}

/// What is known about an arm.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ArmSummary {
    /// Its name.
    pub arm: String,
    /// The plays of it, as far as is known.
    pub plays: u64,
    /// The calibrated losses that the policy has got.
    pub calibrated: u64,
    /// Their mean.
    pub mean: Option<f64>,
    /// Calibrated losses that wait for a run.
    pub banked: usize,
    /// The decisions by phase.
    pub decisions: PhasePlays,
}

/// Decisions by phase.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct PhasePlays {
    /// Warm-up plays.
    pub warm_up: u64,
    /// Plays that the policy has asked for.
    pub measured: u64,
    /// Plays beyond the runs.
    pub filler: u64,
}

impl PhasePlays {
    pub(super) fn count(&mut self, phase: PhaseName) {
        match phase {
            PhaseName::WarmUp => self.warm_up += 1,
            PhaseName::Measured => self.measured += 1,
            PhaseName::Filler => self.filler += 1,
        }
    }
}

/// What the policy guarantees about its arms.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CertificateView {
    /// The arms that are not ruled out.
    pub arms: Vec<String>,
    /// The most by which the eventual loss of any of them can exceed that of the best arm.
    pub gap: f64,
    /// The probability with which this may be wrong.
    pub delta: f64,
}

/// How many outcomes of each kind there were.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct OutcomeCounts {
    /// Losses told.
    pub told: u64,
    /// Plays made without a loss to tell.
    pub done: u64,
    /// Plays made whose loss was lost.
    pub lost: u64,
    /// Plays that were not made.
    pub not_played: u64,
    /// Plays of another arm than advised.
    pub overridden: u64,
    /// Decisions that expired.
    pub expired: u64,
    /// Outcomes reported after the expiry.
    pub late: u64,
    /// Resets by request.
    pub resets: u64,
    /// Resets after an idle time.
    pub idle_resets: u64,
    /// Plays without advice.
    pub unadvised: u64,
    /// Calibrated plays that turned out not to be.
    pub demoted: u64,
}

/// A lane.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LaneView {
    /// Its name.
    pub lane: String,
    /// The arm that it plays.
    pub arm: Option<String>,
    /// The plays of it in a row.
    pub streak: u64,
    /// Whether the next play of this arm is calibrated.
    pub calibrated: bool,
    /// Its newest decision.
    pub newest: Option<u64>,
}

impl LiveExperiment {
    pub(crate) fn experiment_view(&self) -> ExperimentView {
        ExperimentView {
            name: self.name.clone(),
            status: self.status,
            created_at: timestamp(self.created_at),
            burn_in: self.advisor.settings().burn_in(),
            warnings: self.warnings(),
            spec: self.spec.clone(),
        }
    }

    fn warnings(&self) -> Vec<WarningView> {
        let warnings = self.spec.warnings().into_iter();
        warnings.map(|(code, detail)| WarningView { code: code.to_owned(), detail }).collect()
    }

    fn arm_name(&self, arm: usize) -> String {
        self.spec.arms.get(arm).cloned().unwrap_or_default()
    }

    pub(crate) fn decision_view(
        &self,
        lane: &str,
        asked_at: u64,
        given: &GivenDecision,
        redelivered: bool,
    ) -> DecisionView {
        DecisionView {
            id: given.id,
            lane: lane.to_owned(),
            arm: self.arm_name(given.arm),
            index: given.arm,
            phase: given.phase,
            run: given.run,
            position: given.position,
            asked_at: timestamp(asked_at),
            expires_at: given.expires_at.map(timestamp),
            beyond_horizon: given.beyond_horizon,
            redelivered,
        }
    }

    /// Whether a decision waits for its outcome.
    pub(crate) fn is_open(&self, decision: u64) -> bool {
        self.advisor.asked_at(decision).is_some()
    }

    /// An answer with a decision, as callers see it.
    pub(crate) fn answered_decision(&self, answer: &LiveAnswer) -> Option<DecisionView> {
        match answer {
            LiveAnswer::Decision { lane, asked_at, given, redelivered } => {
                Some(self.decision_view(lane, *asked_at, given, *redelivered))
            }
            _ => None,
        }
    }

    pub(crate) fn state_view(&self) -> StateAnswer {
        let advisor = &self.advisor;
        let open_run = advisor.current_run().map(|(run, feedback)| OpenRunView {
            run: advisor.runs().saturating_sub(1),
            arm: self.arm_name(run.arm),
            record: (run.record != u64::MAX).then_some(run.record),
            settled: feedback.plays,
            banked: advisor.banked(run.arm),
        });
        let arms = self.spec.arms.iter().enumerate().map(|(index, arm)| {
            let measured = advisor.measured()[index];
            ArmSummary {
                arm: arm.clone(),
                plays: advisor.plays()[index],
                calibrated: measured.plays,
                mean: (measured.plays > 0).then(|| measured.mean()),
                banked: advisor.banked(index),
                decisions: self.phases[index],
            }
        });
        let certificate = advisor.certificate().map(|certificate| CertificateView {
            arms: certificate.arms.iter().map(|&arm| self.arm_name(arm)).collect(),
            gap: certificate.gap,
            delta: certificate.delta,
        });
        StateAnswer {
            name: self.name.clone(),
            status: self.status,
            seq: self.seq,
            at: timestamp(self.at),
            decisions: advisor.decisions(),
            leader: self.arm_name(advisor.recommend()),
            outstanding: self.open.len(),
            lanes: self.lanes.names.len(),
            open_run,
            arms: arms.collect(),
            certificate,
            counts: self.counts(),
            warnings: self.warnings(),
        }
    }

    fn counts(&self) -> OutcomeCounts {
        let counts = self.advisor.counts();
        OutcomeCounts {
            told: counts.told,
            done: counts.done,
            lost: counts.lost,
            not_played: counts.not_played,
            overridden: counts.overridden,
            expired: counts.expired,
            late: counts.late,
            resets: counts.resets,
            idle_resets: counts.idle_resets,
            unadvised: counts.unadvised,
            demoted: counts.demoted,
        }
    }

    /// The number of decisions without an outcome, and the time of the oldest.
    pub(crate) fn outstanding(&self) -> (usize, Option<u64>) {
        let oldest = self.open.keys().next().and_then(|&id| self.advisor.asked_at(id));
        (self.open.len(), oldest)
    }

    pub(crate) fn lane_view(&self, lane: &str) -> Option<LaneView> {
        let (arm, streak, newest) = self.advisor.lane(self.lanes.number(lane)?)?;
        let calibrated = arm.is_some() && streak >= self.advisor.settings().burn_in();
        let arm = arm.map(|arm| self.arm_name(arm));
        Some(LaneView { lane: lane.to_owned(), arm, streak, calibrated, newest })
    }

    /// At most `limit` lanes in the order of their first use, from the one after `after` on.
    pub(crate) fn lane_views(&self, after: Option<&str>, limit: usize) -> Option<Vec<LaneView>> {
        let from = match after {
            Some(lane) => self.lanes.number(lane)? as usize + 1,
            None => 0,
        };
        let names = self.lanes.names.iter().skip(from).take(limit);
        Some(names.filter_map(|name| self.lane_view(name)).collect())
    }

    /// Per arm, the mean loss by position: the arm, the position, the number of losses, their mean and variance.
    pub(crate) fn curve_points(&self) -> impl Iterator<Item = (&str, u64, calibandit::Feedback)> + '_ {
        let arms = self.spec.arms.iter().zip(&self.curves);
        arms.flat_map(|(arm, curve)| curve.positions().map(move |(position, sum)| (arm.as_str(), position, sum)))
    }

    pub(crate) fn already_settled(&self, decision: u64, first: Option<PlayOutcome>) -> crate::problem::ServiceProblem {
        super::refusal::already_settled(decision, first, &self.spec)
    }
}
