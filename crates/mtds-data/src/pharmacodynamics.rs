//! A built-in family: patients who answer to doses of a drug, each in a way of his own.
//!
//! ```text
//! x_t = k x_{t−1} + s u_t                      x_0 = 0      concentration, in units that bend the curve of effects
//! y_t = d + e (σ(x_t − c) − σ(−c)) + ε_t       t = 1, 2, …  ε_t ~ N(0, noise_std²)      c = 2
//!
//! k = 2^(−1/ν)      ν ~ log U[2, 12] steps     s ~ log U[0.7, 2.1]     e ~ −U[15, 60]     d ~ N(85, 4²)
//! u_1 ~ U[1, 4];  later, at each step with probability 0.15:  u_t ~ U[1, 4], else 0     for each patient anew
//! ```
//! The model of spec.md with one concentration: k = σ(β₁), s = softplus(β₂), and an effect that follows the concentration
//! monotonically. Effects are those of a sedative on a scale of 0 to 100. Reference: Bird, Williams & Hawthorne (2019).

use mtds::random::{Random, Stream, stream};
use mtds::{Error, Family, Result, Sequence, Signal};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Shortest and longest half-life ν, in steps.
pub const HALF_LIFE_RANGE: [f64; 2] = [2.0, 12.0];
/// Least and greatest sensitivity s: concentration per dose.
pub const SENSITIVITY_RANGE: [f64; 2] = [0.7, 2.1];
/// Strongest and weakest effect e.
pub const EFFECT_RANGE: [f64; 2] = [-60.0, -15.0];
/// Mean and standard deviation of the baseline d.
pub const BASELINE: [f64; 2] = [85.0, 4.0];
/// Concentration c at which half of the effect is reached.
pub const THRESHOLD: f64 = 2.0;
/// Smallest and largest dose.
pub const DOSE_RANGE: [f64; 2] = [1.0, 4.0];
/// Probability of a dose at every step but the first, which has one.
pub const DOSE_PROBABILITY: f64 = 0.15;

/// What to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pharmacodynamics {
    /// Steps of a sequence; 40.
    pub n_time: usize,
    /// Standard deviation of the noise on the outputs; 2.
    pub noise_std: f64,
}

/// The four numbers that make one patient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatientParameters {
    /// Half-life ν of the drug, in steps.
    pub half_life: f64,
    /// Sensitivity s.
    pub sensitivity: f64,
    /// Effect e.
    pub effect: f64,
    /// Baseline d.
    pub baseline: f64,
}

/// A drawn family and the truth behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct PatientFamily {
    /// Sequences `patient-000`, `patient-001`, … with output `y` and input `u`, the doses, of their own.
    pub family: Family,
    /// The parameters of each patient, in the same order.
    pub parameters: Vec<PatientParameters>,
}

impl Default for Pharmacodynamics {
    fn default() -> Self {
        Self { n_time: 40, noise_std: 2.0 }
    }
}

impl Pharmacodynamics {
    /// Draws `n_seq` patients; patient `i` depends on the settings, `seed` and `i` alone, and a longer record begins with
    /// the shorter one.
    ///
    /// # Errors
    /// [`Error::Setting`] if a setting is outside its range; [`Error::EmptyFamily`] if `n_seq` is 0.
    pub fn draw(&self, n_seq: usize, seed: u64) -> Result<PatientFamily> {
        self.check()?;
        let mut parameters = Vec::with_capacity(n_seq);
        let mut sequences = Vec::with_capacity(n_seq);
        for i in 0..n_seq {
            let doses = self.doses(&mut stream(seed, Stream::PatientDoses(i as u64)));
            let mut random = stream(seed, Stream::PatientValues(i as u64));
            let patient = PatientParameters::draw(&mut random);
            let noisy = |mean: f64| mean + self.noise_std * random.sample::<f64, _>(StandardNormal);
            let outputs: Vec<f64> = patient.means(&doses).into_iter().map(noisy).collect();
            let sequence = Sequence::new(format!("patient-{i:03}"), Signal::column(outputs))?;
            sequences.push(sequence.with_inputs(Signal::column(doses))?);
            parameters.push(patient);
        }
        let family = Family::new(sequences)?.with_input_names(["u"])?;
        Ok(PatientFamily { family, parameters })
    }

