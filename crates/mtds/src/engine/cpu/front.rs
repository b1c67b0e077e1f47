//! A pass of the front over sequences, and its adjoint.
//!
//! Sequences of unequal length are padded at their end; what the padding gives is cut off, and its gradient is zero.

use crate::Result;
use crate::base::emission::{Batch, Group};
use crate::engine::{OwnBatch, Trial};
use crate::front::{Front, FrontReading, FrontStart, InputSkip, Layers};
use crate::kernel::Panels;
use crate::layer::{DenseTape, DenseWeights, Gradient, GruTape, GruWeights, Layer};
use crate::system::System;

/// Why layers cannot fail: their sizes come from one front, and its parameters and sequences were checked.
const FITS: &str = "sizes of the front were checked";

/// What a pass leaves for its adjoint; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrontPass {
    /// What drives the base model: for each sequence n_time × d_out.
    pub features: Vec<Vec<f32>>,
    weights: (GruWeights<f32>, DenseWeights<f32>, DenseWeights<f32>),
    inputs: Panels<f32>,
    seeds: Panels<f32>,
    starts: Panels<f32>,
    /// The states one step before each; empty without a lag.
    earlier: Panels<f32>,
    tapes: (GruTape<f32>, DenseTape<f32>, DenseTape<f32>),
}

/// The parameters by part: gated network, bottleneck, start or encoder.
fn parts<'a>(front: &Front, layers: &Layers, parameters: &'a [f32]) -> [&'a [f32]; 3] {
    assert_eq!(parameters.len(), front.n_parameters(), "parameters of the front");
    let (gru, rest) = parameters.split_at(layers.gru.n_parameters());
    let (bottleneck, start) = rest.split_at(layers.bottleneck.n_parameters());
    [gru, bottleneck, start]
}

