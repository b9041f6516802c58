//! An estimate of the least regret that a policy can have.
//!
//! It has two terms. *Information*: Lai and Robbins (1985) and Burnetas and Katehakis (1996) show that a policy that is
//! good on all games plays an arm of gap Δ about `ln T / KL` times, where KL is the divergence of the arm's calibrated
//! feedback from the same law with the best arm's mean. *Burn-in*: a policy can learn an eventual loss only by
//! calibrating the arm once, which costs the losses of a run up to calibration.
//!
//! The first term holds as T goes to infinity: it is not a bound at a given T, and a policy may stay below it. For
//! short T and tiny gaps, it counts at most T/K plays per arm. The second term assumes that arms are calibrated by one
//! run from an empty window, in games that satisfy repeated exposure optimality.

use calibandit::{Arm, Exposure, Game, Noise};
use serde::{Deserialize, Serialize};
use statrs::function::beta::ln_beta;
use statrs::function::gamma::digamma;

/// The two terms of the estimate, in units of CPR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LowerBoundEstimate {
    /// Sum over arms of gap · min(ln T / KL, T / K).
    pub information: f64,
    /// Sum over arms of the cost beyond mu(x*) of a run before it is calibrated, minus what the optimum pays too.
    pub burn_in: f64,
}

impl LowerBoundEstimate {
    /// The estimate for a game over `horizon` plays; `optimum` is the excess over mu(x*) of the optimum.
    pub fn of(game: &Game, horizon: u64, optimum: f64) -> Self {
        let best = game.best_loss();
        let share = horizon as f64 / game.arms().len() as f64;
        let plays = |arm: &Arm| ((horizon as f64).ln() / divergence(arm, best)).min(share);
        let information = game
            .arms()
            .iter()
            .map(|arm| (arm.eventual_loss() - best, arm))
            .filter(|(gap, _)| *gap > 0.0)
            .map(|(gap, arm)| gap * plays(arm))
            .sum();
        let all: f64 = game.arms().iter().map(|arm| burn_in(arm, best)).sum();
        Self { information, burn_in: (all - optimum.max(0.0)).max(0.0) }
    }

    /// The sum of both terms.
    pub fn total(&self) -> f64 {
        self.information + self.burn_in
    }
}

/// The excess over `best` of the plays of a run before the first calibrated one.
fn burn_in(arm: &Arm, best: f64) -> f64 {
    if arm.is_rested() {
        return 0.0; // it has no burn-in that ends
    }
    let memory = arm.memory();
    let mut tally = 0.0;
    let mut excess = 0.0;
    for (age, weight) in arm.weights().as_slice()[..memory - 1].iter().enumerate() {
        tally += weight;
        excess += arm.loss(Exposure { tally, plays: age + 1, memory }) - best;
    }
    excess.max(0.0)
}

/// The Kullback–Leibler divergence of a calibrated arm's feedback from the same kind of feedback with mean `best`:
/// Bernoulli, normal with the arm's deviation, beta with the arm's concentration. Infinite if one observation
/// distinguishes them, as without noise.
fn divergence(arm: &Arm, best: f64) -> f64 {
    let mean = arm.eventual_loss();
    match arm.noise() {
        Noise::Bernoulli => relative_entropy(mean, best) + relative_entropy(1.0 - mean, 1.0 - best),
        Noise::Normal { sd } => (mean - best).powi(2) / (2.0 * sd * sd),
        Noise::Beta { concentration } => {
            let ((a, b), (c, d)) = (shapes(mean, concentration), shapes(best, concentration));
            if a.min(b).min(c).min(d) <= 0.0 {
                return f64::INFINITY;
            }
            ln_beta(c, d) - ln_beta(a, b) + (a - c) * digamma(a) + (b - d) * digamma(b)
                - (a + b - c - d) * digamma(a + b)
        }
        // Without noise one observation tells the arms apart. For a kind of noise that is not known here, infinity
        // makes the arm add nothing to the lower bound.
        _ => f64::INFINITY,
    }
}

