//! The choice of a model for an arm: a given one, or the best by Akaike's criterion.

use serde::{Deserialize, Serialize};

use crate::curve::{Fit, FitError, Observation, WarmUp, fit};

/// Which model to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ModelChoice {
    /// For each arm the model with a level that has the least AIC, among those whose curve stays in [0, 1].
    #[default]
    Auto,
    /// The paper's model: beta·exp(-alpha·k) - gamma·k. Losses can settle only at zero, so it is never chosen by
    /// `auto`.
    #[serde(alias = "lap")]
    #[cfg_attr(feature = "clap", value(alias = "lap"))]
    ExponentialLinear,
    /// A curve that settles at a level: level + beta·exp(-alpha·k).
    Settling,
    /// A level and a linear decrease: level + beta·exp(-alpha·k) - gamma·k.
    Plateau,
}

impl ModelChoice {
    /// The model, if it is not chosen by the data.
    pub fn model(self) -> Option<WarmUp> {
        match self {
            ModelChoice::Auto => None,
            ModelChoice::ExponentialLinear => Some(WarmUp::ExponentialLinear),
            ModelChoice::Settling => Some(WarmUp::Settling),
            ModelChoice::Plateau => Some(WarmUp::Plateau),
        }
    }
}

/// Fits a curve of the chosen model. With [`ModelChoice::Auto`], all models with a level are fitted that the number of
/// positions allows. The paper's model is not among them: its curve runs to zero and below, wherever losses settle. Of
/// those whose curve stays in [0, 1] up to the last observed position, the one with the least
/// [`aicc`](Fit::aicc) is returned (the least [`aic`](Fit::aic) if there are too few observations for the correction);
/// if none stays there, the one with the least criterion of all.
///
/// # Errors
/// As [`fit`].
pub fn fit_choice(choice: ModelChoice, observations: &[Observation]) -> Result<Fit, FitError> {
    if let Some(model) = choice.model() {
        return fit(model, observations);
    }
    let mut fits = Vec::new();
    let mut refused = None;
    for model in WarmUp::ALL.into_iter().filter(|model| model.has_level()) {
        match fit(model, observations) {
            Ok(fit) => fits.push(fit),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let smallest = |a: &Fit, b: &Fit| {
        let ((a_uncorrected, a_value), (b_uncorrected, b_value)) = (criterion(a), criterion(b));
        let by_criterion = a_uncorrected.cmp(&b_uncorrected).then(a_value.total_cmp(&b_value));
        // If all models fit equally well, for example constant losses, the one with the fewest parameters is taken.
        by_criterion.then(a.model.parameters().cmp(&b.model.parameters()))
    };
    let inside = fits.iter().filter(|fit| leaves_range(fit, fit.last).is_none()).min_by(|a, b| smallest(a, b)).cloned();
    match inside.or_else(|| fits.into_iter().min_by(smallest)) {
        Some(best) => Ok(best),
        None => Err(refused.expect("a model that was not fitted was refused")),
    }
}

/// Akaike's criterion for small samples, and whether it lacks the correction because there are too few observations for
/// the model: such a model comes last.
fn criterion(fit: &Fit) -> (bool, f64) {
    // The search finds alpha up to a relative error of about 1e-9. Losses lie in [0, 1] or near it, so residuals below
    // a millionth are no reason to prefer a model.
    let rounded = Fit { sse: fit.sse.max(1e-12 * fit.observations as f64), ..fit.clone() };
    match rounded.aicc() {
        Some(corrected) => (false, corrected),
        None => (true, rounded.aic()),
    }
}

/// The first position up to `last` at which the curve is not in [0, 1].
pub(crate) fn leaves_range(fit: &Fit, last: u32) -> Option<u32> {
    (1..=last).find(|&k| !(0.0..=1.0).contains(&fit.mean(k)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observe(runs: u32, last: u32, mean: impl Fn(f64) -> f64) -> Vec<Observation> {
        let noise = |i: u32| (f64::from(i * 7919 % 1009) / 1009.0 - 0.5) * 0.05;
        let all = (0..runs).flat_map(|run| (1..=last).map(move |k| (k, run * last + k)));
        all.map(|(position, i)| Observation { position, loss: mean(f64::from(position)) + noise(i) }).collect()
    }

    fn chosen(seen: &[Observation]) -> Fit {
        fit_choice(ModelChoice::Auto, seen).unwrap()
    }

    #[test]
    fn the_model_that_made_the_losses_is_chosen() {
        let settling = chosen(&observe(20, 60, |k| 0.15 + 0.7 * (-0.3 * k).exp()));
        assert_eq!(settling.model, WarmUp::Settling);
        assert!((settling.terminal_mean() - 0.15).abs() < 0.005, "{settling:?}");
        let both = chosen(&observe(50, 30, |k| 0.5 + 0.4 * (-0.8 * k).exp() - 0.01 * k));
        assert_eq!(both.model, WarmUp::Plateau);
    }

    #[test]
    fn the_model_without_a_level_is_taken_only_if_it_is_asked_for() {
        let fall = |k: f64| 0.8 * (-0.2 * k).exp() - 0.002 * k;
        let falling: Vec<Observation> =
            (1..=12).map(|position| Observation { position, loss: fall(f64::from(position)) }).collect();
        let paper = fit_choice(ModelChoice::ExponentialLinear, &falling).unwrap();
        assert!(paper.sse < 1e-12 && chosen(&falling).model.has_level(), "even where it is the exact one");
    }

    #[test]
    fn curves_inside_the_unit_interval_are_preferred() {
        // A line that reaches 0 at the last position: with noise, the best curve of the paper's model ends below 0.
        let seen = observe(3, 8, |k| (0.02 + 0.5 * (-0.9 * k).exp() - 0.0005 * k).max(0.0));
        let best = chosen(&seen);
        assert_eq!(leaves_range(&best, best.last), None, "{best:?}");
    }

    #[test]
    fn too_few_positions_for_one_model_are_enough_for_another() {
        let seen = observe(4, 3, |k| 0.2 + 0.4 / k);
        assert!(chosen(&seen).model != WarmUp::Plateau);
        assert_eq!(fit_choice(ModelChoice::Plateau, &seen), Err(FitError::TooFew { given: 3, needed: 4 }));
        assert_eq!(fit_choice(ModelChoice::Auto, &seen[..2]), Err(FitError::TooFew { given: 2, needed: 3 }));
    }

    #[test]
    fn a_curve_through_all_losses_has_the_fewest_parameters() {
        let seen: Vec<Observation> = (1..=12).map(|position| Observation { position, loss: 0.5 }).collect();
        assert_eq!(chosen(&seen).model.parameters(), 4);
        assert!((chosen(&seen).terminal_mean() - 0.5).abs() < 1e-9);
    }
}
