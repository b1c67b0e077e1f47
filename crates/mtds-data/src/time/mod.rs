//! Time as files tell it: integers, numbers or dates, in steps of one length.
//!
//! ```text
//! time(i, k) = start_i + k · step        sequence i, step k = 0, 1, …
//! ```

pub(crate) mod calendar;
mod step;

pub use step::Step;
pub(crate) use step::in_months;

use calendar::{DAY, Parsed};

use crate::write::Column;

/// How times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeKind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Dates: `2024-01-31`.
    Date,
    /// Dates with a time of day, of no stated offset: `2024-01-31T06:30:00`.
    DateTime,
    /// Dates with a time of day, in UTC: `2024-01-31T06:30:00Z`.
    UtcDateTime,
}

impl TimeKind {
    /// In words, for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Date => "a date",
            Self::DateTime => "a date and time without an offset",
            Self::UtcDateTime => "a date and time with an offset",
        }
    }

    /// The kind that can hold times of both kinds, if there is one.
    pub(crate) fn common(self, other: Self) -> Option<Self> {
        use TimeKind::{Date, DateTime, Integer, Number, UtcDateTime};
        match (self, other) {
            _ if self == other => Some(self),
            (Integer, Number) | (Number, Integer) => Some(Number),
            (Date, DateTime) | (DateTime, Date) => Some(DateTime),
            (Date, UtcDateTime) | (UtcDateTime, Date) => Some(UtcDateTime),
            _ => None,
        }
    }
}

/// One moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Time {
    /// For [`TimeKind::Integer`].
    Integer(i64),
    /// For [`TimeKind::Number`].
    Number(f64),
    /// Microseconds since 1970-01-01, for the three kinds with dates.
    Micros(i64),
}

impl Time {
    /// The time as files write it.
    #[must_use]
    pub fn format(self, kind: TimeKind) -> String {
        match (self, kind) {
            (Self::Integer(time), _) => time.to_string(),
            (Self::Number(time), _) => time.to_string(),
            (Self::Micros(time), TimeKind::Date) if time.rem_euclid(DAY) == 0 => calendar::format_date(time),
            (Self::Micros(time), TimeKind::UtcDateTime) => calendar::format_date_time(time) + "Z",
            (Self::Micros(time), _) => calendar::format_date_time(time),
        }
    }

    /// Reads an integer, a number or a date; None if it is none of them, or not finite.
    pub(crate) fn parse(text: &str) -> Option<(Self, TimeKind)> {
        if let Ok(time) = text.parse() {
            return Some((Self::Integer(time), TimeKind::Integer));
        }
        if let Some(parsed) = calendar::parse(text) {
            return Some(match parsed {
                Parsed::Date(time) => (Self::Micros(time), TimeKind::Date),
                Parsed::Local(time) => (Self::Micros(time), TimeKind::DateTime),
                Parsed::Utc(time) => (Self::Micros(time), TimeKind::UtcDateTime),
            });
        }
        let number = text.parse().ok().filter(|time: &f64| time.is_finite())?;
        Some((Self::Number(number), TimeKind::Number))
    }
}

/// The times of a family: where each sequence starts, and the step that they share.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeAxis {
    /// How times are written.
    pub kind: TimeKind,
    /// From one row of a sequence to the next.
    pub step: Step,
    /// The time of the first row of each sequence, in the order of the family.
    pub starts: Vec<Time>,
}

impl TimeAxis {
    /// The times 1, 2, 3, … for `n_seq` sequences that have no others.
    #[must_use]
    pub fn counted(n_seq: usize) -> Self {
        let starts = vec![Time::Integer(1); n_seq];
        Self { kind: TimeKind::Integer, step: Step::Integer(1), starts }
    }

    /// The time of row `k`, counted from 0, of sequence number `i`; rows beyond the last are the future.
    ///
    /// A sequence that the axis does not know starts where the first one does.
    #[must_use]
    pub fn time(&self, i: usize, k: usize) -> Time {
        let start = self.starts.get(i).or(self.starts.first()).copied().unwrap_or(Time::Integer(1));
        self.step.from(start, k)
    }

    /// [`TimeAxis::time`] as files write it.
    #[must_use]
    pub fn format(&self, i: usize, k: usize) -> String {
        self.time(i, k).format(self.kind)
    }

    /// A column of the times of rows `(i, k)`, for a [`crate::Table`]: integers, numbers or text.
    #[must_use]
    pub fn column(&self, rows: impl IntoIterator<Item = (usize, usize)>) -> Column {
        let mut times = rows.into_iter().map(|(i, k)| self.time(i, k));
        match self.kind {
            TimeKind::Integer => Column::Integer(
                times.map(|time| if let Time::Integer(time) = time { time } else { 0 }).collect(),
            ),
            TimeKind::Number => Column::Number(
                times.map(|time| if let Time::Number(time) = time { time } else { f64::NAN }).collect(),
            ),
            _ => Column::Text(times.by_ref().map(|time| time.format(self.kind)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_tells_the_kind_of_time() {
        for (text, kind) in [
            ("-3", TimeKind::Integer),
            ("2024", TimeKind::Integer),
            ("1e-3", TimeKind::Number),
            (".5", TimeKind::Number),
            ("2024-01-31", TimeKind::Date),
            ("2024-01-31T00:00", TimeKind::DateTime),
            ("2024-01-31T00:00Z", TimeKind::UtcDateTime),
        ] {
            let (time, found) = Time::parse(text).unwrap();
            assert_eq!(found, kind, "{text}");
            assert_eq!(Time::parse(&time.format(kind)).unwrap().0, time, "{text}");
        }
        for text in ["", "nan", "inf", "1e999", "soon", "1 2"] {
            assert!(Time::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn time_goes_on_beyond_the_last_row() {
        let axis = TimeAxis {
            kind: TimeKind::Date,
            step: Step::Micros(7 * DAY),
            starts: vec![Time::parse("2024-02-26").unwrap().0],
        };
        assert_eq!((axis.format(0, 0), axis.format(0, 1)), ("2024-02-26".into(), "2024-03-04".into()));
        assert_eq!(axis.format(5, 1), "2024-03-04", "an unknown sequence");
        assert_eq!(axis.column([(0, 1)]), Column::Text(vec!["2024-03-04".into()]));
        assert_eq!(TimeAxis::counted(2).column([(0, 0), (1, 4)]), Column::Integer(vec![1, 5]));
    }
}
