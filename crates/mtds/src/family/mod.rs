//! Families of sequences: ragged, with gaps, with or without inputs; scaling, segments and splits of them.
//!
//! ```
//! use mtds::{Family, Sequence, Signal};
//!
//! # fn main() -> mtds::Result<()> {
//! let walk = Sequence::new("walk", Signal::column(vec![0.1, f64::NAN, 0.3]))?.with_label("calm");
//! let run = Sequence::new("run", Signal::column(vec![0.9, 0.7]))?;
//! let family = Family::new(vec![walk, run])?.with_common_inputs(Signal::column(vec![1.0, 0.0, 0.0]))?;
//! assert_eq!((family.n_seq(), family.max_time(), family.n_observed()), (2, 3, 4));
//! # Ok(())
//! # }
//! ```

mod fingerprint;
mod phase;
mod scaling;
mod segments;
mod sequence;
mod signal;
mod split;
mod summary;
#[cfg(test)]
mod tests;
mod values;

use std::collections::HashSet;

pub use phase::Phase;
pub use scaling::Scaling;
pub use segments::{Origin, SegmentPlan, Segments};
pub use sequence::Sequence;
pub use signal::Signal;
pub(crate) use split::made_from;
pub use split::{SplitPlan, Strata};
pub use summary::{ColumnRole, ColumnSummary};

use crate::{Error, Result};

/// How many names an error message lists before it only counts the rest.
const N_NAMES_SHOWN: usize = 10;

/// Related sequences of one output width, lengths free, outputs possibly missing.
///
/// Sequences keep the order in which they were given. A family has at least one observed output; a
/// single sequence may have none.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    sequences: Vec<Sequence>,
    inputs: Inputs,
    output_names: Vec<String>,
    input_names: Vec<String>,
}

/// Where the inputs of a family are.
#[derive(Debug, Clone, PartialEq)]
pub enum Inputs {
    /// There are none.
    None,
    /// The same for all sequences, `(≥ max_time) × d_input`.
    Common(Signal),
    /// Each sequence has its own: [`Sequence::inputs`].
    Own,
}

impl Family {
    /// A family of sequences, all with inputs of their own or all without.
    ///
    /// Columns are called `y1`, `y2`, … and `u1`, `u2`, …, or `y` and `u` where there is only one.
    ///
    /// # Errors
    /// [`Error::EmptyFamily`] without a sequence or an observed output; [`Error::Shape`] if output or
    /// input widths differ, or only some sequences have inputs; [`Error::Duplicate`] if two share an id.
    pub fn new(sequences: Vec<Sequence>) -> Result<Self> {
        let Some(first) = sequences.first() else {
            return Err(Error::EmptyFamily("it has no sequence".into()));
        };
        sequences.iter().try_for_each(|sequence| check_widths(sequence, first))?;
        check_distinct("sequence", sequences.iter().map(Sequence::id))?;
        if sequences.iter().all(|sequence| sequence.n_observed() == 0) {
            let why = format!("every output of its {} sequence(s) is missing", sequences.len());
            return Err(Error::EmptyFamily(why));
        }
        let output_names = default_names("y", first.outputs().width());
        let input_names = default_names("u", first.inputs().map_or(0, Signal::width));
        let inputs = if first.inputs().is_some() { Inputs::Own } else { Inputs::None };
        Ok(Self { sequences, inputs, output_names, input_names })
    }

