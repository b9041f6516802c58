//! The monitor: does the bound on the memory look too small?
//!
//! If the memory is at most M, the losses of an arm from its M-th play in a row on have the same mean. The monitor
//! compares early ones of them with later ones of the same run. The length of a run is fixed before it starts, so which
//! plays are compared does not depend on their losses. Losses are compared in blocks of one early play and some later
//! ones, scaled to [0, 1] by the mean and spread of plays that are in no block. With a guess a of the early mean, a
//! guess b of the later mean and their weighted mean c, the wealth of a block is the product of
//!
//! ```text
//! x·a/c + (1 - x)·(1 - a)/(1 - c)  for the early loss x,   x·b/c + (1 - x)·(1 - b)/(1 - c)  for each later loss x.
//! ```
//!
//! Its expectation is at most 1 if all means are the same (Turner, Ly and Grünwald 2024, "Generic E-variables for exact
//! sequential k-sample tests that allow for optional stopping", Journal of Statistical Planning and Inference 230): its
//! logarithm is a concave function of that mean with the maximum 0 at c. The guess b is the mean of later plays of
//! other blocks; a differs from it by one of a few steps. So the product over all blocks is an e-process, and so is the
//! mixture over the steps and over the number of early plays: it reaches 1/0.05 with a probability of at most 5 %, at
//! any time.
//!
//! Only runs that begin with a switch are compared; later runs of a visit are farther from the warm-up. Losses of
//! burn-in plays from the M-th on are used if they are told. With the *probe*, the first visit of each arm has a
//! burn-in of 4M - 1 plays, so that a memory of up to 4M shows, and [`probe_test`](super::probe_test) compares these
//! plays once, with a probability of a false alarm of 4 %; the bets then have the remaining 1 %. In terms of wealth,
//! four fifths are staked on a rejection, which pays 25, and one fifth on the bets.
//!
//! What it cannot see: a change after the end of the runs, or one that is small compared with the noise of a few times
//! M losses per arm. Its silence does not prove that M is long enough.

use crate::Run;
use crate::confidence::{LossAssumption, LossScale};
use crate::math;
#[cfg(feature = "serde")]
use crate::policy::{StateError, history::ensure};

use super::probe_test::{self, ProbeTest, ProbedRun};

/// The losses of a run are collected in at most this many bins.
const BINS: u64 = 256;
/// The early plays are M/2, M, or 3M, but at most half of all. These are twice the multiples.
const EARLY: [u64; 3] = [1, 2, 6];
/// By how much the early mean exceeds the later one, in the scaled losses, and the weight of that bet. Repeated
/// exposure lets losses fall; a little is staked on the opposite.
const STEPS: [(f64, f64); 3] = [(0.2, 0.4), (0.4, 0.4), (-0.3, 0.2)];
const BETS: usize = EARLY.len() * STEPS.len();
/// This part of the later plays, the last ones, is used for the first guess of their mean only.
const FOR_GUESS: usize = 4;
/// Guesses stay this far from 0 and 1.
const MARGIN: f64 = 0.02;
/// The probability of a false alarm.
const FALSE_ALARMS: f64 = 0.05;
/// The burn-in of a probe, as a multiple of M.
const PROBE: u64 = 4;
/// Losses in [0, 1] are added as multiples of 2^-32, so that sums do not depend on the order.
const UNIT: f64 = (1u64 << 32) as f64;
/// The losses are scaled by the mean and the spread of the last plays, which are in no block: this many standard
/// deviations to each side become [0, 1].
const DEVIATIONS: f64 = 2.0;
/// The least standard deviation for that, as a part of the range.
const LEAST_DEVIATION: f64 = 1e-3;
/// Losses without a range are taken to lie within this many standard deviations of the losses so far.
const RANGE_DEVIATIONS: f64 = 64.0;
/// A bound on the logarithm of the wealth of a bet, far beyond any use, so that it stays finite.
const MOST_EVIDENCE: f64 = 1e6;

/// What the monitor says about the bound on the memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MonitorVerdict {
    /// Whether the bound looks too small. An alarm stays.
    pub alarm: bool,
    /// The greatest evidence so far, in nats.
    pub evidence: f64,
    /// The evidence at which there is an alarm.
    pub threshold: f64,
    /// The probability of an alarm at any time if the bound is long enough.
    pub false_alarms: f64,
    /// The number of runs that were compared.
    pub runs: u64,
    /// The bound on the memory, if the advisor knows it.
    pub memory_bound: Option<u64>,
    /// Whether first visits have a longer burn-in.
    pub probe: bool,
    /// With the probe, after the first visits: the least difference between the losses from the M-th to the 2M-th play
    /// in a row and the later ones that the test of the probes finds in 80 % of the cases. Half of it takes four times
    /// as many plays.
    pub detectable: Option<f64>,
}

