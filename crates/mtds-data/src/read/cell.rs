//! One value of a file, before it is known what it is for.

use crate::problem::Problem;
use crate::time::{Time, TimeKind};

/// Longest part of a cell that a message repeats, in characters.
const N_SHOWN: usize = 40;

/// One value as its file gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Nothing.
    Empty,
    /// Text, which may spell a number or a time.
    Text(&'a str),
    /// A whole number.
    Integer(i64),
    /// A whole number beyond those, such as a hash that names a sequence.
    Unsigned(u64),
    /// A number; NaN is nothing.
    Number(f64),
    /// A moment; only Parquet and Arrow have them as such.
    #[cfg_attr(not(any(feature = "parquet", feature = "arrow")), allow(dead_code))]
    Time(Time, TimeKind),
    /// Something that is no value of a family, by the name of its type.
    #[cfg_attr(not(any(feature = "parquet", feature = "arrow")), allow(dead_code))]
    Other(&'a str),
}

/// What a cell says where a number is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    /// Nothing: empty, NaN, NA, null.
    Missing,
    /// A finite number.
    Finite(f64),
    /// An infinite number, or one beyond the largest.
    Infinite,
    /// Something else.
    Other,
}

impl<'a> Cell<'a> {
    /// The cell as a number.
    pub fn value(self) -> Value {
        match self {
            Self::Empty => Value::Missing,
            Self::Integer(value) => Value::Finite(value as f64),
            Self::Unsigned(value) => Value::Finite(value as f64),
            Self::Number(value) => classify(value),
            Self::Text(text) => parse_value(text.trim_ascii()),
            Self::Time(..) | Self::Other(_) => Value::Other,
        }
    }

    /// The cell as a moment; None if it is none.
    pub fn time(self) -> Option<(Time, TimeKind)> {
        match self {
            Self::Empty | Self::Other(_) => None,
            Self::Unsigned(value) => Some((Time::Number(value as f64), TimeKind::Number)),
            Self::Integer(value) => Some((Time::Integer(value), TimeKind::Integer)),
            Self::Number(value) => value.is_finite().then_some((Time::Number(value), TimeKind::Number)),
            Self::Text(text) => Time::parse(text.trim_ascii()),
            Self::Time(time, kind) => Some((time, kind)),
        }
    }

    /// Whether the cell says nothing as the name of a sequence or a label.
    pub fn is_empty(self) -> bool {
        matches!(self, Self::Empty | Self::Text(""))
    }

    /// Calls `use_text` with the cell as text; only numbers and times need to be spelled out.
    pub fn with_text<T>(self, use_text: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::Empty => use_text(""),
            Self::Text(text) | Self::Other(text) => use_text(text),
            Self::Integer(value) => use_text(&value.to_string()),
            Self::Unsigned(value) => use_text(&value.to_string()),
            Self::Number(value) => use_text(&value.to_string()),
            Self::Time(time, kind) => use_text(&time.format(kind)),
        }
    }

    /// The beginning of the cell, for a message.
    pub fn shown(self) -> String {
        self.with_text(|text| match text.char_indices().nth(N_SHOWN) {
            None => text.to_string(),
            Some((end, _)) => format!("{}…", &text[..end]),
        })
    }

    /// Why this cell is no number, and what to try.
    pub fn not_a_number(self) -> Problem {
        let found = self.shown();
        let decimal_comma = found.contains(',') && found.replace(',', ".").parse::<f64>().is_ok();
        let advice = match self {
            _ if decimal_comma => "write a decimal point",
            Self::Time(..) => "name it as the times, or leave the column out",
            _ => "correct the cell, or leave the column out",
        };
        Problem::NotANumber { found, advice }
    }
}

fn classify(value: f64) -> Value {
    match value {
        _ if value.is_nan() => Value::Missing,
        _ if value.is_infinite() => Value::Infinite,
        _ => Value::Finite(value),
    }
}

fn parse_value(text: &str) -> Value {
    if let Ok(value) = text.parse() {
        return classify(value);
    }
    let is_missing = text.is_empty()
        || ["na", "n/a", "null", "none"].iter().any(|missing| text.eq_ignore_ascii_case(missing));
    if is_missing { Value::Missing } else { Value::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_number_or_nothing_or_else() {
        for (text, value) in [
            ("1.5", Value::Finite(1.5)),
            (" -2e3 ", Value::Finite(-2000.0)),
            ("", Value::Missing),
            ("NaN", Value::Missing),
            ("NA", Value::Missing),
            ("null", Value::Missing),
            ("inf", Value::Infinite),
            ("1e999", Value::Infinite),
            ("1,5", Value::Other),
            ("0x10", Value::Other),
        ] {
            assert_eq!(Cell::Text(text).value(), value, "{text}");
        }
        assert_eq!(Cell::Number(f64::NAN).value(), Value::Missing);
    }

    #[test]
    fn a_message_is_short_and_to_the_point() {
        let text = Cell::Text("1,5").not_a_number().to_string();
        assert!(text.contains("found `1,5`; write a decimal point"), "{text}");
        let text = Cell::Text(&"ä".repeat(500)).not_a_number().to_string();
        assert!(text.contains('…') && text.chars().count() < 150, "{text}");
    }
}
