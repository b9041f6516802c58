//! The study behind docs/calibrated.md: policies on games that are drawn from a seed.
//!
//! ```text
//! cargo run --release -p calibandit --example policy_study -- SET [OPTIONS] [POLICY...]
//! ```
//!
//! SET is `train`, `validate` or `test` (drawn settings, each set from its own seed), `games` (the eight games of the
//! paper's figures), `races` (the ten races), `pairs` (two arms with a random gap) or `scale` (the time of every index
//! with very many arms). A POLICY is a kind of policy
//! with parameters as JSON, such as `'{"kind": "calibrated", "index": "cautious"}'`; it may be preceded by `LABEL=`,
//! and followed by `@anytime` if the horizon is not to be told. The memory bound is that of the setting. The first
//! policy is the one that is judged, the second the one it is compared with. `--ablation` plays the index
//! `empirical-bayes` with its constants varied.

#![allow(clippy::print_stdout)] // a program that prints tables

mod play;
mod scale;
mod settings;
mod tables;

use std::process::ExitCode;

use calibandit::zoo::{AlphaReo, Darts, Decay, Fitted, RacePair, Step};
use calibandit::{GameSpec, PolicySpec};
use play::{StudyGame, StudyGameSource, StudyPolicy, play_all};
use settings::setting;

/// The seeds of the drawn sets. The test sets of the seeds 303 and 404 were used by earlier rules.
const SETS: [(&str, u64); 3] = [("train", 101), ("validate", 202), ("test", 606)];

/// The policies that are played if none is given: the default, the former default, and those that are best somewhere.
const POLICIES: [&str; 8] = [
    r#"calibrated={"kind": "calibrated"}"#,
    r#"challenge={"kind": "calibrated", "index": "challenge"}"#,
    r#"cautious={"kind": "calibrated", "index": "cautious"}"#,
    r#"thompson={"kind": "calibrated", "index": "thompson"}"#,
    r#"imed={"kind": "calibrated", "index": "imed"}"#,
    r#"kl-ucb={"kind": "calibrated", "index": "kl-ucb"}"#,
    r#"etc={"kind": "explore-then-commit"}"#,
    r#"plain thompson={"kind": "thompson"}"#,
];

/// The index `empirical-bayes` with every constant halved, doubled and without effect.
const ABLATION: [&str; 7] = [
    r#"default={"kind": "calibrated", "index": "empirical-bayes"}"#,
    r#"caution 1.5={"kind": "calibrated", "index": "empirical-bayes", "tuning": {"caution": 1.5}}"#,
    r#"caution 6={"kind": "calibrated", "index": "empirical-bayes", "tuning": {"caution": 6}}"#,
    r#"caution 1={"kind": "calibrated", "index": "empirical-bayes", "tuning": {"caution": 1}}"#,
    r#"novelty 0.5={"kind": "calibrated", "index": "empirical-bayes", "tuning": {"novelty": 0.5}}"#,
    r#"novelty 2={"kind": "calibrated", "index": "empirical-bayes", "tuning": {"novelty": 2}}"#,
    r#"no crowd={"kind": "calibrated", "index": "empirical-bayes", "tuning": {"novelty": 1e12}}"#,
];

struct StudyOptions {
    set: String,
    instances: u64,
    settings: u64,
    threads: usize,
    /// Whether to print every game.
    all: bool,
    /// The only setting to play.
    only: Option<u64>,
    /// The kinds of settings to play; all if empty.
    kinds: Vec<String>,
    policies: Vec<StudyPolicy>,
}

fn options() -> Result<StudyOptions, String> {
    let mut arguments = std::env::args().skip(1);
    let set = arguments.next().ok_or("the first argument is the set: train, validate, test, games, races or pairs")?;
    let mut options = StudyOptions {
        set,
        instances: 100,
        settings: 216,
        threads: 1,
        all: false,
        only: None,
        kinds: vec![],
        policies: vec![],
    };
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().ok_or(format!("{argument} needs a number"))?;
            value.parse::<u64>().map_err(|error| format!("{argument} {value}: {error}"))
        };
        match argument.as_str() {
            "--instances" => options.instances = number()?.max(1),
            "--settings" => options.settings = number()?,
            "--threads" => options.threads = number()?.clamp(1, 64) as usize,
            "--all" => options.all = true,
            "--ablation" => {
                options.policies = ABLATION.iter().map(|policy| study_policy(policy)).collect::<Result<_, _>>()?;
            }
            "--only" => options.only = Some(number()?),
            "--kind" => options.kinds.extend(arguments.next()),
            policy => options.policies.push(study_policy(policy)?),
        }
    }
    if options.policies.is_empty() {
        options.policies = POLICIES.iter().map(|policy| study_policy(policy)).collect::<Result<_, _>>()?;
    }
    Ok(options)
}

