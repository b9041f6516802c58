//! The games of neighbouring models against the formulas of their papers, worked by hand, and their optima.

use calibandit::zoo::{
    Congestion, CongestionGrowth, Improving, LastSwitch, LearningCurves, Memories, Plateaus, Recommender, Recovering,
    RisingFifteen, RisingTwo, RottingTen, RottingTwo, SinglePeaked, SweetSpot,
};
use calibandit::{Exposure, Game, Memory, Noise, optimum, reo};

use super::{close, draw, instance};

/// The losses of an arm at these numbers of plays.
fn at(game: &Game, arm: usize, plays: &[u64]) -> Vec<f64> {
    plays.iter().map(|&n| game.arms()[arm].loss(Exposure::rested(n))).collect()
}

fn reward(game: &Game, horizon: u64) -> f64 {
    horizon as f64 - optimum(game, horizon).unwrap().loss
}

#[test]
fn rotting_games() {
    let two = draw(RottingTwo { gap: 0.2, ..RottingTwo::default() });
    assert_eq!(at(&two, 0, &[1, 2501, 2502, 1_000_000_000]), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(at(&two, 1, &[1, 7]), [0.5, 0.5]);
    assert_eq!(two.arms()[0].noise(), Noise::Normal { sd: 5.0 });
    // The greedy oracle's reward of the study, at L = 0.233 and L = 4.24: 291.2 and 5296.
    for (gap, oracle, digits) in
        [(0.02, 25.0, 0.05), (0.02 * 1.25f64.powi(11), 291.2, 0.05), (0.02 * 1.25f64.powi(24), 5296.0, 0.5)]
    {
        let game = draw(RottingTwo { gap, ..RottingTwo::default() });
        let best = gap * (10_000.0 / 2.0 - optimum(&game, 10_000).unwrap().loss);
        assert!((best - oracle).abs() < digits, "{gap}: {best}");
    }
    let ten = draw(RottingTen { sd: 0.0, ..RottingTen::default() });
    assert_eq!((ten.arms().len(), ten.arms()[9].noise()), (10, Noise::None));
    assert_eq!(at(&ten, 9, &[1, 1000, 1001]), [0.0, 0.0, 1.0]);
    assert_eq!(at(&ten, 0, &[1, 25_000]), [0.5, 0.5]);
    close(&at(&ten, 7, &[1, 1000, 1001]), &[0.45, 0.45, 0.55]);
    // The greedy oracle's reward of the study is 14,624: a thousand plays of each mu.
    let range = ten.rewards().unwrap();
    assert_eq!((range.low(), range.high()), (-10.0, 10.0));
    let best = range.total_reward(25_000.0, optimum(&ten, 25_000).unwrap().loss);
    let sum: f64 = (0..9).map(|i| 10f64.powf(f64::from(i) / 2.0)).sum();
    assert!((best - sum).abs() < 1e-6 && (best - 14_624.0).abs() < 0.5, "{best}");
    let plateaus = draw(Plateaus { arms: 30, ..Plateaus::default() });
    for arm in 0..30 {
        let losses = at(&plateaus, arm, &[1, 100, 101, 200, 1001]);
        assert_eq!(losses[..2], [0.0, 0.0]);
        // The second plateau has 1 - 2^-theta, and theta is on the grid.
        let steps = (-(1.0 - losses[2]).log2() - 0.1) / 0.05;
        assert!((steps - steps.round()).abs() < 1e-9 && (-0.5..6.5).contains(&steps), "{steps}");
        let theta = 0.1 + 0.05 * steps.round();
        close(&losses[2..], &[1.0 - 2f64.powf(-theta), 1.0 - 2f64.powf(-theta), 1.0 - 11f64.powf(-theta)]);
    }
    let floored = draw(Plateaus { vanishing: false, ..Plateaus::default() });
    assert!(floored.arms().iter().all(|arm| (2.0 / 3.0..=1.0).contains(&arm.eventual_loss())));
}

#[test]
fn improving_and_single_peaked_games() {
    let improving = |variant, exponent| draw(Improving { variant, exponent, ..Improving::default() });
    close(&at(&improving(1, 0.5), 0, &[1, 4, 100]), &[1.0, 0.5, 0.1]);
    close(&at(&improving(1, 1.0), 1, &[1, 2, 10]), &[1.0, 0.75, 0.55]);
    close(&at(&improving(2, 1.0), 0, &[1, 500, 1000, 5000]), &[0.999, 0.5, 0.0, 0.0]);
    close(&at(&improving(2, 0.5), 1, &[250, 1000, 1001]), &[0.75, 0.5, 0.5]);
    // The optima of the study at T = 10,000.
    for (variant, best) in [(1, 9801.46), (2, 9500.50), (3, 5576.99)] {
        assert!((reward(&improving(variant, 0.4), 10_000) - best).abs() < 0.005);
    }
    let peaked = |variant| draw(SinglePeaked { variant, ..SinglePeaked::default() });
    for (variant, horizon, best) in [(1, 1000, 730.32), (1, 20_000, 2762.03), (2, 500, 396.28), (3, 500, 427.13)] {
        assert!((reward(&peaked(variant), horizon) - best).abs() < 0.005);
    }
    let first = 1.0 - (-0.0015 * (0.01f64 * 599.0).exp() + (0.05 - 1.0) / ((0.011f64 * 599.0).exp() + 1.0) + 1.0);
    assert!((at(&peaked(1), 0, &[1])[0] - first).abs() < 1e-12);
}

#[test]
fn rising_games() {
    let two = draw(RisingTwo::default());
    close(&at(&two, 0, &[1, 501, 1501]), &[1.0, 0.8, 0.7]);
    close(&at(&two, 1, &[1, 12_501, 25_001, 50_000]), &[1.0, 0.5, 0.0, 0.0]);
    assert!((reward(&two, 50_000) - 37_499.5).abs() < 0.01);
    let fifteen = draw(RisingFifteen::default());
    assert_eq!(fifteen.arms().len(), 15);
    let before = |arm: usize, x: u64| 1.0 - at(&fifteen, arm, &[x + 1])[0];
    for (arm, x, expected) in [
        (2, 144, 0.48 * 0.5),
        (0, 1000, 1.0 - 177.0 / (1000.0 + 177f64.powf(1.25)).powf(0.8)),
        (3, 500, 0.43 * (1.0 - 195.0 / (500.0 + 199f64.powf(1.0 / 0.9)).powf(0.9))),
        (7, 1000, 1.08 * (1.0 - 85.0 / (1000.0 + 85f64.powf(1.25)).powf(0.8))),
        (7, 50_000, 1.0), // cut: it would be 1.064
        (10, 162, 0.73 * (1.0 - (-3f64).exp())),
        (14, 0, 0.0),
    ] {
        assert!((before(arm, x) - expected).abs() < 1e-12, "{arm} {x}: {}", before(arm, x));
    }
    let learners = draw(LearningCurves::default());
    close(&[learners.arms()[0].eventual_loss(), learners.arms()[6].eventual_loss()], &[0.38, 0.15]);
    assert_eq!(at(&learners, 3, &[1]), [0.5]);
}

#[test]
fn recommender_rewards_follow_their_recursion() {
    for i in 0..20 {
        let game = Recommender { plays: 400, ..Recommender::default() }.draw(&mut instance(i)).unwrap();
        let losses: Vec<Vec<f64>> = (0..4).map(|arm| at(&game, arm, &(1..=401).collect::<Vec<_>>())).collect();
        assert_eq!(losses.iter().flatten().copied().fold(1.0, f64::min), 0.0, "the largest reward is 1");
        for arm in &losses {
            assert_eq!(arm[399], arm[400]);
            // v_(i+2) - 2 v_(i+1) + v_i follows a linear recursion of order 2 with the roots decay and 1 - pull.
            let v: Vec<f64> = arm.iter().map(|loss| 1.0 - loss).collect();
            let d: Vec<f64> = v[..60].windows(2).map(|pair| pair[1] - pair[0]).collect();
            let determinant = d[1] * d[1] - d[0] * d[2];
            if determinant.abs() > 1e-6 {
                let sum = (d[2] * d[1] - d[0] * d[3]) / determinant;
                let product = (d[2] * d[2] - d[1] * d[3]) / determinant;
                assert!((d[10] - sum * d[9] + product * d[8]).abs() < 1e-9);
                assert!((1.65..2.05).contains(&sum), "decay + 1 - pull: {sum}");
            }
        }
    }
}

#[test]
fn sweet_spots_by_hand() {
    let one = SweetSpot { arms: 1, ..SweetSpot::default() };
    let game = draw(one.clone());
    // 0.7, 0.45, 0.2 at the sweet spot, then 0.4, 0.6, 0.8.
    close(&game.losses(&[0; 8]).unwrap(), &[0.7, 0.45, 0.2, 0.4, 0.6, 0.8, 0.8, 0.8]);
    let rested = draw(SweetSpot { memory: Memories::Same(Memory::All), ..one });
    close(&rested.losses(&[0; 8]).unwrap(), &[0.7, 0.45, 0.2, 0.4, 0.6, 0.8, 0.8, 0.8]);
    // Per-arm memories; the second worker forgets sooner.
    let memory = Memories::Each(vec![Memory::Plays(6), Memory::Plays(3)]);
    let game = draw(SweetSpot { arms: 2, memory, usual_loss: 0.2, ..SweetSpot::default() });
    close(&game.losses(&[1, 1, 1, 1, 0, 1]).unwrap(), &[0.7, 0.45, 0.2, 0.2, 0.7, 0.45]);
    assert_eq!(reo(&game).unwrap().alpha, 0.0, "it forgets before it tires");
    // All windows of the sweet spot are better than exhaustion, by 0.8 - 0.2.
    assert!((reo(&draw(SweetSpot::default())).unwrap().alpha - 0.6).abs() < 1e-15);
    // A rested game of three workers: each is played up to its sweet spot or a little further.
    let game = draw(SweetSpot { memory: Memories::Same(Memory::All), ..SweetSpot::default() });
    for plays in [1, 2, 4, 9, 15] {
        assert!((optimum(&game, plays as u64).unwrap().loss - optimum_by_hand(plays)).abs() < 1e-12);
    }
}

/// All allocations of plays to three workers with the default losses.
fn optimum_by_hand(plays: usize) -> f64 {
    let sums = [0.2f64, 0.3, 0.4].map(|sweet| {
        let mut sums = vec![0.0];
        for n in 0..plays {
            let loss = match n {
                0 => 0.7,
                1 => (0.7 + sweet) / 2.0,
                n => sweet + (0.8 - sweet) * ((n - 2).min(3) as f64) / 3.0,
            };
            sums.push(sums[n] + loss);
        }
        sums
    });
    let mut least = f64::INFINITY;
    for a in 0..=plays {
        for b in 0..=plays - a {
            least = least.min(sums[0][a] + sums[1][b] + sums[2][plays - a - b]);
        }
    }
    least
}

#[test]
fn congested_routes_by_hand() {
    let one = Congestion { arms: 1, ..Congestion::default() };
    close(&draw(one.clone()).losses(&[0; 6]).unwrap(), &[0.1, 0.3, 0.5, 0.7, 0.9, 0.9]);
    let convex = draw(Congestion { growth: CongestionGrowth::Convex, ..one });
    close(&convex.losses(&[0; 5]).unwrap(), &[0.1, 0.15, 0.3, 0.55, 0.9]);
    let refused = Congestion { memory: Memories::Same(Memory::All), ..Congestion::default() };
    assert!(refused.draw(&mut instance(0)).unwrap_err().to_string().contains("`memory` must be a number"));
    let refused = Congestion { memory: Memories::Each(vec![Memory::Plays(3)]), ..Congestion::default() };
    assert!(refused.draw(&mut instance(0)).unwrap_err().to_string().contains("as many as there are arms"));
}

#[test]
fn recovering_arms_by_hand() {
    let two = Recovering { arms: 2, recovered: [0.3, 0.3], ..Recovering::default() };
    // Arm 0 at gaps never, 1, 2, 3 and 4: recovered, 0.9, 0.7, 0.5, recovered.
    let plays = [0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0];
    let of_arm_0 = |game: &Game| -> Vec<f64> {
        let losses = game.losses(&plays).unwrap();
        losses.into_iter().zip(plays).filter(|(_, arm)| *arm == 0).map(|(loss, _)| loss).collect()
    };
    close(&of_arm_0(&draw(two.clone())), &[0.3, 0.9, 0.7, 0.5, 0.3]);
    let blocking = draw(Recovering { blocked: true, ..two });
    close(&of_arm_0(&blocking), &[0.3, 0.9, 0.9, 0.9, 0.3]);
    // Four blocking arms take turns for ever.
    let four = draw(Recovering { arms: 4, recovered: [0.3, 0.3], blocked: true, ..Recovering::default() });
    let best = optimum(&four, 1_000_000).unwrap();
    assert!((best.loss - 300_000.0).abs() < 1e-6, "{best:?}");
}

#[test]
fn last_switches_by_hand() {
    let game = draw(LastSwitch { arms: 2, fresh: [0.3, 0.3], ..LastSwitch::default() });
    // Streaks: 0.3, 0.5, 0.7, 0.9. After a gap of 2: as the third play of a streak.
    close(
        &game.losses(&[0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0]).unwrap(),
        &[0.3, 0.5, 0.7, 0.9, 0.9, 0.3, 0.7, 0.5, 0.5, 0.5, 0.7, 0.3],
    );
}
