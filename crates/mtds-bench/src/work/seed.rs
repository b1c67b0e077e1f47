//! What 64 frames say of a code under the paper's mocap model, as `mtds infer` finds it out for a motion.
//!
//! ```text
//! y = outputs of the model for a code + noise      →  p(z | y) by MAP with Laplace, or by adaptive importance sampling
//! ```
//! Sequences take turns; each has a code of its own.

use std::time::Instant;

use mtds::parts::{Front, Recipe, Rnn};
use mtds::random::stream;
use mtds::{Architecture, DataColumns, Fit, Method, Model, Provenance, Scaling, Signal, System, Wishes};

use super::Work;
use crate::error::{Error, Result};
use crate::inputs::h32;
use crate::w1_inputs::{D_BOTTLENECK, D_CODE, D_IN, D_OUT, D_STATE, N_TIME, W1Inputs, W1Size};

/// By MAP with Laplace's approximation, and by adaptive importance sampling.
pub const NAMES: [&str; 2] = ["seed-map", "seed-importance"];
const METHODS: [Method; 2] = [Method::MapLaplace, Method::AdaptiveImportance];
/// Draws asked for.
const DRAWS: usize = 512;
/// Sequences that take turns.
const SEQUENCES: usize = 10;
/// log s of the outputs, and the part by which a value counts: outputs of a body hang together.
const LOG_NOISE: f64 = -1.2;
const TEMPERATURE: f64 = 1.0 / 16.0;

/// Weights of the generator, times those before learning.
const LEARNED: f32 = 4.0;

/// A sequence, and the code that it was made with.
struct Seed {
    code: Vec<f64>,
    outputs: Signal,
    inputs: Signal,
}

/// Inference of codes by one method.
pub struct Seeds {
    which: usize,
    size: W1Size,
    /// Made when first used.
    prepared: Option<(Model, Vec<Seed>)>,
    next: usize,
}

impl Seeds {
    /// By the method of a name, at a size.
    pub fn new(which: usize, size: W1Size) -> Self {
        Self { which, size, prepared: None, next: 0 }
    }

    fn posterior_mean(&mut self) -> mtds::Result<(Vec<f64>, Vec<f64>, f64)> {
        let (model, seeds) = match &mut self.prepared {
            Some(prepared) => &*prepared,
            none => &*none.insert(prepare(self.size)?),
        };
        let i = self.next;
        self.next += 1;
        let Seed { code, outputs, inputs } = &seeds[i % seeds.len()];
        let clock = Instant::now();
        let found = model.infer((outputs, Some(inputs)), METHODS[self.which], DRAWS, stream(7, i as u64))?;
        let took = clock.elapsed().as_secs_f64() * 1e3;
        Ok((found.posterior.mean()[..D_CODE].to_vec(), code.clone(), took))
    }
}

/// The model with the settings that a fit of a motion has, and sequences of it.
fn prepare(size: W1Size) -> mtds::Result<(Model, Vec<Seed>)> {
    let front = Front { unscored: 4, ..Front::new(D_IN, size.hidden, D_BOTTLENECK) };
    let spec = Architecture::new(Rnn::new(D_STATE, D_OUT, D_BOTTLENECK), D_CODE)
        .share("bias")
        .fix("noise", LOG_NOISE)
        .tempered(TEMPERATURE)
        .behind(front);
    let mut i = W1Inputs::new(W1Size { batch: SEQUENCES, ..size });
    // As after learning: a code tells its sequence from others.
    i.generator.iter_mut().for_each(|w| *w *= LEARNED);
    let parameters =
        [&i.generator[..], &i.generator_bias, &i.state_bias, &i.wih, &i.whh, &i.bih, &i.bhh, &i.bottleneck];
    let system = System::new(spec, Scaling::identity(D_OUT, D_IN), parameters.concat())?;
    let seeds = (0..SEQUENCES).map(|at| {
        let code: Vec<f64> = i.codes[at * D_CODE..][..D_CODE].iter().map(|&z| f64::from(z)).collect();
        let row = |t: usize| &i.inputs[(t * SEQUENCES + at) * D_IN..][..D_IN];
        let inputs = Signal::new(N_TIME, D_IN, (0..N_TIME).flat_map(row).map(|&u| f64::from(u)).collect())?;
        let noise = h32(N_TIME * D_OUT, 900 + at as u64, LOG_NOISE.exp() * 3f64.sqrt()); // as wide as a normal one of this s
        let clean = system.generate(&code, Some(&inputs), N_TIME)?;
        let outputs = clean.values().iter().zip(noise).map(|(y, e)| y + f64::from(e)).collect();
        Ok(Seed { code, outputs: Signal::new(N_TIME, D_OUT, outputs)?, inputs })
    });
    let seeds = seeds.collect::<mtds::Result<Vec<_>>>()?;
    let names = |c: char, n: usize| (0..n).map(|d| format!("{c}{d}")).collect();
    let columns = DataColumns::named(names('y', D_OUT), names('u', D_IN));
    let few = W1Size { batch: 4, ..size };
    let family = super::w1::family(few, &W1Inputs::new(few), 1)?;
    let mut model = Model::by_hand(system, columns, Provenance::new(0, &family));
    let wishes = Wishes { recipe: Some(Recipe::MotionLarge), ..Wishes::default() };
    model.online = Fit { wishes, ..Fit::default() }.begin(&family)?.choices().online();
    Ok((model, seeds))
}

impl Work for Seeds {
    fn name(&self) -> &str {
        NAMES[self.which]
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn round(&mut self) -> Result<f64> {
        let took = self.posterior_mean();
        let (.., took) = took.map_err(|source| Error::Own { work: NAMES[self.which].into(), source })?;
        Ok(took)
    }

    fn check(&mut self) -> Result<Option<crate::check::Check>> {
        Ok(None) // no peer does this work
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_that_sequences_were_made_with() {
        for which in 0..NAMES.len() {
            let mut seeds = Seeds::new(which, W1Size { hidden: 32, batch: 1 });
            let mut square = 0.0; // codes deviate by 0.58
            for _ in 0..3 {
                let (mean, code, _) = seeds.posterior_mean().unwrap();
                square += mean.iter().zip(&code).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 21.0;
            }
            assert!(square.sqrt() < 0.3, "{}: {}", NAMES[which], square.sqrt());
        }
    }
}
