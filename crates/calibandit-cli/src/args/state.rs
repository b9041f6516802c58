//! `calibandit state`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    /// A snapshot of an advisor, as `Advisor.save` of Python or `Advisor::to_json` of Rust writes it.
    #[arg(value_name = "SNAPSHOT", value_hint = ValueHint::FilePath)]
    pub(crate) snapshot: PathBuf,
    /// Print the state as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Accept a snapshot that was edited on purpose: its checksum is not compared.
    #[arg(long)]
    pub(crate) edited: bool,
}
