//! The line protocol with a worker: requests as JSON lines, and what a well-formed answer is.
//!
//! The worker's side, with examples, is `bench/peers/protocol.py`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::check::Check;

/// The first line of a worker, after it has warmed up.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Ready {
    /// Always true; there so that the line is recognised.
    pub ready: bool,
    /// Library, version and mode, e.g. `torch 2.5.1 eager`.
    pub engine: String,
    /// Threads that the worker uses.
    pub threads: usize,
}

/// One work as a worker knows it: its name there, and what else the request carries.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    body: Map<String, Value>,
}

impl Request {
    /// A work that needs nothing but its name.
    pub fn new(work: &str) -> Self {
        Self { body: Map::from_iter([("work".to_string(), json!(work))]) }
    }

    /// The request with one field more.
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.body.insert(field.to_string(), value.into());
        self
    }

    /// The line that asks for `n` timed rounds.
    pub fn rounds(&self, n: usize) -> String {
        Value::Object(self.clone().with("rounds", n).body).to_string()
    }

    /// The line that asks for the work's numbers.
    pub fn check(&self) -> String {
        Value::Object(self.clone().with("do", "check").body).to_string()
    }
}

/// The line that ends a worker.
pub fn quit() -> String {
    json!({"do": "quit"}).to_string()
}

/// The error that a worker reported, if the line is one.
pub fn refusal(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    Some(value.get("error")?.as_str()?.to_string())
}

/// Reads the first line of a worker.
///
/// # Errors
/// What was expected, if the line is something else.
pub fn parse_ready(line: &str) -> Result<Ready, String> {
    let expected = r#"expected {"ready": true, "engine": …, "threads": …}"#;
    let ready: Ready = serde_json::from_str(line).map_err(|e| format!("{expected} ({e})"))?;
    if ready.ready && ready.threads > 0 { Ok(ready) } else { Err(expected.to_string()) }
}

/// Reads the times of `rounds` rounds, in milliseconds.
///
/// # Errors
/// What was expected, if the line is something else.
pub fn parse_times(line: &str, rounds: usize) -> Result<Vec<f64>, String> {
    #[derive(Deserialize)]
    struct Times {
        ms: Vec<f64>,
    }
    let expected = format!(r#"expected {{"ms": […]}} with {rounds} positive times"#);
    let times: Times = serde_json::from_str(line).map_err(|e| format!("{expected} ({e})"))?;
    let usable = times.ms.len() == rounds && times.ms.iter().all(|&t| t.is_finite() && t > 0.0);
    if usable { Ok(times.ms) } else { Err(expected) }
}

/// Reads the numbers of a work.
///
/// # Errors
/// What was expected, if the line is something else.
pub fn parse_check(line: &str) -> Result<Check, String> {
    let expected = "expected loss and gradient_norms, or mean, std_dev, ess and passes, or predicted";
    let check = serde_json::from_str(line).map_err(|_| expected.to_string())?;
    match &check {
        Check::Posterior(posterior) => posterior.shape_problem().map_or(Ok(check.clone()), Err),
        Check::Forecast(forecast) => forecast.shape_problem().map_or(Ok(check.clone()), Err),
        Check::Step(_) => Ok(check),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_lines_of_json() {
        let request = Request::new("adais").with("at", 40).with("problem", "/a \"b\"");
        for line in [request.rounds(5), request.check(), quit()] {
            assert!(!line.contains('\n'));
        }
        let sent: Value = serde_json::from_str(&request.rounds(5)).unwrap();
        assert_eq!(sent, json!({"work": "adais", "at": 40, "problem": "/a \"b\"", "rounds": 5}));
        let sent: Value = serde_json::from_str(&request.check()).unwrap();
        assert_eq!(sent["do"], "check");
    }

    #[test]
    fn a_ready_line_is_read_and_others_are_not() {
        let ready = parse_ready(r#"{"ready": true, "engine": "torch 2.5.1 eager", "threads": 2}"#).unwrap();
        assert_eq!((ready.engine.as_str(), ready.threads), ("torch 2.5.1 eager", 2));
        let wrong = ["", "hello", "{}", r#"{"ready": false, "engine": "a", "threads": 2}"#];
        assert!(wrong.iter().all(|line| parse_ready(line).unwrap_err().contains("expected")));
        assert!(parse_ready(r#"{"ready": true, "engine": "a", "threads": 0}"#).is_err());
    }

    #[test]
    fn times_must_be_as_many_as_asked_and_positive() {
        assert_eq!(parse_times(r#"{"ms": [1.5, 2]}"#, 2).unwrap(), [1.5, 2.0]);
        for line in
            [r#"{"ms": [1.5]}"#, r#"{"ms": [1.5, 0]}"#, r#"{"ms": [1.5, NaN]}"#, r#"{"ms": 3}"#, "[1, 2]"]
        {
            assert!(parse_times(line, 2).unwrap_err().contains("2 positive times"), "{line}");
        }
    }

    #[test]
    fn a_check_is_a_step_posteriors_or_forecasts() {
        let step = parse_check(r#"{"loss": 2.5, "gradient_norms": {"W1": 1.0}}"#).unwrap();
        assert!(matches!(step, Check::Step(s) if s.loss == 2.5 && s.gradient_norms["W1"] == 1.0));
        let posterior = r#"{"mean": [[0.1, 0.2]], "std_dev": [[1, 1]], "ess": [300], "passes": [7]}"#;
        assert!(matches!(parse_check(posterior).unwrap(), Check::Posterior(p) if p.passes == [7.0]));
        let forecast = r#"{"predicted": [[[1.0, 2.0], [3.0, 4.0]]], "mode_log_density": [9.5]}"#;
        assert!(
            matches!(parse_check(forecast).unwrap(), Check::Forecast(f) if f.predicted[0][1] == [3.0, 4.0])
        );
        let ragged = r#"{"predicted": [[[1.0, 2.0], [3.0]]], "mode_log_density": [9.5]}"#;
        assert!(parse_check(ragged).unwrap_err().contains("2 steps"));
        assert!(parse_check(r#"{"loss": NaN, "gradient_norms": {}}"#).is_err());
        let short = r#"{"mean": [[0.1, 0.2]], "std_dev": [[1]], "ess": [300], "passes": [7]}"#;
        assert!(parse_check(short).unwrap_err().contains("2 numbers"));
    }

    #[test]
    fn a_refusal_is_told_from_an_answer() {
        assert_eq!(refusal(r#"{"error": "no work"}"#).as_deref(), Some("no work"));
        assert_eq!(refusal(r#"{"ms": [1.0]}"#), None);
        assert_eq!(refusal("garbage"), None);
    }
}
