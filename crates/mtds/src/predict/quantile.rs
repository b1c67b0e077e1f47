//! Quantiles of values.

/// The value below which a share of `sorted` lies, by linear interpolation between neighbours; `None` without values.
///
/// `share` is held within 0 and 1; values rise and are finite.
#[must_use]
pub fn quantile_of(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + place.fract() * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_values_lie_between_neighbours() {
        let values = [1.0, 2.0, 4.0];
        let at = [-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0];
        assert_eq!(at.map(|share| quantile_of(&values, share).unwrap()), [1.0, 1.0, 1.5, 2.0, 3.0, 4.0, 4.0]);
        assert_eq!((quantile_of(&[4.0], 0.3), quantile_of(&[], 0.3)), (Some(4.0), None));
    }
}
