//! The length of a step in time, and how it is written.

use std::fmt;
use std::str::FromStr;

use super::Time;
use super::calendar::{DAY, HOUR, MINUTE, SECOND, in_month, month_start};

/// Significant decimals of times that are computed; beyond them there is only rounding.
const DECIMALS: i32 = 12;

/// From one row to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Between integer times.
    Integer(i64),
    /// Between numbers.
    Number(f64),
    /// Between dates, in microseconds.
    Micros(i64),
    /// Between dates, in months of the calendar; the day of the month stays, where it exists.
    Months(i64),
    /// Between the last days of months, in months.
    MonthEnds(i64),
}

impl Step {
    /// `k` steps after `start`; a time that no number can hold ends at the largest.
    pub(crate) fn from(self, start: Time, k: usize) -> Time {
        let k = i64::try_from(k).unwrap_or(i64::MAX);
        match (self, start) {
            (Self::Integer(step), Time::Integer(time)) => {
                Time::Integer(time.saturating_add(step.saturating_mul(k)))
            }
            (Self::Micros(step), Time::Micros(time)) => {
                Time::Micros(time.saturating_add(step.saturating_mul(k)))
            }
            (Self::Months(step), Time::Micros(time)) => {
                Time::Micros(add_months(time, step.saturating_mul(k)))
            }
            (Self::MonthEnds(step), Time::Micros(time)) => {
                let target = in_month(time).month.saturating_add(step.saturating_mul(k)).clamp(0, 120_000);
                Time::Micros(month_start(target + 1) - DAY)
            }
            (step, Time::Number(time)) => Time::Number(tidy(time, step.size(), k as f64)),
            (_, start) => start,
        }
    }

    /// Whether another step takes as long; `None` where that cannot be told, as between 1 and a day.
    #[must_use]
    pub fn is_as_long_as(&self, other: &Self) -> Option<bool> {
        let is_number = |step: &Self| matches!(step, Self::Integer(_) | Self::Number(_));
        let rounding = 1e-9 * self.size().abs();
        match (self, other) {
            (Self::Months(a) | Self::MonthEnds(a), Self::Months(b) | Self::MonthEnds(b)) => Some(a == b),
            (a, b) if is_number(a) == is_number(b) => Some((a.size() - b.size()).abs() <= rounding),
            _ => None,
        }
    }

    /// How many steps lie between two times as files write them; `None` where one is no time, or has no such steps.
    #[must_use]
    pub fn count(&self, from: &str, to: &str) -> Option<f64> {
        let time = |text: &str| Time::parse(text.trim()).map(|(time, _)| time);
        let number = |time| match time {
            Time::Integer(time) => Some(time as f64),
            Time::Number(time) => Some(time),
            Time::Micros(_) => None,
        };
        match (self, time(from)?, time(to)?) {
            (Self::Months(step) | Self::MonthEnds(step), Time::Micros(from), Time::Micros(to)) => {
                Some((in_months(to) - in_months(from)) / *step as f64)
            }
            (Self::Micros(step), Time::Micros(from), Time::Micros(to)) => {
                Some((i128::from(to) - i128::from(from)) as f64 / *step as f64)
            }
            (Self::Integer(_) | Self::Number(_), from, to) => {
                Some((number(to)? - number(from)?) / self.size())
            }
            _ => None,
        }
    }

    /// The step as a number; months as their mean length in microseconds.
    pub(crate) fn size(self) -> f64 {
        match self {
            Self::Integer(step) | Self::Micros(step) => step as f64,
            Self::Number(step) => step,
            Self::Months(step) | Self::MonthEnds(step) => step as f64 * 30.436_875 * DAY as f64,
        }
    }
}

/// A moment in months since the beginning of time, parts of one by its length.
pub(crate) fn in_months(time: i64) -> f64 {
    let at = in_month(time);
    at.month as f64 + at.within as f64 / at.length as f64
}

/// `start + k step`, rounded to the decimals that the numbers going into it can carry.
fn tidy(start: f64, step: f64, k: f64) -> f64 {
    let time = start + k * step;
    if k == 0.0 || !time.is_finite() {
        return time;
    }
    let largest = start.abs().max((k * step).abs());
    let decimals = DECIMALS - largest.log10().floor() as i32;
    if !(0..=300).contains(&decimals) {
        return time;
    }
    format!("{time:.*}", decimals as usize).parse().unwrap_or(time)
}

/// The same day and time of day so many months on, or the last day of that month.
fn add_months(time: i64, months: i64) -> i64 {
    let from = in_month(time);
    // Years 0 to 9999, the ones that ISO 8601 writes with four digits.
    let start = month_start(from.month.saturating_add(months).clamp(0, 119_999));
    let to = in_month(start);
    let day = (from.within / DAY).min(to.length / DAY - 1);
    start + day * DAY + from.within % DAY
}

impl FromStr for Step {
    type Err = String;

