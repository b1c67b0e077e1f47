//! What an observation leaves over once the model has predicted it from those before: standardised errors one step ahead.
//!
//! ```text
//! e_t = (y_t − ŷ_t) / s_t      ŷ_t, s_t²: mean and variance of y_t given z and y_{1:t−1}
//!
//! random state         ŷ_t = C m + D u_t + d,   s_t² = diag(C P Cᵀ + S),   m, P of the filter before y_t
//! state from the code  ŷ_t of the rollout,      s_t² = diag S
//! ```
//! Under a model that is right, with its code known, they are white with variance 1. A rollout alone would leave over what the state
//! remembers of its own noise, which is no fault of the model.

use crate::Result;
use crate::base::emission::check_inputs;
use crate::engine::ScoredSteps;
use crate::family::Signal;
use crate::system::{FrontState, System};

impl System {
    /// Standardised errors one step ahead of a sequence (data units) with this code: n_time × d_obs, NaN where an output is missing or
    /// belongs to the front's seed.
    ///
    /// # Errors
    /// A code of the wrong length; inputs missing, too short or of the wrong width; infinite outputs.
    pub fn innovations(&self, code: &[f64], outputs: &Signal, inputs: Option<&Signal>) -> Result<Signal> {
        self.check_code(code.len())?;
        let n_time = outputs.n_time();
        check_inputs(inputs, n_time, self.d_input())?;
        let outputs = self.scaling().outputs_to_model(outputs)?;
        let inputs = inputs.map(|u| self.scaling().inputs_to_model(&u.slice(0..n_time))).transpose()?;
        let inputs = self.drive(inputs, 0..n_time, Some(&outputs), &mut FrontState::default())?;
        let first = self.seed_steps() * outputs.width();
        let mask: Vec<bool> =
            outputs.values().iter().enumerate().map(|(at, y)| at >= first && !y.is_nan()).collect();
        let steps = ScoredSteps { outputs: &outputs, inputs: inputs.as_ref(), mask: &mask };
        let found = self.engine().innovations(self, code, steps)?;
        let kept = found.into_iter().zip(&mask).map(|(e, &is_scored)| if is_scored { e } else { f64::NAN });
        Signal::new(n_time, outputs.width(), kept.collect())
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::base::{Lds, StochasticLds};
    use crate::family::Scaling;
    use crate::random::stream;
    use crate::system::Architecture;

    const N: usize = 4000;

    /// x_t = a x_{t−1} + r ε_t, y_t = x_t + s η_t with a = σ(1.2), about 0.77: nothing depends on the code.
    fn ar1(spec: Architecture) -> System {
        let spec = ["decay", "emission", "initial_state"].into_iter().fold(spec, Architecture::share);
        let spec = spec.fix("offset", 0.0).fix("state_bias", 0.0);
        let model = System::initialise(spec, Scaling::identity(1, 0), &mut stream(1, 0)).unwrap();
        let mut parameters = vec![0.0; model.n_parameters()];
        let shared = model.spec().network.n_parameters();
        let values = [
            ("decay", 1.2),
            ("emission", 1.0),
            ("noise", -1.0),
            ("process_noise", 0.0),
            ("initial_state", 2.0),
        ];
        for (block, value) in values {
            if let Some(block) = model.layout().block(block) {
                parameters[shared + block.slot] = value;
            }
        }
        model.with_parameters(parameters).unwrap()
    }

    fn kalman() -> System {
        ar1(Architecture::without_code(StochasticLds::new(1, 1, 0)))
    }

    fn draw(a: f64) -> Signal {
        let mut random = stream(7, 0);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let mut x = 2.0;
        let mut step = || {
            x = a * x + normal();
            x + (-1.0f64).exp() * normal()
        };
        Signal::column((0..N).map(|_| step()).collect())
    }

    /// Mean square, and autocorrelation at lag 1.
    fn moments(errors: &[f64]) -> (f64, f64) {
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
        let pairs = errors.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        (square, pairs / errors.len() as f64 / square)
    }

    /// Both deviations are 1/√N at most about; bounds are four of them.
    #[test]
    fn residuals_of_a_random_state_are_no_longer_those_of_the_mean_rollout() {
        let model = kalman();
        let first = model.generate(&[], None, 1).unwrap().get(0, 0);
        let outputs = draw(first / 2.0);
        let (square, memory) = moments(model.innovations(&[], &outputs, None).unwrap().values());
        assert!((square - 1.0).abs() < 4.0 * (2.0 / N as f64).sqrt(), "{square}");
        assert!(memory.abs() < 4.0 / (N as f64).sqrt(), "{memory}");
        let rolled_out = model.generate(&[], None, N).unwrap();
        let left: Vec<f64> = outputs.values().iter().zip(rolled_out.values()).map(|(y, m)| y - m).collect();
        assert!(moments(&left).1 > 0.6, "{:?}", moments(&left));
    }

    #[test]
    fn gaps_stay_gaps_and_widen_what_comes_after() {
        let model = kalman();
        let mut values = draw(0.7).values()[..60].to_vec();
        values[20..40].fill(f64::NAN);
        let found = model.innovations(&[], &Signal::column(values.clone()), None).unwrap();
        assert!(found.values().iter().zip(&values).all(|(e, y)| e.is_nan() == y.is_nan()));
        // After a long gap the state is as wide as it gets, so that a shift of the value counts for less than without one.
        let slope = |t: usize| {
            let mut shifted = values.clone();
            shifted[t] += 1.0;
            let after = model.innovations(&[], &Signal::column(shifted), None).unwrap();
            after.get(t, 0) - found.get(t, 0)
        };
        assert!(slope(40) < 0.8 * slope(19), "{} {}", slope(40), slope(19));
    }

    #[test]
    fn a_state_that_is_sure_leaves_what_its_rollout_leaves() {
        let model = ar1(Architecture::without_code(Lds::new(1, 1, 0)));
        let outputs = draw(0.7).slice(0..30);
        let found = model.innovations(&[], &outputs, None).unwrap();
        let rolled_out = model.generate(&[], None, 30).unwrap();
        for t in 0..30 {
            let expected = (outputs.get(t, 0) - rolled_out.get(t, 0)) * 1.0f64.exp();
            assert!((found.get(t, 0) - expected).abs() < 1e-5, "{t}");
        }
        assert!(model.innovations(&[0.0], &outputs, None).is_err());
    }
}
