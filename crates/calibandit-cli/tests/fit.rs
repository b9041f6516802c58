//! The commands `fit` and `f1`, run by the real program.

#![allow(clippy::unwrap_used)] // a test may panic

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn calibandit(folder: &Path, arguments: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_calibandit"));
    program.current_dir(folder).args(arguments.split_whitespace()).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn tutorials() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials")
}

#[test]
fn printed_and_written_game_are_equal_and_have_the_fitted_curves() {
    let folder = TempDir::new().unwrap();
    let table = tutorials().join("tasks.csv");
    for model in ["auto", "exponential-linear", "lap", "settling", "plateau"] {
        let fit =
            format!("fit {} --arm worker --position task --loss minutes --range 0 20 --model {model}", table.display());
        let printed = text(&calibandit(folder.path(), &fit));
        calibandit(folder.path(), &format!("{fit} --out game.toml"));
        assert_eq!(fs::read_to_string(folder.path().join("game.toml")).unwrap(), printed);
        let arms: Value = serde_json::from_str(&text(&calibandit(folder.path(), &format!("{fit} --json")))).unwrap();
        let head = "name = \"x\"\nhorizon = 100\n[[policy]]\nkind = \"exp3\"\n";
        fs::write(folder.path().join("x.toml"), format!("{head}{printed}")).unwrap();
        let checked = text(&calibandit(folder.path(), "check x.toml --json"));
        let checked: Value = serde_json::from_str(&checked).unwrap();
        for (arm, loss) in arms.as_array().unwrap().iter().zip(checked["eventual_losses"].as_array().unwrap()) {
            let number = |key: &str| arm[key].as_f64().unwrap();
            // The eventual loss is that of the last observed position, 8.
            let by_hand = number("level") + number("beta") * (-8.0 * number("alpha")).exp() - 8.0 * number("gamma");
            assert!((loss.as_f64().unwrap() - by_hand).abs() < 1e-9, "{arm}");
        }
    }
}

/// Two arms play in turns of five. Positions are times, or they count within each turn.
#[test]
fn times_in_place_of_positions_are_warned_about() {
    let folder = TempDir::new().unwrap();
    for (times, warned) in [(true, true), (false, false)] {
        let mut table = "a,k,y\n".to_owned();
        for play in 0..100 {
            let (arm, in_run) = (["x", "z"][play / 5 % 2], play % 5 + 1);
            let position = if times { play + 1 } else { in_run };
            writeln!(table, "{arm},{position},{}", 0.2 + 0.5 / in_run as f64).unwrap();
        }
        fs::write(folder.path().join("t.csv"), table).unwrap();
        let fitted = calibandit(folder.path(), "fit t.csv --arm a --position k --loss y");
        assert!(fitted.status.success(), "{}", message(&fitted));
        assert_eq!(message(&fitted).contains("is `k` a time?"), warned, "{}", message(&fitted));
    }
}

#[test]
fn mistakes_in_a_table_are_usage_errors_with_file_and_line() {
    let folder = TempDir::new().unwrap();
    let columns = "--arm a --position k --loss y";
    for (table, options, parts) in [
        ("a,k,y\nx,1,0.5\nx,zero,0.4\n", columns, ["t.csv, line 3", "`k` is `zero`"]),
        ("a,k,y\nx,0,0.5\n", columns, ["t.csv, line 2", "a whole number from 1"]),
        ("a,k\nx,1\n", columns, ["t.csv, line 1", "`y`"]),
        ("a,k,y\n", columns, ["t.csv", "no rows"]),
        ("a,k,y\nx,1,0.5\n", columns, ["arm `x`", "too few"]),
        ("a,k,y\nx,1,9\nx,2,8\nx,3,7\n", columns, ["arm `x`", "--range"]),
        ("a,k,y\nx,1,9\n", "--arm a --position k --loss y --range 2 1", ["low = 2", "high = 1"]),
    ] {
        fs::write(folder.path().join("t.csv"), table).unwrap();
        let output = calibandit(folder.path(), &format!("fit t.csv {options}"));
        assert_eq!(output.status.code(), Some(2), "{table}");
        assert!(parts.iter().all(|part| message(&output).contains(part)), "{} {parts:?}", message(&output));
        assert!(output.stdout.is_empty());
    }
    let nowhere = calibandit(folder.path(), "fit nowhere.csv --arm a --position k --loss y");
    assert!(message(&nowhere).contains("nowhere.csv: there is no such file"), "{}", message(&nowhere));
}

