//! The JSON schema of experiment files.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::experiment::ExperimentFile;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    // Editors use the schema for what a user writes, so the defaults are those of reading a file.
    SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator()
        .into_root_schema_for::<ExperimentFile>()
        .to_value()
});

/// The JSON schema (draft 2020-12) of experiment files: what `calibandit schema` prints.
///
/// It is generated from the types that files are read into, and files are checked against it.
///
/// ```
/// let schema = calibandit_experiment::spec::schema();
/// assert_eq!(schema["properties"]["horizon"]["type"], "integer");
/// assert_eq!(schema["properties"]["instances"]["default"], 20);
/// ```
pub fn schema() -> Value {
    SCHEMA.clone()
}

/// The schema, without a copy.
pub(crate) fn shared() -> &'static Value {
    &SCHEMA
}
