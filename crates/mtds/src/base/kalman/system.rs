//! The matrices of one pack from θ, and gradients with respect to them back to θ.

use super::{StochasticLds, expect_len, factor};
use crate::Result;
use crate::base::erased::roll_out_apart;
use crate::base::lds::transition;
use crate::base::recurrent::pull_back_add;
use crate::base::{BaseModel, InputMap, NoiseForm, RolloutInputs};
use crate::kernel::{Outlined, Scalar};

/// The matrices of a linear system with process noise, row-major; one lane per particle.
#[derive(Clone, Debug)]
pub struct Matrices<S> {
    /// State size n.
    pub d_state: usize,
    /// Output size p.
    pub d_obs: usize,
    /// Input size m.
    pub d_input: usize,
    /// m_0, as θ has it: n.
    pub start: Vec<S>,
    /// A: n × n.
    pub transition: Vec<S>,
    /// Q, which A is made of: n × n.
    pub(super) rotation: Vec<S>,
    /// B: n × m.
    pub input: Vec<S>,
    /// b: n.
    pub state_bias: Vec<S>,
    /// C: p × n.
    pub emission: Vec<S>,
    /// D: p × m.
    pub feedthrough: Vec<S>,
    /// d: p.
    pub offset: Vec<S>,
    /// Lower factor of R: n × n.
    pub process_factor: Vec<S>,
    /// Lower factor of S: p × p.
    pub noise_factor: Vec<S>,
    /// Form of S.
    pub noise_form: NoiseForm,
}

/// What inputs and biases add at each step; sequences with the same inputs share it.
#[derive(Clone, Debug)]
pub struct Pushes<S> {
    /// B u_t + b: n_time × n.
    pub states: Vec<S>,
    /// D u_t + d: n_time × p.
    pub outputs: Vec<S>,
}

/// Gradients with respect to the parts of a [`Matrices`] that do not come through [`Pushes`].
#[derive(Clone, Debug)]
pub(super) struct SystemGradient<S> {
    pub transition: Vec<S>,
    pub emission: Vec<S>,
    /// With respect to R, symmetric.
    pub process: Vec<S>,
    /// With respect to S, symmetric.
    pub noise: Vec<S>,
}

impl<S: Scalar> Matrices<S> {
    /// From θ.
    ///
    /// # Errors
    /// θ of another length than [`StochasticLds::theta_len`]; sizes that make no model.
    pub fn new(model: &StochasticLds, theta: &[S]) -> Result<Self> {
        model.validate()?;
        expect_len("raw parameters of the linear system", model.theta_len(), theta.len())?;
        Ok(S::outline::<Derive, _>((model, theta)))
    }

    #[inline(always)]
    pub(super) fn of_checked(model: &StochasticLds, theta: &[S]) -> Self {
        let (lds, places) = (&model.lds, model.lds.places());
        let (n, p) = (lds.d_state, lds.d_obs);
        // A rollout of no steps derives A, Q and B.
        let mut trace = lds.trace(0);
        roll_out_apart(lds, theta, None, RolloutInputs { inputs: &[], quiet: &[] }, &mut trace);
        Self {
            d_state: n,
            d_obs: p,
            d_input: lds.d_input,
            start: trace.states,
            transition: trace.system[..n * n].to_vec(),
            rotation: trace.system[n * n..2 * n * n].to_vec(),
            input: trace.system[2 * n * n..].to_vec(),
            state_bias: theta[places.state_bias].to_vec(),
            emission: theta[places.emission].to_vec(),
            feedthrough: theta[places.feedthrough].to_vec(),
            offset: theta[places.offset].to_vec(),
            process_factor: factor::from_raw(model.process_noise, &theta[model.process_range()], n),
            noise_factor: factor::from_raw(lds.noise_form, &theta[places.noise], p),
            noise_form: lds.noise_form,
        }
    }

    /// B u_t + b and D u_t + d of every step of a drive.
    ///
    /// # Errors
    /// Inputs that do not have d_input values per step.
    pub fn pushes(&self, drive: RolloutInputs<'_, S>) -> Result<Pushes<S>> {
        expect_len("inputs", drive.quiet.len() * self.d_input, drive.inputs.len())?;
        Ok(S::outline::<Push, _>((self, drive)))
    }

    /// Adds Bᵀ and Dᵀ times the gradients with respect to pushes, unless nobody asks for that of the inputs.
    #[inline(always)]
    pub(super) fn add_to_inputs(&self, d_pushes: &Pushes<S>, d_inputs: &mut [S]) {
        if d_inputs.is_empty() {
            return;
        }
        let (n, p) = (self.d_state, self.d_obs);
        for (t, d_u) in d_inputs.chunks_exact_mut(self.d_input).enumerate() {
            pull_back_add(&self.input, &d_pushes.states[t * n..(t + 1) * n], d_u);
            pull_back_add(&self.feedthrough, &d_pushes.outputs[t * p..(t + 1) * p], d_u);
        }
    }

    /// A x + push.
    #[inline(always)]
    pub(super) fn advance(&self, x: &[S], push: &[S], next: &mut [S]) {
        let n = self.d_state;
        next.copy_from_slice(push);
        for i in 0..n {
            for j in 0..n {
                next[i] = self.transition[i * n + j].mul_add(x[j], next[i]);
            }
        }
    }
}

