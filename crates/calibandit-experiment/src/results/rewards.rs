//! Results in rewards: the same results, converted where they are read.
//!
//! Results are computed and stored in losses. If the game, or its source, is stated in rewards, tables and figures for
//! people can show them in rewards: the regret times the width of the range, and the reward of the plays in place of
//! their loss.

use std::borrow::Cow;
use std::ops::Range;

use calibandit::RewardRange;

use super::{Curve, CurveIter, Results, Sample};
use crate::Experiment;
use crate::spec::ShownUnit;

impl Results {
    /// The same results, with the range of the rewards of each game; none if the games are stated in losses.
    ///
    /// # Panics
    /// If there are ranges, but not one per game.
    #[must_use]
    pub fn with_ranges(mut self, ranges: Vec<RewardRange>) -> Self {
        assert!(ranges.is_empty() || ranges.len() == self.games.len(), "one range per game");
        self.ranges = ranges;
        self
    }

    /// The range of the rewards of each game; empty if the games are stated in losses.
    pub fn ranges(&self) -> &[RewardRange] {
        &self.ranges
    }

    /// The same results in rewards: [`Sample::cpr`] is the regret in rewards, and [`Sample::loss`] the *reward* of the
    /// plays. Nothing is copied. `None` if no range of rewards is known.
    pub fn in_rewards(&self) -> Option<Self> {
        (!self.ranges.is_empty()).then(|| Self { in_rewards: true, ..self.clone() })
    }

    /// The same results in losses, as they are stored.
    pub fn in_losses(&self) -> Self {
        Self { in_rewards: false, ..self.clone() }
    }

    /// Whether these results are in rewards.
    pub fn are_in_rewards(&self) -> bool {
        self.in_rewards
    }

    /// The results as the experiment wants to show them.
    pub fn shown_by(&self, experiment: &Experiment) -> Self {
        let rewards = if experiment.shown() == ShownUnit::Rewards { self.in_rewards() } else { None };
        rewards.unwrap_or_else(|| self.clone())
    }

    /// The name of the column with the sum of losses, or of rewards.
    pub fn loss_column(&self) -> &'static str {
        if self.in_rewards { "reward" } else { "loss" }
    }

    /// A name of the regret, such as "CPR", with its unit if that is rewards.
    pub fn regret_name(&self, regret: &str) -> String {
        if self.in_rewards { format!("{regret}, in rewards") } else { regret.to_owned() }
    }

    pub(super) fn curves_at(&self, left: Range<usize>) -> CurveIter<'_> {
        CurveIter { results: self, left }
    }

    pub(super) fn shown(&self, game: usize, sample: Sample) -> Sample {
        if !self.in_rewards {
            return sample;
        }
        let range = self.ranges[game];
        let loss = range.total_reward(sample.t as f64, sample.loss);
        Sample { loss, cpr: range.regret(sample.cpr), ..sample }
    }

    pub(super) fn shown_curve<'a>(&self, curve: Cow<'a, Curve>) -> Cow<'a, Curve> {
        if !self.in_rewards {
            return curve;
        }
        let mut curve = curve.into_owned();
        for sample in &mut curve.samples {
            *sample = self.shown(curve.game, *sample);
        }
        Cow::Owned(curve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let samples = |loss: f64| vec![Sample { t: 10, loss, cpr: 0.5, switches: 1 }];
        let curve = |game, loss| Curve { game, policy: 0, instance: 0, samples: samples(loss) };
        let games = vec!["a".to_owned(), "b".to_owned()];
        Results::new("x".into(), games, vec!["P".into()], vec![curve(0, 2.0), curve(1, 4.0)])
    }

    #[test]
    fn rewards_are_converted_wherever_curves_are_read() {
        assert_eq!(results().in_rewards(), None);
        let ranges = vec![RewardRange::new(-10.0, 10.0).unwrap(), RewardRange::new(0.0, 2.0).unwrap()];
        let losses = results().with_ranges(ranges);
        let rewards = losses.in_rewards().unwrap();
        assert_eq!((losses.loss_column(), rewards.loss_column()), ("loss", "reward"));
        assert_eq!(
            (losses.regret_name("CPR").as_str(), rewards.regret_name("CPR").as_str()),
            ("CPR", "CPR, in rewards")
        );
        // Ten plays with a mean loss of 0.2 in [-10, 10], and of 0.4 in [0, 2].
        let expected = [(60.0, 10.0), (12.0, 1.0)];
        for (game, expected) in expected.into_iter().enumerate() {
            let end = rewards.ends(game, 0).next().unwrap().last;
            assert_eq!((end.loss, end.cpr, end.t, end.switches), (expected.0, expected.1, 10, 1));
            let curve = rewards.of(game, 0).next().unwrap().unwrap().into_owned();
            assert_eq!(curve.samples, [end]);
            let mut seen = Vec::new();
            let visit = |t, values| {
                seen.push((t, values));
                Ok::<(), std::io::Error>(())
            };
            rewards.at_checkpoints(game, 0, Some(0), |own, other| own.cpr + other.unwrap().loss, visit).unwrap();
            assert_eq!(seen, [(10, vec![expected.0 + expected.1])]);
        }
        assert_eq!(losses.ends(0, 0).next().unwrap().last.loss, 2.0);
        assert_ne!(losses, rewards);
    }
}
