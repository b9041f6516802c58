//! Policies that want the losses of the burn-in are told those of exactly these plays; for the others nothing changes.

#![allow(clippy::unwrap_used)] // a test may panic

use calibandit::policy::{Calibrated, Index};
use calibandit::rng::StreamKey;
use calibandit::{Arm, Engine, Feedback, Game, Grid, LossCurve, Noise, Policy, Run, Weights, simulate};

/// Plays two arms in turn and keeps what it is told.
struct Watcher {
    wants: bool,
    next: usize,
    told: Vec<(usize, Feedback)>,
    recorded: Vec<Feedback>,
}

impl Watcher {
    fn new(wants: bool) -> Self {
        Self { wants, next: 0, told: vec![], recorded: vec![] }
    }
}

impl Policy for Watcher {
    fn next_run(&mut self) -> Run {
        Run { arm: self.next, burn_in: 5, record: 3 }
    }
    fn observe(&mut self, _: Run, feedback: Feedback) {
        self.recorded.push(feedback);
        self.next = 1 - self.next;
    }
    fn wants_burn_in(&self) -> bool {
        self.wants
    }
    fn observe_burn_in(&mut self, run: Run, losses: Feedback) {
        self.told.push((run.arm, losses));
    }
    fn recommend(&self) -> usize {
        0
    }
}

/// The first arm falls from 0.9 to 0.3 in four plays, the second is constant.
fn falling(noise: Noise) -> Game {
    let arm = |losses: [f64; 4]| Arm::new(Weights::unit(4).unwrap(), LossCurve::by_plays(losses), noise).unwrap();
    Game::new(vec![arm([0.9, 0.7, 0.5, 0.3]), arm([0.4; 4])]).unwrap()
}

#[test]
fn burn_in_losses_are_those_of_the_burn_in_plays() {
    for engine in [Engine::Leaping, Engine::Stepwise] {
        let mut watcher = Watcher::new(true);
        let streams = StreamKey::new(1, "burn-in", 0);
        // The last run is cut within its burn-in, and is not told.
        let grid = Grid::end(8 * 4 + 3).unwrap();
        let watched = simulate(&falling(Noise::None), &mut watcher, &grid, engine, &mut streams.noise()).unwrap();
        assert_eq!(watcher.told.len(), 4);
        for (i, (arm, losses)) in watcher.told.iter().enumerate() {
            // Four plays up to the calibrated one, and one more.
            let sum = if *arm == 0 { 0.9 + 0.7 + 0.5 + 2.0 * 0.3 } else { 5.0 * 0.4 };
            assert_eq!((*arm, losses.plays), (i % 2, 5), "{engine:?}");
            assert!((losses.sum - sum).abs() < 1e-12, "{engine:?}, run {i}: {}", losses.sum);
            assert!((watcher.recorded[i].sum - if *arm == 0 { 0.9 } else { 1.2 }).abs() < 1e-12);
        }
        let mut other = Watcher::new(false);
        let plain = simulate(&falling(Noise::None), &mut other, &grid, engine, &mut streams.noise()).unwrap();
        assert!(other.told.is_empty());
        assert_eq!((other.recorded, plain.plays), (watcher.recorded, watched.plays));
        assert_eq!(plain.runs, watched.runs);
    }
}

/// With noise, watching draws more, so that bits differ; the recorded losses have the same mean.
#[test]
fn watching_does_not_bias_what_is_recorded() {
    let grid = Grid::end(8 * 20_000).unwrap();
    for wants in [true, false] {
        let mut watcher = Watcher::new(wants);
        let mut noise = StreamKey::new(1, "burn-in", 1).noise();
        simulate(&falling(Noise::Bernoulli), &mut watcher, &grid, Engine::Leaping, &mut noise).unwrap();
        for (arm, mean) in [(0, 0.3), (1, 0.4)] {
            let sum: f64 = watcher.recorded.iter().skip(arm).step_by(2).map(|feedback| feedback.sum).sum();
            // 30,000 losses: a standard error of 0.0028.
            assert!((sum / 30_000.0 - mean).abs() < 4.0 * 0.0029, "{wants}, arm {arm}: {}", sum / 30_000.0);
        }
        let burnt: Vec<_> = watcher.told.iter().filter(|(arm, _)| *arm == 0).collect();
        assert_eq!(burnt.len(), if wants { 10_000 } else { 0 });
        if wants {
            let mean = burnt.iter().map(|(_, losses)| losses.sum).sum::<f64>() / 10_000.0;
            // The variance of a sum is below 5/4.
            assert!((mean - 2.7).abs() < 4.0 * 0.0112, "{mean}");
        }
    }
}

/// Equal arms whose warm-up costs 1 per play are visited less often than those whose warm-up is free.
#[test]
fn a_dear_burn_in_means_fewer_switches() {
    let switches = |warm_up: f64| {
        let total: u64 = (0..20)
            .map(|instance| {
                let curve = || LossCurve::constant(warm_up).when_calibrated(0.3);
                let arm = || Arm::new(Weights::unit(30).unwrap(), curve(), Noise::Bernoulli).unwrap();
                let game = Game::new((0..6).map(|_| arm()).collect()).unwrap();
                let streams = StreamKey::new(1, "burn-in/price", instance);
                let spec = Calibrated::builder(30).index(Index::EmpiricalBayes);
                let mut policy = spec.build(&game.problem(20_000), streams.policy()).unwrap();
                let grid = Grid::end(20_000).unwrap();
                simulate(&game, &mut policy, &grid, Engine::Leaping, &mut streams.noise()).unwrap().last().switches
            })
            .sum();
        total as f64 / 20.0
    };
    let (free, dear) = (switches(0.3), switches(1.0));
    assert!(dear < 0.75 * free, "{dear} {free}");
}