    fn doses(&self, random: &mut Random) -> Vec<f64> {
        let dose = |t: usize| {
            let (chance, size) = (random.random::<f64>(), random.random_range(DOSE_RANGE[0]..=DOSE_RANGE[1]));
            if t == 0 || chance < DOSE_PROBABILITY { size } else { 0.0 }
        };
        (0..self.n_time).map(dose).collect()
    }

    fn check(&self) -> Result<()> {
        let setting = |name: &str, why: String| Err(Error::Setting { name: name.into(), why });
        if self.n_time == 0 {
            return setting("n_time", "found 0; expected at least 1 step".into());
        }
        if !(self.noise_std.is_finite() && self.noise_std >= 0.0) {
            return setting(
                "noise_std",
                format!("found {}; expected a number of at least 0", self.noise_std),
            );
        }
        Ok(())
    }
}

impl PatientParameters {
    /// Names of [`PatientParameters::transformed`], in order.
    pub const TRANSFORMED: [&str; 4] = ["log half-life", "log sensitivity", "effect", "baseline"];

    /// A draw from the generating distribution.
    pub fn draw(random: &mut Random) -> Self {
        let mut log_uniform = |[low, high]: [f64; 2]| random.random_range(low.ln()..=high.ln()).exp();
        let (half_life, sensitivity) = (log_uniform(HALF_LIFE_RANGE), log_uniform(SENSITIVITY_RANGE));
        let effect = random.random_range(EFFECT_RANGE[0]..=EFFECT_RANGE[1]);
        let baseline = BASELINE[0] + BASELINE[1] * random.sample::<f64, _>(StandardNormal);
        Self { half_life, sensitivity, effect, baseline }
    }

    /// Share k of the concentration that is left after a step.
    #[must_use]
    pub fn keep(&self) -> f64 {
        (-1.0 / self.half_life).exp2()
    }

    /// Outputs without noise under these doses.
    #[must_use]
    pub fn means(&self, doses: &[f64]) -> Vec<f64> {
        let (keep, rest) = (self.keep(), sigmoid(-THRESHOLD));
        let mut concentration = 0.0;
        let step = |dose: &f64| {
            concentration = keep * concentration + self.sensitivity * dose;
            self.baseline + self.effect * (sigmoid(concentration - THRESHOLD) - rest)
        };
        doses.iter().map(step).collect()
    }

