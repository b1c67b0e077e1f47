//! Whether a clip's frame rate agrees with how people move: by the length of a stride, and by free fall.
//!
//! ```text
//! cadence     stride = first peak of the autocorrelation of the distance between the ankles, fore and aft, over
//!             the longest part of the clip in which the body travels
//!             people take 0.45 to 2.8 s for it
//! free fall   while both feet are off the ground the centre of mass falls with g = 9.81 m/s²:
//!             true rate = labelled rate · √(g / measured)
//! ```
//!
//! A rate that is wrong by a factor of two may still give a plausible stride; free fall would tell, in clips
//! that have it. So `Plausible` means that nothing speaks against the label.

use serde::{Deserialize, Serialize};

use crate::frame::facing_rad;
use crate::{Joint, JointTrack, N_JOINTS, robust};

/// Shortest and longest plausible stride, in seconds.
const STRIDE_SECS: [f64; 2] = [0.45, 2.8];
/// The usual stride, in seconds, from which the likely rate is guessed.
const USUAL_STRIDE_SECS: f64 = 1.15;
/// Rates at which motion is captured or stored.
const COMMON_FPS: [f64; 11] = [15.0, 24.0, 25.0, 30.0, 50.0, 60.0, 90.0, 100.0, 120.0, 200.0, 240.0];
/// Smallest autocorrelation at a stride.
const LEAST_CORRELATION: f64 = 0.35;
/// Longest stride that is looked for, in frames: 8 s at 240 frames per second.
const LONGEST_LAG: usize = 1920;
/// Smallest standard deviation of the distance between the ankles of somebody who walks, in metres.
const LEAST_STEP: f64 = 0.05;
/// Time to both sides over which travel is measured, in seconds; a wrong label only makes it longer or shorter.
const TRAVEL_SECS: f64 = 0.3;
/// Share of the usual highest speed that counts as travelling.
const TRAVEL_SHARE: f64 = 0.4;
/// Acceleration of free fall, in metres per second squared.
const GRAVITY: f64 = 9.81;
/// Height of ankles and toes above their rest that makes a flight, in metres.
const FLIGHT_HEIGHT: f64 = 0.06;
/// Joints that touch the ground.
const FEET: [Joint; 4] = [Joint::LeftAnkle, Joint::LeftToe, Joint::RightAnkle, Joint::RightToe];
/// Fewest frames of a flight: five numbers determine a parabola with something to spare.
const LEAST_FLIGHT: usize = 5;
/// Fewest flights from which a rate is judged.
const LEAST_FLIGHTS: usize = 2;
/// The labelled rate is suspect if free fall says that it is wrong by more than this factor.
const FALL_FACTOR: f64 = 1.5;

/// What the motion says about the labelled rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateCheck {
    /// Frames per second as labelled.
    pub labelled_fps: f64,
    /// Time of one stride at the labelled rate, in seconds; none where no gait was found.
    pub stride_secs: Option<f64>,
    /// The rate at which the body would fall as it must; none with fewer than two clear flights.
    pub free_fall_fps: Option<f64>,
    /// The judgement.
    pub verdict: RateVerdict,
}

/// Judgement on a labelled frame rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum RateVerdict {
    /// Nothing speaks against it.
    Plausible,
    /// Neither a stride nor a flight was found.
    Unknown,
    /// The stride would be too short or too long for a person.
    SuspectByCadence {
        /// The common rate that gives the most usual stride.
        likely_fps: f64,
    },
    /// The body would fall too fast or too slowly.
    SuspectByFreeFall {
        /// The common rate that is nearest to that of free fall.
        likely_fps: f64,
    },
}

impl RateCheck {
    /// Whether the labelled rate is probably wrong.
    #[must_use]
    pub fn is_suspect(&self) -> bool {
        !matches!(self.verdict, RateVerdict::Plausible | RateVerdict::Unknown)
    }
}

impl std::fmt::Display for RateCheck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let labelled = self.labelled_fps;
        match self.verdict {
            RateVerdict::Plausible => write!(out, "nothing speaks against {labelled} fps"),
            RateVerdict::Unknown => {
                write!(out, "{labelled} fps, without a stride or a flight to judge it by")
            }
            RateVerdict::SuspectByCadence { likely_fps } => {
                let stride = self.stride_secs.unwrap_or(f64::NAN);
                write!(
                    out,
                    "at {labelled} fps a stride would take {stride:.2} s; {likely_fps} fps is more likely"
                )
            }
            RateVerdict::SuspectByFreeFall { likely_fps } => {
                write!(
                    out,
                    "at {labelled} fps bodies would not fall as they must; {likely_fps} fps is more likely"
                )
            }
        }
    }
}

