//! Malformed tables: each is either repaired or an error that names the file and the line.

use calibandit_paper::f1::{
    EffectOptions, F1Error, F1Tables, StintOptions, stint_effects_of_tables, stints, study, study_tables,
};
use proptest::prelude::*;

use crate::made_up::{MadeUp, parse};

fn good() -> MadeUp {
    let times: Vec<u32> = (0..12).map(|i| 100_000 - 500 * i).collect();
    MadeUp::default()
        .race(1, 2011, "Example Grand Prix")
        .driver(10, "Ada", "Lovelace")
        .laps(1, 10, &times)
        .laps(1, 11, &times)
        .stop(1, 10, 12)
        .stop(1, 11, 12)
}

/// The error after one table is replaced.
fn error(file: usize, text: String) -> String {
    let mut files = good().files();
    files[file] = text;
    parse(&files).unwrap_err().to_string()
}

/// A valid table with one part of it replaced.
fn edited(file: usize, from: &str, to: &str) -> String {
    let text = good().files()[file].clone();
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1)
}

#[test]
fn byte_order_marks_line_ends_and_row_order_are_ignored() {
    let plain = parse(&good().files()).unwrap();
    let windows = good().files().map(|file| format!("\u{feff}{}", file.replace('\n', "\r\n")));
    let shuffled = good().files().map(|file| {
        let (header, rows) = file.split_once('\n').unwrap();
        let mut rows: Vec<&str> = rows.lines().collect();
        rows.reverse();
        format!("{header}\n{}", rows.join("\n"))
    });
    for other in [windows, shuffled] {
        let other = parse(&other).unwrap();
        assert_eq!(stints(&other, &StintOptions::default()), stints(&plain, &StintOptions::default()));
        assert_eq!(other.driver(10), "Ada Lovelace");
        assert_eq!(other.race(1), (Some(2011), "Example Grand Prix".to_string()));
    }
}

#[test]
fn unknown_races_and_drivers_are_shown_by_number() {
    let tables = good().tables();
    assert_eq!(tables.driver(11), "driver 11");
    assert_eq!(tables.race(2), (None, "race 2".to_string()));
}

#[test]
fn lap_without_a_time_ends_the_stint() {
    let tables = parse(&{
        let mut files = good().files();
        files[0] = edited(0, "1,10,10,1,\"1:30.000\",95500", "1,10,10,1,\\N,\\N");
        files
    })
    .unwrap();
    assert_eq!(tables.reading.untimed, 1);
    assert!(stints(&tables, &StintOptions::default())[0].drivers.iter().all(|(_, laps)| laps.len() == 9));
}

