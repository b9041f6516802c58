//! The command `diagnose`, run by the real program on logs whose truth is known.

#![allow(clippy::unwrap_used)] // a test may panic

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn calibandit(folder: &Path, arguments: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_calibandit"));
    program.current_dir(folder).env("COLUMNS", "80").args(arguments.split_whitespace()).output().unwrap()
}

/// The standard output of a command that must succeed.
fn run(folder: &Path, arguments: &str) -> String {
    let output = calibandit(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The message of a command that must fail with exit code 2.
fn refused(folder: &Path, arguments: &str) -> String {
    let output = calibandit(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&run(folder, arguments)).unwrap()
}

/// Blocks of `block` plays of two arms in turn. `loss` gives the expected loss by arm and play in a row; the noise is
/// uniform on [-0.1, 0.1].
fn log(folder: &TempDir, plays: usize, block: usize, loss: impl Fn(usize, usize) -> f64) {
    let mut table = "n,arm,ms\n".to_owned();
    let mut state = 1_u64;
    for play in 0..plays {
        // Knuth's generator: the test needs noise without a pattern, and no dependency.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5;
        let arm = play / block % 2;
        let value = loss(arm, play % block + 1) + 0.2 * noise;
        writeln!(table, "{play},{},{value:.5}", ["plain", "slim"][arm]).unwrap();
    }
    fs::write(folder.path().join("log.csv"), table).unwrap();
}

/// `slim` is slow for five plays, so it has settled from play 6 on.
fn warming(arm: usize, position: usize) -> f64 {
    [1.0, if position <= 5 { 1.2 } else { 0.7 }][arm]
}

const COLUMNS: &str = "diagnose log.csv --arm arm --loss ms --horizon 2000";

#[test]
fn the_memory_bound_of_a_known_warm_up_is_found_and_said_first() {
    let folder = TempDir::new().unwrap();
    log(&folder, 12_000, 40, warming);
    let text = run(folder.path(), &format!("{COLUMNS} --longest 20 --tolerance 0.05"));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.starts_with("log.csv: 12,000 plays of 2 arms; every play has a loss."), "{text}");
    let paragraphs: Vec<String> = text.split("\n\n").map(|part| part.replace('\n', " ")).collect();
    assert!(paragraphs[0].contains("Differences of up to 0.05 do not matter (`--tolerance`)"), "{text}");
    assert!(paragraphs[1].starts_with("M = 6: from play 6 in a row on"), "{text}");
    assert!(paragraphs[1].contains("if no arm remembers more than 20 plays (95 % confidence)"), "{text}");
    assert!(text.contains("REO holds"), "{text}");
    let found = json(folder.path(), &format!("{COLUMNS} --longest 20 --tolerance 0.05 --json"));
    assert_eq!((&found["memory_bound"], &found["why"]), (&6.into(), &"settled".into()));
    let slim = found["arms"].as_array().unwrap().iter().find(|arm| arm["name"] == "slim").unwrap();
    assert_eq!((&slim["settled"]["lower"], &slim["settled"]["upper"]), (&6.into(), &6.into()));
    let eventual = &slim["eventual"];
    let (low, high) = (eventual["low"].as_f64().unwrap(), eventual["high"].as_f64().unwrap());
    assert!(low < 0.7 && 0.7 < high && high - low < 0.01, "{eventual}");
}

#[test]
fn the_json_has_the_documented_keys() {
    let folder = TempDir::new().unwrap();
    log(&folder, 6_000, 40, warming);
    let found = json(folder.path(), &format!("{COLUMNS} --json"));
    for pointer in [
        "/memory_bound",
        "/why",
        "/reach",
        "/tolerance",
        "/arms/0/settled/lower",
        "/arms/0/settled/upper",
        "/arms/0/eventual/mean",
        "/arms/0/curve/0/loss/mean",
        "/arms/0/forgetting",
        "/reo/verdict",
        "/reo/alpha/0",
        "/reo/alpha/1",
        "/tallying",
        "/notes/0/kind",
        "/notes/0/text",
        "/pilot",
        "/price/rows/0/regret",
        "/price/rows/0/stderr",
        "/price/plain_is_fine",
    ] {
        assert!(found.pointer(pointer).is_some(), "{pointer} in {found}");
    }
    assert_eq!((&found["memory_bound"], &found["why"]), (&Value::Null, &"no-longest".into()));
    if let Some(tallying) = found["tallying"].as_object() {
        assert!(tallying.contains_key("memory") && tallying["set"].is_array(), "{found}");
    }
}

#[test]
fn without_a_longest_memory_the_answer_is_conditional_and_the_default_tolerance_is_said() {
    let folder = TempDir::new().unwrap();
    log(&folder, 12_000, 40, warming);
    let text = run(folder.path(), COLUMNS).replace('\n', " ");
    assert!(text.contains("M cannot be said without an assumption") && text.contains("`--longest`"), "{text}");
    let bound = text.split("M = ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!((6..=9).contains(&bound.parse::<u32>().unwrap()), "an upper bound of 6: {text}");
    assert!(text.contains("the default: 5 % of the range of the middle 98 % of the losses"), "{text}");
}

/// Arms that change at every play say nothing about longer runs, whatever the losses are.
#[test]
fn a_log_without_runs_gives_no_bound_but_a_pilot() {
    let folder = TempDir::new().unwrap();
    log(&folder, 4_000, 1, |arm, _| [0.5, 0.6][arm]);
    let text = run(folder.path(), &format!("{COLUMNS} --longest 64 --tolerance 0.05"));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("M cannot be said from this log"), "{text}");
    assert!(text.contains("calibandit pilot --arms plain,slim --longest 64 --believe tallying"), "{text}");
    let found = json(folder.path(), &format!("{COLUMNS} --longest 64 --tolerance 0.05 --json"));
    assert_eq!((&found["memory_bound"], &found["why"]), (&Value::Null, &"reach".into()));
    assert!(found["reach"].as_u64().unwrap() <= 1, "{found}");
}

/// `slim` costs 0.3 when it is fresh and 0.9 from play 11 on; staying with any arm costs at least 0.6.
#[test]
fn an_arm_that_tires_violates_repeated_exposure() {
    let folder = TempDir::new().unwrap();
    log(&folder, 12_000, 40, |arm, position| [0.6, if position <= 10 { 0.3 } else { 0.9 }][arm]);
    let options = "--longest 20 --tolerance 0.05";
    let text = run(folder.path(), &format!("{COLUMNS} {options}"));
    assert!(text.contains("REO is violated"), "{text}");
    let reo = &json(folder.path(), &format!("{COLUMNS} {options} --json"))["reo"];
    assert_eq!(reo["verdict"], "violated");
    // Alpha is 0.6 - 0.3.
    let (low, high) = (reo["alpha"][0].as_f64().unwrap(), reo["alpha"][1].as_f64().unwrap());
    assert!(low < 0.3 && 0.3 < high && high - low < 0.1, "{reo}");
}

#[test]
fn mistakes_are_usage_errors_that_name_options_columns_and_lines() {
    let folder = TempDir::new().unwrap();
    let case = |table: &str, options: &str| {
        fs::write(folder.path().join("log.csv"), table).unwrap();
        refused(folder.path(), &format!("diagnose log.csv {options}"))
    };
    let columns = "--arm arm --loss ms";
    let good = "n,arm,ms\n1,a,0.5\n2,b,0.7\n";
    for (table, options, parts) in [
        (good, "--arm layout --loss ms", ["log.csv, line 1", "`layout` for `--arm`"]),
        (good, "--arm arm --loss y", ["`y` for `--loss`", "`n`, `arm`, `ms`"]),
        (good, "--arm arm --loss ms --unit host", ["`host` for `--unit`", "the columns are"]),
        ("n,arm,ms\n1,a,0.5\n1,b,0.7\n", "--arm arm --loss ms --order n", ["order 1 occurs twice", "`--unit`"]),
        ("n,arm,ms\n1,a,0.5\n2.5,b,0.7\n", "--arm arm --loss ms --order n", ["line 3", "`n` is `2.5`"]),
        ("arm,ms\na,0.5\nb\n", columns, ["log.csv, line 3", "the row has"]),
        ("arm,ms\na,fast\n", columns, ["line 2: `ms` is `fast`", "a number"]),
        ("arm,ms\na,\nb,NA\n", columns, ["no play", "loss"]),
        ("arm,ms\n", columns, ["log.csv", "no rows"]),
        ("arm,ms\na,1\nb,1\n", columns, ["equal", "--tolerance"]),
        (good, "--arm arm --loss ms --longest 0", ["--longest", "a whole number from 1 to"]),
        (good, "--arm arm --loss ms --tolerance -1", ["`--tolerance` is -1", "positive"]),
        (good, "--arm arm --loss ms --confidence 1.5", ["`--confidence` is 1.5", "below 1"]),
        (good, "--arm arm --loss ms --horizon 0", ["--horizon", "a whole number from 1 to"]),
        (good, "--arm arm --loss ms --force", ["--out", "required"]),
        ("PAR1 and nothing else", columns, ["log.csv", "Parquet"]),
    ] {
        let message = case(table, options);
        for part in parts {
            assert!(message.contains(part), "{table:?} {options}: {message}");
        }
    }
    let missing = refused(folder.path(), &format!("diagnose nothing.csv {columns}"));
    assert!(missing.contains("nothing.csv: there is no such file"), "{missing}");
}

#[test]
fn files_are_written_and_only_a_diagnosis_is_replaced() {
    let folder = TempDir::new().unwrap();
    log(&folder, 6_000, 40, warming);
    let options = "--longest 20 --tolerance 0.05 --out found";
    let printed = run(folder.path(), &format!("{COLUMNS} {options}"));
    let read = |name: &str| fs::read_to_string(folder.path().join("found").join(name)).unwrap();
    for file in ["diagnosis.json", "curves.csv", "game.toml", "report.html"] {
        assert!(printed.contains(&format!("found/{file}")), "{printed}");
    }
    assert!(printed.contains("Over 2,000 plays, `calibrated` with M = "), "{printed}");
    let page = read("report.html");
    assert!(page.contains("M = 6: from play 6 in a row on") && page.matches("<noscript><svg").count() >= 3);
    assert!(folder.path().join("found/figures/warm-up.svg").exists());
    let json = run(folder.path(), &format!("{COLUMNS} {options} --json"));
    assert_eq!(read("diagnosis.json"), json, "the second run replaces the first one with the same bytes");
    let found: Value = serde_json::from_str(&json).unwrap();
    let curves = read("curves.csv");
    let header = "arm,kind,first,last,plays,loss,low,high,difference,difference_low,difference_high,settled\n";
    assert!(curves.starts_with(header), "{curves}");
    let cells = |arm: &Value| arm["curve"].as_array().unwrap().len() + arm["forgetting"].as_array().unwrap().len();
    let rows: usize = found["arms"].as_array().unwrap().iter().map(cells).sum();
    assert_eq!(curves.lines().count(), rows + 1);
    // A file of the user with the same name is not touched.
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/curves.csv"), "mine").unwrap();
    let occupied = calibandit(folder.path(), &format!("{COLUMNS} --out mine"));
    let message = String::from_utf8(occupied.stderr).unwrap();
    assert!(occupied.status.code() == Some(1) && message.contains("--force"), "{message}");
    assert_eq!(fs::read_to_string(folder.path().join("mine/curves.csv")).unwrap(), "mine");
    run(folder.path(), &format!("{COLUMNS} --out mine --force"));
    assert!(fs::read_to_string(folder.path().join("mine/curves.csv")).unwrap().starts_with(header));
}

/// Losses from 0.6 to 1.3 are scaled to [0, 1], and the eventual losses of the game are those of the log.
#[test]
fn the_fitted_game_is_ready_for_an_experiment() {
    let folder = TempDir::new().unwrap();
    log(&folder, 12_000, 40, warming);
    run(folder.path(), &format!("{COLUMNS} --longest 20 --tolerance 0.05 --out found"));
    let game = fs::read_to_string(folder.path().join("found/game.toml")).unwrap();
    let head = "name = \"x\"\nhorizon = 100\n[[policy]]\nkind = \"calibrated\"\nmemory_bound = 6\n";
    fs::write(folder.path().join("x.toml"), format!("{head}{game}")).unwrap();
    let checked = json(folder.path(), "check x.toml --json");
    let scale: Vec<f64> =
        game.lines().nth(1).unwrap().split(' ').filter_map(|word| word.trim_matches(['.', ',']).parse().ok()).collect();
    let [_, low, _, high] = scale[..] else { panic!("{game}") };
    let losses: Vec<f64> =
        checked["eventual_losses"].as_array().unwrap().iter().map(|loss| loss.as_f64().unwrap()).collect();
    for (loss, truth) in losses.iter().zip([1.0, 0.7]) {
        assert!((low + loss * (high - low) - truth).abs() < 0.01, "{losses:?} on [{low}, {high}]");
    }
    // A diagnosis without a game does not leave the game of an earlier one.
    log(&folder, 2, 1, |arm, _| arm as f64);
    let text = run(folder.path(), &format!("{COLUMNS} --longest 20 --tolerance 0.05 --out found"));
    assert!(text.contains("No price of a wrong M can be predicted"), "{text}");
    assert!(!folder.path().join("found/game.toml").exists());
}

/// A table of results is a log too: each policy is an arm. Both formats hold the same rows.
#[test]
fn parquet_and_csv_logs_give_the_same_diagnosis() {
    let folder = TempDir::new().unwrap();
    let experiment = "name = \"x\"\nhorizon = 2_000\ninstances = 30\ncheckpoints = { points = 20 }\n\
                      game = { kind = \"step\" }\npolicy = [{ kind = \"ucb1\" }, { kind = \"exp3\" }]\n";
    fs::write(folder.path().join("x.toml"), experiment).unwrap();
    run(folder.path(), "run x.toml --out out");
    let options = "--arm policy --loss cpr --order t --unit instance --tolerance 50 --json";
    // An order is unique within a unit, so there is one log per policy.
    let csv = fs::read_to_string(folder.path().join("out/results.csv")).unwrap();
    assert!(csv.lines().count() > 1000, "{csv}");
    let of_csv = calibandit(folder.path(), &format!("diagnose out/results.csv {options}"));
    let of_parquet = calibandit(folder.path(), &format!("diagnose out/results.parquet {options}"));
    let message = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    assert!(message(&of_csv).contains("occurs twice in unit `0`"), "{}", message(&of_csv));
    assert_eq!(message(&of_csv).replace("csv", "parquet"), message(&of_parquet));
    let options = "--arm policy --loss cpr --unit instance --tolerance 50 --json";
    let of_csv = run(folder.path(), &format!("diagnose out/results.csv {options}"));
    assert_eq!(of_csv, run(folder.path(), &format!("diagnose out/results.parquet {options}")));
    assert_eq!(serde_json::from_str::<Value>(&of_csv).unwrap()["units"], 30);
}

/// Names of arms come from the log. A spreadsheet must not run them, a terminal must not obey them.
#[test]
fn hostile_names_of_arms_stay_text() {
    let folder = TempDir::new().unwrap();
    let names = ["=1+1", "@SUM(1)", "\u{202e}evil"];
    let mut table = "arm,ms\n".to_owned();
    for play in 0..600 {
        writeln!(table, "{},{}", names[play / 4 % 3], 0.3 + (play % 7) as f64 / 10.0).unwrap();
    }
    fs::write(folder.path().join("log.csv"), table).unwrap();
    let printed = run(folder.path(), &format!("{COLUMNS} --out d"));
    assert!(printed.contains("\\u{202e}evil") && !printed.contains('\u{202e}'), "{printed}");
    let curves = fs::read_to_string(folder.path().join("d/curves.csv")).unwrap();
    let cells: Vec<&str> = curves.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    for cell in ["'=1+1", "'@SUM(1)", names[2]] {
        assert!(cells.contains(&cell), "{cell}: {curves}");
    }
    assert!(cells.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@'])), "{curves}");
}