/// Checks the labelled rate of a clip against its motion.
#[must_use]
pub fn check_rate(track: &JointTrack) -> RateCheck {
    let stride_secs = stride_frames(track).map(|frames| frames / track.fps);
    let free_fall_fps = free_fall_fps(track);
    let odd_fall = free_fall_fps.filter(|fps| (fps / track.fps).ln().abs() > FALL_FACTOR.ln());
    let odd_stride = stride_secs.filter(|secs| !(STRIDE_SECS[0]..=STRIDE_SECS[1]).contains(secs));
    let verdict = match (odd_fall, odd_stride) {
        (Some(fps), _) => RateVerdict::SuspectByFreeFall { likely_fps: nearest_common(fps) },
        (None, Some(secs)) => {
            RateVerdict::SuspectByCadence { likely_fps: nearest_common(track.fps * secs / USUAL_STRIDE_SECS) }
        }
        (None, None) if stride_secs.is_none() && free_fall_fps.is_none() => RateVerdict::Unknown,
        (None, None) => RateVerdict::Plausible,
    };
    RateCheck { labelled_fps: track.fps, stride_secs, free_fall_fps, verdict }
}

/// The common rate that is nearest in proportion.
fn nearest_common(fps: f64) -> f64 {
    let far = |common: &f64| (common / fps).ln().abs();
    COMMON_FPS.into_iter().min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(fps)
}

/// Frames of a stride: the first clear peak of the autocorrelation of the distance between the ankles.
#[must_use]
pub(crate) fn stride_frames(track: &JointTrack) -> Option<f64> {
    let facing = facing_rad(track, 0.3);
    let apart = |frame: usize| {
        let (left, right) = (track.at(frame, Joint::LeftAnkle), track.at(frame, Joint::RightAnkle));
        let (sin, cos) = facing[frame].sin_cos();
        (left[0] - right[0]) * sin + (left[2] - right[2]) * cos
    };
    let apart: Vec<f64> = travelling(track).map(apart).collect();
    let mean = apart.iter().sum::<f64>() / apart.len().max(1) as f64;
    let centred: Vec<f64> = apart.iter().map(|value| value - mean).collect();
    let variance = centred.iter().map(|value| value * value).sum::<f64>() / centred.len().max(1) as f64;
    if variance.sqrt() < LEAST_STEP {
        return None;
    }
    first_peak(&centred, variance)
}

/// The longest part of a clip in which the hips travel at a fair share of their usual highest speed.
fn travelling(track: &JointTrack) -> std::ops::Range<usize> {
    let reach = (TRAVEL_SECS * track.fps).round().max(1.0) as usize;
    let travel = |frame: usize| {
        let (from, to) = (frame.saturating_sub(reach), (frame + reach).min(track.n_frames() - 1));
        let ([x0, _, z0], [x1, _, z1]) = (track.at(from, Joint::Hips), track.at(to, Joint::Hips));
        (x1 - x0).hypot(z1 - z0) / (to - from).max(1) as f64
    };
    let speeds: Vec<f64> = (0..track.n_frames()).map(travel).collect();
    let least = TRAVEL_SHARE * robust::quantile(speeds.iter().copied(), 0.9).unwrap_or(0.0);
    let moves: Vec<bool> = speeds.iter().map(|&speed| speed >= least).collect();
    robust::runs(&moves)
        .into_iter()
        .filter(|run| moves[run.start])
        .max_by_key(|run| run.len())
        .unwrap_or(0..0)
}

/// The lag of the first peak of the autocorrelation after it was negative, between places by a parabola.
fn first_peak(centred: &[f64], variance: f64) -> Option<f64> {
    let correlation = |lag: usize| {
        let pairs = centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b);
        pairs.sum::<f64>() / (centred.len() - lag) as f64 / variance
    };
    let all: Vec<f64> = (0..(centred.len() * 2 / 3).min(LONGEST_LAG)).map(correlation).collect();
    let negative = all.iter().position(|&c| c < 0.0)?;
    let is_peak =
        |&lag: &usize| all[lag] > LEAST_CORRELATION && all[lag] >= all[lag - 1] && all[lag] > all[lag + 1];
    let lag = (negative + 1..all.len().saturating_sub(1)).find(is_peak)?;
    let (before, at, after) = (all[lag - 1], all[lag], all[lag + 1]);
    Some(lag as f64 + 0.5 * (before - after) / (before - 2.0 * at + after))
}