    /// The family with names for its outputs, one per column.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number is wrong; [`Error::Duplicate`] if two are equal.
    pub fn with_output_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        self.output_names = checked_names("output", names, self.d_obs())?;
        Ok(self)
    }

    /// The family with inputs that all its sequences share, at least as long as the longest of them.
    ///
    /// # Errors
    /// [`Error::Setting`] if the family has inputs already; [`Error::Shape`] if these are too short;
    /// [`Error::NotFinite`] if one is missing or infinite.
    pub fn with_common_inputs(mut self, inputs: Signal) -> Result<Self> {
        if self.inputs != Inputs::None {
            let why = "the family has inputs already; leave those out, or these";
            return Err(Error::setting("common inputs", why));
        }
        if inputs.n_time() < self.max_time() {
            let expected = format!("at least {} steps, as many as the longest sequence", self.max_time());
            return Err(Error::shape("common inputs", expected, format!("{} steps", inputs.n_time())));
        }
        sequence::check_inputs(&inputs, "common inputs")?;
        self.input_names = default_names("u", inputs.width());
        self.inputs = Inputs::Common(inputs);
        Ok(self)
    }

    /// The family with names for its inputs, one per column; give the inputs first.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number is wrong; [`Error::Duplicate`] if two are equal.
    pub fn with_input_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        self.input_names = checked_names("input", names, self.d_input())?;
        Ok(self)
    }

    /// The family without labels, to show that a result does not depend on them.
    #[must_use]
    pub fn without_labels(mut self) -> Self {
        self.sequences = self.sequences.into_iter().map(Sequence::without_label).collect();
        self
    }

    /// Id and label of sequence `i`, for what is kept of it beside a model.
    ///
    /// # Panics
    /// If there is no such sequence.
    #[must_use]
    pub fn identity(&self, i: usize) -> (String, Option<String>) {
        let sequence = self.sequence(i);
        (sequence.id().to_owned(), sequence.label().map(str::to_owned))
    }

    /// Number of sequences, at least 1.
    #[must_use]
    pub fn n_seq(&self) -> usize {
        self.sequences.len()
    }

    /// The sequences of which some output was observed.
    #[must_use]
    pub fn observed(&self) -> Vec<usize> {
        (0..self.n_seq()).filter(|&i| self.sequence(i).n_observed() > 0).collect()
    }

    /// Number of outputs per step, at least 1.
    #[must_use]
    pub fn d_obs(&self) -> usize {
        self.output_names.len()
    }

    /// Number of inputs per step, 0 without inputs.
    #[must_use]
    pub fn d_input(&self) -> usize {
        self.input_names.len()
    }

    /// The names of the outputs, in column order.
    #[must_use]
    pub fn output_names(&self) -> &[String] {
        &self.output_names
    }

    /// The names of the inputs, in column order.
    #[must_use]
    pub fn input_names(&self) -> &[String] {
        &self.input_names
    }

    /// All sequences, in the order in which they were given.
    #[must_use]
    pub fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    /// Sequence number `i`, counted from 0.
    ///
    /// # Panics
    /// If `i` is not below `n_seq`, as indexing does.
    #[must_use]
    pub fn sequence(&self, i: usize) -> &Sequence {
        &self.sequences[i]
    }

    /// The number of the sequence called `id`.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is none; the message lists ids that exist.
    pub fn index_of(&self, id: &str) -> Result<usize> {
        self.sequences.iter().position(|sequence| sequence.id() == id).ok_or_else(|| Error::Unknown {
            kind: "sequence",
            name: id.into(),
            known: self.some_ids(),
        })
    }

    /// The sequence called `id`.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is none; the message lists ids that exist.
    pub fn get(&self, id: &str) -> Result<&Sequence> {
        self.index_of(id).map(|i| self.sequence(i))
    }

    /// Where the inputs are: nowhere, common to all, or with each sequence.
    #[must_use]
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The inputs of sequence number `i`, own or common, `(≥ n_time) × d_input`.
    ///
    /// # Panics
    /// If `i` is not below `n_seq`, as indexing does.
    #[must_use]
    pub fn inputs_of(&self, i: usize) -> Option<&Signal> {
        match &self.inputs {
            Inputs::None => None,
            Inputs::Common(inputs) => Some(inputs),
            Inputs::Own => self.sequence(i).inputs(),
        }
    }

    /// The labels, in the order of the sequences.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.sequences.iter().map(Sequence::label)
    }

    /// Number of time steps of the longest sequence.
    #[must_use]
    pub fn max_time(&self) -> usize {
        self.sequences.iter().map(Sequence::n_time).max().unwrap_or(0)
    }

    /// Number of outputs that are not missing, over all sequences; at least 1.
    #[must_use]
    pub fn n_observed(&self) -> usize {
        self.sequences.iter().map(Sequence::n_observed).sum()
    }

    /// The sequences with these numbers, counted from 0, in this order; names and common inputs stay.
    ///
    /// # Errors
    /// [`Error::Unknown`] if a number is not below `n_seq`; [`Error::Duplicate`] if one comes twice;
    /// [`Error::EmptyFamily`] if no observed output is among them.
    pub fn subset(&self, indices: &[usize]) -> Result<Self> {
        let pick = |&i: &usize| {
            self.sequences.get(i).cloned().ok_or_else(|| Error::Unknown {
                kind: "sequence number",
                name: i.to_string(),
                known: format!("0 to {}", self.n_seq() - 1),
            })
        };
        let sequences = indices.iter().map(pick).collect::<Result<Vec<_>>>()?;
        self.rebuilt(sequences, self.inputs.clone())
    }

    /// The family with other inputs, under names of their own: what `of` makes of those of so many steps that it has, common ones once.
    pub(crate) fn with_inputs_from(
        &self,
        of: impl Fn(Option<&Signal>, usize) -> Result<Signal>,
    ) -> Result<Self> {
        let renewed = |sequence: &Sequence| {
            let inputs = sequence.inputs().map(|inputs| of(Some(inputs), inputs.n_time())).transpose()?;
            sequence.rebuilt(sequence.id().into(), sequence.outputs().clone(), inputs)
        };
        let sequences = self.sequences.iter().map(renewed).collect::<Result<Vec<_>>>()?;
        let family = Self::new(sequences)?.with_output_names(self.output_names.clone())?;
        match &self.inputs {
            Inputs::Own => Ok(family),
            Inputs::Common(inputs) => family.with_common_inputs(of(Some(inputs), inputs.n_time())?),
            Inputs::None => family.with_common_inputs(of(None, self.max_time())?),
        }
    }

    /// A family of other sequences and inputs under the same column names.
    fn rebuilt(&self, sequences: Vec<Sequence>, inputs: Inputs) -> Result<Self> {
        let family = Self::new(sequences)?.with_output_names(self.output_names.clone())?;
        let family = match inputs {
            Inputs::Common(inputs) => family.with_common_inputs(inputs)?,
            Inputs::None | Inputs::Own => family,
        };
        family.with_input_names(self.input_names.clone())
    }

    /// The first ids and the number of the rest, for an error message.
    fn some_ids(&self) -> String {
        let shown: Vec<_> = self.sequences.iter().take(N_NAMES_SHOWN).map(Sequence::id).collect();
        match self.n_seq() - shown.len() {
            0 => shown.join(", "),
            more => format!("{}, and {more} more", shown.join(", ")),
        }
    }
}

