//! Rankings of the policies: per game, per group of games, and pairwise.

use serde::Serialize;

use super::{GameResult, PlayedInstance, Tournament, TournamentGroup, TournamentOutcome};
use calibandit_experiment::stats::Spread;

/// A share of wins with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WinRate {
    /// The share.
    pub share: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of trials.
    pub of: usize,
}

/// The two-sided 95 % quantile of the normal law.
const Z: f64 = 1.959_963_984_540_054;

impl WinRate {
    /// `successes` out of `of`, with Wilson's score interval (1927), which stays within [0, 1] and is accurate for
    /// shares near 0 and 1. Ties may count as fractions. Without trials the interval is [0, 1].
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
    /// The CPR at the horizon; `None` if the policy did not play.
    pub cpr: Option<Spread>,
    /// The mean number of switches.
    pub switches: Option<f64>,
    /// The rank by mean CPR, from 1. Ties share the mean of their ranks; policies that cannot play are last. `None` if
    /// the policy was too slow.
    pub rank: Option<f64>,
    /// The share of its instances in which no policy had a smaller CPR; ties share the win.
    pub wins: Option<WinRate>,
    /// The mean lower-bound estimate over its instances.
    pub lower_bound: Option<f64>,
    /// The ratio of its mean CPR to the best mean CPR of the game, both plus 1.
    pub times_best: Option<f64>,
    /// The ratio of its mean CPR to the lower-bound estimate, both plus 1.
    pub times_lower_bound: Option<f64>,
    /// Whether the horizon is too short for the policy.
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
        let lower_bound =
            mean.map(|_| game.lower_bounds.iter().take(played.len()).map(|each| each.total()).sum::<f64>() / n);
        GameRow {
            policy: label.clone(),
            cpr: spreads[p],
            switches: mean.map(|_| played.iter().map(|each| each.switches as f64).sum::<f64>() / n),
            rank: ranks[p],
            wins: mean.map(|_| WinRate::wilson(wins[p], played.len())),
            lower_bound,
            times_best: mean.map(|mean| times(mean, best)),
            times_lower_bound: mean.zip(lower_bound).map(|(mean, lower_bound)| times(mean, lower_bound)),
            cannot: game.outcomes[p] == TournamentOutcome::Cannot,
        }
    };
    tournament.policies.iter().enumerate().map(row).collect()
}

/// One policy in all games of a group. Each game counts once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupRow {
    /// The group.
    pub group: TournamentGroup,
    /// The policy.
    pub policy: String,
    /// The number of games that it played.
    pub games: usize,
    /// The number of games whose horizon is too short for it.
    pub cannot: usize,
    /// The number of games for which it is too slow.
    pub too_slow: usize,
    /// The mean rank; `None` if it never took part.
    pub mean_rank: Option<f64>,
    /// The share of games in which it has the least mean CPR; ties share the win. Games it cannot play are lost, games
    /// for which it is too slow do not count.
    pub wins: WinRate,
    /// The share of games in which its mean CPR is below that of the group's leader, which is the policy with the least
    /// mean rank; ties count half.
    pub beats_leader: WinRate,
    /// The ratio of its mean CPR to the best of the game (both plus 1), over the games it played.
    pub times_best: Option<RatioSummary>,
    /// The ratio of its mean CPR to the lower-bound estimate (both plus 1), over the games it played.
    pub times_lower_bound: Option<RatioSummary>,
}

/// Ratios over games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioSummary {
    /// The geometric mean.
    pub mean: f64,
    /// The 99 % quantile.
    pub p99: f64,
    /// The largest.
    pub worst: f64,
}

impl RatioSummary {
    fn of(ratios: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let spread = Spread::of(ratios.clone())?;
        let logs = Spread::of(ratios.map(f64::ln))?;
        Some(Self { mean: logs.mean.exp(), p99: spread.p99, worst: spread.max })
    }
}

/// The policies in those games of a group that `of` selects, sorted by mean rank.
pub fn in_group(tournament: &Tournament, group: TournamentGroup, of: impl Fn(&GameResult) -> bool) -> Vec<GroupRow> {
    let chosen = |game: &&GameResult| game.entry.group == group && of(game);
    let games: Vec<&GameResult> = tournament.games.iter().filter(chosen).collect();
    let tables: Vec<Vec<GameRow>> = games.iter().map(|game| in_game(tournament, game)).collect();
    let mean_rank = |p: usize| Spread::of(tables.iter().filter_map(|rows| rows[p].rank)).map(|spread| spread.mean);
    let ranks: Vec<Option<f64>> = (0..tournament.policies.len()).map(mean_rank).collect();
    let leader = (0..ranks.len()).filter(|&p| ranks[p].is_some()).min_by(|&a, &b| order(ranks[a], ranks[b]));
    let row = |(p, label): (usize, &String)| {
        let count = |what: &TournamentOutcome| games.iter().filter(|game| game.outcomes[p] == *what).count();
        let (cannot, too_slow) = (count(&TournamentOutcome::Cannot), count(&TournamentOutcome::TooSlow));
        let won = games.iter().map(|game| share_of_least(&scores(game), p)).sum();
        GroupRow {
            group,
            policy: label.clone(),
            games: games.len() - cannot - too_slow,
            cannot,
            too_slow,
            mean_rank: ranks[p],
            wins: WinRate::wilson(won, games.len() - too_slow),
            beats_leader: leader.map_or(WinRate::wilson(0.0, 0), |leader| versus(&games, p, leader)),
            times_best: RatioSummary::of(tables.iter().filter_map(|rows| rows[p].times_best)),
            times_lower_bound: RatioSummary::of(tables.iter().filter_map(|rows| rows[p].times_lower_bound)),
        }
    };
    let mut rows: Vec<GroupRow> = tournament.policies.iter().enumerate().map(row).collect();
    rows.sort_by(|a, b| order(a.mean_rank, b.mean_rank));
    rows
}

