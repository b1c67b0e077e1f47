//! Which option helps where a file cannot be read as it is: readers know what is wrong, the program knows what it is called here.

use mtds_data::{Note, Problem};

/// What to type beside the file, if an option helps.
pub fn option_for(error: &anyhow::Error) -> Option<String> {
    let advice = match error.chain().find_map(|cause| cause.downcast_ref::<Problem>())? {
        Problem::UnknownFormat { .. } => "--format csv, if that is what it is".to_owned(),
        Problem::MissingColumn { role: "the times", .. } => "--time COLUMN".to_owned(),
        Problem::MissingColumn { role: "the names of sequences", .. } => "--series COLUMN".to_owned(),
        Problem::NoOutputs { .. } => "--outputs COLUMN,COLUMN".to_owned(),
        Problem::DuplicateTime { .. } => "--series COLUMN, or --resample STEP, which takes means".to_owned(),
        Problem::Irregular { expected, .. } => {
            format!("--resample {expected}, which takes means, or with --resample-by linear")
        }
        Problem::OtherColumns { kind, .. } => format!("--{kind} COLUMN,COLUMN"),
        Problem::OtherStep { expected, .. } => format!("--resample {expected}"),
        Problem::OffSteps { step, .. } => {
            format!("--resample {step}, which takes means, or with --resample-by linear")
        }
        _ => return None,
    };
    Some(advice)
}

/// What to type for something else than what was done with a file, if there is such an option.
pub fn option_beside(note: &Note) -> Option<&'static str> {
    match note {
        Note::Irregular { .. } => Some("--resample STEP takes another"),
        Note::FilledInputs { .. } => Some("--resample STEP --resample-by linear takes the line between rows"),
        _ => None,
    }
}
