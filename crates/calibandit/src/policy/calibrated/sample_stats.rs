//! The recorded losses of one arm: their number, sum and sum of squares, and the evidence about their mean, in nats.

use crate::Feedback;
use crate::math;
use crate::policy::grouped_arms::ArmKey;
use crate::policy::history::{RestoredPlays, StateError, ensure};

/// All recorded losses of one arm. They come from the calibrated arm, so they are one i.i.d. sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct SampleStats {
    pub(super) n: f64,
    sum: f64,
    sum_sq: f64,
}

impl SampleStats {
    pub(super) fn add(&mut self, feedback: Feedback) {
        self.n += feedback.plays as f64;
        self.sum += feedback.sum;
        self.sum_sq += feedback.sum_sq;
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.n
    }

    /// By what the arm is grouped and sorted. The number of plays is a whole number below 2^53.
    pub(super) fn key(&self) -> ArmKey {
        ArmKey { plays: self.n as u64, sum: self.sum, sum_sq: self.sum_sq }
    }

    /// The sums of the losses and of 1 - loss, which are the counts of a Beta posterior.
    pub(super) fn counts(&self) -> (f64, f64) {
        (self.sum.clamp(0.0, self.n), (self.n - self.sum).clamp(0.0, self.n))
    }

    pub(super) fn variance(&self) -> f64 {
        let mean = self.mean();
        (self.sum_sq / self.n - mean * mean).max(0.0)
    }

    /// The square of the standard error of the mean. Small samples of losses in [0, 1] count one loss of the largest
    /// variance more.
    pub(super) fn squared_error(&self, bounded: bool) -> f64 {
        let squares = self.variance() * self.n;
        let variance = if bounded { (squares + 0.25) / (self.n + 1.0) } else { squares / (self.n - 1.0).max(1.0) };
        variance / self.n
    }

    /// The mean on a scale on which its standard error hardly depends on it, and the square of that error.
    ///
    /// For losses in [0, 1] this is twice the arc sine of the square root, which makes the variance of Bernoulli means
    /// 1/n (Anscombe 1948); for other losses the mean itself. Small samples count one loss of the largest variance
    /// more.
    pub(super) fn stabilised(&self, bounded: bool) -> (f64, f64) {
        let variance = self.variance();
        if !bounded {
            let variance = (variance * self.n + 1e-12) / (self.n - 1.0).max(1.0);
            return (self.mean(), variance / self.n);
        }
        let mean = ((self.sum + 0.375) / (self.n + 0.75)).clamp(1e-9, 1.0 - 1e-9);
        let most = mean * (1.0 - mean);
        let share = (self.n * variance.min(most) + most) / ((self.n + 1.0) * most);
        (2.0 * math::asin(mean.sqrt()), share / self.n)
    }

    /// The evidence, in nats, against the hypothesis that the arm's mean is at most `r`; 0 if its mean is at most `r`.
    ///
    /// For losses in [0, 1] it is the larger of two quantities: the Bernoulli likelihood ratio, sharp for losses of 0
    /// and 1, and the wealth of a bet against the hypothesis, sharp for losses of small variance. The bet multiplies
    /// `1 + b·(loss - r)` over the plays, with a stake b that depends on mean and variance (Waudby-Smith and Ramdas
    /// 2024). A lower bound of its logarithm needs only the sum and the sum of squares (Fan, Grama and Liu 2015).
    ///
    /// For other losses it is Student's likelihood ratio, which is exact for normal losses of unknown variance.
    pub(super) fn against(&self, r: f64, bounded: bool) -> f64 {
        let d = self.mean() - r;
        if d.is_nan() || d <= 0.0 {
            return 0.0;
        }
        if bounded && r < 1.0 {
            self.n * bernoulli(self.mean(), r).max(bet(d, self.variance(), r.max(1e-9)))
        } else {
            self.student(d, self.variance())
        }
    }

