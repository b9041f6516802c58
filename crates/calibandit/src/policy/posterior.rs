//! Posterior distributions of the mean of an arm: draws, and the probability of small draws.

use rand::RngExt;
use rand_distr::{Beta, ChiSquared, Distribution, StandardNormal};

use crate::Stream;
use crate::math;

/// The distribution of the mean of an arm, given its losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Posterior {
    /// For losses in [0, 1]; both parameters are at least 1.
    Beta { ones: f64, zeros: f64 },
    /// For other losses: `mean + z·sqrt(variance / chi)` with a normal z and a chi-squared chi.
    Student { mean: f64, variance: f64, freedom: f64 },
}

/// Above this probability a draw below a bound is found by repeated draws.
const OFTEN: f64 = 0.25;

impl Posterior {
    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Self::Beta { ones, zeros } => {
                Beta::new(ones, zeros).expect("both parameters of a posterior are at least 1").sample(stream)
            }
            Self::Student { mean, variance, freedom } => {
                let chi = ChiSquared::new(freedom).expect("at least one degree of freedom").sample(stream);
                let z: f64 = StandardNormal.sample(stream);
                mean + z * (variance / chi.max(1e-300)).sqrt()
            }
        }
    }

    /// The cumulative hazard -ln P(draw > x).
    pub(super) fn hazard(&self, x: f64) -> f64 {
        match *self {
            Self::Beta { ones, zeros } => match incomplete_beta(x, ones, zeros) {
                Tail::Lower(p) => -math::ln_1p(-p),
                Tail::Upper(p) => -math::ln(p),
            },
            Self::Student { mean, variance, freedom } => {
                let t = (x - mean) / (variance / freedom).sqrt();
                let half_tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5).lower();
                if t < 0.0 { -math::ln_1p(-half_tail) } else { -math::ln(half_tail) }
            }
        }
    }

    /// A draw, given that it is below `x`, where the hazard is this one.
    pub(super) fn draw_below(&self, x: f64, hazard: f64, stream: &mut Stream) -> f64 {
        let probability = -(-hazard).exp_m1();
        if probability > OFTEN {
            loop {
                let draw = self.draw(stream);
                if draw < x {
                    return draw;
                }
            }
        }
        match *self {
            Self::Beta { ones: 1.0, zeros } => {
                // The distribution function is 1 - (1 - x)^zeros.
                -(math::ln_1p(-probability * stream.random::<f64>()) / zeros).exp_m1()
            }
            Self::Beta { ones, zeros } => beta_below(ones - 1.0, zeros - 1.0, x, stream),
            Self::Student { mean, variance, freedom } => {
                let scale = (variance / freedom).sqrt();
                mean - scale * student_above((mean - x) / scale, freedom, stream)
            }
        }
    }
}

/// A draw below `x` from the density `y^a·(1 - y)^b`. Its logarithm is concave, so it lies below the exponential
/// function that touches it at `x`: a draw from that is accepted with the ratio of the two.
fn beta_below(a: f64, b: f64, x: f64, stream: &mut Stream) -> f64 {
    let slope = a / x - b / (1.0 - x);
    loop {
        let uniform: f64 = stream.random();
        let below =
            if (slope * x).abs() < 1e-6 { uniform * x } else { -math::ln_1p(uniform * (-slope * x).exp_m1()) / slope };
        let y = x - below;
        if y > 0.0 {
            let ratio = a * math::ln(y / x) + b * math::ln_1p(below / (1.0 - x)) + slope * below;
            if stream.random::<f64>() < math::exp(ratio) {
                return y;
            }
        }
    }
}

/// A draw above `t`, which is positive, from Student's distribution. `freedom / (freedom + t²)` has a beta distribution
/// with the second parameter 1/2.
fn student_above(t: f64, freedom: f64, stream: &mut Stream) -> f64 {
    let most = freedom / (freedom + t * t);
    loop {
        let y = most * math::exp(2.0 / freedom * math::ln(stream.random::<f64>()));
        if y > 0.0 && stream.random::<f64>() < ((1.0 - most) / (1.0 - y)).sqrt() {
            return (freedom * (1.0 / y - 1.0)).sqrt();
        }
    }
}

/// The smaller of two tails, which is the more precise one.
enum Tail {
    Lower(f64),
    Upper(f64),
}

impl Tail {
    fn lower(self) -> f64 {
        match self {
            Self::Lower(p) => p,
            Self::Upper(p) => 1.0 - p,
        }
    }
}

/// The distribution function of a beta distribution, by a continued fraction (DLMF 8.17.22).
fn incomplete_beta(x: f64, a: f64, b: f64) -> Tail {
    if x <= 0.0 {
        return Tail::Lower(0.0);
    }
    if x >= 1.0 {
        return Tail::Upper(0.0);
    }
    let front = math::exp(a * math::ln(x) + b * math::ln_1p(-x) - ln_beta(a, b));
    if x < (a + 1.0) / (a + b + 2.0) {
        Tail::Lower(front * continued_fraction(x, a, b) / a)
    } else {
        Tail::Upper(front * continued_fraction(1.0 - x, b, a) / b)
    }
}

