//! Finds unit, up and handedness of a file by looking at the body in it, and says on what evidence.
//!
//! ```text
//! up          mean over frames of the directions ankles → hips and hips → head
//! unit        height ≈ leg / 0.49 (thigh .245 and shank .246 of stature) must be that of a human
//! handedness  the left hip lies towards up × forward; forward is where toes point and knees bend to
//! ```
//!
//! Proportions: Winter, Biomechanics and Motor Control of Human Movement, after Drillis and Contini (1966).

use glam::DVec3;

use super::forward::sampled;
use super::placement::Up;
use crate::rotation::Axis;
use crate::track::{Joint, N_JOINTS};

/// What a finding stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The caller said so.
    Given,
    /// The body in the file shows it.
    Measured,
    /// Nothing speaks clearly; the usual was taken.
    Assumed,
}

/// What is up in a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpFinding {
    /// The direction.
    pub up: Up,
    /// Cosine between it and the mean direction from feet over hips to head, in [−1, 1].
    pub agreement: f64,
    /// On what it stands.
    pub basis: Basis,
}

/// The unit of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitFinding {
    /// Metres in one unit.
    pub metres_per_unit: f64,
    /// Its name, e.g. `centimetre`.
    pub name: String,
    /// Length of a leg in units of the file: thigh and shank.
    pub leg_units: f64,
    /// Height of the body that this makes, in metres.
    pub height_m: f64,
    /// On what it stands.
    pub basis: Basis,
}

/// Handedness of coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it all
pub enum Handedness {
    Right,
    Left,
}

/// On which side of the body the left hip lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideFinding {
    /// The handedness that puts the left hip on the left.
    pub handedness: Handedness,
    /// Mean cosine between right hip → left hip and up × forward, for right-handed coordinates.
    pub agreement: f64,
    /// On what it stands.
    pub basis: Basis,
}

/// Share of a leg, thigh and shank, in the height of a body.
const LEG_SHARE: f64 = 0.49;
/// Heights of people who walk into a studio, in metres; narrow enough that no two units below both fit.
const PLAUSIBLE_M: std::ops::RangeInclusive<f64> = 1.2..=2.3;
/// What is taken where no unit makes a plausible body.
const USUAL_HEIGHT_M: f64 = 1.7;
/// Units of files.
const UNITS: [(&str, f64); 6] = [
    ("metre", 1.0),
    ("centimetre", 0.01),
    ("inch", 0.0254),
    ("millimetre", 0.001),
    ("CMU unit (2.54/0.45 cm)", 0.0254 / 0.45),
    ("foot", 0.3048),
];
/// Hip, knee, ankle and toe of both legs.
const LEGS: [[Joint; 4]; 2] = [
    [Joint::LeftHip, Joint::LeftKnee, Joint::LeftAnkle, Joint::LeftToe],
    [Joint::RightHip, Joint::RightKnee, Joint::RightAnkle, Joint::RightToe],
];
/// Evidence below this cosine is none.
const CLEAR: f64 = 0.7;
/// Frames that are looked at.
const LOOKS: usize = 500;

/// Positions of the 21 joints in the coordinates of the file, frame by frame.
pub(super) struct RawTrack<'a>(pub(super) &'a [DVec3]);

