//! The built-in family: sums of two damped oscillators, as in the paper.
//!
//! ```text
//! y_t = Σ_j γ_j ρ_j^t sin(ω_j t) + ε_t        t = 1, 2, …        ε_t ~ N(0, noise_std²)
//!
//! γ = [1, −0.5]        ρ_j = 2^(−1/ν_j)
//! ω_1 ~ U[1.5, 6]·2π/80    ν_1 ~ U[4, 80]        ω_2 ~ U[5, 8]·2π/80    ν_2 ~ U[8, 60]
//! ```
//!
//! Bird & Williams (2020), "Damped Harmonic Oscillation" and the data section of its supplement. Differs
//! from the formula there: both sines carry ω₂, a slip; the main text's ω_j is meant.

use std::f64::consts::TAU;

use mtds::random::{Random, Stream, stream};
use mtds::{Error, Family, Result, Sequence, Signal};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Amplitudes γ of the two oscillators.
pub const AMPLITUDES: [f64; 2] = [1.0, -0.5];
/// Smallest and largest angular frequency ω of each oscillator, in radians per step.
pub const OMEGA_RANGES_RAD: [[f64; 2]; 2] =
    [[1.5 * TAU / 80.0, 6.0 * TAU / 80.0], [5.0 * TAU / 80.0, 8.0 * TAU / 80.0]];
/// Smallest and largest half-life ν of each oscillator, in steps.
pub const HALF_LIFE_RANGES: [[f64; 2]; 2] = [[4.0, 80.0], [8.0, 60.0]];

/// What to draw; by default the family of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oscillators {
    /// Steps of a sequence, or of the longest possible one; 80.
    pub n_time: usize,
    /// Steps of the common impulse input, at least `n_time`; 160, so that forecasts can go on.
    pub n_input: usize,
    /// Standard deviation of the noise on the outputs; 0.05.
    pub noise_std: f64,
    /// Whether all sequences are `n_time` long; they are.
    pub lengths: Lengths,
    /// Probability with which each output goes missing, in [0, 1); 0.
    pub missing: f64,
}

/// How long the sequences are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// All have `n_time` steps.
    Equal,
    /// Each ends after `shortest` to `n_time` steps, all lengths equally likely.
    Ragged {
        /// Fewest steps, 1 to `n_time`.
        shortest: usize,
    },
}

/// The four numbers that make one sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OscillatorParameters {
    /// Angular frequencies ω, in radians per step.
    pub omega_rad: [f64; 2],
    /// Half-lives ν, in steps.
    pub half_life: [f64; 2],
}

/// A drawn family and the truth behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct OscillatorFamily {
    /// Sequences `osc-000`, `osc-001`, … with output `y` and the common input `impulse`: 1, 0, 0, …
    pub family: Family,
    /// The parameters of each sequence, in the same order.
    pub parameters: Vec<OscillatorParameters>,
}

impl Default for Oscillators {
    fn default() -> Self {
        Self { n_time: 80, n_input: 160, noise_std: 0.05, lengths: Lengths::Equal, missing: 0.0 }
    }
}

impl Oscillators {
    /// Draws `n_seq` sequences; sequence `i` depends on the settings, `seed` and `i` alone.
    ///
    /// Lengths and gaps only take away: the outputs that remain are those of the full family, and those of
    /// a larger `n_time` begin with those of a smaller.
    ///
    /// # Errors
    /// [`Error::Setting`] if a setting is outside its range; [`Error::EmptyFamily`] if `n_seq` is 0 or all
    /// outputs went missing.
    pub fn draw(&self, n_seq: usize, seed: u64) -> Result<OscillatorFamily> {
        self.check()?;
        let mut parameters = Vec::with_capacity(n_seq);
        let mut sequences = Vec::with_capacity(n_seq);
        for i in 0..n_seq {
            let mut random = stream(seed, Stream::OscillatorValues(i as u64));
            let theta = OscillatorParameters::draw(&mut random);
            let mut outputs = self.outputs(&theta, &mut random);
            self.take_away(&mut outputs, &mut stream(seed, Stream::OscillatorGaps(i as u64)));
            sequences.push(Sequence::new(format!("osc-{i:03}"), Signal::column(outputs))?);
            parameters.push(theta);
        }
        let impulse = (0..self.n_input).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect();
        let family = Family::new(sequences)?.with_common_inputs(Signal::column(impulse))?;
        Ok(OscillatorFamily { family: family.with_input_names(["impulse"])?, parameters })
    }

    /// The noisy outputs of all `n_time` steps.
    fn outputs(&self, theta: &OscillatorParameters, random: &mut Random) -> Vec<f64> {
        let noisy = |t| theta.mean(t) + self.noise_std * random.sample::<f64, _>(StandardNormal);
        (1..=self.n_time).map(noisy).collect()
    }

