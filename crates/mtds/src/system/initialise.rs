//! Parameters at the start of learning.
//!
//! ```text
//! first layer    W ~ N(0, 0.3²),  b ~ N(0, 0.5²)          spreads the units over the prior's support
//! later layers   W ~ N(0, 1 / n_in),  b ~ N(0, 0.1²)
//! last layer     W ~ N(0, gain² / n_in),  b ~ N(mean, spread²) of each block
//! shared blocks  N(mean, spread²) of the block
//! front          uniform within 1 / √n_in
//! ```
//! The scales are those that a search on the oscillator family settled on.

use rand_distr::{Distribution, StandardNormal};

use super::{Architecture, System};
use crate::Result;
use crate::family::Scaling;
use crate::generator::Role;
use crate::random::Random;

impl System {
    /// A model with random parameters.
    ///
    /// # Errors
    /// As [`System::new`].
    pub fn initialise(spec: Architecture, scaling: Scaling, random: &mut Random) -> Result<Self> {
        let layout = spec.layout()?;
        let network = &spec.network;
        let mut parameters = vec![0.0f32; network.n_parameters() + layout.d_shared()];
        let mut fill = |range: std::ops::Range<usize>, mean: f64, spread: f64| {
            for x in &mut parameters[range] {
                let e: f64 = StandardNormal.sample(random);
                *x = (mean + spread * e) as f32;
            }
        };
        let n_layers = network.hidden.len() + 1;
        let tensors = network.tensors();
        for l in 0..n_layers {
            let (weight, bias) = (&tensors[2 * l], &tensors[2 * l + 1]);
            let n_in = weight.shape[1];
            let scale = if l == 0 { 0.3 } else { 1.0 / (n_in as f64).sqrt() };
            if l + 1 < n_layers {
                fill(weight.range(), 0.0, scale);
                fill(bias.range(), 0.0, if l == 0 { 0.5 } else { 0.1 });
                continue;
            }
            for block in layout.blocks().iter().filter(|b| b.role == Role::Adapted) {
                let (w, b) = (weight.start, bias.start);
                let slots = block.slots();
                fill(w + slots.start * n_in..w + slots.end * n_in, 0.0, scale * block.spec.gain);
                fill(b + slots.start..b + slots.end, block.spec.mean, block.spec.spread);
            }
        }
        if let Some(skip) = tensors.get(2 * n_layers) {
            fill(skip.range(), 0.0, 0.1);
        }
        let shared = network.n_parameters();
        for block in layout.blocks().iter().filter(|b| b.role == Role::Shared) {
            let slots = block.slots();
            fill(shared + slots.start..shared + slots.end, block.spec.mean, block.spec.spread);
        }
        if let Some(front) = spec.front {
            parameters.extend(front.first(random));
        }
        Self::new(spec, scaling, parameters)
    }
}
