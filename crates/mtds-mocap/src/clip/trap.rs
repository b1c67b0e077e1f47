//! What files do that a careless reader gets wrong, each found and named.

use serde::Serialize;

use crate::bvh::{Hierarchy, Reading};
use crate::rotation::Axis;
use crate::signal::{GlitchKind, SignalReport, TPose, nominal_fps};
use crate::skeleton::{Basis, MapReport, PositionChannels, Source};
use crate::{Joint, signal};

/// Floors further than this from height 0 are worth telling, in metres.
const FAR_FLOOR: f64 = 0.03;
/// Resting feet further apart in height than this make the floor uneven, in metres.
const UNEVEN_FLOOR: f64 = 0.02;
/// Largest way of a root that stands still, in the units of its file.
const STILL: f64 = 1e-3;

/// Something that had to be noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trap {
    /// Its name, the same in all files, e.g. `added-t-pose`.
    pub name: &'static str,
    /// What was found, and what was done about it.
    pub detail: String,
    /// Whether a person should look: nothing could be done, or only a guess.
    pub look: bool,
}

fn handled(name: &'static str, detail: impl Into<String>) -> Trap {
    Trap { name, detail: detail.into(), look: false }
}

fn doubtful(name: &'static str, detail: impl Into<String>) -> Trap {
    Trap { name, detail: detail.into(), look: true }
}

/// Traps in how the text is written.
pub(super) fn of_text(bytes: &[u8]) -> Vec<Trap> {
    let mut traps = Vec::new();
    if bytes.windows(2).any(|pair| pair == b"\r\n") {
        traps.push(handled("line-ends", "lines end with CR LF"));
    }
    if after(bytes, b"Frames:").is_some_and(|rest| rest.first() == Some(&b'\t')) {
        traps.push(handled("tab-in-header", "a tab stands between `Frames:` and the number"));
    }
    let time = after(bytes, b"Frame Time:").map(|rest| rest.trim_ascii_start());
    if time.is_some_and(|time| time.first() == Some(&b'.')) {
        traps.push(handled("no-leading-zero", "the frame time is written without its leading zero"));
    }
    traps
}

/// What follows the first occurrence of a word.
fn after<'a>(bytes: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let place = bytes.windows(word.len()).position(|window| window == word)?;
    bytes.get(place + word.len()..)
}

/// Traps in hierarchy and frames.
pub(super) fn of_reading(reading: &Reading) -> Vec<Trap> {
    let nodes = reading.motion.hierarchy().nodes();
    let mut traps: Vec<Trap> =
        reading.remarks.iter().map(|remark| doubtful("odd-file", remark.to_string())).collect();
    let fps = reading.motion.fps();
    // 1/30 s written with all its digits is not rounded.
    if (nominal_fps(fps) * reading.motion.frame_time() - 1.0).abs() > 1e-9 {
        let detail =
            format!("a frame time of {} s, taken as {} fps", reading.motion.frame_time(), nominal_fps(fps));
        traps.push(handled("rounded-frame-time", detail));
    }
    if nominal_fps(fps) != signal::FPS {
        let detail = format!("{} fps, low-passed and resampled to {}", nominal_fps(fps), signal::FPS);
        traps.push(handled("frame-rate", detail));
    }
    let n_joints = nodes.iter().filter(|node| node.parent.is_some() && node.length() == 0.0).count();
    if n_joints > 0 {
        let detail = format!("{n_joints} of {} joints stand on top of their parents", nodes.len());
        traps.push(handled("joints-without-length", detail));
    }
    if nodes.iter().flat_map(|node| &node.end_sites).any(|site| *site == [0.0; 3]) {
        traps.push(handled(
            "ends-without-length",
            "end sites have offset zero, so last bones have no direction",
        ));
    }
    traps.extend(rotation_order(reading.motion.hierarchy()));
    traps.extend(still_root(reading));
    traps
}

