//! Which column of a file is what: by the names asked for, else by prefix, else by content.

use std::collections::HashSet;
use std::path::Path;

use super::options::{LABEL, ReadOptions, SERIES, TIME};
use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// How many column names a message lists.
const N_SHOWN: usize = 20;

/// What the numbers of a column are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// An output.
    Output,
    /// An output if the column holds numbers; chosen by no name.
    OutputIfNumeric,
    /// An input.
    Input,
}

/// A column whose numbers are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueColumn {
    /// Its name.
    pub name: String,
    /// Where it is in a row of the file, from 0.
    pub position: usize,
    /// What it is for.
    pub role: Role,
}

/// The columns of a file by meaning; positions count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roles {
    /// All names, in file order.
    pub names: Vec<String>,
    /// The position of the sequence names.
    pub series: usize,
    /// The position of the times.
    pub time: usize,
    /// The position of the labels.
    pub label: Option<usize>,
    /// Outputs first, then inputs.
    pub values: Vec<ValueColumn>,
    /// Positions of columns that are not used.
    pub ignored: Vec<usize>,
}

impl Roles {
    /// Gives every column of a file a meaning.
    ///
    /// # Errors
    /// [`Problem::DuplicateColumn`], [`Problem::MissingColumn`], [`Problem::TwoRoles`], [`Problem::NoOutputs`].
    pub fn new(file: &Path, names: Vec<String>, options: &ReadOptions) -> Result<Self> {
        check_distinct(file, &names)?;
        let find = |name: &str, role| find(file, &names, name, role);
        let series = find(options.series.as_deref().unwrap_or(SERIES), "the names of sequences")?;
        let time = find(options.time.as_deref().unwrap_or(TIME), "the times")?;
        let named =
            |list: &[String], role| list.iter().map(|name| find(name, role)).collect::<Result<Vec<_>>>();
        let outputs = named(&options.outputs, "an output")?;
        let inputs = named(&options.inputs, "an input")?;
        let label = match &options.label {
            Some(name) => Some(find(name, "the labels")?),
            // A column of that name may well have been asked for as something else.
            None => names
                .iter()
                .position(|name| name == LABEL)
                .filter(|at| *at != series && *at != time && !outputs.contains(at) && !inputs.contains(at)),
        };
        let mut taken = Taken { file, names: &names, roles: vec![None; names.len()] };
        taken.take(&[series], "the names of sequences")?;
        taken.take(&[time], "the times")?;
        taken.take(label.as_slice(), "the labels")?;
        taken.take(&outputs, "an output")?;
        taken.take(&inputs, "an input")?;
        let values = taken.values(outputs, inputs, options)?;
        let ignored = taken.free().collect();
        Ok(Self { series, time, label, values, ignored, names })
    }

    /// The positions whose values are asked for, for readers that need not decode the others.
    #[cfg_attr(not(any(feature = "parquet", feature = "arrow")), allow(dead_code))]
    pub fn needed(&self) -> Vec<usize> {
        let values = self.values.iter().map(|column| column.position);
        [self.series, self.time].into_iter().chain(self.label).chain(values).collect()
    }
}

/// Which columns have a meaning already.
struct Taken<'a> {
    file: &'a Path,
    names: &'a [String],
    roles: Vec<Option<&'static str>>,
}

impl Taken<'_> {
    fn take(&mut self, positions: &[usize], role: &'static str) -> Result<()> {
        for &at in positions {
            if let Some(first) = self.roles[at].replace(role) {
                let problem = Problem::TwoRoles { first, second: role };
                return Err(Error::data(self.file, Place::column(&self.names[at]), problem));
            }
        }
        Ok(())
    }

    fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(|&at| self.roles[at].is_none())
    }

    /// Outputs and inputs, those found by prefix or content included.
    fn values(
        &mut self,
        mut outputs: Vec<usize>,
        mut inputs: Vec<usize>,
        options: &ReadOptions,
    ) -> Result<Vec<ValueColumn>> {
        let mut role = Role::Output;
        if inputs.is_empty() {
            inputs = self.free().filter(|&at| has_prefix(&self.names[at], 'u')).collect();
            self.take(&inputs, "an input")?;
        }
        if outputs.is_empty() && !options.inputs_alone {
            outputs = self.free().filter(|&at| has_prefix(&self.names[at], 'y')).collect();
            if outputs.is_empty() {
                role = Role::OutputIfNumeric;
                outputs = self.free().filter(|&at| !is_index(&self.names[at])).collect();
            }
            self.take(&outputs, "an output")?;
        }
        if outputs.is_empty() && !options.inputs_alone {
            let problem = Problem::NoOutputs { found: list(self.names) };
            return Err(Error::data(self.file, Place::default(), problem));
        }
        let column =
            |position: usize, role| ValueColumn { name: self.names[position].clone(), position, role };
        let outputs = outputs.into_iter().map(|at| column(at, role));
        Ok(outputs.chain(inputs.into_iter().map(|at| column(at, Role::Input))).collect())
    }
}

