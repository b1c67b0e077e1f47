//! Forecasts from given starts, and their errors.

use mtds::evaluate::Estimate;
use mtds::{Result, Signal};

use super::cell::{Errors, StartRecord};
use super::material::{Material, Stretch, Units};
use super::split::Starts;

/// A start: what is seen, what there is to forecast, and the inputs of both.
#[derive(Clone, Debug)]
pub struct Window {
    /// The style of the clip.
    pub style: String,
    /// Outputs of all rows.
    pub outputs: Signal,
    /// Inputs of all rows.
    pub inputs: Signal,
    /// How many of them are seen.
    pub seen: usize,
}

/// How errors are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told<'a> {
    /// The mean over all rows ahead.
    Mean,
    /// At each of these rows ahead.
    At(&'a [usize]),
}

impl Window {
    /// The rows that are seen.
    #[must_use]
    pub fn past(&self) -> Signal {
        self.outputs.slice(0..self.seen)
    }

    /// How many rows there are to forecast.
    #[must_use]
    pub fn ahead(&self) -> usize {
        self.outputs.n_time() - self.seen
    }
}

/// The windows of some starts.
#[must_use]
pub fn windows(material: &Material, starts: &Starts, seen: usize) -> Vec<Window> {
    let window = |stretch: &Stretch| {
        let (outputs, inputs) = material.signals(stretch);
        Window { style: material.style(stretch).to_owned(), outputs, inputs, seen }
    };
    starts.windows.iter().map(window).collect()
}

/// Where starts lie, for a reader.
#[must_use]
pub fn records(material: &Material, starts: &Starts) -> Vec<StartRecord> {
    let record = |stretch: &Stretch| StartRecord {
        clip: material.clips()[stretch.clip].id.clone(),
        style: material.style(stretch).to_owned(),
        row: stretch.start,
    };
    starts.windows.iter().map(record).collect()
}

/// The errors of a way to forecast, which gives `ahead × d` means for a window.
///
/// # Errors
/// Those of the forecasts.
pub fn errors(
    method: &str,
    windows: &[Window],
    units: &Units,
    told: &Told<'_>,
    forecast: &mut dyn FnMut(&Window) -> Result<Vec<f64>>,
) -> Result<Errors> {
    let mut squares: Vec<Vec<f64>> = vec![];
    for window in windows {
        let (mean, d) = (forecast(window)?, window.outputs.width());
        let rows = mean.chunks(d).enumerate();
        squares.push(rows.map(|(h, row)| units.squared(window.outputs.row(window.seen + h), row)).collect());
    }
    let longest = squares.iter().map(Vec::len).max().unwrap_or(0);
    let at = |h: usize| mean(squares.iter().filter_map(|of| of.get(h).copied()));
    let of_start = |of: &Vec<f64>| match told {
        Told::Mean => vec![mean(of.iter().copied())],
        Told::At(rows) => rows.iter().map(|&h| of.get(h - 1).copied()).collect(),
    };
    Ok(Errors {
        method: method.to_owned(),
        starts: squares.iter().map(of_start).collect(),
        curve: (0..longest).map(at).collect(),
    })
}

/// The mean of some numbers, if there are any.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    Some(Estimate::of(&values.collect::<Vec<_>>())?.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two outputs with deviations 1 and 2, off by 1 and 4: (1 + 4) / 2 at every row.
    #[test]
    fn errors_are_in_deviations_and_end_with_the_clip() {
        let window = |n: usize| Window {
            style: "old".into(),
            outputs: Signal::from_rows((0..n).map(|t| vec![t as f64, 0.0]).collect()).expect("one width"),
            inputs: Signal::column(vec![0.0; n]),
            seen: 3,
        };
        let units = Units { mean: vec![0.0; 2], deviation: vec![1.0, 2.0] };
        let windows = [window(8), window(5)];
        let mut forecast =
            |window: &Window| Ok((0..window.ahead()).flat_map(|h| [h as f64 + 4.0, 4.0]).collect());
        let found = errors("it", &windows, &units, &Told::At(&[1, 5]), &mut forecast).unwrap();
        assert_eq!(found.starts, [vec![Some(2.5), Some(2.5)], vec![Some(2.5), None]]);
        assert_eq!(found.curve, vec![Some(2.5); 5]);
        let found = errors("it", &windows, &units, &Told::Mean, &mut forecast).unwrap();
        assert_eq!(found.starts, [[Some(2.5)], [Some(2.5)]]);
        assert!(units.squared(&[1.0, 2.0], &[1.0, 2.0]).abs() < 1e-15);
    }
}
