//! The solvers against brute force, and against numbers of the literature.

use super::*;
use crate::rng::StreamKey;
use crate::{Arm, Formula, LossCurve, Noise, PeakCurve, PowerCurve, Ramp, Stream, Weights};
use rand::RngExt;

fn game(curves: Vec<LossCurve>) -> Game {
    let arm = |curve| Arm::new(Weights::all(), curve, Noise::None).unwrap();
    Game::new(curves.into_iter().map(arm).collect()).unwrap()
}

fn optima(game: &Game) -> RestedOptima<'_> {
    RestedOptima::new(game, Limits::default()).unwrap()
}

fn solver(game: &Game) -> &'static str {
    match optima(game).solver {
        Solver::Greedy(_) => "merge",
        Solver::Single(_) => "single",
        Solver::Peaked(_) => "peaked",
        Solver::General(_) => "general",
    }
}

/// The least loss of every sequence of plays, by trying all of them with the game's own windows.
fn brute_force(game: &Game, horizon: u32) -> f64 {
    let arms = game.arms().len();
    let sequences = (arms as u64).pow(horizon);
    let loss = |mut code: u64| {
        let mut window = game.empty_window();
        let mut sum = 0.0;
        for _ in 0..horizon {
            sum += game.play((code % arms as u64) as usize, &mut window);
            code /= arms as u64;
        }
        sum
    };
    (0..sequences).map(loss).fold(f64::INFINITY, f64::min)
}

/// The least loss of every allocation.
fn all_allocations(game: &Game, horizon: usize) -> f64 {
    let mut least = vec![f64::INFINITY; horizon + 1];
    least[0] = 0.0;
    for arm in game.arms() {
        let mut sums = vec![0.0];
        for n in 1..=horizon {
            sums.push(sums[n - 1] + arm.loss(crate::Exposure::rested(n as u64)));
        }
        least = (0..=horizon).map(|t| (0..=t).map(|n| least[t - n] + sums[n]).fold(f64::INFINITY, f64::min)).collect();
    }
    least[horizon]
}

/// Values with many ties.
fn values(length: usize, stream: &mut Stream) -> Vec<f64> {
    (0..length).map(|_| f64::from(stream.random_range(0..=8u32)) / 8.0).collect()
}

fn curve(kind: &str, length: usize, stream: &mut Stream) -> LossCurve {
    let mut losses = values(length, stream);
    losses.sort_by(f64::total_cmp);
    match kind {
        "rotting" => {}
        "improving" => losses.reverse(),
        "peaked" => {
            let peak = stream.random_range(0..length as u32) as usize;
            losses[..peak].reverse();
            // The rise begins where the fall ends.
            let low = losses[..peak].last().copied().unwrap_or(0.0);
            let mut rise: Vec<f64> = values(length - peak, stream).iter().map(|loss| loss.max(low)).collect();
            rise.sort_by(f64::total_cmp);
            losses.truncate(peak);
            losses.extend(rise);
        }
        _ => losses = values(length, stream),
    }
    LossCurve::table(losses)
}

#[test]
fn optima_are_those_of_brute_force() {
    for (kind, solvers) in [
        ("rotting", vec!["merge"]),
        ("improving", vec!["single", "merge"]), // all constant
        ("peaked", vec!["peaked", "merge", "single"]),
        ("any", vec!["general", "peaked", "merge", "single"]),
    ] {
        let mut stream = StreamKey::new(16, kind, 0).game();
        let mut usual = 0;
        for instance in 0..300 {
            let arms = 1 + instance % 3;
            let length = 1 + stream.random_range(0..7u32) as usize;
            let curves = (0..arms).map(|_| curve(kind, length, &mut stream)).collect();
            let game = game(curves);
            let used = solver(&game);
            assert!(solvers.contains(&used), "{kind} by {used}: {game:?}");
            usual += u32::from(used == solvers[0]);
            let mut optima = optima(&game);
            for horizon in [1, 2, 3, 5, 7, 4, 12] {
                let found = optima.at(horizon, Interrupt::never()).unwrap();
                let best = if horizon <= 7 && instance % 10 == 0 {
                    brute_force(&game, horizon as u32)
                } else {
                    all_allocations(&game, horizon as usize)
                };
                assert!((found.loss - best).abs() < 1e-12, "{kind}, {horizon}: {found:?}, {best}, {game:?}");
                let played: Vec<usize> = found.sequence.iter().collect();
                assert_eq!((played.len() as u64, found.sequence.len()), (horizon, horizon));
                let sum: f64 = game.losses(&played).unwrap().iter().sum();
                assert!((sum - best).abs() < 1e-12, "{kind}, {horizon}: {found:?}");
                let bounds = bounds::estimate(&game, &optima.curves, horizon, Interrupt::never());
                assert!(bounds.lower <= best + 1e-12 && bounds.upper >= best - 1e-12, "{bounds:?}, {best}");
            }
        }
        assert!(usual > 100, "{kind}: the solver was used {usual} times only");
    }
}

fn power(limit: f64, scale: f64, exponent: f64) -> LossCurve {
    LossCurve::formula(Formula::Power(PowerCurve { limit, scale, exponent, every: 1 }))
}

fn reward(game: &Game, horizon: u64) -> f64 {
    horizon as f64 - optima(game).at(horizon, Interrupt::never()).unwrap().loss
}

