//! Subspace identification of one linear system from a whole family.
//!
//! ```text
//! x_t = A x_{t−1} + B u_t        y_t = C x_t + D u_t + d + noise        x₀ = 0, or learned without inputs
//! h_0 = C B + D,   h_k = C Aᵏ B
//! ```
//! 1. Markov parameters h and d by least squares over all sequences (`markov`);
//! 2. A and C from the singular value decomposition of their Hankel matrix (`realise`);
//! 3. coordinates in which A = Σ Q, the form that [`Lds`] learns (`stable_form`);
//! 4. B (without inputs x₀, which stands in the same place: h_k = C Aᵏ x₀) by least squares of h on C Aᵏ.
//!
//! Van Overschee & De Moor (1996), *Subspace identification for linear systems*. Differs from the methods
//! there: the start of every sequence is known to be x₀ = 0, so responses can be estimated directly, from
//! ragged sequences with gaps; the state has no noise, so outputs are no guide to it beyond the inputs.

use serde::{Deserialize, Serialize};

use super::markov::Markov;
use super::realise::{Observable, fewest_lags};
use super::stable_form::StableForm;
use crate::algebra::Matrix;
use crate::base::{BaseModel, InputMap, Lds};
use crate::family::Family;
use crate::{Error, Result};

/// Unknowns per output, about, that the number of lags is chosen for.
const UNKNOWNS: usize = 128;
/// Lags for wide inputs, where that would leave too few.
const FEWEST_LAGS: usize = 16;
/// The largest entry of B (or x₀): well inside the range of tanh, where it is almost linear.
const LARGEST_INPUT: f64 = 0.5;
/// Directions of the state that the response shows by less than this share are left at 0.
const UNSEEN: f64 = 1e-9;

/// Whether inputs act on the outputs of the same step directly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedthrough {
    /// D = 0: through the state only (the paper's choice).
    #[default]
    Zero,
    /// D is estimated.
    Free,
}

/// Settings of the identification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Subspace {
    /// State size n, at least 1.
    pub d_state: usize,
    /// Whether D is estimated.
    pub feedthrough: Feedthrough,
    /// Steps of the response that are estimated; by default as many as the longest sequence has, up to 128
    /// unknowns per output.
    pub lags: Option<usize>,
    /// The penalty λ on the response, relative to the power of the inputs; above 0.
    pub ridge: f64,
}

impl Default for Subspace {
    fn default() -> Self {
        Self { d_state: 4, feedthrough: Feedthrough::Zero, lags: None, ridge: 1e-11 }
    }
}

/// A linear system in the stable form of [`Lds`]: its matrices, and the raw values that give them.
#[derive(Clone, Debug)]
pub struct LinearSystem {
    pub(crate) form: StableForm,
    pub(crate) transition: Matrix,
    pub(crate) input: Matrix,
    pub(crate) emission: Matrix,
    pub(crate) feedthrough: Matrix,
    pub(crate) offset: Vec<f64>,
    pub(crate) initial_state: Vec<f64>,
    pub(crate) hankel_values: Vec<f64>,
}

impl Subspace {
    /// Identifies one system for all sequences of a family, in the units of the family.
    ///
    /// # Errors
    /// [`Error::Setting`] for a state that the family is too short for or does not show, for an input that is
    /// always 0, and for settings out of range; [`Error::EmptyFamily`] for an output that is never observed.
    pub fn identify(&self, family: &Family) -> Result<LinearSystem> {
        self.check()?;
        let (p, m) = (family.d_obs(), family.d_input());
        let (driven, direct) = (m > 0, self.feedthrough == Feedthrough::Free);
        // From this lag on the response is that of the state alone: D is in h_0, and x₀ is a step old.
        let first = usize::from(direct || !driven);
        let markov = self.response(family, first)?;
        let observable = Observable::realise(&markov, self.d_state, first)?;
        let mut system = LinearSystem::from_observable(observable, &markov.offset);
        let start = system.start(&markov, first);
        if !driven {
            system.initial_state = start.values;
            return Ok(system.with_bounded_input());
        }
        system.feedthrough = match self.feedthrough {
            Feedthrough::Zero => Matrix::zeros(p, m),
            Feedthrough::Free => {
                let through_state = system.emission.times(&start);
                Matrix::from_fn(p, m, |i, j| markov.lags[0][(i, j)] - through_state[(i, j)])
            }
        };
        system.input = start;
        Ok(system.with_bounded_input())
    }

    /// Markov parameters, at least as many as the order needs. Without inputs those of x₀: h_k = C Aᵏ x₀.
    fn response(&self, family: &Family, first: usize) -> Result<Markov> {
        let (n, p, m) = (self.d_state, family.d_obs(), family.d_input());
        // The first output of a sequence without inputs is lag 1 of x₀; h_0 is never seen.
        let unseen = usize::from(m == 0);
        let fewest = fewest_lags(n, (p, m.max(1)), first) - unseen;
        let by_default = (UNKNOWNS / m.max(1)).max(FEWEST_LAGS).max(fewest);
        let n_lags = self.lags.unwrap_or(by_default).min(family.max_time());
        let mut markov = Markov::estimate(family, n_lags, self.ridge)?;
        if markov.lags.len() < fewest {
            let found = markov.lags.len();
            let why = format!(
                "found {n}, which needs the response over {fewest} steps; the sequences, their inputs and `lags` show {found}: choose a smaller state, or give longer sequences whose inputs act earlier"
            );
            return Err(Error::setting("d_state", why));
        }
        if unseen > 0 {
            markov.lags.insert(0, Matrix::zeros(p, 1));
        }
        Ok(markov)
    }

