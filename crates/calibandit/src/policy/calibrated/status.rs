//! What a calibrated policy says about itself, and its start from past losses.

use super::arms_view::ArmsView;
use super::challenge::ThresholdRule;
use super::{Calibrated, Index, challenge};
use crate::policy::{ArmReport, ArmStatus, RunReason, WarmStartError};
use crate::{Feedback, Run};

impl Calibrated {
    fn view(&self) -> ArmsView<'_> {
        let groups = self.lookup.groups.as_deref();
        ArmsView { stats: &self.records, arms: &self.arms, now: self.situation(), groups }
    }

    /// The rule by which arms are ruled out, for the indices that compare them with the leader by evidence.
    pub(super) fn threshold_rule(&self) -> Option<ThresholdRule> {
        match self.index {
            Index::Challenge => Some(ThresholdRule::Challenge),
            Index::EmpiricalBayes => Some(ThresholdRule::EmpiricalBayes(self.tuning)),
            Index::Cautious => Some(ThresholdRule::Cautious),
            _ => None,
        }
    }

    pub(super) fn reports(&self) -> Vec<ArmReport> {
        let measured = |arm: usize| self.records[arm].n > 0.0;
        let status = |arm: usize| if measured(arm) { ArmStatus::RuledOut } else { ArmStatus::Unopened };
        let mut reports: Vec<ArmReport> = (0..self.records.len()).map(|arm| ArmReport::new(status(arm))).collect();
        if self.opened < self.arms.len() {
            for &arm in self.arms.iter().filter(|&&arm| measured(arm)) {
                reports[arm].status = ArmStatus::InPlay;
            }
            return reports;
        }
        let view = self.view();
        let leader = view.leader();
        let Some(rule) = self.threshold_rule() else {
            self.arms.iter().for_each(|&arm| reports[arm].status = ArmStatus::InPlay);
            reports[leader].status = if self.arms.len() == 1 { ArmStatus::Leading } else { ArmStatus::Challenged };
            return reports;
        };
        let mut alive = false;
        for (&arm, (evidence, threshold)) in self.arms.iter().zip(challenge::evidence(&view, &self.arms, rule)) {
            if arm != leader {
                let is_alive = evidence < threshold;
                let status = if is_alive { ArmStatus::Challenger } else { ArmStatus::RuledOut };
                reports[arm] = ArmReport::new(status).with_evidence(evidence, threshold);
                alive |= is_alive;
            }
        }
        reports[leader].status = if alive { ArmStatus::Challenged } else { ArmStatus::Leading };
        reports
    }

    pub(super) fn reason(&self, run: Run) -> RunReason {
        if run.record == u64::MAX {
            return RunReason::Commitment;
        }
        if self.opened < self.arms.len() {
            return RunReason::Opening;
        }
        let Some(rule) = self.threshold_rule() else {
            return if self.index == Index::Elimination { RunReason::Comparison } else { RunReason::Index };
        };
        let view = self.view();
        let leader = view.leader();
        if leader == run.arm {
            return RunReason::Leading;
        }
        match challenge::evidence(&view, &[run.arm], rule)[..] {
            [(evidence, threshold)] => RunReason::Challenge { leader, evidence, threshold },
            _ => RunReason::Unstated,
        }
    }

    /// Past plays count as plays made, and are added to the horizon. An arm with as many past losses as the start would
    /// record is not measured again.
    pub(super) fn start_from(&mut self, past: &[Feedback]) -> Result<(), WarmStartError> {
        if self.current.is_some() || self.time > 0 {
            return Err(WarmStartError::Started);
        }
        if past.len() != self.records.len() {
            return Err(WarmStartError::Arms { given: past.len(), arms: self.records.len() });
        }
        for (stats, past) in self.records.iter_mut().zip(past) {
            stats.add(*past);
        }
        let plays = past.iter().fold(0u64, |sum, past| sum.saturating_add(past.plays));
        self.time = plays;
        self.horizon = self.horizon.map(|horizon| horizon.saturating_add(plays));
        self.bounded = past.iter().all(|past| !Self::leaves_unit(past));
        let first = self.schedule.first();
        let (mut measured, missing): (Vec<usize>, _) = self.arms.iter().partition(|&&arm| self.records[arm].n >= first);
        self.opened = measured.len();
        measured.extend::<Vec<usize>>(missing);
        self.arms = measured;
        if self.opened == self.arms.len() {
            self.arms.sort_unstable();
        }
        Ok(())
    }
}
