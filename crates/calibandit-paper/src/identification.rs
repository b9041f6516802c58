//! Best-arm identification among rising arms: how often the recommendation is wrong, in setting A of Mussi et al. 2024.
//!
//! An experiment records regret. Here the question is which arm is the best one at the horizon, and a policy is judged
//! by what it recommends in the end.

use calibandit::zoo::{ArmSpec, Custom};
use calibandit::{
    AnyPolicy, Engine, Exposure, Game, Grid, LossCurveSpec, Memory, Noise, PolicySpec, RationalApproach, StreamKey,
    simulate,
};
use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};
use serde_json::json;

/// The name of the figure, for files and command lines.
pub const IDENTIFICATION: &str = "identification";

/// The number of runs per horizon and policy.
pub const IDENTIFICATION_RUNS: u64 = 1000;

/// The horizons. The best arm of setting A changes between 185 and 190 plays.
const HORIZONS: [u64; 10] = [100, 150, 200, 300, 400, 600, 800, 1200, 1600, 3200];

/// The share of runs in which a policy recommends another arm than the best one.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentificationError {
    /// The number of plays.
    pub horizon: u64,
    /// The share of wrong recommendations.
    pub share: f64,
    /// Its standard error.
    pub stderr: f64,
}

/// Setting A: rewards c·(1 - b / (b + x)) after x plays, with normal noise of standard deviation 0.01.
fn setting_a() -> Game {
    let arm = |(level, scale): (f64, f64)| {
        let curve = RationalApproach { start: 0.0, end: level, scale, exponent: 1.0, clipped: false, first: 0 };
        ArmSpec {
            memory: Some(Memory::All),
            reward: Some(LossCurveSpec { rational: Some(curve), ..LossCurveSpec::default() }),
            feedback: Noise::Normal { sd: 0.01 },
            ..ArmSpec::default()
        }
    };
    let arms = [(1.0, 37.0), (0.88, 10.0), (0.78, 1.0), (0.7, 10.0), (0.5, 20.0)].map(arm);
    let game = Custom { rewards: Some([0.0, 1.0]), arm: arms.to_vec(), ..Custom::default() };
    game.draw(&mut StreamKey::new(1, IDENTIFICATION, 0).game()).expect("the curves lie in [0, 1]")
}

/// The arm with the least loss at its `horizon`-th play.
fn best_arm(game: &Game, horizon: u64) -> usize {
    let loss = |arm: usize| game.arms()[arm].loss(Exposure::rested(horizon));
    (0..game.arms().len()).min_by(|&one, &other| loss(one).total_cmp(&loss(other))).expect("a game has an arm")
}

/// The policies that are compared, with their labels.
fn compared() -> Vec<(&'static str, PolicySpec)> {
    let policy = |table| serde_json::from_value(table).expect("the parameters are valid");
    vec![
        ("R-UCBE", policy(json!({"kind": "rising-ucbe", "sd": 0.01}))),
        ("R-SR", policy(json!({"kind": "rising-halving"}))),
        ("UCB1, most played", policy(json!({"kind": "ucb1"}))),
    ]
}

/// The errors of each policy at the horizons, over this many runs.
pub fn identification_errors(runs: u64) -> Vec<(&'static str, Vec<IdentificationError>)> {
    let game = setting_a();
    let at = |policy: &PolicySpec, horizon: u64| {
        let best = best_arm(&game, horizon);
        let wrong = (0..runs).filter(|&run| recommended(&game, policy, horizon, run) != best).count();
        let share = wrong as f64 / runs as f64;
        IdentificationError { horizon, share, stderr: (share * (1.0 - share) / runs as f64).sqrt() }
    };
    compared()
        .into_iter()
        .map(|(label, policy)| (label, HORIZONS.map(|horizon| at(&policy, horizon)).to_vec()))
        .collect()
}

fn recommended(game: &Game, policy: &PolicySpec, horizon: u64, run: u64) -> usize {
    let name = format!("{IDENTIFICATION} {horizon}");
    let key = StreamKey::new(1, &name, run);
    let mut policy: AnyPolicy =
        policy.build(&game.problem(horizon), key.policy()).expect("every horizon is long enough for the policies");
    let grid = Grid::at(horizon, vec![horizon]).expect("the horizon is positive");
    simulate(game, &mut policy, &grid, Engine::Leaping, &mut key.noise()).expect("no curve leaves its range");
    calibandit::Policy::recommend(&policy)
}

/// The figure: the share of wrong recommendations against the horizon.
pub fn identification_figure(runs: u64) -> Figure {
    let x = Axis::new("plays T", AxisScale::Log);
    let mut panel = Panel::new("setting-a", "", x, Axis::new("share of wrong recommendations", AxisScale::Linear));
    for (label, errors) in identification_errors(runs) {
        let points = errors.iter().map(|error| CurvePoint::new(error.horizon as f64, error.share, error.stderr));
        panel = panel.series(Series::new(label, points.collect()).with_points());
    }
    let caption = format!(
        "Mussi et al. 2024, setting A: five rising arms with noise of standard deviation 0.01, {runs} runs. Which arm \
         is the best one at its T-th play changes between T = 185 and 190."
    );
    Figure::new(IDENTIFICATION, "Best-arm identification among rising arms").caption(caption).panel(panel)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;

    #[test]
    fn the_best_arm_changes_where_the_paper_says() {
        let game = setting_a();
        assert_eq!((best_arm(&game, 185), best_arm(&game, 190)), (1, 0));
        // 1 - 37 / (37 + 99) at the 100th play.
        assert!((game.arms()[0].loss(Exposure::rested(100)) - 37.0 / 136.0).abs() < 1e-12);
    }

    /// The paper: R-UCBE is right soon after the change, R-SR errs in less than 5 % from T > 1,000 on.
    #[test]
    fn errors_are_those_of_the_paper() {
        let errors = identification_errors(100);
        let share = |label: &str, horizon: u64| {
            let (_, errors) = errors.iter().find(|(of, _)| *of == label).unwrap();
            errors.iter().find(|error| error.horizon == horizon).unwrap().share
        };
        for horizon in [1200, 1600, 3200] {
            assert!(share("R-SR", horizon) < 0.05, "R-SR at {horizon}: {}", share("R-SR", horizon));
        }
        for horizon in [200, 300, 600, 1200] {
            assert!(share("R-UCBE", horizon) < 0.05, "R-UCBE at {horizon}: {}", share("R-UCBE", horizon));
        }
    }
}
