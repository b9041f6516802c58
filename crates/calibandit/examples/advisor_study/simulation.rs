//! Simulations of what an advisor claims: that its intervals hold at every time at once, and that its monitor rarely
//! gives a false alarm.

use std::collections::VecDeque;

use calibandit::policy::{Calibrated, EpochUcb, Thompson, Ucb1};
use calibandit::{Advisor, AnyPolicy, LossRange, Phase, PolicySpec, Stream, StreamKey};
use rand::RngExt;

/// How the losses of a calibrated arm are distributed, given their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// 0 or 1.
    Bernoulli,
    /// Uniform, 0.1 wide.
    Narrow,
    /// The mean less 0.01, and rarely far above it: the hardest for bounds that use the variance.
    Skewed,
    /// Normal with standard deviation 1, without a range.
    Normal,
}

impl Law {
    pub(crate) fn draw(self, mean: f64, stream: &mut Stream) -> f64 {
        let u: f64 = stream.random();
        match self {
            Law::Bernoulli => f64::from(u < mean),
            Law::Narrow => mean + 0.1 * (u - 0.5),
            Law::Skewed => {
                let rare = 0.01 / (1.0 - mean + 0.01);
                if u < rare { 1.0 } else { mean - 0.01 }
            }
            Law::Normal => {
                let v: f64 = stream.random();
                mean + (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
            }
        }
    }
}

/// One setting of the study of intervals.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Its name in tables.
    pub(crate) name: &'static str,
    /// The policy.
    pub(crate) policy: PolicySpec,
    /// The law of the losses.
    pub(crate) law: Law,
    /// The eventual losses of the arms.
    pub(crate) means: &'static [f64],
}

/// The settings of the study of intervals.
pub(crate) fn settings() -> Vec<Setting> {
    let setting = |name, policy: PolicySpec, law, means| Setting { name, policy, law, means };
    vec![
        setting("calibrated, 0/1", Calibrated::builder(3).first(8).into(), Law::Bernoulli, &[0.5, 0.45, 0.3]),
        setting("calibrated, rare losses", Calibrated::builder(2).first(4).into(), Law::Bernoulli, &[0.02, 0.05]),
        setting("calibrated, small variance", Calibrated::builder(2).first(4).into(), Law::Narrow, &[0.4, 0.41, 0.5]),
        setting("calibrated, skewed", Calibrated::builder(2).first(4).into(), Law::Skewed, &[0.3, 0.31]),
        setting("calibrated, normal", Calibrated::builder(2).first(4).into(), Law::Normal, &[0.0, 0.5]),
        setting("epoch UCB, 0/1", EpochUcb::builder(2).into(), Law::Bernoulli, &[0.6, 0.5]),
        setting("UCB1, 0/1", Ucb1::builder().into(), Law::Bernoulli, &[0.5, 0.5, 0.5, 0.5]),
        setting("Thompson, 0/1", Thompson::builder().into(), Law::Bernoulli, &[0.9, 0.8, 0.2]),
    ]
}

/// Whether all intervals at error probability `delta` contained the means of all arms at every time, over `plays` plays
/// that the policy chose; and the width of the interval of the best arm at the end. Burn-in plays have another mean,
/// and their losses are told.
pub(crate) fn covers(
    setting: &Setting,
    run: u64,
    plays: u64,
    delta: f64,
) -> Result<(bool, f64), Box<dyn std::error::Error>> {
    let range = if setting.law == Law::Normal { LossRange::unbounded() } else { LossRange::default() };
    let builder = Advisor::builder(setting.policy.clone(), setting.means.len()).loss_range(range);
    let mut advisor = builder.seed(run).horizon(plays).build()?;
    let mut stream = StreamKey::new(run, setting.name, 1).noise();
    let mut covered = true;
    for _ in 0..plays {
        let decision = advisor.ask()?;
        let mean = setting.means[decision.arm];
        let mean = if decision.phase == Phase::BurnIn { (mean + 0.2).min(0.9) } else { mean };
        if advisor.tell(decision.id, setting.law.draw(mean, &mut stream))? {
            covered &= advisor.interval(decision.arm, delta)?.contains(setting.means[decision.arm]);
        }
    }
    let best = (0..setting.means.len()).min_by(|&a, &b| setting.means[a].total_cmp(&setting.means[b])).unwrap_or(0);
    Ok((covered, advisor.interval(best, delta)?.width()))
}

