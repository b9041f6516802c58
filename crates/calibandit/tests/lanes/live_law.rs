//! The law of live simulations: against enumeration of every random outcome in tiny games, and on one lane against
//! the simulation without lanes.

use calibandit::lanes::{LaneAdvisor, LaneCommand, LaneFiller, PlayOutcome};
use calibandit::policy::{Calibrated, EpochUcb, Exp3, SuccessiveElimination, Ucb1};
use calibandit::simulate::{DelayLaw, LiveSpec, SessionLaw, simulate_live};
use calibandit::{
    AnyPolicy, Arm, Engine, Game, Grid, Interrupt, LossCurve, Noise, Optima, PolicySpec, StreamKey, Weights, Window,
    simulate,
};

/// Two arms with a memory of 2: 0.8 and then 0.2, and 0.6 and then 0.4.
fn tiny() -> Game {
    let arm = |losses: [f64; 2]| Arm::new(Weights::unit(2).unwrap(), LossCurve::by_plays(losses), Noise::Bernoulli);
    Game::new(vec![arm([0.6, 0.4]).unwrap(), arm([0.8, 0.2]).unwrap()]).unwrap()
}

/// The least expected loss of `plays` plays from the empty window on, over all sequences.
fn least_loss(game: &Game, window: &Window, plays: u64) -> f64 {
    let of_arm = |arm| {
        let mut window = window.clone();
        let loss = game.play(arm, &mut window);
        loss + if plays > 1 { least_loss(game, &window, plays - 1) } else { 0.0 }
    };
    if plays == 0 { 0.0 } else { (0..game.arms().len()).map(of_arm).fold(f64::INFINITY, f64::min) }
}

/// A world of lanes that is played through all its random outcomes. It shares no code with the simulation.
#[derive(Clone)]
struct Branch {
    advisor: LaneAdvisor<AnyPolicy>,
    windows: Vec<Window>,
    /// Per lane, the plays of its session.
    lengths: Vec<u64>,
    /// The outcomes to tell, with their step.
    due: Vec<(u64, u64, PlayOutcome)>,
    step: u64,
    lane: usize,
    made: u64,
    loss: f64,
    optimum: f64,
}

/// What is enumerated: constant delays and sessions, resets and lost losses by probability.
struct Enumeration {
    game: Game,
    live: LiveSpec,
    horizon: u64,
}

impl Enumeration {
    /// The mean regret over all outcomes from this branch on.
    fn mean(&self, mut branch: Branch) -> f64 {
        if branch.made == self.horizon {
            let open: f64 = branch.lengths.iter().map(|&plays| self.optimum(plays)).sum();
            return branch.loss - branch.optimum - open;
        }
        if branch.lane == branch.windows.len() {
            (branch.lane, branch.step) = (0, branch.step + 1);
        }
        if branch.lane == 0 {
            let now = branch.step;
            let (told, later): (Vec<_>, Vec<_>) = branch.due.drain(..).partition(|&(step, ..)| step <= now);
            branch.due = later;
            for (_, decision, outcome) in told {
                branch.advisor.settle(decision, outcome, now).unwrap();
            }
        }
        let ends = self.live.session.is_some_and(|plays| branch.lengths[branch.lane] as f64 == plays);
        if ends {
            return self.play(self.cold(branch));
        }
        let resets = self.live.resets;
        let stays = (1.0 - resets) * self.play(branch.clone());
        stays + if resets > 0.0 { resets * self.play(self.cold(branch)) } else { 0.0 }
    }

    fn cold(&self, mut branch: Branch) -> Branch {
        let lane = branch.lane;
        branch.optimum += self.optimum(branch.lengths[lane]);
        (branch.lengths[lane], branch.windows[lane]) = (0, self.game.empty_window());
        branch.advisor.apply(&LaneCommand::Reset { lane: Some(lane as u64) }, branch.step).unwrap();
        branch
    }

