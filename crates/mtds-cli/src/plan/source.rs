//! Where a family is read from, and how.

use super::UsageError;
use crate::arguments::{ResampleName, SourceArguments};
use anyhow::Result;
use mtds::model::DataColumns;
use mtds_data::{Format, ReadFamily, ReadOptions, Resample, ResampleMethod, Step};
use std::path::{Path, PathBuf};

/// A file with a family, or stdin.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcePlan {
    /// The file; `-` for stdin.
    pub path: PathBuf,
    /// Which columns mean what.
    pub config: DataColumns,
    /// How to read it.
    pub options: ReadOptions,
}

impl SourcePlan {
    /// Validates what was typed; what was left out is taken from `config`.
    ///
    /// # Errors
    /// A [`UsageError`] for a step or a format that does not exist, and for stdin without a format.
    pub fn new(typed: &SourceArguments, config: DataColumns) -> Result<Self, UsageError> {
        let format = typed.format.as_deref().map(format).transpose()?;
        if typed.data == Path::new("-") && format.is_none() {
            let problem = "expected the format of what comes on stdin, found nothing";
            return Err(UsageError::new("--format", problem, "--format csv, or the name of a file"));
        }
        let config = from_options(typed).or(config);
        let options = read_options(&config, format)?;
        Ok(Self { path: typed.data.clone(), config, options })
    }

    /// The same source with columns of an earlier run for those that were not typed.
    ///
    /// # Errors
    /// A step that cannot be read.
    pub fn with_config(self, earlier: &DataColumns) -> Result<Self, UsageError> {
        let config = self.config.or(earlier.clone());
        let options = read_options(&config, self.options.format)?;
        Ok(Self { path: self.path, config, options })
    }

    /// Reads the family.
    ///
    /// # Errors
    /// A file that cannot be read as a family, with row and column.
    pub fn read(&self) -> Result<ReadFamily> {
        match (self.path == Path::new("-"), self.options.format) {
            (true, Some(format)) => {
                let stdin = std::io::stdin().lock();
                Ok(mtds_data::read_family_from(stdin, format, Path::new("stdin"), &self.options)?)
            }
            _ => Ok(mtds_data::read_family(&self.path, &self.options)?),
        }
    }
}

fn read_options(config: &DataColumns, format: Option<Format>) -> Result<ReadOptions, UsageError> {
    Ok(ReadOptions {
        series: config.series.clone(),
        time: config.time.clone(),
        label: config.label.clone(),
        outputs: config.outputs.clone(),
        inputs: config.inputs.clone(),
        resample: resample(config)?,
        format,
        ..ReadOptions::default()
    })
}

fn from_options(typed: &SourceArguments) -> DataColumns {
    let by = |name: ResampleName| match name {
        ResampleName::Mean => "mean",
        ResampleName::Linear => "linear",
    };
    DataColumns {
        series: typed.series.clone(),
        time: typed.time.clone(),
        label: typed.label.clone(),
        outputs: typed.outputs.clone(),
        inputs: typed.inputs.clone(),
        resample: typed.resample.clone(),
        resample_by: typed.resample_by.map(|name| by(name).to_owned()),
    }
}

fn format(name: &str) -> Result<Format, UsageError> {
    name.parse().map_err(|()| {
        UsageError::new(
            "--format",
            format!("found `{name}`, which is no format"),
            "csv, parquet, jsonl or npz",
        )
    })
}

fn resample(config: &DataColumns) -> Result<Option<Resample>, UsageError> {
    let method = match config.resample_by.as_deref() {
        None | Some("mean") => ResampleMethod::Mean,
        Some("linear") => ResampleMethod::Linear,
        Some(other) => {
            let problem = format!("found `{other}`; expected mean or linear");
            return Err(UsageError::new("--resample-by", problem, "mean"));
        }
    };
    let Some(text) = &config.resample else { return Ok(None) };
    let step: Step = text.parse().map_err(|why| {
        UsageError::new("--resample", format!("`{text}` is no step: {why}"), "0.5, or 15min for dates")
    })?;
    Ok(Some(Resample { step, method }))
}
