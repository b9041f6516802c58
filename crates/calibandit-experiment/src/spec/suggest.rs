//! What was probably meant: the nearest of the names that would have been right.

/// Symbols of the paper, and other words for what the files call otherwise.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("k", "arms"),
    ("m", "memory"),
    ("m", "memory_bound"),
    ("t", "horizon"),
    ("steps", "horizon"),
    ("rounds", "horizon"),
    ("runs", "instances"),
    ("repetitions", "instances"),
    ("actions", "arms"),
    ("type", "kind"),
    ("name", "label"),
    ("policies", "policy"),
    ("games", "game"),
    ("arm", "arms"),
];

/// The name among `allowed` that `given` was probably meant to be, if there is one.
pub(crate) fn nearest<'a>(given: &str, allowed: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = normal(given);
    let allowed: Vec<&str> = allowed.into_iter().collect();
    let synonym = OTHER_WORDS
        .iter()
        .filter(|(other, _)| *other == wanted)
        .find_map(|(_, word)| allowed.iter().find(|name| *name == word));
    if let Some(name) = synonym {
        return Some(name);
    }
    // About a third of the letters may be wrong; a part of a name that is long enough to be telling also counts.
    let tolerance = (wanted.chars().count() / 3).clamp(1, 4);
    let within = allowed.iter().map(|name| (distance(&wanted, &normal(name)), *name));
    if let Some((_, name)) = within.filter(|(distance, _)| *distance <= tolerance).min_by_key(|(distance, _)| *distance)
    {
        return Some(name);
    }
    let contains = |a: &str, b: &str| b.len() >= 3 && a.contains(b);
    allowed.iter().copied().find(|name| contains(name, &wanted) || contains(&wanted, name))
}

/// Upper and lower case, and the ways to join words, do not matter for what was meant.
fn normal(name: &str) -> String {
    // Names are short; a longer text cannot be near any, and the distance would take its square.
    name.chars().take(64).flat_map(char::to_lowercase).map(|c| if matches!(c, '-' | ' ') { '_' } else { c }).collect()
}

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn one into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, other) | (other, 0) => other,
                _ => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

/// `a`, `b` or `c`, each in backquotes.
pub(crate) fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match (names.pop(), names.is_empty()) {
        (Some(last), false) => format!("{} or {last}", names.join(", ")),
        (Some(only), true) => only,
        (None, _) => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        for (a, b, expected) in
            [("", "", 0), ("a", "", 1), ("arms", "amrs", 1), ("kitten", "sitting", 3), ("abc", "abc", 0)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn finds_what_was_meant_and_stays_silent_otherwise() {
        let keys = ["kind", "label", "memory_bound", "radius", "delta"];
        for (given, meant) in [
            ("memory_bund", Some("memory_bound")),
            ("memory-bound", Some("memory_bound")),
            ("MemoryBound", Some("memory_bound")),
            ("M", Some("memory_bound")),
            ("memory", Some("memory_bound")),
            ("detla", Some("delta")),
            ("type", Some("kind")),
            ("colour", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(given, keys), meant, "{given}");
        }
        assert_eq!(nearest("exp-3", ["exp3", "epoch-ucb"]), Some("exp3"));
    }

    #[test]
    fn lists() {
        assert_eq!(one_of(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(one_of(["a"]), "`a`");
    }
}
