//! A motion of one body on the bones of another: directions are kept, lengths are those of the other body.
//!
//! ```text
//! trunk, arms, head   p_j = p_parent + l_j · direction of the bone
//! hip joints          where they lie in the pelvis of the other body, turned with this one's, and as high as here
//! legs                ankles stay where they were; the knee bends as it did, with thigh and shin of the other body
//! feet                toe = ankle + l · direction
//! ```
//! Both bodies should have legs of one length, so that ankles can be reached: scale the motion first.

use glam::{DMat3, DVec3};

use super::legs::bent_leg;
use super::rest::bone_lengths;
use crate::Result;
use crate::gait::Foot;
use crate::track::{Joint, JointTrack, N_JOINTS};

/// Legs are not straighter than this share of their length, unless they cannot reach.
const MOST_REACH: f64 = 0.9995;

/// How far to the front of a straight leg knees are thought to be at least, in metres: averages of motions have legs that bend
/// backwards by less.
const KNEE_FORWARD: f64 = 0.08;

/// Lengths of the bones of a body, and where its hip joints lie.
#[derive(Debug, Clone, PartialEq)]
pub struct Proportions {
    lengths: [f64; N_JOINTS],
    /// Left and right hip joint in the frame of the pelvis, where it has a width.
    hips: Option<[DVec3; 2]>,
}

impl Proportions {
    /// Those of the body of a track: medians over frames.
    #[must_use]
    pub fn of(track: &JointTrack) -> Self {
        let mut sums = [DVec3::ZERO; 2];
        let mut count = 0.0;
        for t in 0..track.n_frames() {
            let frame = track.frame(t);
            if let Some(world_from_pelvis) = pelvis(frame) {
                let arms =
                    [Joint::LeftHip, Joint::RightHip].map(|hip| at(frame, hip) - at(frame, Joint::Hips));
                sums[0] += world_from_pelvis.transpose() * arms[0];
                sums[1] += world_from_pelvis.transpose() * arms[1];
                count += 1.0;
            }
        }
        let hips = (count > 0.0).then(|| sums.map(|sum| sum / count));
        Self { lengths: bone_lengths(track), hips }
    }

    /// Thigh and shin of the left leg and the right, in metres, on average.
    #[must_use]
    pub fn leg_m(&self) -> f64 {
        let of = |joint: Joint| self.lengths[joint.index()];
        0.5 * (of(Joint::LeftKnee) + of(Joint::LeftAnkle) + of(Joint::RightKnee) + of(Joint::RightAnkle))
    }

    /// The motion of a track on this body.
    ///
    /// # Errors
    /// None for a valid track.
    pub fn applied(&self, track: &JointTrack) -> Result<JointTrack> {
        let frames = (0..track.n_frames()).flat_map(|t| self.frame(track.frame(t)));
        JointTrack::new(track.fps, frames.map(|position| position.to_array()).collect())
    }

    fn frame(&self, frame: &[[f64; 3]]) -> [DVec3; N_JOINTS] {
        let mut placed: [DVec3; N_JOINTS] = std::array::from_fn(|joint| DVec3::from(frame[joint]));
        for joint in Joint::ALL {
            let Some(parent) = joint.parent() else { continue };
            let bone = at(frame, joint) - at(frame, parent);
            placed[joint.index()] =
                placed[parent.index()] + self.lengths[joint.index()] * bone.normalize_or_zero();
        }
        if let (Some(hips), Some(world_from_pelvis)) = (self.hips, pelvis(frame)) {
            let middle = placed[Joint::Hips.index()];
            placed[Joint::LeftHip.index()] = middle + world_from_pelvis * hips[0];
            placed[Joint::RightHip.index()] = middle + world_from_pelvis * hips[1];
            // Rigs differ in how far below the hips the legs begin; these decide where the ground is.
            let height = |frame: [DVec3; 2]| 0.5 * (frame[0].y + frame[1].y);
            let wanted = height([Joint::LeftHip, Joint::RightHip].map(|hip| at(frame, hip)));
            let found = height([Joint::LeftHip, Joint::RightHip].map(|hip| placed[hip.index()]));
            placed.iter_mut().for_each(|joint| joint.y += wanted - found);
        }
        self.stand(Foot::Left, [Joint::LeftHip, Joint::LeftKnee], frame, &mut placed);
        self.stand(Foot::Right, [Joint::RightHip, Joint::RightKnee], frame, &mut placed);
        placed
    }