impl Front {
    /// Runs sequences from their beginning; `pass.features` has what comes out.
    pub(crate) fn run(&self, parameters: &[f32], readings: &[FrontReading<'_>], pass: &mut FrontPass) {
        self.forward(parameters, readings, None, pass).expect(FITS);
    }

    /// Runs one sequence on from a state, or from its beginning: features, n_time × d_out, and the last state.
    pub(crate) fn run_on(
        &self,
        parameters: &[f32],
        reading: FrontReading<'_>,
        state: Option<&[f32]>,
    ) -> (Vec<f32>, Vec<f32>) {
        let mut pass = FrontPass::default();
        self.forward(parameters, &[reading], state, &mut pass).expect(FITS);
        let end = match pass.features[0].is_empty() {
            true => pass.starts.to_rows(),
            false => self.layers().expect(FITS).gru.end(&pass.tapes.0).to_rows(),
        };
        (pass.features.remove(0), end)
    }

    fn forward(
        &self,
        parameters: &[f32],
        readings: &[FrontReading<'_>],
        state: Option<&[f32]>,
        pass: &mut FrontPass,
    ) -> Result<()> {
        let (layers, m, n_seq) = (self.layers()?, self.d_input, readings.len());
        let [gru, bottleneck, start] = parts(self, &layers, parameters);
        pass.starts = match state {
            Some(state) => Panels::from_rows(state, 1, self.d_hidden)?,
            None => self.starts(&layers, start, readings, pass)?,
        };
        let n_time = readings.iter().map(|r| r.inputs.len() / m).max().unwrap_or(0);
        pass.features = vec![vec![]; n_seq];
        if n_time == 0 {
            return Ok(());
        }
        pass.inputs = Panels::from_fn(n_time * n_seq, m, |row, c| {
            readings[row % n_seq].inputs.get(row / n_seq * m + c).copied().unwrap_or(0.0)
        });
        layers.gru.arrange(gru, &mut pass.weights.0)?;
        layers.bottleneck.arrange(bottleneck, &mut pass.weights.1)?;
        layers.gru.forward(&pass.weights.0, pass.inputs.view(), &pass.starts, &mut pass.tapes.0)?;
        let (mut states, none) = (layers.gru.outputs(&pass.tapes.0), Panels::zeros(n_seq, 0));
        if self.lag {
            pass.earlier = Panels::from_fn(n_time * n_seq, self.d_hidden, |row, c| match row < n_seq {
                true => pass.starts.view().get(row, c),
                false => states.get(row - n_seq, c),
            });
            states = pass.earlier.view();
        }
        layers.bottleneck.forward(&pass.weights.1, states, &none, &mut pass.tapes.1)?;
        let narrow = layers.bottleneck.outputs(&pass.tapes.1);
        for (i, features) in pass.features.iter_mut().enumerate() {
            let inputs = readings[i].inputs;
            for (t, u) in inputs.chunks_exact(m).enumerate() {
                features.extend((0..self.d_bottleneck).map(|c| narrow.get(t * n_seq + i, c)));
                features.extend(u.iter().filter(|_| self.skip == InputSkip::Inputs));
            }
        }
        Ok(())
    }

    /// h_0 of each sequence.
    fn starts(
        &self,
        layers: &Layers,
        start: &[f32],
        readings: &[FrontReading<'_>],
        pass: &mut FrontPass,
    ) -> Result<Panels<f32>> {
        let n_seq = readings.len();
        match (&layers.encoder, self.start) {
            (Some(encoder), _) => {
                let width = encoder.d_in();
                pass.seeds = Panels::from_fn(n_seq, width, |i, c| {
                    readings[i].seed.get(c).copied().unwrap_or(0.0) // a seed may be shorter: the rest is missing
                });
                encoder.arrange(start, &mut pass.weights.2)?;
                let none = Panels::zeros(n_seq, 0);
                encoder.forward(&pass.weights.2, pass.seeds.view(), &none, &mut pass.tapes.2)?;
                let raw = encoder.outputs(&pass.tapes.2);
                Ok(Panels::from_fn(n_seq, self.d_hidden, |i, c| raw.get(i, c).tanh()))
            }
            (None, FrontStart::Learned) => Ok(Panels::from_fn(n_seq, self.d_hidden, |_, c| start[c])),
            (None, _) => Ok(Panels::zeros(n_seq, self.d_hidden)),
        }
    }

    /// Adds to `gradient`, in the order of the parameters, what gradients with respect to the features of the last
    /// pass give; `d_features` has the shape of [`FrontPass::features`].
    pub(crate) fn adjoint(&self, d_features: &[Vec<f32>], pass: &mut FrontPass, gradient: &mut [f32]) {
        self.pull_back(d_features, pass, gradient).expect(FITS);
    }

    fn pull_back(&self, d_features: &[Vec<f32>], pass: &mut FrontPass, gradient: &mut [f32]) -> Result<()> {
        let (layers, n_seq, width) = (self.layers()?, d_features.len(), self.d_out());
        if pass.features.iter().all(Vec::is_empty) {
            return Ok(());
        }
        let (d_gru, rest) = gradient.split_at_mut(layers.gru.n_parameters());
        let (d_bottleneck, d_start) = rest.split_at_mut(layers.bottleneck.n_parameters());
        let d_narrow = Panels::from_fn(pass.inputs.n_rows(), self.d_bottleneck, |row, c| {
            d_features[row % n_seq].get(row / n_seq * width + c).copied().unwrap_or(0.0)
        });
        let (mut d_states, mut d_starts) = (Panels::default(), Panels::default());
        let mut own =
            Gradient { parameters: d_bottleneck, inputs: Some(&mut d_states), start: &mut d_starts };
        let states = if self.lag { pass.earlier.view() } else { layers.gru.outputs(&pass.tapes.0) };
        layers.bottleneck.adjoint(&pass.weights.1, states, d_narrow.view(), &mut pass.tapes.1, &mut own)?;
        // What the first step hands on with a lag are the starts.
        let mut d_first = Panels::default();
        if self.lag {
            let (d_earlier, n_rows) = (std::mem::take(&mut d_states), pass.inputs.n_rows());
            let at = |row: usize, c| if row < n_rows { d_earlier.view().get(row, c) } else { 0.0 };
            d_states = Panels::from_fn(n_rows, self.d_hidden, |row, c| at(row + n_seq, c));
            d_first = Panels::from_fn(n_seq, self.d_hidden, at);
        }
        let mut own = Gradient { parameters: d_gru, inputs: None, start: &mut d_starts };
        let inputs = pass.inputs.view();
        layers.gru.adjoint(&pass.weights.0, inputs, d_states.view(), &mut pass.tapes.0, &mut own)?;
        if self.lag {
            let sum = |i, c| d_starts.view().get(i, c) + d_first.view().get(i, c);
            d_starts = Panels::from_fn(n_seq, self.d_hidden, sum);
        }
        self.start_adjoint(&layers, &d_starts, pass, d_start)
    }

    fn start_adjoint(
        &self,
        layers: &Layers,
        d_starts: &Panels<f32>,
        pass: &mut FrontPass,
        gradient: &mut [f32],
    ) -> Result<()> {
        let (n_seq, d) = (d_starts.n_rows(), d_starts.view());
        if let Some(encoder) = &layers.encoder {
            let starts = pass.starts.view();
            let d_raw = Panels::from_fn(n_seq, self.d_hidden, |i, c| {
                d.get(i, c) * (1.0 - starts.get(i, c) * starts.get(i, c))
            });
            let mut none = Panels::default();
            let mut own = Gradient { parameters: gradient, inputs: None, start: &mut none };
            let seeds = pass.seeds.view();
            encoder.adjoint(&pass.weights.2, seeds, d_raw.view(), &mut pass.tapes.2, &mut own)?;
        } else if self.start == FrontStart::Learned {
            for (c, sum) in gradient.iter_mut().enumerate() {
                *sum += (0..n_seq).map(|i| d.get(i, c)).sum::<f32>();
            }
        }
        Ok(())
    }
}

/// The front after a pass over the sequences of a batch; nothing without one.
#[derive(Debug)]
pub(super) struct Driven {
    pass: FrontPass,
}

impl Driven {
    /// Runs the front over the groups of a batch.
    pub(super) fn of_groups(trial: Trial<'_>, batch: &Batch<f32>) -> Option<Self> {
        let readings = batch.groups.iter().map(|g| FrontReading { inputs: &g.inputs, seed: &g.seed });
        Self::run(trial, &readings.collect::<Vec<_>>(), FrontPass::default())
    }

    /// Runs the front over whole sequences, however they are cut into windows, in the memory of another pass.
    pub(super) fn of_own(trial: Trial<'_>, batch: &OwnBatch, pass: FrontPass) -> Option<Self> {
        trial.system.spec().front?;
        let windows = || (0..batch.n_seq()).map(|i| batch.windows(i));
        let inputs: Vec<Vec<f32>> = windows().map(joined_inputs).collect();
        let readings = windows().zip(&inputs).map(|(windows, inputs)| {
            let seed = windows.first().map_or(&[][..], |first| &first.seed);
            FrontReading { inputs, seed }
        });
        Self::run(trial, &readings.collect::<Vec<_>>(), pass)
    }

    fn run(trial: Trial<'_>, readings: &[FrontReading<'_>], mut pass: FrontPass) -> Option<Self> {
        let front = trial.system.spec().front?;
        front.run(&trial.parameters[trial.system.front_range()], readings, &mut pass);
        Some(Self { pass })
    }

    /// What drives the base model in sequence, or group, `i`: n_time × d_input of the base model.
    pub(super) fn features(&self, i: usize) -> &[f32] {
        &self.pass.features[i]
    }

    /// Adds what gradients with respect to features give to that of the front's parameters; returns the memory.
    pub(super) fn pull(
        mut self,
        system: &System,
        d_features: &[Vec<f32>],
        gradient: &mut [f32],
    ) -> FrontPass {
        if let Some(front) = system.spec().front {
            front.adjoint(d_features, &mut self.pass, &mut gradient[system.front_range()]);
        }
        self.pass
    }

    /// The memory of the pass.
    pub(super) fn into_pass(self) -> FrontPass {
        self.pass
    }
}

/// The inputs of all windows.
fn joined_inputs(windows: &[Group<f32>]) -> Vec<f32> {
    windows.iter().flat_map(|window| &window.inputs).copied().collect()
}
