//! docs/benchmarks.md, from what the earlier steps have stored and the text in page.md.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::stored;
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell;
use crate::tools::program_of;

/// The text of the page, with a placeholder such as `{ratios}` for each stored table.
const TEMPLATE: &str = include_str!("page.md");

/// Writes the page.
pub(crate) fn write_page(_: &Machine) -> Result<StepOutcome, StepError> {
    let mut page = TEMPLATE.replace("{machine}", &machine());
    for name in ["paper", "ratios", "costs", "rested", "agreement", "counts"] {
        let table = fs::read_to_string(stored(&format!("{name}.md")));
        page = page.replace(&format!("{{{name}}}"), &table.unwrap_or_else(|_| "Not measured.\n".to_string()));
    }
    let path = shell::root().join("docs/benchmarks.md");
    fs::write(&path, page.trim_end().to_string() + "\n").map_err(|error| StepError::File { path, error })?;
    Ok(StepOutcome::default())
}

/// The processor, the compilers and the Python packages.
fn machine() -> String {
    let first_line = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(shell::root()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_string())
    };
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split(':').nth(1)?.trim().to_string())
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let versions = "import numba, numpy, sys; python = sys.version.split()[0]; \
                    print('Python', python, 'with numba', numba.__version__, 'and NumPy', numpy.__version__)";
    let facts = [
        processor.map(|name| format!("{name}, {threads} threads")),
        first_line("rustc", &["--version"]),
        first_line("cc", &["--version"]),
        first_line(&program_of(Path::new("target/bench-venv"), "python").display().to_string(), &["-c", versions]),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("Machine: {}.\n", facts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wording of the page is changed in the template; this keeps the committed page from drifting away from it.
    #[test]
    fn the_committed_page_has_the_text_of_the_template() {
        let page = fs::read_to_string(shell::root().join("docs/benchmarks.md")).unwrap();
        for line in TEMPLATE.lines().filter(|line| !line.starts_with('{')) {
            assert!(page.lines().any(|other| other == line), "not on the page: {line}");
        }
    }
}
