//! The state of an advisor as a table, for people to read.

use super::confidence::DELTA;
use super::{Advisor, Confidence, MonitorVerdict};
use crate::Policy;
use crate::confidence::{LossAssumption, LossScale, LossSequence};
use crate::policy::{ArmReport, ArmStatus};

/// One arm in the [state](Advisor::state) of an advisor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ArmState {
    /// The arm.
    pub arm: usize,
    /// The plays made, burn-in included.
    pub plays: u64,
    /// The recorded losses that have been told, those of a warm start included.
    pub measured: u64,
    /// Their mean; `None` if there are none.
    pub mean: Option<f64>,
    /// The lower end of the interval of the mean loss; see [`Confidence`](super::Confidence).
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The evidence, in nats, that the arm is worse than the best so far; `None` if the policy has no such number.
    pub evidence: Option<f64>,
    /// The evidence at which the policy rules the arm out.
    pub threshold: Option<f64>,
    /// How the policy regards the arm.
    pub status: ArmStatus,
}

/// What an advisor knows and does; see [`Advisor::state`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct AdvisorState {
    /// The number of decisions made.
    pub decisions: u64,
    /// The number of plays that the policy was told, if it was.
    pub horizon: Option<u64>,
    /// Whether more decisions were made than the horizon has plays.
    pub beyond_horizon: bool,
    /// The arms.
    pub arms: Vec<ArmState>,
    /// The arm to commit to if exploration ended now.
    pub recommended: usize,
    /// The most by which its mean loss exceeds that of the best arm; infinite if nothing is known.
    pub gap: f64,
    /// The probability that any interval, and so the gap, is wrong at any time.
    pub delta: f64,
    /// What the intervals assume about the losses.
    pub assumption: LossAssumption,
    /// Whether the bound on the memory looks too small.
    pub monitor: MonitorVerdict,
}

impl<P: Policy> Advisor<P> {
    /// What the advisor knows about each arm, and how sure it is, with a probability of error of 0.05.
    ///
    /// ```
    /// use calibandit::Advisor;
    /// use calibandit::policy::{ArmStatus, Calibrated};
    ///
    /// let mut advisor = Advisor::builder(Calibrated::builder(3), 2).build()?;
    /// for _ in 0..500 {
    ///     let decision = advisor.ask()?;
    ///     advisor.tell(decision.id, if decision.arm == 1 { 0.2 } else { 0.6 })?;
    /// }
    /// let state = advisor.state();
    /// assert_eq!((state.recommended, state.arms[1].status), (1, ArmStatus::Leading));
    /// assert_eq!(state.arms[0].status, ArmStatus::RuledOut);
    /// assert!(state.arms[0].evidence > state.arms[0].threshold);
    /// println!("{state}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn state(&self) -> AdvisorState {
        let tracker = &self.tracker;
        let view = StateView {
            plays: &tracker.plays,
            losses: &tracker.losses,
            scale: tracker.range.scale(),
            decisions: tracker.next,
            horizon: tracker.horizon,
            warming: tracker.warming(),
        };
        AdvisorState::of(&self.policy, &view, tracker.monitor.verdict())
    }
}

/// What the state of an advisor is made of, beside its policy.
pub(crate) struct StateView<'a> {
    pub(crate) plays: &'a [u64],
    pub(crate) losses: &'a [LossSequence],
    pub(crate) scale: LossScale,
    pub(crate) decisions: u64,
    pub(crate) horizon: Option<u64>,
    /// The arm that is in a burn-in.
    pub(crate) warming: Option<usize>,
}

impl AdvisorState {
    pub(crate) fn of(policy: &impl Policy, view: &StateView<'_>, monitor: MonitorVerdict) -> Self {
        let StateView { plays, losses, scale, decisions, horizon, warming } = *view;
        let confidence = Confidence::of(losses, &scale, DELTA, policy.recommend());
        let reports = policy.arm_reports().filter(|reports| reports.len() == plays.len());
        let arm = |arm: usize| {
            let losses = &losses[arm];
            let default = ArmReport::new(if arm == confidence.recommended && losses.len() > 0 {
                ArmStatus::Leading
            } else {
                ArmStatus::InPlay
            });
            let report = reports.as_ref().map_or(default, |reports| reports[arm]);
            let status = match report.status {
                _ if warming == Some(arm) => ArmStatus::Warming,
                status if losses.len() == 0 && status != ArmStatus::RuledOut => ArmStatus::Unopened,
                status => status,
            };
            ArmState {
                arm,
                plays: plays[arm],
                measured: losses.len(),
                mean: losses.mean(&scale),
                low: confidence.intervals[arm].low,
                high: confidence.intervals[arm].high,
                evidence: report.evidence.map(|(evidence, _)| evidence),
                threshold: report.evidence.map(|(_, threshold)| threshold),
                status,
            }
        };
        AdvisorState {
            decisions,
            horizon,
            beyond_horizon: horizon.is_some_and(|horizon| decisions > horizon),
            arms: (0..plays.len()).map(arm).collect(),
            recommended: confidence.recommended,
            gap: confidence.gap,
            delta: DELTA,
            assumption: confidence.assumption,
            monitor,
        }
    }
}

/// The table with numbers for arms.
impl std::fmt::Display for AdvisorState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text(|arm| arm.to_string()))
    }
}

impl AdvisorState {
    /// The state as a table with aligned columns, followed by what is certain and by the verdict of the monitor. `name`
    /// gives the name of an arm.
    pub fn to_text(&self, name: impl Fn(usize) -> String) -> String {
        let number =
            |value: Option<f64>, digits: usize| value.map_or_else(String::new, |value| format!("{value:.digits$}"));
        let header = ["arm", "plays", "measured", "mean", "low", "high", "evidence", "threshold", "status"];
        let mut rows = vec![header.map(str::to_string)];
        for arm in &self.arms {
            rows.push([
                name(arm.arm),
                arm.plays.to_string(),
                arm.measured.to_string(),
                number(arm.mean, 4),
                number(Some(arm.low), 4),
                number(Some(arm.high), 4),
                number(arm.evidence, 2),
                number(arm.threshold, 2),
                arm.status.name().to_string(),
            ]);
        }
        let mut widths = [0; 9];
        for row in &rows {
            row.iter().zip(&mut widths).for_each(|(cell, width)| *width = (*width).max(cell.chars().count()));
        }
        let mut text = String::new();
        for row in &rows {
            let line: Vec<String> = row
                .iter()
                .zip(widths)
                .enumerate()
                .map(
                    |(i, (cell, width))| {
                        if i == 0 || i == 8 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                    },
                )
                .collect();
            text.push_str(line.join("  ").trim_end());
            text.push('\n');
        }
        text.push_str(&self.summary(&name(self.recommended)));
        text
    }

    /// What is certain, the verdict of the monitor and, if it is exceeded, the horizon: one sentence per line. `best`
    /// is the name of the recommended arm.
    pub fn summary(&self, best: &str) -> String {
        let percent = 100.0 * (1.0 - self.delta);
        let mut text = if self.gap.is_finite() {
            format!("with {percent} %, {best} is within {:.3} of the best arm", self.gap)
        } else {
            format!("nothing is certain yet about {best}")
        };
        if self.assumption == LossAssumption::Normal {
            text.push_str(", if losses are normal");
        }
        text.push_str(&format!("\nmonitor: {}\n", self.monitor));
        if let Some(horizon) = self.horizon.filter(|_| self.beyond_horizon) {
            text.push_str(&format!("{} decisions are more than the horizon of {horizon} plays\n", self.decisions));
        }
        text
    }
}
