//! From the units of the data to those of the model and back, column by column.
//!
//! ```text
//! model = (data − offset) / scale        data = offset + scale · model
//! log p(y) = log p(model y) − Σ_d log scale_d        over the observed outputs d of a step
//!
//! offset, scale: d_obs for outputs, d_input for inputs; scale > 0
//! ```

use serde::{Deserialize, Serialize};

use super::{Family, Inputs, Sequence, Signal};
use crate::{Error, Result};

/// An offset and a scale for every output and every input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    outputs: Columns,
    inputs: Columns,
}

/// An affine map of every column of a signal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredColumns")]
struct Columns {
    offset: Vec<f64>,
    scale: Vec<f64>,
}

/// Columns as they come from a file, not yet checked.
#[derive(Deserialize)]
struct StoredColumns {
    offset: Vec<f64>,
    scale: Vec<f64>,
}

impl Scaling {
    /// The scaling that changes nothing.
    #[must_use]
    pub fn identity(d_obs: usize, d_input: usize) -> Self {
        Self { outputs: Columns::identity(d_obs), inputs: Columns::identity(d_input) }
    }

    /// The scaling to mean 0 and standard deviation 1 of every output and every input.
    ///
    /// Missing outputs are left out. A column that is constant, but for rounding, keeps scale 1; one that
    /// was never observed keeps offset 0 as well. Inputs known ahead of the outputs count, and common
    /// inputs count once. Where an input of 0 has a meaning, as in an impulse, take
    /// [`Scaling::standard_outputs`].
    ///
    /// # Errors
    /// [`Error::NotFinite`] if the values are so large that their mean or deviation is not a number.
    pub fn standard(family: &Family) -> Result<Self> {
        let inputs = Columns::standard(&all_inputs(family), family.input_names())?;
        Ok(Self { inputs, ..Self::standard_outputs(family)? })
    }

    /// As [`Scaling::standard`] for the outputs; the inputs stay as they are.
    ///
    /// # Errors
    /// As [`Scaling::standard`].
    pub fn standard_outputs(family: &Family) -> Result<Self> {
        let outputs: Vec<&Signal> = family.sequences().iter().map(Sequence::outputs).collect();
        let outputs = Columns::standard(&outputs, family.output_names())?;
        Ok(Self { outputs, inputs: Columns::identity(family.d_input()) })
    }

    /// As [`Scaling::standard_outputs`], and every input divided by the root mean square of its values other than 0; an
    /// input that is always 0 stays as it is.
    ///
    /// # Errors
    /// As [`Scaling::standard`].
    pub fn standard_outputs_and_input_units(family: &Family) -> Result<Self> {
        let signals = all_inputs(family);
        let mut inputs = Columns::identity(family.d_input());
        for (c, name) in family.input_names().iter().enumerate() {
            let squares = signals.iter().flat_map(|s| s.rows()).map(|row| row[c] * row[c]);
            let squares: Vec<f64> = squares.filter(|square| *square != 0.0).collect();
            let size = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
            if !size.is_finite() {
                let what = format!("root mean square of column `{name}`");
                return Err(Error::NotFinite {
                    what,
                    value: size,
                    hint: "; choose a larger unit for the column",
                });
            }
            inputs.scale[c] = if size.is_normal() { size } else { 1.0 };
        }
        Ok(Self { inputs, ..Self::standard_outputs(family)? })
    }

    /// Number of outputs this scaling is for.
    #[must_use]
    pub fn d_obs(&self) -> usize {
        self.outputs.offset.len()
    }

    /// Number of inputs this scaling is for.
    #[must_use]
    pub fn d_input(&self) -> usize {
        self.inputs.offset.len()
    }

    /// What is taken from output `d`, counted from 0, in units of the data.
    ///
    /// # Panics
    /// If `d` is not below `d_obs`, as indexing does.
    #[must_use]
    pub fn offset(&self, d: usize) -> f64 {
        self.outputs.offset[d]
    }

    /// What one unit of output `d`, counted from 0, in the model is worth in units of the data; positive.
    ///
    /// # Panics
    /// If `d` is not below `d_obs`, as indexing does.
    #[must_use]
    pub fn scale(&self, d: usize) -> f64 {
        self.outputs.scale[d]
    }

    /// `Σ_d log scale_d`: the log density of a whole observed step falls by this from model to data units.
    ///
    /// With missing outputs see [`Scaling::log_unit`].
    #[must_use]
    pub fn log_det(&self) -> f64 {
        self.outputs.scale.iter().map(|scale| scale.ln()).sum()
    }

