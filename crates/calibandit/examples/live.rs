//! Chooses arms live, saves the state half-way and continues: `cargo run --release --example live`.

use calibandit::prelude::*;

/// The world outside: a cache whose hit rate grows with use. Returns a loss in [0, 1], here the rate of misses.
fn measure(arm: usize, plays_in_a_row: u32) -> f64 {
    let misses_when_warm = [0.4, 0.3, 0.1][arm];
    if plays_in_a_row < 3 { 0.9 } else { misses_when_warm }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A cache is warm after at most 5 plays in a row, and there are 3 caches.
    let mut advisor = Advisor::builder(Calibrated::builder(5), 3).seed(7).build()?;
    let (mut last, mut streak) = (None, 0);
    for play in 0..2000 {
        let decision = advisor.ask()?;
        streak = if last == Some(decision.arm) { streak + 1 } else { 1 };
        last = Some(decision.arm);
        let loss = measure(decision.arm, streak);
        // The losses of burn-in plays are ignored, so they need not be told.
        if decision.phase == Phase::Measured {
            advisor.tell(decision.id, loss)?;
        }
        if play == 1000 {
            let saved = advisor.to_json()?;
            advisor = Advisor::from_json(&saved)?; // continues exactly here, random generator included
        }
    }
    println!("plays per arm: {:?}, switches: {}", advisor.plays(), advisor.switches());
    println!("recommended arm: {}", advisor.recommend());
    assert_eq!(advisor.recommend(), 2);
    Ok(())
}