/// Blocks of 30 plays in turn. The first arm warms up over 10 plays, the second one is always the same.
#[test]
fn a_log_is_fitted_by_the_positions_in_its_runs() {
    let folder = TempDir::new().unwrap();
    let (mut log, mut positions) = ("time,a,y\n".to_owned(), "k,a,y\n".to_owned());
    for play in 0..3000_u32 {
        let (arm, k) = (play / 30 % 2, play % 30 + 1);
        let noise = 0.02 * (f64::from(play * 7919 % 1009) / 1009.0 - 0.5);
        let loss = if arm == 0 { 0.2 + 0.6 * (-0.5 * f64::from(k)).exp() } else { 0.5 } + noise;
        writeln!(log, "{},{},{loss}", play + 100, ["x", "z"][arm as usize]).unwrap();
        writeln!(positions, "{k},{},{loss}", ["x", "z"][arm as usize]).unwrap();
    }
    fs::write(folder.path().join("log.csv"), &log).unwrap();
    fs::write(folder.path().join("positions.csv"), positions).unwrap();
    let fitted = |options: &str| {
        let output = calibandit(folder.path(), &format!("fit {options} --arm a --loss y --tolerance 0.01 --json"));
        assert!(output.status.success(), "{}", message(&output));
        serde_json::from_str::<Value>(&text(&output)).unwrap()
    };
    let by_position = fitted("positions.csv --position k");
    assert_eq!(fitted("log.csv"), by_position, "the order of the rows");
    assert_eq!(fitted("log.csv --order time"), by_position);
    assert_eq!(fitted("log.csv --order time")[0]["memory"], 9, "0.6·exp(-0.5·k) <= 0.01 from k = 8.19 on");
    assert_eq!(fitted("log.csv --memory 12")[1]["memory"], 12);
    let both = calibandit(folder.path(), "fit log.csv --arm a --loss y --position k --order time");
    assert_eq!(both.status.code(), Some(2));
    let twice = log + "100,x,0.5\n";
    fs::write(folder.path().join("log.csv"), twice).unwrap();
    let output = calibandit(folder.path(), "fit log.csv --arm a --loss y --order time");
    assert!(output.status.code() == Some(2) && message(&output).contains("order 100 occurs twice"));
}

const COLUMNS: &str = "--arm a --position k --loss y";

/// Rows of one arm, with these losses at the positions from 1 on.
fn rows(arm: &str, losses: &[f64]) -> String {
    losses.iter().zip(1..).map(|(loss, k)| format!("{arm},{k},{loss}\n")).collect()
}

