//! Finds frames and joints that are not motion, and mends those that the frames around them determine.
//!
//! ```text
//! whole body   mean speed of the joints from one frame to the next > 12 m/s and > 8 × its median: a jump
//!              jumps cut the clip into stretches: short ones are displaced, long ones are cuts
//! one joint    r_t = ‖p_t − median of p_{t−3} … p_{t+3}‖ > 6 cm and > 12 × its median over the clip,
//!              for at most three frames, and off the straight way across them by more than twice the joint's
//!              longest step before and after: a spike
//! ```

use std::ops::Range;

use glam::DVec3;

use super::report::{Glitch, GlitchKind, Repair};
use super::tpose::motion;
use crate::{Joint, JointTrack, N_JOINTS, Result, robust};

/// Mean speed of all joints that no person reaches, in metres per second.
const JUMP_SPEED: f64 = 12.0;
/// How many times the usual motion of a frame makes a jump.
const JUMP_FACTOR: f64 = 8.0;
/// Longest stretch between two jumps that counts as displaced, in seconds.
const LONGEST_DISPLACED_SECS: f64 = 0.25;
/// Extent of a body, relative to its usual one, below which it is collapsed.
const COLLAPSED_EXTENT: f64 = 0.1;
/// Longest spike, in frames; the window of the median reaches as far to both sides.
const LONGEST_SPIKE: usize = 3;
/// Smallest deviation of a spike, in metres.
const SPIKE_DISTANCE: f64 = 0.06;
/// How many times a joint's usual deviation makes a spike.
const SPIKE_FACTOR: f64 = 12.0;
/// How many times the longest step around it makes a spike: fast limbs that turn round leave the median too.
const SPIKE_STEPS: f64 = 2.0;

/// The clip with its glitches mended where they can be, the frames of it that are left, and what was found.
///
/// # Errors
/// None for a valid track; an error would be a defect of the repair.
pub fn mend(track: &JointTrack) -> Result<(JointTrack, Vec<Glitch>)> {
    let (mut glitches, broken) = broken_frames(track);
    let kept = kept_frames(&broken);
    let mut positions = track.positions()[kept.start * N_JOINTS..kept.end * N_JOINTS].to_vec();
    for range in broken_runs(&broken[kept.clone()]) {
        (0..N_JOINTS).for_each(|joint| interpolate(&mut positions, joint, &range));
    }
    let whole = JointTrack::new(track.fps, positions)?;
    let spikes = spikes(&whole);
    let mut positions = whole.into_positions();
    // Beside a cut a joint is far from the median only because its path is two.
    let cuts: Vec<usize> =
        glitches.iter().filter(|g| g.kind == GlitchKind::Cut).map(|g| g.frames.start - kept.start).collect();
    let is_near_cut = |range: &Range<usize>| {
        cuts.iter().any(|&cut| cut <= range.end + LONGEST_SPIKE && range.start <= cut + LONGEST_SPIKE)
    };
    let spikes: Vec<_> = spikes.into_iter().filter(|(_, range)| !is_near_cut(range)).collect();
    for (joint, range) in spikes {
        interpolate(&mut positions, joint.index(), &range);
        let frames = range.start + kept.start..range.end + kept.start;
        glitches.push(Glitch { kind: GlitchKind::Spike { joint }, frames, repair: Repair::Interpolated });
    }
    glitches.sort_by_key(|glitch| (glitch.frames.start, glitch.frames.end));
    Ok((JointTrack::new(track.fps, positions)?, glitches))
}

/// Glitches of the whole body, and for each frame whether it is part of one that must go.
fn broken_frames(track: &JointTrack) -> (Vec<Glitch>, Vec<bool>) {
    let n_frames = track.n_frames();
    let mut broken = collapsed_frames(track);
    let collapsed = broken_runs(&broken).map(|run| whole_body(GlitchKind::Collapsed, run, n_frames));
    let mut glitches: Vec<_> = collapsed.collect();
    let good: Vec<usize> = (0..n_frames).filter(|&frame| !broken[frame]).collect();
    let most = (LONGEST_DISPLACED_SECS * track.fps).ceil() as usize;
    let (short, long): (Vec<_>, Vec<_>) = stretches(track, &good).into_iter().partition(|s| s.len() <= most);
    // Where all stretches are short there is nothing that the others are displaced from.
    for stretch in short.iter().filter(|_| !long.is_empty()) {
        let frames = good[stretch.start]..good[stretch.end - 1] + 1;
        broken[frames.clone()].fill(true);
        glitches.push(whole_body(GlitchKind::Displaced, frames, n_frames));
    }
    for stretch in long.iter().skip(1) {
        let start = good[stretch.start];
        if !comes_back(track, &broken, start) {
            glitches.push(Glitch { kind: GlitchKind::Cut, frames: start..start + 1, repair: Repair::Left });
        }
    }
    (glitches, broken)
}

/// A glitch of whole frames, dropped at the ends of a clip and interpolated elsewhere.
fn whole_body(kind: GlitchKind, frames: Range<usize>, n_frames: usize) -> Glitch {
    let at_end = frames.start == 0 || frames.end == n_frames;
    Glitch { kind, frames, repair: if at_end { Repair::Dropped } else { Repair::Interpolated } }
}

/// Whether frame `start` continues, after broken frames, what was there before them.
fn comes_back(track: &JointTrack, broken: &[bool], start: usize) -> bool {
    let Some(before) = (0..start).rev().find(|&frame| !broken[frame]) else { return true };
    let mean = mean_distance(track, before, start);
    mean * track.fps / (start - before) as f64 <= JUMP_SPEED
}

