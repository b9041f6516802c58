//! The command line: one `…Args` struct per command, as `clap` parses it. Its doc comments are the help texts.

pub(crate) mod diagnose;
pub(crate) mod f1;
pub(crate) mod fit;
pub(crate) mod log;
mod number;
pub(crate) mod pilot;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod state;

use std::path::PathBuf;

use calibandit::catalogue::CatalogueEntry;
use calibandit::{GameSpec, PolicySpec};
use calibandit_experiment::run::Shard;
use calibandit_paper::tournament::TournamentPart;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use number::{INSTANCES, JOBS, SEEDS, whole};

/// Simulate bandits whose arms need to warm up: games, policies, exact regret.
#[derive(Debug, Parser)]
#[command(name = "calibandit", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 success; 1 failure; 2 error in the command line or in an input file; \
130 interrupted (finished work is saved, and the same command continues from there).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reproduce the figures of the paper, and three more.
    Paper(PaperArgs),
    /// Run experiments from files.
    Run(RunArgs),
    /// Merge the shards of a run. The results are the same as without sharding, byte for byte.
    Merge(MergeArgs),
    /// Run every policy on the paper's games, the other games of the catalogue, the ten races and random games.
    Tournament(TournamentArgs),
    /// Analyse an experiment without running it: alpha, best arm, exact optimum, probable mistakes.
    Check(CheckArgs),
    /// Write the figures and the report of a results folder again.
    Report(ReportArgs),
    /// Fit lap-time models to public Formula One data, list the pairs of drivers, and compare laps of stints.
    #[command(subcommand)]
    F1(f1::F1Command),
    /// Find the memory bound M, and whether repeated exposure is optimal, from a log of plays.
    Diagnose(diagnose::DiagnoseArgs),
    /// Fit warm-up curves to your own losses, and write the game of the fitted arms.
    Fit(fit::FitArgs),
    /// Plan the plays whose log shows how long the arms remember.
    Pilot(pilot::PilotArgs),
    /// Show the state of a saved advisor: means, intervals, how sure it is, whether M looks too small.
    State(state::StateArgs),
    /// List the games, or show one with its place in the paper, its parameters and their values.
    Games(GamesArgs),
    /// List the policies, or show one with its source, its parameters and their values.
    Policies(PoliciesArgs),
    /// Serve live decisions over HTTP: ask which arm to play, tell what came of it.
    #[cfg(feature = "serve")]
    Serve(serve::ServeArgs),
    /// Replay everything that the file of a service has, and compare all answers and states.
    #[cfg(feature = "serve")]
    Verify(serve::VerifyArgs),
    /// Copy the file of a service while the service runs.
    #[cfg(feature = "serve")]
    Backup(serve::BackupArgs),
    /// Make, list and revoke the tokens of a service.
    #[cfg(feature = "serve")]
    #[command(subcommand)]
    Token(serve::TokenCommand),
    /// Print the JSON schema of experiment files, for editors.
    Schema,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    /// The figures to make [default: all].
    #[arg(value_name = "FIGURE")]
    pub(crate) figures: Vec<String>,
    /// The number of instances per game [default: as in the experiment files].
    #[arg(long, value_name = "N", value_parser = whole::<u64>(INSTANCES), allow_negative_numbers = true)]
    pub(crate) instances: Option<u64>,
    /// The figures of neighbouring papers instead: arms that rot, improve, have a peak, rise, congest or tire.
    #[arg(long, conflicts_with = "f1_data")]
    pub(crate) neighbours: bool,
    /// The figures about lanes instead: many users at once, late losses, sessions, overlap.
    #[arg(long, conflicts_with_all = ["f1_data", "neighbours"])]
    pub(crate) lanes: bool,
    /// The folder for the results [default: out/paper, out/neighbours or out/lanes].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace the results of experiments that are not of the paper.
    #[arg(long)]
    pub(crate) force: bool,
    /// A folder with the public tables of lap times: fit and select the Formula One pairs again from raw lap times.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) f1_data: Option<PathBuf>,
    /// Make a preview: 5 instances and a tenth of the horizon.
    #[arg(long)]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Experiment files.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// The folder for the results of all files [default: out/NAME for each experiment, or out/NAME/shard-I-of-N].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace the results of another experiment in the folder.
    #[arg(long)]
    pub(crate) force: bool,
    /// Run only shard I of N, with I from 1 to N; `merge` combines the shards.
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE)]
    pub(crate) shard: Shard,
    /// The seed, instead of the one in the files.
    #[arg(long, value_name = "S", value_parser = whole::<u64>(SEEDS), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// The number of instances, instead of the one in the files.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(INSTANCES), allow_negative_numbers = true)]
    pub(crate) instances: Option<u64>,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}

