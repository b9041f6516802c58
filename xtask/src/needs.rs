//! What steps need, and how to get it on a machine that has only cargo and Python.

use crate::shell::Program;
use crate::steps::Failure;

/// `cargo fmt`.
pub(crate) fn rustfmt() -> Result<(), Failure> {
    let ways = [rustup_component("rustfmt"), apt_package("rustfmt")];
    ensure("rustfmt", Program::cargo(["fmt", "--version"]), &ways)
}

/// `cargo clippy`.
pub(crate) fn clippy() -> Result<(), Failure> {
    let ways = [rustup_component("clippy"), apt_package("rust-clippy")];
    ensure("clippy", Program::cargo(["clippy", "--version"]), &ways)
}

/// A Chromium, for the tests of the report in a real browser. They find it the same way: by `CALIBANDIT_CHROMIUM`, or by
/// its usual names.
pub(crate) fn chromium() -> Result<(), Failure> {
    let probe = "if [ -n \"$CALIBANDIT_CHROMIUM\" ]; then command -v \"$CALIBANDIT_CHROMIUM\"; exit; fi; \
                 command -v chromium || command -v chromium-browser || command -v google-chrome || \
                 command -v google-chrome-stable";
    ensure("Chromium (or CALIBANDIT_CHROMIUM, its path)", Program::new("sh", ["-c", probe]), &[apt_package("chromium")])
}

/// A Python that can make environments.
pub(crate) fn python() -> Result<(), Failure> {
    let probe = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    ensure(
        "Python 3.10 or newer, with venv and pip",
        Program::new("python3", ["-c", probe]),
        &[apt_package("python3 python3-venv python3-pip")],
    )
}

/// Whether `cargo nextest` is there. It is used but never required.
pub(crate) fn has_nextest() -> bool {
    Program::cargo(["nextest", "--version"]).succeeds()
}

fn rustup_component(name: &str) -> Program {
    Program::new("rustup", ["component", "add", name])
}

/// The package lists of a fresh machine are empty, so they are fetched first.
fn apt_package(name: &str) -> Program {
    let script = format!("apt-get update && apt-get install --yes --no-install-recommends {name}");
    Program::new("sh", ["-c", &script]).env("DEBIAN_FRONTEND", "noninteractive")
}

/// Makes sure that `probe` succeeds, by each of the `ways` in turn until it does.
fn ensure(what: &'static str, probe: Program, ways: &[Program]) -> Result<(), Failure> {
    if probe.succeeds() {
        return Ok(());
    }
    let mut tried = Vec::new();
    for way in ways {
        println!("{what} is missing: trying `{way}`");
        tried.push(match way.run() {
            Ok(()) if probe.succeeds() => return Ok(()),
            Ok(()) => format!("`{way}` (which did not help)"),
            Err(failure) => failure.to_string(),
        });
    }
    Err(Failure::Missing { what, tried })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("sh", ["-c", script])
    }

    #[test]
    fn what_is_there_is_not_installed_again() {
        assert!(ensure("a thing", shell("true"), &[shell("exit 1")]).is_ok());
    }

    #[test]
    fn what_cannot_be_had_is_named_with_all_that_was_tried() {
        let ways = [Program::new("no-such-program-at-all", []), shell("exit 3"), shell("true")];
        let message = ensure("a thing", shell("false"), &ways).unwrap_err().to_string();
        for part in ["a thing is missing", "no-such-program-at-all", "exit status: 3", "did not help"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
