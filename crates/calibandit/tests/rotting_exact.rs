//! RAW-UCB and FEWA in their exact form, with every window of the last losses, as an oracle for the efficient form.
//!
//! The exact form takes O(K·N) time per play and keeps all losses; it is no policy of the library. With a grid so close
//! to 1 that every window length is in it, the efficient form must make the same choices.

use calibandit::policy::{Fewa, RawUcb};
use calibandit::{Feedback, Policy, Problem, StreamKey};
use rand_distr::{Distribution, StandardNormal};

/// All losses of all arms.
struct ExactWindows {
    alpha: f64,
    sd: f64,
    losses: Vec<Vec<f64>>,
}

impl ExactWindows {
    fn new(arms: usize, alpha: f64, sd: f64) -> Self {
        Self { alpha, sd, losses: vec![Vec::new(); arms] }
    }

    fn plays(&self) -> f64 {
        self.losses.iter().map(Vec::len).sum::<usize>() as f64
    }

    /// The mean of the last `h` losses of an arm.
    fn mean(&self, arm: usize, h: usize) -> f64 {
        let losses = &self.losses[arm];
        losses[losses.len() - h..].iter().sum::<f64>() / h as f64
    }

    /// By window, the means of all windows of an arm.
    fn means(&self, arm: usize) -> impl Iterator<Item = (usize, f64)> {
        let mut sum = 0.0;
        self.losses[arm].iter().rev().zip(1..).map(move |(loss, h)| {
            sum += loss;
            (h, sum / h as f64)
        })
    }

    /// RAW-UCB: every arm once, then the least of the greatest bounds.
    fn raw_ucb(&self) -> usize {
        if let Some(arm) = self.losses.iter().position(Vec::is_empty) {
            return arm;
        }
        let scale = self.sd * (2.0 * self.alpha * self.plays().ln()).sqrt();
        let index = |arm: usize| {
            self.means(arm).map(|(h, mean)| mean - scale / (h as f64).sqrt()).fold(f64::NEG_INFINITY, f64::max)
        };
        (0..self.losses.len()).min_by(|&one, &other| index(one).total_cmp(&index(other))).expect("there are arms")
    }

    /// FEWA: filters by windows of 1, 2, 3, ... losses.
    fn fewa(&self) -> usize {
        let mut left: Vec<usize> = (0..self.losses.len()).collect();
        let scale = 2.0 * self.sd * (2.0 * self.alpha * self.plays().max(1.0).ln()).sqrt();
        for h in 1.. {
            let short = left.iter().copied().filter(|&arm| self.losses[arm].len() < h);
            if let Some(arm) = short.min_by_key(|&arm| (self.losses[arm].len(), arm)) {
                return arm;
            }
            let means: Vec<f64> = left.iter().map(|&arm| self.mean(arm, h)).collect();
            let bound = means.iter().copied().fold(f64::INFINITY, f64::min) + scale / (h as f64).sqrt();
            left = left.into_iter().zip(means).filter(|(_, mean)| *mean <= bound).map(|(arm, _)| arm).collect();
            if let [arm] = left[..] {
                return arm;
            }
        }
        unreachable!("every arm has finitely many losses")
    }
}

/// A rotting game: arm x has the mean loss `(x % 3) / 4`, and 1/2 more after 60·(x + 1) plays.
fn mean(arm: usize, plays: usize) -> f64 {
    (arm % 3) as f64 / 4.0 + if plays >= 60 * (arm + 1) { 0.5 } else { 0.0 }
}

/// Plays the policy and compares each choice with that of the exact form.
fn same_choices(mut policy: impl Policy, mut exact: ExactWindows, choose: fn(&ExactWindows) -> usize, seed: u64) {
    let arms = exact.losses.len();
    let mut noise = StreamKey::new(1, "rotting-exact", seed).noise();
    let mut played = vec![0; arms];
    // No arm gets so many plays that a window length is missing from the grid.
    for play in 0..900 {
        let run = policy.next_run();
        assert_eq!(run.arm, choose(&exact), "seed {seed}, play {play}");
        let z: f64 = StandardNormal.sample(&mut noise);
        let loss = mean(run.arm, played[run.arm]) + exact.sd * z;
        played[run.arm] += 1;
        exact.losses[run.arm].push(loss);
        policy.observe(run, Feedback::one(loss));
    }
    assert!(played[0] > 60, "the first arm has rotted: {played:?}");
}

/// With the grid 1.001 all lengths up to 1,000 are windows, and each of them ends with the last loss.
#[test]
fn with_a_grid_close_to_one_choices_are_those_of_the_exact_form() {
    for seed in 0..6 {
        for arms in [2, 4] {
            let problem = Problem { arms, horizon: None };
            let raw = RawUcb::builder().sd(0.5).grid(1.001).params(&problem).unwrap();
            same_choices(RawUcb::new(raw), ExactWindows::new(arms, 1.4, 0.5), ExactWindows::raw_ucb, seed);
            let fewa = Fewa::builder().sd(0.5).grid(1.001).params(&problem).unwrap();
            same_choices(Fewa::new(fewa), ExactWindows::new(arms, 0.06, 0.5), ExactWindows::fewa, seed);
        }
    }
}

/// The regret of a sequence of choices against the T least marginals.
fn regret(choose: &mut dyn FnMut(Option<(usize, f64)>) -> usize, seed: u64) -> f64 {
    const PLAYS: usize = 1000;
    let mut noise = StreamKey::new(1, "rotting-regret", seed).noise();
    let mut played = [0; 3];
    let (mut sum, mut last) = (0.0, None);
    for _ in 0..PLAYS {
        let arm = choose(last);
        let expected = mean(arm, played[arm]);
        let z: f64 = StandardNormal.sample(&mut noise);
        played[arm] += 1;
        sum += expected;
        last = Some((arm, expected + 0.5 * z));
    }
    let mut marginals: Vec<f64> = (0..3).flat_map(|arm| (0..PLAYS).map(move |n| mean(arm, n))).collect();
    marginals.sort_by(f64::total_cmp);
    sum - marginals[..PLAYS].iter().sum::<f64>()
}

/// What a coarser grid costs, over 60 pairs of runs with the same noise.
#[test]
fn the_default_grid_costs_little() {
    let mut differences = Vec::new();
    let mut total = 0.0;
    for seed in 0..60 {
        let mut exact = ExactWindows::new(3, 1.4, 0.5);
        let all = regret(
            &mut |last| {
                last.into_iter().for_each(|(arm, loss)| exact.losses[arm].push(loss));
                exact.raw_ucb()
            },
            seed,
        );
        let params = RawUcb::builder().sd(0.5).params(&Problem { arms: 3, horizon: None }).unwrap();
        let mut policy = RawUcb::new(params);
        let mut run = None;
        let efficient = regret(
            &mut |last: Option<(usize, f64)>| {
                if let (Some(run), Some((_, loss))) = (run, last) {
                    policy.observe(run, Feedback::one(loss));
                }
                let next = policy.next_run();
                run = Some(next);
                next.arm
            },
            seed,
        );
        total += all;
        differences.push(efficient - all);
    }
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1.0);
    let stderr = (variance / n).sqrt();
    // Within three standard errors of at most a tenth of the exact form's regret.
    assert!(mean.abs() <= 0.1 * total / n + 3.0 * stderr, "{mean} ± {stderr} of {}", total / n);
}