/// M u_t + v for every step.
#[inline(always)]
fn affine<S: Scalar>(matrix: &[S], bias: &[S], drive: RolloutInputs<'_, S>) -> Vec<S> {
    let (rows, n_time) = (bias.len(), drive.quiet.len());
    let m = matrix.len() / rows;
    let mut out = vec![S::zero(); n_time * rows];
    for t in 0..n_time {
        let out = &mut out[t * rows..(t + 1) * rows];
        out.copy_from_slice(bias);
        if drive.quiet[t] {
            continue;
        }
        for i in 0..rows {
            for j in 0..m {
                out[i] = matrix[i * m + j].mul_add(drive.inputs[t * m + j], out[i]);
            }
        }
    }
    out
}

/// Adds the gradients with respect to the matrix and the bias of [`affine`].
#[inline(always)]
fn affine_adjoint<S: Scalar>(d_out: &[S], drive: RolloutInputs<'_, S>, d_matrix: &mut [S], d_bias: &mut [S]) {
    let rows = d_bias.len();
    let m = d_matrix.len() / rows;
    for t in 0..drive.quiet.len() {
        for i in 0..rows {
            let d = d_out[t * rows + i];
            d_bias[i] += d;
            if drive.quiet[t] {
                continue;
            }
            for j in 0..m {
                d_matrix[i * m + j] = d.mul_add(drive.inputs[t * m + j], d_matrix[i * m + j]);
            }
        }
    }
}

impl<S: Scalar> SystemGradient<S> {
    #[inline(always)]
    pub(super) fn zero(n: usize, p: usize) -> Self {
        let zeros = |len: usize| vec![S::zero(); len];
        Self { transition: zeros(n * n), emission: zeros(p * n), process: zeros(n * n), noise: zeros(p * p) }
    }

    /// Adds to the gradient with respect to θ, all but m_0.
    #[inline(always)]
    pub(super) fn add_to_theta(
        &self,
        (model, system): (&StochasticLds, &Matrices<S>),
        theta: &[S],
        (d_pushes, drive): (&Pushes<S>, RolloutInputs<'_, S>),
        d_theta: &mut [S],
    ) {
        let (n, places) = (system.d_state, model.lds.places());
        let mut work = vec![S::zero(); 2 * n * n];
        let (d_decay, rest) = d_theta.split_at_mut(places.rotation.start);
        transition::adjoint(
            (&theta[places.decay.clone()], &theta[places.rotation.clone()]),
            &system.rotation,
            &self.transition,
            &mut work,
            &mut d_decay[places.decay.clone()],
            &mut rest[..places.rotation.len()],
        );
        let mut d_input = vec![S::zero(); system.input.len()];
        affine_adjoint(&d_pushes.states, drive, &mut d_input, &mut d_theta[places.state_bias.clone()]);
        input_adjoint(model, theta, &d_input, d_theta);
        let (head, tail) = d_theta.split_at_mut(places.offset.start);
        let (d_feedthrough, d_offset) =
            (&mut head[places.feedthrough.clone()], &mut tail[..places.offset.len()]);
        affine_adjoint(&d_pushes.outputs, drive, d_feedthrough, d_offset);
        for (i, at) in places.emission.enumerate() {
            d_theta[at] += self.emission[i];
        }
        let lds_noise = model.lds.noise_form;
        factor::add_to_raw(lds_noise, &system.noise_factor, &self.noise, &mut d_theta[places.noise]);
        let d_process = &mut d_theta[model.process_range()];
        factor::add_to_raw(model.process_noise, &system.process_factor, &self.process, d_process);
    }
}

/// Adds the gradient with respect to the raw input matrix and its gate.
#[inline(always)]
fn input_adjoint<S: Scalar>(model: &StochasticLds, theta: &[S], d_input: &[S], d_theta: &mut [S]) {
    let places = model.lds.places();
    for (i, &d) in d_input.iter().enumerate() {
        let bounded = theta[places.input.start + i].tanh();
        let slope = (-bounded).mul_add(bounded, S::one());
        match model.lds.input_map {
            InputMap::Tanh => d_theta[places.input.start + i] += d * slope,
            InputMap::Sparse => {
                let gate = theta[places.input_gate.start + i].sigmoid();
                d_theta[places.input.start + i] += d * gate * slope;
                d_theta[places.input_gate.start + i] += d * bounded * (-gate).mul_add(gate, gate);
            }
        }
    }
}

enum Derive {}

impl<'a, S: Scalar> Outlined<(&'a StochasticLds, &'a [S])> for Derive {
    type Output = Matrices<S>;

    #[inline(always)]
    fn run((model, theta): (&'a StochasticLds, &'a [S])) -> Matrices<S> {
        Matrices::of_checked(model, theta)
    }
}

enum Push {}

impl<'a, S: Scalar> Outlined<(&'a Matrices<S>, RolloutInputs<'a, S>)> for Push {
    type Output = Pushes<S>;

    #[inline(always)]
    fn run((system, drive): (&'a Matrices<S>, RolloutInputs<'a, S>)) -> Pushes<S> {
        Pushes {
            states: affine(&system.input, &system.state_bias, drive),
            outputs: affine(&system.feedthrough, &system.offset, drive),
        }
    }
}
