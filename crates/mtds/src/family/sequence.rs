//! One member of a family: its outputs, the inputs of its own if it has any, and its label.

use super::signal::Signal;
use crate::{Error, Result};

/// One sequence `(Y, U)` of a family.
///
/// Outputs `Y` are `n_time × d_obs`, missing ones NaN. Inputs of its own, `U`, are at least as long: what
/// goes beyond `n_time` are the inputs known ahead, for forecasts. A label is carried along for splits and
/// reports; learning never reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    id: String,
    label: Option<String>,
    outputs: Signal,
    inputs: Option<Signal>,
}

impl Sequence {
    /// A sequence without inputs and without a label.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no time step; [`Error::NotFinite`] if an output is infinite.
    pub fn new(id: impl Into<String>, outputs: Signal) -> Result<Self> {
        let id = id.into();
        if outputs.n_time() == 0 {
            return Err(Error::shape(format!("sequence `{id}`"), "at least one time step", "none"));
        }
        if let Some((t, d, value)) = outputs.find(f64::is_infinite) {
            return Err(Error::NotFinite {
                what: format!("output {} of sequence `{id}` at t = {}", d + 1, t + 1),
                value,
                hint: ", or NaN where the output is missing",
            });
        }
        Ok(Self { id, label: None, outputs, inputs: None })
    }

    /// The sequence with inputs of its own, at least as long as its outputs.
    ///
    /// # Errors
    /// [`Error::Shape`] if the inputs are shorter than the outputs; [`Error::NotFinite`] if one is missing
    /// or infinite.
    pub fn with_inputs(mut self, inputs: Signal) -> Result<Self> {
        let what = format!("inputs of sequence `{}`", self.id);
        if inputs.n_time() < self.n_time() {
            let expected = format!("at least {} steps, as many as it has outputs", self.n_time());
            return Err(Error::shape(what, expected, format!("{} steps", inputs.n_time())));
        }
        check_inputs(&inputs, &what)?;
        self.inputs = Some(inputs);
        Ok(self)
    }

    /// The sequence with a label, e.g. its style or its subject.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The sequence without its label.
    #[must_use]
    pub fn without_label(mut self) -> Self {
        self.label = None;
        self
    }

    /// The name that no other sequence of the family has.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The label, if it has one.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The outputs, `n_time × d_obs`, NaN where missing.
    #[must_use]
    pub fn outputs(&self) -> &Signal {
        &self.outputs
    }

    /// The inputs of its own, `(≥ n_time) × d_input`; for inputs common to all ask the family.
    #[must_use]
    pub fn inputs(&self) -> Option<&Signal> {
        self.inputs.as_ref()
    }

    /// Number of time steps of the outputs, at least 1.
    #[must_use]
    pub fn n_time(&self) -> usize {
        self.outputs.n_time()
    }

    /// Whether output `d` was observed at step `t`, both counted from 0.
    ///
    /// # Panics
    /// If `t` or `d` is out of range, as indexing does.
    #[must_use]
    pub fn is_observed(&self, t: usize, d: usize) -> bool {
        !self.outputs.get(t, d).is_nan()
    }

    /// Number of outputs that are not missing.
    #[must_use]
    pub fn n_observed(&self) -> usize {
        self.outputs.values().iter().filter(|value| !value.is_nan()).count()
    }

    /// The sequence under another name and with other signals; the label stays.
    ///
    /// # Errors
    /// As [`Sequence::new`] and [`Sequence::with_inputs`].
    pub(super) fn rebuilt(&self, id: String, outputs: Signal, inputs: Option<Signal>) -> Result<Self> {
        let mut sequence = Self::new(id, outputs)?;
        sequence.label = self.label.clone();
        inputs.into_iter().try_fold(sequence, Self::with_inputs)
    }
}

/// Inputs are known numbers: a missing or infinite one is an error that names where it is.
pub(super) fn check_inputs(inputs: &Signal, what: &str) -> Result<()> {
    match inputs.find(|value| !value.is_finite()) {
        None => Ok(()),
        Some((t, c, value)) => Err(Error::NotFinite {
            what: format!("{what}, input {} at t = {}", c + 1, t + 1),
            value,
            hint: "; inputs cannot be missing: fill the gap, or leave the column out",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_outputs() -> Signal {
        Signal::from_rows(vec![vec![1.0, f64::NAN], vec![2.0, 3.0]]).unwrap()
    }

    #[test]
    fn missing_outputs_are_counted() {
        let sequence = Sequence::new("a", two_outputs()).unwrap().with_label("slow");
        assert_eq!((sequence.id(), sequence.label()), ("a", Some("slow")));
        assert_eq!((sequence.n_time(), sequence.n_observed()), (2, 3));
        assert!(sequence.is_observed(0, 0) && !sequence.is_observed(0, 1));
        assert_eq!(sequence.without_label().label(), None);
    }

    #[test]
    fn an_infinite_output_is_named() {
        let outputs = Signal::from_rows(vec![vec![0.0, 0.0], vec![0.0, f64::NEG_INFINITY]]).unwrap();
        let error = Sequence::new("a", outputs).unwrap_err().to_string();
        assert!(error.starts_with("output 2 of sequence `a` at t = 2: found -inf"), "{error}");
    }

    #[test]
    fn a_sequence_has_a_step() {
        let empty = Signal::new(0, 1, vec![]).unwrap();
        assert!(matches!(Sequence::new("a", empty), Err(Error::Shape { .. })));
    }

    #[test]
    fn inputs_may_be_longer_but_not_shorter() {
        let sequence = Sequence::new("a", two_outputs()).unwrap();
        let longer = sequence.clone().with_inputs(Signal::column(vec![1.0; 5])).unwrap();
        assert_eq!(longer.inputs().unwrap().n_time(), 5);
        assert_eq!(longer.n_time(), 2);
        let error = sequence.with_inputs(Signal::column(vec![1.0])).unwrap_err().to_string();
        assert!(error.contains("inputs of sequence `a`: expected at least 2 steps"), "{error}");
    }

    #[test]
    fn inputs_must_be_known() {
        for bad in [f64::NAN, f64::INFINITY] {
            let sequence = Sequence::new("a", two_outputs()).unwrap();
            let error = sequence.with_inputs(Signal::column(vec![1.0, 0.0, bad])).unwrap_err();
            assert!(matches!(error, Error::NotFinite { .. }));
            assert!(error.to_string().contains("inputs of sequence `a`, input 1 at t = 3"), "{error}");
        }
    }
}
