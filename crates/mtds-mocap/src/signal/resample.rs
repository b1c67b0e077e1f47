//! Low-pass and resampling in one step, without delay: a windowed sinc, centred on each new time.
//!
//! ```text
//! x̄(t) = Σ_i w(t − t_i) x_i / Σ_i w(t − t_i)        w(s) = sinc(2 f s) · kaiser(s / reach)
//!
//! f = 0.45 · min(old rate, new rate)                 reach = 8 zeros of the sinc
//! ```
//!
//! The kernel is symmetric, so phases stay. Beyond its ends a clip goes on as its point reflection, which keeps
//! straight lines straight. Rotations go through the four numbers of a quaternion, signs made continuous.

use std::f64::consts::PI;

use glam::DQuat;

use crate::{Error, JointTrack, N_JOINTS, Result};

/// Cut-off relative to the lower of the two rates; half of it would be the limit of what can be kept.
const CUT_OFF: f64 = 0.45;
/// Zeros of the sinc that the kernel reaches to each side.
const N_ZEROS: f64 = 8.0;
/// Shape of the Kaiser window: side lobes under −60 dB.
const KAISER_SHAPE: f64 = 6.0;
/// Rates this close, relatively, are one rate: frame times are written with few digits.
const SAME_RATE: f64 = 5e-4;

/// The rate that a rounded frame time stands for: a whole number where one is close.
#[must_use]
pub fn nominal_fps(fps: f64) -> f64 {
    let whole = fps.round();
    if whole > 0.0 && ((fps - whole) / whole).abs() < SAME_RATE { whole } else { fps }
}

/// The clip at another rate, low-passed in position space; unchanged in its positions at the same rate.
///
/// # Errors
/// [`Error::Setting`] if `fps` is not positive.
pub fn resample(track: &JointTrack, fps: f64) -> Result<JointTrack> {
    let columns: Vec<[f64; 3 * N_JOINTS]> = (0..track.n_frames())
        .map(|frame| std::array::from_fn(|column| track.frame(frame)[column / 3][column % 3]))
        .collect();
    let rows = resampled(&columns, track.fps, fps)?;
    let positions = rows.iter().flat_map(|row| row.chunks_exact(3).map(|p| [p[0], p[1], p[2]])).collect();
    JointTrack::new(nominal_fps(fps), positions)
}

/// Rotations of one joint at another rate, low-passed; each a unit quaternion.
///
/// # Errors
/// [`Error::Setting`] if a rate is not positive.
pub fn resample_rotations(rotations: &[DQuat], fps_in: f64, fps_out: f64) -> Result<Vec<DQuat>> {
    let mut last = DQuat::IDENTITY;
    let continuous = rotations.iter().map(|&rotation| {
        last = if rotation.dot(last) < 0.0 { -rotation } else { rotation };
        last.to_array()
    });
    let rows = resampled(&continuous.collect::<Vec<_>>(), fps_in, fps_out)?;
    Ok(rows.into_iter().map(|row| DQuat::from_array(row).normalize()).collect())
}

/// Rows of `D` columns at another rate, from the first one on.
fn resampled<const D: usize>(rows: &[[f64; D]], fps_in: f64, fps_out: f64) -> Result<Vec<[f64; D]>> {
    for (name, fps) in [("rate of a clip", fps_in), ("new rate", fps_out)] {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Error::setting(name, format!("found {fps}; give frames per second, above 0")));
        }
    }
    let (fps_in, fps_out) = (nominal_fps(fps_in), nominal_fps(fps_out));
    if fps_in == fps_out || rows.is_empty() {
        return Ok(rows.to_vec());
    }
    // A hair of slack, so that the last frame is not lost to rounding.
    let n_out = ((rows.len() - 1) as f64 * fps_out / fps_in + 1e-9).floor() as usize + 1;
    let kernel = Kernel::new(fps_in, fps_out);
    Ok((0..n_out).map(|k| kernel.at(rows, k as f64 * fps_in / fps_out)).collect())
}

/// The kernel, in units of old frames.
struct Kernel {
    /// Cut-off in cycles per old frame.
    cut_off: f64,
    /// Old frames that it reaches to each side.
    reach: f64,
}

impl Kernel {
    fn new(fps_in: f64, fps_out: f64) -> Self {
        let cut_off = CUT_OFF * fps_out.min(fps_in) / fps_in;
        Self { cut_off, reach: N_ZEROS / (2.0 * cut_off) }
    }

    fn weight(&self, distance: f64) -> f64 {
        let place = distance / self.reach;
        if place.abs() >= 1.0 {
            return 0.0;
        }
        let x = 2.0 * PI * self.cut_off * distance;
        let sinc = if x.abs() < 1e-9 { 1.0 } else { x.sin() / x };
        sinc * bessel_i0(KAISER_SHAPE * (1.0 - place * place).sqrt())
    }

