//! Corners of a trajectory by Ramer–Douglas–Peucker, with distances at equal times.
//!
//! ```text
//! keep both ends; t* = argmax_t ‖p_t − line(t)‖        line(t) = straight and even motion between the ends
//! if the distance at t* exceeds the tolerance, t* is a corner, and both halves are treated likewise
//! ```
//!
//! Ramer (1972); Douglas & Peucker (1973). Differs from them: distances are to the point that even motion would
//! have reached at that time, not to the nearest of the line, so that pauses and changes of speed are corners too.

/// A corner of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// Its place among the points.
    pub place: usize,
    /// How far it was from even motion when it was found; infinite at both ends.
    pub distance: f64,
}

/// The corners of `points` (equally spaced in time), ends included, in order.
///
/// Every point is within `tolerance` of even motion between the corners around it.
#[must_use]
pub fn corners<const D: usize>(points: &[[f64; D]], tolerance: f64) -> Vec<Corner> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let end = |place| Corner { place, distance: f64::INFINITY };
    let mut found = if last == 0 { vec![end(0)] } else { vec![end(0), end(last)] };
    let mut open = vec![(0, last)];
    while let Some((start, end)) = open.pop() {
        if let Some(corner) = farthest(points, start, end)
            && corner.distance > tolerance
        {
            found.push(corner);
            open.extend([(start, corner.place), (corner.place, end)]);
        }
    }
    found.sort_by_key(|corner| corner.place);
    found
}

/// Places of corners that are at least `spacing` apart, the farthest corners chosen first and both ends always.
#[must_use]
pub fn spread(corners: &[Corner], spacing: f64) -> Vec<usize> {
    let mut by_distance = corners.to_vec();
    by_distance.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.place.cmp(&b.place)));
    let mut kept: Vec<usize> = Vec::new();
    for corner in by_distance {
        let is_near = |place: &usize| (corner.place.abs_diff(*place) as f64) < spacing;
        if corner.distance.is_infinite() || !kept.iter().any(is_near) {
            kept.push(corner.place);
        }
    }
    kept.sort_unstable();
    kept
}

/// The point between `start` and `end` that is farthest from even motion.
fn farthest<const D: usize>(points: &[[f64; D]], start: usize, end: usize) -> Option<Corner> {
    let distance = |place: usize| {
        let share = (place - start) as f64 / (end - start) as f64;
        let gap =
            |d: usize| points[place][d] - points[start][d] - share * (points[end][d] - points[start][d]);
        (0..D).map(|d| gap(d).powi(2)).sum::<f64>().sqrt()
    };
    let all = (start + 1..end).map(|place| Corner { place, distance: distance(place) });
    all.max_by(|a, b| a.distance.total_cmp(&b.distance))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places<const D: usize>(points: &[[f64; D]], tolerance: f64) -> Vec<usize> {
        corners(points, tolerance).iter().map(|corner| corner.place).collect()
    }

    #[test]
    fn an_l_has_one_corner_and_a_pause_two() {
        let l: Vec<[f64; 2]> =
            (0..21).map(|t| [f64::min(t as f64, 10.0), f64::max(t as f64 - 10.0, 0.0)]).collect();
        assert_eq!(places(&l, 0.1), [0, 10, 20]);
        let pause = |t: usize| {
            [if t < 10 {
                t
            } else if t < 30 {
                10
            } else {
                t - 20
            } as f64]
        };
        assert_eq!(places(&(0..40).map(pause).collect::<Vec<_>>(), 0.1), [0, 10, 30, 39]);
        assert_eq!(places(&l, 100.0), [0, 20]);
        assert_eq!(places(&l[..1], 0.1), [0]);
        assert!(places::<2>(&[], 0.1).is_empty());
    }

    #[test]
    fn of_corners_that_are_close_the_farthest_stays() {
        let corner = |place, distance| Corner { place, distance };
        let ends = [corner(0, f64::INFINITY), corner(50, f64::INFINITY)];
        let all = [ends[0], corner(4, 9.0), corner(20, 0.2), corner(25, 0.7), corner(33, 0.1), ends[1]];
        assert_eq!(spread(&all, 8.0), [0, 25, 33, 50]);
        assert_eq!(spread(&all, 1.0), [0, 4, 20, 25, 33, 50]);
        assert_eq!(spread(&ends, 100.0), [0, 50]);
        assert!(spread(&[], 3.0).is_empty());
    }

    proptest! {
        #[test]
        fn every_point_is_within_the_tolerance(
            points in prop::collection::vec(prop::array::uniform2(-3.0..3.0f64), 2..80), tolerance in 0.0..4.0f64,
        ) {
            for pair in places(&points, tolerance).windows(2) {
                let worst = farthest(&points, pair[0], pair[1]).map_or(0.0, |corner| corner.distance);
                prop_assert!(worst <= tolerance);
            }
        }
    }
}
