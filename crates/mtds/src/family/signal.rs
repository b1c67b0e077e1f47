//! A table of numbers over time: the outputs or the inputs of one sequence.

use std::ops::Range;
use std::sync::Arc;

use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

use super::values::Values;
use crate::{Error, Result};

/// Values that are looked at together when one is searched for.
const AT_ONCE: usize = 256;

/// Values over time, `n_time × width`, stored row by row; NaN stands for a missing value.
///
/// A signal may have no time steps, but always has at least one column. Two signals are equal when their
/// shapes are and each value is the same or missing in both. Stored as text, a missing value is null.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "StoredSignal")]
pub struct Signal {
    n_time: usize,
    width: usize,
    #[serde(serialize_with = "missing_as_null")]
    values: Values,
}

/// A signal as it comes from a file, its shape not yet checked.
#[derive(Deserialize)]
struct StoredSignal {
    n_time: usize,
    width: usize,
    values: Vec<Option<f64>>,
}

impl Signal {
    /// A signal from its values, row by row: `values[t * width + c]`.
    ///
    /// # Errors
    /// [`Error::Shape`] if `width` is 0 or `values` does not hold `n_time × width` numbers.
    pub fn new(n_time: usize, width: usize, values: Vec<f64>) -> Result<Self> {
        Self::of(n_time, width, Values::Own(values))
    }

    /// A signal whose values are those from `start` on in a block that it shares with others, and keeps alive: for families that are too
    /// large to ask for memory sequence by sequence.
    ///
    /// # Errors
    /// As [`Signal::new`]; [`Error::Shape`] if the block ends before.
    pub fn shared(
        n_time: usize,
        width: usize,
        of: Arc<dyn AsRef<[f64]> + Send + Sync>,
        start: usize,
    ) -> Result<Self> {
        let n = (*of).as_ref().len();
        match n_time.checked_mul(width).and_then(|len| start.checked_add(len)) {
            Some(end) if end <= n => Self::of(n_time, width, Values::Part { of, range: start..end }),
            _ => {
                let expected = format!("{n_time} × {width} values from number {start} on");
                Err(Error::shape("block of a signal", expected, format!("{n} values in all")))
            }
        }
    }

    fn of(n_time: usize, width: usize, values: Values) -> Result<Self> {
        if width == 0 {
            return Err(Error::shape("signal", "at least one column", "none"));
        }
        if n_time.checked_mul(width) != Some(values.len()) {
            let expected = format!("{n_time} × {width} values");
            return Err(Error::shape("signal", expected, format!("{} values", values.len())));
        }
        Ok(Self { n_time, width, values })
    }

    /// A signal from its rows, one per time step.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no row, or if the rows are empty or differ in width.
    pub fn from_rows(rows: Vec<Vec<f64>>) -> Result<Self> {
        let Some(width) = rows.first().map(Vec::len) else {
            return Err(Error::shape("signal", "at least one row", "none"));
        };
        if let Some(t) = rows.iter().position(|row| row.len() != width) {
            let expected = format!("{width} values, as in row 1");
            return Err(Error::shape(format!("row {} of a signal", t + 1), expected, rows[t].len()));
        }
        Self::new(rows.len(), width, rows.concat())
    }

    /// A signal of one column.
    #[must_use]
    pub fn column(values: Vec<f64>) -> Self {
        Self { n_time: values.len(), width: 1, values: Values::Own(values) }
    }

    /// Number of time steps.
    #[must_use]
    pub fn n_time(&self) -> usize {
        self.n_time
    }

    /// Number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The values of step `t`, counted from 0; length `width`.
    ///
    /// # Panics
    /// If `t` is not below `n_time`, as indexing does.
    #[must_use]
    pub fn row(&self, t: usize) -> &[f64] {
        &self.values[t * self.width..(t + 1) * self.width]
    }

    /// The rows in time order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width)
    }

    /// The value of column `c` at step `t`, both counted from 0.
    ///
    /// # Panics
    /// If `t` or `c` is out of range, as indexing does.
    #[must_use]
    pub fn get(&self, t: usize, c: usize) -> f64 {
        self.row(t)[c]
    }

    /// All values, row by row; length `n_time × width`.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The steps of `range`, counted from 0, as a signal of their own.
    ///
    /// # Panics
    /// If `range` reaches beyond `n_time`, as slicing does.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let values = self.values[range.start * self.width..range.end * self.width].to_vec();
        Self { n_time: range.len(), width: self.width, values: Values::Own(values) }
    }

    /// The position (step, column) and value of the first entry for which `refused` holds.
    pub(super) fn find(&self, refused: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        // Mostly there is none. Without a way out in the middle many are looked at at once.
        let any = |values: &[f64]| values.iter().fold(false, |any, &value| any | refused(value));
        let first = AT_ONCE * self.values.chunks(AT_ONCE).position(any)?;
        let position = first + self.values[first..].iter().position(|&value| refused(value))?;
        Some((position / self.width, position % self.width, self.values[position]))
    }

    /// The signal with `change(column, value)` in place of every value.
    pub(super) fn map(&self, change: impl Fn(usize, f64) -> f64) -> Self {
        let values =
            self.values.iter().enumerate().map(|(i, &value)| change(i % self.width, value)).collect();
        Self { n_time: self.n_time, width: self.width, values: Values::Own(values) }
    }
}

impl PartialEq for Signal {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
        (self.n_time, self.width) == (other.n_time, other.width)
            && self.values.iter().zip(other.values.iter()).all(same)
    }
}

impl TryFrom<StoredSignal> for Signal {
    type Error = Error;

    fn try_from(stored: StoredSignal) -> Result<Self> {
        let values = stored.values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        Self::new(stored.n_time, stored.width, values)
    }
}

