//! What `mtds generate` will do.

use super::result::{count, family_file};
use super::{CommonPlan, UsageError};
use crate::arguments::{DriveArguments, GenerateArguments};
use std::path::PathBuf;

/// Where codes come from.
#[derive(Debug, Clone, PartialEq)]
pub enum CodesPlan {
    /// They were typed.
    Given(Vec<Vec<f64>>),
    /// Those of members of the family that was learned.
    Like(Vec<String>),
    /// So many draws of the prior.
    Sample(usize),
}

/// What drives made-up sequences, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrivePlan {
    /// File with inputs.
    pub inputs: Option<PathBuf>,
    /// The sequence whose inputs are taken.
    pub inputs_of: Option<String>,
    /// Length; `None` for that of the inputs.
    pub steps: Option<usize>,
}

/// What `mtds generate` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratePlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// Where codes come from.
    pub codes: CodesPlan,
    /// Whether the noise of observations is added.
    pub noise: bool,
    /// Inputs and length.
    pub drive: DrivePlan,
    /// File for the sequences; `None` for stdout.
    pub out: Option<PathBuf>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl GeneratePlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &GenerateArguments) -> Result<Self, UsageError> {
        let given = typed.code.iter().map(|text| code("--code", text)).collect::<Result<Vec<_>, _>>()?;
        let codes = match (given.is_empty(), count("--sample", typed.sample, "10")?) {
            (false, _) => CodesPlan::Given(given),
            (true, Some(n)) => CodesPlan::Sample(n),
            (true, None) if typed.like.is_empty() => {
                let problem = "expected to be told which sequences, found nothing";
                return Err(UsageError::new("--code", problem, "--sample 10, --like ID, or --code 0.3,-1.2"));
            }
            (true, None) => CodesPlan::Like(typed.like.clone()),
        };
        Ok(Self {
            model: typed.model.clone(),
            codes,
            noise: typed.noise,
            drive: DrivePlan::new(&typed.drive)?,
            out: family_file(typed.out.as_deref())?,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

impl DrivePlan {
    pub(super) fn new(typed: &DriveArguments) -> Result<Self, UsageError> {
        Ok(Self {
            inputs: typed.inputs.clone(),
            inputs_of: typed.inputs_of.clone(),
            steps: count("--steps", typed.steps, "80")?,
        })
    }
}

/// Numbers with commas between them.
pub(super) fn code(option: &'static str, text: &str) -> Result<Vec<f64>, UsageError> {
    let number = |part: &str| part.trim().parse().ok().filter(|value: &f64| value.is_finite());
    text.split(',').map(number).collect::<Option<Vec<f64>>>().ok_or_else(|| {
        let problem = format!("expected numbers with commas between them, found `{text}`");
        UsageError::new(option, problem, format!("{option} 0.3,-1.2"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_numbers_with_commas() {
        assert_eq!(code("--code", "-0.3, 1e-2").expect("a code"), [-0.3, 0.01]);
        for wrong in ["", "a", "1,,2", "1;2", "nan", "inf,0"] {
            assert_eq!(code("--code", wrong).expect_err(wrong).option, "--code");
        }
    }
}