    /// The next play of the lane, with both losses.
    fn play(&self, mut branch: Branch) -> f64 {
        let decision = branch.advisor.ask(branch.lane as u64, branch.step).unwrap();
        let expected = self.game.play(decision.arm, &mut branch.windows[branch.lane]);
        branch.loss += expected;
        branch.lengths[branch.lane] += 1;
        branch.made += 1;
        branch.lane += 1;
        let lost = self.live.lost;
        let mut mean = 0.0;
        for (outcome, probability) in [
            (PlayOutcome::Loss(1.0), (1.0 - lost) * expected),
            (PlayOutcome::Loss(0.0), (1.0 - lost) * (1.0 - expected)),
            (PlayOutcome::Lost, lost),
        ] {
            if probability > 0.0 {
                let mut branch = branch.clone();
                match self.live.delay as u64 {
                    0 => drop(branch.advisor.settle(decision.id, outcome, branch.step).unwrap()),
                    delay => branch.due.push((branch.step + delay, decision.id, outcome)),
                }
                mean += probability * self.mean(branch);
            }
        }
        mean
    }

    fn optimum(&self, plays: u64) -> f64 {
        least_loss(&self.game, &self.game.empty_window(), plays)
    }
}

#[test]
fn the_mean_regret_is_that_of_all_outcomes() {
    let one = LiveSpec::default().memory_bound(2);
    for (live, horizon, streams) in [
        (one, 9, 1),
        (one.resets(0.3), 6, 1),
        (one.lost(0.3), 6, 1),
        (one.delay(1.0, DelayLaw::Constant), 9, 1),
        (one.delay(2.0, DelayLaw::Constant).filler(LaneFiller::Leader), 9, 1),
        (one.session(3.0, SessionLaw::Constant).delay(1.0, DelayLaw::Constant), 9, 1),
        (one.lanes(2), 9, 40),
        (one.lanes(3).delay(1.0, DelayLaw::Constant).session(2.0, SessionLaw::Constant), 9, 40),
    ] {
        let enumeration = Enumeration { game: tiny(), live, horizon };
        let game = &enumeration.game;
        let policy = PolicySpec::from(Ucb1::builder());
        let lanes = live.lanes as usize;
        let means = (0..streams).map(|seed| {
            let builder = LaneAdvisor::builder(policy.clone(), 2, live.settings()).horizon(horizon).seed(seed);
            enumeration.mean(Branch {
                advisor: builder.build().unwrap(),
                windows: vec![game.empty_window(); lanes],
                lengths: vec![0; lanes],
                due: Vec::new(),
                step: 0,
                lane: 0,
                made: 0,
                loss: 0.0,
                optimum: 0.0,
            })
        });
        let exact = mean_and_error(&means.collect::<Vec<_>>());
        let grid = Grid::end(horizon).unwrap();
        let regret = |instance| {
            let streams = StreamKey::new(11, "law", instance);
            simulate_live(game, &policy, &grid, &live, streams, Interrupt::never()).unwrap().regret()
        };
        let simulated = mean_and_error(&(0..4000).map(regret).collect::<Vec<_>>());
        let error = exact.1.hypot(simulated.1);
        assert!((exact.0 - simulated.0).abs() < 4.5 * error, "{live:?}: {exact:?} {simulated:?}");
    }
}

/// The mean and its standard error; no error for a single value.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 })
}

/// The optimum that is subtracted is the least loss of all sequences, session by session.
#[test]
fn the_optimum_of_sessions_is_that_of_all_sequences() {
    let game = tiny();
    for (lanes, session, horizon) in [(1, 4, 11), (3, 5, 13), (4, 1, 9), (2, 7, 12)] {
        let live = LiveSpec::default().lanes(lanes).session(session as f64, SessionLaw::Constant);
        let (grid, streams) = (Grid::linear(horizon, horizon as usize).unwrap(), StreamKey::new(1, "law", 0));
        let policy = Calibrated::builder(2).into();
        let played = simulate_live(&game, &policy, &grid, &live, streams, Interrupt::never()).unwrap();
        for (at, &excess) in played.trajectory.checkpoints.iter().zip(&played.optimum) {
            // Lanes play in turn, so that lane l has made this many plays.
            let plays = |lane: u64| at.t / lanes + u64::from(lane < at.t % lanes);
            let sessions = |plays: u64| vec![session; (plays / session) as usize].into_iter().chain([plays % session]);
            let optimum: f64 = (0..lanes)
                .flat_map(|lane| sessions(plays(lane)))
                .map(|n| least_loss(&game, &game.empty_window(), n))
                .sum();
            assert!((excess + at.t as f64 * game.best_loss() - optimum).abs() < 1e-9, "{live:?} at {}", at.t);
        }
    }
}

