//! What a crate needs in order to be published.

use crate::PACKAGES;

#[test]
fn published_crates_have_complete_metadata_and_licence_files() {
    let mut missing = Vec::new();
    for package in PACKAGES.iter().filter(|package| package.is_published()) {
        let (name, fields) = (package.name(), &package.0);
        for field in ["description", "license", "repository", "homepage", "documentation", "readme", "rust_version"] {
            if fields[field].as_str().is_none_or(str::is_empty) {
                missing.push(format!("{name}: {field}"));
            }
        }
        for list in ["keywords", "categories"] {
            if fields[list].as_array().is_none_or(Vec::is_empty) {
                missing.push(format!("{name}: {list}"));
            }
        }
        if !fields["metadata"]["docs"]["rs"].is_object() {
            missing.push(format!("{name}: [package.metadata.docs.rs]"));
        }
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            if !package.folder().join(file).is_file() {
                missing.push(format!("{name}: {file}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
