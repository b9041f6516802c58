//! Numbers as people read them: in tables, on axes, in progress lines and error messages.
//!
//! Every program and report of this workspace formats numbers here, so that one number looks the same everywhere. Files
//! that programs read (`results.csv` and the like) do not use this module: they hold numbers in the shortest form that
//! reads back as the same bits.
//!
//! | function | use | examples |
//! |---|---|---|
//! | [`thousands`] | counts and horizons | `1,000,000` |
//! | [`short`] | tables of fixed width | `1,235`, `12.3`, `0.05` |
//! | [`significant`] | tables in reports | `118,026`, `5.00`, `1.50e-5` |
//! | [`plus_minus`] | a mean with its standard error | `12.3 ± 0.45` |
//! | [`tick`] | labels of axes | `250k`, `1.5M`, `10⁹` |
//! | [`trimmed`] | coordinates | `12.5` |
//! | [`rounded`] | numbers in sentences | `0.1`, `0.1508`, `10,001.8`, `2.5e-6` |
//! | [`duration`] | elapsed time | `15.9 s`, `3 min 20 s` |
//!
//! All functions write the minus sign as `-`; [`typographic`] replaces it by `−` for pages and figures.

/// A whole number with a comma before every third digit: 1,234,567.
pub fn thousands(number: u64) -> String {
    grouped(&number.to_string())
}

/// A number with at most `digits` digits after the first, but all digits before the point: 1,235, 12.3 and 0.05 with
/// three digits.
pub fn short(value: f64, digits: usize) -> String {
    let most = digits.saturating_sub(1);
    // Fewer decimals as soon as rounding gives the number one more digit before the point.
    let decimals = (0..=most).rev().find(|&decimals| {
        let limit = 10f64.powi((digits - decimals) as i32) - 0.5 * 10f64.powi(-(decimals as i32));
        value.abs() < limit
    });
    grouped(&format!("{value:.*}", decimals.unwrap_or(0)))
}

/// A number with `digits` significant digits and all digits before the point: 118,026, 55.2 and 0.123 with three
/// digits. Very small and very large numbers are in scientific notation; what is not finite is a dash.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let most = digits.saturating_sub(1) as i32;
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e15).contains(&size) {
        return format!("{value:.*e}", most as usize);
    }
    let decimals = (most - size.log10().floor() as i32).max(0) as usize;
    grouped(&format!("{value:.decimals$}"))
}

/// A mean with its standard error, both [`short`]: 12.3 ± 0.45.
pub fn plus_minus(mean: f64, stderr: f64, digits: usize) -> String {
    format!("{} ± {}", short(mean, digits), short(stderr, digits))
}

