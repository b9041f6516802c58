//! Plays policies on the same instances of a game, on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use calibandit::{Arm, Engine, Game, GameSpec, Grid, LossCurve, Noise, Optima, PolicySpec, Stream, StreamKey, Weights};
use calibandit::{Problem, simulate};

use crate::settings::{SettingKind, StudySetting, logarithmic};

/// Settings of kind `Many` play one part in this many of the instances.
const MANY_SHARE: u64 = 10;

/// A game of the study with what a policy is told about it.
pub(crate) struct StudyGame {
    pub(crate) name: String,
    pub(crate) kind: Option<SettingKind>,
    pub(crate) source: StudyGameSource,
    pub(crate) memory_bound: u64,
    pub(crate) horizon: u64,
}

/// Where instances come from.
pub(crate) enum StudyGameSource {
    Drawn(StudySetting),
    Named(GameSpec),
    /// Two arms with Bernoulli losses, memory 3, a warm-up that costs nothing and a gap that is log-uniform from 0.001
    /// to 0.5.
    TwoArms,
}

impl From<StudySetting> for StudyGame {
    fn from(setting: StudySetting) -> Self {
        Self {
            name: format!("{} {}", setting.number, setting.title()),
            kind: Some(setting.kind),
            memory_bound: setting.memory_bound,
            horizon: setting.horizon,
            source: StudyGameSource::Drawn(setting),
        }
    }
}

impl StudyGame {
    fn draw(&self, stream: &mut Stream) -> Game {
        match &self.source {
            StudyGameSource::Drawn(setting) => setting.game(stream),
            StudyGameSource::Named(spec) => spec.draw(stream).expect("named games are valid"),
            StudyGameSource::TwoArms => {
                let gap = logarithmic(0.001, 0.5, stream);
                let arm = |loss| Arm::new(Weights::unit(3)?, LossCurve::constant(loss), Noise::Bernoulli);
                let first: f64 = rand::RngExt::random(stream);
                let mut losses = [0.5, 0.5 - gap];
                if first < 0.5 {
                    losses.reverse();
                }
                let arms = losses.into_iter().map(arm).collect::<Result<_, calibandit::ArmError>>();
                Game::new(arms.expect("losses lie in [0, 1]")).expect("there are two arms")
            }
        }
    }

    /// The optimum of every instance, if it does not depend on the instance.
    fn fixed_optimum(&self) -> Option<f64> {
        match self.source {
            StudyGameSource::Drawn(_) => {
                let game = self.draw(&mut StreamKey::new(1, "policy-study/optimum", 0).game());
                Optima::new(&game).excess_at(self.horizon).ok()
            }
            StudyGameSource::Named(_) => None,
            StudyGameSource::TwoArms => Some(0.0),
        }
    }
}

/// A policy of the study.
pub(crate) struct StudyPolicy {
    pub(crate) label: String,
    pub(crate) spec: PolicySpec,
    /// Whether it is told the horizon.
    pub(crate) told: bool,
}

/// The regret of one policy on the instances of a game.
#[derive(Clone, Debug)]
pub(crate) struct Regrets {
    sorted: Vec<f64>,
}

impl Regrets {
    fn new(mut sorted: Vec<f64>) -> Self {
        sorted.sort_unstable_by(f64::total_cmp);
        Self { sorted }
    }

    pub(crate) fn mean(&self) -> f64 {
        self.sorted.iter().sum::<f64>() / self.sorted.len() as f64
    }

    pub(crate) fn standard_error(&self) -> f64 {
        let (mean, n) = (self.mean(), self.sorted.len() as f64);
        let squares: f64 = self.sorted.iter().map(|x| (x - mean) * (x - mean)).sum();
        (squares / (n - 1.0).max(1.0) / n).sqrt()
    }

    pub(crate) fn p99(&self) -> f64 {
        self.sorted[((0.99 * self.sorted.len() as f64) as usize).min(self.sorted.len() - 1)]
    }

    pub(crate) fn worst(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }
}

/// The regrets of all policies on one game, in the order of the policies; `None` for a policy that cannot play it.
pub(crate) fn play(game: &StudyGame, policies: &[StudyPolicy], instances: u64, seed: u64) -> Vec<Option<Regrets>> {
    let grid = Grid::end(game.horizon).expect("the horizon is positive");
    let fixed = game.fixed_optimum();
    let mut regrets = vec![Vec::new(); policies.len()];
    let stream_name = format!("policy-study/{}", game.name);
    // Games with very many arms are slow.
    let share = if game.kind == Some(SettingKind::Many) { MANY_SHARE } else { 1 };
    for instance in 0..instances.div_ceil(share) {
        let streams = StreamKey::new(seed, &stream_name, instance);
        let drawn = game.draw(&mut streams.game());
        let optimum =
            fixed.unwrap_or_else(|| Optima::new(&drawn).excess_at(game.horizon).expect("the optimum is known"));
        for (policy, regrets) in policies.iter().zip(&mut regrets) {
            let problem = Problem { arms: drawn.arms().len(), horizon: policy.told.then_some(game.horizon) };
            let spec = policy.spec.clone().with_memory_bound(game.memory_bound);
            // Policies that choose single plays are slow: they play fewer instances.
            let single = policy.spec.memory_bound().is_none();
            if single && (instance >= 40 || game.horizon > 1_000_000) {
                continue;
            }
            let Ok(mut built) = spec.build(&problem, streams.policy()) else { continue };
            let played = simulate(&drawn, &mut built, &grid, Engine::Leaping, &mut streams.noise());
            regrets.push(played.expect("policies ask for valid runs").last().excess - optimum);
        }
    }
    regrets.into_iter().map(|regrets| (!regrets.is_empty()).then(|| Regrets::new(regrets))).collect()
}

/// All games, on some threads; results in the order of the games.
pub(crate) fn play_all(
    games: &[StudyGame],
    policies: &[StudyPolicy],
    instances: u64,
    seed: u64,
    threads: usize,
) -> Vec<Vec<Option<Regrets>>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![Vec::new(); games.len()]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(game) = games.get(number) else { break };
                    let played = play(game, policies, instances, seed);
                    results.lock().expect("no thread panics")[number] = played;
                }
            });
        }
    });
    results.into_inner().expect("no thread panics")
}