fn rotation_order(hierarchy: &Hierarchy) -> Option<Trap> {
    let orders: Vec<Vec<Axis>> =
        hierarchy.nodes().iter().map(|node| node.rotation_axes().collect()).collect();
    let first = orders.iter().find(|order| !order.is_empty())?;
    let mixed = orders.iter().any(|order| !order.is_empty() && order != first);
    let also = if mixed { " on the first joint, others differ" } else { "" };
    let axes: Vec<String> = first.iter().map(|axis| format!("{axis:?}")).collect();
    Some(handled("rotation-order", format!("rotations in the order {}{also}", axes.join(" "))))
}

/// A root with position channels that never moves, while the body does.
fn still_root(reading: &Reading) -> Option<Trap> {
    let motion = &reading.motion;
    let root = motion.hierarchy().nodes().first().filter(|root| root.has_position())?;
    let n = root.channels.len();
    let first = motion.frame(0).get(..n)?.to_vec();
    let still = (0..motion.n_frames())
        .all(|t| motion.frame(t)[..n].iter().zip(&first).all(|(a, b)| (a - b).abs() < STILL));
    let moves_below = motion.hierarchy().nodes()[1..].iter().any(|node| node.has_position());
    (still && moves_below)
        .then(|| handled("root-stands-still", format!("`{}` never moves; the hips below it do", root.name)))
}

/// Traps in unit, axes and joints.
pub(super) fn of_map(report: &MapReport, hierarchy: &Hierarchy) -> Vec<Trap> {
    let mut traps = vec![handled("rig", format!("names of `{}`", report.rig.rig))];
    let findings = [
        ("unit", report.unit.to_string(), report.unit.basis),
        ("up-axis", report.up.to_string(), report.up.basis),
        ("handedness", report.side.to_string(), report.side.basis),
    ];
    traps.extend(findings.map(|(name, detail, basis)| Trap { name, detail, look: basis == Basis::Assumed }));
    let n_moving =
        hierarchy.nodes().iter().filter(|node| node.parent.is_some() && node.has_position()).count();
    if n_moving > 0 {
        let meaning = match report.position_channels {
            PositionChannels::Replace => "replace their offsets",
            PositionChannels::Add => "add to their offsets",
        };
        traps.push(handled(
            "positions-on-joints",
            format!("position channels of {n_moving} joints {meaning}"),
        ));
    }
    let made_up: Vec<String> =
        report.synthesised().iter().map(|(joint, how)| format!("{}: {how}", joint.name())).collect();
    if !made_up.is_empty() {
        traps.push(handled("joints-made-up", made_up.join("; ")));
    }
    if let Source::Node(hips) = report.rig.sources[Joint::Hips.index()]
        && hips > 0
    {
        traps.push(handled("hips-below-root", format!("the hips are joint {} of the file", hips + 1)));
    }
    traps.extend(report.rig.notes.iter().map(|note| handled("rig-note", note.clone())));
    traps
}

