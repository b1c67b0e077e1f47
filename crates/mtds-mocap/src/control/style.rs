//! Styles by name, and mixtures of them, as a person writes them.
//!
//! ```text
//! old                      a style
//! 0.7*old + 0.3*proud      a mixture; weights add up to 1
//! old + proud              without weights: equal parts
//! 1.5*old - 0.5*neutral    beyond a style, away from another
//! ```
//! A mixture of styles is the mixture of their codes: z = Σ w_i z_i.

use crate::{Error, Result};

/// How far weights may be from adding up to 1: rounding of what a person typed.
const ROUNDING: f64 = 0.011;

/// Styles and how much each counts.
#[derive(Debug, Clone, PartialEq)]
pub struct StyleMix {
    /// Name and weight of each, in the order in which they were written; weights add up to 1.
    pub parts: Vec<(String, f64)>,
}

impl StyleMix {
    /// One style.
    #[must_use]
    pub fn one(name: impl Into<String>) -> Self {
        Self { parts: vec![(name.into(), 1.0)] }
    }

    /// The mixture that `text` says.
    ///
    /// # Errors
    /// [`Error::Words`] for what is no mixture, with its place.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parts = Vec::new();
        for (start, end, sign) in terms(text) {
            parts.push(part(text, (start, end), sign)?);
        }
        let n_weights = parts.iter().filter(|(_, weight)| weight.is_some()).count();
        if n_weights == 0 {
            let share = 1.0 / parts.len() as f64;
            return Ok(Self { parts: parts.into_iter().map(|(name, _)| (name, share)).collect() });
        }
        if let Some((name, _)) = parts.iter().find(|(_, weight)| weight.is_none()) {
            let found = format!("`{name}` without one");
            return Err(words(text, 0, "a weight for every style of a mixture", found, &example(&parts)));
        }
        let parts: Vec<(String, f64)> =
            parts.into_iter().map(|(name, weight)| (name, weight.unwrap_or(0.0))).collect();
        let sum: f64 = parts.iter().map(|(_, weight)| weight).sum();
        if (sum - 1.0).abs() > ROUNDING {
            let hint = match &parts[..] {
                [(name, weight)] => {
                    format!("{weight}*{name}+{:.2}*OTHER, where OTHER is what the rest is", 1.0 - weight)
                }
                _ => parts
                    .iter()
                    .map(|(name, w)| format!("{:.3}*{name}", w / sum))
                    .collect::<Vec<_>>()
                    .join("+"),
            };
            return Err(words(text, 0, "weights that add up to 1", format!("{sum:.3}"), &hint));
        }
        Ok(Self { parts: parts.into_iter().map(|(name, weight)| (name, weight / sum)).collect() })
    }
}

/// Where terms begin and end, and their signs. A minus belongs to a name (`walk-turn`) unless a weight follows it.
fn terms(text: &str) -> Vec<(usize, usize, f64)> {
    let mut found = Vec::new();
    let (mut start, mut sign) = (0, 1.0);
    for (at, letter) in text.char_indices() {
        let cuts = letter == '+' || (letter == '-' && has_weight(&text[at + 1..]));
        if !cuts {
            continue;
        }
        // A sign at the very beginning opens the first term.
        if !text[start..at].trim().is_empty() || letter == '+' {
            found.push((start, at, sign));
        }
        (start, sign) = (at + 1, if letter == '-' { -1.0 } else { 1.0 });
    }
    found.push((start, text.len(), sign));
    found
}

fn has_weight(text: &str) -> bool {
    text.split_once('*').is_some_and(|(weight, _)| weight.trim().parse::<f64>().is_ok())
}

/// Name and weight of one term.
fn part(text: &str, (start, end): (usize, usize), sign: f64) -> Result<(String, Option<f64>)> {
    let term = &text[start..end];
    let (weight, name) = match term.split_once('*') {
        Some((weight, name)) => {
            let number = weight.trim().parse().ok().filter(|weight: &f64| weight.is_finite());
            let found = format!("`{}`", weight.trim());
            let number = number
                .ok_or_else(|| words(text, start, "a number before `*`", found, "0.7*old+0.3*proud"))?;
            (Some(sign * number), name)
        }
        None => (None, term),
    };
    match name.trim() {
        "" => Err(words(text, start, "the name of a style", "nothing".into(), "old, or 0.7*old+0.3*proud")),
        name => Ok((name.to_owned(), weight)),
    }
}

fn words(text: &str, at: usize, expected: &'static str, found: String, hint: &str) -> Error {
    let place = text[..at].chars().count() + 1;
    Error::Words {
        what: "style",
        text: text.into(),
        place,
        expected: expected.into(),
        found,
        hint: hint.into(),
    }
}

fn example(parts: &[(String, Option<f64>)]) -> String {
    let share = 1.0 / parts.len() as f64;
    parts.iter().map(|(name, _)| format!("{share:.2}*{name}")).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(String, f64)> {
        StyleMix::parse(text).unwrap().parts
    }

    fn near(found: &[(String, f64)], expected: &[(&str, f64)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((name, weight), (expected, share)) in found.iter().zip(expected) {
            assert!(name == expected && (weight - share).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn mixtures_are_read_with_their_weights() {
        near(&parts("old"), &[("old", 1.0)]);
        near(&parts(" 0.7*old + 0.3 * proud "), &[("old", 0.7), ("proud", 0.3)]);
        near(&parts("old+proud"), &[("old", 0.5), ("proud", 0.5)]);
        near(&parts("1.5*old-0.5*neutral"), &[("old", 1.5), ("neutral", -0.5)]);
        near(&parts("-0.5*a + 1.5*b"), &[("a", -0.5), ("b", 1.5)]);
        near(&parts("walk-turn-left"), &[("walk-turn-left", 1.0)]);
        near(&parts("0.33*a+0.33*b+0.33*c"), &[("a", 1.0 / 3.0), ("b", 1.0 / 3.0), ("c", 1.0 / 3.0)]);
    }

    #[test]
    fn what_is_no_mixture_is_refused_with_its_place() {
        for (text, place, said) in [
            ("", "1", "name of a style"),
            ("old+", "5", "name of a style"),
            ("0.7*old+x*proud", "9", "number before"),
            ("0.7*old+proud", "1", "`proud` without"),
            ("0.7*old+0.7*proud", "1", "1.400"),
            ("0.5*old", "1", "0.50*OTHER"),
            ("inf*old", "1", "number before"),
        ] {
            let error = StyleMix::parse(text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("character {place}:")) && error.contains(said),
                "{text}: {error}"
            );
        }
    }
}