    /// The low-passed row at `time`, in old frames.
    fn at<const D: usize>(&self, rows: &[[f64; D]], time: f64) -> [f64; D] {
        let (first, last) = ((time - self.reach).ceil() as isize, (time + self.reach).floor() as isize);
        let mut sum = [0.0; D];
        let mut total = 0.0;
        for i in first..=last {
            let weight = self.weight(time - i as f64);
            let row = reflected(rows, i);
            total += weight;
            for column in 0..D {
                sum[column] += weight * row[column];
            }
        }
        sum.map(|value| value / total)
    }
}

/// Row `i` of rows that go on beyond their ends by point reflection, as often as needed.
fn reflected<const D: usize>(rows: &[[f64; D]], i: isize) -> [f64; D] {
    let last = rows.len() as isize - 1;
    if (0..=last).contains(&i) {
        return rows[i as usize];
    }
    if last == 0 {
        return rows[0];
    }
    let (end, mirror) = if i < 0 { (rows[0], -i) } else { (rows[last as usize], 2 * last - i) };
    let inside = reflected(rows, mirror);
    std::array::from_fn(|column| 2.0 * end[column] - inside[column])
}

/// Modified Bessel function I₀ by its series, for arguments up to about 20.
fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..60 {
        term *= quarter / (k * k) as f64;
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    fn sine(hertz: f64, fps: f64, n: usize) -> Vec<[f64; 1]> {
        (0..n).map(|i| [(TAU * hertz * i as f64 / fps).sin()]).collect()
    }

    #[test]
    fn slow_motion_passes_in_phase_and_fast_jitter_goes() {
        let slow = resampled(&sine(3.0, 120.0, 481), 120.0, 30.0).unwrap();
        assert_eq!(slow.len(), 121);
        for (k, [value]) in slow.iter().enumerate().skip(10).take(100) {
            assert!((value - (TAU * 3.0 * k as f64 / 30.0).sin()).abs() < 2e-3);
        }
        let fast = resampled(&sine(37.0, 120.0, 481), 120.0, 30.0).unwrap();
        assert!(fast[10..110].iter().all(|[value]| value.abs() < 2e-3));
    }

    #[test]
    fn straight_lines_stay_to_the_ends_at_any_rate() {
        let line: Vec<[f64; 1]> = (0..50).map(|i| [2.0 + 0.5 * i as f64]).collect();
        for (fps_in, fps_out) in [(120.0, 30.0), (100.0, 30.0), (24.0, 30.0), (60.0, 59.94)] {
            for (k, [value]) in resampled(&line, fps_in, fps_out).unwrap().iter().enumerate() {
                assert!(
                    (value - (2.0 + 0.5 * k as f64 * fps_in / fps_out)).abs() < 0.02,
                    "{fps_in} {fps_out} {k}"
                );
            }
        }
    }

    #[test]
    fn frame_times_with_few_digits_are_whole_rates() {
        assert_eq!(nominal_fps(1.0 / 0.0083333), 120.0);
        assert_eq!(nominal_fps(1.0 / 0.0333333), 30.0);
        assert_eq!(nominal_fps(1.0 / 0.033367), 1.0 / 0.033367); // 29.97 is a rate of its own
        let rows = sine(2.0, 30.0, 40);
        assert_eq!(resampled(&rows, 1.0 / 0.0333333, 30.0).unwrap(), rows);
    }

    #[test]
    fn short_clips_and_bad_rates() {
        assert_eq!(resampled(&[[4.0]], 120.0, 30.0).unwrap(), [[4.0]]);
        let pair = resampled(&[[4.0], [4.0]], 120.0, 30.0).unwrap();
        assert!((pair[0][0] - 4.0).abs() < 1e-12 && pair.len() == 1);
        assert!(resampled(&[[4.0]], 120.0, 0.0).is_err());
        assert!(resampled(&[[4.0]], f64::NAN, 30.0).is_err());
    }

    #[test]
    fn rotations_keep_their_axis_and_ignore_signs() {
        let turn = |i: usize| {
            let rotation = DQuat::from_rotation_y(0.02 * i as f64);
            if i.is_multiple_of(3) { -rotation } else { rotation }
        };
        let turns: Vec<DQuat> = (0..241).map(turn).collect();
        let slow = resample_rotations(&turns, 120.0, 30.0).unwrap();
        for (k, rotation) in slow.iter().enumerate() {
            assert!(rotation.angle_between(DQuat::from_rotation_y(0.08 * k as f64)) < 0.01, "{k}");
        }
    }
}
