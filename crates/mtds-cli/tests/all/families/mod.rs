//! Families that are no oscillators of the built-in kind, as CSV: ragged, with gaps, with inputs of their own.

use super::noise::Noise;
use std::fmt::Write as _;

fn between(noise: &mut Noise, low: f64, high: f64) -> f64 {
    low + (high - low) * noise.uniform()
}

/// Heights that grow towards limits of their own at speeds of their own; ragged, one value in twenty missing.
pub fn growth(n_seq: usize, seed: u64) -> String {
    let mut noise = Noise(seed);
    let mut text = "series,t,y\n".to_owned();
    for i in 0..n_seq {
        let (limit, rate, middle) = (
            between(&mut noise, 60.0, 140.0),
            between(&mut noise, 0.12, 0.35),
            between(&mut noise, 8.0, 20.0),
        );
        let n_time = 30 + (noise.uniform() * 20.0) as usize;
        for t in 0..n_time {
            let height = limit / (1.0 + (-rate * (t as f64 - middle)).exp()) + noise.normal();
            let cell = if noise.uniform() < 0.05 { String::new() } else { format!("{height:.3}") };
            let _ = writeln!(text, "plant {i},{t},{cell}");
        }
    }
    text
}

/// Three outputs of a damped oscillator that pushes of its own keep going.
pub fn pushed(n_seq: usize, seed: u64) -> String {
    let mut noise = Noise(seed);
    let mut text = "series,t,y_a,y_b,y_c,u\n".to_owned();
    for i in 0..n_seq {
        let (angle, decay) = (between(&mut noise, 0.2, 0.6), between(&mut noise, 0.85, 0.97));
        let (gain, level) = (between(&mut noise, 0.5, 1.5), between(&mut noise, -1.0, 1.0));
        let (mut x, mut push) = ([0.0f64; 2], 0.0);
        for t in 0..50 {
            if noise.uniform() < 0.15 {
                push = noise.normal();
            }
            x = [
                decay * (angle.cos() * x[0] - angle.sin() * x[1]) + gain * push,
                decay * (angle.sin() * x[0] + angle.cos() * x[1]),
            ];
            let mut noisy = |value: f64| value + 0.1 * noise.normal();
            let (a, b, c) = (noisy(x[0]), noisy(x[1] + level), noisy(x[0] - x[1]));
            let _ = writeln!(text, "m{i},{t},{a:.4},{b:.4},{c:.4},{push:.4}");
        }
    }
    text
}
