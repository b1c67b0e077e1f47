//! The 21 joints of the paper and a clip of their positions, which everything after the skeleton map works on.
//!
//! The skeleton is a subset of the one in the CMU database: joints that sit on top of their parent there, and
//! thumbs, are left out. Names are anatomical: each says which point of the body its position is.

use crate::{Error, Result};

/// Number of joints of the paper's skeleton.
pub const N_JOINTS: usize = 21;

/// One of the paper's joints; `joint as usize` is its place in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)] // the names say it all
pub enum Joint {
    Hips,
    LeftHip,
    LeftKnee,
    LeftAnkle,
    LeftToe,
    RightHip,
    RightKnee,
    RightAnkle,
    RightToe,
    Spine,
    Chest,
    Neck,
    Head,
    LeftShoulder,
    LeftElbow,
    LeftWrist,
    LeftFingers,
    RightShoulder,
    RightElbow,
    RightWrist,
    RightFingers,
}

use Joint::*;

/// Name of each joint, in the order of [`Joint::ALL`].
const NAMES: [&str; N_JOINTS] = [
    "Hips",
    "LeftHip",
    "LeftKnee",
    "LeftAnkle",
    "LeftToe",
    "RightHip",
    "RightKnee",
    "RightAnkle",
    "RightToe",
    "Spine",
    "Chest",
    "Neck",
    "Head",
    "LeftShoulder",
    "LeftElbow",
    "LeftWrist",
    "LeftFingers",
    "RightShoulder",
    "RightElbow",
    "RightWrist",
    "RightFingers",
];

impl Joint {
    /// Every joint in its order; a parent stands before its children.
    pub const ALL: [Joint; N_JOINTS] = [
        Hips,
        LeftHip,
        LeftKnee,
        LeftAnkle,
        LeftToe,
        RightHip,
        RightKnee,
        RightAnkle,
        RightToe,
        Spine,
        Chest,
        Neck,
        Head,
        LeftShoulder,
        LeftElbow,
        LeftWrist,
        LeftFingers,
        RightShoulder,
        RightElbow,
        RightWrist,
        RightFingers,
    ];

    /// Its place in a frame, `0..N_JOINTS`.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name, e.g. `LeftKnee`.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The joint with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|joint| joint.name() == name)
    }

    /// The joint that carries it; none for the hips.
    pub const fn parent(self) -> Option<Self> {
        match self {
            Hips => None,
            LeftHip | RightHip | Spine => Some(Hips),
            LeftKnee => Some(LeftHip),
            LeftAnkle => Some(LeftKnee),
            LeftToe => Some(LeftAnkle),
            RightKnee => Some(RightHip),
            RightAnkle => Some(RightKnee),
            RightToe => Some(RightAnkle),
            Chest => Some(Spine),
            Neck | LeftShoulder | RightShoulder => Some(Chest),
            Head => Some(Neck),
            LeftElbow => Some(LeftShoulder),
            LeftWrist => Some(LeftElbow),
            LeftFingers => Some(LeftWrist),
            RightElbow => Some(RightShoulder),
            RightWrist => Some(RightElbow),
            RightFingers => Some(RightWrist),
        }
    }

    /// The joint on the other side of the body; those in the middle are their own.
    pub const fn mirrored(self) -> Self {
        match self {
            LeftHip => RightHip,
            LeftKnee => RightKnee,
            LeftAnkle => RightAnkle,
            LeftToe => RightToe,
            RightHip => LeftHip,
            RightKnee => LeftKnee,
            RightAnkle => LeftAnkle,
            RightToe => LeftToe,
            LeftShoulder => RightShoulder,
            LeftElbow => RightElbow,
            LeftWrist => RightWrist,
            LeftFingers => RightFingers,
            RightShoulder => LeftShoulder,
            RightElbow => LeftElbow,
            RightWrist => LeftWrist,
            RightFingers => LeftFingers,
            middle => middle,
        }
    }
}