    /// log ν, log s, e and d: the scales on which patients are drawn, and on which recovery is measured.
    #[must_use]
    pub fn transformed(&self) -> [f64; 4] {
        [self.half_life.ln(), self.sensitivity.ln(), self.effect, self.baseline]
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::parts::Pharmacodynamic;
    use mtds::{Architecture, Scaling, System};

    const SETTINGS: Pharmacodynamics = Pharmacodynamics { n_time: 40, noise_std: 2.0 };

    fn outputs(drawn: &PatientFamily, i: usize) -> &[f64] {
        drawn.family.sequence(i).outputs().values()
    }

    #[test]
    fn patients_have_doses_of_their_own_and_a_first_one() {
        assert_eq!(Pharmacodynamics::default(), SETTINGS);
        let drawn = SETTINGS.draw(200, 1).unwrap();
        assert_eq!((drawn.family.n_seq(), drawn.family.max_time(), drawn.family.d_input()), (200, 40, 1));
        assert_eq!(drawn.family.sequence(2).id(), "patient-002");
        let doses = |i: usize| drawn.family.inputs_of(i).unwrap().values();
        assert_ne!(doses(0), doses(1));
        assert!((0..200).all(|i| doses(i)[0] >= 1.0 && doses(i).iter().all(|u| *u == 0.0 || *u >= 1.0)));
        // 7800 steps: 0.15 ± 0.0040 have a dose; 5 deviations, false alarm 6e-7.
        let later = (0..200).flat_map(|i| &doses(i)[1..]).filter(|u| **u > 0.0).count() as f64 / 7800.0;
        assert!((later - DOSE_PROBABILITY).abs() < 0.0202, "{later}");
    }

    /// The base model with these parameters, whose raw values are found by hand, gives the same curves.
    #[test]
    fn the_base_model_can_be_each_patient() {
        let drawn = Pharmacodynamics { noise_std: 0.0, ..SETTINGS }.draw(5, 3).unwrap();
        let raw = |positive: f64| positive.exp_m1().ln(); // inverse of softplus
        for (i, patient) in drawn.parameters.iter().enumerate() {
            let keep = patient.keep();
            let theta = [
                (keep / (1.0 - keep)).ln(),
                raw(patient.sensitivity),
                raw(1.0),
                THRESHOLD,
                patient.effect,
                patient.baseline,
                0.0,
            ];
            let spec = Architecture::without_code(Pharmacodynamic::new(1, 1, 1));
            let theta = theta.iter().map(|x| *x as f32).collect();
            let model = System::new(spec, Scaling::identity(1, 1), theta).unwrap();
            let found = model.generate(&[], drawn.family.inputs_of(i), 40).unwrap();
            for (a, b) in found.values().iter().zip(outputs(&drawn, i)) {
                assert!((a - b).abs() < 1e-3, "{patient:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn parameters_and_noise_are_those_stated() {
        let drawn = SETTINGS.draw(400, 5).unwrap();
        let unit = |x: f64, [low, high]: [f64; 2]| (x - low) / (high - low);
        let shares = |p: &PatientParameters| {
            let [life, sensitivity, effect, _] = p.transformed();
            [
                unit(life, HALF_LIFE_RANGE.map(f64::ln)),
                unit(sensitivity, SENSITIVITY_RANGE.map(f64::ln)),
                unit(effect, EFFECT_RANGE),
            ]
        };
        for d in 0..3 {
            let values: Vec<f64> = drawn.parameters.iter().map(|p| shares(p)[d]).collect();
            assert!(values.iter().all(|u| (-1e-12..=1.0 + 1e-12).contains(u)));
            // Mean of 400 uniforms: 0.5 ± 0.0144. Three such tests at 4.5 deviations: false alarm 2e-5.
            assert!((values.iter().sum::<f64>() / 400.0 - 0.5).abs() < 0.065);
        }
        // 16 000 residuals: mean square 1 ± 0.0112 in units of 2². Five deviations: false alarm 6e-7.
        let squares = (0..400).flat_map(|i| {
            let means = drawn.parameters[i].means(drawn.family.inputs_of(i).unwrap().values());
            outputs(&drawn, i).iter().zip(means).map(|(y, m)| ((y - m) / 2.0).powi(2)).collect::<Vec<_>>()
        });
        assert!((squares.sum::<f64>() / 16_000.0 - 1.0).abs() < 0.056);
    }

    #[test]
    fn a_patient_depends_on_seed_and_number_alone() {
        let (few, many) = (SETTINGS.draw(2, 7).unwrap(), SETTINGS.draw(5, 7).unwrap());
        let longer = Pharmacodynamics { n_time: 60, ..SETTINGS }.draw(2, 7).unwrap();
        for i in 0..2 {
            assert_eq!(outputs(&few, i), outputs(&many, i));
            assert_eq!(outputs(&few, i), &outputs(&longer, i)[..40]);
        }
        assert_ne!(outputs(&many, 0), outputs(&SETTINGS.draw(1, 8).unwrap(), 0));
    }

    #[test]
    fn degenerate_sizes_work_and_bad_settings_do_not() {
        assert_eq!(Pharmacodynamics { n_time: 1, ..SETTINGS }.draw(1, 0).unwrap().family.max_time(), 1);
        assert!(matches!(SETTINGS.draw(0, 0), Err(Error::EmptyFamily(_))));
        for bad in [
            Pharmacodynamics { n_time: 0, ..SETTINGS },
            Pharmacodynamics { noise_std: f64::NAN, ..SETTINGS },
            Pharmacodynamics { noise_std: -1.0, ..SETTINGS },
        ] {
            assert!(matches!(bad.draw(1, 0), Err(Error::Setting { .. })), "{bad:?}");
        }
    }
}