/// Writes NaN as null; refuses infinities, which a text format would turn into missing values.
fn missing_as_null<S: Serializer>(values: &[f64], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    if values.iter().any(|value| value.is_infinite()) {
        return Err(S::Error::custom("a signal with an infinite value cannot be stored"));
    }
    serializer.collect_seq(values.iter().map(|value| (!value.is_nan()).then_some(*value)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_are_stored_in_time_order() {
        let signal = Signal::from_rows(vec![vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]]).unwrap();
        assert_eq!((signal.n_time(), signal.width()), (3, 2));
        assert_eq!(signal.row(1), [3.0, 4.0]);
        assert_eq!(signal.get(2, 0), 5.0);
        assert_eq!(signal.slice(1..3).values(), [3.0, 4.0, 5.0, 6.0]);
        assert_eq!(signal.rows().map(|row| row[1]).collect::<Vec<_>>(), [2.0, 4.0, 6.0]);
    }

    #[test]
    fn wrong_sizes_are_errors() {
        assert!(matches!(Signal::new(2, 2, vec![0.0; 3]), Err(Error::Shape { .. })));
        assert!(matches!(Signal::new(3, 0, vec![]), Err(Error::Shape { .. })));
        assert!(matches!(Signal::new(usize::MAX, 2, vec![0.0; 2]), Err(Error::Shape { .. })));
        assert!(matches!(Signal::from_rows(vec![]), Err(Error::Shape { .. })));
        assert!(matches!(Signal::from_rows(vec![vec![], vec![]]), Err(Error::Shape { .. })));
        let ragged = Signal::from_rows(vec![vec![1.0], vec![1.0, 2.0]]).unwrap_err();
        assert_eq!(ragged.to_string(), "row 2 of a signal: expected 1 values, as in row 1, found 2");
    }

    #[test]
    fn signals_share_a_block() {
        let block: Arc<dyn AsRef<[f64]> + Send + Sync> = Arc::new(vec![1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0]);
        let shared = |n_time, width, start| Signal::shared(n_time, width, block.clone(), start);
        let own = Signal::new(2, 2, vec![3.0, 4.0, f64::NAN, 6.0]).unwrap();
        let part = shared(2, 2, 2).unwrap();
        assert_eq!((&part, part.row(1)[1], part.find(f64::is_nan).unwrap().0), (&own, 6.0, 1));
        assert_eq!(part.slice(0..1).values(), [3.0, 4.0]);
        assert_eq!(serde_json::to_string(&part).unwrap(), serde_json::to_string(&own).unwrap());
        assert_eq!(format!("{part:?}"), format!("{own:?}"));
        assert_eq!(shared(0, 1, 6).unwrap().n_time(), 0);
        for (n_time, width, start) in
            [(2, 2, 3), (7, 1, 0), (0, 1, 7), (1, 0, 0), (usize::MAX, 2, 1), (1, 1, usize::MAX)]
        {
            assert!(
                matches!(shared(n_time, width, start), Err(Error::Shape { .. })),
                "{n_time} {width} {start}"
            );
        }
    }

    #[test]
    fn the_first_value_is_found_wherever_it_is() {
        for position in [0, 1, AT_ONCE - 1, AT_ONCE, 3 * AT_ONCE - 1] {
            let mut values = vec![0.0; 3 * AT_ONCE];
            values[position..].fill(1.0);
            let found = Signal::new(values.len(), 1, values).unwrap().find(|value| value > 0.5);
            assert_eq!(found, Some((position, 0, 1.0)));
        }
        assert_eq!(Signal::column(vec![0.0; 300]).find(|value| value > 0.5), None);
    }

    #[test]
    fn a_signal_may_have_no_steps() {
        let signal = Signal::new(0, 2, vec![]).unwrap();
        assert_eq!(signal.rows().count(), 0);
        assert_eq!(signal, signal.slice(0..0));
    }

    #[test]
    fn missing_equals_missing_and_nothing_else() {
        let gap = Signal::column(vec![1.0, f64::NAN]);
        assert_eq!(gap, Signal::column(vec![1.0, f64::NAN]));
        assert_ne!(gap, Signal::column(vec![1.0, 0.0]));
        assert_ne!(gap, Signal::new(1, 2, vec![1.0, f64::NAN]).unwrap());
    }

    #[test]
    fn stored_signals_are_checked() {
        let wrong = r#"{"n_time":2,"width":2,"values":[1.0,2.0,3.0]}"#;
        assert!(serde_json::from_str::<Signal>(wrong).is_err());
        assert!(serde_json::to_string(&Signal::column(vec![f64::INFINITY])).is_err());
        let text = serde_json::to_string(&Signal::column(vec![0.5, f64::NAN])).unwrap();
        assert_eq!(text, r#"{"n_time":2,"width":1,"values":[0.5,null]}"#);
    }

    proptest! {
        #[test]
        fn storing_and_slicing_keep_every_bit(
            (width, rows, cut) in (1usize..4).prop_flat_map(|width| (
                Just(width),
                prop::collection::vec(prop::collection::vec(-1e9..1e9f64, width), 1..9),
                0.0..1.0f64,
            )),
        ) {
            let signal = Signal::from_rows(rows.clone()).unwrap();
            let stored = serde_json::to_string(&signal).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Signal>(&stored).unwrap(), &signal);
            let middle = (cut * rows.len() as f64) as usize;
            let (head, tail) = (signal.slice(0..middle), signal.slice(middle..rows.len()));
            prop_assert_eq!((head.width(), tail.n_time()), (width, rows.len() - middle));
            prop_assert_eq!([head.values(), tail.values()].concat(), rows.concat());
        }
    }
}
