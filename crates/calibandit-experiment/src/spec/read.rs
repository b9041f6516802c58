//! Reads experiments from files, texts and values.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::diagnostic::{DiagnosticKind, Diagnostics, Finding};
use super::experiment::{ExperimentFile, Overrides};
use super::json;
use super::source::Source;
use super::validate::validate;
use super::value::{Data, SpannedValue};
use crate::Experiment;

/// Experiment files have a few kilobytes; a larger file is something else.
const MOST_BYTES: u64 = 4 << 20;

impl Experiment {
    /// Reads an experiment file, in TOML or in JSON.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let unreadable = |message: String| {
            let finding = Finding::new(None, "", DiagnosticKind::Unreadable, message);
            Diagnostics::from(Source::without_text(&name).locate(finding))
        };
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(|error| {
            unreadable(match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".to_owned(),
                io::ErrorKind::IsADirectory => "this is a folder; give an experiment file".to_owned(),
                _ => format!("the file cannot be read: {error}"),
            })
        })?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(unreadable(format!(
                "the file has more than {MOST_BYTES} bytes: that is not an experiment file"
            )));
        }
        Self::from_bytes(&name, &bytes)
    }

    /// Reads an experiment from the bytes of a file; `name` stands for it in errors. The file is JSON if its name ends
    /// with `.json` or its text begins with a brace, otherwise TOML.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, Diagnostics> {
        let source = Source::from_bytes(name, bytes)?;
        let parsed = if json::is_json(name, source.text()) {
            json::parse(source.text())
        } else {
            SpannedValue::parse(source.text())
        };
        Document::new(source, parsed)?.validate()
    }

    /// Reads an experiment from the text of a file; `name` stands for it in errors.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, Diagnostics> {
        let source = Source::new(name, text);
        let parsed = SpannedValue::parse(source.text());
        Document::new(source, parsed)?.validate()
    }

    /// Reads an experiment from a value with the keys of a file; `name` stands for it in errors.
    ///
    /// # Errors
    /// Everything that is wrong with the value.
    pub fn from_json(name: &str, value: &serde_json::Value) -> Result<Self, Diagnostics> {
        Document { source: Source::without_text(name), values: SpannedValue::from_json(value) }.validate()
    }
}

impl ExperimentFile {
    /// Validates an experiment that was put together in code; its name stands for it in errors.
    ///
    /// # Errors
    /// Everything that is wrong with the experiment.
    pub fn validate(&self) -> Result<Experiment, Diagnostics> {
        Experiment::from_json(&self.name, &self.to_json())
    }
}

/// What an experiment is read from: its values, and the text that errors quote.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    source: Source,
    values: SpannedValue,
}

impl Document {
    fn new(source: Source, parsed: Result<SpannedValue, Vec<Finding>>) -> Result<Self, Diagnostics> {
        match parsed {
            Ok(values) => Ok(Self { source, values }),
            Err(findings) => Err(source.locate_all(findings)),
        }
    }

    /// Validates the document. An [`Experiment`] is made nowhere else.
    pub(crate) fn validate(self) -> Result<Experiment, Diagnostics> {
        match validate(&self.values) {
            Ok((file, points, grid)) => Ok(Experiment::from_file(file, points, grid, self)),
            Err(findings) => Err(self.source.locate_all(findings)),
        }
    }

    /// The document with other numbers. Checkpoints given one by one are kept up to the horizon.
    pub(crate) fn with(mut self, overrides: Overrides) -> Self {
        let number = |value: u64| SpannedValue { span: None, data: Data::Integer(value.into()) };
        let Overrides { seed, instances, horizon } = overrides;
        for (key, value) in [("seed", seed), ("instances", instances), ("horizon", horizon)] {
            if let Some(value) = value {
                self.values.set(key, &None, number(value));
            }
        }
        if let Some(horizon) = horizon
            && let Some(checkpoints) = self.values.get_mut("checkpoints")
            && let Some(SpannedValue { data: Data::List(times), .. }) = checkpoints.get_mut("at")
        {
            times.retain(|time| !matches!(time.data, Data::Integer(time) if time > i128::from(horizon)));
            if times.is_empty() {
                times.push(number(horizon));
            }
        }
        self
    }
}
