//! Corners that the body takes the long way round: it turns to the outside while its path bends inside.
//!
//! ```text
//! turn      frames in which the heading turns faster than 40°/s, joined over gaps of half a second
//! ΔH        turning of the heading over it
//! ΔD        turning of the direction of travel over it and half a second to both sides
//! outside   |ΔH| > 60° and |ΔD| > 30° with opposite signs
//! ```
//!
//! The direction is followed from frame to frame, so that a bend of 270° is not taken for one of −90°. Where travel
//! stops it stays what it was; where it then goes back nothing says which way it turned, and that counts as no
//! turning. Bird & Williams (2020), supplement, "Choice of inputs" and the figure of the skeleton.

use std::ops::Range;

use crate::frame::{Placement, wrapped};
use crate::robust;

/// Turning of the heading that makes a turn, in radians per second (40°).
const TURN_SPEED_RAD: f64 = 0.7;
/// Turns that are closer than this are one, in seconds; also the travel that makes a direction.
const JOINED_SECS: f64 = 0.5;
/// Least turning of the heading (60°) and of the direction of travel (30°), in radians.
const LEAST_TURNS_RAD: [f64; 2] = [1.05, 0.52];
/// A change of direction beyond this from one frame to the next says nothing about the side (150°), in radians.
const ABOUT_TURN_RAD: f64 = 2.6;
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
    let heading = path[turn.end - 1].facing_rad - path[turn.start].facing_rad;
    let around = turn.start.saturating_sub(reach)..(turn.end + reach).min(path.len());
    let directions: Vec<f64> = around.filter_map(|place| direction(path, place, reach / 2)).collect();
    let changes = directions.windows(2).map(|pair| wrapped(pair[1] - pair[0]));
    let bend: f64 = changes.filter(|change| change.abs() < ABOUT_TURN_RAD).sum();
    heading.abs() > LEAST_TURNS_RAD[0] && bend.abs() > LEAST_TURNS_RAD[1] && heading * bend < 0.0
}

/// Direction of travel around a place, as an angle like the facing; none without travel.
fn direction(path: &[Placement], place: usize, reach: usize) -> Option<f64> {
    let (from, to) = (path[place.saturating_sub(reach)], path[(place + reach).min(path.len() - 1)]);
    let (x, z) = (to.x - from.x, to.z - from.z);
    (x.hypot(z) > LEAST_TRAVEL).then(|| x.atan2(z))
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
    fn long_bends_and_about_turns_go_by_the_side_of_the_path() {
        assert!(!outside_turns(&corner(1.5 * PI, 1.5 * PI), 30.0).contains(&true));
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
