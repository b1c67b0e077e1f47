//! Corners of a trajectory by Ramer–Douglas–Peucker, with distances at equal times.
//!
//! ```text
//! keep both ends; t* = argmax_t ‖p_t − line(t)‖        line(t) = straight and even motion between the ends
//! if the distance at t* exceeds the tolerance, t* is a corner, and both halves are treated likewise
//! ```
//!
//! Ramer (1972); Douglas & Peucker (1973). Differs from them: distances are to the point that even motion would
//! have reached at that time, not to the nearest of the line, so that pauses and changes of speed are corners too.

/// Places of the corners of `points` (equally spaced in time), ends included, in order.
///
/// Every point is within `tolerance` of even motion between the corners around it.
#[must_use]
pub fn corners<const D: usize>(points: &[[f64; D]], tolerance: f64) -> Vec<usize> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let mut is_corner = vec![false; points.len()];
    (is_corner[0], is_corner[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((start, end)) = open.pop() {
        if let Some((place, distance)) = farthest(points, start, end)
            && distance > tolerance
        {
            is_corner[place] = true;
            open.extend([(start, place), (place, end)]);
        }
    }
    (0..points.len()).filter(|&place| is_corner[place]).collect()
}

/// The point between `start` and `end` that is farthest from even motion, and how far.
fn farthest<const D: usize>(points: &[[f64; D]], start: usize, end: usize) -> Option<(usize, f64)> {
    let distance = |place: usize| {
        let share = (place - start) as f64 / (end - start) as f64;
        let gap =
            |d: usize| points[place][d] - points[start][d] - share * (points[end][d] - points[start][d]);
        (0..D).map(|d| gap(d).powi(2)).sum::<f64>().sqrt()
    };
    (start + 1..end).map(|place| (place, distance(place))).max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_l_has_one_corner_and_a_pause_two() {
        let l: Vec<[f64; 2]> =
            (0..21).map(|t| [f64::min(t as f64, 10.0), f64::max(t as f64 - 10.0, 0.0)]).collect();
        assert_eq!(corners(&l, 0.1), [0, 10, 20]);
        let pause = |t: usize| {
            [if t < 10 {
                t
            } else if t < 30 {
                10
            } else {
                t - 20
            } as f64]
        };
        assert_eq!(corners(&(0..40).map(pause).collect::<Vec<_>>(), 0.1), [0, 10, 30, 39]);
        assert_eq!(corners(&l, 100.0), [0, 20]);
        assert_eq!(corners(&l[..1], 0.1), [0]);
        assert!(corners::<2>(&[], 0.1).is_empty());
    }

    proptest! {
        #[test]
        fn every_point_is_within_the_tolerance(
            points in prop::collection::vec(prop::array::uniform2(-3.0..3.0f64), 2..80), tolerance in 0.0..4.0f64,
        ) {
            for pair in corners(&points, tolerance).windows(2) {
                let worst = farthest(&points, pair[0], pair[1]).map_or(0.0, |(_, distance)| distance);
                prop_assert!(worst <= tolerance);
            }
        }
    }
}