/// The rate at which flights fall with g; the median over them.
fn free_fall_fps(track: &JointTrack) -> Option<f64> {
    let airborne = airborne(track);
    let flights =
        robust::runs(&airborne).into_iter().filter(|run| airborne[run.start] && run.len() >= LEAST_FLIGHT);
    let per_frame_squared = |run: std::ops::Range<usize>| {
        let heights: Vec<f64> = run.map(|frame| centre_height(track, frame)).collect();
        -curvature(&heights)
    };
    let falls: Vec<f64> = flights.map(per_frame_squared).collect();
    if falls.len() < LEAST_FLIGHTS {
        return None;
    }
    let fall = robust::median(falls).filter(|&fall| fall > 0.0)?;
    Some((GRAVITY / fall).sqrt())
}

/// For each frame, whether ankles and toes of both feet are well above where they rest.
fn airborne(track: &JointTrack) -> Vec<bool> {
    let frames = 0..track.n_frames();
    let rest =
        |joint| robust::quantile(frames.clone().map(|frame| track.at(frame, joint)[1]), 0.02).unwrap_or(0.0);
    let feet = FEET.map(|joint| (joint, rest(joint)));
    let up =
        |frame: usize| feet.iter().all(|&(joint, rest)| track.at(frame, joint)[1] > rest + FLIGHT_HEIGHT);
    frames.clone().map(up).collect()
}

/// Height of the centre of mass, from the masses of the segments of a body placed on its joints.
fn centre_height(track: &JointTrack, frame: usize) -> f64 {
    // Shares of the body's mass near each joint, in the order of `Joint::ALL`; they add to 1.
    const SHARES: [f64; N_JOINTS] = [
        0.14, 0.05, 0.07, 0.035, 0.01, 0.05, 0.07, 0.035, 0.01, 0.14, 0.14, 0.07, 0.08, 0.02, 0.018, 0.01,
        0.002, 0.02, 0.018, 0.01, 0.002,
    ];
    track.frame(frame).iter().zip(SHARES).map(|(joint, share)| share * joint[1]).sum()
}

/// Second derivative of the parabola through equally spaced values, by least squares.
fn curvature(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    // The quadratic that is orthogonal to constants and lines on these places.
    let mean_square = (n * n - 1.0) / 12.0;
    let basis = |i: usize| (i as f64 - middle).powi(2) - mean_square;
    let norm: f64 = (0..values.len()).map(|i| basis(i).powi(2)).sum();
    2.0 * values.iter().enumerate().map(|(i, value)| value * basis(i)).sum::<f64>() / norm
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that hops with `g`, its feet off the ground for `flight_secs` of every second.
    fn hopping(fps: f64, flight_secs: f64) -> JointTrack {
        let height = |t: f64| {
            let air = t.fract().min(flight_secs);
            0.5 * GRAVITY * air * (flight_secs - air)
        };
        let frame = |i: usize| {
            let up = height(i as f64 / fps);
            Joint::ALL.map(move |joint| match joint {
                joint if FEET.contains(&joint) => [0.0, up, 0.0],
                _ => [0.1 * joint.index() as f64, 1.0 + up, 0.0],
            })
        };
        JointTrack::new(fps, (0..(4.0 * fps) as usize).flat_map(frame).collect()).unwrap()
    }

    #[test]
    fn mislabelled_rate_by_free_fall() {
        let honest = hopping(120.0, 0.4);
        let check = check_rate(&honest);
        assert!((check.free_fall_fps.unwrap() / 120.0 - 1.0).abs() < 0.01, "{check:?}");
        assert_eq!(check.verdict, RateVerdict::Plausible);
        let slow = JointTrack::new(60.0, honest.positions().to_vec()).unwrap();
        assert_eq!(check_rate(&slow).verdict, RateVerdict::SuspectByFreeFall { likely_fps: 120.0 });
    }

    #[test]
    fn a_parabola_has_its_curvature() {
        let values: Vec<f64> = (0..7).map(|i| 3.0 + 2.0 * i as f64 - 0.5 * (i * i) as f64).collect();
        assert!((curvature(&values) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn nobody_moving_says_nothing() {
        let still = JointTrack::new(30.0, vec![[0.0, 1.0, 0.0]; 90 * N_JOINTS]).unwrap();
        assert_eq!(check_rate(&still).verdict, RateVerdict::Unknown);
        let one = JointTrack::new(30.0, vec![[0.0, 1.0, 0.0]; N_JOINTS]).unwrap();
        assert_eq!(check_rate(&one).verdict, RateVerdict::Unknown);
    }
}
