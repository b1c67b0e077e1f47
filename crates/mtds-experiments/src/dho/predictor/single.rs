//! The single-task linear system: inferred from what was seen of one sequence, and nothing else.
//!
//! ```text
//! y_{1:t}  →  the best of several climbs  →  NUTS over 19 raw parameters  →  forecast          anew for every t
//! ```

use mtds::baseline::SingleTask;
use mtds::infer::Nuts;
use mtds::random::stream;
use mtds::{Error, Forecast, Result, Signal};

use super::{check_outputs, impulse, stream_of};
use crate::dho::score::{Follower, Predictor};

/// The paper's single-task model of an oscillator, and the seed of its draws.
#[derive(Clone, Debug)]
pub struct Single {
    model: SingleTask,
    seed: u64,
}

struct SingleFollower<'a> {
    single: &'a Single,
    sequence: usize,
    outputs: Vec<f64>,
}

impl Single {
    /// Infers by the best of `restarts` climbs and this sampler, from streams of `seed` by sequence and number of
    /// observations.
    ///
    /// # Errors
    /// [`Error::Setting`] for no climbs, or settings of the sampler out of range.
    pub fn new(restarts: usize, sampler: Nuts, seed: u64) -> Result<Self> {
        sampler.validate()?;
        if restarts == 0 {
            return Err(Error::Setting {
                name: "restarts".into(),
                why: "found 0; expected 1 or more".into(),
            });
        }
        Ok(Self { model: SingleTask::oscillator().inference(restarts, sampler), seed })
    }
}

/// It has no evidence: chains give draws, but not what they are normalised by.
impl Predictor for Single {
    fn follow(&self, sequence: usize) -> Result<Box<dyn Follower + '_>> {
        Ok(Box::new(SingleFollower { single: self, sequence, outputs: vec![] }))
    }
}

impl Follower for SingleFollower<'_> {
    fn observe(&mut self, outputs: &[f64]) -> Result<()> {
        check_outputs(self.outputs.len(), outputs)?;
        self.outputs.extend_from_slice(outputs);
        Ok(())
    }

    fn forecast(&mut self, n_time: usize) -> Result<Forecast> {
        let (n_seen, Single { model, seed }) = (self.outputs.len(), self.single);
        let (outputs, inputs) = (Signal::column(self.outputs.clone()), impulse(0, n_seen + n_time));
        let mut random = stream(*seed, stream_of(self.sequence, n_seen));
        Ok(model.forecast(&outputs, Some(&inputs), n_time, &mut random)?.0)
    }
}
