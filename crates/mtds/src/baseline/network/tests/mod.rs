//! What the tests of forecasters share: segments with gaps, families of waves, small settings.

mod degenerate;
mod gradient;
mod learning;
mod material;
mod twin;

use super::material::Piece;
use super::settings::OutputForm;
use super::{GruSettings, HeldOut, Loop, WarmUp};
use crate::family::{Family, Sequence, Signal};
use crate::learn::{Control, Progress, Schedule, StoppingRule, TrainingPlan};

/// Numbers in [−1, 1) that look random.
pub(super) fn noise(n: usize, seed: usize) -> Vec<f64> {
    let hash = |i: usize| ((i + 1) as f64 * 12.9898 + seed as f64 * 78.233).sin() * 43_758.545;
    (0..n).map(|i| 2.0 * hash(i).rem_euclid(1.0) - 1.0).collect()
}

/// A segment of noise; every `gap`-th output is missing.
fn piece(n_time: usize, (p, m): (usize, usize), gap: usize, seed: usize) -> Piece {
    let mut outputs = noise(n_time * p, seed);
    outputs.iter_mut().enumerate().filter(|(at, _)| at % gap == gap - 1).for_each(|(_, y)| *y = f64::NAN);
    Piece { sequence: 0, n_time, outputs, inputs: noise(n_time * m, seed + 100) }
}

/// Waves of different frequencies and phases, two outputs a quarter apart, labelled by halves of the frequencies.
fn waves(n_seq: usize, n_time: usize, seed: usize) -> Family {
    let draws = noise(2 * n_seq, seed);
    let wave = |i: usize| {
        let (omega, phase) = (0.35 + 0.15 * draws[2 * i], 3.0 * draws[2 * i + 1]);
        let row = |t: usize| {
            let angle = omega * t as f64 + phase;
            vec![5.0 + 2.0 * angle.sin(), angle.cos()]
        };
        let outputs = Signal::from_rows((0..n_time).map(row).collect()).unwrap();
        let label = if omega > 0.35 { "fast" } else { "slow" };
        Sequence::new(format!("{i}"), outputs).unwrap().with_label(label)
    };
    Family::new((0..n_seq).map(wave).collect()).unwrap()
}

fn steps(steps: u64, learning_rate: f64) -> TrainingPlan {
    TrainingPlan {
        steps,
        learning_rate: Schedule::constant(learning_rate).unwrap(),
        clip_norm: Some(1.0),
        stopping: StoppingRule { every: 25, ..StoppingRule::default() },
        ..TrainingPlan::default()
    }
}

/// A small network for sequences of any length.
fn small(training: Loop, output: OutputForm) -> GruSettings {
    GruSettings {
        units: vec![8],
        training,
        output,
        warm_up: WarmUp { shortest: 1, longest: 12 },
        segments: None,
        held_out: HeldOut::Nothing,
        plan: steps(3, 1e-2),
        ..GruSettings::default()
    }
}

fn onward(_: &Progress) -> Control {
    Control::Continue
}
