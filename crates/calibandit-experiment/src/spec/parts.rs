//! Games and policies as parts of an experiment file, or on their own.
//!
//! A table is first checked by its structure, then read into its type, then checked by the library: a game is drawn
//! once and the parameters of a policy are resolved. Errors of the library are located at the key that they are about.

use calibandit::rng::StreamKey;
use calibandit::{ArmError, GameError, GameSpec, PolicyError, PolicySpec, Problem};
use serde_json::Value;

use super::check::check_alone;
use super::diagnostic::{DiagnosticKind, Diagnostics, Finding};
use super::experiment::PolicyEntry;
use super::shape::{game_shape, policy_shape};
use super::source::Source;
use super::value::{SourceSpan, SpannedValue};
use super::wording::KeyPath;

/// Reads a game on its own from TOML text: the keys of a `[game]` table. `name` stands for the text in errors.
///
/// ```
/// let errors = calibandit_experiment::spec::game_from_toml("game.toml", "kind = \"step\"\nmemroy = 3").unwrap_err();
/// assert_eq!(errors.errors()[0].suggestion.as_deref(), Some("memory"));
/// ```
///
/// # Errors
/// Everything that is wrong with the game.
pub fn game_from_toml(name: &str, text: &str) -> Result<GameSpec, Diagnostics> {
    let source = Source::new(name, text);
    SpannedValue::parse(source.text())
        .and_then(|table| game_alone(&table))
        .map_err(|findings| source.locate_all(findings))
}

/// Reads a game on its own from a value with the keys of a `[game]` table. `name` stands for it in errors.
///
/// # Errors
/// Everything that is wrong with the game.
pub fn game_from_json(name: &str, value: &Value) -> Result<GameSpec, Diagnostics> {
    game_alone(&SpannedValue::from_json(value)).map_err(|findings| Source::without_text(name).locate_all(findings))
}

/// Reads a policy on its own from TOML text: the keys of a `[[policy]]` table. `name` stands for the text in errors.
///
/// ```
/// use calibandit_experiment::spec::policy_from_toml;
/// let entry = policy_from_toml("policy.toml", "kind = \"calibrated\"\nmemory_bound = 4")?;
/// assert_eq!((entry.label.as_str(), entry.policy.memory_bound()), ("calibrated", Some(4)));
/// # Ok::<(), calibandit_experiment::spec::Diagnostics>(())
/// ```
///
/// # Errors
/// Everything that is wrong with the policy, except what depends on the number of arms and the horizon.
pub fn policy_from_toml(name: &str, text: &str) -> Result<PolicyEntry, Diagnostics> {
    let source = Source::new(name, text);
    SpannedValue::parse(source.text())
        .and_then(|table| policy_alone(&table))
        .map_err(|findings| source.locate_all(findings))
}

/// Reads a policy on its own from a value with the keys of a `[[policy]]` table. `name` stands for it in errors.
///
/// # Errors
/// Everything that is wrong with the policy, except what depends on the number of arms and the horizon.
pub fn policy_from_json(name: &str, value: &Value) -> Result<PolicyEntry, Diagnostics> {
    policy_alone(&SpannedValue::from_json(value)).map_err(|findings| Source::without_text(name).locate_all(findings))
}

fn game_alone(table: &SpannedValue) -> Result<GameSpec, Vec<Finding>> {
    let at = KeyPath::top().key("game");
    let findings = check_alone(table, game_shape(), &at);
    if !findings.is_empty() {
        return Err(findings);
    }
    // Whether a specification is valid does not depend on the stream that it is drawn from.
    let (game, _) = read_game(table, &StreamKey::new(1, "game", 0)).map_err(|finding| vec![*finding])?;
    Ok(game)
}

