//! Control: sequences from a chosen code, and morphs along a path of codes.
//!
//! ```text
//! generate   ŷ_t = g(x_t, u_t, h_φ(z))          x_t = f(x_{t−1}, u_t, h_φ(z))
//! morph      the same with z_t moving along a path: the state goes on, the system changes under it
//! ```

use super::future::check_known;
use crate::engine::Codes;
use crate::family::Signal;
use crate::infer::Posterior;
use crate::random::Random;
use crate::system::{FrontState, System};
use crate::{Error, Result};

/// Codes to pass through, evenly spaced in time, with straight lines between.
#[derive(Clone, Debug, PartialEq)]
pub struct CodePath {
    waypoints: Vec<Vec<f64>>,
}

impl CodePath {
    /// A path through these codes.
    ///
    /// # Errors
    /// No code, codes of different lengths, a number that is not finite.
    pub fn new(waypoints: Vec<Vec<f64>>) -> Result<Self> {
        let Some(first) = waypoints.first() else {
            return Err(Error::setting("path", "found no code; expected at least one"));
        };
        if let Some(other) = waypoints.iter().find(|w| w.len() != first.len()) {
            return Err(Error::shape("code on the path", first.len(), other.len()));
        }
        if let Some(&value) = waypoints.iter().flatten().find(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: "code on the path".into(), value, hint: "" });
        }
        Ok(Self { waypoints })
    }

    /// The code at `position` between 0 (first) and 1 (last).
    #[must_use]
    pub fn at(&self, position: f64) -> Vec<f64> {
        let last = self.waypoints.len() - 1;
        let along = position.clamp(0.0, 1.0) * last as f64;
        let (leg, share) = (along.floor().min(last as f64) as usize, along.fract());
        let (from, to) = (&self.waypoints[leg], &self.waypoints[(leg + 1).min(last)]);
        from.iter().zip(to).map(|(a, b)| a + share * (b - a)).collect()
    }

    /// Length of its codes.
    #[must_use]
    pub fn d_code(&self) -> usize {
        self.waypoints[0].len()
    }
}

impl System {
    /// The noise-free sequence of one code, in data units: n_time × d_obs.
    ///
    /// # Errors
    /// A code of the wrong length or not finite; inputs (data units) missing, too short, of the wrong width or not finite.
    pub fn generate(&self, code: &[f64], inputs: Option<&Signal>, n_time: usize) -> Result<Signal> {
        CodePath::new(vec![code.to_vec()])?;
        self.check_code(code.len())?;
        let inputs = self.drive_of(inputs, n_time)?;
        let codes = Codes::from_fn(1, code.len(), |_, d| code[d]);
        let rollout = self.simulate(&codes, None, inputs.as_ref(), n_time)?;
        self.scaling().outputs_from_model(&Signal::new(n_time, self.base().d_obs(), rollout.outputs)?)
    }

    /// A sequence of one code as it might be observed, in data units: one draw of the forecast that knows the code and has seen
    /// nothing, with the noise of the outputs and, where the state is random, its own.
    ///
    /// # Errors
    /// As [`System::generate`]; no steps asked for.
    pub fn generate_noisy(
        &self,
        code: &[f64],
        inputs: Option<&Signal>,
        n_time: usize,
        random: &mut Random,
    ) -> Result<Signal> {
        self.check_code(code.len())?;
        let (known, unseen) = (Posterior::known(code)?, Signal::new(0, self.base().d_obs(), vec![])?);
        let forecast = self.forecast(&known, &unseen, inputs, n_time, random)?;
        Signal::new(n_time, forecast.d_obs(), forecast.draws(1, random))
    }

    /// The noise-free sequence while the code moves along a path from step 1 to step `n_time`, in data units.
    ///
    /// # Errors
    /// As [`System::generate`].
    pub fn morph(&self, path: &CodePath, inputs: Option<&Signal>, n_time: usize) -> Result<Signal> {
        self.check_code(path.d_code())?;
        let inputs = self.drive_of(inputs, n_time)?;
        let position = |t: usize| if n_time > 1 { t as f64 / (n_time - 1) as f64 } else { 0.0 };
        let codes = Codes::from_rows(self.d_code(), (0..n_time).map(|t| path.at(position(t))));
        let outputs = self.engine().morph(self, &codes, inputs.as_ref());
        self.scaling().outputs_from_model(&Signal::new(n_time, self.base().d_obs(), outputs)?)
    }

    /// What drives the base model from the first of `n_time` steps on, given inputs in data units.
    pub(super) fn drive_of(&self, inputs: Option<&Signal>, n_time: usize) -> Result<Option<Signal>> {
        crate::base::emission::check_inputs(inputs, n_time, self.d_input())?;
        let known = inputs.map(|u| u.slice(0..n_time));
        known.iter().try_for_each(|u| check_known(u, "inputs", 0))?;
        let inputs = known.map(|u| self.scaling().inputs_to_model(&u)).transpose()?;
        self.drive(inputs, 0..n_time, None, &mut FrontState::default())
    }