    fn student(&self, d: f64, variance: f64) -> f64 {
        let variance = variance * self.n / (self.n - 1.0).max(1.0) + 1e-12;
        0.5 * math::ln_1p(d * d / variance) * (self.n - 2.0).max(0.5)
    }

    /// A lower bound of the evidence of every arm with as many plays, at least this mean and at most this variance, up
    /// to rounding errors.
    pub(super) fn against_at_least(&self, r: f64, bounded: bool, most_variance: f64) -> f64 {
        let d = self.mean() - r;
        if d.is_nan() || d <= 0.0 {
            0.0
        } else if bounded && r < 1.0 {
            // Both parts rise with d, and the bet falls with the variance.
            self.n * bernoulli(self.mean(), r).max(bet(d, most_variance, r.max(1e-9)))
        } else {
            self.student(d, most_variance)
        }
    }
}

impl SampleStats {
    /// A lower bound of [`against_at_least`](Self::against_at_least) without logarithms, up to rounding errors: by
    /// Pinsker's inequality, and because `ln(1 + q)` is at least `2q/(2 + q)`.
    pub(super) fn against_roughly_at_least(&self, r: f64, bounded: bool, most_variance: f64) -> f64 {
        let d = self.mean() - r;
        if d.is_nan() || d <= 0.0 {
            0.0
        } else if bounded && r < 1.0 {
            2.0 * self.n * d * d
        } else {
            let q = d * d / (most_variance * self.n / (self.n - 1.0).max(1.0) + 1e-12);
            q / (2.0 + q) * (self.n - 2.0).max(0.5)
        }
    }
}

/// A limit of the evidence of arms with one number of plays. It is found without logarithms where losses are not in
/// [0, 1], because then hardly any two arms are equal and many have to be looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvidenceCut {
    evidence: f64,
    /// Student's likelihood ratio is above the limit where the squared difference of the means is this many times the
    /// variance.
    ratio: f64,
}

impl EvidenceCut {
    /// The limit for arms with `n` plays.
    pub(super) fn new(evidence: f64, n: f64) -> Self {
        Self { evidence, ratio: math::exp_m1(2.0 * evidence / (n - 2.0).max(0.5)) }
    }

    /// Whether the evidence of every arm with as many plays, at least this mean and at most this variance is above the
    /// limit.
    pub(super) fn excludes(&self, stats: &SampleStats, r: f64, bounded: bool, most_variance: f64) -> bool {
        if bounded && r < 1.0 {
            return stats.against_at_least(r, bounded, most_variance) > self.evidence;
        }
        let d = stats.mean() - r;
        let variance = most_variance * stats.n / (stats.n - 1.0).max(1.0) + 1e-12;
        // Without a difference there is no evidence.
        if d > 0.0 { d * d > self.ratio * variance } else { self.evidence < 0.0 }
    }
}

impl SampleStats {
    /// Checks restored statistics of an arm; `bounded` states that all losses can have come from [0, 1].
    pub(super) fn check_restored(
        &self,
        arm: usize,
        bounded: bool,
        history: &RestoredPlays<'_>,
    ) -> Result<(), StateError> {
        let Self { n, sum, sum_sq } = *self;
        // Every count up to 2^53 is exact; larger ones are not reached.
        let whole = n >= 0.0 && n.fract() == 0.0 && n <= (1u64 << 53) as f64;
        ensure(whole, "the number of recorded plays of an arm is not a number of plays")?;
        ensure(history.has_recorded(arm, n as u64), "the policy and the advisor differ in the recorded plays")?;
        ensure(history.allows_sums(n, sum, sum_sq), "the sums of the losses of an arm are out of range")?;
        ensure(!bounded || sum_sq <= sum * (1.0 + 1e-6) + 1e-6 * n, "the losses of an arm were not in [0, 1]")
    }
}

