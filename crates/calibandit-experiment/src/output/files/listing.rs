//! What a folder has, for tests that compare folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder, with their paths relative to it. A file that is removed meanwhile is left out.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (file.path(), PathBuf::from(file.file_name()));
        if path.is_dir() {
            all.extend(contents(&path).into_iter().map(|(below, bytes)| (name.join(below), bytes)));
        } else if let Ok(bytes) = fs::read(&path) {
            all.insert(name, bytes);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_folders_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/c"), "1").unwrap();
        fs::write(folder.path().join(".d"), "").unwrap();
        let expected = [(PathBuf::from(".d"), vec![]), (PathBuf::from("a/b/c"), b"1".to_vec())];
        assert_eq!(contents(folder.path()), BTreeMap::from(expected));
        assert!(contents(&folder.path().join("none")).is_empty());
    }
}
