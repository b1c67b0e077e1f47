//! From a motion on any rig to the 21 joints in metres, Y up, right-handed, with a report of how.

use glam::DVec3;

use super::forward::{PositionChannels, World, forward};
use super::legs::leg_length;
use super::matching::{RigMatch, Source, Synthesis};
use super::measure::{Basis, Handedness, RawTrack, SideFinding, UnitFinding, UpFinding};
use super::placement::{Placement, Up};
use super::rules::Rules;
use crate::bvh::Motion;
use crate::track::{Joint, JointTrack, N_JOINTS};
use crate::{Error, Result};

/// What the caller knows about a file and need not be found out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MapOptions {
    /// Metres in one unit.
    pub metres_per_unit: Option<f64>,
    /// What is up.
    pub up: Option<Up>,
    /// Handedness of the coordinates.
    pub handedness: Option<Handedness>,
    /// What position channels below the root mean.
    pub position_channels: Option<PositionChannels>,
}

/// A mapped motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapped {
    /// The 21 joints.
    pub track: JointTrack,
    /// How they were found.
    pub report: MapReport,
}

/// How the 21 joints were found.
#[derive(Debug, Clone, PartialEq)]
pub struct MapReport {
    /// The rig and where each joint comes from.
    pub rig: RigMatch,
    /// The unit and the evidence.
    pub unit: UnitFinding,
    /// What is up and the evidence.
    pub up: UpFinding,
    /// The handedness and the evidence.
    pub side: SideFinding,
    /// How position channels were read.
    pub position_channels: PositionChannels,
    /// Length of a leg, thigh and shank, in metres.
    pub leg_m: f64,
}

impl MapReport {
    /// How file coordinates become world coordinates.
    pub fn placement(&self) -> Placement {
        let mirrored = self.side.handedness == Handedness::Left;
        Placement { metres_per_unit: self.unit.metres_per_unit, up: self.up.up, mirrored }
    }

    /// Joints that the rig lacks, and how each was made up.
    pub fn synthesised(&self) -> Vec<(Joint, Synthesis)> {
        let made_up = |(joint, source): (Joint, &Source)| match source {
            Source::Synthesised(synthesis) => Some((joint, *synthesis)),
            _ => None,
        };
        Joint::ALL.into_iter().zip(&self.rig.sources).filter_map(made_up).collect()
    }

    /// Everything worth telling, one line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("rig `{}`", self.rig.rig)];
        notes.extend([self.unit.to_string(), self.up.to_string(), self.side.to_string()]);
        notes
            .extend(self.synthesised().iter().map(|(joint, how)| format!("{} made up: {how}", joint.name())));
        notes.extend(self.rig.notes.iter().cloned());
        notes
    }
}

/// Maps a motion to the 21 joints.
///
/// # Errors
/// [`Error::NoRig`] where the joints do not fit any rule; a motion without frames; a given unit that is not positive.
pub fn map(motion: &Motion, rules: &Rules, options: &MapOptions) -> Result<Mapped> {
    if motion.n_frames() == 0 {
        return Err(Error::shape("frames of the motion", "at least one", 0));
    }
    if let Some(unit) = options.metres_per_unit.filter(|unit| !(unit.is_finite() && *unit > 0.0)) {
        return Err(Error::setting("metres_per_unit", format!("found {unit}; give metres above 0")));
    }
    let rig = RigMatch::find(motion.hierarchy(), rules)?;
    let position_channels = options.position_channels.unwrap_or_else(|| PositionChannels::detect(motion));
    let raw = raw_joints(motion, &forward(motion, position_channels), &rig.sources);
    let measured = RawTrack(&raw);
    let unit = match options.metres_per_unit {
        Some(unit) => measured.given_unit(unit),
        None => measured.find_unit(rig.metres_per_unit),
    };
    let up = choose_up(measured.find_up(), options.up);
    let mut side = measured.find_side(up.up);
    if let Some(handedness) = options.handedness {
        side = SideFinding { handedness, basis: Basis::Given, ..side };
    }
    let mut report = MapReport { rig, unit, up, side, position_channels, leg_m: 0.0 };
    let placement = report.placement();
    let positions = raw.iter().map(|&position| placement.to_world(position).into()).collect();
    let track = JointTrack::new(motion.fps(), positions)?;
    report.leg_m = leg_length(&track);
    Ok(Mapped { track, report })
}

/// The given direction before the measured one.
fn choose_up(measured: UpFinding, given: Option<Up>) -> UpFinding {
    match given {
        None => measured,
        Some(up) => {
            let agreement = if measured.basis == Basis::Measured {
                measured.agreement * up.unit().dot(measured.up.unit())
            } else {
                0.0
            };
            UpFinding { up, agreement, basis: Basis::Given }
        }
    }
}

/// Positions of the 21 joints in file coordinates, frame by frame.
fn raw_joints(motion: &Motion, world: &World, sources: &[Source; N_JOINTS]) -> Vec<DVec3> {
    let mut all = Vec::with_capacity(motion.n_frames() * N_JOINTS);
    for frame in 0..motion.n_frames() {
        let mut joints = [DVec3::ZERO; N_JOINTS];
        for (joint, source) in joints.iter_mut().zip(sources) {
            *joint = captured(motion, world, frame, source).unwrap_or(DVec3::ZERO);
        }
        for joint in SYNTHESIS_ORDER {
            if let Source::Synthesised(synthesis) = sources[joint.index()] {
                joints[joint.index()] = made_up(motion, world, frame, synthesis, (sources, &joints));
            }
        }
        all.extend(joints);
    }
    all
}

/// Joints that may be made up, each after those it is made from.
const SYNTHESIS_ORDER: [Joint; 8] = [
    Joint::Neck,
    Joint::Head,
    Joint::Spine,
    Joint::Chest,
    Joint::LeftToe,
    Joint::RightToe,
    Joint::LeftFingers,
    Joint::RightFingers,
];

/// A position that the rig has.
fn captured(motion: &Motion, world: &World, frame: usize, source: &Source) -> Option<DVec3> {
    match *source {
        Source::Node(node) => Some(world.positions(frame)[node]),
        Source::EndSite { node, site } => {
            let offset = DVec3::from(motion.hierarchy().nodes()[node].end_sites[site]);
            Some(world.positions(frame)[node] + world.rotations(frame)[node] * offset)
        }
        Source::Synthesised(_) => None,
    }
}

/// A position that the rig lacks.
fn made_up(
    motion: &Motion,
    world: &World,
    frame: usize,
    synthesis: Synthesis,
    (sources, joints): (&[Source; N_JOINTS], &[DVec3; N_JOINTS]),
) -> DVec3 {
    let at = |joint: Joint| joints[joint.index()];
    match synthesis {
        Synthesis::Between { from, to, share } => at(from).lerp(at(to), share),
        Synthesis::Past { from, through, share } => at(through) + share * (at(through) - at(from)),
        Synthesis::StraightOn { joint, share } => match sources[joint.index()] {
            Source::Node(node) => {
                let bone = DVec3::from(motion.hierarchy().nodes()[node].offset);
                at(joint) + world.rotations(frame)[node] * (share * bone)
            }
            _ => at(joint),
        },
        Synthesis::At(joint) => at(joint),
    }
}
