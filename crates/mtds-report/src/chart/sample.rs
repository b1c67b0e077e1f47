//! A sample in order: the numbers that boxes and violins are drawn from.
//!
//! ```text
//! quantile(q)   between the order statistics around q (n − 1), by linear interpolation
//! whiskers      the most extreme values within 1.5 (Q₃ − Q₁) of the box        Tukey (1977)
//! ```

use super::scale::{Spacing, is_drawable};
use mtds::parts::quantile_of;

/// How many interquartile ranges a whisker may reach.
const WHISKER_REACH: f64 = 1.5;

/// The values of a sample that have a place on an axis, in increasing order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    sorted: Vec<f64>,
    left_out: usize,
}

/// What a box plot shows of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxSummary {
    /// Lower and upper end of the whiskers.
    pub whiskers: (f64, f64),
    /// First and third quartile.
    pub quartiles: (f64, f64),
    /// The median.
    pub median: f64,
    /// Values beyond the whiskers.
    pub outliers: Vec<f64>,
}

impl Sample {
    /// The values with a place on an axis of this spacing; the others are counted.
    pub fn new(values: &[f64], spacing: Spacing) -> Self {
        let has_place = |v: &f64| is_drawable(*v) && (spacing == Spacing::Linear || *v > 0.0);
        let mut sorted: Vec<f64> = values.iter().copied().filter(has_place).collect();
        sorted.sort_by(f64::total_cmp);
        let left_out = values.len() - sorted.len();
        Self { sorted, left_out }
    }

    /// The values, increasing.
    pub fn values(&self) -> &[f64] {
        &self.sorted
    }

    /// How many values had no place.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The quantile at a share from 0 to 1; `None` without values.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        quantile_of(&self.sorted, share)
    }

    /// Smallest, middle and largest value; `None` without values.
    pub fn three_numbers(&self) -> Option<[f64; 3]> {
        Some([self.quantile(0.0)?, self.quantile(0.5)?, self.quantile(1.0)?])
    }

    /// What a box plot shows; `None` without values.
    pub fn boxed(&self) -> Option<BoxSummary> {
        let (q1, median, q3) = (self.quantile(0.25)?, self.quantile(0.5)?, self.quantile(0.75)?);
        let reach = WHISKER_REACH * (q3 - q1);
        let is_inside = |v: &&f64| (q1 - reach..=q3 + reach).contains(*v);
        let mut inside = self.sorted.iter().filter(is_inside).copied();
        // Interpolated quartiles can lie beyond every value on their side: a whisker never ends in the box.
        let low = inside.next().map_or(q1, |v| v.min(q1));
        let high = inside.next_back().map_or(q3, |v| v.max(q3));
        let outliers = self.sorted.iter().filter(|v| !is_inside(v)).copied().collect();
        Some(BoxSummary { whiskers: (low, high), quartiles: (q1, q3), median, outliers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_neighbours() {
        let sample = Sample::new(&[4.0, 1.0, 3.0, 2.0], Spacing::Linear);
        assert_eq!(sample.three_numbers(), Some([1.0, 2.5, 4.0]));
        assert_eq!(sample.quantile(0.25), Some(1.75));
        assert_eq!(Sample::default().quantile(0.5), None);
    }

    #[test]
    fn what_has_no_place_is_counted() {
        let values = [f64::NAN, -1.0, 0.0, 2.0, f64::INFINITY];
        assert_eq!(Sample::new(&values, Spacing::Linear).left_out(), 2);
        let log = Sample::new(&values, Spacing::Log);
        assert_eq!((log.values(), log.left_out()), (&[2.0][..], 4));
    }

    #[test]
    fn whiskers_end_at_the_last_value_within_reach() {
        // Quartiles 2 and 4, so that whiskers reach from −1 to 7.
        let boxed = Sample::new(&[1.0, 2.0, 3.0, 4.0, 7.5], Spacing::Linear).boxed().unwrap();
        assert_eq!((boxed.quartiles, boxed.median), ((2.0, 4.0), 3.0));
        assert_eq!(boxed.whiskers, (1.0, 4.0));
        assert_eq!(boxed.outliers, [7.5]);
        let one = Sample::new(&[5.0], Spacing::Linear).boxed().unwrap();
        assert_eq!((one.whiskers, one.quartiles, one.outliers.len()), ((5.0, 5.0), (5.0, 5.0), 0));
    }

    /// Quartiles 1.75 and 27.5, fences −36.9 and 66.1: 100 is outside, and the largest value inside, 3, is
    /// below the box's upper edge.
    #[test]
    fn a_whisker_never_ends_inside_the_box() {
        let boxed = Sample::new(&[1.0, 2.0, 3.0, 100.0], Spacing::Linear).boxed().unwrap();
        assert_eq!(boxed.quartiles, (1.75, 27.25));
        assert_eq!((boxed.whiskers, boxed.outliers.as_slice()), ((1.0, 27.25), &[100.0][..]));
    }
}
