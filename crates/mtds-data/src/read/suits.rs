//! Data for a model: the fit of a family that was read, the columns and the length of steps that its model will know, and whether another family
//! has them.

use std::path::Path;

use mtds::{DataColumns, Fit, Model, Signal};

use super::ReadFamily;
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::time::Step;
use crate::{Error, Result};

/// Which columns new data of a model are read by; labels are left out, new data need none.
#[must_use]
pub fn columns_of(model: &Model) -> DataColumns {
    DataColumns { label: None, ..model.columns.clone() }
}

/// The length of its steps, where the model says it.
#[must_use]
pub fn time_step_of(model: &Model) -> Option<Step> {
    model.time_step.as_deref().and_then(|step| step.parse().ok())
}

/// Inputs with at least `n_time` rows, if all that the model takes are attributes, which go on as they are; else those that are given.
#[must_use]
pub fn prolonged(inputs: &Signal, model: &Model, n_time: usize) -> Signal {
    let found = inputs.n_time();
    if found == 0 || found >= n_time || !model.columns.has_attributes_only() {
        return inputs.clone();
    }
    let mut values = inputs.values().to_vec();
    (found..n_time).for_each(|_| values.extend_from_slice(inputs.row(found - 1)));
    Signal::new(n_time, inputs.width(), values).unwrap_or_else(|_| inputs.clone())
}

impl ReadFamily {
    /// A fit whose model will read data as these were: by the columns that were asked for by name, at steps of this length.
    #[must_use]
    pub fn fit(&self, asked: DataColumns) -> Fit {
        let (attributes, pulses) = (self.columns.attributes.clone(), self.columns.pulses.clone());
        let columns = DataColumns { attributes, pulses, ..asked };
        Fit { columns, time_step: Some(self.time.step.to_string()), ..Fit::default() }
    }

    /// Checks outputs, inputs and time step against a model, by name; `name` stands for the data in messages. What cannot be
    /// checked is noted.
    ///
    /// # Errors
    /// [`Problem::OtherColumns`], [`Problem::OtherStep`].
    pub fn check_suits(&self, model: &Model, name: &Path) -> Result<Option<Note>> {
        let listed = |names: &[String]| if names.is_empty() { "none".into() } else { names.join(", ") };
        for (kind, expected, found) in [
            ("outputs", &model.columns.outputs, self.family.output_names()),
            ("inputs", &model.columns.inputs, self.family.input_names()),
        ] {
            // A model without inputs passes over whatever looks like one.
            let wanted = kind == "outputs" || !expected.is_empty();
            if wanted && expected != found {
                let problem =
                    Problem::OtherColumns { kind, expected: listed(expected), found: listed(found) };
                return Err(Error::data(name, Place::default(), problem));
            }
        }
        let Some(expected) = model.time_step.clone() else { return Ok(Some(Note::UnknownStep)) };
        let found = self.time.step.to_string();
        match time_step_of(model).and_then(|step| step.is_as_long_as(&self.time.step)) {
            Some(true) => Ok(None),
            Some(false) => Err(Error::data(name, Place::default(), Problem::OtherStep { expected, found })),
            None => Ok(Some(Note::OtherKindOfStep { expected, found })),
        }
    }
}
