//! Who stands where: in each game, in each group of games, and against each other.

use serde::Serialize;

use super::{GameResult, Group, Outcome, Played, Tournament};
use calibandit_experiment::stats::Spread;

/// A share with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The share.
    pub share: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Out of how many.
    pub of: usize,
}

/// The two-sided 95 % quantile of the normal law.
const Z: f64 = 1.959_963_984_540_054;

impl Rate {
    /// `successes` out of `of`, with Wilson's score interval (1927), which stays within [0, 1] and is fair for shares near
    /// 0 and 1. Ties may count as fractions. Without any trial the interval is [0, 1].
    pub fn wilson(successes: f64, of: usize) -> Self {
        if of == 0 {
            return Self { share: f64::NAN, low: 0.0, high: 1.0, of };
        }
        let n = of as f64;
        let share = successes / n;
        let z2 = Z * Z;
        let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).max(0.0).sqrt();
        Self { share, low: (centre - half).max(0.0), high: (centre + half).min(1.0), of }
    }
}

/// One policy in one game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GameRow {
    /// The policy.
    pub policy: String,
    /// Its CPR at the horizon; none if it did not play.
    pub cpr: Option<Spread>,
    /// The mean number of switches.
    pub switches: Option<f64>,
    /// Its rank by mean CPR, from 1; ties share the mean of their ranks, and those that cannot play are last. None if it
    /// was too slow.
    pub rank: Option<f64>,
    /// The share of its instances in which no policy had a smaller CPR; ties share the win.
    pub wins: Option<Rate>,
    /// The mean yardstick over its instances.
    pub yardstick: Option<f64>,
    /// How many times the best mean CPR of the game its own is, both plus 1.
    pub times_best: Option<f64>,
    /// How many times the yardstick its mean CPR is, both plus 1.
    pub times_yardstick: Option<f64>,
    /// Whether the horizon is too short for it.
    pub cannot: bool,
}

/// The policies in one game, in the order of [`Tournament::policies`].
pub fn in_game(tournament: &Tournament, game: &GameResult) -> Vec<GameRow> {
    let spreads: Vec<Option<Spread>> = game.outcomes.iter().map(|outcome| Spread::of(cprs(outcome))).collect();
    let scores = scores(game);
    let ranks = ranks(&scores);
    let best = scores.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let wins = wins(game);
    let row = |(p, label): (usize, &String)| {
        let played = played(&game.outcomes[p]);
        let n = played.len() as f64;
        let mean = spreads[p].map(|spread| spread.mean);
        let yardstick =
            mean.map(|_| game.yardsticks.iter().take(played.len()).map(|each| each.total()).sum::<f64>() / n);
        GameRow {
            policy: label.clone(),
            cpr: spreads[p],
            switches: mean.map(|_| played.iter().map(|each| each.switches as f64).sum::<f64>() / n),
            rank: ranks[p],
            wins: mean.map(|_| Rate::wilson(wins[p], played.len())),
            yardstick,
            times_best: mean.map(|mean| times(mean, best)),
            times_yardstick: mean.zip(yardstick).map(|(mean, yardstick)| times(mean, yardstick)),
            cannot: game.outcomes[p] == Outcome::Cannot,
        }
    };
    tournament.policies.iter().enumerate().map(row).collect()
}

/// One policy in all games of a group. Each game counts once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupRow {
    /// The group.
    pub group: Group,
    /// The policy.
    pub policy: String,
    /// In how many games it played.
    pub games: usize,
    /// For how many the horizon is too short.
    pub cannot: usize,
    /// For how many it is too slow.
    pub too_slow: usize,
    /// Its mean rank; none if it never took part.
    pub mean_rank: Option<f64>,
    /// The share of games in which it has the least mean CPR; ties share the win. Games it cannot play are lost, games for
    /// which it is too slow do not count.
    pub wins: Rate,
    /// How often its mean CPR is below that of the group's leader, the policy with the least mean rank; ties count half.
    pub beats_leader: Rate,
    /// How many times the best mean CPR of the game its own is (both plus 1), over the games it played.
    pub times_best: Option<Times>,
    /// The same against the yardstick.
    pub times_yardstick: Option<Times>,
}

