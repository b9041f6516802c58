//! Times: milliseconds since 1970 inside, RFC 3339 in UTC outside. Nothing else reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// The clock of the machine, made to rise: if it jumps back, time stands still until it has caught up.
#[derive(Debug, Default)]
pub(crate) struct RisingClock {
    latest: u64,
}

impl RisingClock {
    /// A clock that shows at least this.
    pub(crate) fn from(latest: u64) -> Self {
        Self { latest }
    }

    pub(crate) fn now(&mut self) -> u64 {
        self.read(machine_time())
    }

    /// What the clock shows if that of the machine shows this.
    fn read(&mut self, machine: u64) -> u64 {
        self.latest = self.latest.max(machine);
        self.latest
    }
}

/// What the clock of the machine shows.
pub(crate) fn machine_time() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

const DAY: u64 = 24 * 3600 * 1000;

/// The date of a day, as year, month, day. The years 0000 to 9999 are covered, and more.
fn date(days: u64) -> (u64, u64, u64) {
    // Howard Hinnant's civil_from_days: years begin in March, so that leap days come last.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// The number of days from 1970 to a date.
fn days_to(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).checked_sub(719_468)
}

/// A time as RFC 3339 writes it, in UTC with milliseconds.
pub(crate) fn timestamp(milliseconds: u64) -> String {
    let (days, rest) = (milliseconds / DAY, milliseconds % DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", rest % 1000)
}

/// The time that an RFC 3339 text in UTC stands for: `2026-09-20T08:00:41Z`, with or without a fraction.
pub(crate) fn parse_timestamp(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if !text.is_ascii() || bytes.len() < 20 || marks.iter().any(|&(at, mark)| bytes[at] != mark) {
        return None;
    }
    if !b"Tt ".contains(&bytes[10]) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = &text[from..to];
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let zone = text[19..].strip_suffix(['Z', 'z']).or_else(|| text[19..].strip_suffix("+00:00"))?;
    let fraction = match zone {
        "" => 0,
        digits => {
            let digits = digits.strip_prefix('.').filter(|digits| (1..=9).contains(&digits.len()))?;
            let padded = format!("{digits:0<3}");
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| padded[..3].parse::<u64>().ok()).flatten()?
        }
    };
    let days = days_to(year, month, day)?;
    let valid = hour < 24 && minute < 60 && second < 61 && date(days) == (year, month, day);
    valid.then(|| days * DAY + ((hour * 60 + minute) * 60 + second) * 1000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of days of a month, by the rule of the calendar.
    fn length(year: u64, month: u64) -> u64 {
        let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        match month {
            2 => 28 + u64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    #[test]
    fn every_day_from_1970_to_2400_has_its_date() {
        let mut day_number = 0;
        for year in 1970..=2400 {
            for month in 1..=12 {
                for day in 1..=length(year, month) {
                    assert_eq!(date(day_number), (year, month, day));
                    let text = timestamp(day_number * DAY + 45_296_789);
                    assert_eq!(text, format!("{year:04}-{month:02}-{day:02}T12:34:56.789Z"));
                    assert_eq!(parse_timestamp(&text), Some(day_number * DAY + 45_296_789));
                    day_number += 1;
                }
            }
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        assert_eq!(parse_timestamp("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(parse_timestamp("1970-01-01 00:00:01.5+00:00"), Some(1500));
        let wrong = [
            "",
            "1970-01-01",
            "1970-02-30T00:00:00Z",
            "1970-13-01T00:00:00Z",
            "1970-00-01T00:00:00Z",
            "1970-01-00T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:00:00",
            "1970-01-01T00:00:00+02:00",
            "1970-01-01T00:00:00.Z",
            "1969-12-31T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "+970-01-01T00:00:00Z",
            "1970-01-01T00:00:00.1234567890Z",
            "1970-01-01T00:00:0äZ",
            "1970-01-01X00:00:00Z",
        ];
        for text in wrong {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_that_jumps_back_stands_still() {
        let mut clock = RisingClock::from(100);
        let shown = [90, 120, 60, 121].map(|machine| clock.read(machine));
        assert_eq!(shown, [100, 120, 120, 121]);
    }
}
