//! Arguments of the service and of the commands for its file.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen at. Beyond this machine, tokens are required; port 0 takes a free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7717")]
    pub(crate) listen: SocketAddr,
    /// The file with everything that the service knows. It is created if it does not exist.
    #[arg(long, value_name = "FILE", default_value = "calibandit.db", value_hint = ValueHint::FilePath)]
    pub(crate) data: PathBuf,
    /// What an answer promises about the disk.
    #[arg(long, value_enum, default_value_t = DurabilityArg::Full)]
    pub(crate) durability: DurabilityArg,
    /// The largest body of a request, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    pub(crate) max_body: usize,
    /// Let everybody read without a token.
    #[arg(long)]
    pub(crate) public_read: bool,
    /// Accept requests that are addressed to this host, besides localhost, when there are no tokens.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Store a digest of the state of an experiment after every so many records; 0 for none.
    #[arg(long, value_name = "RECORDS", default_value_t = 4096)]
    pub(crate) digest_every: u64,
    /// Measure how long the disk takes to sync, say what to expect, and end.
    #[arg(long)]
    pub(crate) probe: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DurabilityArg {
    /// What was answered survives a power failure.
    Full,
    /// What was answered survives the end of the process, but the last moments may be lost with the power.
    Relaxed,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The file of a service. The service may run.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The new file.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The file of the service. The service may run.
    #[arg(long, value_name = "FILE", default_value = "calibandit.db", value_hint = ValueHint::FilePath)]
    pub(crate) data: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it. It is not shown again.
    Add {
        /// What it allows: read, play (ask and tell) or admin.
        #[arg(long, value_name = "ROLE", value_parser = ["read", "play", "admin"])]
        role: String,
        /// What it is for.
        #[arg(long, value_name = "TEXT", default_value = "")]
        name: String,
        #[command(flatten)]
        file: TokenFile,
    },
    /// List the tokens, without their secrets.
    List {
        #[command(flatten)]
        file: TokenFile,
    },
    /// Revoke a token.
    Revoke {
        /// The number of the token.
        #[arg(value_name = "NUMBER")]
        number: i64,
        #[command(flatten)]
        file: TokenFile,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TokenFile {
    /// The file of the service. While the service runs, use its address /v1/tokens instead.
    #[arg(long, value_name = "FILE", default_value = "calibandit.db", value_hint = ValueHint::FilePath)]
    pub(crate) data: PathBuf,
}
