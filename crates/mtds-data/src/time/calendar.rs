//! Dates and times of day of the Gregorian calendar, as ISO 8601 writes them.
//!
//! ```text
//! days(y, m, d) = 365 y' + ⌊y'/4⌋ − ⌊y'/100⌋ + ⌊y'/400⌋ + ⌊(153 m' + 2)/5⌋ + d − 719 469
//! ```
//!
//! with years y' that begin in March and m' = 0 … 11 counted from March, so that the leap day is the last
//! day of a year; day 0 is 1970-01-01. Richards (2013), Calendars, in Urban & Seidelmann, Explanatory
//! Supplement to the Astronomical Almanac. No leap seconds, no local times: an offset is taken off.

use std::fmt::Write as _;

/// Microseconds per second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds per minute.
pub(crate) const MINUTE: i64 = 60 * SECOND;
/// Microseconds per hour.
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// Microseconds per day.
pub(crate) const DAY: i64 = 24 * HOUR;
/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_CYCLE: i64 = 146_097;
/// Days from the start of the March-based year 0 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A date, or a date with a time of day, read from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A date alone.
    Date(i64),
    /// A date and a time without an offset.
    Local(i64),
    /// A date and a time with an offset from UTC, which has been taken off.
    Utc(i64),
}

/// Reads `2024-01-31`, `2024-01-31T06:30`, `2024-01-31 06:30:15.25Z`, `…+02:00`, and `2024-01` as the first
/// of the month; microseconds since 1970-01-01. None if it is something else or finer than microseconds.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let bytes = text.as_bytes();
    let year = digits(bytes.get(..4)?)?;
    let month = separated(bytes, 4, b'-')?;
    if bytes.len() == 7 {
        return Some(Parsed::Date(days_from_civil(year, month, 1)? * DAY));
    }
    let day = days_from_civil(year, month, separated(bytes, 7, b'-')?)? * DAY;
    let Some((separator, time)) = bytes.get(10..)?.split_first() else {
        return Some(Parsed::Date(day));
    };
    matches!(separator, b'T' | b't' | b' ').then_some(())?;
    let (time_of_day, rest) = parse_time_of_day(time)?;
    let local = day + time_of_day;
    match rest {
        [] => Some(Parsed::Local(local)),
        [b'Z' | b'z'] => Some(Parsed::Utc(local)),
        [sign @ (b'+' | b'-'), offset @ ..] => {
            let offset = parse_offset(offset)?;
            Some(Parsed::Utc(if *sign == b'+' { local - offset } else { local + offset }))
        }
        _ => None,
    }
}

/// Microseconds of `HH:MM[:SS[.ffffff]]` and the bytes after it.
fn parse_time_of_day(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let hours = digits(bytes.get(..2)?).filter(|&hours| hours < 24)?;
    let minutes = separated(bytes, 2, b':').filter(|&minutes| minutes < 60)?;
    let mut micros = hours * HOUR + minutes * MINUTE;
    let mut rest = bytes.get(5..)?;
    if rest.first() == Some(&b':') {
        micros += digits(rest.get(1..3)?).filter(|&seconds| seconds < 60)? * SECOND;
        rest = &rest[3..];
        if matches!(rest.first(), Some(b'.' | b',')) {
            let n_digits = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            micros += fraction(&rest[1..=n_digits])?;
            rest = &rest[n_digits + 1..];
        }
    }
    Some((micros, rest))
}

/// Microseconds of the digits after the decimal point, of which those beyond the sixth must be 0.
fn fraction(decimals: &[u8]) -> Option<i64> {
    let (kept, beyond) = decimals.split_at(decimals.len().min(6));
    if kept.is_empty() || beyond.iter().any(|&digit| digit != b'0') {
        return None;
    }
    Some(digits(kept)? * 10i64.pow(6 - kept.len() as u32))
}

/// Microseconds of `HH:MM`, `HHMM` or `HH`.
fn parse_offset(bytes: &[u8]) -> Option<i64> {
    let hours = digits(bytes.get(..2)?).filter(|&hours| hours < 24)?;
    let minutes = match &bytes[2..] {
        [] => 0,
        [b':', minutes @ ..] | minutes if minutes.len() == 2 => digits(minutes)?,
        _ => return None,
    };
    (minutes < 60).then_some(hours * HOUR + minutes * MINUTE)
}

/// Two digits at `at + 1`, after `separator` at `at`.
fn separated(bytes: &[u8], at: usize, separator: u8) -> Option<i64> {
    (*bytes.get(at)? == separator).then_some(())?;
    digits(bytes.get(at + 1..at + 3)?)
}