    pub(super) fn check_code(&self, found: usize) -> Result<()> {
        if found == self.d_code() { Ok(()) } else { Err(Error::shape("code", self.d_code(), found)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Lds;
    use crate::family::Scaling;
    use crate::random::stream;
    use crate::system::Architecture;

    fn model() -> System {
        let spec = Architecture::new(Lds::new(3, 2, 1), 2);
        System::initialise(spec, Scaling::identity(2, 1), &mut stream(4, 0)).unwrap()
    }

    fn impulse(n: usize) -> Signal {
        Signal::column((0..n).map(|t| f64::from(u8::from(t == 0))).collect())
    }

    #[test]
    fn a_morph_that_stays_is_the_generated_sequence() {
        let (model, code) = (model(), vec![0.4, -1.1]);
        let still = CodePath::new(vec![code.clone(), code.clone()]).unwrap();
        let morph = model.morph(&still, Some(&impulse(30)), 30).unwrap();
        let generated = model.generate(&code, Some(&impulse(30)), 30).unwrap();
        for (a, b) in morph.values().iter().zip(generated.values()) {
            assert!((a - b).abs() < 1e-5, "{a} {b}"); // f64 against f32
        }
    }

    #[test]
    fn inputs_that_are_not_known_are_named_instead_of_answered_with_nan() {
        let (model, code) = (model(), vec![0.4, -1.1]);
        let path = CodePath::new(vec![code.clone(), vec![1.0, 0.0]]).unwrap();
        for value in [f64::NAN, f64::INFINITY] {
            let inputs = Signal::column(vec![0.0, 1.0, value, 0.0]);
            let mut random = stream(4, 2);
            for refused in [
                model.generate(&code, Some(&inputs), 4),
                model.generate_noisy(&code, Some(&inputs), 4, &mut random),
                model.morph(&path, Some(&inputs), 4),
            ] {
                let text = refused.unwrap_err().to_string();
                assert!(text.contains("inputs at step 3: found"), "{text}");
            }
            // What lies after the last step does not matter.
            assert!(model.generate(&code, Some(&inputs), 2).is_ok());
        }
    }

    #[test]
    fn a_morph_begins_with_one_system_and_ends_with_the_other() {
        let model = model();
        let (from, to) = (vec![1.0, 0.0], vec![-1.0, 0.5]);
        let path = CodePath::new(vec![from.clone(), to.clone()]).unwrap();
        let (inputs, n) = (Signal::column(vec![1.0; 60]), 60);
        let morph = model.morph(&path, Some(&inputs), n).unwrap();
        let (a, b) = (
            model.generate(&from, Some(&inputs), n).unwrap(),
            model.generate(&to, Some(&inputs), n).unwrap(),
        );
        assert!((morph.get(0, 0) - a.get(0, 0)).abs() < 1e-5);
        assert!((a.get(n - 1, 0) - b.get(n - 1, 0)).abs() > 0.1, "the two systems differ");
        assert!(
            (morph.get(n - 1, 0) - b.get(n - 1, 0)).abs() < (morph.get(n - 1, 0) - a.get(n - 1, 0)).abs()
        );
    }

    /// Means over draws lie within 5 standard errors of the noise-free sequence: 1 in 10⁶ seeds would fail, over 40 numbers.
    #[test]
    fn noise_is_around_the_noise_free_sequence_and_as_wide_as_the_model_says() {
        let (model, code, n, n_draws) = (model(), [0.4, -1.1], 20, 400);
        let mean = model.generate(&code, Some(&impulse(n)), n).unwrap();
        let mut random = stream(4, 1);
        let draws: Vec<Signal> = (0..n_draws)
            .map(|_| model.generate_noisy(&code, Some(&impulse(n)), n, &mut random).unwrap())
            .collect();
        let known = Posterior::known(&code).unwrap();
        let unseen = Signal::new(0, 2, vec![]).unwrap();
        let forecast = model.forecast(&known, &unseen, Some(&impulse(n)), n, &mut random).unwrap();
        let upper = forecast.quantile(0.841_344_746).unwrap();
        for (k, &mean) in mean.values().iter().enumerate() {
            let std_dev = upper[k] - mean;
            let found = draws.iter().map(|draw| draw.values()[k]).sum::<f64>() / f64::from(n_draws);
            assert!(std_dev > 0.0 && (found - mean).abs() < 5.0 * std_dev / f64::from(n_draws).sqrt());
        }
        assert!(model.generate_noisy(&[0.0], Some(&impulse(n)), n, &mut random).is_err());
        assert!(model.generate_noisy(&code, None, n, &mut random).is_err());
    }

    #[test]
    fn paths_interpolate_and_refuse_nonsense() {
        let path = CodePath::new(vec![vec![0.0], vec![2.0], vec![0.0]]).unwrap();
        assert_eq!([path.at(0.0), path.at(0.25), path.at(0.5), path.at(1.0)], [[0.0], [1.0], [2.0], [0.0]]);
        assert!(CodePath::new(vec![]).is_err());
        assert!(CodePath::new(vec![vec![0.0], vec![0.0, 1.0]]).is_err());
        assert!(CodePath::new(vec![vec![f64::NAN]]).is_err());
        assert!(model().generate(&[0.0], Some(&impulse(3)), 3).unwrap_err().to_string().contains("code"));
        assert!(model().generate(&[0.0, 0.0], None, 3).unwrap_err().to_string().contains("inputs"));
        assert!(model().generate(&[0.0, 0.0], Some(&impulse(2)), 3).is_err());
    }
}