/// `sequence` must have the widths of `first`, and inputs if and only if `first` has.
fn check_widths(sequence: &Sequence, first: &Sequence) -> Result<()> {
    let columns = |signal: Option<&Signal>| match signal {
        None => "none".to_string(),
        Some(signal) => format!("{} column(s)", signal.width()),
    };
    let signals = [
        ("outputs", Some(sequence.outputs()), Some(first.outputs())),
        ("inputs", sequence.inputs(), first.inputs()),
    ];
    for (kind, found, expected) in signals {
        if found.map(Signal::width) != expected.map(Signal::width) {
            let what = format!("{kind} of sequence `{}`", sequence.id());
            let expected = format!("{} as in sequence `{}`", columns(expected), first.id());
            return Err(Error::shape(what, expected, columns(found)));
        }
    }
    Ok(())
}

/// No name may come twice.
fn check_distinct<'a>(kind: &'static str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::Duplicate { kind, name: name.into() });
        }
    }
    Ok(())
}

/// Given names, as many as there are columns, each once.
fn checked_names<N: Into<String>>(
    kind: &'static str,
    names: impl IntoIterator<Item = N>,
    width: usize,
) -> Result<Vec<String>> {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    if names.len() != width {
        return Err(Error::shape(format!("{kind} names"), width, names.len()));
    }
    check_distinct(kind, names.iter().map(String::as_str))?;
    Ok(names)
}

/// `prefix1`, `prefix2`, …, or `prefix` alone for a single column.
fn default_names(prefix: &str, width: usize) -> Vec<String> {
    match width {
        1 => vec![prefix.to_string()],
        _ => (1..=width).map(|column| format!("{prefix}{column}")).collect(),
    }
}
