//! Damaged result folders and shards, and folders that contradict themselves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use calibandit_experiment::output::OutputDir;
use calibandit_experiment::run::Shard;
use calibandit_experiment::{Error, ErrorKind};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::damage::{Dice, damage, edit};
use super::{copy, damages, experiment, results, write};

const FILES: [&str; 4] = ["manifest.json", "results.csv", "results.parquet", "summary.csv"];

fn shard(index: usize) -> Shard {
    Shard::new(index, 3).unwrap()
}

/// The shards of one run (`1` to `3`), the whole run (`whole`), and shard 2 of another seed (`other`).
fn folders() -> TempDir {
    let folder = TempDir::new().unwrap();
    for index in 1..=3 {
        write(&folder.path().join(index.to_string()), &experiment("x", 1), shard(index));
    }
    write(&folder.path().join("whole"), &experiment("x", 1), Shard::WHOLE);
    write(&folder.path().join("other"), &experiment("x", 2), shard(2));
    folder
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap())).collect()
}

/// Reads a folder, as `report` does, or merges it with the other shards, as `merge` does; the results as CSV.
fn read(folder: &Path, rest: &[&Path]) -> Result<Vec<u8>, Error> {
    let all = if rest.is_empty() {
        OutputDir::new(folder).read()?.results
    } else {
        let folders: Vec<OutputDir> = [folder].iter().chain(rest).map(|&folder| OutputDir::new(folder)).collect();
        OutputDir::merge(&folders)?.1
    };
    let mut csv = Vec::new();
    calibandit_experiment::results::write_csv(&all, &mut csv).unwrap();
    Ok(csv)
}

#[test]
fn damaged_folders_and_shards_are_refused() {
    let stored = folders();
    let at = |name: &str| stored.path().join(name);
    let expected = read(&at("whole"), &[]).unwrap();
    assert_eq!(read(&at("2"), &[&at("3"), &at("1")]).unwrap(), expected);
    let target = at("damaged");
    let (mut refused, mut unchanged) = (0, 0);
    for round in 0..damages() {
        let mut dice = Dice(round);
        let source = if round % 2 == 0 { "whole" } else { "2" };
        let _ = fs::remove_dir_all(&target);
        copy(&at(source), &target);
        let file = FILES[dice.below(4)];
        let path = target.join(file);
        let way = match dice.below(8) {
            0 => {
                fs::remove_file(&path).unwrap();
                "removed"
            }
            1 => {
                let from = ["1", "3", "other", "whole"][dice.below(4)];
                fs::copy(at(from).join(file), &path).unwrap();
                "that of another folder"
            }
            2 => {
                fs::copy(at("other").join(file), &path).unwrap();
                let other = FILES[dice.below(4)];
                fs::copy(target.join(other), target.join("swapped")).unwrap();
                fs::rename(&path, target.join(other)).unwrap();
                fs::rename(target.join("swapped"), &path).unwrap();
                "exchanged with another file"
            }
            3 => {
                let mut manifest: Value =
                    serde_json::from_slice(&fs::read(at(source).join(FILES[0])).unwrap()).unwrap();
                edit(&mut manifest, &mut dice);
                fs::write(target.join(FILES[0]), format!("{manifest:#}\n")).unwrap();
                "an edited manifest"
            }
            _ => {
                let (way, changed) = damage(&fs::read(&path).unwrap(), &mut dice);
                fs::write(&path, changed).unwrap();
                way
            }
        };
        let rest = [at("1"), at("3")];
        let rest: Vec<&Path> = rest.iter().map(|path| path.as_path()).filter(|_| source == "2").collect();
        match read(&target, &rest) {
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("damaged") || way == "that of another folder", "{way}: {error}");
            }
            Ok(csv) => {
                unchanged += 1;
                assert_eq!(contents(&target), contents(&at(source)), "round {round}: {file}, {way}");
                assert_eq!(csv, expected);
            }
        }
    }
    println!("damages of folders: {}, refused: {refused}, without effect: {unchanged}, accepted: 0", damages());
    assert!(refused > unchanged);
}

/// The manifest with one table replaced, and with digests and checksum that are right for it.
fn forge(folder: &Path, table: &str, bytes: &[u8], change: impl Fn(&mut Value)) {
    fs::write(folder.join(table), bytes).unwrap();
    let path = folder.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let hex = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    manifest["tables"][table] = serde_json::json!({"bytes": bytes.len(), "sha256": hex(bytes)});
    manifest.as_object_mut().unwrap().shift_remove("sha256");
    change(&mut manifest);
    let text = format!("{manifest:#}");
    let body = text.strip_suffix("\n}").unwrap();
    fs::write(path, format!("{body},\n  \"sha256\": \"{}\"\n}}\n", hex(body.as_bytes()))).unwrap();
}