/// A policy as it is written on the command line.
fn study_policy(text: &str) -> Result<StudyPolicy, String> {
    let (label, json) = match text.find('{') {
        Some(0) | None => (text, text),
        Some(_) => text.split_once('=').ok_or(format!("{text}: write LABEL=JSON"))?,
    };
    let (json, told) = json.strip_suffix("@anytime").map_or((json, true), |json| (json, false));
    let mut value: serde_json::Value = serde_json::from_str(json).map_err(|error| format!("{json}: {error}"))?;
    let without = serde_json::from_value::<PolicySpec>(value.clone());
    if without.is_err()
        && let Some(parameters) = value.as_object_mut()
    {
        // It is replaced by that of the setting.
        parameters.insert("memory_bound".to_string(), 1.into());
    }
    let spec = serde_json::from_value(value).map_err(|error| format!("{json}: {error}"))?;
    Ok(StudyPolicy { label: label.to_string(), spec, told })
}

fn games(options: &StudyOptions) -> Result<(Vec<StudyGame>, u64), String> {
    if let Some(&(_, seed)) = SETS.iter().find(|(name, _)| *name == options.set) {
        let numbers = options.only.map_or(0..options.settings, |number| number..number + 1);
        let settings = numbers.map(|number| setting(seed, number));
        let chosen = |kind: String| options.kinds.is_empty() || options.kinds.contains(&kind);
        return Ok((settings.filter(|s| chosen(format!("{:?}", s.kind))).map(StudyGame::from).collect(), seed));
    }
    let named = |name: String, spec: GameSpec, memory_bound, horizon| StudyGame {
        name,
        kind: None,
        source: StudyGameSource::Named(spec),
        memory_bound,
        horizon,
    };
    let step = |memory, arms, memory_bound| {
        let spec = Step { memory, arms, ..Step::default() };
        named(format!("step, {memory}, {arms}, {memory_bound}"), spec.into(), memory_bound, 1_000_000)
    };
    let games = match options.set.as_str() {
        "games" => vec![
            step(3, 5, 3),
            step(3, 5, 10),
            step(5, 10, 5),
            step(10, 20, 10),
            step(10, 20, 40),
            named("alpha-reo".into(), AlphaReo { memory: 4, arms: 5, ..AlphaReo::default() }.into(), 4, 1_000_000),
            named("decay".into(), Decay { memory: 4, arms: 5, ..Decay::default() }.into(), 4, 1_000_000),
            named("darts".into(), Darts { arms: 20, ..Darts::default() }.into(), 2, 1_000_000),
        ],
        "races" => RacePair::ALL
            .into_iter()
            .map(|pair| {
                let fitted = pair.fitted();
                named(fitted.name.to_string(), Fitted::from(pair).into(), fitted.laps as u64, 1_000_000)
            })
            .collect(),
        "pairs" => [10_000, 100_000, 1_000_000, 10_000_000]
            .into_iter()
            .map(|horizon| StudyGame {
                name: format!("two arms, T {horizon}"),
                kind: None,
                source: StudyGameSource::TwoArms,
                memory_bound: 3,
                horizon,
            })
            .collect(),
        set => return Err(format!("{set} is not a set: train, validate, test, games, races, pairs or scale")),
    };
    Ok((games, 7))
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("scale") {
        scale::print_times(&std::env::args().skip(2).collect::<Vec<_>>());
        return ExitCode::SUCCESS;
    }
    let prepared = options().and_then(|options| games(&options).map(|games| (options, games)));
    let (options, (games, seed)) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => {
            println!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let results = play_all(&games, &options.policies, options.instances, seed, options.threads);
    if options.all || games[0].kind.is_none() {
        tables::print_games(&games, &options.policies, &results);
    }
    tables::print_summary(&games, &options.policies, &results);
    ExitCode::SUCCESS
}
