//! Who takes part, and how each is made ready and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Measured, Workload};
use crate::shell::{self, Program};
use crate::steps::{Failure, Tally};

/// A program that can play workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contestant {
    Calibandit,
    C,
    Numba,
    NumPy,
    River,
    SmpyBandits,
}

impl Contestant {
    pub(super) const ALL: [Self; 6] =
        [Self::Calibandit, Self::C, Self::Numba, Self::NumPy, Self::River, Self::SmpyBandits];

    /// Whether a play takes microseconds.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Self::NumPy | Self::River | Self::SmpyBandits)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Calibandit => "Calibandit",
            Self::C => "C",
            Self::Numba => "numba",
            Self::NumPy => "numpy",
            Self::River => "river",
            Self::SmpyBandits => "SMPyBandits",
        }
    }

    /// With how many tries it is asked for in one go: those that compile when they start try often before they end.
    fn command(self, workload: &Workload, tries: u32) -> Command {
        let script = |python: PathBuf, file: &str| {
            let mut command = Command::new(python);
            command.arg(peers().join(file));
            command
        };
        let mut command = match self {
            Self::Calibandit => Command::new(shell::root().join("target/release/examples/workload")),
            Self::C => Command::new(shell::root().join("target/bench/peer")),
            Self::Numba => script(python("bench-venv"), "peer_numba.py"),
            Self::NumPy | Self::River => script(python("bench-venv"), "peer_python.py"),
            Self::SmpyBandits => script(python("bench-venv-smpybandits"), "peer_python.py"),
        };
        if self.is_slow() {
            command.arg(self.name());
        }
        command.args(workload.arguments());
        if self == Self::Numba {
            command.arg(tries.to_string());
        }
        command
    }

    /// Plays a workload `tries` times; the least time counts. `None` if it cannot.
    pub(super) fn play(self, workload: &Workload, tries: u32) -> Option<Measured> {
        let once = || {
            let output = self.command(workload, tries).output().ok()?;
            Measured::parse(&String::from_utf8_lossy(&output.stdout), workload.instances)
                .filter(|_| output.status.success())
        };
        let mut least: Option<Measured> = None;
        for _ in 0..if self == Self::Numba { 1 } else { tries } {
            let measured = once()?;
            least = Some(least.filter(|least| least.seconds <= measured.seconds).unwrap_or(measured));
        }
        least
    }
}

fn peers() -> PathBuf {
    shell::root().join("benches/peers")
}

fn python(environment: &str) -> PathBuf {
    shell::root().join("target").join(environment).join("bin/python")
}

/// Builds this project and the C program, and installs the Python libraries in folders of their own. A peer that cannot be
/// had is left out, and said so.
pub(crate) fn prepare() -> Result<Tally, Failure> {
    let packages = ["-p", "calibandit", "-p", "calibandit-cli"];
    let programs = ["--example", "workload", "--example", "draw", "--bin", "calibandit"];
    Program::cargo([&["build", "--release"], packages.as_slice(), &programs].concat()).run()?;
    super::keep("started", "")?;
    let compiled = Program::new(
        "cc",
        ["-O3", "-march=native", "-std=c11", "-o", "target/bench/peer", "benches/peers/peer.c", "-lm"],
    );
    say("C", compiled.run());
    say("numba, NumPy and river", environment("bench-venv", &["numpy", "numba", "river"]));
    // It needs functions that later versions of its own dependencies no longer have.
    let old = ["SMPyBandits", "scipy<1.12", "numpy<1.27", "matplotlib<3.9", "setuptools<80", "numba", "tqdm"];
    say("SMPyBandits", environment("bench-venv-smpybandits", &old));
    Ok(Tally::default())
}

fn say(peer: &str, ready: Result<(), Failure>) {
    match ready {
        Ok(()) => println!("{peer}: ready"),
        Err(failure) => println!("{peer}: left out, because {failure}"),
    }
}

fn environment(name: &str, packages: &[&str]) -> Result<(), Failure> {
    let folder = format!("target/{name}");
    if !Path::new(&python(name)).exists() {
        Program::new("python3", ["-m", "venv", &folder]).run()?;
    }
    let mut arguments = vec!["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    arguments.extend(packages);
    let status = Command::new(python(name)).args(&arguments).current_dir(shell::root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            Err(Failure::Program { command: format!("pip install {}", packages.join(" ")), status: status.to_string() })
        }
        Err(error) => Err(Failure::Start { command: "pip".to_string(), error }),
    }
}
