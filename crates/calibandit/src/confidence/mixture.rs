//! The wealth of a mixture of bets against a mean, for losses in [0, 1], and the means at which it is small.
//!
//! For x in [0, 1] with mean m, each of these factors has an expectation of at most 1, given the past, so products of
//! them are e-processes, and so are mixtures of products:
//!
//! - (p/m)^x · ((1 - p)/(1 - m))^(1 - x) for any p, because it is convex in x and so at most
//!   x·p/m + (1 - x)·(1 - p)/(1 - m). Mixed over p with a Beta(1/2, 1/2) law, n losses of sum S have the wealth
//!   B(S + 1/2, n - S + 1/2) / B(1/2, 1/2) / (m^S (1 - m)^(n - S)).
//! - exp(l·(x - m) - psi(l)·(x - c)²) for 0 <= l < 1, psi(l) = -ln(1 - l) - l, and any c in [0, 1] known before; the
//!   same for m - x. It is mixed over l = LARGEST·2^-j with weights 2/((j + 2)(j + 3)), which add up to less than 1.
//!
//! The logarithm of the wealth is convex in m and at most 0 at the mean of the losses. So the means at which it is
//! below a level are an interval around that mean.

use crate::math;

/// The largest parameter of the empirical Bernstein process.
const LARGEST: f64 = 0.8;
/// The number of its parameters: enough for 2^60 losses.
const PARAMETERS: usize = 31;
/// The most steps of a search for the end of an interval; far more than are needed.
const STEPS: usize = 60;
/// The ends of an interval are exact up to this number.
const PRECISION: f64 = 1e-13;

/// The least and the greatest mean at which the logarithm of the wealth is at most `level`. `variation` is the sum of
/// the squares (x - c)².
pub(super) fn interval(n: f64, mean: f64, variation: f64, level: f64) -> (f64, f64) {
    if n == 0.0 {
        return (0.0, 1.0);
    }
    let wealth = Wealth::new(n, mean, variation);
    (mean - wealth.distance(-1.0, mean, level), mean + wealth.distance(1.0, 1.0 - mean, level))
}

/// What the wealth at a mean depends on.
struct Wealth {
    n: f64,
    mean: f64,
    /// The logarithm of the Beta mixture at the mean of the losses.
    at_mean: f64,
    /// Per parameter l: n·l, and the logarithm of its weight less psi(l) times the variation.
    bernstein: [(f64, f64); PARAMETERS],
}

impl Wealth {
    fn new(n: f64, mean: f64, variation: f64) -> Self {
        let mut bernstein = [(0.0, 0.0); PARAMETERS];
        let mut l = LARGEST;
        for (j, entry) in bernstein.iter_mut().enumerate() {
            let weight = 2.0 / ((j + 2) as f64 * (j + 3) as f64);
            *entry = (n * l, math::ln(weight) - psi(l) * variation);
            l *= 0.5;
        }
        Self { n, mean, at_mean: beta_at_mean(n, mean), bernstein }
    }

    /// The logarithm of the wealth of the bets against `m`, and its derivative by the distance from the mean.
    fn log_at(&self, m: f64) -> (f64, f64) {
        let beta = self.at_mean + self.n * relative_entropy(self.mean, m);
        let distance = (self.mean - m).abs();
        // On the other side of the mean, each exponent is negative: that part of the wealth is left out, which makes
        // the interval at most a little longer.
        let exponents = self.bernstein.map(|(nl, offset)| nl * distance + offset);
        let most = exponents.iter().copied().fold(beta, f64::max);
        if most == f64::INFINITY {
            return (most, f64::INFINITY);
        }
        let part = 0.5 * math::exp(beta - most);
        let (mut sum, mut slope) = (part, part * self.n * distance / (m * (1.0 - m)));
        for (exponent, (nl, _)) in exponents.iter().zip(&self.bernstein) {
            let part = 0.25 * math::exp(exponent - most);
            sum += part;
            slope += part * nl;
        }
        (most + math::ln(sum), slope / sum)
    }

    /// How far from the mean of the losses the logarithm of the wealth is at most `level`, in this direction and at
    /// most up to `limit`; rounded up. The search is Newton's from outside, which does not overshoot, because the
    /// logarithm is convex.
    fn distance(&self, direction: f64, limit: f64, level: f64) -> f64 {
        let at = |distance: f64| self.log_at((self.mean + direction * distance).clamp(0.0, 1.0));
        let (mut inside, mut outside) = (0.0, (2.0 * level.max(0.0) / self.n).sqrt().min(limit));
        loop {
            let (value, _) = at(outside);
            if value > level {
                break;
            }
            if outside >= limit {
                return limit;
            }
            (inside, outside) = (outside, (2.0 * outside + PRECISION).min(limit));
        }
        for _ in 0..STEPS {
            let (value, slope) = at(outside);
            // At the end of the range the wealth may be infinite: halve until it is not.
            let next = if slope.is_finite() { outside - (value - level) / slope } else { 0.5 * (inside + outside) };
            if value <= level || outside - next <= PRECISION {
                break;
            }
            if slope.is_finite() || at(next).0 > level {
                outside = next;
            } else {
                inside = next;
            }
        }
        (outside + PRECISION).min(limit)
    }
}

/// -ln(1 - l) - l.
fn psi(l: f64) -> f64 {
    if l < 1e-3 { l * l * (0.5 + l * (1.0 / 3.0 + l * (0.25 + 0.2 * l))) } else { -math::ln_1p(-l) - l }
}

