//! Files of an output folder: one of them edited, or replaced by any bytes.

use std::fs;

use calibandit_experiment::output::OutputDir;

use crate::edits::edited;
use crate::fixture::FIXTURE;

/// A folder with a changed file is refused, or its results are those of the run.
///
/// The first byte chooses the file; the others are its edits.
pub fn manifests(data: &[u8]) {
    let Some((&choice, edits)) = data.split_first() else { return };
    let fixture = &*FIXTURE;
    let (folder, path) = fixture.copy();
    let (name, bytes) = &fixture.files[choice as usize % fixture.files.len()];
    let contents = edited(bytes, edits);
    fs::write(path.join(name), &contents).expect("the folder can be written");
    if let Ok(stored) = OutputDir::new(&path).read() {
        assert_eq!(stored.results.as_slice(), std::slice::from_ref(&fixture.results), "{name} gives other numbers");
    }
    drop(folder);
}
