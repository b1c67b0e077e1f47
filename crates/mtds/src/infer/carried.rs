//! The state carried forward with an assumed density: what is left of a past that is no longer stored.
//!
//! ```text
//! q(z) = Σ_j α_j N(μ_j, Σ_j)            x(z) ≈ Σ_j r_j(z) (m_j + G_j (z − c_j))
//! ```
//! A deterministic state is a function of the code. Beyond the stored history that function is replaced by
//! one linear map per mixture component, fitted to the posterior draws; r_j are the responsibilities.
//! Compare assumed density filtering (Opper 1998), which keeps the density of z alone.

use serde::{Deserialize, Serialize};

use super::{GaussianMixture, Points};
use crate::algebra::{dot, invert_spd};
use crate::{Error, Result};

/// x as a function of the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarriedState {
    /// Over codes; its components say where each linear map holds.
    mixture: GaussianMixture,
    d_state: usize,
    maps: Vec<LinearMap>,
}

/// x ≈ value + slope (z − centre).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LinearMap {
    centre: Vec<f64>,
    value: Vec<f64>,
    /// d_state × d_code.
    slope: Vec<f64>,
}

impl CarriedState {
    /// Fits the maps to weighted draws and the state of each (n_draws × d_state, row-major).
    ///
    /// `mixture` and draws are over u; its first `d_code` dimensions are the code.
    ///
    /// # Errors
    /// A mixture whose marginal is degenerate.
    pub fn fit(
        (draws, weights): (&Points, &[f64]),
        mixture: &GaussianMixture,
        d_code: usize,
        states: &[f64],
    ) -> Result<Self> {
        let dims: Vec<usize> = (0..d_code).collect();
        let mixture = mixture.marginal(&dims)?;
        let draws = code_part(draws, d_code);
        let n = draws.len();
        let d_state = states.len() / n.max(1);
        let mut responsibilities = responsibilities(&mixture, &draws);
        for row in responsibilities.chunks_exact_mut(n) {
            row.iter_mut().zip(weights).for_each(|(r, w)| *r *= w);
        }
        let weights = responsibilities.chunks_exact(n);
        let maps = weights.map(|weights| LinearMap::fit(&draws, weights, states, d_state)).collect();
        Ok(Self { mixture, d_state, maps })
    }

    /// Refuses maps that are not from codes of `d_code` dimensions to states of `d_state`, or not finite.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`].
    pub(super) fn check(&self, d_code: usize, d_state: usize) -> Result<()> {
        let sizes = |map: &LinearMap| (map.centre.len(), map.value.len(), map.slope.len());
        let fits = self.maps.iter().all(|map| sizes(map) == (d_code, d_state, d_state * d_code));
        if self.mixture.dim() != d_code
            || self.d_state != d_state
            || self.maps.len() != self.mixture.len()
            || !fits
        {
            let expected = format!("maps from {d_code} to {d_state} dimensions, one per component");
            return Err(Error::shape("carried state", expected, "others"));
        }
        let mut numbers =
            self.maps.iter().flat_map(|map| map.centre.iter().chain(&map.value).chain(&map.slope));
        match numbers.find(|value| !value.is_finite()) {
            Some(&value) => Err(Error::NotFinite { what: "carried state".into(), value, hint: "" }),
            None => Ok(()),
        }
    }

    /// The state of each point, n × d_state; dimensions beyond the code are ignored.
    #[must_use]
    pub fn states(&self, points: &Points) -> Vec<f64> {
        let codes = code_part(points, self.mixture.dim());
        let n = codes.len();
        if n == 0 {
            return vec![];
        }
        let responsibilities = responsibilities(&self.mixture, &codes);
        let mut states = vec![0.0; n * self.d_state];
        for (map, responsibilities) in self.maps.iter().zip(responsibilities.chunks_exact(n)) {
            for i in 0..n {
                let error: Vec<f64> =
                    map.centre.iter().enumerate().map(|(d, c)| codes.column(d)[i] - c).collect();
                let state = &mut states[i * self.d_state..(i + 1) * self.d_state];
                for (x, (value, slope)) in
                    state.iter_mut().zip(map.value.iter().zip(map.slope.chunks_exact(error.len())))
                {
                    *x += responsibilities[i] * (value + dot(slope, &error));
                }
            }
        }
        states
    }
}

fn code_part(points: &Points, d_code: usize) -> Points {
    let mut codes = Points::zeros(d_code, points.len());
    (0..d_code).for_each(|d| codes.column_mut(d).copy_from_slice(points.column(d)));
    codes
}

/// r_j(z_i), component-major.
fn responsibilities(mixture: &GaussianMixture, codes: &Points) -> Vec<f64> {
    let n = codes.len();
    let mut parts = vec![0.0; n * mixture.len()];
    mixture.component_log_densities(codes, &mut parts);
    for i in 0..n {
        let largest = (0..mixture.len()).fold(f64::NEG_INFINITY, |m, j| m.max(parts[j * n + i]));
        let total: f64 = (0..mixture.len()).map(|j| (parts[j * n + i] - largest).exp()).sum();
        for j in 0..mixture.len() {
            parts[j * n + i] = (parts[j * n + i] - largest).exp() / total;
        }
    }
    parts
}

impl LinearMap {
    /// Weighted least squares with a little shrinkage, which matters only where few draws are.
    fn fit(codes: &Points, weights: &[f64], states: &[f64], d_state: usize) -> Self {
        let (dim, n) = (codes.dim(), codes.len());
        let total = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let centre: Vec<f64> = (0..dim).map(|d| dot(codes.column(d), weights) / total).collect();
        let value: Vec<f64> = (0..d_state)
            .map(|x| (0..n).map(|i| weights[i] * states[i * d_state + x]).sum::<f64>() / total)
            .collect();
        let mut spread = vec![0.0; dim * dim];
        let mut cross = vec![0.0; d_state * dim];
        for i in 0..n {
            let w = weights[i] / total;
            for a in 0..dim {
                let error = codes.column(a)[i] - centre[a];
                for b in 0..dim {
                    spread[a * dim + b] += w * error * (codes.column(b)[i] - centre[b]);
                }
                for x in 0..d_state {
                    cross[x * dim + a] += w * error * (states[i * d_state + x] - value[x]);
                }
            }
        }
        let mean_variance = (0..dim).map(|a| spread[a * dim + a]).sum::<f64>() / dim as f64;
        (0..dim).for_each(|a| spread[a * dim + a] += 1e-9 * mean_variance + f64::MIN_POSITIVE.sqrt());
        let slope = match invert_spd(&spread, dim) {
            Some(inverse) => {
                let row =
                    |x: usize, b: usize| (0..dim).map(|a| cross[x * dim + a] * inverse[a * dim + b]).sum();
                (0..d_state * dim).map(|i| row(i / dim, i % dim)).collect()
            }
            None => vec![0.0; d_state * dim], // one distinct draw: the map is constant
        };
        Self { centre, value, slope }
    }
}