/// A value with at most so many decimals, without zeros at the end: 12.5, 3, 0.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A number in a sentence, without zeros at the end: four decimals, or one from a thousand on. Numbers that four
/// decimals would hide are in scientific notation; what is not finite is a dash.
pub fn rounded(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "–".to_owned(),
        size if size >= 1000.0 => grouped(&trimmed(value, 1)),
        size if size >= 1e-3 || size == 0.0 => grouped(&trimmed(value, 4)),
        _ => {
            let text = format!("{value:.3e}");
            let (digits, exponent) = text.split_once('e').expect("scientific notation has an exponent");
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// The label of a tick at `value` on an axis whose ticks are `step` apart: 250k, 1.5M, 0.05, 10⁹.
pub fn tick(value: f64, step: f64) -> String {
    let size = value.abs();
    if size < step * 1e-6 {
        return "0".to_owned();
    }
    if !(1e-4..1e9).contains(&size) {
        return power_of_ten(value);
    }
    let (unit, suffix) = match size {
        s if s >= 1e6 => (1e6, "M"),
        s if s >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = decimals_of(step / unit);
    // After 900k comes 1M, not 1.0M.
    if suffix.is_empty() { format!("{value:.decimals$}") } else { trimmed(value / unit, decimals) + suffix }
}

/// An elapsed or remaining time: 0.8 s, 15.9 s, 3 min 20 s, 2 h 5 min.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "–".to_owned();
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..360_000 => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
        _ => format!("{} h", thousands(whole / 3600)),
    }
}

/// A number of bytes in decimal units, with at most three digits: 850 kB, 2.4 GB, 500 TB.
pub fn bytes(count: f64) -> String {
    let (mut value, mut unit) = (count, "bytes");
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    let decimals = usize::from(unit != "bytes" && value < 9.95);
    format!("{} {unit}", grouped(&format!("{value:.decimals$}")))
}

/// The text with control characters escaped, so that a terminal does not interpret them. Marks that change the
/// direction of text are escaped too: they can make a name look like another one.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if is_invisible(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

fn is_invisible(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with at most about this many characters: of a longer one, the first and the last ones.
pub fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let end: String = text.chars().skip(count - most / 4).collect();
    text.chars().take(most - most / 4).chain(['…']).collect::<String>() + &end
}

/// A word of a command line, in single quotes where a shell needs them.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.,:/@+=%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The text with every minus sign as the typographic character.
pub fn typographic(text: &str) -> String {
    text.replace('-', "−")
}

/// Puts a comma before every third digit of the whole part of a decimal number.
fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = digits.find('.').map_or((digits, ""), |point| digits.split_at(point));
    let mut text = sign.to_owned();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// The number of decimals that multiples of `step` have.
fn decimals_of(step: f64) -> usize {
    let exact = |decimals: &usize| {
        let unit = 10f64.powi(*decimals as i32);
        ((step * unit).round() / unit - step).abs() < step * 1e-6
    };
    (0..9).find(exact).unwrap_or(9)
}

/// 10⁹, 2.5×10⁻⁷.
fn power_of_ten(value: f64) -> String {
    let exponent = value.abs().log10().floor() as i32;
    let superscript = |c: char| match c.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    let power: String = exponent.to_string().chars().map(superscript).collect();
    match trimmed(value / 10f64.powi(exponent), 2).as_str() {
        "1" => format!("10{power}"),
        digits => format!("{digits}×10{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_where_they_need_it() {
        assert_eq!(shell_word("out/log-1.csv"), "out/log-1.csv");
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn bytes_have_a_unit_and_at_most_three_digits() {
        for (count, expected) in [
            (0.0, "0 bytes"),
            (999.0, "999 bytes"),
            (1000.0, "1.0 kB"),
            (2.44e9, "2.4 GB"),
            (9.96e9, "10 GB"),
            (999.6e9, "1.0 TB"),
            (5e14, "500 TB"),
            (1e24, "1,000,000 EB"),
        ] {
            assert_eq!(bytes(count), expected);
        }
    }

    #[test]
    fn long_texts_keep_their_ends_and_control_characters_are_escaped() {
        assert_eq!(shortened("0123456789", 8), "012345…89");
        assert_eq!(shortened("ääää", 4), "ääää");
        assert_eq!(visible("a\u{1b}[2J\u{9b}\n→"), "a\\u{1b}[2J\\u{9b}\\n→");
    }

    #[test]
    fn thousands_are_separated_by_commas() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn short_numbers_keep_three_or_four_digits() {
        let three = [1_234_567.8, -1500.2, 99.96, 99.6, 12.34, 9.996, 1.234, 0.0, 0.049].map(|value| short(value, 3));
        assert_eq!(three, ["1,234,568", "-1,500", "100", "99.6", "12.3", "10.0", "1.23", "0.00", "0.05"]);
        let four = [1_234_567.8, -1500.0, 123.456, 12.346, 1.2346].map(|value| short(value, 4));
        assert_eq!(four, ["1,234,568", "-1,500", "123.5", "12.35", "1.235"]);
        assert_eq!(plus_minus(12.34, 0.456, 3), "12.3 ± 0.46");
    }

    #[test]
    fn rounded_numbers_have_no_noise_and_are_not_hidden() {
        for (value, text) in [
            (0.099_999_999_999_999_98, "0.1"),
            (99.999_999_999_999_97, "100"),
            (0.150_817_144, "0.1508"),
            (10_001.8, "10,001.8"),
            (714_105.96, "714,106"),
            (999.999_99, "1,000"),
            (0.0, "0"),
            (2.5e-6, "2.5e-6"),
            (-0.25, "-0.25"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(rounded(value), text);
        }
    }

    #[test]
    fn significant_digits_are_kept_at_every_size() {
        for (value, text) in [
            (118_026.4, "118,026"),
            (1_234_567.0, "1,234,567"),
            (999.0, "999"),
            (55.25, "55.2"),
            (5.0, "5.00"),
            (0.123_45, "0.123"),
            (-2_500.0, "-2,500"),
            (0.0, "0"),
            (1.5e-5, "1.50e-5"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(significant(value, 3), text);
        }
        assert_eq!(typographic(&significant(-1.5e-5, 3)), "−1.50e−5");
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        let labels = [(0.0, 1.0), (0.05, 0.05), (0.5, 0.05), (250e3, 50e3), (1e6, 1e5), (1.5e6, 5e5), (-20.0, 10.0)];
        assert_eq!(labels.map(|(at, step)| tick(at, step)), ["0", "0.05", "0.50", "250k", "1M", "1.5M", "-20"]);
        assert_eq!([1e9, 2.5e-7].map(|at| tick(at, at)), ["10⁹", "2.5×10⁻⁷"]);
    }

    #[test]
    fn trimmed_numbers_have_no_zeros_at_the_end() {
        assert_eq!([12.5, 3.0, -0.001, 100.0].map(|value| trimmed(value, 2)), ["12.5", "3", "0", "100"]);
        assert_eq!(trimmed(120.0, 0), "120");
    }

    #[test]
    fn durations_use_the_largest_units() {
        assert_eq!(
            [0.84, 15.9, 200.0, 7500.0, f64::INFINITY].map(duration),
            ["0.8 s", "15.9 s", "3 min 20 s", "2 h 5 min", "–"]
        );
    }
}