    /// By how much the log density of these outputs, those that were observed, falls from model to data units.
    #[must_use]
    pub fn log_unit(&self, outputs: &Signal) -> f64 {
        let logs: Vec<f64> = self.outputs.scale.iter().map(|scale| scale.ln()).collect();
        let observed = outputs.rows().flat_map(|row| row.iter().zip(&logs)).filter(|(y, _)| !y.is_nan());
        observed.map(|(_, log)| log).sum()
    }

    /// The family in model units; ids, labels, names and missing outputs stay.
    ///
    /// # Errors
    /// [`Error::Shape`] if the widths differ; [`Error::NotFinite`] if a scaled value overflows.
    pub fn apply(&self, family: &Family) -> Result<Family> {
        if family.d_input() != self.d_input() {
            return Err(Error::shape("inputs to scale", columns(self.d_input()), columns(family.d_input())));
        }
        let scale = |sequence: &Sequence| {
            let outputs = self.outputs_to_model(sequence.outputs())?;
            let inputs = sequence.inputs().map(|inputs| self.inputs_to_model(inputs)).transpose()?;
            sequence.rebuilt(sequence.id().into(), outputs, inputs)
        };
        let sequences = family.sequences().iter().map(scale).collect::<Result<Vec<_>>>()?;
        let inputs = match family.inputs() {
            Inputs::Common(inputs) => Inputs::Common(self.inputs_to_model(inputs)?),
            other => other.clone(),
        };
        family.rebuilt(sequences, inputs)
    }

    /// Outputs in model units, `n_time × d_obs`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the width is not `d_obs`.
    pub fn outputs_to_model(&self, outputs: &Signal) -> Result<Signal> {
        self.outputs.check(outputs, "outputs to scale")?;
        Ok(self.outputs.to_model(outputs))
    }

    /// Outputs in units of the data, `n_time × d_obs`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the width is not `d_obs`.
    pub fn outputs_from_model(&self, outputs: &Signal) -> Result<Signal> {
        self.outputs.check(outputs, "outputs to scale back")?;
        Ok(outputs.map(|c, value| self.outputs.offset[c] + self.outputs.scale[c] * value))
    }

    /// Inputs in model units, `n_time × d_input`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the width is not `d_input`.
    pub fn inputs_to_model(&self, inputs: &Signal) -> Result<Signal> {
        self.inputs.check(inputs, "inputs to scale")?;
        Ok(self.inputs.to_model(inputs))
    }
}

impl Columns {
    fn identity(width: usize) -> Self {
        Self { offset: vec![0.0; width], scale: vec![1.0; width] }
    }

    fn standard(signals: &[&Signal], names: &[String]) -> Result<Self> {
        let (mut offset, mut scale) = (Vec::new(), Vec::new());
        for (c, name) in names.iter().enumerate() {
            let column = || signals.iter().flat_map(|signal| signal.rows()).map(move |row| row[c]);
            let (mean, std_dev) = mean_and_std_dev(|| column().filter(|value| !value.is_nan()));
            if let Some(value) = [mean, std_dev].into_iter().find(|value| !value.is_finite()) {
                let what = format!("mean or standard deviation of column `{name}`");
                return Err(Error::NotFinite { what, value, hint: "; choose a larger unit for the column" });
            }
            offset.push(mean);
            scale.push(std_dev);
        }
        Ok(Self { offset, scale })
    }

    fn to_model(&self, signal: &Signal) -> Signal {
        signal.map(|c, value| (value - self.offset[c]) / self.scale[c])
    }

    fn check(&self, signal: &Signal, what: &str) -> Result<()> {
        if signal.width() == self.offset.len() {
            return Ok(());
        }
        Err(Error::shape(what, columns(self.offset.len()), columns(signal.width())))
    }
}

impl TryFrom<StoredColumns> for Columns {
    type Error = Error;

    fn try_from(StoredColumns { offset, scale }: StoredColumns) -> Result<Self> {
        if offset.len() != scale.len() {
            return Err(Error::shape("scales", format!("{}, one per offset", offset.len()), scale.len()));
        }
        let positive = scale.iter().all(|scale| scale.is_finite() && *scale > 0.0);
        if !positive || offset.iter().any(|offset| !offset.is_finite()) {
            return Err(Error::setting("scaling", "expected finite offsets and positive finite scales"));
        }
        Ok(Self { offset, scale })
    }
}

