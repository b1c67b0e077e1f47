//! A recurrent network whose parameters are those of one code: its pass over one sequence, and back, by products over time.
//!
//! ```text
//! x_t = f(x_{t−1}, u_t, θ)      ŷ_t = C x_t + D u_t + d, and + ŷ_{t−1} where outputs are added up      `base::recurrent`
//! ```
//! V u_t, C x_t, D u_t and the gradients of all matrices are one product over all steps each; only W x_{t−1} goes step by step. In
//! lanes of particles (`own`) every one of these is step by step, sixteen codes at a time, each with matrices of its own.

use std::ops::Range;

use crate::Result;
use crate::base::emission::{Group, Noise, Pull};
use crate::base::{Gru as GruBase, OutputForm, Rnn as RnnBase};
use crate::generator::Role;
use crate::kernel::{Panels, Real};
use crate::layer::{
    Bias, Dense, DenseTape, DenseWeights, Gradient, Gru, GruTape, GruWeights, Layer, Rnn, RnnTape, RnnWeights,
};
use crate::system::System;

/// Which network, and where its blocks lie in θ.
#[derive(Clone, Debug)]
pub(super) struct HeadForm {
    cell: Cell,
    emission: Dense,
    /// D, where it is not fixed at zero.
    feedthrough: Option<Dense>,
    noise: Noise,
    /// State size n, input size m, output size p.
    sizes: [usize; 3],
    /// Whether outputs are added up.
    is_residual: bool,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Tanh(Rnn),
    Gated(Gru),
}

/// Room for the passes of one code; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Head<R> {
    pub(super) theta: Vec<R>,
    pub(super) d_theta: Vec<R>,
    /// With respect to the inputs of all windows, n_time × m.
    pub(super) d_inputs: Vec<R>,
    weights: Weights<R>,
    windows: Vec<Window<R>>,
}

#[derive(Clone, Debug, Default)]
struct Weights<R> {
    tanh: RnnWeights<R>,
    gated: GruWeights<R>,
    emission: DenseWeights<R>,
    feedthrough: DenseWeights<R>,
}

/// One window of time, at whose beginning gradients stop unless it is the first.
#[derive(Clone, Debug, Default)]
struct Window<R> {
    inputs: Panels<R>,
    tanh: RnnTape<R>,
    gated: GruTape<R>,
    emission: DenseTape<R>,
    feedthrough: DenseTape<R>,
    /// ŷ, n_time × p.
    outputs: Vec<R>,
}

/// Why layers cannot fail: their sizes come from one base model, and θ and inputs were made for it.
const FITS: &str = "sizes of the base model were checked";

impl HeadForm {
    /// The base model of a system, if it is a network that runs by products.
    pub(super) fn of(system: &System) -> Option<Self> {
        let base = system.base();
        let (cell, [n, m, p], output) = if let Some(b) = base.downcast_ref::<RnnBase>() {
            (Cell::Tanh(Rnn::new(b.d_input, b.d_state).ok()?), [b.d_state, b.d_input, b.d_obs], b.output)
        } else {
            let b = base.downcast_ref::<GruBase>()?;
            (Cell::Gated(Gru::new(b.d_input, b.d_state).ok()?), [b.d_state, b.d_input, b.d_obs], b.output)
        };
        let is_zero = system.layout().block("feedthrough").is_none_or(|block| block.role == Role::Fixed(0.0));
        let feedthrough = (!is_zero && m > 0).then(|| Dense::new(m, p, Bias::None));
        Some(Self {
            cell,
            emission: Dense::new(n, p, Bias::Learned).ok()?,
            feedthrough: feedthrough.transpose().ok()?,
            noise: base.noise(),
            sizes: [n, m, p],
            is_residual: output == OutputForm::Residual,
        })
    }

    /// State size n.
    pub(super) fn d_state(&self) -> usize {
        self.sizes[0]
    }

    /// Whether the cell has gates.
    pub(super) fn is_gated(&self) -> bool {
        matches!(self.cell, Cell::Gated(_))
    }

    /// Where C, D and d lie in θ.
    fn emission_ranges(&self) -> [Range<usize>; 3] {
        let [n, m, p] = self.sizes;
        let end = self.noise.range.start;
        [end - p - p * m - p * n..end - p - p * m, end - p - p * m..end - p, end - p..end]
    }

    /// Where x_0 lies, and ŷ_0 behind it.
    fn start_ranges(&self) -> [Range<usize>; 2] {
        let (at, [n, _, p]) = (self.noise.range.end, self.sizes);
        [at..at + n, at + n..at + n + if self.is_residual { p } else { 0 }]
    }

