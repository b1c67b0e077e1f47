//! The phase of the gait: 0 where the left foot lands, π where the right one does, evenly in between.
//!
//! ```text
//! φ(strike of the left foot)  = 2π k            φ(strike of the right foot) = 2π k + π
//! φ is linear between strikes, and goes on at the speed of the nearest interval beyond them
//! ```
//!
//! A foot that strikes twice in a row has gone through a whole cycle, as in hopping or where a contact was missed.
//! Bird & Williams (2020), supplement, "Extracting the gait phase".

use std::f64::consts::{PI, TAU};

use serde::{Deserialize, Serialize};

use super::contact::Foot;
use crate::robust;

/// A foot lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strike {
    /// The first frame in which it stands.
    pub frame: usize,
    /// Which foot.
    pub foot: Foot,
}

/// The phase over a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Unwrapped phase φ of every frame, in radians, never falling.
    pub rad: Vec<f64>,
    /// The strikes that determine it, in order.
    pub strikes: Vec<Strike>,
    /// Median number of frames for a whole cycle; none with fewer than two strikes, where the phase stays 0.
    pub stride_frames: Option<f64>,
}

impl Phase {
    /// The phase from contacts of both feet, left first, of equal length.
    #[must_use]
    pub fn of_contacts(contacts: &[Vec<bool>; 2]) -> Self {
        let n_frames = contacts[0].len();
        let strikes = strikes(contacts);
        let nodes = nodes(&strikes);
        if nodes.len() < 2 {
            return Self { rad: vec![0.0; n_frames], strikes, stride_frames: None };
        }
        let per_cycle = nodes.windows(2).map(|pair| (pair[1].0 - pair[0].0) * TAU / (pair[1].1 - pair[0].1));
        let stride_frames = robust::median(per_cycle);
        let rad = (0..n_frames).map(|frame| interpolated(&nodes, frame as f64)).collect();
        Self { rad, strikes, stride_frames }
    }
}

/// The first frame of every contact that begins inside the clip, in order of time, left before right.
fn strikes(contacts: &[Vec<bool>; 2]) -> Vec<Strike> {
    let lands = |frame: usize, foot: Foot| {
        let stands = &contacts[foot as usize];
        stands[frame] && !stands[frame - 1]
    };
    let all = (1..contacts[0].len()).flat_map(|frame| Foot::BOTH.map(|foot| Strike { frame, foot }));
    all.filter(|strike| lands(strike.frame, strike.foot)).collect()
}

/// Times and phases of the strikes; of two feet that land in one frame the first counts.
fn nodes(strikes: &[Strike]) -> Vec<(f64, f64)> {
    let mut nodes: Vec<(f64, f64)> = Vec::with_capacity(strikes.len());
    let mut last: Option<Strike> = None;
    for strike in strikes.iter().copied() {
        let phase = match (last, nodes.last()) {
            (Some(last), _) if last.frame == strike.frame => continue,
            (Some(last), Some(&(_, phase))) => phase + if last.foot == strike.foot { TAU } else { PI },
            _ => {
                if strike.foot == Foot::Left {
                    0.0
                } else {
                    PI
                }
            }
        };
        nodes.push((strike.frame as f64, phase));
        last = Some(strike);
    }
    nodes
}

/// The line through the nodes around `time`, or through the nearest two.
fn interpolated(nodes: &[(f64, f64)], time: f64) -> f64 {
    let after = nodes.partition_point(|node| node.0 <= time).clamp(1, nodes.len() - 1);
    let ((t0, p0), (t1, p1)) = (nodes[after - 1], nodes[after]);
    p0 + (p1 - p0) * (time - t0) / (t1 - t0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(text: &str) -> Vec<bool> {
        text.chars().map(|c| c == '#').collect()
    }

    #[test]
    fn left_strikes_are_zero_and_right_ones_pi() {
        let contacts = [stands("..####....####.."), stands("###...####....##")];
        let phase = Phase::of_contacts(&contacts);
        let frames: Vec<usize> = phase.strikes.iter().map(|strike| strike.frame).collect();
        assert_eq!(frames, [2, 6, 10, 14]);
        assert_eq!(phase.stride_frames, Some(8.0));
        for (frame, expected) in
            [(0, -PI / 2.0), (2, 0.0), (4, PI / 2.0), (6, PI), (10, TAU), (15, 3.25 * PI)]
        {
            assert!((phase.rad[frame] - expected).abs() < 1e-12, "{frame}: {}", phase.rad[frame]);
        }
    }

    #[test]
    fn a_foot_that_strikes_twice_went_through_a_cycle() {
        let phase = Phase::of_contacts(&[stands(".##..##..##"), stands("###########")]);
        assert!((phase.rad[5] - phase.rad[1] - TAU).abs() < 1e-12);
        assert_eq!(phase.stride_frames, Some(4.0));
    }

    #[test]
    fn without_strikes_there_is_no_phase() {
        let phase = Phase::of_contacts(&[stands("####"), stands("..##")]);
        assert_eq!((phase.rad, phase.stride_frames), (vec![0.0; 4], None));
        assert!(Phase::of_contacts(&[vec![], vec![]]).rad.is_empty());
    }
}