/// Ratios over games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// The geometric mean.
    pub mean: f64,
    /// The 99 % quantile.
    pub p99: f64,
    /// The largest.
    pub worst: f64,
}

impl Times {
    fn of(ratios: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let spread = Spread::of(ratios.clone())?;
        let logs = Spread::of(ratios.map(f64::ln))?;
        Some(Self { mean: logs.mean.exp(), p99: spread.p99, worst: spread.max })
    }
}

/// The policies in a group of games (those that `of` chooses), by mean rank.
pub fn in_group(tournament: &Tournament, group: Group, of: impl Fn(&GameResult) -> bool) -> Vec<GroupRow> {
    let chosen = |game: &&GameResult| game.entry.group == group && of(game);
    let games: Vec<&GameResult> = tournament.games.iter().filter(chosen).collect();
    let tables: Vec<Vec<GameRow>> = games.iter().map(|game| in_game(tournament, game)).collect();
    let mean_rank = |p: usize| Spread::of(tables.iter().filter_map(|rows| rows[p].rank)).map(|spread| spread.mean);
    let ranks: Vec<Option<f64>> = (0..tournament.policies.len()).map(mean_rank).collect();
    let leader = (0..ranks.len()).filter(|&p| ranks[p].is_some()).min_by(|&a, &b| order(ranks[a], ranks[b]));
    let row = |(p, label): (usize, &String)| {
        let count = |what: &Outcome| games.iter().filter(|game| game.outcomes[p] == *what).count();
        let (cannot, too_slow) = (count(&Outcome::Cannot), count(&Outcome::TooSlow));
        let won = games.iter().map(|game| share_of_least(&scores(game), p)).sum();
        GroupRow {
            group,
            policy: label.clone(),
            games: games.len() - cannot - too_slow,
            cannot,
            too_slow,
            mean_rank: ranks[p],
            wins: Rate::wilson(won, games.len() - too_slow),
            beats_leader: leader.map_or(Rate::wilson(0.0, 0), |leader| versus(&games, p, leader)),
            times_best: Times::of(tables.iter().filter_map(|rows| rows[p].times_best)),
            times_yardstick: Times::of(tables.iter().filter_map(|rows| rows[p].times_yardstick)),
        }
    };
    let mut rows: Vec<GroupRow> = tournament.policies.iter().enumerate().map(row).collect();
    rows.sort_by(|a, b| order(a.mean_rank, b.mean_rank));
    rows
}

/// How often each policy has a smaller mean CPR than each other in the games of a group: `[a][b]` is how often `a` beats
/// `b`, out of the games for which neither is too slow.
pub fn head_to_head(tournament: &Tournament, group: Group) -> Vec<Vec<Rate>> {
    let games: Vec<&GameResult> = tournament.games.iter().filter(|game| game.entry.group == group).collect();
    let all = 0..tournament.policies.len();
    all.clone().map(|a| all.clone().map(|b| versus(&games, a, b)).collect()).collect()
}

fn versus(games: &[&GameResult], a: usize, b: usize) -> Rate {
    let (mut won, mut of) = (0.0, 0);
    for game in games {
        let scores = scores(game);
        if let (Some(one), Some(other)) = (scores[a], scores[b]) {
            of += 1;
            won += if one < other { 1.0 } else { 0.5 * f64::from(u8::from(one == other)) };
        }
    }
    Rate::wilson(won, of)
}

/// How many times `other` it is, both plus one play's loss, so that games without regret do not divide by nothing.
fn times(cpr: f64, other: f64) -> f64 {
    (cpr.max(0.0) + 1.0) / (other.max(0.0) + 1.0)
}

fn played(outcome: &Outcome) -> &[Played] {
    match outcome {
        Outcome::Played(played) => played,
        Outcome::Cannot | Outcome::TooSlow => &[],
    }
}

