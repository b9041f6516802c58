//! What steps and tests need from the machine: how it is found, and how it is installed where that is possible.
//!
//! A requirement that is missing is never an error here. It is installed, after saying so, if the machine allows it;
//! otherwise the command that would install it is printed and what needs it is skipped and counted.

use std::fmt;
use std::path::PathBuf;

use crate::libc::MUSL;
use crate::shell::{self, Program};

/// Something outside this repository that a step or a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    Rustfmt,
    Clippy,
    Chromium,
    Python,
    /// A processor with AVX2.
    Avx2,
    /// The public tables of Formula One. They are not part of this project.
    F1Tables,
    /// The standard library for musl.
    Musl,
}

impl Requirement {
    /// What a test may name as its requirement: `#[ignore = "needs Chromium"]`.
    pub(crate) const OF_TESTS: &'static [Self] = &[Self::Chromium, Self::Avx2, Self::F1Tables];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rustfmt => "rustfmt",
            Self::Clippy => "clippy",
            Self::Chromium => "Chromium",
            Self::Python => "Python 3.10 with venv and pip",
            Self::Avx2 => "AVX2",
            Self::F1Tables => "the F1 tables",
            Self::Musl => "the Rust target for musl",
        }
    }

    /// Whether a fresh machine of continuous integration can install it.
    pub(crate) fn is_installable(self) -> bool {
        self.rustup_component().is_some() || self.debian_packages().is_some() || self == Self::Musl
    }

    fn rustup_component(self) -> Option<&'static str> {
        match self {
            Self::Rustfmt => Some("rustfmt"),
            Self::Clippy => Some("clippy"),
            _ => None,
        }
    }

    fn debian_packages(self) -> Option<&'static str> {
        match self {
            Self::Rustfmt => Some("rustfmt"),
            Self::Clippy => Some("rust-clippy"),
            Self::Chromium => Some("chromium"),
            Self::Python => Some("python3 python3-venv python3-pip"),
            Self::Avx2 | Self::F1Tables | Self::Musl => None,
        }
    }

    /// What to do on a machine where xtask cannot install it.
    fn advice(self, host: &Host) -> String {
        match (self.rustup_component(), self.debian_packages()) {
            (Some(component), _) if host.has_rustup => format!("rustup component add {component}"),
            (_, Some(packages)) if host.has_apt => format!("sudo apt-get install {packages}"),
            (Some(component), _) => format!("rustup component add {component}"),
            _ => match self {
                Self::Chromium => "install Chromium or Chrome, or set CALIBANDIT_CHROMIUM to its path".to_string(),
                Self::Python => "install Python 3.10 or newer".to_string(),
                Self::F1Tables => "set CALIBANDIT_F1_DATA to the folder that has lap_times.csv".to_string(),
                Self::Musl => format!("rustup target add {MUSL}, on x86-64 Linux"),
                _ => "use another machine".to_string(),
            },
        }
    }

    fn is_met(self) -> bool {
        match self {
            Self::Rustfmt => Program::cargo(["fmt", "--version"]).succeeds(),
            Self::Clippy => Program::cargo(["clippy", "--version"]).succeeds(),
            Self::Chromium => has_chromium(),
            Self::Python => {
                let probe = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
                Program::new("python3", ["-c", probe]).succeeds()
            }
            Self::Avx2 => has_avx2(),
            Self::F1Tables => {
                let beside = || shell::root().join("../shared/f1");
                let folder = std::env::var_os("CALIBANDIT_F1_DATA").map_or_else(beside, PathBuf::from);
                folder.join("lap_times.csv").exists()
            }
            Self::Musl => {
                let libraries = Program::new("rustc", ["--print", "target-libdir", "--target", MUSL]).output();
                libraries.is_some_and(|folder| PathBuf::from(folder.trim()).is_dir())
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// As the browser tests look for it. They drive it through a shell, so on Windows it does not count.
fn has_chromium() -> bool {
    let probe = "if [ -n \"$CALIBANDIT_CHROMIUM\" ]; then command -v \"$CALIBANDIT_CHROMIUM\"; exit; fi; \
                 command -v chromium || command -v chromium-browser || command -v google-chrome || \
                 command -v google-chrome-stable";
    cfg!(unix) && Program::new("sh", ["-c", probe]).succeeds()
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

/// Whether `cargo nextest` is installed. It is used if present, and never required.
pub(crate) fn has_nextest() -> bool {
    Program::cargo(["nextest", "--version"]).succeeds()
}

/// What the machine can install programs with.
#[derive(Clone, Copy, Debug)]
struct Host {
    has_rustup: bool,
    has_apt: bool,
    is_root: bool,
}

impl Host {
    fn detect() -> Self {
        Self {
            has_rustup: Program::new("rustup", ["--version"]).succeeds(),
            has_apt: Program::new("apt-get", ["--version"]).succeeds(),
            is_root: Program::new("sh", ["-c", "[ \"$(id -u)\" = 0 ]"]).succeeds(),
        }
    }

    /// The commands that install all that this machine can install of `missing`: at most one per installer.
    fn install_commands(&self, missing: &[Requirement]) -> Vec<Program> {
        let (mut components, mut packages) = (Vec::new(), Vec::new());
        for requirement in missing {
            match (requirement.rustup_component(), requirement.debian_packages()) {
                (Some(component), _) if self.has_rustup => components.push(component),
                (_, Some(names)) if self.has_apt && self.is_root => packages.push(names),
                _ => {}
            }
        }
        let mut commands = Vec::new();
        if self.has_rustup && missing.contains(&Requirement::Musl) {
            commands.push(Program::new("rustup", ["target", "add", MUSL]));
        }
        if !components.is_empty() {
            commands.push(Program::new("rustup", [["component", "add"].as_slice(), &components].concat()));
        }
        if !packages.is_empty() {
            // The package lists of a fresh machine are empty.
            let install = format!("apt-get install --yes --no-install-recommends {}", packages.join(" "));
            let script = format!("apt-get update --quiet && {install}");
            commands.push(Program::new("sh", ["-c", &script]).env("DEBIAN_FRONTEND", "noninteractive"));
        }
        commands
    }
}

/// Which requirements are met on this machine.
pub(crate) struct Machine {
    met: Vec<Requirement>,
}

impl Machine {
    /// Looks for everything in `wanted`. Installs what is missing if `install` allows it and this machine can, after
    /// saying so; prints how to install the rest.
    pub(crate) fn prepare(wanted: &[Requirement], install: bool) -> Self {
        let is_missing = |requirement: &Requirement| !requirement.is_met();
        let missing: Vec<Requirement> = wanted.iter().copied().filter(is_missing).collect();
        if !missing.is_empty() {
            let host = Host::detect();
            let commands = if install { host.install_commands(&missing) } else { Vec::new() };
            for command in commands {
                println!("About to install what is missing (--no-install forbids it): {command}");
                if let Err(error) = command.run() {
                    println!("Not installed: {error}");
                }
            }
            for requirement in missing.into_iter().filter(is_missing) {
                println!("{requirement}: missing. What needs it is skipped. To run it: {}", requirement.advice(&host));
            }
        }
        Self { met: wanted.iter().copied().filter(|requirement| requirement.is_met()).collect() }
    }

    /// Whether a requirement that was asked for in [`Machine::prepare`] is met.
    pub(crate) fn has(&self, requirement: Requirement) -> bool {
        self.met.contains(&requirement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: [Requirement; 4] =
        [Requirement::Clippy, Requirement::Chromium, Requirement::Python, Requirement::Avx2];

    fn commands(has_rustup: bool, has_apt: bool, is_root: bool) -> Vec<String> {
        let host = Host { has_rustup, has_apt, is_root };
        host.install_commands(&MISSING).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rustup_is_preferred_to_packages() {
        let commands = commands(true, true, true);
        assert_eq!(commands[0], "rustup component add clippy");
        assert!(commands[1].ends_with("chromium python3 python3-venv python3-pip"), "{}", commands[1]);
        assert_eq!(commands.len(), 2);
    }

    #[test]
    fn packages_are_only_installed_by_root_on_debian() {
        assert!(commands(false, true, true)[0].contains("rust-clippy chromium"));
        assert_eq!(commands(false, true, false), [""; 0]);
        assert_eq!(commands(false, false, true), [""; 0]);
        assert_eq!(commands(true, true, false).len(), 1);
    }

    #[test]
    fn what_cannot_be_installed_comes_with_the_command_that_would() {
        let host = Host { has_rustup: false, has_apt: true, is_root: false };
        assert_eq!(Requirement::Chromium.advice(&host), "sudo apt-get install chromium");
        assert_eq!(Requirement::Clippy.advice(&host), "sudo apt-get install rust-clippy");
        let other = Host { has_rustup: true, has_apt: false, is_root: true };
        assert_eq!(Requirement::Clippy.advice(&other), "rustup component add clippy");
        assert!(Requirement::Chromium.advice(&other).contains("CALIBANDIT_CHROMIUM"));
    }
}
