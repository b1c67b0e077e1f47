//! Outputs `y ∈ R^64` of a clip, and the exact way back to positions in the world.
//!
//! ```text
//! y_t = [ẋ, ż, ω̇, h, q_2 … q_21]                                                        t = 1 … T
//!
//! (ẋ, ż) = fps · R_Y(−ω_{t−1}) (origin_t − origin_{t−1})      velocity of the frame, in its own axes
//! ω̇      = fps · (ω_t − ω_{t−1})                               its turning
//! h      = height of the hips                                 q_j = local_from_world_t(p_{t,j})
//! ```
//!
//! Velocities are those of the step that leads to the frame, so a rollout can integrate them as it goes; the
//! placement before the first step is kept beside `y`. The positions of a clip of `n` frames make `T = n − 1`
//! rows. Bird & Williams (2020), supplement, "Representation in observation space".

use mtds::Signal;

use super::Placement;
use crate::{Error, Joint, JointTrack, N_JOINTS, Result};

/// Number of outputs: three velocities, one height, and three coordinates of each joint but the hips.
pub const D_OBS: usize = 4 + 3 * (N_JOINTS - 1);

/// Outputs of a clip, with what is needed to go back.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    /// Rows `y_t`, `T × 64`, metres, metres per second and radians per second.
    pub values: Signal,
    /// Where the body is before the first row.
    pub start: Placement,
    /// Rows per second.
    pub fps: f64,
}

impl Outputs {
    /// The outputs of a clip whose body faces `facing_rad` (length `n_frames`).
    ///
    /// # Errors
    /// [`Error::Shape`] with fewer than two frames or another number of facings.
    pub fn of_track(track: &JointTrack, facing_rad: &[f64]) -> Result<Self> {
        let placements = placements(track, facing_rad)?;
        let mut values = Vec::with_capacity((track.n_frames() - 1) * D_OBS);
        for (t, pair) in placements.windows(2).enumerate() {
            let (before, now) = (pair[0], pair[1]);
            let [x, z] = before.turned_back([now.x - before.x, now.z - before.z]);
            values.extend([x, z, now.facing_rad - before.facing_rad].map(|step| step * track.fps));
            values.push(track.at(t + 1, Joint::Hips)[1]);
            for &joint in &track.frame(t + 1)[1..] {
                values.extend(now.local_from_world(joint));
            }
        }
        let values = Signal::new(placements.len() - 1, D_OBS, values)?;
        Ok(Self { values, start: placements[0], fps: track.fps })
    }

    /// Where the body is in every row; length `T`.
    #[must_use]
    pub fn placements(&self) -> Vec<Placement> {
        let advance = |place: &mut Placement, row: &[f64]| {
            *place = place.moved([row[0] / self.fps, row[1] / self.fps], row[2] / self.fps);
            Some(*place)
        };
        self.values.rows().scan(self.start, advance).collect()
    }

    /// The rows of `range`, starting from where the body is before them.
    ///
    /// # Panics
    /// If `range` reaches beyond the rows, as slicing does.
    #[must_use]
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        let start = range.start.checked_sub(1).map_or(self.start, |before| self.placements()[before]);
        Self { values: self.values.slice(range), start, fps: self.fps }
    }

    /// Positions in the world, one frame per row: the inverse of [`Outputs::of_track`], first frame aside.
    ///
    /// # Errors
    /// [`Error::Shape`] if rows are not 64 wide or there is none; [`Error::NotFinite`] if a value is missing;
    /// [`Error::Setting`] if the rate is not positive.
    pub fn to_track(&self) -> Result<JointTrack> {
        if self.values.width() != D_OBS {
            return Err(Error::shape("outputs of a motion", D_OBS, self.values.width()));
        }
        let mut positions = Vec::with_capacity(self.values.n_time() * N_JOINTS);
        for (row, place) in self.values.rows().zip(self.placements()) {
            positions.push([place.x, row[3], place.z]);
            positions.extend(row[4..].chunks_exact(3).map(|q| place.world_from_local([q[0], q[1], q[2]])));
        }
        JointTrack::new(self.fps, positions)
    }
}

