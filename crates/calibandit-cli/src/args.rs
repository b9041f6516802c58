//! The command line.

pub(crate) mod f1;

use std::path::PathBuf;

use calibandit_experiment::run::Shard;
use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

/// Bandits whose arms need to warm up: games, policies, exact regret.
#[derive(Debug, Parser)]
#[command(name = "calibandit", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 something failed; 2 the command line or a file is wrong; \
130 interrupted (what is finished is kept, and the same command goes on from there).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reproduce the figures of the paper, and three more.
    Paper(Paper),
    /// Run experiments from files.
    Run(Run),
    /// Put the shards of a run together: the same results as without sharding, byte for byte.
    Merge(Merge),
    /// Every policy on the paper's games, the rest of the zoo, the ten races and random games.
    Tournament(Tournament),
    /// Say what can be known of an experiment before it is run: alpha, the best arm, the optimum, likely mistakes.
    Check(Check),
    /// Make the figures and the report of a folder of results again.
    Report(Report),
    /// Formula One: lap-time models fitted to the public tables, and the pairs of drivers that are played.
    #[command(subcommand)]
    F1(f1::F1),
    /// Fit warm-up curves to losses of your own, and write the game of the fitted arms.
    Fit(f1::Fit),
    /// List the games, with their parameters and where the paper has them.
    Games(List),
    /// List the policies, with their parameters, defaults and citations.
    Policies(List),
    /// Print the JSON schema of experiment files, for editors.
    Schema,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Paper {
    /// Which figures; all if none is named.
    #[arg(value_name = "FIGURE")]
    pub(crate) figures: Vec<String>,
    /// How many instances of each game.
    #[arg(long, value_name = "N")]
    pub(crate) instances: Option<u64>,
    /// The folder for the results.
    #[arg(long, value_name = "DIR", default_value = "out/paper", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// A folder with the public tables of lap times: everything about Formula One is done anew from the raw laps.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) f1_data: Option<PathBuf>,
    /// A first look: 5 instances and a tenth of the horizon.
    #[arg(long)]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Experiment files.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// The folder for the results.
    #[arg(long, value_name = "DIR", default_value = "out/run", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Do only part I of N, from 1 to N; `merge` puts the parts together.
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE)]
    pub(crate) shard: Shard,
    /// Another seed than the files'.
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Another number of instances than the files'.
    #[arg(long, value_name = "N")]
    pub(crate) instances: Option<u64>,
    #[command(flatten)]
    pub(crate) how: How,
}

/// How to run; changes no number.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// How many threads [default: as many as the machine can run at once].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Print the closing tables as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Tournament {
    /// How many instances of each named game [default: 400].
    #[arg(long, value_name = "N")]
    pub(crate) instances: Option<u64>,
    /// How many random games [default: 300].
    #[arg(long, value_name = "N")]
    pub(crate) random_games: Option<u64>,
    /// The seed [default: 1].
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// The folder for the results.
    #[arg(long, value_name = "DIR", default_value = "out/tournament", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// A first look, in seconds: fewer and shorter games.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write the tables to this Markdown file too.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The folders of all shards.
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// The folder for the merged results.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The experiment file.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Print JSON: the first point of the sweep, and all under `points`.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A folder with `results.csv` and `manifest.json`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