impl std::fmt::Display for MonitorVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { alarm, evidence, threshold, runs, memory_bound, .. } = *self;
        let bound = memory_bound.map_or_else(|| "the burn-in".to_string(), |bound| format!("the memory bound {bound}"));
        match (alarm, runs) {
            (true, _) => write!(
                f,
                "{bound} looks too small: losses still change after it (evidence {evidence:.1} of {threshold:.1}, \
                 false alarms at most {:.0} %)",
                100.0 * self.false_alarms
            ),
            (false, 0) => write!(f, "nothing to compare yet: {bound} was not tested"),
            (false, _) => {
                let compared = format!("evidence {evidence:.1} of {threshold:.1}, {runs} runs compared");
                write!(f, "no sign that {bound} is too small ({compared}")?;
                self.detectable.map_or(Ok(()), |least| {
                    let digits = two_digits(least);
                    write!(
                        f,
                        "; the probes show a change of {least:.digits$} in 80 % of cases, smaller ones less often"
                    )
                })?;
                f.write_str(")")
            }
        }
    }
}

/// The number of decimals with which a positive number has two digits.
fn two_digits(number: f64) -> usize {
    (0..12).find(|&decimals| number * 10_f64.powi(decimals) >= 9.5).unwrap_or(12) as usize
}

/// The wealth of the bets against the bound on the memory.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Monitor {
    pub(super) memory_bound: Option<u64>,
    pub(super) probe: bool,
    /// The logarithms of the wealth of each bet.
    bets: Vec<f64>,
    /// The greatest logarithm of the wealth of their mixture.
    peak: f64,
    runs: u64,
    /// The number, mean and squared differences of the recorded losses of all arms.
    pooled: (f64, f64, f64),
    /// The test of the probes.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "ProbeTest::is_empty"))]
    probes: ProbeTest,
}

impl Default for Monitor {
    fn default() -> Self {
        let (bets, pooled, probes) = (vec![0.0; BETS], (0.0, 0.0, 0.0), ProbeTest::default());
        Self { memory_bound: None, probe: false, bets, peak: 0.0, runs: 0, pooled, probes }
    }
}

/// The losses of a run from the M-th play in a row on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct RunBins {
    /// The position of the first of these plays in the run, from 0: M - 1.
    from: u64,
    /// Their number.
    plays: u64,
    /// The losses that become 0 and 1.
    ends: (f64, f64),
    /// Per bin, the number of losses told and their sum in multiples of 2^-32, up to the last bin with a loss.
    bins: Vec<(u64, u64)>,
}

impl Monitor {
    /// How much longer the burn-in of a run is: with the probe, at the first visit of an arm.
    pub(super) fn extra_burn_in(&self, run: &Run, first_visit: bool) -> u64 {
        match self.memory_bound {
            Some(bound) if self.probe && first_visit && run.record != u64::MAX => {
                bound.saturating_mul(PROBE).saturating_sub(1).saturating_sub(run.burn_in)
            }
            _ => 0,
        }
    }

    /// Bins for a run that begins with a switch and whose burn-in is `burn_in` long; `None` if there is nothing to
    /// compare.
    pub(super) fn bins(&self, run: &Run, burn_in: u64, scale: &LossScale) -> Option<RunBins> {
        let from = self.memory_bound.unwrap_or(run.burn_in.saturating_add(1)) - 1;
        let plays = burn_in.saturating_add(run.record).checked_sub(from).filter(|&plays| plays >= 2)?;
        if run.record == u64::MAX {
            return None;
        }
        let ends = match scale.assumption() {
            LossAssumption::Bounded => scale.ends(),
            LossAssumption::Normal => {
                let (n, mean, squares) = self.pooled;
                let reach = RANGE_DEVIATIONS * (squares / n).sqrt();
                (mean - reach, mean + reach)
            }
        };
        // False for NaN, if there are no losses yet.
        (ends.0 < ends.1).then_some(RunBins { from, plays, ends, bins: Vec::new() })
    }