/// The games of Heidari et al. as coded by Lindner et al.: rewards of the optimum at T = 10,000.
#[test]
fn improving_games_have_the_published_optima() {
    for exponent in [0.1, 0.5, 1.0, 5.0] {
        let second = || power(0.5, 0.5, exponent);
        let one = game(vec![power(0.0, 1.0, 0.5), second()]);
        assert_eq!(solver(&one), "single");
        assert!((reward(&one, 10_000) - 9801.46).abs() < 0.005);
        let three = game(vec![power(0.0, 1.0, 0.1), second()]);
        assert!((reward(&three, 10_000) - 5576.99).abs() < 0.005);
    }
    let ramp =
        |end, exponent| LossCurve::formula(Formula::Ramp(Ramp { start: 1.0, end, plays: 1000.0, exponent, first: 1 }));
    for exponent in [0.03, 0.1, 0.4, 1.0] {
        assert!((reward(&game(vec![ramp(0.0, 1.0), ramp(0.5, exponent)]), 10_000) - 9500.50).abs() < 0.005);
    }
    // At a shorter horizon the other arm is the best one.
    for (exponent, best) in [(0.5, 469.10), (1.0, 496.26), (5.0, 499.48)] {
        let three = game(vec![power(0.0, 1.0, 0.1), power(0.5, 0.5, exponent)]);
        assert!((reward(&three, 1000) - best).abs() < 0.005);
        assert_eq!(
            optima(&three).at(1000, Interrupt::never()).unwrap().sequence.blocks,
            [ArmPlays { arm: 1, plays: 1000 }]
        );
    }
}

/// The games inc_dec_1 to 3 of Lindner et al.
#[test]
fn single_peaked_games_have_the_published_optima() {
    let peak = |fall, rise, c1, c2, centre, a: f64| {
        LossCurve::formula(Formula::Peak(PeakCurve {
            before: 1.0 - c1,
            after: 1.0 - c2,
            height: -a,
            fall,
            rise,
            centre,
            first: 1,
        }))
    };
    let first = |c2| peak(0.01, 0.001, 1.0, c2, 600.0, -0.0015);
    let second = |c2| peak(0.009, 0.0009, 0.8, c2, 500.0, -0.005);
    let one = game(vec![first(0.05), second(0.1)]);
    let two = game(vec![peak(0.003, 0.001, 1.0, 0.05, 600.0, -0.0015), peak(0.011, 0.001, 0.8, 0.2, 400.0, -0.008)]);
    let three = game(vec![first(0.5), second(0.6)]);
    for (game, horizon, best, plays) in [
        (&one, 500, 415.38, [500, 0]),
        (&one, 1000, 730.32, [581, 419]),
        (&one, 20_000, 2762.03, [862, 19_138]),
        (&two, 500, 396.28, [500, 0]),
        (&two, 20_000, 4575.00, [1017, 18_983]),
        (&three, 500, 427.13, [500, 0]),
        (&three, 20_000, 12_207.21, [725, 19_275]),
    ] {
        // The first arm of the second game falls again, by 10^-12, after play 7500.
        assert_eq!(solver(game), if std::ptr::eq(game, &two) { "general" } else { "peaked" });
        assert!((reward(game, horizon) - best).abs() < 0.005, "{horizon}: {}", reward(game, horizon));
        let sequence = optima(game).at(horizon, Interrupt::never()).unwrap().sequence;
        let found =
            [0, 1].map(|arm| sequence.blocks.iter().filter(|block| block.arm == arm).map(|b| b.plays).sum::<u64>());
        assert_eq!(found, plays);
    }
}

/// With steps, the work does not grow with the horizon.
#[test]
fn rotting_steps_are_merged_at_any_horizon() {
    let game = game(vec![LossCurve::steps([(1, 0.0), (2502, 1.0)]), LossCurve::constant(0.5)]);
    let optimum = optima(&game).at(1 << 53, Interrupt::never()).unwrap();
    assert_eq!(optimum.excess, -2501.0 * 0.5);
    assert_eq!(optimum.sequence.blocks.len(), 2);
}

#[test]
fn what_is_too_much_work_has_bounds_and_a_message() {
    let zigzag = LossCurve::table([0.5, 0.1, 0.9, 0.2, 0.8]);
    let game = game(vec![zigzag.clone(), zigzag]);
    let mut optima = optima(&game);
    let error = optima.at(10_000_000, Interrupt::never()).unwrap_err();
    assert!(error.is_too_large() && error.to_string().contains("steps"), "{error}");
    let bounds = optima.bounds_at(10_000_000, Interrupt::never());
    assert!(!bounds.exact && bounds.lower < bounds.upper);
}

/// By hand: the arm that is best for 1000 plays is worse than the other one at first.
#[test]
fn a_plan_for_a_horizon_is_followed_from_the_beginning() {
    let improving = game(vec![LossCurve::steps([(1, 0.9), (11, 0.1)]), LossCurve::constant(0.5)]);
    let mut improving = optima(&improving);
    for (time, loss) in [(4, 3.6), (10, 9.0), (12, 9.2), (1000, 108.0)] {
        let planned = improving.planned_excess(1000, time, Interrupt::never()).unwrap().unwrap();
        assert!((planned + 0.1 * time as f64 - loss).abs() < 1e-12, "{time}: {planned}");
    }
    assert!((improving.excess_at(4, Interrupt::never()).unwrap() - 1.6).abs() < 1e-12, "arm 1 is best for 4 plays");
    let rotting = game(vec![LossCurve::steps([(1, 0.1), (4, 0.9)]), LossCurve::constant(0.5)]);
    let mut rotting = optima(&rotting);
    for time in [2, 5, 9] {
        let planned = rotting.planned_excess(9, time, Interrupt::never()).unwrap();
        assert_eq!(planned, rotting.excess_at(time, Interrupt::never()).ok());
    }
    let zigzag = || LossCurve::table([0.5, 0.1, 0.9]);
    let open = game(vec![zigzag(), zigzag()]);
    assert_eq!(optima(&open).planned_excess(4, 2, Interrupt::never()), Ok(None));
}