/// How the expected loss of an arm falls with its plays in the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WarmUp {
    /// At once, when the whole window is its own.
    Step,
    /// In equal steps.
    Linear,
    /// Ever more slowly; 95 % of the fall are over at the memory.
    Exponential,
}

/// A game of the study of the monitor: four arms whose losses fall by `drop` as they warm up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MonitoredGame {
    /// Its name in tables.
    pub(crate) name: &'static str,
    /// How losses fall.
    pub(crate) warm_up: WarmUp,
    /// The memory.
    pub(crate) memory: u64,
    /// By how much the losses fall.
    pub(crate) drop: f64,
    /// The law of the losses.
    pub(crate) law: Law,
}

/// The games on which the monitor is judged. No constant was chosen with them.
pub(crate) fn judged_games() -> [MonitoredGame; 7] {
    let game = |name, warm_up, memory, drop, law| MonitoredGame { name, warm_up, memory, drop, law };
    [
        game("step 10, 0/1", WarmUp::Step, 10, 0.4, Law::Bernoulli),
        game("step 40, 0/1", WarmUp::Step, 40, 0.3, Law::Bernoulli),
        game("linear 40, 0/1", WarmUp::Linear, 40, 0.6, Law::Bernoulli),
        game("exponential 40, 0/1", WarmUp::Exponential, 40, 0.6, Law::Bernoulli),
        game("linear 10, small noise", WarmUp::Linear, 10, 0.4, Law::Narrow),
        game("linear 40, small noise", WarmUp::Linear, 40, 0.3, Law::Narrow),
        game("exponential 24, small noise", WarmUp::Exponential, 24, 0.4, Law::Narrow),
    ]
}

impl MonitoredGame {
    pub(crate) const ARMS: usize = 4;

    /// The expected loss of an arm with this many plays in the window.
    pub(crate) fn mean(&self, arm: usize, tally: u64) -> f64 {
        let part = tally as f64 / self.memory as f64;
        let left = match self.warm_up {
            WarmUp::Step => f64::from(tally < self.memory),
            WarmUp::Linear => 1.0 - part,
            WarmUp::Exponential if tally == self.memory => 0.0,
            WarmUp::Exponential => (-3.0 * part).exp(),
        };
        0.1 + 0.08 * arm as f64 + self.drop * left
    }

    /// The number of plays in a row from which on losses are within `tolerance` of the eventual ones.
    pub(crate) fn settled(&self, tolerance: f64) -> u64 {
        let within = |tally: &u64| self.mean(0, *tally) - self.mean(0, self.memory) <= tolerance;
        (1..=self.memory).find(within).unwrap_or(self.memory)
    }

    /// An advisor with `calibrated` and this bound on the memory, after this many plays of the game.
    pub(crate) fn play(
        &self,
        memory_bound: u64,
        probe: bool,
        plays: u64,
        run: u64,
    ) -> Result<Advisor<AnyPolicy>, Box<dyn std::error::Error>> {
        let builder = Advisor::builder(Calibrated::builder(memory_bound), Self::ARMS).seed(run).probe(probe);
        let mut advisor = builder.horizon(plays).build()?;
        let mut stream = StreamKey::new(run, self.name, memory_bound).noise();
        let mut window: VecDeque<usize> = VecDeque::new();
        let mut tallies = [0u64; Self::ARMS];
        for _ in 0..plays {
            let decision = advisor.ask()?;
            window.push_back(decision.arm);
            tallies[decision.arm] += 1;
            if window.len() as u64 > self.memory
                && let Some(oldest) = window.pop_front()
            {
                tallies[oldest] -= 1;
            }
            let mean = self.mean(decision.arm, tallies[decision.arm]);
            advisor.tell(decision.id, self.law.draw(mean, &mut stream))?;
        }
        Ok(advisor)
    }
}
