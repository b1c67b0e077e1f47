//! Motions at one pace: a classifier is not to tell styles by how fast the gait cycles.
//!
//! ```text
//! row k of a segment at the usual pace is where the phase has advanced by 2π k / 33 since its first row, between rows in a straight line
//! ```
//! The phase comes from the inputs. 33 rows, 1.1 s, are the mean cycle of the paper's recordings.

use std::f64::consts::TAU;

use mtds::parts::Phase;
use mtds::{Result, Signal};

/// Rows of a cycle at the usual pace.
const PERIOD: f64 = 33.0;

/// Where the rows of a segment of `n` at the usual pace lie, from row `first` on; `None` where the motion ends before.
#[must_use]
pub fn places(inputs: &Signal, phase: Phase, first: usize, n: usize) -> Option<Vec<f64>> {
    let unwrapped = unwrapped(inputs, phase, first);
    let mut places = Vec::with_capacity(n);
    let mut at = 0;
    for k in 0..n {
        let goal = unwrapped[0] + TAU * k as f64 / PERIOD;
        while at + 1 < unwrapped.len() && unwrapped[at + 1] < goal {
            at += 1;
        }
        let (from, to) = (unwrapped[at], *unwrapped.get(at + 1)?);
        places.push((first + at) as f64 + ((goal - from) / (to - from)).clamp(0.0, 1.0));
    }
    Some(places)
}

/// The phase from a row on, never falling, and rising at least a little so that every goal has one place.
fn unwrapped(inputs: &Signal, phase: Phase, first: usize) -> Vec<f64> {
    let angle = |t: usize| inputs.get(t, phase.sin).atan2(inputs.get(t, phase.cos));
    let mut now = angle(first);
    let mut all = vec![now];
    for t in first + 1..inputs.n_time() {
        let step = (angle(t) - angle(t - 1) + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0;
        now += step.max(1e-6);
        all.push(now);
    }
    all
}

/// The outputs at these places.
///
/// # Errors
/// None for places within the signal.
pub fn at_places(outputs: &Signal, places: &[f64]) -> Result<Signal> {
    let d = outputs.width();
    let row = |place: f64| {
        let t = (place.floor() as usize).min(outputs.n_time().saturating_sub(2));
        let share = place - t as f64;
        (0..d).map(move |c| outputs.get(t, c) * (1.0 - share) + outputs.get(t + 1, c) * share)
    };
    Signal::new(places.len(), d, places.iter().flat_map(|&place| row(place)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASE: Phase = Phase { cos: 0, sin: 1 };

    /// A gait of any period is the same wave at the usual pace, which is a wave of 33 rows.
    #[test]
    fn gaits_of_other_paces_become_alike() {
        for period in [20.0, 33.0, 61.5] {
            let angle = |t: usize| 0.7 + TAU * t as f64 / period;
            let rows = (0..180).map(|t| vec![angle(t).cos(), angle(t).sin()]).collect();
            let signal = Signal::from_rows(rows).expect("rows of one width");
            let first = 5;
            let places = places(&signal, PHASE, first, 64).expect("long enough");
            let found = at_places(&signal, &places).expect("within");
            for k in 0..64 {
                let expected = angle(first) + TAU * k as f64 / 33.0;
                assert!((found.get(k, 0) - expected.cos()).abs() < 0.02, "{period} {k}");
                assert!((found.get(k, 1) - expected.sin()).abs() < 0.02, "{period} {k}");
            }
        }
    }

    #[test]
    fn a_motion_that_ends_too_soon_has_none() {
        let angle = |t: usize| TAU * t as f64 / 40.0;
        let rows = (0..60).map(|t| vec![angle(t).cos(), angle(t).sin()]).collect();
        let signal = Signal::from_rows(rows).expect("rows of one width");
        assert!(places(&signal, PHASE, 0, 64).is_none());
        assert!(places(&signal, PHASE, 0, 48).is_some());
        assert!(places(&signal, PHASE, 59, 2).is_none());
    }
}