/// Traps in the motion itself.
pub(super) fn of_signal(report: &SignalReport) -> Vec<Trap> {
    let mut traps = Vec::new();
    match report.t_pose {
        TPose::Absent => {}
        TPose::Added { n_frames } => {
            traps.push(handled(
                "added-t-pose",
                format!("{n_frames} frame(s) that were not captured, dropped"),
            ));
        }
        TPose::Held { n_frames } => {
            traps.push(handled(
                "held-t-pose",
                format!("the performer holds it for {n_frames} frames, dropped"),
            ));
        }
    }
    for glitch in &report.glitches {
        let name = match glitch.kind {
            GlitchKind::Collapsed => "collapsed-frames",
            GlitchKind::Displaced => "displaced-body",
            GlitchKind::Cut => "cut",
            GlitchKind::Spike { .. } => "spike",
        };
        let look = matches!(glitch.repair, signal::Repair::Left);
        traps.push(Trap { name, detail: glitch.to_string(), look });
    }
    if report.rate.is_suspect() {
        traps.push(doubtful("suspect-rate", report.rate.to_string()));
    }
    let floor = &report.floor;
    if floor.height.abs() > FAR_FLOOR {
        traps.push(handled("floor", format!("the floor was at {:.3} m, moved to 0", floor.height)));
    }
    if floor.spread > UNEVEN_FLOOR || floor.n_resting == 0 {
        let detail = format!("half of {} resting feet are within {:.3} m", floor.n_resting, floor.spread);
        traps.push(doubtful("uneven-floor", detail));
    }
    traps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{Floor, Glitch, RateCheck, RateVerdict, Repair};

    fn names(traps: &[Trap]) -> Vec<&'static str> {
        traps.iter().map(|trap| trap.name).collect()
    }

    /// A report in which there is nothing to tell.
    fn plain() -> SignalReport {
        let rate = RateCheck {
            labelled_fps: 30.0,
            stride_secs: Some(1.2),
            free_fall_fps: None,
            verdict: RateVerdict::Plausible,
        };
        SignalReport {
            n_frames_in: 90,
            n_frames_out: 90,
            fps_in: 30.0,
            fps_out: 30.0,
            t_pose: TPose::Absent,
            glitches: vec![],
            rate,
            floor: Floor { height: 0.0, spread: 0.001, n_resting: 40 },
        }
    }

    #[test]
    fn a_text_is_searched_for_line_ends_tabs_and_zeros() {
        assert_eq!(of_text(b"MOTION\nFrames: 2\nFrame Time: 0.0083333\n"), []);
        let odd = of_text(b"MOTION\r\nFrames:\t2\r\nFrame Time: .0083333\r\n");
        assert_eq!(names(&odd), ["line-ends", "tab-in-header", "no-leading-zero"]);
        assert_eq!(of_text(b""), []);
        assert_eq!(of_text(b"Frames:"), []);
    }

    #[test]
    fn a_plain_signal_has_no_traps() {
        assert_eq!(of_signal(&plain()), []);
    }

    #[test]
    fn glitches_are_told_in_words_and_only_cuts_ask_for_a_look() {
        let glitch = |kind, frames, repair| Glitch { kind, frames, repair };
        let glitches = vec![
            glitch(GlitchKind::Collapsed, 0..2, Repair::Dropped),
            glitch(GlitchKind::Spike { joint: Joint::LeftToe }, 7..8, Repair::Interpolated),
            glitch(GlitchKind::Cut, 50..51, Repair::Left),
        ];
        let traps = of_signal(&SignalReport { glitches, ..plain() });
        assert_eq!(names(&traps), ["collapsed-frames", "spike", "cut"]);
        assert_eq!(traps.iter().map(|trap| trap.look).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(traps[0].detail, "all joints in one point in frames 0 to 1, dropped");
        assert_eq!(traps[1].detail, "LeftToe leaves its path and comes back in frame 7, interpolated");
    }

    #[test]
    fn rates_that_bodies_contradict_ask_for_a_look() {
        let verdict = RateVerdict::SuspectByCadence { likely_fps: 120.0 };
        let rate = RateCheck { verdict, stride_secs: Some(4.4), ..plain().rate };
        let traps = of_signal(&SignalReport { rate, ..plain() });
        assert!(names(&traps) == ["suspect-rate"] && traps[0].look);
        assert_eq!(traps[0].detail, "at 30 fps a stride would take 4.40 s; 120 fps is more likely");
    }

    #[test]
    fn floors_elsewhere_are_moved_and_uneven_ones_ask_for_a_look() {
        let floor = |height, spread, n_resting| {
            let traps = of_signal(&SignalReport { floor: Floor { height, spread, n_resting }, ..plain() });
            traps.iter().map(|trap| (trap.name, trap.look)).collect::<Vec<_>>()
        };
        assert_eq!(floor(-0.2, 0.001, 9), [("floor", false)]);
        assert_eq!(floor(0.0, 0.1, 9), [("uneven-floor", true)]);
        assert_eq!(floor(0.0, 0.0, 0), [("uneven-floor", true)], "feet that never rest show no floor");
    }
}