/// The relative entropy of a Bernoulli(p) to a Bernoulli(q).
pub(super) fn bernoulli(p: f64, q: f64) -> f64 {
    let (p, q) = (p.clamp(0.0, 1.0), q.clamp(1e-12, 1.0 - 1e-12));
    let part = |a: f64, b: f64| if a > 0.0 { a * math::ln(a / b) } else { 0.0 };
    (part(p, q) + part(1.0 - p, 1.0 - q)).max(0.0)
}

/// A lower bound on the growth of the bet's logarithm, per play: `(V/r²)·(u - ln(1 + u))` with `V = variance + d²` and
/// `u = d·r/V`.
fn bet(d: f64, variance: f64, r: f64) -> f64 {
    let v = variance + d * d;
    let u = d * r / v;
    // For small u the difference loses digits: two terms of its series are more precise.
    let growth = if u < 1e-3 { u * u * (0.5 - u / 3.0) } else { u - math::ln_1p(u) };
    v / (r * r) * growth
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::StreamKey;

    fn record(losses: &[f64]) -> SampleStats {
        let mut record = SampleStats::default();
        for &loss in losses {
            record.add(Feedback::one(loss));
        }
        record
    }

    #[test]
    fn relative_entropy_by_hand() {
        // 0.5 ln(0.5/0.35) + 0.5 ln(0.5/0.65)
        assert!((bernoulli(0.5, 0.35) - 0.047_155_340_7).abs() < 1e-9);
        assert_eq!(bernoulli(0.3, 0.3), 0.0);
        assert!((bernoulli(0.0, 0.25) - (4.0f64 / 3.0).ln()).abs() < 1e-12);
        assert!(bernoulli(1.0, 0.0).is_finite());
    }

    #[test]
    fn there_is_no_evidence_against_an_arm_with_a_smaller_mean() {
        for bounded in [true, false] {
            assert_eq!(record(&[0.2, 0.4]).against(0.31, bounded), 0.0);
            assert_eq!(SampleStats::default().against(0.5, bounded), 0.0);
        }
    }

    /// The bound never exceeds the logarithm of the wealth of the bet, which is a martingale under the hypothesis.
    #[test]
    fn the_bound_is_below_the_wealth_of_the_bet() {
        let mut losses = Vec::new();
        for i in 0..200u32 {
            losses.push(f64::from(i * i % 97) / 97.0);
            let record = record(&losses);
            for r in [0.05, 0.2, 0.4, 0.6] {
                let d = record.mean() - r;
                if d <= 0.0 {
                    continue;
                }
                let v = record.variance() + d * d;
                // The stake must not lose more than everything: b·r < 1 wherever the bound uses it.
                let b = (d / v) / (1.0 + d * r / v);
                let wealth: f64 = losses.iter().map(|loss| (b * (loss - r)).ln_1p()).sum();
                let bound = record.n * bet(d, record.variance(), r);
                assert!(bound <= wealth + 1e-9, "r {r}, n {}: {bound} above {wealth}", record.n);
            }
        }
    }

    #[test]
    fn losses_of_small_variance_give_more_evidence() {
        let steady = record(&[0.50, 0.51, 0.49, 0.50, 0.52, 0.48, 0.50, 0.50]);
        assert!(steady.against(0.4, true) > 5.0 * steady.n * bernoulli(0.5, 0.4));
    }

    /// Lemma 4: the closed form is the largest value of the bound over all stakes, and falls as the hypothesis rises.
    #[test]
    fn the_closed_form_of_the_bet_is_its_maximum_over_the_stake() {
        for r in [0.02, 0.2, 0.5, 0.8] {
            for d in [0.001, 0.05, 0.15, 0.19] {
                for variance in [1e-6, 1e-3, 0.02, 0.2] {
                    let v = variance + d * d;
                    let value = |a: f64| a / r * d + v / (r * r) * ((-a).ln_1p() + a);
                    let best = (1..100_000).map(|i| value(f64::from(i) / 100_000.0)).fold(0.0, f64::max);
                    let closed = bet(d, variance, r);
                    assert!(
                        closed >= best - 1e-12 && closed <= best * 1.001 + 1e-7,
                        "{r} {d} {variance}: {closed} {best}"
                    );
                    let e = 1e-4 * d;
                    assert!(bet(d - e, variance, r + e) <= closed, "{r} {d} {variance}: not falling");
                }
            }
        }
    }

    /// Draws from four laws on [0, 1] with this mean.
    fn draw(law: usize, mean: f64, stream: &mut crate::Stream) -> f64 {
        let u: f64 = stream.random();
        match law {
            0 => f64::from(u < mean),
            1 => u.powf(1.0 / mean - 1.0), // Beta(a, 1)
            2 => {
                if u < 0.9 {
                    mean - 0.02
                } else {
                    mean + 0.18
                }
            } // mostly a little below
            _ => {
                if u < 0.99 {
                    0.99 * mean
                } else {
                    1.99 * mean
                }
            }
        }
    }

    /// How often, of `paths`, `crosses` holds after some number of plays from `n` to 2n - 1.
    fn frequency(
        paths: u64,
        n: usize,
        law: usize,
        mean: f64,
        crosses: impl Fn(&SampleStats, f64) -> bool,
        stake: f64,
    ) -> f64 {
        let mut stream = StreamKey::new(7, "evidence", law as u64).noise();
        let crossed = (0..paths).filter(|_| {
            let (mut record, mut wealth) = (SampleStats::default(), 0.0);
            let mut any = false;
            for s in 1..2 * n {
                let loss = draw(law, mean, &mut stream);
                record.add(Feedback::one(loss));
                wealth += (stake * (loss - mean)).ln_1p();
                any |= s >= n && crosses(&record, wealth);
            }
            any
        });
        crossed.count() as f64 / paths as f64
    }

    /// Lemma 4: how often the evidence against the true mean reaches c while n doubles, for each of its parts.
    #[test]
    fn evidence_against_the_true_mean_is_as_rare_as_claimed() {
        let (paths, n) = (4000, 32);
        for (law, mean) in [(0, 0.5), (0, 0.05), (1, 0.3), (2, 0.4), (3, 0.5)] {
            let slack = |p: f64| p + 4.0 * (p / paths as f64).sqrt();
            for c in [2.0, 4.0, 5.0] {
                let kl =
                    |record: &SampleStats, _| record.mean() > mean && record.n * bernoulli(record.mean(), mean) >= c;
                let bound = std::f64::consts::E * (c + 2.0) * (-c).exp();
                assert!(frequency(paths, n, law, mean, kl, 0.0) <= slack(bound), "kl, law {law}, c {c}");
            }
            for part in [0.1, 0.5, 0.9] {
                let ville = frequency(paths, n, law, mean, |_, wealth| wealth >= 2.0, part / mean);
                assert!(ville <= slack((-2.0f64).exp()), "bet, law {law}, stake {part}: {ville}");
            }
            for c in [4.0, 6.0, 8.0] {
                let all = frequency(paths, n, law, mean, |record, _| record.against(mean, true) >= c, 0.0);
                // The bound of the lemma, and a tighter one that holds in these simulations.
                assert!(all <= slack(crossing(c, n as f64) * (-c).exp()), "all, law {law}, c {c}: {all}");
                assert!(all <= slack(4.0 * (c + 2.0) * (-c).exp()), "all, law {law}, c {c}: {all}");
            }
        }
    }

    /// The factor before exp(-c) in Lemma 4.
    fn crossing(c: f64, n: f64) -> f64 {
        let e = std::f64::consts::E;
        e * (c + 2.0) + 1.0 + e * ((c + 1.0) * (c + (2.0 * n).ln()) + 2.0)
    }

    #[test]
    fn student_likelihood_ratio_by_hand() {
        // Mean 1, sample variance 1, against 0: 1/2 ln(1 + 1) times n - 2 = 1.
        let record = record(&[0.0, 1.0, 2.0]);
        assert!((record.against(0.0, false) - 0.5 * 2.0f64.ln()).abs() < 1e-9);
    }
}
