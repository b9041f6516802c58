//! The epochs that both forms of successive elimination share.
//!
//! Malik, Igoe, Li and Singh, "Weighted Tallying Bandits: Overcoming Intractability via Repeated Exposure Optimality"
//! (2023), Algorithm 1. With K arms, a memory bound M and A_1 all arms, epoch s = 1, 2, ...
//!
//! 1. plays each arm x of A_s in a burn-in of n_s = ceil(K·M·2^s / |A_s|) plays, then for n_s recorded plays whose mean
//!    is mû_s(x);
//! 2. keeps A_{s+1} = { x in A_s : mû_s(x) <= min over A_s of mû_s + 2·C_s }.
//!
//! The two forms differ only in the radius: C_s = sqrt(spread / n_s), where `spread` is a constant of each.
//!
//! What the paper leaves open: n_s is rounded up; an epoch that is cut short eliminates nothing; once one arm is left
//! it is played until the end in one run.

use super::history::{RestoredPlays, StateError, ensure};
use super::{ArmReport, ArmStatus, RunReason};
use crate::{Certificate, Feedback, Run};

/// The state of both forms.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Elimination {
    arms: usize,
    memory_bound: u64,
    /// C_s² · n_s, the same in every epoch.
    spread: f64,
    delta: f64,
    /// The last epoch for which `delta` accounts.
    accounted: u32,
    /// The paper's s, from 1.
    epoch: u32,
    /// The paper's A_s, in increasing order.
    active: Vec<usize>,
    /// The means of this epoch, of the first arms of `active`; the other arms are still to be measured.
    means: Vec<f64>,
    /// The arm with the least mean of the last complete epoch.
    leader: usize,
    certificate: Option<Certificate>,
}

impl Elimination {
    pub(super) fn new(arms: usize, memory_bound: u64, spread: f64, delta: f64, accounted: u32) -> Self {
        Self {
            arms,
            memory_bound,
            spread,
            delta,
            accounted,
            epoch: 1,
            active: (0..arms).collect(),
            means: Vec::with_capacity(arms),
            leader: 0,
            // A single arm is the best one without any play.
            certificate: (arms == 1).then(|| Certificate { arms: vec![0], gap: 0.0, delta }),
        }
    }

    /// n_s. If it does not fit into 64 bits, no horizon reaches the end of the epoch.
    fn plays(&self) -> u64 {
        plays(self.arms, self.memory_bound, self.epoch, self.active.len())
    }

    /// C_s.
    fn radius(&self) -> f64 {
        (self.spread / self.plays() as f64).sqrt()
    }

    pub(super) fn next_run(&self) -> Run {
        match self.active[..] {
            [only] => Run::forever(only),
            _ => Run { arm: self.active[self.means.len()], burn_in: self.plays(), record: self.plays() },
        }
    }

    pub(super) fn observe(&mut self, feedback: Feedback) {
        if self.active.len() == 1 {
            return;
        }
        self.means.push(feedback.mean());
        if self.means.len() == self.active.len() {
            self.eliminate();
        }
    }

    /// Ends an epoch: drops the arms that are clearly worse than the best.
    fn eliminate(&mut self) {
        let radius = self.radius();
        let mut best = 0;
        for (i, mean) in self.means.iter().enumerate() {
            if *mean < self.means[best] {
                best = i;
            }
        }
        self.leader = self.active[best];
        let bar = self.means[best] + 2.0 * radius;
        let mut means = self.means.drain(..);
        self.active.retain(|_| means.next().is_some_and(|mean| mean <= bar));
        drop(means);
        if self.epoch <= self.accounted {
            // The best arm survives with probability 1 - delta (Lemma 5), so a single survivor is the best arm; of
            // several, each is within 4·C_s of it (Lemma 3).
            let gap = if self.active.len() == 1 { 0.0 } else { 4.0 * radius };
            self.certificate = Some(Certificate { arms: self.active.clone(), gap, delta: self.delta });
        }
        self.epoch += 1;
    }

    pub(super) fn recommend(&self) -> usize {
        self.leader
    }

    /// Before the first epoch ends, no arm leads.
    pub(super) fn arm_reports(&self) -> Vec<ArmReport> {
        let mut reports = vec![ArmReport::new(ArmStatus::RuledOut); self.arms];
        let behind = if self.epoch > 1 { ArmStatus::Challenger } else { ArmStatus::InPlay };
        self.active.iter().for_each(|&arm| reports[arm].status = behind);
        match self.active[..] {
            [only] => reports[only].status = ArmStatus::Leading,
            _ if self.epoch > 1 => reports[self.leader].status = ArmStatus::Challenged,
            _ => {}
        }
        reports
    }

    pub(super) fn run_reason(&self) -> RunReason {
        match self.active[..] {
            [_] => RunReason::Commitment,
            _ if self.epoch == 1 => RunReason::Opening,
            _ => RunReason::Comparison,
        }
    }

    pub(super) fn certificate(&self) -> Option<Certificate> {
        self.certificate.clone()
    }

