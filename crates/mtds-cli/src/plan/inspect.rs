//! What `mtds inspect` will do.

use super::{CommonPlan, SourcePlan, UsageError};
use crate::arguments::InspectArguments;
use mtds::model::DataColumns;
use std::path::{Path, PathBuf};

/// What `mtds inspect` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectPlan {
    /// What is looked at.
    pub thing: Thing,
    /// Where the codes of a model go.
    pub out: Option<CodesFile>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq)]
pub enum Thing {
    /// The directory of a model.
    Model(PathBuf),
    /// A file with a family.
    Family(Box<SourcePlan>),
}

/// A file with codes.
#[derive(Debug, Clone, PartialEq)]
pub enum CodesFile {
    /// A page with their map.
    Map(PathBuf),
    /// A table of them.
    Table(PathBuf),
}

impl InspectPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &InspectArguments) -> Result<Self, UsageError> {
        let path = &typed.source.data;
        let thing = match path.is_dir() {
            true => Thing::Model(path.clone()),
            false => Thing::Family(Box::new(SourcePlan::new(&typed.source, DataColumns::default())?)),
        };
        if let (Thing::Family(_), Some(out)) = (&thing, &typed.out) {
            let problem =
                format!("`{}` is no model, so there are no codes for `{}`", path.display(), out.display());
            return Err(UsageError::new("--out", problem, "leave it out, or name the directory of a model"));
        }
        let out = typed.out.as_deref().map(codes_file).transpose()?;
        Ok(Self { thing, out, common: CommonPlan::new(&typed.common)? })
    }
}

fn codes_file(path: &Path) -> Result<CodesFile, UsageError> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html")) {
        return Ok(CodesFile::Map(path.to_path_buf()));
    }
    match mtds_data::Format::of(path) {
        Ok(mtds_data::Format::Npz) => {
            Err(UsageError::new("--out", "a table cannot be written as NPZ", "codes.csv, or map.html"))
        }
        Ok(_) => Ok(CodesFile::Table(path.to_path_buf())),
        Err(error) => Err(UsageError::new("--out", error.to_string(), "codes.csv, or map.html")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Verb};
    use clap::Parser;

    fn plan(typed: &[&str]) -> Result<InspectPlan, UsageError> {
        let words = ["mtds", "inspect"].iter().chain(typed);
        let verb = Arguments::try_parse_from(words).expect("clap accepts this").verb;
        let Verb::Inspect(arguments) = verb else { panic!("another verb: {verb:?}") };
        InspectPlan::new(&arguments)
    }

    #[test]
    fn a_directory_is_a_model_and_a_file_is_a_family() {
        assert!(matches!(plan(&["."]).expect("a directory").thing, Thing::Model(_)));
        assert!(matches!(plan(&["family.csv"]).expect("a file").thing, Thing::Family(_)));
        assert_eq!(plan(&["family.csv", "-o", "codes.csv"]).expect_err("no codes").option, "--out");
    }

    #[test]
    fn the_ending_tells_a_map_from_a_table() {
        let out = |name: &str| plan(&[".", "-o", name]).map(|plan| plan.out);
        assert_eq!(out("m.HTML").expect("a page"), Some(CodesFile::Map("m.HTML".into())));
        assert_eq!(out("m.csv").expect("a table"), Some(CodesFile::Table("m.csv".into())));
        assert!(out("m.npz").is_err() && out("m.docx").is_err());
    }
}
