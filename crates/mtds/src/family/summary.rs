//! What the columns of a family hold: how many values, how many missing, where they lie.

use super::{Family, Sequence, Signal};

/// One column of a family over all of its sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// What it is to the model.
    pub role: ColumnRole,
    /// Values that are there.
    pub n: usize,
    /// Share of the values that are missing.
    pub missing: f64,
    /// Mean; NaN, as all that follow, where no value is there.
    pub mean: f64,
    /// Standard deviation, over n.
    pub std_dev: f64,
    /// Smallest value.
    pub least: f64,
    /// Largest value.
    pub most: f64,
}

/// What a column is to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// It is forecast.
    Output,
    /// It is known beforehand.
    Input,
}

impl Family {
    /// What each column holds, outputs first. Inputs in common count once per sequence.
    #[must_use]
    pub fn column_summaries(&self) -> Vec<ColumnSummary> {
        let outputs: Vec<&Signal> = self.sequences().iter().map(Sequence::outputs).collect();
        let inputs: Vec<&Signal> = (0..self.n_seq()).filter_map(|i| self.inputs_of(i)).collect();
        let of = |role, names: &[String], signals: &[&Signal]| -> Vec<ColumnSummary> {
            let named = names.iter().enumerate();
            named.map(|(c, name)| ColumnSummary::of(name, role, signals, c)).collect()
        };
        let mut columns = of(ColumnRole::Output, self.output_names(), &outputs);
        columns.extend(of(ColumnRole::Input, self.input_names(), &inputs));
        columns
    }
}

impl ColumnSummary {
    /// Column `c` of all signals.
    fn of(name: &str, role: ColumnRole, signals: &[&Signal], c: usize) -> Self {
        let all = || signals.iter().flat_map(move |signal| signal.rows().map(move |row| row[c]));
        let observed = || all().filter(|y| !y.is_nan());
        let (n, total) = (observed().count(), all().count());
        let mean = observed().sum::<f64>() / n as f64;
        let variance = observed().map(|y| (y - mean).powi(2)).sum::<f64>() / n as f64;
        Self {
            name: name.to_owned(),
            role,
            n,
            missing: (total - n) as f64 / total as f64,
            mean,
            std_dev: variance.sqrt(),
            least: observed().fold(f64::NAN, f64::min),
            most: observed().fold(f64::NAN, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_say_what_they_hold() {
        let signal = Signal::new(3, 2, vec![1.0, 5.0, f64::NAN, 5.0, 3.0, 5.0]).unwrap();
        let family = Family::new(vec![Sequence::new("a", signal).unwrap()]).unwrap();
        let family = family.with_common_inputs(Signal::column(vec![0.0, 1.0, 2.0])).unwrap();
        let found = family.column_summaries();
        assert_eq!((found[0].n, found[0].mean, found[0].std_dev), (2, 2.0, 1.0));
        assert_eq!((found[0].least, found[0].most, found[1].std_dev), (1.0, 3.0, 0.0));
        assert!((found[0].missing - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((found[2].role, found[2].n, found[2].mean), (ColumnRole::Input, 3, 1.0));
    }

    #[test]
    fn a_column_without_values_has_no_mean() {
        let signal = Signal::new(1, 2, vec![1.0, f64::NAN]).unwrap();
        let family = Family::new(vec![Sequence::new("a", signal).unwrap()]).unwrap();
        let empty = &family.column_summaries()[1];
        assert_eq!((empty.n, empty.missing), (0, 1.0));
        assert!(empty.mean.is_nan() && empty.std_dev.is_nan() && empty.least.is_nan() && empty.most.is_nan());
    }
}
