//! Families from JSON lines: one object per row, with the keys of the first line as columns.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::cell::Cell;
use super::collect::Collector;
use super::options::ReadOptions;
use super::source::broken;
use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// What a line should look like.
const EXAMPLE: &str = r#"such as {"series": "a", "t": 1, "y": 0.5}"#;

/// Collects the rows of a file of JSON lines; keys may come in any order, and be left out for nothing.
///
/// # Errors
/// [`Error::Data`] with row and column; [`Error::Io`].
pub(crate) fn collect<'a>(
    file: &'a Path,
    mut source: Box<dyn BufRead + '_>,
    options: &ReadOptions,
) -> Result<Collector<'a>> {
    let mut reading: Option<Reading<'a>> = None;
    let (mut line, mut row) = (Vec::new(), 0);
    loop {
        line.clear();
        row += 1;
        if source.read_until(b'\n', &mut line).map_err(|error| broken(file, error))? == 0 {
            break;
        }
        let start = if row == 1 && line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        if line[start..].trim_ascii().is_empty() {
            continue;
        }
        let object = parse(file, row, &line[start..])?;
        match &mut reading {
            Some(reading) => reading.push(row, object)?,
            None => reading.insert(Reading::new(file, &object, options)?).push(row, object)?,
        }
    }
    match reading {
        Some(reading) => Ok(reading.collector),
        None => Err(Error::data(file, Place::default(), Problem::NoRows { found: "an empty file" })),
    }
}

/// The keys of the first line, and the rows so far.
struct Reading<'a> {
    collector: Collector<'a>,
    positions: HashMap<String, usize>,
    /// The values of the current line by position, with the row that set them.
    values: Vec<(u64, Scalar)>,
}

impl<'a> Reading<'a> {
    fn new(file: &'a Path, first: &Object, options: &ReadOptions) -> Result<Self> {
        let names: Vec<String> = first.0.iter().map(|(name, _)| name.clone()).collect();
        let positions = names.iter().cloned().zip(0..).collect();
        let values = names.iter().map(|_| (0, Scalar::Null)).collect();
        Ok(Self { collector: Collector::new(file, names, options)?, positions, values })
    }

    fn push(&mut self, row: u64, object: Object) -> Result<()> {
        for (name, value) in object.0 {
            let Some(&at) = self.positions.get(&name) else {
                let found = "a key that the first line does not have".to_string();
                return Err(self.error(row, &name, "all with the keys of the first", found));
            };
            if self.values[at].0 == row {
                return Err(self.error(row, &name, "each key once", "one twice".into()));
            }
            self.values[at] = (row, value);
        }
        let values = &self.values;
        self.collector.push(row, |at| {
            let (set_in, value) = &values[at];
            Ok(if *set_in == row { value.cell() } else { Cell::Empty })
        })
    }

    fn error(&self, row: u64, name: &str, expected: &'static str, found: String) -> Error {
        Error::data(self.collector.file, Place::cell(row, name), Problem::Json { expected, found })
    }
}

fn parse(file: &Path, row: u64, line: &[u8]) -> Result<Object> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let found = format!("byte 0x{:02x}", line[error.valid_up_to()]);
        Error::data(file, Place::row(row), Problem::NotUtf8 { found })
    })?;
    serde_json::from_str(text).map_err(|error| {
        let found = error.to_string().replace(" at line 1 column ", " at character ");
        Error::data(file, Place::row(row), Problem::Json { expected: EXAMPLE, found })
    })
}

/// Keys and values in the order of the line.
struct Object(Vec<(String, Scalar)>);

/// A plain value.
enum Scalar {
    Null,
    Integer(i64),
    Unsigned(u64),
    Number(f64),
    Text(String),
}

impl Scalar {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Empty,
            Self::Integer(value) => Cell::Integer(*value),
            Self::Unsigned(value) => Cell::Unsigned(*value),
            Self::Number(value) => Cell::Number(*value),
            Self::Text(text) => Cell::Text(text),
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Object(entries))
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, text, true, false or null")
    }

    fn visit_unit<E>(self) -> std::result::Result<Scalar, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Scalar, E> {
        Ok(Scalar::Integer(i64::from(value)))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Scalar, E> {
        Ok(Scalar::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Scalar, E> {
        Ok(i64::try_from(value).map_or(Scalar::Unsigned(value), Scalar::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Scalar, E> {
        Ok(Scalar::Number(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Scalar, E> {
        Ok(Scalar::Text(text.into()))
    }
}
