//! A policy of your own: implement `Policy`, check its contract, compare it with the recommended policy.
//!
//! Run it with `cargo run --release --example own_policy`.

use std::error::Error;

use calibandit::policy::Calibrated;
use calibandit::testing::check_policy;
use calibandit::{Engine, Feedback, Game, GameSpec, Grid, Policy, Problem, Run, StreamKey, cpr, simulate};

/// Measures every arm, keeps the better half, measures twice as long, and so on until one arm is left.
struct Halving {
    burn_in: u64,
    record: u64,
    /// The remaining arms.
    left: Vec<usize>,
    /// The means of this round, of the first arms of `left`.
    means: Vec<f64>,
}

impl Halving {
    fn new(arms: usize, memory_bound: u64) -> Self {
        Self { burn_in: memory_bound - 1, record: 400, left: (0..arms).collect(), means: vec![] }
    }
}

impl Policy for Halving {
    fn next_run(&mut self) -> Run {
        match self.left[..] {
            [arm] => Run::forever(arm),
            _ => Run { arm: self.left[self.means.len()], burn_in: self.burn_in, record: self.record },
        }
    }

    fn observe(&mut self, _: Run, feedback: Feedback) {
        self.means.push(feedback.mean());
        if self.means.len() == self.left.len() {
            let mut measured: Vec<_> = self.left.iter().copied().zip(self.means.drain(..)).collect();
            measured.sort_by(|a, b| a.1.total_cmp(&b.1));
            measured.truncate(self.left.len().div_ceil(2));
            self.left = measured.into_iter().map(|(arm, _)| arm).collect();
            self.record *= 2;
        }
    }

    fn recommend(&self) -> usize {
        self.left[0]
    }
}

/// The regret of a policy on one instance of the game.
fn regret(game: &Game, policy: &mut dyn Policy, horizon: u64, key: &StreamKey) -> Result<f64, Box<dyn Error>> {
    let played = simulate(game, policy, &Grid::end(horizon)?, Engine::Leaping, &mut key.noise())?;
    Ok(cpr(game, &played.checkpoints)?[0])
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (arms, memory, horizon, instances) = (5, 3, 1_000_000, 20);

    // The contract of `Policy`: valid runs, reproducible, no panic on any loss. Errors name the broken rule.
    check_policy(&Problem { arms, horizon: Some(horizon) }, || Halving::new(arms, memory))?;

    // The game of the paper's Figure 1a: the best arm is better only once it has been played three times in a row.
    let game: GameSpec = serde_json::from_str(r#"{"kind": "step", "arms": 5, "memory": 3}"#)?;
    let (mut halving, mut calibrated) = (0.0, 0.0);
    for instance in 0..instances {
        // Both policies play the same game with the same noise.
        let key = StreamKey::new(1, "own-policy", instance);
        let game = game.draw(&mut key.game())?;
        let mut recommended = Calibrated::builder(memory).build(&game.problem(horizon), key.policy())?;
        halving += regret(&game, &mut Halving::new(arms, memory), horizon, &key)? / instances as f64;
        calibrated += regret(&game, &mut recommended, horizon, &key)? / instances as f64;
    }
    println!("mean regret over {instances} instances: halving {halving:.0}, calibrated {calibrated:.0}");
    Ok(())
}