    /// Puts a foot where it was.
    fn stand(&self, foot: Foot, [hip, knee]: [Joint; 2], frame: &[[f64; 3]], placed: &mut [DVec3; N_JOINTS]) {
        let [ankle, toe] = foot.joints();
        let lengths = [knee, ankle].map(|joint| self.lengths[joint.index()]);
        let origin = placed[hip.index()];
        let most = MOST_REACH * (lengths[0] + lengths[1]);
        // The knee goes off the line on the side where it was, and to the front where the leg was nearly straight.
        let forward = pelvis(frame).map_or(DVec3::ZERO, |world_from_pelvis| world_from_pelvis.z_axis);
        let [thigh, leg] = [knee, ankle].map(|joint| at(frame, joint) - at(frame, hip));
        let off = thigh - leg * (thigh.dot(leg) / leg.length_squared().max(f64::MIN_POSITIVE));
        // Not the thigh itself: from hips that are elsewhere it may lie behind the line to the ankle.
        let hint = origin + off + (KNEE_FORWARD - off.dot(forward)).max(0.0) * forward;
        let Some((knee_at, ankle_at)) = bent_leg([origin, hint], at(frame, ankle), lengths, most) else {
            return;
        };
        (placed[knee.index()], placed[ankle.index()]) = (knee_at, ankle_at);
        let bone = at(frame, toe) - at(frame, ankle);
        placed[toe.index()] = ankle_at + self.lengths[toe.index()] * bone.normalize_or_zero();
    }
}

fn at(frame: &[[f64; 3]], joint: Joint) -> DVec3 {
    DVec3::from(frame[joint.index()])
}

/// Axes of the pelvis: to the left, up the trunk, forward.
fn pelvis(frame: &[[f64; 3]]) -> Option<DMat3> {
    let x = (at(frame, Joint::LeftHip) - at(frame, Joint::RightHip)).try_normalize()?;
    let up = at(frame, Joint::Spine) - at(frame, Joint::Hips);
    let y = (up - x * up.dot(x)).try_normalize()?;
    Some(DMat3::from_cols(x, y, x.cross(y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walker::{Style, Walker};

    fn walk() -> JointTrack {
        let walker = Walker::new(Style::Strutting.parameters());
        walker.walk(90, &mut mtds::random::stream(6, 0)).unwrap().track
    }

    #[test]
    fn a_body_on_its_own_bones_is_what_it_was() {
        let track = walk();
        let same = Proportions::of(&track).applied(&track).unwrap();
        for (place, (a, b)) in track.positions().iter().zip(same.positions()).enumerate() {
            let joint = Joint::ALL[place % N_JOINTS];
            // Knees of nearly straight legs are brought to the front.
            let most = if matches!(joint, Joint::LeftKnee | Joint::RightKnee) { 0.03 } else { 2e-3 };
            assert!(DVec3::from(*a).distance(DVec3::from(*b)) < most, "{}", joint.name());
        }
    }

    #[test]
    fn knees_of_straight_legs_bend_to_the_front() {
        let track = walk();
        let body = Proportions::of(&track);
        // Every leg as straight as can be, its knee a little behind the line, and shorter than the bones of the body.
        let mut positions = track.positions().to_vec();
        for frame in positions.chunks_exact_mut(N_JOINTS) {
            let back = pelvis(frame).unwrap().z_axis * -0.01;
            for [hip, knee, ankle] in [
                [Joint::LeftHip, Joint::LeftKnee, Joint::LeftAnkle],
                [Joint::RightHip, Joint::RightKnee, Joint::RightAnkle],
            ] {
                frame[knee.index()] = (0.5 * (at(frame, hip) + at(frame, ankle)) + back).into();
            }
        }
        let straight = JointTrack::new(track.fps, positions).unwrap();
        let other = body.applied(&straight).unwrap();
        for t in 0..other.n_frames() {
            let frame = other.frame(t);
            let middle = 0.5 * (at(frame, Joint::LeftHip) + at(frame, Joint::LeftAnkle));
            let front = (at(frame, Joint::LeftKnee) - middle).dot(pelvis(frame).unwrap().z_axis);
            assert!(front > -0.01, "frame {t}: {front}");
        }
    }

    #[test]
    fn bones_get_their_lengths_and_ankles_stay() {
        let track = walk();
        let mut body = Proportions::of(&track);
        for (joint, factor) in [
            (Joint::LeftElbow, 1.2),
            (Joint::Chest, 0.8),
            (Joint::RightToe, 1.3),
            (Joint::LeftKnee, 1.05),
            (Joint::LeftAnkle, 1.05),
        ] {
            body.lengths[joint.index()] *= factor;
        }
        // Legs that begin higher in the pelvis.
        body.hips = body.hips.map(|hips| hips.map(|hip| hip + 0.08 * DVec3::Y));
        let other = body.applied(&track).unwrap();
        for t in 0..other.n_frames() {
            for joint in
                Joint::ALL.into_iter().filter(|joint| !matches!(joint, Joint::LeftHip | Joint::RightHip))
            {
                let Some(parent) = joint.parent() else { continue };
                let length = at(other.frame(t), joint).distance(at(other.frame(t), parent));
                assert!((length - body.lengths[joint.index()]).abs() < 1e-9, "{} in frame {t}", joint.name());
            }
            let moved = at(other.frame(t), Joint::LeftAnkle).distance(at(track.frame(t), Joint::LeftAnkle));
            assert!(moved < 1e-9, "longer legs reach all the more: {moved}");
        }
    }
}
