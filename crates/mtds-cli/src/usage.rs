//! Wrong usage, in one form for every option: what is wrong, what to try; and readers of values that refuse in this form.

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// More steps, sequences or draws than any machine at hand can hold: most likely a typing error.
const MOST: usize = 10_000_000;

/// Arguments that cannot be meant, and what to try instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// The option as it is typed, e.g. `--threads`.
    pub option: Cow<'static, str>,
    /// What was expected and what was found.
    pub problem: String,
    /// What to try.
    pub hint: String,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  try: {}", self.option, self.problem, self.hint)
    }
}

impl std::error::Error for UsageError {}

impl UsageError {
    /// `problem` with `option`, and what to try.
    pub fn new(
        option: impl Into<Cow<'static, str>>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { option: option.into(), problem: problem.into(), hint: hint.into() }
    }
}

/// What a value cannot be, and what to try; the option is known to whoever reads it.
pub type Refusal = (String, String);

/// Reads a value as clap would, and makes of it what a rule says.
#[derive(Clone)]
struct Ruled<P, F>(P, F);

impl<P, F, T> TypedValueParser for Ruled<P, F>
where
    P: TypedValueParser,
    F: Fn(P::Value) -> Result<T, Refusal> + Clone + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let read = self.0.parse_ref(command, arg, value)?;
        (self.1)(read).map_err(|(problem, hint)| {
            let error = UsageError::new(name(arg), problem, hint).to_string();
            Error::raw(ErrorKind::ValueValidation, format!("{}\n", mtds_data::shown(&error)))
        })
    }
}

/// An option as it is typed, or the name of what has no option.
fn name(arg: Option<&Arg>) -> String {
    let long = arg.and_then(Arg::get_long).map(|long| format!("--{long}"));
    let value = || Some(arg?.get_value_names()?.first()?.to_string());
    long.or_else(value).unwrap_or_default()
}

/// A value of which `rule` makes what is meant.
pub fn value<T, U>(
    rule: impl Fn(T) -> Result<U, Refusal> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = U>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>> + Clone + Send + Sync + 'static,
    U: Clone + Send + Sync + 'static,
{
    Ruled(|text: &str| text.parse::<T>(), rule)
}

/// A value within a range; `expected` is the range in words.
pub fn within<T>(
    range: impl RangeBounds<T> + Clone + Send + Sync + 'static,
    expected: &'static str,
    hint: &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
    T: PartialOrd + fmt::Display + Clone + Send + Sync + 'static,
{
    value(move |found: T| match range.contains(&found) {
        true => Ok(found),
        false => Err((format!("expected {expected}, found {found}"), hint.into())),
    })
}

/// A number of things, at least one.
pub fn count(hint: &'static str) -> impl TypedValueParser<Value = usize> {
    within(1..=MOST, "1 to 10000000", hint)
}

/// A level of a quantile.
pub fn level() -> impl TypedValueParser<Value = f64> {
    use std::ops::Bound::Excluded;
    within((Excluded(0.0), Excluded(1.0)), "levels between 0 and 1", "0.05,0.5,0.95")
}

/// A file of a name that `rule` accepts.
pub fn file(
    rule: impl Fn(&Path) -> Result<(), Refusal> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = PathBuf> {
    Ruled(PathBufValueParser::new(), move |path: PathBuf| rule(&path).map(|()| path))
}

/// A file for a family, whose name says its format.
pub fn family_file() -> impl TypedValueParser<Value = PathBuf> {
    file(|path| match mtds_data::Format::of(path) {
        Ok(_) => Ok(()),
        Err(error) => Err((error.to_string(), "family.csv".into())),
    })
}

/// A file for a table, whose name says its format; `not_npz` is what is said of arrays.
pub fn table_file(not_npz: &'static str, hint: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    file(move |path| table_format(path, not_npz, hint))
}

/// A file for a table of results.
pub fn result_file() -> impl TypedValueParser<Value = PathBuf> {
    table_file("NPZ holds families, not tables of results", "a name ending in .csv")
}

/// Whether the name of a file says the format of a table.
pub(crate) fn table_format(path: &Path, not_npz: &str, hint: &str) -> Result<(), Refusal> {
    match mtds_data::Format::of(path) {
        Ok(mtds_data::Format::Npz) => Err((not_npz.into(), hint.into())),
        Ok(_) => Ok(()),
        Err(error) => Err((error.to_string(), hint.into())),
    }
}

/// Refuses a path that is no directory and cannot become one.
///
/// # Errors
/// The file that is in the way.
pub fn check_directory(option: &'static str, path: &Path) -> Result<(), UsageError> {
    match path.ancestors().find(|path| path.exists() && !path.is_dir()) {
        None => Ok(()),
        Some(file) => Err(UsageError::new(
            option,
            format!("expected a directory, but `{}` is a file", file.display()),
            "name a directory that exists or is yet to be made",
        )),
    }
}

/// Refuses a file in a folder that is not there: told now rather than after the work.
///
/// # Errors
/// The folder that is missing.
pub fn check_folder(option: &'static str, file: Option<&Path>) -> Result<(), UsageError> {
    let parent = file.map(|path| path.parent().filter(|parent| !parent.as_os_str().is_empty()));
    match parent.map(|parent| parent.unwrap_or(Path::new("."))) {
        Some(folder) if !folder.is_dir() => {
            let problem = format!("`{}` is no directory", folder.display());
            Err(UsageError::new(option, problem, "create it, or write somewhere else"))
        }
        _ => Ok(()),
    }
}

/// In rising order, each once.
pub(crate) fn rising<T: PartialOrd>(mut values: Vec<T>) -> Vec<T> {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.dedup();
    values
}

/// What the program makes of words: the verb, or what is said about them.
#[cfg(test)]
pub(crate) fn typed(words: &[&str]) -> Result<crate::command::Verb, String> {
    use clap::Parser;
    let words = ["mtds"].iter().chain(words);
    crate::command::CommandLine::try_parse_from(words)
        .map(|line| line.verb)
        .map_err(|error| error.to_string())
}

/// Whether each of these options is refused in the words of this program.
#[cfg(test)]
#[track_caller]
pub(crate) fn refused(verb: &[&str], options: &[[&str; 2]]) {
    for [option, value] in options {
        let error = typed(&[verb, &[&format!("{option}={value}")]].concat()).expect_err(option);
        assert!(error.starts_with(&format!("error: {option}: ")) && error.contains("\n  try: "), "{error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_rise() {
        assert_eq!(rising(vec![0.9, 0.1, 0.9]), [0.1, 0.9]);
        assert_eq!(rising(vec![20, 5, 20]), [5, 20]);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let file = folder.path().join("taken");
        std::fs::write(&file, "").expect("a file");
        for out in [file.clone(), file.join("below")] {
            let error = check_directory("--out", &out).expect_err("a file is in the way");
            assert!(error.problem.contains("taken` is a file"), "{error}");
        }
        check_directory("--out", &folder.path().join("new/deep")).expect("can be made");
    }
}