/// Options that do not change any number of the results.
#[derive(Debug, Args)]
pub(crate) struct ExecutionArgs {
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Print the full tables at the end, with all policies and all columns.
    #[arg(long, conflicts_with = "json")]
    pub(crate) tables: bool,
    /// Print the closing tables as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadArgs {
    /// The number of threads; 0 is one per available core [default: 0].
    #[arg(long, value_name = "N", value_parser = whole::<usize>(JOBS), default_value_t = 0, hide_default_value = true,
          allow_negative_numbers = true)]
    pub(crate) jobs: usize,
}

#[derive(Debug, Args)]
pub(crate) struct TournamentArgs {
    /// Which games and policies: those for repeated exposure, rested arms, or windowed games without repeated exposure.
    #[arg(long, value_name = "PART", default_value = "main",
        value_parser = PossibleValuesParser::new(TournamentPart::NAMES.map(|(name, _)| name)))]
    pub(crate) part: String,
    /// The number of instances per named game [default: 400].
    #[arg(long, value_name = "N", value_parser = whole::<u64>(INSTANCES), allow_negative_numbers = true)]
    pub(crate) instances: Option<u64>,
    /// The number of random games [default: 300].
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=*INSTANCES.end()), allow_negative_numbers = true)]
    pub(crate) random_games: Option<u64>,
    /// The seed [default: 1].
    #[arg(long, value_name = "S", value_parser = whole::<u64>(SEEDS), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// The folder for the results [default: out/tournament, or out/tournament-PART].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace the results of experiments in the folder.
    #[arg(long)]
    pub(crate) force: bool,
    /// Play only policies of this kind, and take the results of all others from the folder, after a check.
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(PolicySpec::KINDS))]
    pub(crate) only: Vec<String>,
    /// Make a preview in seconds: fewer and shorter games.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also write the tables to this Markdown file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) execution: ExecutionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The folders of all shards.
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// The folder for the merged results.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Replace the results of another experiment in the folder.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the full tables at the end.
    #[arg(long)]
    pub(crate) tables: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The experiment file.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Print JSON: the first point of the sweep, and all points under `points`.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A folder with `results.csv` and `manifest.json`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct GamesArgs {
    /// Show this game in full [default: list all in short].
    #[arg(value_name = "NAME", value_parser = names(GameSpec::catalogue()), hide_possible_values = true)]
    pub(crate) name: Option<String>,
    /// Print JSON: an array, or with NAME one object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PoliciesArgs {
    /// Show this policy in full [default: list all in short].
    #[arg(value_name = "NAME", value_parser = names(PolicySpec::catalogue()), hide_possible_values = true)]
    pub(crate) name: Option<String>,
    /// Print JSON: an array, or with NAME one object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The names of all kinds, so that shells complete them and wrong ones get a suggestion.
fn names<Spec>(kinds: &'static [CatalogueEntry<Spec>]) -> PossibleValuesParser {
    kinds.iter().map(|kind| PossibleValue::new(kind.name).aliases(kind.aliases.iter().copied())).into()
}
