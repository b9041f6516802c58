//! The programs that are compared: how each is built or installed, and how it is run.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Measurement, Workload};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{self, Program};
use crate::tools::program_of;

/// A program that can run workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Implementation {
    Calibandit,
    C,
    Numba,
    NumPy,
    River,
    SmpyBandits,
}

impl Implementation {
    pub(super) const ALL: [Self; 6] =
        [Self::Calibandit, Self::C, Self::Numba, Self::NumPy, Self::River, Self::SmpyBandits];

    /// Whether one play takes microseconds.
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

    /// numba compiles when it starts, so it makes all its tries in one process.
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

    /// Runs a workload `tries` times; the least time counts. `None` if it cannot be run.
    pub(super) fn run(self, workload: &Workload, tries: u32) -> Option<Measurement> {
        let once = || {
            let output = self.command(workload, tries).output().ok()?;
            Measurement::parse(&String::from_utf8_lossy(&output.stdout), workload.instances)
                .filter(|_| output.status.success())
        };
        let mut least: Option<Measurement> = None;
        for _ in 0..if self == Self::Numba { 1 } else { tries } {
            let measurement = once()?;
            least = Some(least.filter(|least| least.seconds <= measurement.seconds).unwrap_or(measurement));
        }
        least
    }
}

fn peers() -> PathBuf {
    shell::root().join("benches/peers")
}

fn python(environment: &str) -> PathBuf {
    program_of(&shell::root().join("target").join(environment), "python")
}

/// Builds this project and the C program, and installs the Python libraries in environments below `target/`. A peer
/// that cannot be built or installed is left out, with a message.
pub(crate) fn prepare(_: &Machine) -> Result<StepOutcome, StepError> {
    let packages = ["-p", "calibandit", "-p", "calibandit-report", "-p", "calibandit-cli"];
    let programs = ["--example", "workload", "--example", "draw", "--bin", "calibandit"];
    Program::cargo([&["build", "--release"], packages.as_slice(), &programs].concat()).run()?;
    super::store("started", "")?;
    let compiled = Program::new(
        "cc",
        ["-O3", "-march=native", "-std=c11", "-o", "target/bench/peer", "benches/peers/peer.c", "-lm"],
    );
    report("C", compiled.run());
    report("numba, NumPy and river", environment("bench-venv", &["numpy", "numba", "river"]));
    // It uses functions that later versions of its dependencies have removed.
    let repository = "SMPyBandits @ git+https://github.com/SMPyBandits/SMPyBandits";
    let old = [
        repository,
        "scipy<1.12",
        "numpy<1.27",
        "matplotlib<3.9",
        "setuptools<80",
        "pandas<2.2",
        "seaborn<0.14",
        "scikit-learn<1.5",
        "numba",
        "tqdm",
    ];
    report("SMPyBandits", environment("bench-venv-smpybandits", &old));
    Ok(StepOutcome::default())
}

fn report(peer: &str, ready: Result<(), StepError>) {
    match ready {
        Ok(()) => println!("{peer}: ready"),
        Err(error) => println!("{peer}: left out, because {error}"),
    }
}

fn environment(name: &str, packages: &[&str]) -> Result<(), StepError> {
    let folder = format!("target/{name}");
    if !Path::new(&python(name)).exists() {
        Program::new("python3", ["-m", "venv", &folder]).run()?;
    }
    let mut arguments = vec!["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    arguments.extend(packages);
    let status = Command::new(python(name)).args(&arguments).current_dir(shell::root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(StepError::Program {
            command: format!("pip install {}", packages.join(" ")),
            status: status.to_string(),
        }),
        Err(error) => Err(StepError::Start { command: "pip".to_string(), error }),
    }
}
