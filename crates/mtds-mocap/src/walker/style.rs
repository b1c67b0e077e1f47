//! Parameters of a gait, and eight named points among them.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How somebody walks: continuous, so that styles can be mixed and anything between them exists.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GaitParameters {
    /// Mean speed, in metres per second.
    pub speed: f64,
    /// Time of a whole cycle of two steps, in seconds.
    pub stride_secs: f64,
    /// Share of the cycle in which a foot stands, between 0.5 and 0.8: a walk has no flight.
    pub duty: f64,
    /// Distance of the feet across the path, in metres.
    pub step_width: f64,
    /// How high the toes swing, in metres.
    pub foot_lift: f64,
    /// How far the heel rises before the foot leaves the ground, in radians.
    pub heel_rise_rad: f64,
    /// How much lower the hips are than the legs would allow, in metres: bent knees.
    pub crouch: f64,
    /// Rise and fall of the hips, twice per cycle, in metres either way.
    pub bounce: f64,
    /// Sideways motion of the hips, once per cycle, in metres either way.
    pub sway: f64,
    /// Turning of the hips with the legs, in radians either way.
    pub hip_twist_rad: f64,
    /// Dropping of the hips on the side that swings, in radians either way.
    pub hip_drop_rad: f64,
    /// Turning of the shoulders against the hips, in radians either way.
    pub shoulder_twist_rad: f64,
    /// Forward lean of the trunk, in radians.
    pub lean_rad: f64,
    /// Forward bend of neck and head beyond the trunk's, in radians.
    pub head_rad: f64,
    /// Swing of the arms, in radians either way.
    pub arm_swing_rad: f64,
    /// How far the arms are held out to the sides, in radians.
    pub arm_out_rad: f64,
    /// Bend of the elbows, in radians.
    pub elbow_rad: f64,
}

/// Names of the parameters, in the order of [`GaitParameters::to_array`].
pub const PARAMETER_NAMES: [&str; N_PARAMETERS] = [
    "speed",
    "stride_secs",
    "duty",
    "step_width",
    "foot_lift",
    "heel_rise_rad",
    "crouch",
    "bounce",
    "sway",
    "hip_twist_rad",
    "hip_drop_rad",
    "shoulder_twist_rad",
    "lean_rad",
    "head_rad",
    "arm_swing_rad",
    "arm_out_rad",
    "elbow_rad",
];
/// Number of parameters.
pub const N_PARAMETERS: usize = 17;
/// Smallest and largest value of each parameter, in the same order.
const RANGES: [[f64; 2]; N_PARAMETERS] = [
    [0.1, 2.2],
    [0.5, 3.0],
    [0.5, 0.8],
    [0.0, 0.4],
    [0.02, 0.3],
    [0.0, 1.2],
    [0.0, 0.3],
    [0.0, 0.08],
    [0.0, 0.12],
    [0.0, 0.6],
    [0.0, 0.3],
    [0.0, 0.6],
    [-0.4, 0.9],
    [-0.5, 0.9],
    [0.0, 1.4],
    [0.0, 1.4],
    [0.0, 2.2],
];

impl GaitParameters {
    /// All parameters as numbers.
    #[must_use]
    pub fn to_array(&self) -> [f64; N_PARAMETERS] {
        let p = self;
        [
            p.speed,
            p.stride_secs,
            p.duty,
            p.step_width,
            p.foot_lift,
            p.heel_rise_rad,
            p.crouch,
            p.bounce,
            p.sway,
            p.hip_twist_rad,
            p.hip_drop_rad,
            p.shoulder_twist_rad,
            p.lean_rad,
            p.head_rad,
            p.arm_swing_rad,
            p.arm_out_rad,
            p.elbow_rad,
        ]
    }

    /// Parameters from numbers in the order of [`PARAMETER_NAMES`].
    #[must_use]
    pub fn from_array(values: [f64; N_PARAMETERS]) -> Self {
        let [
            speed,
            stride_secs,
            duty,
            step_width,
            foot_lift,
            heel_rise_rad,
            crouch,
            bounce,
            sway,
            hip_twist_rad,
            hip_drop_rad,
            shoulder_twist_rad,
            lean_rad,
            head_rad,
            arm_swing_rad,
            arm_out_rad,
            elbow_rad,
        ] = values;
        Self {
            speed,
            stride_secs,
            duty,
            step_width,
            foot_lift,
            heel_rise_rad,
            crouch,
            bounce,
            sway,
            hip_twist_rad,
            hip_drop_rad,
            shoulder_twist_rad,
            lean_rad,
            head_rad,
            arm_swing_rad,
            arm_out_rad,
            elbow_rad,
        }
    }

    /// The point a share of the way to another gait; 0 is this one, 1 the other.
    #[must_use]
    pub fn mixed(&self, other: &Self, share: f64) -> Self {
        let (from, to) = (self.to_array(), other.to_array());
        Self::from_array(std::array::from_fn(|i| from[i] + share * (to[i] - from[i])))
    }

    /// Metres of a whole cycle of two steps.
    #[must_use]
    pub fn stride_length(&self) -> f64 {
        self.speed * self.stride_secs
    }

    /// The parameters, each held within what a body can do.
    #[must_use]
    pub fn clamped(&self) -> Self {
        let values = self.to_array();
        Self::from_array(std::array::from_fn(|i| values[i].clamp(RANGES[i][0], RANGES[i][1])))
    }

