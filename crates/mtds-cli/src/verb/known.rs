//! Ids and codes that were typed, held against those that exist.

use crate::usage::{UsageError, value};
use clap::builder::TypedValueParser;
use mtds::{Member, Model};
use std::path::Path;

/// A code that was typed.
#[derive(Debug, Clone, PartialEq)]
pub struct Code(pub(super) Vec<f64>);

/// Numbers with commas between them, after this option.
pub(super) fn code(option: &'static str) -> impl TypedValueParser<Value = Code> {
    let number = |part: &str| part.trim().parse().ok().filter(|value: &f64| value.is_finite());
    value(move |text: String| {
        text.split(',').map(number).collect::<Option<_>>().map(Code).ok_or_else(|| {
            let problem = format!("expected numbers with commas between them, found `{text}`");
            (problem, format!("{option} 0.3,-1.2"))
        })
    })
}

/// Names that a message offers.
const OFFERED: usize = 3;

/// The number of the sequence that was typed among `known`, which are in `place`.
///
/// # Errors
/// A [`UsageError`] that offers names like it.
pub(super) fn find(
    option: &'static str,
    typed: &str,
    known: &[&str],
    place: &Path,
) -> Result<usize, UsageError> {
    known.iter().position(|id| *id == typed).ok_or_else(|| {
        let problem =
            format!("`{}` knows {} sequence(s), and none is called `{typed}`", place.display(), known.len());
        let near = nearest(typed, known);
        let hint = if near.is_empty() { "a model with members".into() } else { near.join(", ") };
        UsageError::new(option, problem, hint)
    })
}

/// The code of the member that was typed, or of a segment of one, as `old_03@128`.
///
/// # Errors
/// A [`UsageError`] that offers names like it, or says which steps there are.
pub(super) fn known_code(
    (option, typed): (&'static str, &str),
    model: &Model,
    place: &Path,
) -> Result<Vec<f64>, UsageError> {
    match model.code_called(typed) {
        Ok(code) => Ok(code.to_vec()),
        Err(mtds::Error::Unknown { kind: "segment", known, .. }) => {
            Err(UsageError::new(option, format!("the model knows no segment `{typed}`"), known))
        }
        Err(_) => member(option, typed, &model.members, place).map(|member| member.code_mean.clone()),
    }
}

/// The member that was typed.
///
/// # Errors
/// A [`UsageError`] that offers names like it.
pub(super) fn member<'m>(
    option: &'static str,
    typed: &str,
    members: &'m [Member],
    model: &Path,
) -> Result<&'m Member, UsageError> {
    let ids: Vec<_> = members.iter().map(|member| member.id.as_str()).collect();
    find(option, typed, &ids, model).map(|i| &members[i])
}

impl Code {
    /// Its numbers, as many as codes of the model have.
    ///
    /// # Errors
    /// A [`UsageError`] saying how many that is.
    pub(super) fn of_length(&self, option: &'static str, d_code: usize) -> Result<Vec<f64>, UsageError> {
        let Self(numbers) = self;
        if numbers.len() == d_code {
            return Ok(numbers.clone());
        }
        let problem =
            format!("expected {d_code} number(s), as in codes of this model, found {}", numbers.len());
        let zeros = vec!["0"; d_code].join(",");
        Err(UsageError::new(option, problem, format!("{option} {zeros}, the middle of the prior")))
    }
}

/// The names most like `typed`, the nearest first; upper and lower case are the same.
fn nearest<'k>(typed: &str, known: &[&'k str]) -> Vec<&'k str> {
    let typed = typed.to_lowercase();
    let mut by_distance: Vec<_> =
        known.iter().map(|&name| (distance(&typed, &name.to_lowercase()), name)).collect();
    by_distance.sort();
    by_distance.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

/// Letters to insert, delete or change to make one name of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Verb;
    use crate::usage::{refused, typed};

    #[test]
    fn distances_count_changed_letters() {
        for (a, b, expected) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("osc-01", "osc-001", 1), ("é", "e", 1)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn near_names_are_offered() {
        let known = ["walk", "Run", "limp", "stroll"];
        assert_eq!(find("--like", "Run", &known, Path::new("model")), Ok(1));
        let error = find("--like", "rum", &known, Path::new("model")).expect_err("no such member");
        assert!(error.problem.contains("`model` knows 4") && error.hint.starts_with("Run, "), "{error}");
        assert!(find("--like", "x", &[], Path::new("model")).is_err());
    }

    #[test]
    fn codes_must_fit_the_model() {
        assert_eq!(Code(vec![1.0, 2.0]).of_length("--code", 2), Ok(vec![1.0, 2.0]));
        let error = Code(vec![1.0]).of_length("--code", 2).expect_err("too short");
        assert!(error.to_string().contains("--code 0,0"), "{error}");
    }

    #[test]
    fn a_code_is_numbers_with_commas() {
        let Verb::Generate(found) = typed(&["generate", "model", "--code", "-0.3, 1e-2"]).expect("a code")
        else {
            panic!("another verb")
        };
        assert_eq!(found.code, [Code(vec![-0.3, 0.01])]);
        for wrong in ["", "a", "1,,2", "1;2", "nan", "inf,0"] {
            refused(&["generate", "model"], &[["--code", wrong]]);
        }
    }
}
