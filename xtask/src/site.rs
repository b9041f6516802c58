//! The documentation site: built into `target/site`, then checked.

use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::Program;
use crate::tools::{self, tool};

/// Where the site is, as mkdocs.yml says.
const SITE: &str = "target/site";

/// Builds the documentation of the crates and the site. Any warning is an error. Then follows every link from the home
/// page: no link or anchor is broken, every document and notebook of the repository is found, every public name of the
/// Python package is documented, and nothing is loaded from other hosts.
pub(crate) fn site(_: &Machine) -> Result<StepOutcome, StepError> {
    tools::install(tools::REQUIREMENTS)?;
    Program::cargo(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").run()?;
    // MkDocs Material advertises its successor with every build.
    tool("mkdocs", ["build", "--quiet"]).env("NO_MKDOCS_2_WARNING", "1").run()?;
    tool("python", ["tools/site/check.py", SITE]).run()?;
    println!("open {SITE}/index.html");
    Ok(StepOutcome::default())
}