    /// Every parameter moved by a share of its range, drawn one by one, and held within it.
    pub(super) fn shifted(&self, mut share: impl FnMut() -> f64) -> Self {
        let values = self.to_array();
        let moved = |i: usize| values[i] + share() * (RANGES[i][1] - RANGES[i][0]);
        Self::from_array(std::array::from_fn(moved)).clamped()
    }

    /// # Errors
    /// [`Error::Setting`] for the first parameter outside its range.
    pub(super) fn check(&self) -> Result<()> {
        for ((value, name), [least, most]) in self.to_array().into_iter().zip(PARAMETER_NAMES).zip(RANGES) {
            if !(least..=most).contains(&value) {
                return Err(Error::setting(
                    name,
                    format!("found {value}; give a number from {least} to {most}"),
                ));
            }
        }
        Ok(())
    }
}

/// The named styles, those of the paper's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // the names say it all
pub enum Style {
    Angry,
    Childlike,
    Depressed,
    Neutral,
    Old,
    Proud,
    Sexy,
    Strutting,
}

impl Style {
    /// All eight, in the order of their names.
    pub const ALL: [Style; 8] = [
        Style::Angry,
        Style::Childlike,
        Style::Depressed,
        Style::Neutral,
        Style::Old,
        Style::Proud,
        Style::Sexy,
        Style::Strutting,
    ];

    /// Its name in small letters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Style::Angry => "angry",
            Style::Childlike => "childlike",
            Style::Depressed => "depressed",
            Style::Neutral => "neutral",
            Style::Old => "old",
            Style::Proud => "proud",
            Style::Sexy => "sexy",
            Style::Strutting => "strutting",
        }
    }

    /// The style with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|style| style.name() == name)
    }

    /// Its gait.
    #[must_use]
    pub fn parameters(self) -> GaitParameters {
        GaitParameters::from_array(match self {
            Style::Angry => [
                1.45, 0.92, 0.58, 0.14, 0.10, 0.94, 0.01, 0.026, 0.015, 0.14, 0.03, 0.22, 0.22, 0.15, 0.55,
                0.20, 1.20,
            ],
            Style::Childlike => [
                1.05, 0.80, 0.56, 0.12, 0.16, 1.10, 0.00, 0.058, 0.025, 0.10, 0.05, 0.20, 0.02, -0.12, 0.80,
                0.45, 0.40,
            ],
            Style::Depressed => [
                0.60, 1.60, 0.70, 0.14, 0.05, 0.51, 0.02, 0.013, 0.020, 0.06, 0.02, 0.05, 0.28, 0.50, 0.12,
                0.08, 0.15,
            ],
            Style::Neutral => [
                1.10, 1.14, 0.62, 0.13, 0.08, 0.85, 0.00, 0.023, 0.020, 0.10, 0.04, 0.12, 0.04, 0.05, 0.35,
                0.14, 0.35,
            ],
            Style::Old => [
                0.45, 1.45, 0.74, 0.20, 0.05, 0.26, 0.08, 0.010, 0.035, 0.05, 0.03, 0.06, 0.55, -0.20, 0.12,
                0.25, 0.80,
            ],
            Style::Proud => [
                0.90, 1.35, 0.64, 0.16, 0.10, 0.77, 0.00, 0.029, 0.025, 0.10, 0.03, 0.18, -0.12, -0.15, 0.40,
                0.40, 0.50,
            ],
            Style::Sexy => [
                0.85, 1.30, 0.64, 0.03, 0.08, 0.94, 0.00, 0.023, 0.055, 0.28, 0.14, 0.20, -0.05, -0.05, 0.30,
                0.30, 0.45,
            ],
            Style::Strutting => [
                1.15, 1.22, 0.61, 0.18, 0.12, 1.02, 0.01, 0.052, 0.045, 0.16, 0.06, 0.34, -0.10, -0.05, 0.70,
                0.35, 0.60,
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parameters_and_numbers_agree() {
        let p = Style::Neutral.parameters();
        assert_eq!(GaitParameters::from_array(p.to_array()), p);
        let stored: serde_json::Value = serde_json::to_value(p).unwrap();
        for (name, value) in PARAMETER_NAMES.iter().zip(p.to_array()) {
            assert_eq!(stored[name].as_f64(), Some(value), "{name}");
        }
        for style in Style::ALL {
            assert_eq!(Style::from_name(style.name()), Some(style));
            style.parameters().check().unwrap();
        }
        assert_eq!(Style::from_name("moonwalk"), None);
    }

    #[test]
    fn parameters_outside_their_range_are_errors_and_can_be_clamped() {
        let wild = GaitParameters { duty: 0.2, ..Style::Neutral.parameters() };
        assert!(wild.check().unwrap_err().to_string().contains("`duty`"));
        wild.clamped().check().unwrap();
        assert!(GaitParameters { lean_rad: f64::NAN, ..wild.clamped() }.check().is_err());
    }

    #[test]
    fn mixing_goes_from_one_to_the_other() {
        let (a, b) = (Style::Old.parameters(), Style::Proud.parameters());
        assert_eq!(a.mixed(&b, 0.0), a);
        assert!((a.mixed(&b, 0.5).speed - 0.5 * (a.speed + b.speed)).abs() < 1e-15);
    }
}
