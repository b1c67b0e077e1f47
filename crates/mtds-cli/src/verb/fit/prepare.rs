//! Before learning: settings from the family, and the family in parts.

use super::state::FitState;
use crate::base::BaseKind;
use crate::plan::{DEFAULT_SEED, FitPlan, UsageError};
use anyhow::Result;
use mtds::Family;
use mtds::family::{SplitPlan, Strata};
use mtds::learn::{Choice, Choices, Facts, Wishes};

/// Share of the sequences that is kept apart to choose the length of the code by, unless another is asked for.
const SELECTION: f64 = 0.2;

/// Settings for this family, nothing learned yet.
///
/// # Errors
/// A [`UsageError`] for settings out of range.
pub(super) fn first_state(plan: &FitPlan, family: &Family) -> Result<FitState> {
    let facts = Facts::of(family);
    let selects = !plan.select_code.is_empty();
    let ours = Wishes { selection: selects.then_some(SELECTION), ..Wishes::default() };
    let blocks = |name: &str, state, driven| {
        BaseKind::named(name).map_or(vec![], |kind| kind.sized(state, facts.d_obs, driven).blocks())
    };
    let (choices, mut reasons) =
        Choices::resolve(&plan.wishes.clone().or(ours), &facts, &blocks).map_err(usage)?;
    if plan.wishes.selection.is_none() && selects {
        explain(&mut reasons, "selection", "to compare lengths of the code by");
    }
    if selects {
        explain(&mut reasons, "code", "the first of --select-code, until one is chosen");
    }
    Ok(FitState {
        seed: plan.seed.unwrap_or(DEFAULT_SEED),
        fingerprint: family.fingerprint(),
        data: plan.source.config.clone(),
        choices,
        reasons,
        select: plan.select_code.clone(),
        finished: vec![],
        course: None,
    })
}

fn explain(reasons: &mut [Choice], key: &str, why: &str) {
    for choice in reasons.iter_mut().filter(|choice| choice.key == key) {
        (choice.why, choice.asked) = (why.to_owned(), false);
    }
}

/// A setting out of range is wrong usage, by option or by file.
fn usage(error: mtds::Error) -> anyhow::Error {
    match error {
        mtds::Error::Setting { name, why } => {
            let option = format!("--{}", name.replace('_', "-"));
            UsageError::new(option, why, "leave it out, and it is chosen from the data").into()
        }
        mtds::Error::Unknown { name, known, .. } => {
            UsageError::new("--adapt, --share", format!("no block `{name}`"), known).into()
        }
        other => other.into(),
    }
}

/// The family, divided by sequence.
pub(super) struct Parts {
    /// Sequences to learn from, whole.
    pub(super) training: Family,
    /// Sequences that decide when to stop, whole.
    pub(super) held_out: Option<Family>,
    /// Sequences to choose the length of the code by, whole.
    pub(super) apart: Option<Family>,
    /// Training sequences as they are learned: cut, if they are to be.
    pub(super) pieces: Family,
    /// Held-out sequences, likewise.
    pub(super) held_out_pieces: Option<Family>,
}

impl Parts {
    /// Divides and cuts.
    ///
    /// # Errors
    /// A [`UsageError`] where there are too few sequences for every part.
    pub(super) fn of(family: &Family, state: &FitState) -> Result<Self> {
        let choices = &state.choices;
        let plan =
            SplitPlan { validation: choices.validation, test: choices.selection, strata: Strata::Whole };
        let split = plan.split(family, state.seed).map_err(usage)?;
        let part = |numbers: &[usize]| match numbers {
            [] => Ok(None),
            _ => family.subset(numbers).map(Some),
        };
        let training = family.subset(&split.train)?;
        let (held_out, apart) = (part(&split.validation)?, part(&split.test)?);
        let cut = |family: &Family| match choices.segments() {
            None => Ok(family.clone()),
            Some(segments) => segments.cut(family).map(|cut| cut.family),
        };
        Ok(Self {
            pieces: cut(&training)?,
            held_out_pieces: held_out.as_ref().map(cut).transpose()?,
            training,
            held_out,
            apart,
        })
    }
}
