//! What the policies for rested arms have in common: they choose single plays, and their state counts them.
//!
//! Not here: any index or estimate. Each policy has those in its own file.

use super::history::{RestoredPlays, StateError, ensure};
use super::{PolicyError, error};
use crate::Run;

/// Room for the rounding errors of sums that are kept up to date by adding and subtracting, relative to their terms.
const ROUNDING: f64 = 1e-6;

/// The default of `sd`: losses in [0, 1] are sub-Gaussian with this scale (Hoeffding's lemma).
pub(super) fn default_sd() -> f64 {
    0.5
}

/// One recorded play of this arm.
#[inline]
pub(super) fn single(arm: usize) -> Run {
    Run { arm, burn_in: 0, record: 1 }
}

/// The first arm with the least value; NaN is never the least. The first arm if there is no number at all.
#[inline]
pub(super) fn least(values: impl Iterator<Item = f64>) -> usize {
    let mut least = (0, f64::INFINITY);
    for (arm, value) in values.enumerate() {
        if value < least.1 {
            least = (arm, value);
        }
    }
    least.0
}

/// The arm that was played most often; in case of a tie, the one with the least value.
pub(super) fn most_played(plays: &[u64], value: impl Fn(usize) -> f64) -> usize {
    let mut most = 0;
    for arm in 1..plays.len() {
        if plays[arm] > plays[most] || plays[arm] == plays[most] && value(arm) < value(most) {
            most = arm;
        }
    }
    most
}

/// Checks the share of an arm's plays that an estimate uses: in (0, 1/2).
pub(super) fn check_share(policy: &'static str, share: f64) -> Result<(), PolicyError> {
    error::check(policy, "share", share, is_share(share), "in (0, 0.5)")
}

/// Whether this is a share of plays, of which an estimate can use two parts.
pub(super) fn is_share(share: f64) -> bool {
    share > 0.0 && share < 0.5
}

/// Checks counts of single plays by arm against the plays that were made.
pub(super) fn check_single_plays(history: &RestoredPlays<'_>, plays: &[u64]) -> Result<(), StateError> {
    ensure(plays.len() == history.arms, "the policy has another number of arms")?;
    let total = plays.iter().try_fold(0u64, |sum, &plays| sum.checked_add(plays));
    ensure(total.is_some(), "there are more plays than can be counted")?;
    let recorded = plays.iter().enumerate().all(|(arm, &plays)| history.has_recorded(arm, plays));
    ensure(recorded, "the plays of an arm differ from its recorded plays")?;
    ensure(!history.starts_warm(), "the policy cannot start from past losses")?;
    ensure(history.has_burn_in(0, 1), "there are burn-in plays")?;
    let asked = |run: Run| run.burn_in == 0 && run.record == 1;
    ensure(history.open.is_none_or(asked), "the open run is not one that the policy asks for")
}

/// Checks that this can be the largest absolute value of the losses observed, and that these are among them.
pub(super) fn check_largest<'a>(
    history: &RestoredPlays<'_>,
    largest: f64,
    mut losses: impl Iterator<Item = &'a f64>,
) -> Result<(), StateError> {
    let most = history.losses.0.abs().max(history.losses.1.abs());
    ensure((0.0..=most).contains(&largest), "the largest loss is out of range")?;
    let known = |loss: &f64| history.allows_mean(*loss) && loss.abs() <= largest;
    ensure(losses.all(known), "an observed loss is out of range")
}

/// Whether a sum of `terms` losses of at most this size, kept up to date term by term, agrees with the sum itself.
pub(super) fn sums_agree(kept: f64, exact: f64, terms: f64, largest: f64) -> bool {
    (kept - exact).abs() <= ROUNDING * terms * largest
}

/// Checks that these numbers of a restored policy are positive.
pub(super) fn ensure_positive(values: &[f64], otherwise: &'static str) -> Result<(), StateError> {
    ensure(values.iter().all(|value| *value > 0.0 && value.is_finite()), otherwise)
}

/// Setters of parameters that several policies have: `setters!(FewaSpec: alpha, sd, grid);`.
macro_rules! setters {
    (@one alpha) => {
        /// Sets the constant alpha, a positive number.
        pub fn alpha(mut self, constant: f64) -> Self {
            self.alpha = constant;
            self
        }
    };
    (@one sd) => {
        /// Sets the sub-Gaussian scale of the losses, a positive number.
        pub fn sd(mut self, scale: f64) -> Self {
            self.sd = scale;
            self
        }
    };
    (@one grid) => {
        /// Sets the ratio of successive window lengths, in [1.001, 1000].
        pub fn grid(mut self, ratio: f64) -> Self {
            self.grid = ratio;
            self
        }
    };
    (@one exploration) => {
        /// Sets the constant xi in the width, a positive number.
        pub fn exploration(mut self, constant: f64) -> Self {
            self.exploration = constant;
            self
        }
    };
    (@one share) => {
        /// Sets the share of an arm's plays that the policy looks at, in (0, 1/2).
        pub fn share(mut self, share: f64) -> Self {
            self.share = share;
            self
        }
    };
    ($spec:ty: $($parameter:ident),+) => {
        impl $spec {
            $(setters!(@one $parameter);)+
        }
    };
}
pub(super) use setters;

/// Checked parameters that are the number of arms and the specification itself, which has no default to fill in.
macro_rules! checked_spec {
    ($params:ident, $spec:ident, $policy:ident) => {
        #[doc = concat!("The checked parameters of [`", stringify!($policy), "`], made by `params` of its spec.")]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $params {
            arms: usize,
            spec: $spec,
        }
    };
}
pub(super) use checked_spec;

/// The items of [`PolicyConfig`](super::spec::PolicyConfig) that follow from [`checked_spec`].
macro_rules! plain_params {
    ($params:ident, $policy:ident) => {
        type Params = $params;
        type Policy = $policy;

        fn example() -> Self {
            $policy::builder()
        }

        fn params(&self, problem: &crate::Problem) -> Result<$params, crate::PolicyError> {
            super::error::check_problem(problem)?;
            self.check()?;
            Ok($params { arms: problem.arms, spec: self.clone() })
        }

        fn filled(params: &$params) -> Self {
            params.spec.clone()
        }

        fn start(params: $params, _: crate::Stream) -> $policy {
            $policy::new(params)
        }
    };
}
pub(super) use plain_params;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_the_first_of_equals_and_never_nan() {
        assert_eq!(least([2.0, 1.0, 1.0].into_iter()), 1);
        assert_eq!(least([f64::NAN, 3.0, f64::NAN].into_iter()), 1);
        assert_eq!(least([f64::NAN; 2].into_iter()), 0);
        assert_eq!(least([0.0, f64::NEG_INFINITY].into_iter()), 1);
    }

    #[test]
    fn the_most_played_arm_with_the_least_value() {
        let value = |arm: usize| [0.5, 0.2, 0.1][arm];
        assert_eq!(most_played(&[3, 3, 2], value), 1);
        assert_eq!(most_played(&[0, 0, 0], |_| f64::NAN), 0);
    }
}
