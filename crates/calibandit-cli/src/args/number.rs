//! Numbers on the command line: a wrong one is answered with what the option takes, and with what was probably meant.
//!
//! Ranges that the libraries check have their messages there; see [`CliError::option`](crate::error::CliError::option).

use std::ops::RangeInclusive;

/// The seeds that experiment files can have, too.
pub(crate) const SEEDS: RangeInclusive<u64> = 0..=i64::MAX as u64;

/// Numbers of instances of an experiment, and of random games of a tournament.
pub(crate) const INSTANCES: RangeInclusive<u64> = 1..=calibandit_experiment::spec::MOST_INSTANCES;

/// Numbers of threads; 0 is one per available core.
pub(crate) const JOBS: RangeInclusive<u64> = 0..=1_000_000;

/// Reads a whole number of this range.
pub(crate) fn whole<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let fits = |number: &u64| range.contains(number);
        // `u64::from_str` accepts a leading plus sign; nobody writes one by mistake.
        let read = text.parse().ok().filter(fits).and_then(|number| T::try_from(number).ok());
        read.ok_or_else(|| {
            let meant = meant(text).filter(fits).map_or(String::new(), |number| format!("; did you mean {number}?"));
            format!("give a whole number from {} to {}{meant}", range.start(), range.end())
        })
    }
}

/// Reads a number, such as the example. Which numbers are allowed is checked where they are used.
pub(crate) fn real(example: &'static str) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| text.parse().map_err(|_| format!("give a number, such as {example}"))
}

/// The whole number of a text such as `1e6`, `1_000` or `20.0`.
fn meant(text: &str) -> Option<u64> {
    let digits: String = text.trim().chars().filter(|c| !matches!(c, '_' | ',' | '\'' | ' ')).collect();
    digits.parse().ok().or_else(|| {
        let number: f64 = digits.parse().ok()?;
        // Larger numbers are not exact.
        (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_the_range_are_read_and_others_are_answered_with_it() {
        let read = whole::<u32>(1..=5_000_000);
        assert_eq!((read("1"), read("5000000")), (Ok(1), Ok(5_000_000)));
        for wrong in ["", "x", "-1", "0", "5000001", "1.5", "nan", "inf", "-1e3", "99999999999999999999", "1e-3"] {
            assert_eq!(read(wrong), Err("give a whole number from 1 to 5000000".to_owned()), "{wrong}");
        }
        for (wrong, number) in [("1e6", 1_000_000), ("1_000", 1000), ("20.0", 20), ("12,500", 12_500), (" 7", 7)] {
            let expected = format!("give a whole number from 1 to 5000000; did you mean {number}?");
            assert_eq!(read(wrong), Err(expected), "{wrong}");
        }
    }

    #[test]
    fn a_range_beyond_the_type_is_no_overflow() {
        assert!(whole::<u32>(0..=u64::MAX)("4294967296").is_err());
    }

    #[test]
    fn numbers_are_read_and_words_are_answered_with_an_example() {
        let read = real("0.95");
        assert_eq!((read("0.5"), read("-1e3"), read("inf")), (Ok(0.5), Ok(-1e3), Ok(f64::INFINITY)));
        for wrong in ["", "x", "0,5", "95%"] {
            assert_eq!(read(wrong), Err("give a number, such as 0.95".to_owned()), "{wrong}");
        }
    }
}
