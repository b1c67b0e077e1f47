//! What a reader noticed, did or left out, for the person who has the file.

use std::fmt;

use mtds::parts::Attribute;

use crate::read::{Moves, Resample, duration, list};
use crate::time::Step;

/// Something worth knowing about a file that could be read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what each field is")]
pub enum Note {
    /// Steps without a row; their outputs are missing.
    Gaps { series: String, n_gaps: usize, n_steps: usize, before_row: u64, after_row: u64 },
    /// Several rows of one time, which were averaged.
    Duplicates { series: String, n_rows: usize, first_row: u64, second_row: u64 },
    /// Rows were brought to steps of one length.
    Resampled { resample: Resample, n_rows: usize, n_steps: usize },
    /// A column that is not used.
    IgnoredColumn { name: String, why: String },
    /// Rows with inputs and no outputs at the end of sequences: inputs known ahead.
    InputsAhead { n_seq: usize, n_steps: usize },
    /// All sequences have the same inputs, which are kept once.
    CommonInputs,
    /// No sequence has two rows, so the step is a guess.
    GuessedStep { step: Step },
    /// Times that jitter around steps of one length.
    Jitter { step: Step },
    /// A model that does not say how long its steps are.
    UnknownStep,
    /// Steps whose length cannot be compared with that of a model's.
    OtherKindOfStep { expected: String, found: String },
    /// Times without a step of their own, and the grid that they were put on.
    Irregular { step: Step, moves: Moves },
    /// Times that were put on the steps of a model.
    OnSteps { step: Step, moves: Moves },
    /// Inputs that do not change within a sequence.
    Attributes { attributes: Vec<Attribute> },
    /// Inputs at steps without a row: those that keep the value of the row before, and those that are 0.
    FilledInputs { n_steps: usize, held: Vec<String>, zero: Vec<String> },
    /// Rows that were not in order of time.
    Unsorted { series: String, row: u64 },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.say(&mut text)?;
        f.write_str(&crate::shown(&text))
    }
}

impl Moves {
    fn say(&self, step: Step, f: &mut dyn fmt::Write) -> fmt::Result {
        let (mean, most) = (duration(step, self.mean), duration(step, self.most));
        write!(f, "{} moved, by {mean} on average and {most} at most", self.n_moved)?;
        match self.n_merged {
            0 => Ok(()),
            n => write!(f, "; {n} fell on a step with another and were averaged"),
        }
    }
}

impl Note {
    fn say(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Self::Gaps { series, n_gaps, n_steps, before_row, after_row } => write!(
                f,
                "sequence `{series}`: {n_steps} step(s) missing in {n_gaps} gap(s), the first between rows \
                 {before_row} and {after_row}"
            ),
            Self::Duplicates { series, n_rows, first_row, second_row } => write!(
                f,
                "sequence `{series}`: {n_rows} row(s) repeat a time and were averaged, the first in rows \
                 {first_row} and {second_row}"
            ),
            Self::Resampled { resample, n_rows, n_steps } => {
                let method = match resample.method {
                    crate::read::ResampleMethod::Mean => "by mean",
                    crate::read::ResampleMethod::Linear => "linearly",
                };
                write!(f, "{n_rows} row(s) became {n_steps} step(s) of {}, {method}", resample.step)
            }
            Self::IgnoredColumn { name, why } => write!(f, "column `{name}` is not used: {why}"),
            Self::InputsAhead { n_seq, n_steps } => {
                write!(
                    f,
                    "{n_steps} row(s) without outputs at the end of {n_seq} sequence(s): inputs known ahead"
                )
            }
            Self::CommonInputs => write!(f, "all sequences have the same inputs"),
            Self::GuessedStep { step } => {
                write!(f, "no sequence has two rows, so a step is taken to be {step}")
            }
            Self::Jitter { step } => write!(f, "times jitter slightly around steps of {step}"),
            Self::UnknownStep => write!(
                f,
                "the model does not say how long its steps are; those of the data are taken to be the same"
            ),
            Self::OtherKindOfStep { expected, found } => write!(
                f,
                "the model was learned with steps of {expected}, these are steps of {found}; they are taken to be the same"
            ),
            Self::Irregular { step, moves } => {
                write!(
                    f,
                    "times are irregular; {} row(s) lie on {} step(s) of {step}, outputs are missing at the others. ",
                    moves.n_rows, moves.n_steps
                )?;
                match moves.n_moved {
                    0 => write!(f, "It is the longest step that divides all gaps, so that no row is moved"),
                    _ => {
                        write!(
                            f,
                            "No step that divides all gaps is long enough, so each row was put to its nearest step: "
                        )?;
                        moves.say(*step, f)
                    }
                }
            }
            Self::OnSteps { step, moves } => {
                write!(
                    f,
                    "{} row(s) lie on {} step(s) of {step}, as the model was learned with; outputs are missing at the others",
                    moves.n_rows, moves.n_steps
                )?;
                if moves.n_moved > 0 {
                    write!(f, ". Each was put to its nearest step: ")?;
                    moves.say(*step, f)?;
                }
                Ok(())
            }
            Self::Attributes { attributes } => {
                let one = |of: &Attribute| match of.levels.as_slice() {
                    [] => format!("`{}`", of.column),
                    levels => format!("`{}` ({})", of.column, levels.join(", ")),
                };
                let all: Vec<String> = attributes.iter().map(one).collect();
                write!(f, "known once for each sequence: {}", all.join(", "))
            }
            Self::FilledInputs { n_steps, held, zero } => {
                write!(f, "inputs at {n_steps} step(s) without a row: ")?;
                if !held.is_empty() {
                    write!(f, "{} as in the row before", list(held))?;
                }
                let and = if held.is_empty() { "" } else { "; " };
                match zero.is_empty() {
                    true => Ok(()),
                    false => write!(f, "{and}{} 0, as they come in single rows", list(zero)),
                }
            }
            Self::Unsorted { series, row } => {
                write!(
                    f,
                    "sequence `{series}`: row {row} is earlier than the one before it; rows were sorted"
                )
            }
        }
    }
}