impl RawTrack<'_> {
    fn frames(&self) -> impl Iterator<Item = &[DVec3]> {
        sampled(self.0.len() / N_JOINTS, LOOKS).map(|i| &self.0[i * N_JOINTS..(i + 1) * N_JOINTS])
    }

    /// What is up.
    pub(super) fn find_up(&self) -> UpFinding {
        let mut mean = DVec3::ZERO;
        for frame in self.frames() {
            let at = |joint: Joint| frame[joint.index()];
            let ankles = 0.5 * (at(Joint::LeftAnkle) + at(Joint::RightAnkle));
            mean += (at(Joint::Hips) - ankles).normalize_or_zero();
            mean += (at(Joint::Head) - at(Joint::Hips)).normalize_or_zero();
        }
        let mean = mean.normalize_or_zero();
        let axis = Axis::ALL.into_iter().fold(Axis::Y, |best, axis| {
            if mean[axis.index()].abs() > mean[best.index()].abs() { axis } else { best }
        });
        let agreement = mean[axis.index()].abs();
        if agreement < CLEAR {
            return UpFinding { up: Up::Y, agreement: mean.y, basis: Basis::Assumed };
        }
        UpFinding { up: Up { axis, negative: mean[axis.index()] < 0.0 }, agreement, basis: Basis::Measured }
    }

    /// Median over frames of the mean length of both legs, in units of the file.
    fn leg_units(&self) -> f64 {
        let mut lengths: Vec<f64> = self.frames().map(leg_of_frame).collect();
        lengths.sort_by(f64::total_cmp);
        lengths.get(lengths.len() / 2).copied().unwrap_or(0.0)
    }

    /// The unit; `usual` is what files of the rig usually have.
    pub(super) fn find_unit(&self, usual: Option<f64>) -> UnitFinding {
        let leg_units = self.leg_units();
        let height = |unit: f64| leg_units * unit / LEG_SHARE;
        let usual = usual.map(|unit| (name_of(unit), unit));
        let mut candidates = usual.into_iter().chain(UNITS.map(|(name, unit)| (name.to_string(), unit)));
        let (name, metres_per_unit, basis) =
            match candidates.find(|(_, unit)| PLAUSIBLE_M.contains(&height(*unit))) {
                Some((name, unit)) => (name, unit, Basis::Measured),
                None => {
                    let unit = if leg_units > 0.0 { USUAL_HEIGHT_M * LEG_SHARE / leg_units } else { 1.0 };
                    ("no known unit; scaled to a usual height".to_string(), unit, Basis::Assumed)
                }
            };
        UnitFinding { metres_per_unit, name, leg_units, height_m: height(metres_per_unit), basis }
    }

    /// The same for a unit that the caller gives.
    pub(super) fn given_unit(&self, metres_per_unit: f64) -> UnitFinding {
        let leg_units = self.leg_units();
        let height_m = leg_units * metres_per_unit / LEG_SHARE;
        UnitFinding {
            metres_per_unit,
            name: name_of(metres_per_unit),
            leg_units,
            height_m,
            basis: Basis::Given,
        }
    }

    /// On which side the left hip lies.
    pub(super) fn find_side(&self, up: Up) -> SideFinding {
        let up = up.unit();
        let (mut sum, mut most) = (0.0, 0.0);
        for frame in self.frames() {
            let at = |joint: Joint| frame[joint.index()];
            // Not normalised: a foot that points down, or a straight knee, says little and should weigh little.
            let forward = LEGS.map(|[hip, knee, ankle, toe]| {
                let bend = at(knee) - 0.5 * (at(hip) + at(ankle));
                at(toe) - at(ankle) + 2.0 * bend
            });
            let forward = forward[0] + forward[1];
            let forward = forward - up * forward.dot(up);
            let left = at(Joint::LeftHip) - at(Joint::RightHip);
            sum += up.cross(forward).dot(left);
            most += forward.length() * left.length();
        }
        let agreement = if most > 0.0 { sum / most } else { 0.0 };
        let basis = if agreement.abs() < CLEAR { Basis::Assumed } else { Basis::Measured };
        let left = basis == Basis::Measured && agreement < 0.0;
        SideFinding { handedness: if left { Handedness::Left } else { Handedness::Right }, agreement, basis }
    }
}

/// Mean length of both legs in one frame: thigh and shank.
pub(super) fn leg_of_frame(frame: &[DVec3]) -> f64 {
    let bone = |from: Joint, to: Joint| frame[from.index()].distance(frame[to.index()]);
    let left = bone(Joint::LeftHip, Joint::LeftKnee) + bone(Joint::LeftKnee, Joint::LeftAnkle);
    let right = bone(Joint::RightHip, Joint::RightKnee) + bone(Joint::RightKnee, Joint::RightAnkle);
    0.5 * (left + right)
}

fn name_of(metres_per_unit: f64) -> String {
    let known = UNITS.iter().find(|(_, unit)| (unit / metres_per_unit - 1.0).abs() < 1e-3);
    known.map_or_else(|| format!("{metres_per_unit} m"), |(name, _)| name.to_string())
}

impl std::fmt::Display for UpFinding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { up, agreement, basis } = self;
        match basis {
            Basis::Given => write!(out, "up is {up} (given; the body agrees by {agreement:.2})"),
            Basis::Measured => {
                write!(out, "up is {up} (ankles to hips to head point there, cosine {agreement:.2})")
            }
            Basis::Assumed => {
                write!(out, "up taken as {up}: the body points nowhere clearly (cosine {agreement:.2})")
            }
        }
    }
}

impl std::fmt::Display for UnitFinding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { metres_per_unit, name, leg_units, height_m, basis } = self;
        let given = if *basis == Basis::Given { "given; " } else { "" };
        write!(
            out,
            "1 unit = {metres_per_unit:.6} m, {name} ({given}a leg of {leg_units:.2} units makes a body of {height_m:.2} m)"
        )
    }
}

impl std::fmt::Display for SideFinding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = match self.handedness {
            Handedness::Right => "right-handed",
            Handedness::Left => "left-handed, mirrored",
        };
        let basis = match self.basis {
            Basis::Assumed => "assumed: toes and knees do not show what is forward",
            _ => "left hip against up × forward",
        };
        write!(out, "{side} ({basis}, cosine {:.2})", self.agreement)
    }
}
