//! Stick figures as lines on a plane, for any drawing: a row of poses from a clip.
//!
//! ```text
//! seen from direction (yaw α, elevation ε):   right = (cos α, 0, −sin α)      near = (sin α, 0, cos α)
//! x = p · right                               y = p_y cos ε − (p · near) sin ε
//! ```

use std::f64::consts::TAU;

use crate::frame::{Placement, facing_rad};
use crate::gait::{Phase, contacts};
use crate::{Joint, JointTrack, Result};

/// Width and height of a montage in the units of its lines.
pub const MONTAGE_SIZE: [f64; 2] = [1200.0, 300.0];
/// Number of poses of a montage.
const N_POSES: usize = 8;
/// Where the viewer of a montage stands: to the left of the body, a little in front, a little above.
const BESIDE: View = View { yaw_rad: 1.05, elevation_rad: 0.12 };
/// Metres that the height of a montage shows, and those of them below the ground.
const METRES_HIGH: f64 = 2.25;
const METRES_BELOW: f64 = 0.2;
/// Seconds under which facings are averaged.
const FACING_SIGMA_SECS: f64 = 1.0 / 3.0;
/// Width of a bone in a drawing, in metres.
const BONE: f64 = 0.03;
/// Width of the head.
const HEAD: f64 = 0.16;

/// What a line belongs to, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The left side of the body.
    Left,
    /// The right side.
    Right,
    /// Trunk, neck and head.
    Middle,
    /// The ground.
    Ground,
}

/// A line of a drawing; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Its two ends.
    pub ends: [[f64; 2]; 2],
    /// Its width.
    pub width: f64,
    /// What it belongs to.
    pub tone: Tone,
}

/// Where a viewer looks from.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub yaw_rad: f64,
    pub elevation_rad: f64,
}

impl View {
    /// A point in the picture plane, in metres, y upwards; and how near it is to the viewer.
    pub fn project(&self, [x, y, z]: [f64; 3]) -> ([f64; 2], f64) {
        let (sin, cos) = self.yaw_rad.sin_cos();
        let (right, near) = (cos * x - sin * z, sin * x + cos * z);
        let (sin, cos) = self.elevation_rad.sin_cos();
        ([right, y * cos - near * sin], near * cos + y * sin)
    }
}

/// From metres in the picture plane to the units of a drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sheet {
    /// Units per metre.
    pub scale: f64,
    /// Where the origin lies.
    pub origin: [f64; 2],
}

impl Sheet {
    pub fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.origin[0] + self.scale * x, self.origin[1] - self.scale * y]
    }
}

/// Poses from all over the clip side by side, each seen from its left; lines within [`MONTAGE_SIZE`].
///
/// # Errors
/// None for a valid track.
pub fn montage(track: &JointTrack) -> Result<Vec<Line>> {
    let [width, height] = MONTAGE_SIZE;
    let scale = height / METRES_HIGH;
    let ground = height - METRES_BELOW * scale;
    let frames = pose_frames(track);
    let n_poses = frames.len();
    let facing = facing_rad(track, FACING_SIGMA_SECS);
    let level = Line { ends: [[0.0, ground], [width, ground]], width: 1.5, tone: Tone::Ground };
    let in_frame = |frame: usize| -> Vec<[f64; 3]> {
        let [x, _, z] = track.at(frame, Joint::Hips);
        let place = Placement { x, z, facing_rad: facing[frame] };
        track.frame(frame).iter().map(|&joint| place.local_from_world(joint)).collect()
    };
    let bodies: Vec<Vec<[f64; 3]>> = frames.into_iter().map(in_frame).collect();
    // Arms that reach far to one side are not cut off at the edges: what all poses need has room around the first and the last.
    let [least, most] = ends(bodies.iter().flatten().map(|&joint| BESIDE.project(joint).0[0]));
    let room = (scale * (most - least)).max(width / n_poses as f64);
    let step = (width - room) / (n_poses - 1).max(1) as f64;
    let first = 0.5 * (room - scale * (least + most));
    let mut lines = vec![level];
    for (pose, body) in bodies.iter().enumerate() {
        let origin = [first + step * pose as f64, ground];
        lines.extend(body_lines(body, &BESIDE, &Sheet { scale, origin }));
    }
    Ok(lines)
}

/// The least and the most.
fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| [least.min(x), most.max(x)])
}

/// Frames of the poses, in order. Each is an odd number of eighths of a stride after the one before, so that together
/// they show a whole stride wherever they come from, and they reach over as much of the clip as that allows; a clip
/// with less of a gait gives them evenly.
fn pose_frames(track: &JointTrack) -> Vec<usize> {
    let n_frames = track.n_frames();
    let phase = Phase::of_contacts(&contacts(track)).rad;
    let cycles = (phase[n_frames - 1] - phase[0]) / TAU;
    let most_eighths = (cycles * N_POSES as f64 / (N_POSES - 1) as f64).floor() as usize;
    if most_eighths == 0 || n_frames < N_POSES {
        let n_poses = N_POSES.min(n_frames);
        return (0..n_poses).map(|pose| (2 * pose + 1) * n_frames / (2 * n_poses)).collect();
    }
    let step = (most_eighths - usize::from(most_eighths.is_multiple_of(2))) as f64 / N_POSES as f64;
    let first = phase[0] / TAU + 0.5 * (cycles - (N_POSES - 1) as f64 * step);
    let frame = |pose: usize| {
        let wanted = TAU * (first + step * pose as f64);
        phase.partition_point(|&rad| rad < wanted).min(n_frames - 1)
    };
    (0..N_POSES).map(frame).collect()
}