/// All inputs of a family; common ones once.
fn all_inputs(family: &Family) -> Vec<&Signal> {
    match family.inputs() {
        Inputs::None => Vec::new(),
        Inputs::Common(inputs) => vec![inputs],
        Inputs::Own => family.sequences().iter().filter_map(Sequence::inputs).collect(),
    }
}

fn columns(width: usize) -> String {
    format!("{width} column(s)")
}

/// Mean and standard deviation (dividing by n) in two passes; deviation 1 if nothing or nothing varies.
fn mean_and_std_dev<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> (f64, f64) {
    let Some(first) = values().next() else {
        return (0.0, 1.0);
    };
    let n = values().count() as f64;
    // Sums of differences from a value of the column: a constant column then has deviation 0 exactly.
    let mean = first + values().map(|value| value - first).sum::<f64>() / n;
    let std_dev = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    let largest = values().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let rounding = 4.0 * f64::EPSILON * largest;
    (mean, if std_dev <= rounding { 1.0 } else { std_dev })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn family(rows: Vec<Vec<f64>>) -> Family {
        Family::new(vec![Sequence::new("a", Signal::from_rows(rows).unwrap()).unwrap()]).unwrap()
    }

    #[test]
    fn standard_ignores_missing_and_keeps_constants() {
        let nan = f64::NAN;
        let rows = [[1.0, 0.1, nan, nan], [nan, 0.1, nan, 7.0], [3.0, 0.1, nan, nan], [5.0, 0.1, nan, nan]];
        let scaling = Scaling::standard(&family(rows.map(|row| row.to_vec()).to_vec())).unwrap();
        assert_eq!(scaling.outputs.offset, [3.0, 0.1, 0.0, 7.0]);
        let expected = (8.0f64 / 3.0).sqrt();
        assert!((scaling.scale(0) - expected).abs() < 1e-15);
        assert_eq!(scaling.outputs.scale[1..], [1.0, 1.0, 1.0]);
        assert!((scaling.log_det() - expected.ln()).abs() < 1e-15);
    }

    #[test]
    fn the_unit_counts_observed_values() {
        let nan = f64::NAN;
        let outputs = family(vec![vec![1.0, nan], vec![5.0, 2.0], vec![nan, nan], vec![9.0, 8.0]]);
        let scaling = Scaling::standard(&outputs).unwrap();
        let found = scaling.log_unit(outputs.sequence(0).outputs());
        let expected = 3.0 * scaling.scale(0).ln() + 2.0 * scaling.scale(1).ln();
        assert!((found - expected).abs() < 1e-14);
    }

    #[test]
    fn only_rounding_counts_as_constant() {
        let scaling = Scaling::standard(&family(vec![vec![0.1]; 10_001])).unwrap();
        assert_eq!((scaling.offset(0), scaling.scale(0)), (0.1, 1.0));
        let rounded = Scaling::standard(&family(vec![vec![0.1 + 0.2], vec![0.3]])).unwrap();
        assert_eq!(rounded.scale(0), 1.0);
        let far = (0..10_000).map(|t| vec![1e9 + 0.25 * f64::from(t % 2)]).collect();
        assert_eq!(Scaling::standard(&family(far)).unwrap().scale(0), 0.125);
    }

    #[test]
    fn sequences_and_both_kinds_of_inputs_are_pooled() {
        let give = |id: &str, outputs: &[f64], inputs: &[f64]| {
            let sequence = Sequence::new(id, Signal::column(outputs.to_vec())).unwrap();
            sequence.with_inputs(Signal::column(inputs.to_vec())).unwrap()
        };
        let own = Family::new(vec![give("a", &[0.0], &[2.0, 4.0]), give("b", &[2.0], &[6.0])]).unwrap();
        let scaling = Scaling::standard(&own).unwrap();
        assert_eq!((scaling.offset(0), scaling.scale(0), scaling.inputs.offset[0]), (1.0, 1.0, 4.0));
        let scaled = scaling.apply(&own).unwrap();
        assert_eq!(scaled.inputs_of(0).unwrap().get(0, 0), -(1.5f64.sqrt()));
        assert_eq!(scaled.sequence(1).outputs().values(), [1.0]);

        let common = family(vec![vec![0.0], vec![2.0]]);
        let common = common.with_common_inputs(Signal::column(vec![1.0, 1.0, 4.0])).unwrap();
        assert_eq!(Scaling::standard(&common).unwrap().inputs.offset, [2.0]);
        let scaled = Scaling::standard(&common).unwrap().apply(&common).unwrap();
        assert_eq!(scaled.inputs_of(0).unwrap().n_time(), 3);
        assert_eq!(
            Scaling::standard_outputs(&common).unwrap().apply(&common).unwrap().inputs(),
            common.inputs()
        );
    }

    #[test]
    fn widths_are_checked() {
        let scaling = Scaling::identity(2, 1);
        let narrow = Signal::column(vec![1.0]);
        assert!(matches!(scaling.outputs_to_model(&narrow), Err(Error::Shape { .. })));
        assert!(matches!(scaling.outputs_from_model(&narrow), Err(Error::Shape { .. })));
        assert!(scaling.inputs_to_model(&narrow).is_ok());
        assert!(matches!(scaling.apply(&family(vec![vec![1.0, 2.0]])), Err(Error::Shape { .. })));
        let wide = family(vec![vec![1.0, 2.0]]).with_common_inputs(narrow).unwrap();
        assert_eq!(scaling.apply(&wide).unwrap(), wide);
    }

    #[test]
    fn overflow_is_an_error() {
        let huge = family(vec![vec![1e308], vec![-1e308]]);
        assert!(matches!(Scaling::standard(&huge), Err(Error::NotFinite { .. })));
        let tiny = Scaling::standard(&family(vec![vec![0.0], vec![1e-9]])).unwrap();
        assert!(matches!(tiny.apply(&huge), Err(Error::NotFinite { .. })));
    }

    #[test]
    fn stored_scalings_are_checked() {
        let scaling = Scaling::standard(&family(vec![vec![0.1], vec![0.7]])).unwrap();
        let text = serde_json::to_string(&scaling).unwrap();
        assert_eq!(serde_json::from_str::<Scaling>(&text).unwrap(), scaling);
        for (outputs, fine) in [("1.0", true), ("0.0", false), ("-1.0", false), ("1.0,1.0", false)] {
            let none = r#"{"offset":[],"scale":[]}"#;
            let text = format!(r#"{{"outputs":{{"offset":[0.0],"scale":[{outputs}]}},"inputs":{none}}}"#);
            assert_eq!(serde_json::from_str::<Scaling>(&text).is_ok(), fine, "{outputs}");
        }
    }

    #[test]
    fn input_units_keep_zero_and_make_the_usual_size_one() {
        let inputs = Signal::new(3, 2, vec![0.0, 0.0, 60.0, 0.0, 0.0, 0.0]).unwrap();
        let outputs = Sequence::new("a", Signal::column(vec![1.0, 2.0, 3.0])).unwrap();
        let family = Family::new(vec![outputs.with_inputs(inputs.clone()).unwrap()]).unwrap();
        let scaling = Scaling::standard_outputs_and_input_units(&family).unwrap();
        let scaled = scaling.inputs_to_model(&inputs).unwrap();
        let expected = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        assert!(scaled.values().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{scaled:?}");
        assert_eq!(scaling.offset(0), 2.0);
    }

    proptest! {
        #[test]
        fn scaled_columns_are_standard_and_come_back(
            rows in prop::collection::vec(prop::collection::vec(-1e3..1e3f64, 2), 3..40),
            (shift, unit) in (-1e3..1e3f64, 1e-3..1e3f64),
        ) {
            let rows = rows.into_iter().map(|row| row.iter().map(|v| shift + unit * v).collect()).collect();
            let family = family(rows);
            let outputs = family.sequence(0).outputs();
            let scaling = Scaling::standard(&family).unwrap();
            let scaled = scaling.outputs_to_model(outputs).unwrap();
            let applied = scaling.apply(&family).unwrap();
            prop_assert_eq!(&scaled, applied.sequence(0).outputs());
            for c in 0..2 {
                let (mean, std_dev) = mean_and_std_dev(|| scaled.rows().map(|row| row[c]));
                prop_assert!(mean.abs() < 1e-6 && (std_dev - 1.0).abs() < 1e-6);
            }
            let back = scaling.outputs_from_model(&scaled).unwrap();
            for (value, original) in back.values().iter().zip(outputs.values()) {
                prop_assert!((value - original).abs() <= 1e-9 * (1.0 + shift.abs() + 1e3 * unit));
            }
        }
    }
}
