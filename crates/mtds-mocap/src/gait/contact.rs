//! When each foot stands on the ground: speed and height of ankle and toe, smoothed by a two-state model.
//!
//! ```text
//! o_t = [log(speed + 0.05 m/s), height]         of the slower, and of the lower, of ankle and toe
//! states: stands, swings                        emissions learned per clip, both feet together
//! ```
//!
//! Heights count from where each joint is lowest, so rigs whose ankles rest at other heights need no setting.

use glam::DVec3;

use super::hmm::{Learning, Observation, TwoStates};
use crate::{Joint, JointTrack, robust};

/// Added to speeds before the logarithm, in metres per second: differences below it are noise.
const LEAST_SPEED: f64 = 0.05;
/// Share of heights below which a joint rests.
const REST_SHARE: f64 = 0.05;
/// Shortest contact and shortest swing, in seconds.
const SHORTEST_SECS: f64 = 0.1;
/// The states before learning: standing at 0.1 m/s and 1 cm, swinging at 1.5 m/s and 8 cm.
const FIRST: TwoStates = TwoStates {
    stay: 0.9,
    mean: [[-1.9, 0.01], [0.44, 0.08]],
    var: [[0.5, 0.02 * 0.02], [0.6, 0.06 * 0.06]],
};
/// Learning from each clip, the first states worth a second of frames.
const LEARNING: Learning = Learning { n_iterations: 40, prior_weight: 30.0, least_var: [0.1, 0.015 * 0.015] };

/// A foot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Foot {
    /// The left one; its strikes are phase 0.
    Left,
    /// The right one; its strikes are phase π.
    Right,
}

impl Foot {
    /// Both, left first.
    pub const BOTH: [Foot; 2] = [Foot::Left, Foot::Right];

    /// Its ankle and its toe.
    #[must_use]
    pub const fn joints(self) -> [Joint; 2] {
        match self {
            Self::Left => [Joint::LeftAnkle, Joint::LeftToe],
            Self::Right => [Joint::RightAnkle, Joint::RightToe],
        }
    }
}

/// For each foot, left first, and each frame, whether it stands on the ground.
#[must_use]
pub fn contacts(track: &JointTrack) -> [Vec<bool>; 2] {
    let observations = Foot::BOTH.map(|foot| observations(track, foot));
    let model = FIRST.learned(&observations, &LEARNING);
    let shortest = (SHORTEST_SECS * track.fps).round() as usize;
    observations.map(|observations| {
        let stands = model.decode(&observations).into_iter().map(|state| state == 0).collect();
        without_short_runs(stands, shortest)
    })
}

/// Speed and height of a foot in every frame.
fn observations(track: &JointTrack, foot: Foot) -> Vec<Observation> {
    let frames = 0..track.n_frames();
    let rest = |joint| {
        robust::quantile(frames.clone().map(|frame| track.at(frame, joint)[1]), REST_SHARE).unwrap_or(0.0)
    };
    let joints = foot.joints().map(|joint| (joint, rest(joint)));
    let observe = |frame: usize| {
        let speed = joints.iter().map(|&(joint, _)| speed(track, frame, joint)).fold(f64::INFINITY, f64::min);
        let height = joints
            .iter()
            .map(|&(joint, rest)| track.at(frame, joint)[1] - rest)
            .fold(f64::INFINITY, f64::min);
        [(speed + LEAST_SPEED).ln(), height]
    };
    frames.clone().map(observe).collect()
}

/// Speed of a joint around a frame, by central differences inside the clip, in metres per second.
fn speed(track: &JointTrack, frame: usize, joint: Joint) -> f64 {
    let (before, after) = (frame.saturating_sub(1), (frame + 1).min(track.n_frames() - 1));
    let way = DVec3::from_array(track.at(after, joint)).distance(DVec3::from_array(track.at(before, joint)));
    way * track.fps / (after - before).max(1) as f64
}

/// Runs inside the clip that are shorter than `shortest` take the value around them, the shortest first.
fn without_short_runs(mut stands: Vec<bool>, shortest: usize) -> Vec<bool> {
    let n_frames = stands.len();
    let short = |stands: &[bool]| {
        let inner = robust::runs(stands).into_iter().filter(|run| run.start > 0 && run.end < n_frames);
        inner.filter(|run| run.len() < shortest).min_by_key(ExactSizeIterator::len)
    };
    while let Some(run) = short(&stands) {
        let around = !stands[run.start];
        stands[run].fill(around);
    }
    stands
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::N_JOINTS;

    #[test]
    fn short_runs_go_and_those_at_the_ends_stay() {
        let text = |s: &str| s.chars().map(|c| c == '#').collect::<Vec<_>>();
        assert_eq!(without_short_runs(text("#..###.####...#"), 3), text("###########...#"));
        assert_eq!(without_short_runs(text("#....###"), 3), text("#....###"));
        assert!(without_short_runs(vec![], 3).is_empty());
    }

    #[test]
    fn somebody_who_stands_still_stands_on_both_feet() {
        let still = JointTrack::new(30.0, vec![[0.0, 0.1, 0.0]; 20 * N_JOINTS]).unwrap();
        assert_eq!(contacts(&still), [vec![true; 20], vec![true; 20]]);
        let one = JointTrack::new(30.0, vec![[0.0, 0.1, 0.0]; N_JOINTS]).unwrap();
        assert_eq!(contacts(&one)[0].len(), 1);
    }
}
