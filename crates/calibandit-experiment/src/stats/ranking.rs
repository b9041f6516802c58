//! Which policies are better than which: ranks by mean CPR, and which differences are significant.

use serde::Serialize;

use super::Spread;
use super::compare::{MOST_TESTED, tested_pairs};
use crate::results::Results;

/// The rank of a policy in one game: one row of the table that a run ends with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyRanking {
    /// The policy.
    pub policy: String,
    /// Its CPR at the horizon.
    pub cpr: Spread,
    /// The mean number of switches.
    pub switches: f64,
    /// Policies that share a letter do not differ significantly from each other. Empty if there are more than 200
    /// policies, whose pairs are not all tested.
    pub groups: String,
    /// The policies whose mean is significantly larger. Empty if there are more than 200 policies.
    pub better_than: Vec<String>,
}

/// The level of significance at which two policies count as different.
pub const SIGNIFICANCE: f64 = 0.05;

/// The policies of one game, by mean CPR at the horizon. Differences are tested by paired t-tests over the instances,
/// with Holm's correction for the number of pairs, at the level [`SIGNIFICANCE`]. [`compare`](super::compare) gives the
/// numbers of one pair.
pub fn rank_policies(results: &Results, game: usize) -> Vec<PolicyRanking> {
    let mut rows: Vec<(usize, Spread)> = (0..results.policies.len())
        .filter_map(|policy| Some((policy, Spread::of(results.ends(game, policy).map(|end| end.last.cpr))?)))
        .collect();
    rows.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let order: Vec<usize> = rows.iter().map(|row| row.0).collect();
    let tested = order.len() <= MOST_TESTED;
    let differ = if tested { significant_pairs(results, game, &order) } else { Vec::new() };
    let groups = if tested { letters(order.len(), &differ) } else { vec![String::new(); order.len()] };
    rows.into_iter()
        .zip(groups)
        .enumerate()
        .map(|(row, ((policy, cpr), groups))| {
            let worse = (row + 1..order.len()).filter(|&other| tested && differ[row][other]);
            let better_than = worse.map(|other| results.policies[order[other]].clone()).collect();
            let ends = results.ends(game, policy);
            let switches = ends.clone().map(|end| end.last.switches as f64).sum::<f64>() / ends.len() as f64;
            PolicyRanking { policy: results.policies[policy].clone(), cpr, switches, groups, better_than }
        })
        .collect()
}

/// Which pairs of the ordered policies differ significantly, by Holm's step-down procedure.
fn significant_pairs(results: &Results, game: usize, order: &[usize]) -> Vec<Vec<bool>> {
    let n = order.len();
    let mut differ = vec![vec![false; n]; n];
    for pair in tested_pairs(results, game, order).iter().filter(|pair| pair.p_corrected <= SIGNIFICANCE) {
        differ[pair.a][pair.b] = true;
        differ[pair.b][pair.a] = true;
    }
    differ
}

/// The compact letter display: two policies share a letter if and only if they do not differ significantly
/// (insert and absorb, Piepho 2004).
fn letters(n: usize, differ: &[Vec<bool>]) -> Vec<String> {
    let mut sets: Vec<Vec<bool>> = vec![vec![true; n]];
    for a in 0..n {
        for b in a + 1..n {
            if !differ[a][b] {
                continue;
            }
            let (split, kept): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set[a] && set[b]);
            sets = kept;
            for set in split {
                for without in [b, a] {
                    let mut smaller = set.clone();
                    smaller[without] = false;
                    let contained = |other: &Vec<bool>| smaller.iter().zip(other).all(|(&s, &o)| !s || o);
                    if !sets.iter().any(contained) {
                        sets.push(smaller);
                    }
                }
            }
        }
    }
    sets.sort_by_key(|set| set.iter().position(|&member| member));
    let name = |i: usize| char::from_u32('a' as u32 + i as u32 % 26).unwrap_or('?');
    (0..n).map(|i| sets.iter().enumerate().filter(|(_, set)| set[i]).map(|(s, _)| name(s)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Curve, Sample};

    #[test]
    fn policies_share_a_letter_if_they_do_not_differ() {
        // 0 differs from 2 and 3, 1 from 3: the classic ab pattern.
        let mut differ = vec![vec![false; 4]; 4];
        for (a, b) in [(0, 2), (0, 3), (1, 3)] {
            differ[a][b] = true;
            differ[b][a] = true;
        }
        let groups = letters(4, &differ);
        for a in 0..4 {
            for b in 0..4 {
                let share = groups[a].chars().any(|letter| groups[b].contains(letter));
                assert_eq!(share, a == b || !differ[a][b], "{groups:?}");
            }
        }
    }

    #[test]
    fn ranks_follow_the_mean_and_pairing_shows_small_differences() {
        // Policy 1 is always exactly 1 below policy 0, which varies by hundreds: only pairing shows it.
        let mut curves = Vec::new();
        for instance in 0..10u64 {
            let base = ((instance * 37) % 11) as f64 * 100.0;
            let noise = (instance % 3) as f64 * 1e-3;
            for (policy, cpr) in [(0, base), (1, base - 1.0 + noise), (2, 5000.0 - base)] {
                let samples = vec![Sample { t: 10, loss: cpr, cpr, switches: policy as u64 }];
                curves.push(Curve { game: 0, policy, instance, samples });
            }
        }
        let results = Results::new("x".into(), vec!["g".into()], ["A", "B", "C"].map(String::from).into(), curves);
        let table = rank_policies(&results, 0);
        let names: Vec<&str> = table.iter().map(|row| row.policy.as_str()).collect();
        assert_eq!(names, ["B", "A", "C"]);
        let groups: Vec<&str> = table.iter().map(|row| row.groups.as_str()).collect();
        assert_eq!(groups, ["a", "b", "c"]);
        assert_eq!(table[0].better_than, ["A", "C"]);
        assert_eq!(table[2].switches, 2.0);
    }
}