    /// Lets a head that has its θ begin at a state that was carried, with the outputs behind it where these are added up; empty for θ's own.
    pub(super) fn begin_at<R: Real>(&self, head: &mut Head<R>, state: &[f64]) {
        let at = self.noise.range.end;
        head.theta[at..at + state.len()]
            .iter_mut()
            .zip(state)
            .for_each(|(to, &from)| *to = R::from_f64(from));
    }

    /// log p(Y | θ) of one sequence, in windows; `inputs` are those of all of them, n_time × m.
    pub(super) fn log_likelihood<R: Real>(
        &self,
        head: &mut Head<R>,
        groups: &[Group<R>],
        inputs: &[R],
    ) -> f64 {
        self.forward(head, groups, inputs).expect(FITS)
    }

    fn forward<R: Real>(&self, head: &mut Head<R>, groups: &[Group<R>], inputs: &[R]) -> Result<f64> {
        self.arrange(&head.theta, &mut head.weights)?;
        let [n, m, p] = self.sizes;
        let [start, first_output] = self.start_ranges();
        let mut state = Panels::from_rows(&head.theta[start], 1, n)?;
        let mut last_output = head.theta[first_output].to_vec();
        head.windows.resize_with(groups.len(), Window::default);
        let (mut total, mut from) = (0.0, 0);
        for (group, window) in groups.iter().zip(&mut head.windows) {
            let n_time = group.n_time;
            window.inputs = Panels::from_rows(&inputs[from * m..(from + n_time) * m], n_time, m)?;
            from += n_time;
            let (weights, u) = (&head.weights, window.inputs.view());
            let states = match self.cell {
                Cell::Tanh(rnn) => {
                    rnn.forward(&weights.tanh, u, &state, &mut window.tanh)?;
                    state = rnn.end(&window.tanh);
                    rnn.outputs(&window.tanh)
                }
                Cell::Gated(gru) => {
                    gru.forward(&weights.gated, u, &state, &mut window.gated)?;
                    state = gru.end(&window.gated);
                    gru.outputs(&window.gated)
                }
            };
            let none = Panels::zeros(1, 0);
            self.emission.forward(&weights.emission, states, &none, &mut window.emission)?;
            window.outputs = self.emission.outputs(&window.emission).to_rows();
            if let Some(feedthrough) = &self.feedthrough {
                feedthrough.forward(&weights.feedthrough, u, &none, &mut window.feedthrough)?;
                let driven = feedthrough.outputs(&window.feedthrough).to_rows();
                window.outputs.iter_mut().zip(driven).for_each(|(y, d)| *y += d);
            }
            if self.is_residual {
                for y in window.outputs.chunks_exact_mut(p) {
                    y.iter_mut().zip(&last_output).for_each(|(y, &before)| *y += before);
                    last_output.copy_from_slice(y);
                }
            }
            let mut density = [0.0];
            self.noise.log_density(&head.theta, &window.outputs, group, &mut density);
            total += density[0];
        }
        Ok(total)
    }

    fn arrange<R: Real>(&self, theta: &[R], weights: &mut Weights<R>) -> Result<()> {
        let [n, m, _] = self.sizes;
        match self.cell {
            Cell::Tanh(rnn) => rnn.arrange(&theta[..n * (n + m + 1)], &mut weights.tanh)?,
            Cell::Gated(gru) => {
                let (shared, c) = theta[..3 * n * (n + m + 1) + n].split_at(3 * n * (n + m + 1));
                let all = [shared, &vec![R::default(); 2 * n], c].concat();
                gru.arrange(&all, &mut weights.gated)?;
            }
        }
        let [c, d, offset] = self.emission_ranges();
        self.emission.arrange(&[&theta[c], &theta[offset]].concat(), &mut weights.emission)?;
        match &self.feedthrough {
            Some(feedthrough) => feedthrough.arrange(&theta[d], &mut weights.feedthrough),
            None => Ok(()),
        }
    }

    /// Overwrites the gradients with those of `weight` · log p, after [`HeadForm::log_likelihood`] of the same sequence.
    pub(super) fn pull<R: Real>(&self, head: &mut Head<R>, groups: &[Group<R>], weight: R) {
        self.adjoint(head, groups, weight).expect(FITS);
    }