/// One lane without delay that waits is the game as it is simulated without lanes. The regrets have the same law:
/// Kolmogorov and Smirnov's distance of two samples of n stays below 2.5 sqrt(2/n) except with probability 10^-5.
#[test]
fn one_lane_without_delay_has_the_law_of_the_plain_simulation() {
    let key = |name, instance| StreamKey::new(5, name, instance);
    let game = calibandit::zoo::Step { arms: 3, memory: 3, ..Default::default() };
    let live = LiveSpec::default().filler(LaneFiller::Wait);
    let grid = Grid::end(2000).unwrap();
    let n = 400;
    for policy in [
        PolicySpec::from(Calibrated::builder(3)),
        EpochUcb::builder(3).into(),
        SuccessiveElimination::builder(3).into(),
        Exp3::builder().into(),
        Ucb1::builder().into(),
    ] {
        let lanes = |instance| {
            let key = key("lanes", instance);
            let game = game.draw(&mut key.game()).unwrap();
            simulate_live(&game, &policy, &grid, &live, key, Interrupt::never()).unwrap().regret()
        };
        let plain = |instance| {
            let key = key("plain", instance);
            let game = game.draw(&mut key.game()).unwrap();
            let mut policy = policy.build(&game.problem(2000), key.policy()).unwrap();
            let played = simulate(&game, &mut policy, &grid, Engine::Stepwise, &mut key.noise()).unwrap();
            played.last().excess - Optima::new(&game).excess_at(2000).unwrap()
        };
        let distance = distance((0..n).map(lanes).collect(), (0..n).map(plain).collect());
        assert!(distance < 2.5 * (2.0 / n as f64).sqrt(), "{}: {distance}", policy.kind());
    }
}

/// The largest difference of two empirical distribution functions.
fn distance(mut one: Vec<f64>, mut other: Vec<f64>) -> f64 {
    one.sort_by(f64::total_cmp);
    other.sort_by(f64::total_cmp);
    let share = |values: &[f64], at: f64| values.partition_point(|&value| value <= at) as f64 / values.len() as f64;
    one.iter().chain(&other).map(|&at| (share(&one, at) - share(&other, at)).abs()).fold(0.0, f64::max)
}

/// Pauses, heavy tails, timeouts and users who come and go end at the horizon, with every play counted.
#[test]
fn every_combination_plays_up_to_the_horizon() {
    let base = LiveSpec::default().lanes(6).lost(0.1).delay(5.0, DelayLaw::HeavyTailed);
    let sessions = base.session(9.0, SessionLaw::Geometric).pause(4.0);
    for live in [
        base.timeout(20, None),
        base.timeout(3, Some(1.0)).overlap(3),
        sessions.arrivals(true).overlap(2),
        sessions.filler(LaneFiller::Wait).timeout(50, None),
        LiveSpec::default().delay(1e9, DelayLaw::Constant).filler(LaneFiller::Wait).timeout(4, None),
    ] {
        let (grid, streams) = (Grid::linear(3000, 3).unwrap(), StreamKey::new(2, "law", 0));
        let policy = Calibrated::builder(2).into();
        let played = simulate_live(&tiny(), &policy, &grid, &live, streams, Interrupt::never()).unwrap();
        assert_eq!(played.trajectory.plays.iter().sum::<u64>(), 3000, "{live:?}");
        assert!(played.regret() > -1e-9 && played.steps >= 3000 / live.lanes, "{live:?}");
        let counts = played.counts;
        assert_eq!(counts.warm_up + counts.measured + counts.filler, 3000, "{live:?}");
    }
}
