//! The table `[live]` of an experiment: lanes, late and lost losses, sessions, and what they can be combined with.

use calibandit::simulate::{LiveError, LiveSpec};
use calibandit::{GameSpec, PolicySpec, StreamKey};
use serde_json::Value;

use super::check::check_alone;
use super::diagnostic::{DiagnosticKind, Diagnostics, Finding};
use super::parts::deepest;
use super::shape::live_shape;
use super::source::Source;
use super::value::SpannedValue;
use super::wording::KeyPath;

/// Reads live use on its own from a value with the keys of a `[live]` table. `name` stands for it in errors.
///
/// # Errors
/// Everything that is wrong with it, except what depends on the game and the policies.
pub fn live_from_json(name: &str, value: &Value) -> Result<LiveSpec, Diagnostics> {
    let table = SpannedValue::from_json(value);
    let mut findings = check_alone(&table, live_shape(), &KeyPath::top().key("live"));
    if findings.is_empty() {
        match SpannedLive::read(&table) {
            Ok(live) => return Ok(live.live),
            Err(finding) => findings.push(*finding),
        }
    }
    Err(Source::without_text(name).locate_all(findings))
}

/// Live use at a point of the sweep, and the table that it was read from.
#[derive(Clone, Copy)]
pub(crate) struct SpannedLive<'a> {
    pub(crate) live: LiveSpec,
    table: &'a SpannedValue,
}

impl<'a> SpannedLive<'a> {
    /// Reads a table that has the right structure.
    pub(crate) fn read(table: &'a SpannedValue) -> Result<Self, Box<Finding>> {
        let impossible = |path: &str, message: String| {
            let (span, key) = deepest(table, "live", path);
            Box::new(Finding::new(span, key, DiagnosticKind::ImpossibleValue, message))
        };
        let live: LiveSpec =
            serde_json::from_value(table.to_json()).map_err(|error| impossible("", error.to_string()))?;
        live.check().map_err(|error| impossible(field(&error), error.to_string()))?;
        Ok(Self { live, table })
    }

    /// Lanes are about windows, so that games in which every play counts for ever are refused.
    pub(crate) fn check_game(&self, game: &GameSpec, table: &SpannedValue, key: &StreamKey<'_>) -> Option<Finding> {
        let rested = game.draw(&mut key.game()).is_ok_and(|drawn| drawn.is_rested());
        let finding = |error: LiveError| {
            let (span, key) = deepest(table, "game", "kind");
            Finding::new(span, key, DiagnosticKind::ImpossibleValue, error.to_string())
                .help("leave `[live]` out, or choose a game with a window")
        };
        rested.then(|| finding(LiveError::Rested))
    }

    /// Whether the policy of a table can be used with these lanes.
    pub(crate) fn check_policy(&self, policy: &PolicySpec, table: &SpannedValue, at: &str) -> Result<(), Box<Finding>> {
        self.live.check_policy(policy).map_err(|error| {
            let (span, key) = match field(&error) {
                "" => deepest(table, at, "kind"),
                field => deepest(self.table, "live", field),
            };
            Box::new(Finding::new(span, key, DiagnosticKind::ImpossibleValue, error.to_string()))
        })
    }
}

/// The key of `[live]` that an error is about, or nothing.
fn field(error: &LiveError) -> &'static str {
    match error {
        LiveError::Range { field, .. } | LiveError::Needs { field, .. } => field,
        _ => "",
    }
}