/// Lentz's method.
fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |y: f64| if y.abs() < 1e-300 { 1e-300 } else { y };
    let mut c = 1.0;
    let mut d = away_from_zero(1.0 - (a + b) * x / (a + 1.0)).recip();
    let mut value = d;
    // The number of steps grows as the square root of the larger parameter.
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = away_from_zero(1.0 + even * d).recip();
        c = away_from_zero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = away_from_zero(1.0 + odd * d).recip();
        c = away_from_zero(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the beta function.
fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// The logarithm of the gamma function, by Stirling's series, of a positive number.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 16.0 {
        product *= x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series =
        1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0)));
    let half_ln_two_pi = 0.918_938_533_204_672_8;
    (x - 0.5) * math::ln(x) - x + half_ln_two_pi + series / x - math::ln(product)
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Beta as BetaLaw, ContinuousCDF, StudentsT};

    use super::*;
    use crate::StreamKey;

    fn beta(ones: f64, zeros: f64) -> Posterior {
        Posterior::Beta { ones, zeros }
    }

    /// Against the distribution functions of statrs.
    #[test]
    fn hazards_are_those_of_the_distributions() {
        for (a, b) in [(1.0, 1.0), (1.0, 7.0), (2.0, 1.0), (3.5, 9.0), (40.0, 61.5), (1000.0, 2000.0)] {
            let law = BetaLaw::new(a, b).unwrap();
            for x in [1e-9, 1e-4, 0.03, 0.2, 0.33, 0.5, 0.9] {
                let (found, expected) = (beta(a, b).hazard(x), -(1.0 - law.cdf(x)).ln());
                let lower = law.cdf(x);
                let fits = if lower < 1e-3 {
                    (found - lower - 0.5 * lower * lower).abs() <= 1e-6 * lower
                } else {
                    !expected.is_finite() || (found - expected).abs() < 1e-7 * (1.0 + expected)
                };
                assert!(fits, "Beta({a}, {b}) at {x}: {found}, expected {expected}");
            }
        }
        for freedom in [1.0, 2.5, 30.0] {
            let law = StudentsT::new(0.4, (0.09f64 / freedom).sqrt(), freedom).unwrap();
            let posterior = Posterior::Student { mean: 0.4, variance: 0.09, freedom };
            for x in [-3.0, -0.2, 0.1, 0.39, 0.41, 0.8] {
                let (found, expected) = (posterior.hazard(x), -(1.0 - law.cdf(x)).ln());
                assert!((found - expected).abs() < 1e-7 * (1.0 + expected), "{freedom} {x}: {found} {expected}");
            }
        }
    }

    #[test]
    fn factorials_and_half_integers_of_the_gamma_function() {
        // The terms are of size 40, with rounding errors of a few times 10^-15.
        assert!((ln_gamma(11.0) - 3_628_800f64.ln()).abs() < 1e-13);
        assert!((ln_gamma(1.0)).abs() < 1e-13 && (ln_gamma(2.0)).abs() < 1e-13);
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-13);
    }

    /// Quantiles of draws below a bound, in every branch, against the distribution function.
    #[test]
    fn draws_below_a_bound_have_the_conditional_distribution() {
        let mut stream = StreamKey::new(1, "posterior", 0).noise();
        let student = |freedom| Posterior::Student { mean: 0.4, variance: 0.09, freedom };
        let cases = [
            (beta(1.0, 1.0), 0.1),
            (beta(1.0, 30.0), 0.001),
            (beta(2.0, 30.0), 0.001),
            (beta(2.0, 30.0), 0.03),
            (beta(2.5, 1.5), 0.2),
            (beta(60.0, 90.5), 0.3),
            (beta(60.0, 90.5), 0.45),
            (student(1.0), -3.0),
            (student(5.5), 0.0),
            (student(5.5), 0.5),
        ];
        let n = 20_000;
        for (posterior, x) in cases {
            let hazard = posterior.hazard(x);
            let probability = |x: f64| 1.0 - (-posterior.hazard(x)).exp();
            let mut draws: Vec<f64> = (0..n).map(|_| posterior.draw_below(x, hazard, &mut stream)).collect();
            draws.sort_by(f64::total_cmp);
            assert!(draws[n - 1] < x);
            // The Kolmogorov-Smirnov distance is below 2 / sqrt(n) but for a probability of 0.0007.
            for (i, &draw) in draws.iter().enumerate().step_by(97) {
                let expected = probability(draw) / probability(x);
                let distance = (i as f64 / n as f64 - expected).abs();
                assert!(distance < 2.0 / (n as f64).sqrt(), "{posterior:?} below {x}: {distance}");
            }
        }
    }
}
