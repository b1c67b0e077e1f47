//! Corners that the body takes the long way round: it turns to the outside while its path bends inside.
//!
//! ```text
//! turn      frames in which the heading turns faster than 40°/s, joined over gaps of half a second
//! ΔH        turning of the heading over it          ΔD   turning of the direction of travel over it
//! outside   |ΔH| > 60° and |ΔD| > 30° with opposite signs
//! ```
//!
//! The direction before and after a turn is that of half a second of travel. About ΔD = 180° it is the side on
//! which the path runs that decides; where it runs back on itself nothing can, and the turn is not outside. Bird &
//! Williams (2020), supplement, "Choice of inputs" and the figure of the skeleton.

use std::ops::Range;

use crate::frame::{Placement, wrapped};
use crate::robust;

/// Turning of the heading that makes a turn, in radians per second (40°).
const TURN_SPEED_RAD: f64 = 0.7;
/// Turns that are closer than this are one, in seconds; also the travel that makes a direction.
const JOINED_SECS: f64 = 0.5;
/// Least turning of the heading (60°) and of the direction of travel (30°), in radians.
const LEAST_TURNS_RAD: [f64; 2] = [1.05, 0.52];
/// Beyond this the sign of a change of direction says nothing (150°), in radians.
const ABOUT_TURN_RAD: f64 = 2.6;
/// Least area between path and chord from which the side of an about-turn is taken, in square metres.
const LEAST_AREA: f64 = 0.02;
/// Least travel from which a direction is taken, in metres.
const LEAST_TRAVEL: f64 = 0.05;

/// For each place of a smooth path, `fps` of them per second, whether it is in a turn to the outside.
#[must_use]
pub fn outside_turns(path: &[Placement], fps: f64) -> Vec<bool> {
    let mut outside = vec![false; path.len()];
    let reach = (JOINED_SECS * fps).round().max(1.0) as usize;
    for turn in turns(path, fps, reach) {
        if is_outside(path, &turn, reach) {
            outside[turn].fill(true);
        }
    }
    outside
}

/// The turns of a path, as ranges of places.
fn turns(path: &[Placement], fps: f64, gap: usize) -> Vec<Range<usize>> {
    let fast = |pair: &[Placement]| (pair[1].facing_rad - pair[0].facing_rad).abs() * fps > TURN_SPEED_RAD;
    let turning: Vec<bool> = path.windows(2).map(fast).collect();
    let mut turns: Vec<Range<usize>> = Vec::new();
    for run in robust::runs(&turning).into_iter().filter(|run| turning[run.start]) {
        match turns.last_mut() {
            Some(last) if run.start - last.end < gap => last.end = run.end,
            _ => turns.push(run),
        }
    }
    turns.into_iter().map(|turn| turn.start..turn.end + 1).collect()
}

/// Whether heading and direction of travel turn opposite ways over a turn.
fn is_outside(path: &[Placement], turn: &Range<usize>, reach: usize) -> bool {
    let (start, end) = (turn.start, turn.end - 1);
    let heading = path[end].facing_rad - path[start].facing_rad;
    let before = direction(path, start.saturating_sub(reach), start);
    let after = direction(path, end, (end + reach).min(path.len() - 1));
    let (Some(before), Some(after)) = (before, after) else { return false };
    let change = wrapped(after - before);
    let side = match change.abs() > ABOUT_TURN_RAD {
        true => signed_area(&path[start.saturating_sub(reach)..(end + reach).min(path.len())]),
        false => change,
    };
    let clear = if change.abs() > ABOUT_TURN_RAD { LEAST_AREA } else { LEAST_TURNS_RAD[1] };
    heading.abs() > LEAST_TURNS_RAD[0] && side.abs() > clear && heading * side < 0.0
}

/// Direction of travel between two places, as an angle like the facing; none without travel.
fn direction(path: &[Placement], from: usize, to: usize) -> Option<f64> {
    let (x, z) = (path[to].x - path[from].x, path[to].z - path[from].z);
    (x.hypot(z) > LEAST_TRAVEL).then(|| x.atan2(z))
}

/// Area between a path and its chord, positive where the path bends to the left.
fn signed_area(path: &[Placement]) -> f64 {
    let Some(first) = path.first() else { return 0.0 };
    let cross = |pair: &[Placement]| {
        let (a, b) = (&pair[0], &pair[1]);
        (a.z - first.z) * (b.x - first.x) - (a.x - first.x) * (b.z - first.z)
    };
    0.5 * path.windows(2).map(cross).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    /// Walks 2 s straight, bends by `bend` to the left on an arc of a second, and 2 s straight; the body turns by `turn`.
    fn corner(bend: f64, turn: f64) -> Vec<Placement> {
        let (mut x, mut z) = (0.0, 0.0);
        let step = |t: usize| {
            let share = ((t as f64 - 60.0) / 30.0).clamp(0.0, 1.0);
            let place = Placement { x, z, facing_rad: share * turn };
            (x, z) = (x + (share * bend).sin() / 30.0, z + (share * bend).cos() / 30.0);
            place
        };
        (0..150).map(step).collect()
    }

    #[test]
    fn turning_with_the_path_is_inside_and_against_it_outside() {
        let quarter = PI / 2.0;
        assert!(!outside_turns(&corner(quarter, quarter), 30.0).contains(&true));
        let outside = outside_turns(&corner(quarter, -3.0 * quarter), 30.0);
        assert!(outside[61..89].iter().all(|&flag| flag) && !outside[40] && !outside[110]);
        assert!(outside_turns(&corner(-quarter, 3.0 * quarter), 30.0)[75]);
    }

    #[test]
    fn about_turns_go_by_the_side_of_the_path() {
        assert!(!outside_turns(&corner(PI, PI), 30.0).contains(&true));
        assert!(outside_turns(&corner(PI, -PI), 30.0)[75]);
        assert!(outside_turns(&corner(-PI, PI), 30.0)[75]);
    }

    #[test]
    fn turning_on_the_spot_and_short_paths_have_no_outside() {
        let spot: Vec<_> =
            (0..90).map(|t| Placement { x: 0.0, z: 0.0, facing_rad: 0.1 * t as f64 }).collect();
        assert!(!outside_turns(&spot, 30.0).contains(&true));
        assert!(outside_turns(&[], 30.0).is_empty());
        assert_eq!(outside_turns(&spot[..1], 30.0), [false]);
    }
}