/// Positions of the 21 joints over time: metres, Y up, right-handed.
///
/// Positions are frame-major, `n_frames × 21 × 3`, and finite.
#[derive(Debug, Clone, PartialEq)]
pub struct JointTrack {
    /// Frames per second.
    pub fps: f64,
    positions: Vec<[f64; 3]>,
}

impl JointTrack {
    /// A clip from positions, `n_frames · 21` of them, frame by frame.
    ///
    /// # Errors
    /// A frame rate that is not positive and finite, no frames or not whole ones, a position that is not finite.
    pub fn new(fps: f64, positions: Vec<[f64; 3]>) -> Result<Self> {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Error::setting("fps", format!("found {fps}; give frames per second, above 0")));
        }
        if positions.is_empty() || !positions.len().is_multiple_of(N_JOINTS) {
            let expected = format!("a positive multiple of {N_JOINTS}");
            return Err(Error::shape("positions of a track", expected, positions.len()));
        }
        for (place, position) in positions.iter().enumerate() {
            if let Some(&value) = position.iter().find(|value| !value.is_finite()) {
                let joint = Joint::ALL[place % N_JOINTS].name();
                let what = format!("{joint} in frame {}", place / N_JOINTS);
                return Err(Error::NotFinite { what, value });
            }
        }
        Ok(Self { fps, positions })
    }

    /// Number of frames, at least one.
    pub fn n_frames(&self) -> usize {
        self.positions.len() / N_JOINTS
    }

    /// Positions of all joints in frame `i`, in the order of [`Joint::ALL`].
    ///
    /// # Panics
    /// Where there is no such frame.
    pub fn frame(&self, i: usize) -> &[[f64; 3]] {
        &self.positions[i * N_JOINTS..(i + 1) * N_JOINTS]
    }

    /// Position of a joint in frame `i`.
    ///
    /// # Panics
    /// Where there is no such frame.
    pub fn at(&self, i: usize, joint: Joint) -> [f64; 3] {
        self.frame(i)[joint.index()]
    }

    /// All positions, frame by frame: `n_frames · 21`.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// The mirror image: left and right exchanged, X negated.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let at = |place: usize| {
            let joint = Joint::ALL[place % N_JOINTS].mirrored().index();
            let [x, y, z] = self.positions[place / N_JOINTS * N_JOINTS + joint];
            [-x, y, z]
        };
        Self { fps: self.fps, positions: (0..self.positions.len()).map(at).collect() }
    }

    /// The positions, handed over.
    pub fn into_positions(self) -> Vec<[f64; 3]> {
        self.positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_names_and_parents_agree() {
        for (place, joint) in Joint::ALL.into_iter().enumerate() {
            assert_eq!(joint.index(), place);
            assert_eq!(Joint::from_name(joint.name()), Some(joint));
            assert_eq!(format!("{joint:?}"), joint.name());
            assert_eq!(joint.mirrored().mirrored(), joint);
            assert!(joint.parent().is_none_or(|parent| parent.index() < place));
            assert_eq!(joint.mirrored().parent(), joint.parent().map(Joint::mirrored));
        }
    }

    #[test]
    fn a_track_has_whole_finite_frames_and_a_rate() {
        let good = vec![[1.0, 2.0, 3.0]; 2 * N_JOINTS];
        let track = JointTrack::new(30.0, good.clone()).unwrap();
        assert_eq!((track.n_frames(), track.frame(1).len()), (2, N_JOINTS));
        assert!(JointTrack::new(30.0, vec![]).is_err());
        assert!(JointTrack::new(30.0, good[1..].to_vec()).is_err());
        assert!(JointTrack::new(0.0, good.clone()).is_err());
        assert!(JointTrack::new(f64::NAN, good.clone()).is_err());
        let mut broken = good;
        broken[N_JOINTS + 2][1] = f64::NAN;
        let message = JointTrack::new(30.0, broken).unwrap_err().to_string();
        assert!(message.contains("LeftKnee in frame 1"), "{message}");
    }
}
