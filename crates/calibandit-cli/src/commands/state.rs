//! `calibandit state`: what a saved advisor knows about its arms, how sure it is, and whether M looks too small.

use std::fs;
use std::io::{self, Write};

use calibandit::{Advisor, AnyPolicy, SnapshotError};
use serde_json::Value;

use crate::args::state::StateArgs;
use crate::error::CliError;
use crate::text::{visible_json, visible_lines};

pub(crate) fn state(arguments: &StateArgs) -> Result<(), CliError> {
    let path = &arguments.snapshot;
    let text = fs::read_to_string(path).map_err(|source| CliError::File { path: path.clone(), source })?;
    let unreadable = |error: SnapshotError| CliError::Snapshot { path: path.clone(), error };
    let (advisor, names) = parts(text).map_err(|error| unreadable(error.into()))?;
    let restored =
        if arguments.edited { Advisor::<AnyPolicy>::from_edited_json(&advisor) } else { Advisor::from_json(&advisor) };
    let advisor = restored.map_err(unreadable)?;
    let state = advisor.state();
    let name = |arm: usize| names.get(arm).cloned().unwrap_or_else(|| format!("arm {arm}"));
    let text = if arguments.json {
        let mut json = serde_json::to_value(&state).map_err(|error| unreadable(error.into()))?;
        json["recommended"] = name(state.recommended).into();
        for (arm, row) in json["arms"].as_array_mut().into_iter().flatten().enumerate() {
            row["arm"] = name(arm).into();
        }
        format!("{}\n", visible_json(&format!("{json:#}")))
    } else {
        visible_lines(&state.to_text(name))
    };
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// The advisor as JSON, and the names of its arms. Python saves both together; Rust saves no names.
fn parts(text: String) -> Result<(String, Vec<String>), serde_json::Error> {
    let value: Value = serde_json::from_str(&text)?;
    if value.get("calibandit_python").is_none() {
        return Ok((text, Vec::new()));
    }
    let plain = |name: &Value| name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    let names = value["arms"].as_array().map(|names| names.iter().map(plain).collect());
    Ok((value["advisor"].to_string(), names.unwrap_or_default()))
}
