//! What an online update starts from: the last posterior, the modes, and the prior.
//!
//! ```text
//! q⁰ ∝ 0.5 q_{t−τ} + 0.4 Σ_j α_j N(u*_j, Λ_j⁻¹) + 0.1 p(u)          u*_j: modes of p(u, y_{1:t})
//! ```
//! Differs from Algorithm 2 of Bird & Williams (2020), which starts from q_{t−τ} alone: early observations
//! may leave the posterior at a mode that later ones rule out, and its own draws cannot tell.

use super::code::CodeTarget;
use super::{AdaptiveImportance, GaussianMixture, MapLaplace, Posterior, map_laplace};
use crate::Result;
use crate::base::BaseModel;
use crate::random::Random;

/// Shares of the last posterior, the modes and the prior in the mixture that an update starts from.
const SHARES: [f64; 3] = [0.5, 0.4, 0.1];

/// Laplace approximations at the modes that climbs from the prior find.
pub(super) fn modes<B: BaseModel>(
    starts: usize,
    target: &CodeTarget<'_, B, f32>,
    prior: &GaussianMixture,
    random: &mut Random,
) -> Result<Posterior> {
    let settings = MapLaplace { starts, draws: 1, ..MapLaplace::default() };
    map_laplace(&settings, target, prior, random)
}

/// The mixture that an update starts from; `None` if there is only the prior.
///
/// Each part gives as many components as the sampler asks for, so that their number stays bounded.
pub(super) fn first_mixture(
    settings: &AdaptiveImportance,
    previous: Option<&GaussianMixture>,
    modes: Option<&GaussianMixture>,
    prior: &GaussianMixture,
) -> Result<Option<GaussianMixture>> {
    if previous.is_none() && modes.is_none() {
        return Ok(None);
    }
    let few = prior.len() <= settings.components;
    let prior = if few { prior.clone() } else { prior.collapsed()? };
    let mut parts = vec![];
    for (share, part) in SHARES.into_iter().zip([previous, modes, Some(&prior)]) {
        if let Some(part) = part {
            parts.push((share, heaviest(part, settings.components)?));
        }
    }
    let parts: Vec<(f64, &GaussianMixture)> = parts.iter().map(|(share, part)| (*share, part)).collect();
    GaussianMixture::average(&parts).map(Some)
}

/// The `n` heaviest components of a mixture.
fn heaviest(mixture: &GaussianMixture, n: usize) -> Result<GaussianMixture> {
    let mut order: Vec<usize> = (0..mixture.len()).collect();
    order.sort_by(|&i, &j| mixture.weights()[j].total_cmp(&mixture.weights()[i]));
    order.truncate(n);
    let total: f64 = order.iter().map(|&j| mixture.weights()[j]).sum();
    GaussianMixture::new(
        order.iter().map(|&j| mixture.weights()[j] / total).collect(),
        order.iter().map(|&j| mixture.component_mean(j).to_vec()).collect(),
        order.iter().map(|&j| mixture.component_covariance(j).to_vec()).collect(),
    )
}