    /// Takes the losses of a run that is complete.
    pub(super) fn close(&mut self, bins: &RunBins) {
        let losses = bins.means();
        let mut bets = self.bets.iter_mut();
        let mut compared = false;
        for halves in EARLY {
            let early = bins.early(halves);
            for (step, _) in STEPS {
                let growth = growth(&losses, early, step);
                compared |= growth.is_some();
                if let Some(wealth) = bets.next() {
                    *wealth = (*wealth + growth.unwrap_or(0.0)).clamp(-MOST_EVIDENCE, MOST_EVIDENCE);
                }
            }
        }
        self.runs += u64::from(compared);
        self.peak = self.peak.max(self.evidence());
    }

    /// Takes the losses of the first visit of one of `arms` arms; `None` if nothing of it can be compared.
    pub(super) fn close_first_visit(&mut self, bins: Option<&RunBins>, arms: usize) {
        if let (true, Some(bound)) = (self.probe, self.memory_bound) {
            let run = bins.map(|bins| bins.probed(bound));
            self.probes.close(run.as_ref(), arms);
            self.peak = self.peak.max(self.evidence());
        }
    }

    /// Takes the recorded losses of a run, for the scale of later runs.
    pub(super) fn pool(&mut self, feedback: &crate::Feedback) {
        let (n, mean, squares) = self.pooled;
        let (more, sum) = (feedback.plays as f64, feedback.sum);
        if more > 0.0 {
            let step = sum / more - mean;
            let own = (feedback.sum_sq - sum * sum / more).max(0.0);
            let total = n + more;
            self.pooled = (total, mean + step * more / total, squares + own + step * step * n * more / total);
        }
    }

    /// The logarithm of the wealth: that of the bets, or of the mixture with the test of the probes.
    fn evidence(&self) -> f64 {
        if !self.probe {
            return self.bets_evidence();
        }
        let staked = probe_test::FALSE_ALARMS / FALSE_ALARMS;
        let bets = math::ln(1.0 - staked) + self.bets_evidence();
        let gained = -math::ln(FALSE_ALARMS);
        if self.probes.alarm { gained.max(bets) + math::ln_1p(math::exp(-(gained - bets).abs())) } else { bets }
    }

    /// The logarithm of the wealth of the mixture of bets.
    fn bets_evidence(&self) -> f64 {
        let most = self.bets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = STEPS.iter().map(|&(_, weight)| weight / EARLY.len() as f64).cycle();
        most + math::ln(self.bets.iter().zip(weights).map(|(bet, weight)| weight * math::exp(bet - most)).sum())
    }

    pub(super) fn verdict(&self) -> MonitorVerdict {
        let threshold = -math::ln(FALSE_ALARMS);
        let Self { memory_bound, probe, runs, peak, .. } = *self;
        let alarm = peak >= threshold;
        let (evidence, detectable) = (peak, self.probes.detectable());
        let false_alarms = FALSE_ALARMS;
        MonitorVerdict { alarm, evidence, threshold, false_alarms, runs, memory_bound, probe, detectable }
    }

    /// Checks a restored monitor; `decisions` is the number of plays of complete runs.
    #[cfg(feature = "serde")]
    pub(super) fn check(&self, decisions: u64) -> Result<(), StateError> {
        ensure(self.memory_bound.is_none_or(|bound| bound >= 1), "the memory bound of the monitor is 0")?;
        ensure(!self.probe || self.memory_bound.is_some(), "a probe needs a memory bound")?;
        let bets = self.bets.len() == BETS && self.bets.iter().all(|bet| bet.abs() <= MOST_EVIDENCE);
        ensure(bets, "the bets of the monitor are out of range")?;
        let peak = self.peak >= self.evidence().max(0.0) - 1e-9 && self.peak <= MOST_EVIDENCE;
        ensure(peak, "the evidence of the monitor is out of range")?;
        ensure(self.probe || self.probes.is_empty(), "there is a test of probes, but no probe")?;
        self.probes.check(decisions)?;
        ensure(self.runs <= decisions, "the monitor has compared more runs than there were")?;
        let (n, mean, squares) = self.pooled;
        let pooled = n >= 0.0 && n <= decisions as f64 && mean.abs() <= 1e100 && (0.0..=1e250).contains(&squares);
        ensure(pooled, "the pooled losses of the monitor are out of range")
    }
}