    /// Ends the outputs early and makes gaps in them, as the settings ask.
    fn take_away(&self, outputs: &mut Vec<f64>, random: &mut Random) {
        if let Lengths::Ragged { shortest } = self.lengths {
            outputs.truncate(random.random_range(shortest..=self.n_time));
        }
        for output in outputs {
            if random.random::<f64>() < self.missing {
                *output = f64::NAN;
            }
        }
    }

    fn check(&self) -> Result<()> {
        let setting = |name: &str, why: String| Err(Error::Setting { name: name.into(), why });
        if self.n_time == 0 {
            return setting("n_time", "found 0; expected at least 1 step".into());
        }
        if self.n_input < self.n_time {
            return setting(
                "n_input",
                format!("found {}; expected at least n_time = {}", self.n_input, self.n_time),
            );
        }
        if !(self.noise_std.is_finite() && self.noise_std >= 0.0) {
            return setting(
                "noise_std",
                format!("found {}; expected a number of at least 0", self.noise_std),
            );
        }
        if !(0.0..1.0).contains(&self.missing) {
            return setting("missing", format!("found {}; expected at least 0 and below 1", self.missing));
        }
        match self.lengths {
            Lengths::Ragged { shortest } if !(1..=self.n_time).contains(&shortest) => {
                setting("shortest", format!("found {shortest}; expected 1 to n_time = {}", self.n_time))
            }
            _ => Ok(()),
        }
    }
}

impl OscillatorParameters {
    /// A draw from the generating distribution.
    pub fn draw(random: &mut Random) -> Self {
        let mut uniform = |[low, high]: [f64; 2]| random.random_range(low..=high);
        Self { omega_rad: OMEGA_RANGES_RAD.map(&mut uniform), half_life: HALF_LIFE_RANGES.map(uniform) }
    }

