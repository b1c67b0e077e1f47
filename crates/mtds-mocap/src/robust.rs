//! Medians and quantiles, which a few broken frames cannot move.

use mtds::parts::quantile_of;

/// The value below which a share `share` of `values` lies, by linear interpolation; none without values.
///
/// `share` is held within [0, 1]; values must be finite.
pub(crate) fn quantile(values: impl IntoIterator<Item = f64>, share: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    quantile_of(&sorted, share)
}

/// The middle value; none without values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(values, 0.5)
}

/// Runs of equal values, as ranges of places, in order.
pub(crate) fn runs<T: PartialEq>(values: &[T]) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for end in 1..=values.len() {
        if end == values.len() || values[end] != values[start] {
            runs.push(start..end);
            start = end;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_and_nothing_has_none() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(quantile([0.0, 10.0], 0.25), Some(2.5));
        assert_eq!(quantile([4.0], 2.0), Some(4.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn runs_cover_everything_once() {
        assert_eq!(runs(&[1, 1, 2, 1]), [0..2, 2..3, 3..4]);
        assert!(runs::<u8>(&[]).is_empty());
    }
}