impl RunBins {
    /// Takes the loss of the play at this position of the run, from 0. The order does not matter.
    pub(super) fn add(&mut self, position: u64, loss: f64) {
        let Some(play) = position.checked_sub(self.from).filter(|&play| play < self.plays) else { return };
        let bin = play / self.size();
        let (low, high) = self.ends;
        let unit = ((loss - low) / (high - low)).clamp(0.0, 1.0);
        if bin >= self.count() {
            return;
        }
        let bin = bin as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, (0, 0));
        }
        let (told, sum) = &mut self.bins[bin];
        *told += 1;
        *sum = sum.saturating_add((unit * UNIT) as u64);
    }

    /// The number of plays per bin. Plays that fill no bin are left out, so that all bins have the same law.
    fn size(&self) -> u64 {
        self.plays.div_ceil(BINS)
    }

    /// The number of bins.
    fn count(&self) -> u64 {
        self.plays / self.size()
    }

    /// Per bin, the mean of its losses; `None` if not all were told.
    fn means(&self) -> Vec<Option<f64>> {
        let size = self.size();
        let mean = |&(told, sum): &(u64, u64)| (told == size).then(|| (sum as f64 / (UNIT * told as f64)).min(1.0));
        let mut means: Vec<_> = self.bins.iter().map(mean).collect();
        means.resize(self.count() as usize, None);
        means
    }

    /// The losses of a first visit, for the test of probes.
    fn probed(&self, memory_bound: u64) -> ProbedRun {
        let memory_bound = memory_bound as f64 / self.size() as f64;
        ProbedRun { losses: self.means(), memory_bound, span: self.ends.1 - self.ends.0 }
    }

    /// The number of bins of this multiple of M/2 plays; at most half of all.
    fn early(&self, halves: u64) -> usize {
        let plays = u128::from(self.from.saturating_add(1)) * u128::from(halves);
        let bins = plays / (2 * u128::from(self.size()));
        bins.max(1).min(u128::from(self.count()) / 2) as usize
    }

    /// Checks bins of a run of this length; `settled` gives the number of settled plays in a range of positions.
    #[cfg(feature = "serde")]
    pub(super) fn check(&self, length: u64, settled: impl Fn(u64, u64) -> u64) -> Result<(), StateError> {
        let fits = self.plays >= 2 && self.from.checked_add(self.plays) == Some(length);
        ensure(fits && self.bins.len() as u64 <= self.count(), "the monitored run has another length")?;
        let size = self.size();
        for (bin, &(told, sum)) in self.bins.iter().enumerate() {
            let start = self.from + bin as u64 * size;
            let possible = told <= settled(start, start + size) && sum as f64 <= told as f64 * UNIT;
            ensure(possible, "the monitored losses are out of range")?;
        }
        let (low, high) = self.ends;
        let ends = low < high && low.abs() < 1e150 && high.abs() < 1e150;
        ensure(ends, "the scale of the monitored losses is out of range")
    }
}

/// The logarithm of the wealth of all blocks of a run, whose first `early` losses are compared with the others; `None`
/// if nothing can be compared.
fn growth(losses: &[Option<f64>], early: usize, step: f64) -> Option<f64> {
    let (early, late) = losses.split_at(early);
    let (late, last) = late.split_at(late.len() - late.len() / FOR_GUESS);
    let share = late.len().checked_div(early.len()).filter(|&share| share > 0)?;
    let (low, high) = window(last);
    let scaled = |loss: &f64| ((loss - low) / (high - low)).clamp(0.0, 1.0);
    let guess = |(n, sum): (f64, f64), loss: &f64| (n + 1.0, sum + scaled(loss));
    let mut later = last.iter().flatten().fold((1.0, 0.5), guess);
    let mut total = None;
    for (early, late) in early.iter().zip(late.chunks(share)) {
        let count = late.iter().flatten().count() as f64;
        if let Some(early) = early
            && count > 0.0
        {
            let b = (later.1 / later.0).clamp(MARGIN, 1.0 - MARGIN);
            let a = (b + step).clamp(MARGIN, 1.0 - MARGIN);
            let c = (a + count * b) / (1.0 + count);
            let factor = |x: f64, mean: f64| x * mean / c + (1.0 - x) * (1.0 - mean) / (1.0 - c);
            let mut log = math::ln(factor(scaled(early), a));
            late.iter().flatten().for_each(|x| log += math::ln(factor(scaled(x), b)));
            total = Some(total.unwrap_or(0.0) + log);
        }
        later = late.iter().flatten().fold(later, guess);
    }
    total
}

