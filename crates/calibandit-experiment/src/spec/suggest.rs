//! Suggestions: the allowed name that is nearest to a given one.

use strsim::osa_distance;

/// Symbols of the paper and other common words, with the names that files use for them.
const SYNONYMS: &[(&str, &str)] = &[
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

/// The name among `allowed` that was probably meant by `given`, if there is one.
pub(crate) fn nearest<'a>(given: &str, allowed: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = normal(given);
    let allowed: Vec<&str> = allowed.into_iter().collect();
    let synonym = SYNONYMS
        .iter()
        .filter(|(other, _)| *other == wanted)
        .find_map(|(_, word)| allowed.iter().find(|name| *name == word));
    if let Some(name) = synonym {
        return Some(name);
    }
    // Up to a third of the letters may be wrong. With more, a part of a name counts if it has at least 3 letters.
    let tolerance = (wanted.chars().count() / 3).clamp(1, 4);
    let within = allowed.iter().map(|name| (osa_distance(&wanted, &normal(name)), *name));
    if let Some((_, name)) = within.filter(|(distance, _)| *distance <= tolerance).min_by_key(|(distance, _)| *distance)
    {
        return Some(name);
    }
    let contains = |a: &str, b: &str| b.len() >= 3 && a.contains(b);
    allowed.iter().copied().find(|name| contains(name, &wanted) || contains(&wanted, name))
}

/// The name without differences that do not matter: letter case, and how words are joined.
fn normal(name: &str) -> String {
    // Names are short: a longer text is near none of them, and the distance takes quadratic time.
    name.chars().take(64).flat_map(char::to_lowercase).map(|c| if matches!(c, '-' | ' ') { '_' } else { c }).collect()
}

/// The names in backquotes: "`a`, `b` or `c`".
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
    fn suggests_the_nearest_name_or_a_synonym_and_nothing_if_none_is_near() {
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
    fn names_are_listed_with_or_before_the_last() {
        assert_eq!(one_of(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(one_of(["a"]), "`a`");
    }
}