#[test]
fn an_arm_whose_curve_leaves_the_unit_interval_is_left_out_and_the_rest_is_fitted() {
    let folder = TempDir::new().unwrap();
    let good = [0.9, 0.6, 0.45, 0.38, 0.34, 0.33];
    let table = [rows("good", &good), rows("wild", &good.map(|loss| 10.0 * loss)), rows("short", &[0.4, 0.3])];
    fs::write(folder.path().join("t.csv"), format!("a,k,y\n{}", table.concat())).unwrap();
    let output = calibandit(folder.path(), &format!("fit t.csv {COLUMNS} --out game.toml"));
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    let warnings = message(&output);
    assert_eq!(warnings.lines().count(), 2, "{warnings}");
    assert!(warnings.contains("warning: arm `wild` is left out of the game: the curve is"), "{warnings}");
    assert!(warnings.contains("warning: arm `short` is left out of the game: 2 different"), "{warnings}");
    assert!(text(&output).contains("good  ") && !text(&output).contains("wild"), "{}", text(&output));
    assert!(text(&output).contains("The memory of the game is 2"), "{}", text(&output));
    let game = fs::read_to_string(folder.path().join("game.toml")).unwrap();
    assert_eq!(game.matches("name = \"good\"").count(), 1, "{game}");
    assert!(game.contains("# left out: arm `wild`") && !game.contains("name = \"wild\""), "{game}");
    let json = text(&calibandit(folder.path(), &format!("fit t.csv {COLUMNS} --json")));
    let arms: Value = serde_json::from_str(&json).unwrap();
    let names: Vec<_> = arms.as_array().unwrap().iter().map(|arm| arm["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["good", "wild", "short"]);
    assert!(arms[0]["left_out"].is_null() && arms[1]["left_out"].is_string() && arms[1]["beta"].is_number());
}

#[test]
fn columns_of_the_table_are_aligned_and_separated_whatever_the_numbers_are() {
    let folder = TempDir::new().unwrap();
    // 1,000 losses within 1e-5 of the curve: an AIC below -10,000.
    let mut table = String::from("a,k,y\n");
    for i in 0..1000u32 {
        let k = i % 10 + 1;
        let loss = 0.2 + 0.5 / f64::from(1 << k) + f64::from(i * 7919 % 997) * 1e-8;
        writeln!(table, "\"a long name\",{k},{loss}\nB,{k},{}", if k == 1 { 0.9 } else { 0.1 }).unwrap();
    }
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let table = text(&calibandit(folder.path(), &format!("fit t.csv {COLUMNS} --out game.toml")));
    let lines: Vec<&str> = table.lines().take(3).collect();
    assert_eq!(lines.iter().map(|line| line.chars().count()).collect::<Vec<_>>(), [lines[0].chars().count(); 3]);
    let cells = |line: &str| line.split("  ").filter(|cell| !cell.is_empty()).count();
    assert!(lines.iter().all(|line| cells(line) == 12), "{table}");
}

#[test]
fn lines_are_right_in_files_with_crlf_and_a_far_position_is_named() {
    let folder = TempDir::new().unwrap();
    for (table, parts) in [
        ("a,k,y\r\nA,1,x\r\n", "c.csv, line 2: `y` is `x`"),
        ("a,k,y\nA,1,0.5\nA,2,0.5\nA,100000,0.4\n", "c.csv, line 4: the position is 100000"),
    ] {
        fs::write(folder.path().join("c.csv"), table).unwrap();
        let output = calibandit(folder.path(), &format!("fit c.csv {COLUMNS}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(message(&output).contains(parts), "{}", message(&output));
    }
}

/// Writes tables of four drivers in two races, with a slow lap in both and recorded stops in the second.
fn tables(folder: &Path) {
    let (mut laps, mut stops) = ("raceId,driverId,lap,milliseconds\n".to_string(), "raceId,driverId,lap\n".to_string());
    for race in 1..=2u32 {
        for driver in 1..=4u32 {
            for lap in 1..=20u32 {
                let wave = (lap * 7919 + driver * 104_729 + race * 31) % 997;
                let slow = if lap == 12 { 20_000 } else { 0 };
                writeln!(laps, "{race},{driver},{lap},{}", 90_000 + 8_000 / lap + wave + slow).unwrap();
            }
            if race == 2 {
                writeln!(stops, "{race},{driver},11").unwrap();
            }
        }
    }
    let races = "raceId,year,name\n1,1999,Old Grand Prix\n2,2012,New Grand Prix\n";
    let drivers = "driverId,forename,surname\n1,A,One\n2,B,Two\n3,C,Three\n4,D,Four\n";
    for (name, content) in
        [("lap_times.csv", laps.as_str()), ("pit_stops.csv", &stops), ("races.csv", races), ("drivers.csv", drivers)]
    {
        fs::write(folder.join(name), content).unwrap();
    }
}

#[test]
fn f1_fit_writes_one_row_per_driver_race_and_compares_the_models() {
    let folder = TempDir::new().unwrap();
    tables(folder.path());
    let output = calibandit(folder.path(), "f1 fit --data . --out models.csv");
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    for part in ["160 laps, 4 recorded stops", "8 drivers of 2 races", "plateau", "of 8 driver-races"] {
        assert!(text(&output).contains(part), "{}", text(&output));
    }
    let models = fs::read_to_string(folder.path().join("models.csv")).unwrap();
    assert_eq!(models.lines().count(), 9);
    assert!(models.contains("Old Grand Prix,1,A One,inferred,10,exponential-linear,"), "{models}");
    assert!(models.contains("New Grand Prix,4,D Four,recorded,10,exponential-linear,"), "{models}");
    let output =
        calibandit(folder.path(), "f1 fit --data . --stops whole-race --model plateau --out models.json --json");
    let summary: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!((summary["driver_races"].as_u64(), &summary["options"]["stops"]), (Some(8), &Value::from("whole-race")));
    let models: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("models.json")).unwrap()).unwrap();
    assert_eq!(models["drivers"][0]["plateau"]["observations"], 20);
    // Without records, stops can still be inferred.
    fs::remove_file(folder.path().join("pit_stops.csv")).unwrap();
    assert_eq!(calibandit(folder.path(), "f1 fit --data . --stops infer").status.code(), Some(0));
    let output = calibandit(folder.path(), "f1 fit --data .");
    assert_eq!(output.status.code(), Some(2));
    assert!(message(&output).contains("pit_stops.csv") && message(&output).contains("--stops infer"));
}

/// What a link points to stays as it is, and no temporary file is left.
#[cfg(unix)]
#[test]
fn a_written_game_replaces_a_symbolic_link() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("precious"), "text").unwrap();
    std::os::unix::fs::symlink(at("precious"), at("game.toml")).unwrap();
    let table = tutorials().join("tasks.csv");
    let fit = format!("fit {} --arm worker --position task --loss minutes --range 0 20", table.display());
    let output = calibandit(folder.path(), &format!("{fit} --out game.toml"));
    assert!(output.status.success(), "{}", message(&output));
    assert_eq!(fs::read_to_string(at("precious")).unwrap(), "text");
    assert!(!at("game.toml").is_symlink() && fs::read_to_string(at("game.toml")).unwrap().contains("[game]"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn f1_pairs_lists_the_ten_pairs_and_the_reasons_without_data() {
    let folder = TempDir::new().unwrap();
    let list = text(&calibandit(folder.path(), "f1 pairs"));
    assert_eq!(list.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count(), 10);
    assert!(list.contains("2001-german: 2001 German Grand Prix, m = 10"), "{list}");
    assert_eq!(list.matches("alpha = 0: repeated exposure of the better driver is optimal").count(), 10);
    let json: Value = serde_json::from_str(&text(&calibandit(folder.path(), "f1 pairs --json"))).unwrap();
    for pair in json["pairs"].as_array().unwrap() {
        assert!(pair["gap"].as_f64() <= pair["limit"].as_f64() && pair["reo_alpha"] == 0.0, "{pair}");
    }
    tables(folder.path());
    let anew = text(&calibandit(folder.path(), "f1 pairs --data ."));
    assert!(anew.contains("of 12 pairs of drivers meet the paper's condition"), "{anew}");
}

/// Four drivers and 30 laps in three races: every lap of the stint costs 100 ms, every lap of the race saves 200 ms.
fn tables_of_stints(folder: &Path) {
    tables(folder);
    let (mut laps, mut stops) = ("raceId,driverId,lap,milliseconds\n".to_string(), "raceId,driverId,lap\n".to_string());
    for race in 1..=3u32 {
        for driver in 1..=4u32 {
            let mut stint = 0;
            for lap in 1..=30u32 {
                stint += 1;
                let time = 100_000 - 200 * lap + 100 * stint + 50 * driver + (lap * 37 + driver * 11 + race) % 5;
                writeln!(laps, "{race},{driver},{lap},{time}").unwrap();
                if lap == 8 + driver || lap == 18 + 2 * driver {
                    writeln!(stops, "{race},{driver},{lap}").unwrap();
                    stint = 0;
                }
            }
        }
    }
    let races = "raceId,year,name\n1,2011,One\n2,2012,Two\n3,2020,Three\n4,2021,Four\n";
    for (name, content) in [("lap_times.csv", laps.as_str()), ("pit_stops.csv", &stops), ("races.csv", races)] {
        fs::write(folder.join(name), content).unwrap();
    }
}

#[test]
fn f1_stints_prints_a_table_of_80_columns_and_writes_every_kind_of_file() {
    let folder = TempDir::new().unwrap();
    tables_of_stints(folder.path());
    let files = "--out stints.csv --out stints.json --out stints.svg --out stints.png";
    let output = calibandit(folder.path(), &format!("f1 stints . --longest 12 --resamples 50 {files}"));
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    let printed = text(&output);
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    let flat = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "3 races from 2011 to 2020, 12 driver-races, 360 timed laps",
        "24 into the pits",
        "on the same lap of the same race: laps get slower (+0.74 %",
        "Before the first stop: laps get faster (-0.74 %",
        "the lap of the stint is the lap of the race, and no statistic can tell their effects apart",
        "Limits: stops are chosen",
    ] {
        assert!(flat.contains(part), "{part}\n{printed}");
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("stints.svg").starts_with(b"<svg") && read("stints.png").starts_with(b"\x89PNG"));
    assert_eq!(String::from_utf8(read("stints.csv")).unwrap().lines().count(), 13);
    let written: Value = serde_json::from_slice(&read("stints.json")).unwrap();
    let same = calibandit(folder.path(), "f1 stints --data . --longest 12 --resamples 50 --json");
    assert_eq!(serde_json::from_str::<Value>(&text(&same)).unwrap(), written);
    // 700 ms for seven laps, of a fastest lap near 94.9 seconds.
    let change = written["rows"][9]["same_lap"]["change"].as_f64().unwrap();
    assert!((change - 700.0 / 94_900.0).abs() < 1e-4, "{change}");
}

#[test]
fn f1_stints_says_what_is_wrong_with_the_input() {
    let folder = TempDir::new().unwrap();
    tables_of_stints(folder.path());
    for (arguments, parts) in [
        ("--first-year 2021 --last-year 2022", ["no race from 2021 to 2022", "--first-year"]),
        ("--slow-lap 0.9", ["`--slow-lap` is 0.9", "more than 1"]),
        ("--longest 3", ["--longest", "from 4 to 200"]),
        ("--data nowhere", ["nowhere/lap_times.csv", "must have"]),
        ("--out nowhere/stints.csv", ["nowhere/stints.csv", ""]),
    ] {
        let output = calibandit(folder.path(), &format!("f1 stints {arguments}"));
        assert_ne!(output.status.code(), Some(0), "{arguments}");
        assert!(parts.iter().all(|part| message(&output).contains(part)), "{}", message(&output));
    }
    let output = calibandit(folder.path(), "f1 stints . --data .");
    assert_eq!(output.status.code(), Some(2), "{}", message(&output));
}
