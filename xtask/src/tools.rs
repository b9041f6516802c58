//! Tools that are Python packages (`tools/requirements.txt`), in an environment of their own: `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::StepError;
use crate::shell::{self, Program};

const ENVIRONMENT: &str = "target/tools";

/// What lints and the site need.
pub(crate) const REQUIREMENTS: &str = "tools/requirements.txt";
/// What wheels need in addition.
pub(crate) const WHEEL_REQUIREMENTS: &str = "tools/wheel-requirements.txt";

/// Installs the packages of a file of requirements, unless the environment has just these already.
pub(crate) fn install(requirements: &str) -> Result<(), StepError> {
    let wanted = read(shell::root().join(requirements))?;
    let name = requirements.rsplit('/').next().unwrap_or(requirements);
    let installed = shell::root().join(ENVIRONMENT).join(name);
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if !program_of(&shell::root().join(ENVIRONMENT), "uv").exists() {
        Program::new("python3", ["-m", "venv", "--clear", ENVIRONMENT]).run()?;
        let pip = tool("pip", ["install", "--quiet", "uv"]);
        pip.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").run()?;
    }
    let uv = tool("uv", ["pip", "install", "--quiet", "-r", requirements]);
    uv.env("VIRTUAL_ENV", ENVIRONMENT).run()?;
    fs::write(&installed, wanted).map_err(|error| StepError::File { path: installed, error })
}

/// A program of the environment.
pub(crate) fn tool<'a>(name: &str, arguments: impl AsRef<[&'a str]>) -> Program {
    Program::new(program_of(&shell::root().join(ENVIRONMENT), name).display().to_string(), arguments)
}

/// The folder of the programs.
pub(crate) fn folder() -> PathBuf {
    programs_of(&shell::root().join(ENVIRONMENT))
}

/// The folder of the programs of a virtual environment of Python.
pub(crate) fn programs_of(environment: &Path) -> PathBuf {
    environment.join(programs_folder(cfg!(windows)))
}

/// A program of a virtual environment of Python.
pub(crate) fn program_of(environment: &Path, name: &str) -> PathBuf {
    programs_of(environment).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Python's module `venv` names the folder differently on Windows.
fn programs_folder(windows: bool) -> &'static str {
    if windows { "Scripts" } else { "bin" }
}

fn read(path: PathBuf) -> Result<String, StepError> {
    fs::read_to_string(&path).map_err(|error| StepError::File { path, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_environments_are_where_python_puts_them() {
        assert_eq!((programs_folder(true), programs_folder(false)), ("Scripts", "bin"));
        let python = program_of(Path::new("target/tools"), "python");
        let expected = if cfg!(windows) { "target/tools/Scripts/python.exe" } else { "target/tools/bin/python" };
        assert_eq!(python, Path::new(expected));
    }
}
