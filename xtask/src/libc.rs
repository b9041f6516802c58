//! `cargo xtask libc`: the same results with another C library.
//!
//! The test `cpu_features` of the library prints its results. Here it is built twice, for this platform and for musl,
//! and the results are compared. Exponential functions, logarithms and powers are those of the C library; everything
//! else is computed by the same code.

use crate::evidence::{self, EvidenceTable};
use crate::outcome::{StepError, StepOutcome};
use crate::requirements::Machine;
use crate::shell::{OutputStream, Program};

/// The platform with the other C library.
pub(crate) const MUSL: &str = "x86_64-unknown-linux-musl";

/// Results that do not have to have the same bits may differ by this factor.
const AGREEMENT: f64 = 1e-12;

/// A result, and whether it must have the same bits.
#[derive(Debug, PartialEq)]
struct PrintedResult {
    name: String,
    value: f64,
    exact: bool,
}

/// How many results agree.
#[derive(Debug, Default, PartialEq, Eq)]
struct Agreement {
    /// The results that must have the same bits.
    exact: u64,
    /// The others that have the same bits.
    same: u64,
    /// The others that agree in twelve digits.
    close: u64,
}

/// Runs the test with both C libraries, compares, and writes the table.
pub(crate) fn run(_: &Machine) -> Result<StepOutcome, StepError> {
    let (here, there) = (results(&[])?, results(&["--target", MUSL])?);
    let Agreement { exact, same, close } =
        compare(&here, &there).map_err(|found| StepError::Disagreement { found: vec![found] })?;
    let mut table = EvidenceTable::new(["results with glibc and with musl", "number"]);
    for (what, number) in [
        ("same bits, promised: drawn games, alpha, optimum, EXP3 with Bernoulli noise", exact),
        ("same bits, not promised: other policies and kinds of noise, fitted curves", same),
        ("other last bits, the same in twelve digits", close),
        ("anything else", 0),
    ] {
        table.row([what.to_string(), evidence::grouped(number)]);
    }
    print!("{table}");
    evidence::write_to_page("libc", &table)?;
    Ok(StepOutcome { passed: exact + same + close, skipped: Vec::new() })
}

fn results(platform: &[&str]) -> Result<Vec<PrintedResult>, StepError> {
    let test = ["test", "--quiet", "--package", "calibandit", "--test", "cpu_features"];
    let options = ["--", "--exact", "results_are_numbers", "--nocapture"];
    let output = Program::cargo([&test[..], platform, &options[..]].concat()).run_echoing(OutputStream::Stdout)?;
    Ok(output.lines().filter_map(parse).collect())
}

/// The result in a line "computed NAME BITS EXACT" with tabs between the words.
fn parse(line: &str) -> Option<PrintedResult> {
    let (_, line) = line.split_once("computed\t")?;
    let mut words = line.split('\t');
    let (name, bits, exact) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(PrintedResult { name: name.to_string(), value: f64::from_bits(bits), exact })
}

fn compare(here: &[PrintedResult], there: &[PrintedResult]) -> Result<Agreement, String> {
    if here.is_empty() || here.len() != there.len() {
        return Err(format!("{} results here, {} with musl", here.len(), there.len()));
    }
    let mut agreement = Agreement::default();
    for (one, other) in here.iter().zip(there) {
        let same = one.value.to_bits() == other.value.to_bits();
        let close = (one.value - other.value).abs() <= AGREEMENT * one.value.abs();
        let count = match (one.exact, same, close) {
            _ if (&one.name, one.exact) != (&other.name, other.exact) => None,
            (true, true, _) => Some(&mut agreement.exact),
            (false, true, _) => Some(&mut agreement.same),
            (false, false, true) => Some(&mut agreement.close),
            _ => None,
        };
        match count {
            Some(count) => *count += 1,
            None => {
                return Err(format!("{}: {} here, {}: {} with musl", one.name, one.value, other.name, other.value));
            }
        }
    }
    Ok(agreement)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, value: f64, exact: bool) -> PrintedResult {
        PrintedResult { name: name.to_string(), value, exact }
    }

    #[test]
    fn results_are_read_from_the_output_of_a_test() {
        let line = format!("test results_are_numbers ... computed\talpha 3\t{}\ttrue", 0.25f64.to_bits());
        assert_eq!(parse(&line), Some(result("alpha 3", 0.25, true)));
        assert_eq!(parse("running 1 test"), None);
    }

    #[test]
    fn promised_bits_must_be_equal_and_others_may_differ_in_the_last_ones() {
        let here = [result("a", 1.0, true), result("b", 3.0, false), result("c", 5.0, false)];
        let near = 5.0f64.next_up();
        let there = |a, c| [result("a", a, true), result("b", 3.0, false), result("c", c, false)];
        assert_eq!(compare(&here, &there(1.0, near)), Ok(Agreement { exact: 1, same: 1, close: 1 }));
        for wrong in [&there(1.0f64.next_up(), 5.0)[..], &there(1.0, 5.0001), &there(1.0, f64::NAN), &here[..2], &[]] {
            assert!(compare(&here, wrong).is_err(), "{wrong:?}");
        }
        assert!(compare(&[], &[]).is_err());
    }
}