/// Places in `good` at which the clip is cut by jumps, as ranges of places between them.
fn stretches(track: &JointTrack, good: &[usize]) -> Vec<Range<usize>> {
    let speed =
        |pair: &[usize]| mean_distance(track, pair[0], pair[1]) / (pair[1] - pair[0]) as f64 * track.fps;
    let speeds: Vec<f64> = good.windows(2).map(speed).collect();
    let usual = robust::median(speeds.iter().copied()).unwrap_or(0.0);
    let mut starts = vec![0];
    starts.extend(
        speeds
            .iter()
            .enumerate()
            .filter(|(_, s)| **s > JUMP_SPEED.max(JUMP_FACTOR * usual))
            .map(|(i, _)| i + 1),
    );
    let ends = starts[1..].iter().copied().chain([good.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(start, end)| start..end)
        .filter(|stretch| !stretch.is_empty())
        .collect()
}

/// For each frame, whether all joints are in about one point.
fn collapsed_frames(track: &JointTrack) -> Vec<bool> {
    let extents: Vec<f64> = (0..track.n_frames()).map(|frame| extent(track.frame(frame))).collect();
    let usual = robust::median(extents.iter().copied()).unwrap_or(0.0);
    extents.iter().map(|&extent| extent < COLLAPSED_EXTENT * usual).collect()
}

/// Largest distance of a joint from the first.
fn extent(frame: &[[f64; 3]]) -> f64 {
    let hips = DVec3::from_array(frame[0]);
    frame.iter().map(|&joint| hips.distance(DVec3::from_array(joint))).fold(0.0, f64::max)
}

/// Mean distance of the joints between two frames.
fn mean_distance(track: &JointTrack, from: usize, to: usize) -> f64 {
    if to == from + 1 {
        return motion(track, to);
    }
    let pairs = track.frame(from).iter().zip(track.frame(to));
    pairs.map(|(&a, &b)| DVec3::from_array(a).distance(DVec3::from_array(b))).sum::<f64>() / N_JOINTS as f64
}

/// What is left after broken frames are dropped at both ends; everything if all are broken.
fn kept_frames(broken: &[bool]) -> Range<usize> {
    match (broken.iter().position(|b| !b), broken.iter().rposition(|b| !b)) {
        (Some(first), Some(last)) => first..last + 1,
        _ => 0..broken.len(),
    }
}

/// The runs of broken frames.
fn broken_runs(broken: &[bool]) -> impl Iterator<Item = Range<usize>> {
    robust::runs(broken).into_iter().filter(|run| broken[run.start])
}

/// The spikes of every joint, as ranges of frames.
fn spikes(track: &JointTrack) -> Vec<(Joint, Range<usize>)> {
    let spikes_of = |joint: Joint| {
        let path: Vec<DVec3> =
            (0..track.n_frames()).map(|frame| DVec3::from_array(track.at(frame, joint))).collect();
        let far = far_from_path(&path);
        let inside =
            |run: &Range<usize>| far[run.start] && run.len() <= LONGEST_SPIKE && stands_out(&path, run);
        robust::runs(&far).into_iter().filter(inside).map(|run| (joint, run)).collect::<Vec<_>>()
    };
    Joint::ALL.into_iter().flat_map(spikes_of).collect()
}

/// For each frame, whether a joint is far from the median of its path around; never so near the ends.
fn far_from_path(path: &[DVec3]) -> Vec<bool> {
    let away = |frame: usize| path[frame].distance(local_median(path, frame));
    let away: Vec<f64> = (0..path.len()).map(away).collect();
    let usual = robust::median(away.iter().copied()).unwrap_or(0.0);
    away.iter().map(|&distance| distance > SPIKE_DISTANCE.max(SPIKE_FACTOR * usual)).collect()
}

/// Whether a path goes further off the straight way across `run` than it steps before and after.
fn stands_out(path: &[DVec3], run: &Range<usize>) -> bool {
    if run.start < 1 || run.end >= path.len() {
        return false;
    }
    let (before, after) = (path[run.start - 1], path[run.end]);
    let off = |frame: usize| {
        let share = (frame + 1 - run.start) as f64 / (run.len() + 1) as f64;
        path[frame].distance(before.lerp(after, share))
    };
    let farthest = run.clone().map(off).fold(0.0, f64::max);
    let around = [
        run.start.saturating_sub(LONGEST_SPIKE)..run.start,
        run.end..(run.end + LONGEST_SPIKE).min(path.len()),
    ];
    let steps =
        around.into_iter().flat_map(|side| path[side].windows(2).map(|pair| pair[0].distance(pair[1])));
    farthest > SPIKE_STEPS * steps.fold(0.0, f64::max)
}

/// The median of a path around a frame, for each coordinate; the path itself where the window leaves the clip.
fn local_median(path: &[DVec3], frame: usize) -> DVec3 {
    let Some(window) =
        frame.checked_sub(LONGEST_SPIKE).and_then(|start| path.get(start..=frame + LONGEST_SPIKE))
    else {
        return path[frame];
    };
    let middle = |axis: fn(&DVec3) -> f64| robust::median(window.iter().map(axis)).unwrap_or(0.0);
    DVec3::new(middle(|p| p.x), middle(|p| p.y), middle(|p| p.z))
}

/// Puts a straight line from the frame before `range` to the one after it in place of what is there.
fn interpolate(positions: &mut [[f64; 3]], joint: usize, range: &Range<usize>) {
    let n_frames = positions.len() / N_JOINTS;
    if range.start == 0 || range.end >= n_frames {
        return;
    }
    let at = |frame: usize| DVec3::from_array(positions[frame * N_JOINTS + joint]);
    let (before, after) = (at(range.start - 1), at(range.end));
    for frame in range.clone() {
        let share = (frame + 1 - range.start) as f64 / (range.len() + 1) as f64;
        positions[frame * N_JOINTS + joint] = before.lerp(after, share).to_array();
    }
}
