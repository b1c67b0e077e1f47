//! One line of input: which sequence, and the outputs and inputs of one step.
//!
//! ```text
//! {"series": "a", "y": [0.3, null], "u": [1.0], "t": 7, "future": [[0.0], [0.0]]}      one step
//! {"series": "a", "y": [0.3, null], "attributes": {"diet": "oats"}}                   one step, and what stays as it is
//! {"series": "a", "end": true}                                                        the last of a sequence
//! ```

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Longest line, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;
/// Longest name of a sequence and longest time, in bytes: both are kept for each sequence.
const LONGEST_NAME: usize = 256;
/// The sequence of lines that name none.
pub const DEFAULT_SERIES: &str = "default";
/// What a line may hold.
const KEYS: [&str; 7] = ["series", "t", "y", "u", "future", "attributes", "end"];

/// Sizes that a line must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// Outputs of the model.
    pub outputs: usize,
    /// Inputs of the model that may change from step to step.
    pub inputs: usize,
    /// Steps to come whose inputs are used.
    pub horizon: usize,
}

/// What a line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// One step of a sequence.
    Observe(Observation),
    /// The sequence is over.
    End(String),
}

/// One step of a sequence; all numbers are finite but for NaN where an output is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Which sequence.
    pub series: String,
    /// When: a number or text, as it came.
    pub time: Option<Value>,
    /// Outputs, NaN where missing.
    pub outputs: Vec<f64>,
    /// Inputs that may change from step to step.
    pub inputs: Vec<f64>,
    /// What does not change within the sequence, by column; empty where the line says nothing of it.
    pub attributes: Map<String, Value>,
    /// Inputs of the steps to come, horizon rows, row by row.
    pub future: Option<Vec<f64>>,
}

/// Reads one line.
///
/// # Errors
/// What is wrong with it, what was expected, and what to try.
pub fn parse(text: &[u8], widths: Widths) -> Result<Request, String> {
    let object = match serde_json::from_slice(text).map_err(|error| format!("not JSON: {error}"))? {
        Line::Object(entries) => once_each(entries)?,
        Line::Other(value) => {
            return Err(format!("expected an object such as {{\"y\": 0.3}}, found {}", kind(&value)));
        }
    };
    if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("no key `{}`; there are: {}", short(key), KEYS.join(", ")));
    }
    let series = series(&object)?;
    match object.get("end") {
        Some(Value::Bool(true)) => return Ok(Request::End(series)),
        None | Some(Value::Bool(false)) => (),
        Some(other) => return Err(format!("`end`: expected true or false, found {}", kind(other))),
    }
    Ok(Request::Observe(Observation {
        series,
        time: time(&object)?,
        outputs: outputs(&object, widths.outputs)?,
        inputs: inputs(&object, widths.inputs)?,
        attributes: attributes(&object)?,
        future: future(&object, widths)?,
    }))
}

