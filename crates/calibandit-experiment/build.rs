//! Tells the crate what it is built from: a digest of the sources that decide what is computed, and the commit.
//!
//! Both are written into manifests, and the digest is part of what a journal belongs to. Neither needs git: without it,
//! and in a package, what is not known is left out. The script runs again only when the sources change, so the commit
//! is the one that they had when they were compiled.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    // The library lies beside this crate in the repository, but not in a package.
    let library = package.join("../calibandit/src");
    let mut folders = vec![package.join("src")];
    folders.extend(library.is_dir().then(|| library.clone()));
    println!("cargo::rerun-if-changed=build.rs");
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for folder in &folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        add_files(folder, &mut hash);
    }
    println!("cargo::rustc-env=CALIBANDIT_SOURCES={:016x}", hash.0);
    let commit = if library.is_dir() { commit_of_repository(&package) } else { commit_of_package(&package) };
    if let Some(commit) = commit {
        println!("cargo::rustc-env=CALIBANDIT_COMMIT={commit}");
    }
}

/// FNV-1a. It tells versions of sources apart, and needs no dependency.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Adds the names and contents of all Rust files, sorted by name.
fn add_files(folder: &Path, hash: &mut Fnv) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_files(&path, hash);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read(&path).unwrap_or_default();
            hash.add(path.file_name().unwrap_or_default().as_encoded_bytes());
            hash.add(&(text.len() as u64).to_le_bytes());
            hash.add(&text);
        }
    }
}

/// The commit of the repository, if git knows it and nothing in the crates was changed since.
fn commit_of_repository(package: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(package).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let is_unchanged = git(&["status", "--porcelain", "--", ".", "../calibandit"])?.is_empty();
    git(&["rev-parse", "HEAD"]).filter(|commit| is_unchanged && is_commit(commit))
}

/// The commit that `cargo package` wrote into the package.
fn commit_of_package(package: &Path) -> Option<String> {
    let text = fs::read_to_string(package.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit = rest.split('"').nth(1)?.to_owned();
    is_commit(&commit).then_some(commit)
}

fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.chars().all(|c| c.is_ascii_hexdigit())
}
