//! What `mtds evaluate` will do.

use super::{CommonPlan, SourcePlan, UsageError};
use crate::arguments::EvaluateArguments;
use mtds::evaluate::Baseline;
use mtds::model::DataColumns;
use std::path::{Path, PathBuf};

/// Baselines unless others are asked for, if there are training sequences.
const USUAL: [Baseline; 2] = [Baseline::LastValue, Baseline::FamilyMean];

/// What `mtds evaluate` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatePlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// Sequences to score.
    pub source: SourcePlan,
    /// Steps after which the rest is forecast, rising, each 1 or more.
    pub seen: Vec<usize>,
    /// Steps that are forecast; `None` to the end.
    pub horizon: Option<usize>,
    /// What the model is compared with, each once.
    pub against: Vec<Baseline>,
    /// Units and most steps of the recurrent network among them, each 1 or more.
    pub gru: (usize, u64),
    /// Training sequences of the baselines.
    pub train: Option<SourcePlan>,
    /// File for the table.
    pub out: Option<PathBuf>,
    /// File for anomaly scores.
    pub anomaly: Option<PathBuf>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl EvaluatePlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &EvaluateArguments) -> Result<Self, UsageError> {
        let source = SourcePlan::new(&typed.source, DataColumns::default())?;
        let train = typed.train.as_ref().map(|path| SourcePlan { path: path.clone(), ..source.clone() });
        if typed.horizon == Some(0) {
            return Err(UsageError::new("--horizon", "expected 1 or more steps, found 0", "leave it out"));
        }
        Ok(Self {
            model: typed.model.clone(),
            source,
            seen: seen(&typed.seen)?,
            horizon: typed.horizon,
            against: against(typed)?,
            gru: gru(typed)?,
            train,
            out: typed.out.as_deref().map(|path| table("--out", path)).transpose()?,
            anomaly: typed.anomaly.as_deref().map(|path| table("--anomaly", path)).transpose()?,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

fn seen(typed: &[usize]) -> Result<Vec<usize>, UsageError> {
    let mut seen = typed.to_vec();
    seen.sort_unstable();
    seen.dedup();
    match seen.first() {
        Some(&first) if first > 0 => Ok(seen),
        _ => Err(UsageError::new("--seen", "expected 1 or more steps, found 0 or nothing", "10,20,40")),
    }
}

fn against(typed: &EvaluateArguments) -> Result<Vec<Baseline>, UsageError> {
    let Some(asked) = &typed.against else {
        return Ok(if typed.train.is_some() { USUAL.to_vec() } else { vec![] });
    };
    let asked: Vec<Baseline> = asked.iter().map(|&name| name.into()).collect();
    if let Some(name) = asked.iter().find(|name| name.needs_training() && typed.train.is_none()) {
        let problem = format!("`{}` learns from training sequences, and none are given", name.title());
        return Err(UsageError::new(
            "--against",
            problem,
            "--train FILE, the file that the model was fit to",
        ));
    }
    Ok(Baseline::ALL.into_iter().filter(|name| asked.contains(name)).collect())
}

fn gru(typed: &EvaluateArguments) -> Result<(usize, u64), UsageError> {
    if typed.gru_units == 0 {
        return Err(UsageError::new("--gru-units", "expected 1 or more units, found 0", "64"));
    }
    if typed.gru_steps == 0 {
        return Err(UsageError::new("--gru-steps", "expected 1 or more steps, found 0", "1500"));
    }
    Ok((typed.gru_units, typed.gru_steps))
}

/// A file whose name says its format.
fn table(option: &'static str, path: &Path) -> Result<PathBuf, UsageError> {
    match mtds_data::Format::of(path) {
        Ok(mtds_data::Format::Npz) => {
            Err(UsageError::new(option, "a table cannot be written as NPZ", "scores.csv"))
        }
        Ok(_) => Ok(path.to_path_buf()),
        Err(error) => Err(UsageError::new(option, error.to_string(), "scores.csv")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Verb};
    use clap::Parser;

    fn plan(typed: &[&str]) -> Result<EvaluatePlan, UsageError> {
        let words = ["mtds", "evaluate", "model", "data.csv"].iter().chain(typed);
        let verb = Arguments::try_parse_from(words).expect("clap accepts this").verb;
        let Verb::Evaluate(arguments) = verb else { panic!("another verb: {verb:?}") };
        EvaluatePlan::new(&arguments)
    }

    #[test]
    fn baselines_that_learn_ask_for_training_sequences() {
        let error = plan(&["--against", "single,pooled"]).expect_err("nothing to learn from");
        assert!(error.problem.contains("`pooled`") && error.hint.contains("--train"), "{error}");
        assert_eq!(plan(&["--against", "single"]).expect("learns nothing").against, [Baseline::Single]);
        assert!(plan(&[]).expect("none").against.is_empty());
        let found = plan(&["--train", "t.csv", "--outputs", "a"]).expect("valid");
        assert_eq!(found.against, USUAL);
        let train = found.train.expect("given");
        assert_eq!((train.path, train.config), (PathBuf::from("t.csv"), found.source.config));
    }

    #[test]
    fn steps_are_sorted_and_files_have_formats() {
        assert_eq!(plan(&["--seen", "20,5,20"]).expect("valid").seen, [5, 20]);
        for (typed, option) in [
            (["--seen", "0,3"], "--seen"),
            (["--horizon", "0"], "--horizon"),
            (["--gru-units", "0"], "--gru-units"),
            (["--gru-steps", "0"], "--gru-steps"),
            (["-o", "scores.docx"], "--out"),
            (["--anomaly", "a.npz"], "--anomaly"),
        ] {
            assert_eq!(plan(&typed).expect_err(option).option, option);
        }
    }
}