    pub(super) fn check_restored(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let ascending = self.active.is_sorted_by(|a, b| a < b);
        ensure(self.arms == history.arms, "the policy has another number of arms")?;
        ensure(self.memory_bound >= 1, "the memory bound is 0")?;
        ensure(self.spread >= 0.0 && self.spread.is_finite(), "the spread of the radius is not a number")?;
        ensure(self.delta > 0.0 && self.delta < 1.0, "delta is not in (0, 1)")?;
        ensure((1..=u64::BITS).contains(&self.epoch) && self.accounted >= 1, "the epoch is out of range")?;
        ensure(ascending && self.active.last().is_some_and(|&arm| arm < self.arms), "the active arms are not arms")?;
        let unmeasured = self.active.len() - self.means.len().min(self.active.len());
        ensure(unmeasured > 0, "an epoch is complete and still open")?;
        ensure(self.means.iter().all(|&mean| history.allows_mean(mean)), "a mean loss is out of range")?;
        ensure(self.epoch > 1 || self.active.len() == self.arms, "an arm was eliminated before the first epoch ended")?;
        let leads = if self.epoch == 1 { self.leader == 0 } else { self.active.contains(&self.leader) };
        ensure(leads, "the leader is not an active arm")?;
        ensure(history.open.is_none_or(|run| run == self.next_run()), "the open run is not the one asked for")?;
        self.check_certificate()?;
        self.check_plays(history)
    }

    /// The certificate is that of the last epoch that delta accounts for: the radius of that epoch was between those
    /// with as many arms as now and with all arms.
    fn check_certificate(&self) -> Result<(), StateError> {
        let complete = (self.epoch - 1).min(self.accounted);
        let Some(certificate) = &self.certificate else {
            return ensure(complete == 0 && self.arms > 1, "the certificate is missing");
        };
        let arms = &certificate.arms;
        ensure(complete > 0 || self.arms == 1, "there is a certificate before the first epoch ended")?;
        let known = arms.is_sorted_by(|a, b| a < b) && arms.last().is_some_and(|&arm| arm < self.arms);
        let kept = self.active.iter().all(|arm| arms.binary_search(arm).is_ok());
        ensure(known && kept, "the certificate does not have the active arms")?;
        ensure(certificate.delta == self.delta, "the certificate has another delta")?;
        if let [_] = arms[..] {
            return ensure(certificate.gap == 0.0, "the gap of a single arm is not 0");
        }
        let gap = |arms: usize| 4.0 * (self.spread / plays(self.arms, self.memory_bound, complete, arms) as f64).sqrt();
        let (least, most) = (gap(arms.len()), gap(self.arms));
        ensure((least..=most).contains(&certificate.gap), "the gap of the certificate is out of range")
    }

    /// Each epoch s has given every active arm between M·2^s and K·M·2^s recorded plays, each with as many burn-in
    /// plays.
    fn check_plays(&self, history: &RestoredPlays<'_>) -> Result<(), StateError> {
        let Some(closed) = history.closed else { return Ok(()) };
        ensure(closed.recorded == closed.burn_in, "burn-in and recorded plays differ")?;
        for (position, &arm) in self.active.iter().enumerate() {
            let open = u64::from(position < self.means.len());
            let recorded = u128::from(closed.recorded[arm]).checked_sub(u128::from(open * self.plays()));
            let doublings = (1u128 << self.epoch) - 2;
            let least = u128::from(self.memory_bound).saturating_mul(doublings);
            // Numbers of plays are rounded up once per epoch.
            let most = least.saturating_mul(self.arms as u128).saturating_add(u128::from(self.epoch));
            let fits = recorded.is_some_and(|recorded| (least..=most).contains(&recorded));
            ensure(fits, "the recorded plays do not fit the epoch")?;
        }
        Ok(())
    }
}

/// The number of burn-in plays, and of recorded plays, of each of `active` arms in an epoch.
fn plays(arms: usize, memory_bound: u64, epoch: u32, active: usize) -> u64 {
    let doubled = 1u128.checked_shl(epoch).unwrap_or(u128::MAX);
    let total = (arms as u128 * u128::from(memory_bound)).saturating_mul(doubled);
    u64::try_from(total.div_ceil(active as u128)).unwrap_or(u64::MAX)
}

/// Implements [`Policy`](crate::Policy) for a type with a field `epochs: Elimination`.
macro_rules! elimination_policy {
    ($policy:ty) => {
        impl crate::Policy for $policy {
            fn next_run(&mut self) -> crate::Run {
                self.epochs.next_run()
            }

            fn observe(&mut self, _: crate::Run, feedback: crate::Feedback) {
                self.epochs.observe(feedback);
            }

            /// The arm with the least mean of the last complete epoch; arm 0 before that.
            fn recommend(&self) -> usize {
                self.epochs.recommend()
            }

            /// The surviving arms and 4·C_s of the last complete epoch; `None` before that. For a single survivor the
            /// gap is 0: the best arm survives with probability 1 - delta, so the survivor is the best arm.
            fn certificate(&self) -> Option<crate::Certificate> {
                self.epochs.certificate()
            }

            fn arm_reports(&self) -> Option<Vec<crate::policy::ArmReport>> {
                Some(self.epochs.arm_reports())
            }

            fn run_reason(&self, _: crate::Run) -> crate::policy::RunReason {
                self.epochs.run_reason()
            }

            fn check_restored(
                &self,
                history: &crate::policy::RestoredPlays<'_>,
            ) -> Result<(), crate::policy::StateError> {
                self.epochs.check_restored(history)
            }
        }
    };
}
pub(super) use elimination_policy;