/// The bones of one body, the far ones first.
pub(super) fn body_lines(body: &[[f64; 3]], view: &View, sheet: &Sheet) -> Vec<Line> {
    let mut lines: Vec<(f64, Line)> = Vec::new();
    for joint in Joint::ALL {
        let Some(parent) = joint.parent() else { continue };
        let (from, near_from) = view.project(body[parent.index()]);
        let (to, near_to) = view.project(body[joint.index()]);
        let ends = [sheet.at(from), sheet.at(to)];
        let line = Line { ends, width: BONE * sheet.scale, tone: tone(joint) };
        lines.push((near_from + near_to, line));
        if joint == Joint::Head {
            let head = Line { ends: [ends[1]; 2], width: HEAD * sheet.scale, tone: Tone::Middle };
            lines.push((2.0 * near_to, head));
        }
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

/// The side that a joint is on, by its name.
fn tone(joint: Joint) -> Tone {
    match joint.name() {
        name if name.starts_with("Left") => Tone::Left,
        name if name.starts_with("Right") => Tone::Right,
        _ => Tone::Middle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walker::{Style, Walker};

    #[test]
    fn poses_of_a_walk_stand_on_the_ground_within_the_sheet() {
        let walk = Walker::new(Style::Proud.parameters());
        let walk = walk.walk(100, &mut mtds::random::stream(3, 0)).unwrap();
        let lines = montage(&walk.track).unwrap();
        // The ground, and for every pose twenty bones and a head.
        assert_eq!(lines.len(), 1 + N_POSES * 21);
        let ground = lines[0].ends[0][1];
        for line in &lines[1..] {
            for [x, y] in line.ends {
                assert!((0.0..MONTAGE_SIZE[0]).contains(&x) && (0.0..MONTAGE_SIZE[1]).contains(&y));
                assert!(y < ground + 0.1 * MONTAGE_SIZE[1]);
            }
        }
    }

    #[test]
    fn arms_that_reach_forward_stay_within_the_sheet() {
        let walk = Walker::new(Style::Neutral.parameters());
        let walk = walk.walk(100, &mut mtds::random::stream(3, 0)).unwrap().track;
        let mut positions = walk.positions().to_vec();
        for (t, facing) in facing_rad(&walk, FACING_SIGMA_SECS).into_iter().enumerate() {
            for (wrist, shoulder) in
                [(Joint::LeftWrist, Joint::LeftShoulder), (Joint::RightWrist, Joint::RightShoulder)]
            {
                let [x, y, z] = walk.at(t, shoulder);
                positions[t * crate::N_JOINTS + wrist.index()] =
                    [x + 0.8 * facing.sin(), y, z + 0.8 * facing.cos()];
            }
        }
        let lines = montage(&JointTrack::new(30.0, positions).unwrap()).unwrap();
        assert!(
            lines[1..]
                .iter()
                .all(|line| line.ends.iter().all(|[x, _]| (-1e-9..=MONTAGE_SIZE[0] + 1e-9).contains(x)))
        );
    }

    #[test]
    fn a_viewer_on_the_left_sees_bodies_walk_to_the_left_and_the_left_side_nearer() {
        let view = View { yaw_rad: std::f64::consts::FRAC_PI_2, elevation_rad: 0.0 };
        // A body that faces +Z has its left along +X; the picture shows forward on its left.
        let ([x, y], near) = view.project([0.2, 1.0, 0.5]);
        assert!((x + 0.5).abs() < 1e-12 && (y - 1.0).abs() < 1e-12 && (near - 0.2).abs() < 1e-12);
    }

    #[test]
    fn one_frame_makes_one_pose() {
        let track = JointTrack::new(30.0, vec![[0.0, 1.0, 0.0]; crate::N_JOINTS]).unwrap();
        assert_eq!(montage(&track).unwrap().len(), 22);
    }

    #[test]
    fn poses_show_every_eighth_of_a_stride_and_most_of_the_clip() {
        for (style, n_frames) in [(Style::Neutral, 90), (Style::Old, 400), (Style::Angry, 1500)] {
            let walk = Walker::new(style.parameters());
            let walk = walk.walk(n_frames, &mut mtds::random::stream(3, 0)).unwrap();
            let frames = pose_frames(&walk.track);
            assert!(frames.is_sorted() && frames.len() == N_POSES);
            let mut eighths: Vec<f64> = frames.iter().map(|&t| walk.phase_rad[t] / TAU * 8.0).collect();
            let strides = (walk.phase_rad[n_frames - 1] - walk.phase_rad[0]) / TAU;
            let shown = (eighths[7] - eighths[0]) / 8.0;
            assert!(shown > (strides - 2.0).max(0.8), "{}: {shown} of {strides}", style.name());
            eighths.iter_mut().for_each(|eighth| *eighth = eighth.rem_euclid(8.0));
            eighths.sort_by(f64::total_cmp);
            // Contacts are found to a frame or two, and phase with them.
            assert!(eighths.windows(2).all(|pair| pair[1] - pair[0] < 2.2), "{}: {eighths:?}", style.name());
        }
    }

    #[test]
    fn poses_of_a_body_that_stands_come_evenly() {
        let track = JointTrack::new(30.0, vec![[0.0, 1.0, 0.0]; 80 * crate::N_JOINTS]).unwrap();
        assert_eq!(pose_frames(&track), [5, 15, 25, 35, 45, 55, 65, 75]);
    }
}
