//! The results of the last published tournament, which recommendations are based on.
//!
//! `published.csv` is the file `policies.csv` of the tournament in docs/tournament.md; a test compares the two.

use serde::{Deserialize, Serialize};

use super::{TournamentGroup, TournamentPart, policies};

const PUBLISHED: &str = include_str!("published.csv");

/// The result of a policy in one group of games of the published tournament.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// The group.
    pub group: TournamentGroup,
    /// The label of the policy.
    pub policy: String,
    /// The mean rank by mean CPR; `None` if the policy never took part.
    pub mean_rank: Option<f64>,
    /// The share of games in which its mean CPR is the least.
    #[serde(rename(deserialize = "win_rate"))]
    pub games_won: Option<f64>,
    /// The ratio of its mean CPR to the least of the game, as a geometric mean over games; `None` if it never played.
    pub times_best: Option<f64>,
}

/// All rows, sorted by group and mean rank.
pub fn published() -> Vec<Evidence> {
    let rows: Result<_, csv::Error> = csv::Reader::from_reader(PUBLISHED.as_bytes()).deserialize().collect();
    rows.expect("the tests read the embedded table")
}

/// The results of a kind of policy with its defaults, one row per group.
pub fn evidence(kind: &str) -> Vec<Evidence> {
    let policies = policies(TournamentPart::Main).expect("the tests build all policies of the tournament");
    let default = policies.iter().find(|policy| policy.is_default_of(kind));
    published().into_iter().filter(|row| default.is_some_and(|default| default.label == row.policy)).collect()
}

#[cfg(test)]
mod tests {
    use calibandit::PolicySpec;

    use super::*;

    #[test]
    fn every_policy_has_one_row_per_group() {
        let published = published();
        let policies = policies(TournamentPart::Main).unwrap();
        let groups = TournamentPart::Main.groups();
        for &group in groups {
            for policy in &policies {
                let rows = published.iter().filter(|row| row.group == group && row.policy == policy.label);
                assert_eq!(rows.count(), 1, "{} {}", group.name(), policy.label);
            }
        }
        assert_eq!(published.len(), groups.len() * policies.len());
        for kind in PolicySpec::KINDS.iter().filter(|kind| TournamentPart::Main.admits(kind)) {
            assert_eq!(evidence(kind).len(), groups.len(), "{kind}");
        }
        assert!(published.iter().all(|row| row.games_won.is_some()));
    }
}