fn cprs(outcome: &Outcome) -> impl Iterator<Item = f64> {
    played(outcome).iter().map(|played| played.cpr)
}

/// Mean CPR by policy; infinite for those that cannot play, none for those that are too slow.
fn scores(game: &GameResult) -> Vec<Option<f64>> {
    let score = |outcome: &Outcome| match outcome {
        Outcome::Played(_) => Spread::of(cprs(outcome)).map(|spread| spread.mean),
        Outcome::Cannot => Some(f64::INFINITY),
        Outcome::TooSlow => None,
    };
    game.outcomes.iter().map(score).collect()
}

/// Ranks from 1, ties sharing the mean of theirs.
fn ranks(scores: &[Option<f64>]) -> Vec<Option<f64>> {
    let rank = |own: f64| {
        let below = scores.iter().flatten().filter(|&&score| score < own).count();
        let same = scores.iter().flatten().filter(|&&score| score == own).count();
        below as f64 + (same as f64 + 1.0) / 2.0
    };
    scores.iter().map(|score| score.map(rank)).collect()
}

/// 1 if policy `p` alone has the least score, an even share if several have it, otherwise 0.
fn share_of_least(scores: &[Option<f64>], p: usize) -> f64 {
    let least = scores.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let have = scores.iter().flatten().filter(|&&score| score == least).count();
    if scores[p] == Some(least) && least.is_finite() { 1.0 / have as f64 } else { 0.0 }
}

/// How many instances each policy won.
fn wins(game: &GameResult) -> Vec<f64> {
    let mut wins = vec![0.0; game.outcomes.len()];
    for instance in 0..game.yardsticks.len() {
        let at = |outcome: &Outcome| played(outcome).get(instance).map(|played| played.cpr);
        let scores: Vec<Option<f64>> = game.outcomes.iter().map(at).collect();
        for (p, won) in wins.iter_mut().enumerate() {
            *won += share_of_least(&scores, p);
        }
    }
    wins
}

/// Present values by size, absent ones last.
fn order(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 81 of 263: Newcombe (1998), "Two-sided confidence intervals for the single proportion", Table I, gives 0.2553 to
    /// 0.3662 for the score method; 0 of 20: 0 to 0.1611; 15 of 148: 0.0624 to 0.1605.
    #[test]
    fn wilson_intervals_agree_with_published_ones() {
        for (successes, of, low, high) in
            [(81.0, 263, 0.2553, 0.3662), (0.0, 20, 0.0, 0.1611), (15.0, 148, 0.0624, 0.1605)]
        {
            let rate = Rate::wilson(successes, of);
            assert!((rate.low - low).abs() < 5e-5 && (rate.high - high).abs() < 5e-5, "{rate:?}");
        }
        assert_eq!((Rate::wilson(0.0, 0).low, Rate::wilson(0.0, 0).high), (0.0, 1.0));
    }

    #[test]
    fn ranks_and_wins_share_ties() {
        let scores = [Some(3.0), Some(1.0), None, Some(1.0), Some(f64::INFINITY), Some(f64::INFINITY)];
        assert_eq!(ranks(&scores), [Some(3.0), Some(1.5), None, Some(1.5), Some(4.5), Some(4.5)]);
        let shares: Vec<f64> = (0..6).map(|p| share_of_least(&scores, p)).collect();
        assert_eq!(shares, [0.0, 0.5, 0.0, 0.5, 0.0, 0.0]);
        assert_eq!(share_of_least(&[Some(f64::INFINITY)], 0), 0.0);
    }

    #[test]
    fn ratios_by_hand() {
        assert_eq!(times(9.0, 1.0), 5.0);
        assert_eq!(times(-1e-12, 0.0), 1.0);
        let times = Times::of([1.0, 4.0].into_iter()).unwrap();
        assert!((times.mean - 2.0).abs() < 1e-12 && times.worst == 4.0);
    }
}
