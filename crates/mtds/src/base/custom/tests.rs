use super::*;
use crate::base::Lds;
use crate::base::checks::{self, gradient, outputs, theta_len, wave};

/// The linear system with two states, one output and one input, where Q has a closed form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Spiral;

impl Step for Spiral {
    const KIND: &'static str = "spiral";

    fn sizes(&self) -> StepSizes {
        StepSizes { state: 2, output: 1, input: 1 }
    }

    /// In the order of the linear system.
    fn blocks(&self) -> Vec<BlockSpec> {
        let lens = [("decay", 2), ("rotation", 1), ("input_gate", 2), ("input", 2), ("state_bias", 2)];
        let last = [("emission", 2), ("feedthrough", 1), ("offset", 1)];
        lens.into_iter().chain(last).map(|(name, len)| BlockSpec::new(name, len, Role::Adapted)).collect()
    }

    #[inline(always)]
    fn step<S: Scalar>(&self, theta: &[S], past: &[S], inputs: &[S], next: &mut [S]) {
        let s = theta[2];
        let length = S::one() + s * s;
        let (cos, sin) = ((S::one() - s * s) / length, S::constant(2.0) * s / length);
        let turned = [cos * past[0] - sin * past[1], sin * past[0] + cos * past[1]];
        for i in 0..2 {
            let driven = theta[3 + i].sigmoid() * theta[5 + i].tanh() * inputs[0];
            next[i] = theta[i].tanh() * turned[i] + driven + theta[7 + i];
        }
    }

    #[inline(always)]
    fn emit<S: Scalar>(&self, theta: &[S], state: &[S], inputs: &[S], outputs: &mut [S]) {
        outputs[0] = theta[9] * state[0] + theta[10] * state[1] + theta[11] * inputs[0] + theta[12];
    }
}

#[test]
fn a_linear_system_written_as_a_step_equals_the_one_written_by_hand() {
    let (custom, lds) = (Custom::new(Spiral), Lds::new(2, 1, 1));
    assert_eq!(theta_len(&custom), theta_len(&lds));
    for (n_time, phase) in [(1, 0.1), (2, 1.0), (17, 2.2)] {
        let (theta, inputs) = (wave(theta_len(&lds), phase), wave(n_time, phase + 1.0));
        let (start, weights) = (wave(2, 0.3), wave(n_time, 0.6));
        let roll = |start| {
            let ours = outputs(&custom, &theta, start, &inputs, n_time);
            (ours, outputs(&lds, &theta, start, &inputs, n_time))
        };
        let given = Some(&start[..]);
        let (ours, theirs) = (
            gradient(&custom, &theta, given, &inputs, &weights),
            gradient(&lds, &theta, given, &inputs, &weights),
        );
        let pairs = [roll(given), roll(None), (ours.concat(), theirs.concat())];
        for (got, want) in pairs.iter().flat_map(|(got, want)| got.iter().zip(want)) {
            assert!((got - want).abs() < 1e-12 * (1.0 + want.abs()), "{got} {want}");
        }
    }
}

/// More states than directions at a time, corners in the equations, no inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Ring(usize);

impl Step for Ring {
    const KIND: &'static str = "ring";

    fn sizes(&self) -> StepSizes {
        StepSizes { state: self.0, output: 2, input: 0 }
    }
    fn blocks(&self) -> Vec<BlockSpec> {
        vec![BlockSpec::new("coupling", self.0, Role::Adapted)]
    }
    #[inline(always)]
    fn step<S: Scalar>(&self, theta: &[S], past: &[S], _: &[S], next: &mut [S]) {
        for i in 0..self.0 {
            let neighbour = past[(i + 1) % self.0];
            next[i] = (theta[i] * neighbour).tanh() + S::constant(0.3) * past[i].max(S::zero());
        }
    }
    #[inline(always)]
    fn emit<S: Scalar>(&self, _: &[S], state: &[S], _: &[S], outputs: &mut [S]) {
        outputs[0] = state[0].softplus();
        outputs[1] = state[self.0 - 1];
    }
}

#[test]
fn adjoints_match_central_differences() {
    checks::adjoint_matches_differences(&Custom::new(Spiral), 6);
    for n in [1, 3, 4, 5, 9] {
        checks::adjoint_matches_differences(&Custom::new(Ring(n)), 5);
    }
}

#[test]
fn packs_equal_plain_numbers() {
    checks::packs_match_plain(&Custom::new(Spiral), 9, 0.4);
    checks::packs_match_plain(&Custom::new(Ring(5)), 6, 1.4);
}

#[test]
fn long_stored_and_degenerate_cases() {
    checks::long_sequences_stay_finite(&Custom::new(Spiral), 1.0);
    checks::quiet_steps_change_nothing(&Custom::new(Spiral));
    checks::stored_form_reads_back(&Custom { noise_form: NoiseForm::Full, ..Custom::new(Ring(3)) });
    let error = Custom::new(Ring(0)).validate().unwrap_err().to_string();
    assert!(error.contains("found 0"), "{error}");
}

/// A name that is taken.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Clash;

impl Step for Clash {
    const KIND: &'static str = "clash";

    fn sizes(&self) -> StepSizes {
        StepSizes { state: 1, output: 1, input: 0 }
    }
    fn blocks(&self) -> Vec<BlockSpec> {
        vec![BlockSpec::new("noise", 1, Role::Shared)]
    }
    fn step<S: Scalar>(&self, _: &[S], past: &[S], _: &[S], next: &mut [S]) {
        next.copy_from_slice(past);
    }
    fn emit<S: Scalar>(&self, _: &[S], state: &[S], _: &[S], outputs: &mut [S]) {
        outputs.copy_from_slice(state);
    }
}

#[test]
fn a_block_cannot_have_a_name_that_is_taken() {
    let error = Custom::new(Clash).validate().unwrap_err().to_string();
    assert!(error.contains("found `noise` twice"), "{error}");
}