/// A line before it is known whether it names each key once; a map would keep the last value of a key and drop the others.
enum Line {
    Object(Vec<(String, Value)>),
    Other(Value),
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lines;
        impl<'de> Visitor<'de> for Lines {
            type Value = Line;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
                let mut entries = vec![];
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Line::Object(entries))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Line, A::Error> {
                Value::deserialize(SeqAccessDeserializer::new(seq)).map(Line::Other)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Line, E> {
                Ok(Line::Other(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Line, E> {
                Ok(Line::Other(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Line, E> {
                Ok(Line::Other(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Line, E> {
                Ok(Line::Other(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Line, E> {
                Ok(Line::Other(value.into()))
            }
            fn visit_unit<E>(self) -> Result<Line, E> {
                Ok(Line::Other(Value::Null))
            }
        }
        deserializer.deserialize_any(Lines)
    }
}

fn once_each(entries: Vec<(String, Value)>) -> Result<Map<String, Value>, String> {
    let mut object = Map::new();
    for (key, value) in entries {
        if object.contains_key(&key) {
            return Err(format!("`{}`: expected once, found twice; leave one out", short(&key)));
        }
        object.insert(key, value);
    }
    Ok(object)
}

fn series(object: &Map<String, Value>) -> Result<String, String> {
    let name = match object.get("series") {
        None => DEFAULT_SERIES.to_owned(),
        Some(Value::String(name)) => name.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => return Err(format!("`series`: expected text or a number, found {}", kind(other))),
    };
    if name.len() > LONGEST_NAME {
        return Err(format!("`series`: expected at most {LONGEST_NAME} bytes, found {}", name.len()));
    }
    Ok(name)
}

fn time(object: &Map<String, Value>) -> Result<Option<Value>, String> {
    match object.get("t") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() > LONGEST_NAME => {
            Err(format!("`t`: expected at most {LONGEST_NAME} bytes, found {}", text.len()))
        }
        Some(value @ (Value::String(_) | Value::Number(_))) => Ok(Some(value.clone())),
        Some(other) => Err(format!("`t`: expected text or a number, found {}", kind(other))),
    }
}

fn outputs(object: &Map<String, Value>, width: usize) -> Result<Vec<f64>, String> {
    match object.get("y") {
        None => Err("no key `y`; give the outputs of one step, or null where all are missing".into()),
        Some(Value::Null) => Ok(vec![f64::NAN; width]),
        Some(value) => row("y", value, width, Missing::Allowed),
    }
}

fn inputs(object: &Map<String, Value>, width: usize) -> Result<Vec<f64>, String> {
    match object.get("u") {
        None | Some(Value::Null) if width == 0 => Ok(vec![]),
        None => Err(format!("no key `u`; this model has {width} input(s) at every step")),
        Some(value) => row("u", value, width, Missing::Refused),
    }
}

fn attributes(object: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    match object.get("attributes") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(values)) => Ok(values.clone()),
        Some(other) => Err(format!(
            "`attributes`: expected an object such as {{\"diet\": \"oats\"}}, found {}",
            kind(other)
        )),
    }
}

fn future(object: &Map<String, Value>, widths: Widths) -> Result<Option<Vec<f64>>, String> {
    let rows = match object.get("future") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(rows)) => rows,
        Some(other) => return Err(format!("`future`: expected rows of inputs, found {}", kind(other))),
    };
    if rows.len() < widths.horizon {
        let (found, horizon) = (rows.len(), widths.horizon);
        return Err(format!("`future`: expected {horizon} row(s), one per step ahead, found {found}"));
    }
    let rows =
        rows[..widths.horizon].iter().map(|values| row("future", values, widths.inputs, Missing::Refused));
    Ok(Some(rows.collect::<Result<Vec<_>, _>>()?.concat()))
}

/// Whether null may stand for a number.
#[derive(Clone, Copy, PartialEq)]
enum Missing {
    Allowed,
    Refused,
}

/// Numbers of one step; a number alone is a row of one.
fn row(key: &str, value: &Value, width: usize, missing: Missing) -> Result<Vec<f64>, String> {
    let one = |value: &Value| match value {
        Value::Null if missing == Missing::Allowed => Ok(f64::NAN),
        Value::Number(number) => match number.as_f64() {
            Some(found) if found.is_finite() => Ok(found),
            _ => Err(format!("`{key}`: {} is too large", short(&number.to_string()))),
        },
        other => Err(format!("`{key}`: expected numbers, found {}", kind(other))),
    };
    let values = match value {
        Value::Array(values) => values.as_slice(),
        single => std::slice::from_ref(single),
    };
    if values.len() != width {
        return Err(format!("`{key}`: expected {width} number(s), found {}", values.len()));
    }
    values.iter().map(one).collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The beginning of a text that may be long.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const WIDTHS: Widths = Widths { outputs: 2, inputs: 1, horizon: 2 };

    fn observed(text: &str, widths: Widths) -> Observation {
        match parse(text.as_bytes(), widths) {
            Ok(Request::Observe(observation)) => observation,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_line_is_read_in_all_its_forms() {
        let text = r#"{"series": "a", "y": [1.5, null], "u": [2], "t": 3, "future": [[1], 2, [3]]}"#;
        let found = observed(text, WIDTHS);
        assert_eq!((found.series.as_str(), found.time), ("a", Some(json!(3))));
        assert!(found.outputs[0] == 1.5 && found.outputs[1].is_nan());
        assert_eq!((found.inputs, found.future), (vec![2.0], Some(vec![1.0, 2.0])));
        let small = Widths { outputs: 1, inputs: 0, horizon: 0 };
        let found = observed(r#"{"y": -1e-3}"#, small);
        assert_eq!((found.series.as_str(), found.outputs), (DEFAULT_SERIES, vec![-1e-3]));
        assert!(observed(r#"{"y": null, "series": 7}"#, small).outputs[0].is_nan());
        let end = parse(br#"{"series": 7, "end": true}"#, WIDTHS);
        assert_eq!(end, Ok(Request::End("7".into())));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let long = format!(r#"{{"series": "{}", "y": 1}}"#, "x".repeat(300));
        for (text, part) in [
            ("", "not JSON"),
            ("{\"y\": 1", "not JSON"),
            ("{\"y\": NaN}", "not JSON"),
            ("{\"y\": 1e999}", "not JSON"),
            ("[1, 2]", "found a list"),
            (r#"{"Y": [1, 2]}"#, "no key `Y`"),
            (r#"{"u": 1}"#, "no key `y`"),
            (r#"{"y": [1, 2]}"#, "no key `u`"),
            (r#"{"y": 1, "u": 1}"#, "expected 2 number(s), found 1"),
            (r#"{"y": ["1", 2], "u": 1}"#, "found text"),
            (r#"{"y": [1, 2], "u": [null]}"#, "`u`: expected numbers, found null"),
            (r#"{"y": [1, 2], "u": 1, "future": [[1]]}"#, "expected 2 row(s)"),
            (r#"{"y": [1, 2], "u": 1, "future": [[1], [1, 2]]}"#, "`future`"),
            (r#"{"y": [1, 2], "u": 1, "t": [1]}"#, "`t`"),
            (r#"{"y": [1, 2], "u": 1, "attributes": [1]}"#, "`attributes`"),
            (r#"{"end": 1}"#, "`end`"),
            (r#"{"y": [1, 2], "u": 1, "y": [3, 4]}"#, "`y`: expected once, found twice"),
            ("7", "found a number"),
            ("null", "found null"),
            ("\"y\"", "found text"),
            (long.as_str(), "at most 256"),
        ] {
            let error = parse(text.as_bytes(), WIDTHS).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(parse(b"\xff\xfe", WIDTHS).is_err());
    }
}