#[test]
fn repeated_lap_counts_once_and_contradicting_times_are_an_error() {
    let tables = good().lap(1, 10, 3, 99_000).tables();
    assert_eq!(tables.reading.repeated, 1);
    assert_eq!(stints(&tables, &StintOptions::default()), stints(&good().tables(), &StintOptions::default()));
    let message = parse(&good().lap(1, 10, 3, 98_999).files()).unwrap_err().to_string();
    for part in ["lap_times.csv, line 26", "lap 3 of driver 10 in race 1", "99000 in line 4", "is 98999 here"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn errors_name_file_line_and_problem() {
    let cases = [
        (0, edited(0, "milliseconds", "ms"), ["lap_times.csv", "line 1", "`milliseconds`"]),
        (0, edited(0, "1,10,2,", "1,\\N,2,"), ["lap_times.csv", "line 3", "`driverId` is `\\N`"]),
        (0, edited(0, "99500", "fast"), ["lap_times.csv", "line 3", "`milliseconds` is `fast`"]),
        (0, edited(0, "99500", "-99500"), ["lap_times.csv", "line 3", "from 1"]),
        (0, edited(0, "99500", "0"), ["lap_times.csv", "line 3", "from 1"]),
        (
            0,
            edited(0, "1,10,2,1,", "1,10,2,"),
            ["lap_times.csv", "line 3", "the row has 5 cells, but the header has 6"],
        ),
        (0, edited(0, "1,10,1,", "1,10,1.5,"), ["lap_times.csv", "line 2", "`lap` is `1.5`"]),
        (1, edited(1, "1,10,1,12", "1,10,1,\\N"), ["pit_stops.csv", "line 2", "`lap`"]),
        (2, edited(2, "2011", "\\N"), ["races.csv", "line 2", "`year`"]),
        (3, edited(3, "surname", "family"), ["drivers.csv", "line 1", "`surname`"]),
        (0, "raceId,driverId,lap,milliseconds\n".to_string(), ["lap_times.csv", "no rows", ""]),
        (0, String::new(), ["lap_times.csv", "no rows", ""]),
    ];
    for (file, text, parts) in cases {
        let message = error(file, text);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}\nshould contain {parts:?}");
    }
}

#[test]
fn invalid_utf8_is_an_error_with_its_line() {
    let files = good().files();
    let mut drivers = files[3].clone().into_bytes();
    let name = drivers.windows(3).position(|bytes| bytes == b"Ada").unwrap();
    drivers[name] = 0xff;
    let [laps, stops, races, _] = files.each_ref().map(|file| file.as_bytes());
    let contents = calibandit_paper::f1::F1Files { laps, stops: Some(stops), races, drivers: &drivers };
    let message = F1Tables::parse(contents).unwrap_err().to_string();
    assert!(message.contains("drivers.csv, line 2") && message.contains("UTF-8"), "{message}");
}

#[test]
fn missing_files_are_errors_with_a_hint() {
    let nowhere = std::env::temp_dir().join("calibandit-no-such-folder");
    let message = study(&nowhere, &StintOptions::default(), 1, &()).unwrap_err().to_string();
    assert!(message.contains("lap_times.csv") && message.contains("must have"), "{message}");
}

#[test]
fn options_out_of_range_are_refused() {
    let tables = good().tables();
    for options in [
        StintOptions { least_laps: 4, ..StintOptions::default() },
        StintOptions { slow_lap: 1.0, ..StintOptions::default() },
        StintOptions { slow_lap: f64::NAN, ..StintOptions::default() },
    ] {
        assert!(study_tables(&tables, &options, 1, &()).is_err(), "{options:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Random edits of valid tables never panic, and every error names a file.
    #[test]
    fn randomly_edited_tables_never_panic(
        file in 0usize..4,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..6, any::<u8>()), 1..12),
    ) {
        let mut files = good().files().map(String::into_bytes);
        for (place, edit, byte) in edits {
            let text = &mut files[file];
            let at = place.index(text.len() + 1);
            match edit {
                0 => text.truncate(at),
                1 => text.insert(at, byte),
                2 => { text.splice(at..at, *b"\\N"); }
                3 => { text.splice(at..at, *b",\"\n"); }
                4 => { let rest = text[at..].to_vec(); text.extend(rest); }
                _ => if at < text.len() { text[at] = byte; },
            }
        }
        let [laps, stops, races, drivers] = files.each_ref().map(Vec::as_slice);
        let contents = calibandit_paper::f1::F1Files { laps, stops: Some(stops), races, drivers };
        match F1Tables::parse(contents) {
            Ok(tables) => {
                study_tables(&tables, &StintOptions::default(), 1, &()).unwrap();
                let options = EffectOptions { resamples: 20, ..EffectOptions::default() };
                match stint_effects_of_tables(&tables, &options) {
                    Ok(effects) => prop_assert!(effects.rows.len() == options.longest as usize),
                    Err(error) => prop_assert!(matches!(error, F1Error::NoStops { .. }), "{}", error),
                }
            }
            Err(error) => prop_assert!(error.to_string().contains(".csv"), "{}", error),
        }
    }

    #[test]
    fn random_bytes_are_an_error(laps in prop::collection::vec(any::<u8>(), 0..400)) {
        let contents = calibandit_paper::f1::F1Files { laps: &laps, ..Default::default() };
        prop_assert!(F1Tables::parse(contents).is_err());
    }
}