/// The losses that become 0 and 1, given those of plays that are in no block.
fn window(last: &[Option<f64>]) -> (f64, f64) {
    let (n, sum, sum_sq) =
        last.iter().flatten().fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    if n < 2.0 {
        return (0.0, 1.0);
    }
    let (mean, variance) = (sum / n, (sum_sq - sum * sum / n).max(0.0) / (n - 1.0));
    let reach = DEVIATIONS * variance.sqrt().max(LEAST_DEVIATION);
    ((mean - reach).max(0.0), (mean + reach).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins_of(losses: &[f64], memory_bound: u64) -> RunBins {
        let scale = LossScale::new(0.0, 1.0, LossAssumption::Bounded);
        let run = Run { arm: 0, burn_in: memory_bound - 1, record: losses.len() as u64 };
        let monitor = Monitor { memory_bound: Some(memory_bound), ..Monitor::default() };
        let mut bins = monitor.bins(&run, memory_bound - 1, &scale).unwrap();
        // From the last to the first: the order does not matter.
        let positions = losses.iter().enumerate().rev().map(|(i, &loss)| (i as u64 + memory_bound - 1, loss));
        positions.for_each(|(position, loss)| bins.add(position, loss));
        bins
    }

    #[test]
    fn a_block_by_hand() {
        // One early loss, three later ones in its block, and one for the guess: (1/2 + 0.5)/2 = 0.5, so b = 0.5,
        // a = 0.7 and c = (0.7 + 3·0.5)/4 = 0.55.
        let losses = [1.0, 0.0, 1.0, 0.0, 0.5].map(Some);
        let expected = (0.7f64 / 0.55).ln() + 2.0 * (0.5f64 / 0.45).ln() + (0.5f64 / 0.55).ln();
        assert!((growth(&losses, 1, 0.2).unwrap() - expected).abs() < 1e-12);
        assert_eq!(growth(&[None, Some(0.0), Some(1.0)], 1, 0.2), None, "the early loss was not told");
        assert_eq!(bins_of(&[0.5; 40], 4).early(2), 4);
        assert_eq!(bins_of(&[0.5; 40], 4).early(6), 12);
        assert_eq!(bins_of(&[0.5; 40], 16).early(6), 20, "at most half");
        assert_eq!(bins_of(&[0.5; 1000], 16).early(6), 12, "of 250 bins with four plays each");
    }

    #[test]
    fn a_verdict_says_what_the_probes_would_show() {
        assert_eq!([250.0, 12.3, 0.97, 0.099, 0.0042].map(two_digits), [0, 0, 1, 2, 4]);
        let quiet = Monitor { memory_bound: Some(8), runs: 4, ..Monitor::default() }.verdict();
        assert!(quiet.to_string().ends_with("(evidence 0.0 of 3.0, 4 runs compared)"), "{quiet}");
        let probed = MonitorVerdict { detectable: Some(0.0042), ..quiet };
        assert!(
            probed.to_string().ends_with("a change of 0.0042 in 80 % of cases, smaller ones less often)"),
            "{probed}"
        );
    }

    #[test]
    fn the_wealth_starts_at_1_and_grows_if_losses_fall() {
        let mut monitor = Monitor::default();
        assert!(monitor.evidence().abs() < 1e-12 && !monitor.verdict().alarm);
        let falling: Vec<f64> = (0..32).map(|i| if i < 8 { 0.9 } else { 0.1 }).collect();
        monitor.close(&bins_of(&falling, 8));
        monitor.close(&bins_of(&falling, 8));
        assert!(monitor.verdict().alarm, "{:?}", monitor.verdict());
        let mut quiet = Monitor::default();
        (0..50).for_each(|_| quiet.close(&bins_of(&[0.4; 32], 8)));
        assert!(!quiet.verdict().alarm && quiet.verdict().runs == 50);
    }

    /// The wealth of one run, averaged over all sequences of losses of 0 and 1 with the same mean, is at most 1.
    #[test]
    fn the_bets_are_fair() {
        for mean in [0.05f64, 0.2, 0.5, 0.9] {
            for memory_bound in [1, 2, 3] {
                let mut expected = 0.0;
                for bits in 0..1u32 << 10 {
                    let losses: Vec<f64> = (0..10).map(|i| f64::from(bits >> i & 1)).collect();
                    let ones: f64 = losses.iter().sum();
                    let mut monitor = Monitor::default();
                    monitor.close(&bins_of(&losses, memory_bound));
                    expected += monitor.evidence().exp() * mean.powf(ones) * (1.0 - mean).powf(10.0 - ones);
                }
                assert!(expected <= 1.0 + 1e-9 && expected > 0.8, "{mean}, {memory_bound}: {expected}");
            }
        }
    }
}
