//! The last tournament that was published, which is what recommendations rest on.
//!
//! `published.csv` is the file `policies.csv` of the tournament in docs/tournament.md; a test compares the two.

use serde::Serialize;

use super::{Group, field};

const PUBLISHED: &str = include_str!("published.csv");

/// How a policy did in one group of games of the published tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The group.
    pub group: Group,
    /// The policy, under its label.
    pub policy: String,
    /// Its mean rank by mean CPR; none if it never took part.
    pub mean_rank: Option<f64>,
    /// The share of games in which its mean CPR is the least.
    pub games_won: Option<f64>,
    /// How many times the best mean CPR its own is, as a geometric mean over games; none if it never played.
    pub times_best: Option<f64>,
}

/// All there is, group by group, in each by mean rank.
pub fn published() -> Vec<Evidence> {
    let mut table = csv::Reader::from_reader(PUBLISHED.as_bytes());
    let columns = table.headers().cloned().unwrap_or_default();
    let column = |name: &str| columns.iter().position(|column| column == name);
    let row = |row: csv::StringRecord| {
        let text = |name| column(name).and_then(|column| row.get(column));
        let number = |name| text(name).and_then(|text| text.parse().ok());
        Some(Evidence {
            group: Group::ALL.into_iter().find(|group| Some(group.name()) == text("group"))?,
            policy: text("policy")?.to_string(),
            mean_rank: number("mean_rank"),
            games_won: number("win_rate"),
            times_best: number("times_best"),
        })
    };
    table.records().filter_map(Result::ok).filter_map(row).collect()
}

/// What the published tournament says about a kind of policy with its defaults, group by group.
pub fn evidence(kind: &str) -> Vec<Evidence> {
    let contenders = field().unwrap_or_default();
    let default = contenders.iter().find(|contender| contender.is_default_of(kind));
    published().into_iter().filter(|row| default.is_some_and(|default| default.label == row.policy)).collect()
}

#[cfg(test)]
mod tests {
    use calibandit::PolicySpec;

    use super::*;

    #[test]
    fn there_is_evidence_on_every_policy_of_the_field_in_every_group() {
        let published = published();
        let contenders = field().unwrap();
        for group in Group::ALL {
            for contender in &contenders {
                let rows = published.iter().filter(|row| row.group == group && row.policy == contender.label);
                assert_eq!(rows.count(), 1, "{} {}", group.name(), contender.label);
            }
        }
        assert_eq!(published.len(), Group::ALL.len() * contenders.len());
        for kind in PolicySpec::KINDS {
            assert_eq!(evidence(kind).len(), Group::ALL.len(), "{kind}");
        }
    }
}
