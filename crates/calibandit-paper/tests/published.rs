//! The published results of the tournament against the page that shows them.

use calibandit_paper::tournament::published;

#[test]
fn the_page_and_the_published_table_have_the_same_ranks() {
    let page = include_str!("../../../docs/tournament.md");
    for row in published() {
        let section = page.split("\n## ").find(|section| section.starts_with(row.group.title()));
        let line = section.and_then(|text| text.lines().find(|line| line.starts_with(&format!("| {} |", row.policy))));
        let rank = row.mean_rank.map_or("–".to_string(), |rank| format!("{rank:.2}"));
        let found = line.and_then(|line| line.split(" | ").nth(1));
        assert_eq!(found.map(str::trim), Some(rank.as_str()), "{} {}", row.group.title(), row.policy);
    }
}