/// The pairwise comparison of the policies in a group: `[a][b]` is the share of games in which the mean CPR of `a` is
/// below that of `b`, out of the games for which neither is too slow.
pub fn head_to_head(tournament: &Tournament, group: TournamentGroup) -> Vec<Vec<WinRate>> {
    let games: Vec<&GameResult> = tournament.games.iter().filter(|game| game.entry.group == group).collect();
    let all = 0..tournament.policies.len();
    all.clone().map(|a| all.clone().map(|b| versus(&games, a, b)).collect()).collect()
}

fn versus(games: &[&GameResult], a: usize, b: usize) -> WinRate {
    let (mut won, mut of) = (0.0, 0);
    for game in games {
        let scores = scores(game);
        if let (Some(one), Some(other)) = (scores[a], scores[b]) {
            of += 1;
            won += if one < other { 1.0 } else { 0.5 * f64::from(u8::from(one == other)) };
        }
    }
    WinRate::wilson(won, of)
}

/// The ratio of two regrets, both plus 1 (the largest loss of a play), so that games without regret do not divide by 0.
fn times(cpr: f64, other: f64) -> f64 {
    (cpr.max(0.0) + 1.0) / (other.max(0.0) + 1.0)
}

fn played(outcome: &TournamentOutcome) -> &[PlayedInstance] {
    match outcome {
        TournamentOutcome::Played(played) => played,
        TournamentOutcome::Cannot | TournamentOutcome::TooSlow => &[],
    }
}

fn cprs(outcome: &TournamentOutcome) -> impl Iterator<Item = f64> {
    played(outcome).iter().map(|played| played.cpr)
}

/// The mean CPR per policy; infinite for policies that cannot play, `None` for those that are too slow.
fn scores(game: &GameResult) -> Vec<Option<f64>> {
    let score = |outcome: &TournamentOutcome| match outcome {
        TournamentOutcome::Played(_) => Spread::of(cprs(outcome)).map(|spread| spread.mean),
        TournamentOutcome::Cannot => Some(f64::INFINITY),
        TournamentOutcome::TooSlow => None,
    };
    game.outcomes.iter().map(score).collect()
}

/// Ranks from 1; ties share the mean of their ranks.
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

/// The number of instances that each policy won.
fn wins(game: &GameResult) -> Vec<f64> {
    let mut wins = vec![0.0; game.outcomes.len()];
    for instance in 0..game.lower_bounds.len() {
        let at = |outcome: &TournamentOutcome| played(outcome).get(instance).map(|played| played.cpr);
        let scores: Vec<Option<f64>> = game.outcomes.iter().map(at).collect();
        for (p, won) in wins.iter_mut().enumerate() {
            *won += share_of_least(&scores, p);
        }
    }
    wins
}

/// Compares by value; `None` is last.
fn order(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 81 of 263: Newcombe (1998), "Two-sided confidence intervals for the single proportion", Table I, gives 0.2553 to
    /// 0.3662 for the score method; 0 of 20: 0 to 0.1611; 15 of 148: 0.0624 to 0.1605.
    #[test]
    fn wilson_intervals_agree_with_published_values() {
        for (successes, of, low, high) in
            [(81.0, 263, 0.2553, 0.3662), (0.0, 20, 0.0, 0.1611), (15.0, 148, 0.0624, 0.1605)]
        {
            let rate = WinRate::wilson(successes, of);
            assert!((rate.low - low).abs() < 5e-5 && (rate.high - high).abs() < 5e-5, "{rate:?}");
        }
        assert_eq!((WinRate::wilson(0.0, 0).low, WinRate::wilson(0.0, 0).high), (0.0, 1.0));
    }

    #[test]
    fn ties_share_ranks_and_wins() {
        let scores = [Some(3.0), Some(1.0), None, Some(1.0), Some(f64::INFINITY), Some(f64::INFINITY)];
        assert_eq!(ranks(&scores), [Some(3.0), Some(1.5), None, Some(1.5), Some(4.5), Some(4.5)]);
        let shares: Vec<f64> = (0..6).map(|p| share_of_least(&scores, p)).collect();
        assert_eq!(shares, [0.0, 0.5, 0.0, 0.5, 0.0, 0.0]);
        assert_eq!(share_of_least(&[Some(f64::INFINITY)], 0), 0.0);
    }

    #[test]
    fn ratios_match_hand_calculation() {
        assert_eq!(times(9.0, 1.0), 5.0);
        assert_eq!(times(-1e-12, 0.0), 1.0);
        let times = RatioSummary::of([1.0, 4.0].into_iter()).unwrap();
        assert!((times.mean - 2.0).abs() < 1e-12 && times.worst == 4.0);
    }
}