    fn check(&self) -> Result<()> {
        if self.d_state == 0 {
            return Err(Error::setting("d_state", "found 0; a linear system needs at least 1"));
        }
        if self.lags == Some(0) {
            return Err(Error::setting("lags", "found 0; expected at least 1"));
        }
        if !(self.ridge.is_finite() && self.ridge > 0.0) {
            return Err(Error::setting("ridge", format!("found {}; expected a number above 0", self.ridge)));
        }
        Ok(())
    }
}

impl LinearSystem {
    fn from_observable(observable: Observable, offset: &[f64]) -> Self {
        let Observable { transition, emission, hankel_values } = observable;
        let form = StableForm::of(&transition);
        let (n, p) = (transition.rows, emission.rows);
        Self {
            transition: form.basis.transposed().times(&transition).times(&form.basis),
            emission: emission.times(&form.basis),
            input: Matrix::zeros(n, 0),
            feedthrough: Matrix::zeros(p, 0),
            offset: offset.to_vec(),
            initial_state: vec![0.0; n],
            form,
            hankel_values,
        }
    }

    /// The B, n × m, whose response C Aᵏ B from lag `first` on comes closest.
    fn start(&self, markov: &Markov, first: usize) -> Matrix {
        let (p, n, m) = (self.emission.rows, self.transition.rows, markov.lags[0].cols);
        let mut row = self.emission.clone();
        let (mut design, mut right) = (vec![], vec![]);
        for (k, h) in markov.lags.iter().enumerate() {
            if k >= first {
                design.extend_from_slice(&row.values);
                right.extend_from_slice(&h.values);
            }
            row = row.times(&self.transition);
        }
        let rows = (markov.lags.len() - first) * p;
        let design = Matrix { rows, cols: n, values: design };
        design.least_squares(&Matrix { rows, cols: m, values: right }, UNSEEN)
    }

    /// The same system with its state in units in which B and x₀ are at most 0.5.
    fn with_bounded_input(mut self) -> Self {
        let largest = self.initial_state.iter().fold(self.input.largest(), |most, x| most.max(x.abs()));
        if largest > 0.0 {
            let unit = LARGEST_INPUT / largest;
            self.input = self.input.scaled(unit);
            self.emission = self.emission.scaled(1.0 / unit);
            self.initial_state.iter_mut().for_each(|x| *x *= unit);
        }
        self
    }

    /// A, n × n, row-major; ‖A‖₂ < 1.
    #[must_use]
    pub fn transition(&self) -> &[f64] {
        &self.transition.values
    }

    /// B, n × m, row-major; empty without inputs.
    #[must_use]
    pub fn input(&self) -> &[f64] {
        &self.input.values
    }

    /// C, p × n, row-major.
    #[must_use]
    pub fn emission(&self) -> &[f64] {
        &self.emission.values
    }

    /// D, p × m, row-major.
    #[must_use]
    pub fn feedthrough(&self) -> &[f64] {
        &self.feedthrough.values
    }

    /// d, p.
    #[must_use]
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// x₀, n; 0 with inputs.
    #[must_use]
    pub fn initial_state(&self) -> &[f64] {
        &self.initial_state
    }

    /// The singular values of the Hankel matrix, largest first: where they drop is the order of the system.
    #[must_use]
    pub fn hankel_values(&self) -> &[f64] {
        &self.hankel_values
    }

    /// The response at lag `k`, p × m, row-major: D + C B for 0, else C Aᵏ B.
    #[must_use]
    pub fn markov_parameter(&self, k: usize) -> Vec<f64> {
        let mut state = self.input.clone();
        (0..k).for_each(|_| state = self.transition.times(&state));
        let mut response = self.emission.times(&state).values;
        if k == 0 {
            response.iter_mut().zip(&self.feedthrough.values).for_each(|(h, d)| *h += d);
        }
        response
    }

    /// The base model that has this system, B bounded by tanh.
    #[must_use]
    pub fn base(&self) -> Lds {
        let (n, p, m) = (self.transition.rows, self.emission.rows, self.input.cols);
        Lds { input_map: InputMap::Tanh, ..Lds::new(n, p, m) }
    }

    /// The raw values of a block of θ; zeros for blocks that identification says nothing about.
    pub(crate) fn block(&self, name: &str, len: usize) -> Vec<f64> {
        match name {
            "decay" => self.form.decay.clone(),
            "rotation" => self.form.rotation.clone(),
            "input" => self.input.values.iter().map(|b| b.atanh()).collect(),
            "emission" => self.emission.values.clone(),
            "feedthrough" => self.feedthrough.values.clone(),
            "offset" => self.offset.clone(),
            "initial_state" => self.initial_state.clone(),
            _ => vec![0.0; len],
        }
    }

    /// θ of [`LinearSystem::base`], noise of deviation 1.
    #[must_use]
    pub fn raw_parameters(&self) -> Vec<f64> {
        self.base().blocks().iter().flat_map(|block| self.block(block.name, block.len)).collect()
    }
}

#[cfg(test)]
#[path = "subspace_tests.rs"]
mod tests;