/// Whether a name is the letter alone or goes on with something that is not a letter: `y`, `y1`, `y_left`.
fn has_prefix(name: &str, letter: char) -> bool {
    name.strip_prefix([letter, letter.to_ascii_uppercase()])
        .is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Whether a column only numbers the rows, as R and pandas write them unasked.
fn is_index(name: &str) -> bool {
    name.is_empty() || name.starts_with("__index_level_")
}

fn find(file: &Path, names: &[String], name: &str, role: &'static str) -> Result<usize> {
    names.iter().position(|found| found == name).ok_or_else(|| {
        let problem = Problem::MissingColumn { role, name: name.into(), found: list(names) };
        Error::data(file, Place::default(), problem)
    })
}

fn check_distinct(file: &Path, names: &[String]) -> Result<()> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        None => Ok(()),
        Some(name) => {
            Err(Error::data(file, Place::default(), Problem::DuplicateColumn { name: name.clone() }))
        }
    }
}

/// The first names, for a message.
pub(crate) fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(N_SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len() - shown.len() {
        _ if names.is_empty() => "no columns".into(),
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(names: &str, options: &ReadOptions) -> Result<Roles> {
        Roles::new(Path::new("a.csv"), names.split(',').map(String::from).collect(), options)
    }

    fn named(roles: &Roles, wanted: Role) -> Vec<&str> {
        roles.values.iter().filter(|c| c.role == wanted).map(|c| c.name.as_str()).collect()
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn prefixes_tell_outputs_and_inputs() {
        let found = roles("t,y2,series,u,yaw,y1,unit,label,Y_left", &ReadOptions::default()).unwrap();
        assert_eq!((found.series, found.time, found.label), (2, 0, Some(7)));
        assert_eq!(named(&found, Role::Output), ["y2", "y1", "Y_left"]);
        assert_eq!(named(&found, Role::Input), ["u"]);
        assert_eq!(found.ignored, [4, 6]);
    }

    #[test]
    fn without_prefixes_every_column_may_be_an_output() {
        let found = roles("series,t,speed,name", &ReadOptions::default()).unwrap();
        assert_eq!(named(&found, Role::OutputIfNumeric), ["speed", "name"]);
        let indexed = roles(",series,t,speed,__index_level_0__", &ReadOptions::default()).unwrap();
        assert_eq!(
            (named(&indexed, Role::OutputIfNumeric), &indexed.ignored[..]),
            (vec!["speed"], &[0, 4][..])
        );
        let options = ReadOptions { inputs: strings(&["name"]), ..ReadOptions::default() };
        assert_eq!(named(&roles("series,t,speed,name", &options).unwrap(), Role::OutputIfNumeric), ["speed"]);
    }

    #[test]
    fn names_come_in_the_order_asked_for() {
        let options = ReadOptions {
            series: Some("who".into()),
            time: Some("when".into()),
            label: Some("style".into()),
            outputs: strings(&["b", "label", "a"]),
            ..ReadOptions::default()
        };
        let found = roles("a,b,who,when,label,style,y,u1", &options).unwrap();
        assert_eq!(named(&found, Role::Output), ["b", "label", "a"]);
        assert_eq!((named(&found, Role::Input), &found.ignored[..]), (vec!["u1"], &[6][..]));
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let default = ReadOptions::default();
        for (names, expected) in [
            ("t,y", "expected a column `series` for the names of sequences, found `t`, `y`"),
            ("series,y", "expected a column `t` for the times"),
            ("series,t,y,y", "found `y` twice"),
            ("series,t,u", "expected output columns"),
        ] {
            let error = roles(names, &default).unwrap_err().to_string();
            assert!(error.starts_with("a.csv: ") && error.contains(expected), "{error}");
        }
        let twice = ReadOptions { outputs: strings(&["a"]), inputs: strings(&["a"]), ..default.clone() };
        let error = roles("series,t,a", &twice).unwrap_err().to_string();
        assert!(error.contains("column `a`: expected one use of a column"), "{error}");
        let again = ReadOptions { outputs: strings(&["a", "a"]), ..default };
        assert!(roles("series,t,a", &again).is_err());
    }
}
