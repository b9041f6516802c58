//! The outcome of a [`Simulation`](super::Simulation).

use std::fmt;

use super::Trajectory;

/// The outcome of a [`Simulation`](super::Simulation): one [`PolicyOutcome`] per policy, in the order in which the
/// policies were added.
///
/// Its `Display` is a table: label, mean regret with standard error, mean number of switches.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulationOutcome {
    times: Vec<u64>,
    policies: Vec<PolicyOutcome>,
}

impl SimulationOutcome {
    pub(super) fn new(times: Vec<u64>, policies: Vec<PolicyOutcome>) -> Self {
        Self { times, policies }
    }

    /// The checkpoints; the last one is the horizon.
    pub fn times(&self) -> &[u64] {
        &self.times
    }

    /// All policies, in the order in which they were added.
    pub fn policies(&self) -> &[PolicyOutcome] {
        &self.policies
    }

    /// The policy with this label.
    pub fn get(&self, label: &str) -> Option<&PolicyOutcome> {
        self.policies.iter().find(|policy| policy.label == label)
    }
}

impl fmt::Display for SimulationOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.policies.iter().map(|policy| policy.label.chars().count()).max().unwrap_or(0).max(6);
        write!(f, "{:width$}  {:>23}  {:>12}", "policy", "regret (standard error)", "switches")?;
        for policy in &self.policies {
            let regret = format!("{:.1} ({:.1})", policy.regret(), policy.standard_error());
            write!(f, "\n{:width$}  {regret:>23}  {:>12.1}", policy.label, policy.switches())?;
        }
        Ok(())
    }
}

/// One policy of a simulation, on all instances.
///
/// Regret is the complete policy regret (CPR): the expected loss of the plays made less the least expected loss of any
/// sequence of as many plays. Methods without a time refer to the horizon.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PolicyOutcome {
    label: String,
    trajectories: Vec<Trajectory>,
    /// Per instance, the regret at each checkpoint.
    regrets: Vec<Vec<f64>>,
}

impl PolicyOutcome {
    pub(super) fn new(label: String) -> Self {
        Self { label, trajectories: Vec::new(), regrets: Vec::new() }
    }

    pub(super) fn push(&mut self, trajectory: Trajectory, optimum: &[f64]) {
        let regret = trajectory.checkpoints.iter().zip(optimum).map(|(at, optimum)| at.excess - optimum).collect();
        self.regrets.push(regret);
        self.trajectories.push(trajectory);
    }

    /// The label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The mean regret over all instances.
    pub fn regret(&self) -> f64 {
        mean(self.regrets())
    }

    /// The standard error of [`regret`](Self::regret); NaN for a single instance.
    pub fn standard_error(&self) -> f64 {
        let (mean, n) = (self.regret(), self.regrets.len() as f64);
        let squares: f64 = self.regrets().map(|regret| (regret - mean).powi(2)).sum();
        (squares / (n - 1.0) / n).sqrt()
    }

    /// The regret of each instance.
    pub fn regrets(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.regrets.iter().map(|curve| *curve.last().expect("the horizon is a checkpoint of every grid"))
    }

    /// The mean regret at each checkpoint.
    pub fn mean_curve(&self) -> Vec<f64> {
        let points = self.regrets.first().map_or(0, Vec::len);
        (0..points).map(|point| mean(self.regrets.iter().map(|curve| curve[point]))).collect()
    }

    /// Per instance, the regret at each checkpoint.
    pub fn curves(&self) -> &[Vec<f64>] {
        &self.regrets
    }

    /// Per instance, the record of losses, plays and switches.
    pub fn trajectories(&self) -> &[Trajectory] {
        &self.trajectories
    }

    /// The mean number of plays per arm, over the instances. If the game is random, an arm's number means something
    /// else in each instance; then use [`trajectories`](Self::trajectories).
    pub fn arm_plays(&self) -> Vec<f64> {
        let arms = self.trajectories.iter().map(|trajectory| trajectory.plays.len()).max().unwrap_or(0);
        let of_arm = |arm: usize| {
            mean(
                self.trajectories.iter().map(|trajectory| trajectory.plays.get(arm).map_or(0.0, |&plays| plays as f64)),
            )
        };
        (0..arms).map(of_arm).collect()
    }

    /// The mean number of switches from one arm to another.
    pub fn switches(&self) -> f64 {
        mean(self.trajectories.iter().map(|trajectory| trajectory.last().switches as f64))
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}