    /// The output at step `t` without noise; the first step of a sequence is `t = 1`.
    #[must_use]
    pub fn mean(&self, t: usize) -> f64 {
        let t = t as f64;
        (0..2).map(|j| AMPLITUDES[j] * (-t / self.half_life[j]).exp2() * (self.omega_rad[j] * t).sin()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Oscillators =
        Oscillators { n_time: 80, n_input: 160, noise_std: 0.05, lengths: Lengths::Equal, missing: 0.0 };

    fn column(drawn: &OscillatorFamily, i: usize) -> &[f64] {
        drawn.family.sequence(i).outputs().values()
    }

    #[test]
    fn the_default_is_the_family_of_the_paper() {
        assert_eq!(Oscillators::default(), SETTINGS);
        let drawn = SETTINGS.draw(3, 1).unwrap();
        assert_eq!((drawn.family.n_seq(), drawn.family.max_time(), drawn.family.n_observed()), (3, 80, 240));
        assert_eq!(
            (drawn.family.output_names(), drawn.family.input_names()),
            (&["y".into()][..], &["impulse".into()][..])
        );
        assert_eq!(drawn.family.sequence(2).id(), "osc-002");
        let impulse = drawn.family.inputs_of(0).unwrap();
        assert_eq!((impulse.n_time(), impulse.get(0, 0)), (160, 1.0));
        assert!(impulse.values()[1..].iter().all(|&value| value == 0.0));
    }

    /// Each oscillator alone obeys x_t = 2 ρ cos(ω) x_{t−1} − ρ² x_{t−2}; applying both in turn leaves 0.
    #[test]
    fn the_mean_is_two_damped_oscillators() {
        let theta = OscillatorParameters { omega_rad: [0.2, 0.55], half_life: [30.0, 12.0] };
        let rho = theta.half_life.map(|half_life| 0.5f64.powf(1.0 / half_life));
        let mut left: Vec<f64> = (0..60).map(|t| theta.mean(t)).collect();
        for j in 0..2 {
            let (a, b) = (2.0 * rho[j] * theta.omega_rad[j].cos(), rho[j] * rho[j]);
            left = left.windows(3).map(|x| x[2] - a * x[1] + b * x[0]).collect();
        }
        assert!(left.iter().all(|value| value.abs() < 1e-13), "{left:?}");
        let slope = rho[0] * 0.2f64.sin() - 0.5 * rho[1] * 0.55f64.sin();
        assert!((theta.mean(1) - slope).abs() < 1e-15 && theta.mean(0) == 0.0);
    }

    #[test]
    fn parameters_fill_their_ranges() {
        let drawn = SETTINGS.draw(400, 3).unwrap();
        for j in 0..2 {
            let omega = drawn.parameters.iter().map(|theta| theta.omega_rad[j]).collect::<Vec<_>>();
            let half_life = drawn.parameters.iter().map(|theta| theta.half_life[j]).collect::<Vec<_>>();
            for (values, [low, high]) in [(omega, OMEGA_RANGES_RAD[j]), (half_life, HALF_LIFE_RANGES[j])] {
                let unit = values.iter().map(|value| (value - low) / (high - low)).collect::<Vec<_>>();
                assert!(unit.iter().all(|value| (0.0..=1.0).contains(value)));
                // Mean of 400 uniforms: 0.5 ± 0.0144. Four such tests at 4.5 deviations: false alarm 3e-5.
                let mean = unit.iter().sum::<f64>() / 400.0;
                assert!((mean - 0.5).abs() < 0.065, "{mean}");
            }
        }
        let decay = |half_life: f64| 0.5f64.powf(1.0 / half_life);
        let support =
            HALF_LIFE_RANGES.map(|range| range.map(|half_life| (decay(half_life) * 1e4).round() / 1e4));
        assert_eq!(support, [[0.8409, 0.9914], [0.9170, 0.9885]], "the supplement's footnote");
    }

    /// 16 000 residuals: their variance is 1 ± 0.0112 in units of 0.05², their mean 0 ± 0.0079. At 5
    /// deviations each, a false alarm in about one of a million seeds.
    #[test]
    fn noise_has_the_stated_deviation() {
        let drawn = SETTINGS.draw(200, 5).unwrap();
        let residual = |(i, theta): (usize, &OscillatorParameters)| {
            let theta = *theta;
            column(&drawn, i)
                .iter()
                .enumerate()
                .map(move |(t, y)| (y - theta.mean(t + 1)) / 0.05)
                .collect::<Vec<_>>()
        };
        let residuals: Vec<f64> = drawn.parameters.iter().enumerate().flat_map(residual).collect();
        let n = residuals.len() as f64;
        let mean = residuals.iter().sum::<f64>() / n;
        let variance = residuals.iter().map(|value| value * value).sum::<f64>() / n;
        assert!(mean.abs() < 5.0 * 0.0079 && (variance - 1.0).abs() < 5.0 * 0.0112, "{mean} {variance}");
    }

    #[test]
    fn a_sequence_depends_on_seed_and_number_alone() {
        let (few, many) = (SETTINGS.draw(2, 7).unwrap(), SETTINGS.draw(5, 7).unwrap());
        let longer = Oscillators { n_time: 120, ..SETTINGS }.draw(2, 7).unwrap();
        for i in 0..2 {
            assert_eq!(column(&few, i), column(&many, i));
            assert_eq!(column(&few, i), &column(&longer, i)[..80]);
            assert_eq!(few.parameters[i], many.parameters[i]);
        }
        assert_ne!(column(&many, 0), column(&many, 1));
        assert_ne!(column(&many, 0), column(&SETTINGS.draw(1, 8).unwrap(), 0));
    }

    #[test]
    fn lengths_and_gaps_only_take_away() {
        let full = SETTINGS.draw(50, 9).unwrap();
        let lengths = Lengths::Ragged { shortest: 20 };
        let thinned = Oscillators { lengths, missing: 0.3, ..SETTINGS }.draw(50, 9).unwrap();
        let n_times: Vec<usize> = thinned.family.sequences().iter().map(Sequence::n_time).collect();
        assert!(n_times.iter().all(|n_time| (20..=80).contains(n_time)));
        assert!(n_times.iter().min() < Some(&40) && n_times.iter().max() > Some(&60));
        for i in 0..50 {
            let pairs = column(&thinned, i).iter().zip(column(&full, i));
            assert!(pairs.into_iter().all(|(kept, original)| kept.is_nan() || kept == original));
        }
        // About 2 500 outputs: 0.7 ± 0.009 remain; 5 deviations, false alarm 6e-7.
        let remain = thinned.family.n_observed() as f64 / n_times.iter().sum::<usize>() as f64;
        assert!((remain - 0.7).abs() < 0.045, "{remain}");
    }

    #[test]
    fn degenerate_sizes_work_and_bad_settings_do_not() {
        let single = Oscillators { n_time: 1, n_input: 1, noise_std: 0.0, ..SETTINGS }.draw(1, 0).unwrap();
        assert_eq!(column(&single, 0), [single.parameters[0].mean(1)]);
        assert!(matches!(SETTINGS.draw(0, 0), Err(Error::EmptyFamily(_))));
        for bad in [
            Oscillators { n_time: 0, ..SETTINGS },
            Oscillators { n_input: 79, ..SETTINGS },
            Oscillators { noise_std: f64::NAN, ..SETTINGS },
            Oscillators { noise_std: -0.1, ..SETTINGS },
            Oscillators { missing: 1.0, ..SETTINGS },
            Oscillators { lengths: Lengths::Ragged { shortest: 0 }, ..SETTINGS },
            Oscillators { lengths: Lengths::Ragged { shortest: 81 }, ..SETTINGS },
        ] {
            assert!(matches!(bad.draw(1, 0), Err(Error::Setting { .. })), "{bad:?}");
        }
    }
}
