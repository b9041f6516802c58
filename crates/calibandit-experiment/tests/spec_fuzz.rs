//! Reading arbitrary files gives an experiment or errors that can be shown; it never panics.

#![allow(clippy::unwrap_used)]

use calibandit_experiment::Experiment;
use proptest::prelude::*;

const FILES: [&str; 4] = [
    include_str!("data/good.toml"),
    include_str!("data/points.toml"),
    include_str!("data/axis.toml"),
    include_str!("data/custom.toml"),
];

/// Reads the bytes, and checks that the experiment or the errors are consistent.
fn read(bytes: &[u8]) {
    match Experiment::from_bytes("fuzz.toml", bytes) {
        Ok(spec) => {
            assert!(!spec.points().is_empty());
            assert_eq!(Experiment::from_toml("again", &spec.to_toml().unwrap()).unwrap(), spec);
        }
        Err(errors) => {
            assert!(!errors.errors().is_empty());
            assert!(errors.to_string().starts_with("error: "));
            let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
            for error in errors.errors() {
                let position = error.position.expect("every error in a text has a position");
                assert!((1..=lines).contains(&position.line) && position.column >= 1, "{error}");
                assert!(!error.message.is_empty());
            }
        }
    }
}

/// Values that are likely to be invalid.
fn unusual_value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0".to_owned()),
        Just("-1".to_owned()),
        Just("nan".to_owned()),
        Just("-inf".to_owned()),
        Just("1e999".to_owned()),
        Just("9223372036854775807".to_owned()),
        Just("-9223372036854775808".to_owned()),
        Just("99999999999999999999999".to_owned()),
        Just("0x7fff_ffff".to_owned()),
        Just("\"\"".to_owned()),
        Just("\"game.memory\"".to_owned()),
        Just("[]".to_owned()),
        Just("[[], {}]".to_owned()),
        Just("{}".to_owned()),
        Just("{ kind = \"custom\", arm = [] }".to_owned()),
        Just("1979-05-27T07:32:00Z".to_owned()),
        Just("true".to_owned()),
        Just("'''\n'''".to_owned()),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<f64>().prop_map(|value| format!("{value:?}").to_lowercase()),
        "[a-z]{1,8}".prop_map(|word| format!("\"{word}\"")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read(&bytes);
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,200}") {
        read(text.as_bytes());
    }

    #[test]
    fn text_of_toml_tokens_does_not_panic(
        text in "([a-z\\[\\]{}=\"'#.,0-9\\-_ \n\t\r]|game|policy|kind|sweep|\\[\\[policy\\]\\]\n){0,120}",
    ) {
        read(text.as_bytes());
    }

    #[test]
    fn files_with_replaced_bytes_do_not_panic(
        file in 0..FILES.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = FILES[file].as_bytes().to_vec();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        read(&bytes);
    }

    #[test]
    fn files_with_a_part_removed_do_not_panic(
        file in 0..FILES.len(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let bytes = FILES[file].as_bytes();
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        read(&[&bytes[..from], &bytes[to..]].concat());
    }

    #[test]
    fn files_with_unusual_values_do_not_panic(
        file in 0..FILES.len(),
        line in any::<prop::sample::Index>(),
        value in unusual_value(),
    ) {
        let lines: Vec<&str> = FILES[file].lines().collect();
        let is_key = |line: &str| line.contains(" = ") && !line.contains('{');
        let keys: Vec<usize> = (0..lines.len()).filter(|&i| is_key(lines[i])).collect();
        let changed = keys[line.index(keys.len())];
        let text = lines.iter().enumerate().map(|(i, line)| match line.split_once(" = ") {
            Some((key, _)) if i == changed => format!("{key} = {value}\n"),
            _ => format!("{line}\n"),
        });
        read(text.collect::<String>().as_bytes());
    }

    #[test]
    fn sweeps_over_arbitrary_keys_and_values_do_not_panic(
        key in prop_oneof![
            "(game|policy)\\.[a-z_]{1,12}",
            Just("game.memory".to_owned()),
            Just("policy.SE.radius".to_owned()),
            "\\PC{0,12}",
        ],
        values in proptest::collection::vec(unusual_value(), 0..4),
    ) {
        let key = serde_json::to_string(&key).unwrap();
        read(format!("{}\n[sweep]\n{key} = [{}]\n", FILES[0], values.join(", ")).as_bytes());
    }
}

#[test]
fn deep_nesting_is_reported_as_an_error() {
    for depth in [50, 100, 10_000] {
        read(format!("a = {}{}", "[".repeat(depth), "]".repeat(depth)).as_bytes());
        read(format!("a = {}{}", "{a = ".repeat(depth), "}".repeat(depth)).as_bytes());
        read(format!("{} = 1", vec!["a"; depth].join(".")).as_bytes());
        read(format!("[{}]", vec!["a"; depth].join(".")).as_bytes());
        read(format!("{}\n[sweep]\n{} = [1]", FILES[0], vec!["game"; depth].join(".")).as_bytes());
    }
}

#[test]
fn huge_files_and_huge_grids_are_refused_quickly() {
    read("x = 1\n".repeat(20_000).as_bytes());
    let many: String = (0..20_000).map(|i| format!("x{i} = 1\n")).collect();
    read(many.as_bytes());
    let list = (1..=500).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let axes =
        ["game.memory", "game.arms", "policy.memory_bound"].map(|key| format!("\"{key}\" = [{list}]\n")).concat();
    read(format!("{}\n[sweep]\n{axes}", FILES[0]).as_bytes());
    read(format!("name = \"{}\"\n{}", "é".repeat(100_000), &FILES[0][15..]).as_bytes());
}
