//! Running programs with `std::process`; every error has the command.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::outcome::StepError;

/// A program with its arguments, to be run in the root of the repository without standard input.
pub(crate) struct Program {
    name: String,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

/// One of a program's two outputs.
#[derive(Clone, Copy)]
pub(crate) enum OutputStream {
    Stdout,
    Stderr,
}

impl Program {
    pub(crate) fn new<'a>(name: impl Into<String>, arguments: impl AsRef<[&'a str]>) -> Self {
        let arguments = arguments.as_ref().iter().map(|argument| argument.to_string()).collect();
        Self { name: name.into(), arguments, environment: Vec::new() }
    }

    pub(crate) fn cargo<'a>(arguments: impl AsRef<[&'a str]>) -> Self {
        Self::new("cargo", arguments)
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, variable: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((variable, value.into()));
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).envs(self.environment.iter().map(|(variable, value)| (variable, value)));
        command.current_dir(root()).stdin(Stdio::null());
        command
    }

    /// Whether it runs and succeeds; shows nothing.
    pub(crate) fn succeeds(&self) -> bool {
        let status = self.command().stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// What it writes to standard output, if it succeeds; shows nothing.
    pub(crate) fn output(&self) -> Option<String> {
        let output = self.command().stderr(Stdio::null()).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    }

    /// Runs it, showing its output.
    pub(crate) fn run(&self) -> Result<(), StepError> {
        self.judge(self.command().status().map_err(|error| self.start(error))?)
    }

    /// Runs it, showing its output, and returns what it wrote to one of its streams.
    pub(crate) fn run_echoing(&self, stream: OutputStream) -> Result<String, StepError> {
        let mut command = self.command();
        match stream {
            OutputStream::Stdout => command.stdout(Stdio::piped()),
            OutputStream::Stderr => command.stderr(Stdio::piped()),
        };
        let mut child = command.spawn().map_err(|error| self.start(error))?;
        let written = match (child.stdout.take(), child.stderr.take()) {
            (Some(stdout), _) => echo(stdout, std::io::stdout()),
            (_, Some(stderr)) => echo(stderr, std::io::stderr()),
            (None, None) => Ok(String::new()),
        };
        let status = child.wait().map_err(|error| self.start(error))?;
        self.judge(status)?;
        written.map_err(|error| self.start(error))
    }

    fn judge(&self, status: ExitStatus) -> Result<(), StepError> {
        if status.success() {
            return Ok(());
        }
        Err(StepError::Program { command: self.to_string(), status: status.to_string() })
    }

    fn start(&self, error: std::io::Error) -> StepError {
        StepError::Start { command: self.to_string(), error }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
    }
}

/// The root of the repository, the parent of this crate's folder: a task works from anywhere inside it.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Copies `from` to `to` line by line, as it comes, and returns all of it.
fn echo(from: impl Read, mut to: impl Write) -> std::io::Result<String> {
    let mut all = String::new();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        all += &String::from_utf8_lossy(&line);
        line.clear();
    }
    Ok(all)
}
