//! `cargo xtask generate`: writes `games.py`, `policies.py` and their parts in `python/calibandit` from the library's
//! catalogue.
//!
//! A kind of game or policy is documented once, by the doc comments of its parameter type. The Python functions repeat
//! its name, parameters, defaults, allowed values and documentation, because that is what editors and type checkers
//! read; a test compares the committed files with what this program writes.

mod function;
mod module;
mod python_type;

use std::path::{Path, PathBuf};
use std::{fs, io};

use calibandit::{GameClass, GameSpec, PolicySpec};
use function::{Function, KindOf};
use module::{Part, face};

fn main() -> io::Result<()> {
    for (path, text) in files(&package()) {
        fs::write(&path, text)?;
        println!("{}", path.display());
    }
    Ok(())
}

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/calibandit")
}

/// The generated files and their contents.
fn files(package: &Path) -> Vec<(PathBuf, String)> {
    let (mut exposure, mut more) = (
        Part::new(KindOf::Policy, "_policies_exposure", "Policies for plain bandits and for repeated exposure."),
        Part::new(KindOf::Policy, "_policies_more", "Policies for neighbouring models of bandits."),
    );
    for kind in PolicySpec::catalogue() {
        let usual = [GameClass::Plain, GameClass::RepeatedExposure];
        let part = if kind.meant_for.iter().any(|class| usual.contains(class)) { &mut exposure } else { &mut more };
        part.functions.push(Function::new(kind, KindOf::Policy));
    }
    let (mut paper, mut other) = (
        Part::new(KindOf::Game, "_games_paper", "The games of the paper."),
        Part::new(KindOf::Game, "_games_more", "Generators of more games, and games of neighbouring papers."),
    );
    for kind in GameSpec::catalogue() {
        let part = if kind.documentation.contains("In the paper:") { &mut paper } else { &mut other };
        part.functions.push(Function::new(kind, KindOf::Game));
    }
    let mut files = Vec::new();
    for parts in [[exposure, more], [paper, other]] {
        let kind_of = parts[0].kind_of;
        files.push((package.join(kind_of.module()).with_extension("py"), face(&parts)));
        files.extend(parts.iter().map(|part| (package.join(part.name).with_extension("py"), part.to_python())));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_python_modules_are_current() {
        for (path, text) in files(&package()) {
            let committed = fs::read_to_string(&path).unwrap();
            assert!(committed == text, "{} is not current: run `cargo xtask generate`", path.display());
        }
    }

    #[test]
    fn every_kind_is_a_function_of_one_module_of_readable_length() {
        let files = files(&package());
        for name in PolicySpec::KINDS.iter().chain(GameSpec::KINDS) {
            let definition = format!("\ndef {}(", name.replace('-', "_"));
            let count = files.iter().filter(|(_, text)| text.contains(&definition)).count();
            assert_eq!(count, 1, "{name}");
        }
        for (path, text) in &files {
            assert!(text.lines().count() <= 500, "{}: split it", path.display());
        }
    }
}