fn shapes(mean: f64, concentration: f64) -> (f64, f64) {
    (mean * concentration, (1.0 - mean) * concentration)
}

/// p·ln(p/q), with its limits at 0.
fn relative_entropy(p: f64, q: f64) -> f64 {
    match (p, q) {
        (p, _) if p <= 0.0 => 0.0,
        (_, q) if q <= 0.0 => f64::INFINITY,
        (p, q) => p * (p / q).ln(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibandit::{LossCurve, Weights, optimum};

    fn arm(losses: [f64; 3], noise: Noise) -> Arm {
        Arm::new(Weights::unit(3).unwrap(), LossCurve::by_plays(losses), noise).unwrap()
    }

    /// The run of the best arm is also the optimum's, so only the first two plays of the other arm count,
    /// (0.9 - 0.25) + (0.8 - 0.25) = 1.2; and kl(0.5, 0.25) = ln(4/3)/2, so that 0.25·ln(1000)/kl = 12.0060…
    #[test]
    fn estimate_of_a_small_game_matches_hand_calculation() {
        let game = Game::new(vec![
            arm([0.3, 0.3, 0.25], Noise::Bernoulli), //
            arm([0.9, 0.8, 0.5], Noise::Bernoulli),
        ])
        .unwrap();
        let best = optimum(&game, 1000).unwrap().excess;
        assert!((best - 0.1).abs() < 1e-12);
        let lower_bound = LowerBoundEstimate::of(&game, 1000, best);
        assert!((lower_bound.burn_in - 1.2).abs() < 1e-12, "{lower_bound:?}");
        let by_hand = 0.25 * 6.907_755_278_982_137 / (0.287_682_072_451_780_9 / 2.0);
        assert!((lower_bound.information - by_hand).abs() < 1e-9, "{lower_bound:?}");
        assert!((lower_bound.total() - by_hand - 1.2).abs() < 1e-9);
        // At T = 20, T/K = 10 plays are less than ln 20 / kl = 20.8.
        assert!((LowerBoundEstimate::of(&game, 20, best).information - 2.5).abs() < 1e-12);
    }

    #[test]
    fn divergence_of_every_kind_of_feedback() {
        let of = |noise, best| divergence(&arm([0.5; 3], noise), best);
        // 0.2² / (2·0.1²)
        assert!((of(Noise::Normal { sd: 0.1 }, 0.3) - 2.0).abs() < 1e-12);
        assert_eq!(of(Noise::None, 0.3), f64::INFINITY);
        assert_eq!(of(Noise::Bernoulli, 0.0), f64::INFINITY);
        assert_eq!(of(Noise::Beta { concentration: 2.0 }, 0.0), f64::INFINITY);
    }

    /// Beta(1, 1) is uniform, so its divergence from Beta(c, d) is -∫ ln p = ln B(c, d) + (c - 1) + (d - 1); for
    /// Beta(1/2, 3/2), B = π/2. And a general case against numeric integration.
    #[test]
    fn beta_divergence_agrees_with_integration() {
        let uniform = arm([0.5; 3], Noise::Beta { concentration: 2.0 });
        assert!((divergence(&uniform, 0.25) - std::f64::consts::FRAC_PI_2.ln()).abs() < 1e-12);
        let (mean, best, concentration) = (0.5, 0.3, 10.0);
        let density = |mean: f64, x: f64| {
            let (a, b) = shapes(mean, concentration);
            ((a - 1.0) * x.ln() + (b - 1.0) * (1.0 - x).ln() - ln_beta(a, b)).exp()
        };
        let steps = 100_000;
        let integral: f64 = (0..steps)
            .map(|i| (f64::from(i) + 0.5) / f64::from(steps))
            .map(|x| density(mean, x) * (density(mean, x) / density(best, x)).ln())
            .sum::<f64>()
            / f64::from(steps);
        let closed = divergence(&arm([0.5; 3], Noise::Beta { concentration }), best);
        assert!((closed - integral).abs() < 1e-7, "{closed} {integral}");
    }
}