    fn adjoint<R: Real>(&self, head: &mut Head<R>, groups: &[Group<R>], weight: R) -> Result<()> {
        let [n, m, p] = self.sizes;
        let n_cell = match self.cell {
            Cell::Tanh(rnn) => rnn.n_parameters(),
            Cell::Gated(gru) => gru.n_parameters(),
        };
        let Head { theta, d_theta, d_inputs, weights, windows } = head;
        d_theta.clear();
        d_theta.resize(theta.len(), R::default());
        d_inputs.clear();
        let (mut d_cell, mut d_emission) = (vec![R::default(); n_cell], vec![R::default(); p * (n + 1)]);
        let [_, feedthrough_range, _] = self.emission_ranges();
        let [start_range, output_range] = self.start_ranges();
        for (w, (group, window)) in groups.iter().zip(windows).enumerate() {
            let mut d_outputs = vec![R::default(); group.n_time * p];
            let pulls = [weight];
            let gradients = (&mut d_outputs[..], &mut d_theta[..]);
            self.noise.pull(theta, &window.outputs, group, Pull::Dense(&pulls), gradients);
            if self.is_residual {
                add_up_backwards(&mut d_outputs, p);
                if w == 0 && group.n_time > 0 {
                    d_theta[output_range.clone()].copy_from_slice(&d_outputs[..p]);
                }
            }
            let d_outputs = Panels::from_rows(&d_outputs, group.n_time, p)?;
            let u = window.inputs.view();
            let (mut d_states, mut none) = (Panels::default(), Panels::default());
            let states = match self.cell {
                Cell::Tanh(rnn) => rnn.outputs(&window.tanh),
                Cell::Gated(gru) => gru.outputs(&window.gated),
            };
            let mut own =
                Gradient { parameters: &mut d_emission, inputs: Some(&mut d_states), start: &mut none };
            let tape = &mut window.emission;
            self.emission.adjoint(&weights.emission, states, d_outputs.view(), tape, &mut own)?;
            let (mut d_u, mut d_start) = (Panels::default(), Panels::default());
            let mut own = Gradient { parameters: &mut d_cell, inputs: Some(&mut d_u), start: &mut d_start };
            match self.cell {
                Cell::Tanh(rnn) => {
                    rnn.adjoint(&weights.tanh, u, d_states.view(), &mut window.tanh, &mut own)?;
                }
                Cell::Gated(gru) => {
                    gru.adjoint(&weights.gated, u, d_states.view(), &mut window.gated, &mut own)?;
                }
            }
            if w == 0 {
                d_theta[start_range.clone()].copy_from_slice(&d_start.to_rows());
            }
            let at = d_inputs.len();
            d_inputs.extend(d_u.to_rows());
            if let Some(feedthrough) = &self.feedthrough {
                let parameters = &mut d_theta[feedthrough_range.clone()];
                let mut own = Gradient { parameters, inputs: Some(&mut d_u), start: &mut none };
                let tape = &mut window.feedthrough;
                feedthrough.adjoint(&weights.feedthrough, u, d_outputs.view(), tape, &mut own)?;
                d_inputs[at..].iter_mut().zip(d_u.to_rows()).for_each(|(d, more)| *d += more);
            }
        }
        self.put(&d_cell, &d_emission, d_theta);
        debug_assert_eq!(d_inputs.len(), groups.iter().map(|group| group.n_time * m).sum::<usize>());
        Ok(())
    }

    /// Gradients of the layers to their places in θ.
    fn put<R: Real>(&self, d_cell: &[R], d_emission: &[R], d_theta: &mut [R]) {
        let [n, m, p] = self.sizes;
        let shared = match self.cell {
            Cell::Tanh(_) => d_cell.len(),
            Cell::Gated(_) => 3 * n * (n + m + 1),
        };
        d_theta[..shared].copy_from_slice(&d_cell[..shared]);
        if self.is_gated() {
            // The state biases of two gates are always zero: their input biases are the same thing.
            d_theta[shared..shared + n].copy_from_slice(&d_cell[shared + 2 * n..]);
        }
        let [c, _, offset] = self.emission_ranges();
        d_theta[c].copy_from_slice(&d_emission[..p * n]);
        d_theta[offset].copy_from_slice(&d_emission[p * n..]);
    }
}

/// d ← Σ of d from its step on, for outputs that are added up.
fn add_up_backwards<R: Real>(d_outputs: &mut [R], p: usize) {
    for at in (0..d_outputs.len().saturating_sub(p)).rev() {
        d_outputs[at] += d_outputs[at + p];
    }
}