#[cfg(test)]
mod tests {
    use super::*;

    /// K = 3, M = 2 and C_s = sqrt(3 / n_s): n_1 = 4 gives C_1 = sqrt(3)/2.
    fn example() -> Elimination {
        Elimination::new(3, 2, 3.0, 0.05, 10)
    }

    fn feed(policy: &mut Elimination, mean: f64) -> Run {
        let run = policy.next_run();
        policy.observe(Feedback { plays: run.record, sum: mean * run.record as f64, sum_sq: 0.0 });
        run
    }

    /// An epoch in which the arms have these means, and the lengths of its runs.
    fn feed_all(policy: &mut Elimination, means: &[f64]) -> Vec<u64> {
        means.iter().map(|&mean| feed(policy, mean).record).collect()
    }

    #[test]
    fn epochs_have_the_lengths_of_the_paper() {
        let mut policy = example();
        // Epoch 1: 3·2·2/3 = 4. Nothing is eliminated, so epoch 2: 3·2·4/3 = 8.
        for (epoch, plays) in [(1, 4), (2, 8), (3, 16)] {
            for arm in 0..3 {
                assert_eq!(feed(&mut policy, 0.5), Run { arm, burn_in: plays, record: plays }, "epoch {epoch}");
            }
        }
        // Two arms left: epoch 2 of K = 3, M = 1 has ceil(3·4/2) = 6, epoch 1 of K = 3 has 2; ceil(5·1·4/3) = 7.
        let mut policy = Elimination::new(3, 1, 0.0, 0.05, 10);
        assert_eq!(feed_all(&mut policy, &[0.5, 0.9, 0.5]), [2, 2, 2]);
        assert_eq!(policy.next_run(), Run { arm: 0, burn_in: 6, record: 6 });
        let mut policy = Elimination::new(5, 1, 0.0, 0.05, 10);
        assert_eq!(feed_all(&mut policy, &[0.9, 0.5, 0.5, 0.9, 0.5]), [2, 2, 2, 2, 2]);
        assert_eq!(policy.next_run(), Run { arm: 1, burn_in: 7, record: 7 });
    }

    #[test]
    fn an_arm_is_dropped_exactly_if_it_is_worse_by_more_than_two_radii() {
        let two_radii = 2.0 * (3.0f64 / 4.0).sqrt();
        // The bar is best + 2·C_s with the best at 0, so these means meet it exactly, and miss it by one bit.
        for (mean, survives) in [(two_radii, true), (two_radii.next_up(), false)] {
            let mut policy = example();
            // Sums are multiples of 4, which keeps the means exact.
            feed_all(&mut policy, &[mean, 0.0, 0.1]);
            assert_eq!(policy.active.contains(&0), survives);
            assert_eq!(policy.recommend(), 1);
            let certificate = policy.certificate().unwrap();
            assert_eq!(certificate.arms, if survives { vec![0, 1, 2] } else { vec![1, 2] });
            assert_eq!(certificate.gap, 2.0 * two_radii);
        }
    }

    #[test]
    fn the_last_arm_is_played_until_the_end_and_certified_as_best() {
        let mut policy = example();
        assert_eq!(policy.certificate(), None);
        feed_all(&mut policy, &[9.0, 0.0, 9.0]);
        assert_eq!(policy.next_run(), Run::forever(1));
        assert_eq!(policy.certificate(), Some(Certificate { arms: vec![1], gap: 0.0, delta: 0.05 }));
        policy.observe(Feedback { plays: u64::MAX, sum: 0.0, sum_sq: 0.0 });
        assert_eq!(policy.next_run(), Run::forever(1));
    }

    #[test]
    fn one_arm_needs_no_epoch() {
        let policy = Elimination::new(1, 2, 3.0, 0.05, 10);
        assert_eq!(policy.next_run(), Run::forever(0));
        assert_eq!(policy.certificate(), Some(Certificate { arms: vec![0], gap: 0.0, delta: 0.05 }));
    }

    #[test]
    fn nothing_is_certified_past_the_epochs_that_delta_accounts_for() {
        let mut policy = Elimination::new(2, 1, 3.0, 0.05, 1);
        feed_all(&mut policy, &[0.5; 2]);
        let certificate = policy.certificate();
        feed_all(&mut policy, &[0.5; 2]);
        assert_eq!(policy.certificate(), certificate);
    }

    #[test]
    fn run_lengths_saturate_instead_of_overflowing() {
        let mut policy = Elimination::new(u32::MAX as usize / 1000, u64::MAX, 3.0, 0.05, 10);
        assert_eq!(policy.next_run().plays(), u64::MAX);
        policy.epoch = 200;
        assert_eq!(policy.next_run().record, u64::MAX);
        assert!(policy.radius() > 0.0);
    }
}
