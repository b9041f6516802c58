//! The constants of the index `empirical-bayes`, which can be varied.

use crate::policy::PolicyError;
use crate::policy::error::check;

/// The constants of the index `empirical-bayes`. docs/calibrated.md shows what happens when they are varied.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Tuning {
    /// The factor in the threshold of Lai (1987): the larger it is, the less evidence rules an arm out, at least 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1.0, max = 1e12)))]
    pub caution: f64,
    /// How common arms of an unknown kind are, compared with Laplace's rule of succession: one to every N + 1 arms of a
    /// crowd of N clearly worse ones. The larger it is, the less the crowd lowers the threshold.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12)))]
    pub novelty: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { caution: 3.0, novelty: 1.0 }
    }
}

impl Tuning {
    /// Sets the factor in the threshold of Lai (1987), at least 1.
    pub fn caution(mut self, factor: f64) -> Self {
        self.caution = factor;
        self
    }

    /// Sets how common arms of an unknown kind are, a positive number.
    pub fn novelty(mut self, density: f64) -> Self {
        self.novelty = density;
        self
    }

    /// Checks every constant; `policy` is the name that errors have.
    pub(super) fn check(&self, policy: &'static str) -> Result<(), PolicyError> {
        let Self { caution, novelty } = *self;
        check(policy, "tuning.caution", caution, (1.0..=MOST).contains(&caution), "in [1, 1e12]")?;
        check(policy, "tuning.novelty", novelty, novelty > 0.0 && novelty <= MOST, "in (0, 1e12]")
    }

    /// Whether every constant is in its range.
    pub(super) fn is_valid(&self) -> bool {
        self.check("calibrated").is_ok()
    }
}

/// The largest value of a constant, at which its effect is complete.
const MOST: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_errors_that_name_the_field() {
        assert!(Tuning::default().is_valid());
        for (tuning, field) in [
            (Tuning::default().caution(0.5), "tuning.caution"),
            (Tuning::default().novelty(0.0), "tuning.novelty"),
            (Tuning::default().novelty(f64::NAN), "tuning.novelty"),
            (Tuning::default().caution(f64::INFINITY), "tuning.caution"),
        ] {
            let error = tuning.check("calibrated").unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
    }
}