/// The placement of every frame: the hips on the ground, facing as given.
fn placements(track: &JointTrack, facing_rad: &[f64]) -> Result<Vec<Placement>> {
    let n_frames = track.n_frames();
    if n_frames < 2 {
        return Err(Error::shape("a motion", "at least two frames", n_frames));
    }
    if facing_rad.len() != n_frames {
        return Err(Error::shape("facings of a motion", n_frames, facing_rad.len()));
    }
    let place = |(frame, &facing_rad): (usize, &f64)| {
        let [x, _, z] = track.at(frame, Joint::Hips);
        Placement { x, z, facing_rad }
    };
    Ok(facing_rad.iter().enumerate().map(place).collect())
}

/// Names of the 64 outputs, in column order, e.g. `velocity_left`, `LeftKnee_y`.
#[must_use]
pub fn output_names() -> Vec<String> {
    let frame = ["velocity_left", "velocity_forward", "turning", "Hips_y"].map(String::from);
    let joints = Joint::ALL[1..]
        .iter()
        .flat_map(|joint| ["x", "y", "z"].map(|axis| format!("{}_{axis}", joint.name())));
    frame.into_iter().chain(joints).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
        (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn a_straight_walk_has_forward_velocity_only() {
        let facing = std::f64::consts::FRAC_PI_2;
        let frame = |t: usize| (0..N_JOINTS).map(move |j| [0.1 * t as f64, 1.0 + j as f64, 2.0]);
        let track = JointTrack::new(10.0, (0..4).flat_map(frame).collect()).unwrap();
        let outputs = Outputs::of_track(&track, &[facing; 4]).unwrap();
        for row in outputs.values.rows() {
            assert!(row[0].abs() < 1e-12 && (row[1] - 1.0).abs() < 1e-12 && row[2] == 0.0);
            assert_eq!(row[3], 1.0);
        }
        assert_eq!((outputs.values.n_time(), outputs.values.width()), (3, 64));
        assert_eq!(output_names().len(), 64);
        assert_eq!(output_names()[4..7], ["LeftHip_x", "LeftHip_y", "LeftHip_z"]);
    }

    #[test]
    fn too_little_to_move_is_an_error() {
        let still = JointTrack::new(30.0, vec![[0.0; 3]; N_JOINTS]).unwrap();
        assert!(matches!(Outputs::of_track(&still, &[0.0]), Err(Error::Shape { .. })));
        let pair = JointTrack::new(30.0, vec![[0.0; 3]; 2 * N_JOINTS]).unwrap();
        assert!(matches!(Outputs::of_track(&pair, &[0.0]), Err(Error::Shape { .. })));
        let mut outputs = Outputs::of_track(&pair, &[0.0; 2]).unwrap();
        outputs.values = Signal::new(1, D_OBS, vec![f64::NAN; D_OBS]).unwrap();
        assert!(matches!(outputs.to_track(), Err(Error::NotFinite { .. })));
        outputs.values = Signal::new(1, 3, vec![0.0; 3]).unwrap();
        assert!(matches!(outputs.to_track(), Err(Error::Shape { .. })));
    }

    proptest! {
        #[test]
        fn outputs_lead_back_to_the_world(
            (positions, facing) in (2usize..40).prop_flat_map(|n| (
                prop::collection::vec(prop::array::uniform3(-8.0..8.0f64), n * N_JOINTS),
                prop::collection::vec(-9.0..9.0f64, n),
            )),
            fps in 1.0..240.0f64,
        ) {
            let track = JointTrack::new(fps, positions).unwrap();
            let back = Outputs::of_track(&track, &facing).unwrap().to_track().unwrap();
            prop_assert_eq!(back.n_frames(), track.n_frames() - 1);
            for t in 1..track.n_frames() {
                for joint in Joint::ALL {
                    // The error of n additions of numbers below 10: far under the millimetre that is asked for.
                    prop_assert!(distance(back.at(t - 1, joint), track.at(t, joint)) < 1e-10);
                }
            }
        }
    }
}