/// A number of nothing but digits.
fn digits(bytes: &[u8]) -> Option<i64> {
    bytes
        .iter()
        .try_fold(0, |number: i64, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// Days since 1970-01-01 of a date that exists.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let march_year = if month <= 2 { year - 1 } else { year };
    let (cycle, year_of_cycle) = (march_year.div_euclid(400), march_year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    Some(cycle * DAYS_PER_CYCLE + day_of_cycle - EPOCH)
}

/// Year, month and day of a number of days since 1970-01-01.
pub(crate) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (cycle, day_of_cycle) = (days.div_euclid(DAYS_PER_CYCLE), days.rem_euclid(DAYS_PER_CYCLE));
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (cycle * 400 + year_of_cycle + i64::from(month <= 2), month, day)
}

/// Number of days of a month, 1 to 12.
pub(crate) fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Where a moment lies in the calendar.
pub(crate) struct InMonth {
    /// Months since year 0.
    pub month: i64,
    /// Microseconds since the month began.
    pub within: i64,
    /// Microseconds that the month has.
    pub length: i64,
}

/// The month of a moment.
pub(crate) fn in_month(micros: i64) -> InMonth {
    let (year, month, day) = civil_from_days(micros.div_euclid(DAY));
    InMonth {
        month: year * 12 + month - 1,
        within: (day - 1) * DAY + micros.rem_euclid(DAY),
        length: days_in_month(year, month) * DAY,
    }
}

/// The first moment of a month, counted since year 0.
pub(crate) fn month_start(month: i64) -> i64 {
    days_from_civil(month.div_euclid(12), month.rem_euclid(12) + 1, 1).unwrap_or_default() * DAY
}

/// `2024-01-31`.
pub(crate) fn format_date(micros: i64) -> String {
    let (year, month, day) = civil_from_days(micros.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2024-01-31T06:30:15`, with as many decimals as it needs.
pub(crate) fn format_date_time(micros: i64) -> String {
    let time = micros.rem_euclid(DAY);
    let mut text = format_date(micros);
    let (hours, minutes, seconds) = (time / HOUR, time % HOUR / MINUTE, time % MINUTE / SECOND);
    let _ = write!(text, "T{hours:02}:{minutes:02}:{seconds:02}");
    if time % SECOND != 0 {
        let _ = write!(text, ".{:06}", time % SECOND);
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: i64, month: i64, day: i64) -> i64 {
        days_from_civil(year, month, day).unwrap() * DAY
    }

    /// Walks the calendar day by day, which needs no formula.
    #[test]
    fn days_follow_each_other() {
        let (mut year, mut month, mut day) = (1599, 12, 31);
        let first = days_from_civil(year, month, day).unwrap();
        for days in first..first + 200_000 {
            assert_eq!(days_from_civil(year, month, day), Some(days));
            assert_eq!(civil_from_days(days), (year, month, day));
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(days_from_civil(1970, 1, 1), Some(0));
        assert_eq!(days_from_civil(2000, 2, 29), Some(11_016));
    }

    #[test]
    fn the_usual_ways_of_writing_are_read() {
        let moment = date(2024, 1, 31) + 6 * HOUR + 30 * MINUTE;
        for (text, parsed) in [
            ("2024-01-31", Parsed::Date(date(2024, 1, 31))),
            ("2024-02", Parsed::Date(date(2024, 2, 1))),
            ("2024-01-31T06:30", Parsed::Local(moment)),
            ("2024-01-31 06:30:00.000000000", Parsed::Local(moment)),
            ("2024-01-31T06:30:15.25Z", Parsed::Utc(moment + 15 * SECOND + 250_000)),
            ("2024-01-31T08:30+02:00", Parsed::Utc(moment)),
            ("2024-01-31T01:00:00-0530", Parsed::Utc(moment)),
            ("2024-01-31T08:30+02", Parsed::Utc(moment)),
        ] {
            assert_eq!(parse(text), Some(parsed), "{text}");
        }
    }

    #[test]
    fn dates_that_do_not_exist_are_not_read() {
        for text in [
            "",
            "2024",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-1-5",
            "31.01.2024",
            "2024-01-31T",
            "2024-01-31T24:00",
            "2024-01-31T06",
            "2024-01-31T06:60",
            "2024-01-31T06:30:61",
            "2024-01-31T06:30:00.1234567",
            "2024-01-31T06:30:00.",
            "2024-01-31T06:30+",
            "2024-01-31T06:30+25:00",
            "2024-01-31T06:30+1",
            "２０２４-01-31",
            "2024-01-31x06:30",
            "2024-01-3é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for micros in [0, -1, 1, 250_000, date(1850, 3, 7) + 5 * HOUR, date(2400, 2, 29) + DAY - 1] {
            assert_eq!(parse(&format_date_time(micros)), Some(Parsed::Local(micros)));
        }
        assert_eq!(format_date_time(250_000), "1970-01-01T00:00:00.25");
        assert_eq!(format_date(date(987, 6, 5)), "0987-06-05");
    }

    #[test]
    fn months_are_counted_and_measured() {
        let leap = in_month(date(2024, 2, 29) + HOUR);
        assert_eq!((leap.month, leap.within, leap.length), (2024 * 12 + 1, 28 * DAY + HOUR, 29 * DAY));
        assert_eq!(month_start(leap.month), date(2024, 2, 1));
        assert_eq!(month_start(in_month(-1).month), date(1969, 12, 1));
    }
}