    /// Reads `0.5`, `10`, or with a unit of time `30s`, `15min`, `6h`, `1d`, `2w`, `1mo`, `1y`.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "expected a step above 0 such as 0.5, 10, 30s, 15min, 6h, 1d, 2w, 1mo or 1y, found `{text}`"
            )
        };
        let text = text.trim();
        let split =
            text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let number: f64 =
            number.trim().parse().ok().filter(|n: &f64| *n > 0.0 && *n < 1e15).ok_or_else(expected)?;
        let micros = |unit: i64| {
            let micros = number * unit as f64;
            if !(1.0..=1e17).contains(&micros) {
                Err(expected())
            } else {
                Ok(Self::Micros(micros.round() as i64))
            }
        };
        let months = |unit: f64| {
            let months = number * unit;
            if months.fract() != 0.0 || months > 1e5 {
                Err(expected())
            } else {
                Ok(Self::Months(months as i64))
            }
        };
        match unit {
            "" if number.fract() == 0.0 => Ok(Self::Integer(number as i64)),
            "" => Ok(Self::Number(number)),
            "us" => micros(1),
            "ms" => micros(1000),
            "s" => micros(SECOND),
            "min" => micros(MINUTE),
            "h" => micros(HOUR),
            "d" => micros(DAY),
            "w" => micros(7 * DAY),
            "mo" => months(1.0),
            "y" => months(12.0),
            _ => Err(expected()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Integer(step) => write!(f, "{step}"),
            Self::Number(step) => write!(f, "{step}"),
            Self::Months(step) | Self::MonthEnds(step) if step % 12 == 0 => write!(f, "{}y", step / 12),
            Self::Months(step) | Self::MonthEnds(step) => write!(f, "{step}mo"),
            Self::Micros(step) => {
                let units =
                    [(7 * DAY, "w"), (DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"), (1000, "ms")];
                let unit = units.into_iter().find(|(unit, _)| step % unit == 0).unwrap_or((1, "us"));
                write!(f, "{}{}", step / unit.0, unit.1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TimeKind;
    use super::*;

    fn after(start: &str, step: Step, k: usize) -> String {
        let (time, kind) = Time::parse(start).unwrap();
        step.from(time, k).format(kind)
    }

    #[test]
    fn steps_are_written_as_they_are_read() {
        for text in ["1", "12", "0.5", "250us", "40ms", "30s", "15min", "6h", "1d", "2w", "1mo", "5y"] {
            assert_eq!(text.parse::<Step>().unwrap().to_string(), text);
        }
        assert_eq!("1e-3".parse(), Ok(Step::Number(0.001)));
        assert_eq!("0.5h".parse(), Ok(Step::Micros(30 * MINUTE)));
        for text in ["", "0", "-1", "nan", "inf", "1q", "h", "0.5mo", "1e300", "1e-9s", "1 d d"] {
            assert!(text.parse::<Step>().is_err(), "{text}");
        }
    }

    #[test]
    fn steps_between_times_are_counted() {
        let count = |step: &str, from: &str, to: &str| step.parse::<Step>().unwrap().count(from, to);
        assert_eq!(count("0.25", "1", "2.5"), Some(6.0));
        assert_eq!(count("2", "3", "6"), Some(1.5));
        assert_eq!(count("6h", "2024-01-01", "2024-01-02T03:00"), Some(4.5));
        assert_eq!(count("1mo", "2024-01-01", "2024-03-01"), Some(2.0));
        assert_eq!(
            [count("1", "2024-01-01", "2024-01-02"), count("1d", "1", "2"), count("1", "a", "2")],
            [None; 3]
        );
    }

    #[test]
    fn months_keep_the_day_where_it_exists() {
        assert_eq!(after("2024-01-31", Step::Months(1), 1), "2024-02-29");
        assert_eq!(after("2024-01-31", Step::Months(1), 2), "2024-03-31");
        assert_eq!(after("2023-11-05", Step::Months(3), 1), "2024-02-05");
        assert_eq!(after("2024-02-29", Step::MonthEnds(1), 1), "2024-03-31");
        assert_eq!(after("2024-02-29", Step::Months(12), usize::MAX), "9999-12-29");
    }

    #[test]
    fn numbers_stay_short() {
        assert_eq!(after("0.5", Step::Number(0.1), 3), "0.8");
        assert_eq!(after("0.1", Step::Number(0.2), 1), "0.3");
        assert_eq!(after("1e-9", Step::Number(1e-9), 2), "0.000000003");
        assert_eq!(after("1e300", Step::Number(1e300), 1), Time::Number(2e300).format(TimeKind::Number));
    }

    #[test]
    fn time_ends_instead_of_overflowing() {
        assert_eq!(Step::Integer(i64::MAX).from(Time::Integer(5), 3), Time::Integer(i64::MAX));
        assert_eq!(Step::Micros(2).from(Time::Micros(i64::MAX), usize::MAX), Time::Micros(i64::MAX));
    }
}