fn policy_alone(table: &SpannedValue) -> Result<PolicyEntry, Vec<Finding>> {
    let at = KeyPath::top().key("policy");
    let findings = check_alone(table, policy_shape(), &at);
    if !findings.is_empty() {
        return Err(findings);
    }
    // Two arms, and a horizon that is long enough for every burn-in: only the parameters themselves can be wrong.
    let problem = Problem { arms: 2, horizon: Some(1 << 50) };
    let policy = read_policy(table, &at.path).map_err(|finding| vec![*finding])?;
    resolve_policy(&policy, table, &at.path, &problem, &None).map_err(|finding| vec![*finding])?;
    let label = table.get("label").and_then(SpannedValue::text).map_or_else(|| policy.label(), str::to_owned);
    Ok(PolicyEntry { label, policy })
}

/// Reads the game of a table that has the right structure, and counts its arms.
pub(crate) fn read_game(table: &SpannedValue, key: &StreamKey) -> Result<(GameSpec, usize), Box<Finding>> {
    let game: GameSpec = serde_json::from_value(table.to_json()).map_err(|error| impossible(table, "game", &error))?;
    match game.draw(&mut key.game()) {
        Ok(drawn) => Ok((game, drawn.arms().len())),
        Err(error) => {
            let path = match &error {
                GameError::Parameter { parameter, .. } => (*parameter).to_owned(),
                GameError::Arm { arm, source, .. } => format!("arm.{arm}{}", within_arm(source)),
                GameError::SameName { arm, .. } => format!("arm.{arm}.name"),
                GameError::NoArms => "arm".to_owned(),
                GameError::Title { .. } => "title".to_owned(),
                _ => String::new(),
            };
            let (span, key) = deepest(table, "game", &path);
            Err(Box::new(Finding::new(span, key, DiagnosticKind::ImpossibleValue, error.to_string())))
        }
    }
}

/// The key of an arm that an error is about, as far as there is one.
fn within_arm(error: &ArmError) -> String {
    match error {
        ArmError::Weight { position, .. } => format!(".weights.{position}"),
        ArmError::SpecialValue { what, .. } => format!(".loss.{what}"),
        ArmError::Table { .. } => ".loss.by_plays".to_owned(),
        ArmError::Curve { .. } | ArmError::NoShape | ArmError::TwoShapes { .. } => ".loss".to_owned(),
        ArmError::Name { .. } => ".name".to_owned(),
        ArmError::Noise { .. } => ".feedback".to_owned(),
        _ => String::new(),
    }
}

/// Reads the policy of a table that has the right structure.
pub(crate) fn read_policy(table: &SpannedValue, at: &str) -> Result<PolicySpec, Box<Finding>> {
    serde_json::from_value(table.without("label").to_json()).map_err(|error| impossible(table, at, &error))
}

/// The policy with every default filled in. `horizon` is where the horizon is given.
pub(crate) fn resolve_policy(
    policy: &PolicySpec,
    table: &SpannedValue,
    at: &str,
    problem: &Problem,
    horizon: &SourceSpan,
) -> Result<PolicySpec, Box<Finding>> {
    policy.resolve(problem).map_err(|error| {
        let (span, key) = match &error {
            PolicyError::Parameter { parameter, .. } => deepest(table, at, parameter),
            PolicyError::HorizonTooShort { .. } => (horizon.clone(), "horizon".to_owned()),
            _ => (table.span.clone(), at.to_owned()),
        };
        Box::new(Finding::new(span, key, DiagnosticKind::ImpossibleValue, error.to_string()))
    })
}

/// The error of a table that has the right structure and still cannot be read into its type.
fn impossible(table: &SpannedValue, at: &str, error: &serde_json::Error) -> Box<Finding> {
    Box::new(Finding::new(table.span.clone(), at, DiagnosticKind::ImpossibleValue, error.to_string()))
}

/// The value at a dotted path below a table, as deep as the file has it: its span and its full key.
pub(crate) fn deepest(table: &SpannedValue, at: &str, path: &str) -> (SourceSpan, String) {
    let (mut value, mut key) = (table, at.to_owned());
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let index = step.parse::<usize>().ok();
        if let Some(inner) = value.get(step) {
            (value, key) = (inner, format!("{key}.{step}"));
        } else if let Some((inner, index)) = index.and_then(|index| Some((value.items().get(index)?, index))) {
            (value, key) = (inner, format!("{key}[{index}]"));
        } else {
            break;
        }
    }
    (value.span.clone(), key)
}