/// The relative entropy of a Bernoulli(p) to a Bernoulli(q); infinite where q excludes what p has.
fn relative_entropy(p: f64, q: f64) -> f64 {
    let part = |a: f64, b: f64| if a > 0.0 { a * math::ln(a / b) } else { 0.0 };
    (part(p, q) + part(1.0 - p, 1.0 - q)).max(0.0)
}

/// ln(B(S + 1/2, R + 1/2) / B(1/2, 1/2) / (p^S (1 - p)^R)) with S = n·p and R = n - S. Stirling's formula is applied
/// to the quotient, so that nothing of the size of n cancels.
fn beta_at_mean(n: f64, p: f64) -> f64 {
    let (s, r) = (n * p, n * (1.0 - p));
    let growth = |x: f64| if x > 0.0 { x * math::ln_1p(0.5 / x) } else { 0.0 };
    let powers = growth(s) + growth(r) - n * math::ln_1p(1.0 / n) - 0.5 * math::ln_1p(n);
    let half_log_two_pi = 0.5 * math::ln(2.0 * std::f64::consts::PI);
    let remainders = remainder(s + 0.5) + remainder(r + 0.5) - remainder(n + 1.0);
    half_log_two_pi + powers + remainders - math::ln(std::f64::consts::PI)
}

/// What Stirling's formula leaves of ln(Gamma(x)): ln(Gamma(x)) = ln(2 pi)/2 + (x - 1/2) ln(x) - x + remainder.
fn remainder(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum += (x + 0.5) * math::ln_1p(1.0 / x) - 1.0;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x
}

#[cfg(test)]
mod tests {
    use statrs::function::beta::ln_beta;

    use super::*;

    /// Compared with the logarithms of Beta functions of an independent library.
    #[test]
    fn the_beta_mixture_is_that_of_the_formula() {
        for (n, s) in [(1.0, 0.0), (1.0, 1.0), (7.0, 2.5), (32.0, 24.0), (1000.0, 1.0), (1e5, 3e4)] {
            let p: f64 = s / n;
            let power = |x: f64, p: f64| if x > 0.0 { x * p.ln() } else { 0.0 };
            let direct = ln_beta(s + 0.5, n - s + 0.5) - ln_beta(0.5, 0.5) - power(s, p) - power(n - s, 1.0 - p);
            assert!((beta_at_mean(n, p) - direct).abs() < 1e-7, "{n} {s}: {} {direct}", beta_at_mean(n, p));
        }
        // For large n it is -ln(n)/2 - ln(pi)/2 + ln(2)/2 - ...; the part that depends on n only:
        let (a, b) = (beta_at_mean(1e12, 0.5), beta_at_mean(1e14, 0.5));
        assert!((a - b - 0.5 * 100.0f64.ln()).abs() < 1e-6, "{a} {b}");
    }

    #[test]
    fn the_mixture_is_a_fair_bet() {
        // Over all sequences of six losses of 0 and 1 with mean m, the expected wealth is at most 1.
        for m in [0.1, 0.35, 0.5, 0.8] {
            let mut expected = 0.0;
            for bits in 0..64u32 {
                let (mut sum, mut variation) = (0.0, 0.0);
                for i in 0..6 {
                    let x = f64::from(bits >> i & 1);
                    let before = if i == 0 { 0.5 } else { sum / f64::from(i) };
                    variation += (x - before) * (x - before);
                    sum += x;
                }
                let wealth = Wealth::new(6.0, sum / 6.0, variation).log_at(m).0.exp();
                expected += wealth * f64::powf(m, sum) * f64::powf(1.0 - m, 6.0 - sum);
            }
            assert!(expected <= 1.0 && expected > 0.5, "{m}: {expected}");
        }
    }

    #[test]
    fn the_bernstein_factor_has_expectation_at_most_1() {
        for l in [0.8, 0.4, 0.1, 1e-4] {
            for c in [0.0, 0.3, 1.0] {
                for (x0, x1) in [(0.0, 1.0), (0.2, 0.9), (0.5, 0.6)] {
                    for p in [0.05, 0.5, 0.95] {
                        let m = x0 + p * (x1 - x0);
                        let factor = |x: f64| (l * (x - m) - psi(l) * (x - c) * (x - c)).exp();
                        assert!((1.0 - p) * factor(x0) + p * factor(x1) <= 1.0 + 1e-12, "{l} {c} {x0} {x1} {p}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_ends_are_where_the_wealth_is_at_the_level() {
        for (n, mean, variation) in
            [(40.0, 0.3, 8.4), (1e4, 0.5, 3.0), (12.0, 0.0, 0.25), (1e9, 0.2, 1.6e8), (5.0, 1.0, 0.25), (3.0, 0.9, 0.5)]
        {
            let wealth = Wealth::new(n, mean, variation);
            let (low, high) = interval(n, mean, variation, 4.0);
            assert!(low <= mean && mean <= high);
            for end in [low, high] {
                let value = wealth.log_at(end).0;
                assert!(end == 0.0 || end == 1.0 || (value - 4.0).abs() < 1e-3, "{n}: {end} {value}");
            }
        }
    }

    #[test]
    fn small_variance_gives_short_intervals() {
        let (low, high) = interval(1000.0, 0.5, 1000.0 * 0.25, 3.0);
        let (steady_low, steady_high) = interval(1000.0, 0.5, 1000.0 * 0.0001, 3.0);
        assert!(high - low < 0.14 && steady_high - steady_low < 0.02, "{low} {high} {steady_low} {steady_high}");
    }
}