/// Also with matching digests, a table must have exactly the curves of its manifest.
#[test]
fn tables_that_contradict_their_manifest_are_refused_with_the_reason() {
    let stored = folders();
    let source = stored.path().join("whole");
    let csv = fs::read_to_string(source.join("results.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    let without = |gone: std::ops::Range<usize>| {
        let kept = lines.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, line)| format!("{line}\n"));
        kept.collect::<String>()
    };
    let cell = |line: usize, column: usize, value: &str| {
        let mut cells: Vec<&str> = lines[line].split(',').collect();
        cells[column] = value;
        csv.replacen(lines[line], &cells.join(","), 1)
    };
    let header = format!("{}\n", lines[0]);
    for (table, why) in [
        (header, "is missing"),
        (without(1..5), "is missing"),
        (without(9..13), "is missing"),
        (without(lines.len() - 4..lines.len()), "is missing"),
        (without(2..3), "its times are not the 4 checkpoints"),
        (format!("{csv}{}\n", lines[1..5].join("\n")), "twice"),
        (csv.clone() + &csv[csv.find('\n').unwrap() + 1..], "twice"),
        (cell(3, 0, "y"), "which the manifest does not have"),
        (cell(3, 1, "M=9"), "no game or policy `M=9`"),
        (cell(3, 2, "UCB1"), "no game or policy `UCB1`"),
        (cell(3, 3, "1000"), "times are not"),
        (cell(3, 4, "7"), "its times are not"),
        (cell(3, 5, "inf"), "impossible"),
        (cell(3, 6, "NaN"), "impossible"),
        (cell(3, 7, "18446744073709551615"), "impossible"),
    ] {
        let folder = stored.path().join("forged");
        let _ = fs::remove_dir_all(&folder);
        copy(&source, &folder);
        forge(&folder, "results.csv", table.as_bytes(), |_| {});
        let refused = OutputDir::new(&folder).read().unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Damaged { .. }), "{refused}");
        assert!(refused.to_string().contains(why), "{why}: {refused}");
    }
    // Numbers of a manifest with a right checksum are checked too.
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 6] = [
        (|manifest| manifest["shard"] = serde_json::json!({"index": 0, "of": 3}), "from 1 to N"),
        (|manifest| manifest["shard"] = serde_json::json!({"index": 1, "of": 1_000_000_000_000_u64}), "from 1 to N"),
        (|manifest| manifest["shard"] = serde_json::json!({"index": 1, "of": 2}), "numbers of curves"),
        (|manifest| manifest["experiments"][0]["spec"]["instances"] = 60.into(), "numbers of curves"),
        (|manifest| manifest["experiments"][0]["spec"]["horizon"] = 300.into(), "times are not"),
        (|manifest| manifest["tables"] = serde_json::json!({}), "must list"),
    ];
    for (change, why) in changes {
        let folder = stored.path().join("forged");
        let _ = fs::remove_dir_all(&folder);
        copy(&source, &folder);
        forge(&folder, "results.csv", csv.as_bytes(), change);
        let refused = OutputDir::new(&folder).read().unwrap_err();
        assert!(refused.to_string().contains(why), "{why}: {refused}");
    }
}

#[test]
fn other_layouts_and_incomplete_folders_are_refused_with_what_to_do() {
    let stored = folders();
    let folder = stored.path().join("whole");
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    for (layout, part) in [("1", "run the experiment again"), ("99", "newer version")] {
        let changed = manifest.replacen("\"manifest\": 2", &format!("\"manifest\": {layout}"), 1);
        fs::write(folder.join("manifest.json"), changed).unwrap();
        let refused = OutputDir::new(&folder).read().unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Layout { .. }) && refused.to_string().contains(part), "{refused}");
    }
    fs::remove_file(folder.join("manifest.json")).unwrap();
    let refused = OutputDir::new(&folder).read().unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Incomplete { .. }), "{refused}");
}

#[test]
fn a_folder_is_incomplete_until_its_manifest_is_written() {
    let folder = TempDir::new().unwrap();
    let (old, new) = (experiment("x", 1), experiment("x", 2));
    write(folder.path(), &old, Shard::WHOLE);
    let output = OutputDir::new(folder.path());
    let lock = super::lock(&output);
    let all = [results(&new, Shard::WHOLE)];
    let replacement = lock.write_tables(std::slice::from_ref(&new), &all, Shard::WHOLE).unwrap();
    let refused = lock.read().unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Incomplete { .. }), "{refused}");
    // Others are told that the folder is being written.
    let refused = output.read().unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::InUse { .. }), "{refused}");
    replacement.finish().unwrap();
    assert_eq!(lock.read().unwrap().results, all);
}
