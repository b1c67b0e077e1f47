//! The paper's mocap model on the library's layers: shared gated layer, bottleneck, generated second layer.

use mtds::Result;
use mtds::kernel::Panels;
use mtds::layer::{
    Bias, Chain, Dense, DenseTape, DenseWeights, Gradient, Gru, GruTape, GruWeights, Layer, PerSequence, Rnn,
};

use crate::w1_inputs::{D_BOTTLENECK, D_CODE, D_IN, D_OUT, D_STATE, N_GENERATED, N_TIME, W1Inputs, W1Size};

type Head = PerSequence<Chain<Rnn, Dense>>;

/// Where the fixed bias stands among the generated numbers: after A and B.
const BIAS_AT: usize = D_STATE * (D_STATE + D_BOTTLENECK);

/// The model, its fixed inputs, and the memory that its passes use again and again.
pub struct Mocap {
    pub size: W1Size,
    gru: Gru,
    bottleneck: Dense,
    generator: Dense,
    head: Head,
    state_bias: Vec<f32>,
    inputs: Panels<f32>,
    outputs: Panels<f32>,
    weights: Weights,
    tapes: Tapes,
}

#[derive(Default)]
struct Weights {
    gru: GruWeights<f32>,
    bottleneck: DenseWeights<f32>,
    generator: DenseWeights<f32>,
    head: <Head as Layer>::Weights<f32>,
}

#[derive(Default)]
struct Tapes {
    gru: GruTape<f32>,
    bottleneck: DenseTape<f32>,
    generator: DenseTape<f32>,
    head: <Head as Layer>::Tape<f32>,
    d_states: Panels<f32>,
    d_driven: Panels<f32>,
}

/// Names and lengths of the parameters, in order.
pub fn blocks(size: W1Size) -> [(&'static str, usize); 8] {
    let h = size.hidden;
    [
        ("wih", 3 * h * D_IN),
        ("whh", 3 * h * h),
        ("bih", 3 * h),
        ("bhh", 3 * h),
        ("H", D_BOTTLENECK * h),
        ("Wz", N_GENERATED * D_CODE),
        ("bz", N_GENERATED),
        ("z", size.batch * D_CODE),
    ]
}

impl Mocap {
    /// The model, and its parameters at step 0.
    pub fn new(size: W1Size) -> Result<(Self, Vec<f32>)> {
        let W1Size { hidden, batch } = size;
        let i = W1Inputs::new(size);
        let head = Chain::new(Rnn::new(D_BOTTLENECK, D_STATE)?, Dense::new(D_STATE, D_OUT, Bias::Learned)?)?;
        let model = Self {
            size,
            gru: Gru::new(D_IN, hidden)?,
            bottleneck: Dense::new(hidden, D_BOTTLENECK, Bias::None)?,
            generator: Dense::new(D_CODE, N_GENERATED, Bias::Learned)?,
            head: PerSequence::new(head, batch)?,
            state_bias: i.state_bias,
            inputs: Panels::from_rows(&i.inputs, N_TIME * batch, D_IN)?,
            outputs: Panels::from_rows(&i.outputs, N_TIME * batch, D_OUT)?,
            weights: Weights::default(),
            tapes: Tapes::default(),
        };
        let gru = [&i.wih[..], &i.whh, &i.bih, &i.bhh].concat();
        let parameters = [&gru[..], &i.bottleneck, &i.generator, &i.generator_bias, &i.codes].concat();
        Ok((model, parameters))
    }

    /// The parameters of gated layer, bottleneck, generator, and the codes.
    fn parts<'a>(&self, parameters: &'a [f32]) -> [&'a [f32]; 4] {
        let (gru, rest) = parameters.split_at(self.gru.n_parameters());
        let (bottleneck, rest) = rest.split_at(self.bottleneck.n_parameters());
        let (generator, codes) = rest.split_at(self.generator.n_parameters());
        [gru, bottleneck, generator, codes]
    }

    /// Packs the weights and makes those of each sequence.
    pub fn arrange(&mut self, parameters: &[f32]) -> Result<Panels<f32>> {
        let [gru, bottleneck, generator, codes] = self.parts(parameters);
        let codes = Panels::from_rows(codes, self.size.batch, D_CODE)?;
        self.gru.arrange(gru, &mut self.weights.gru)?;
        self.bottleneck.arrange(bottleneck, &mut self.weights.bottleneck)?;
        self.generator.arrange(generator, &mut self.weights.generator)?;
        let none = Panels::zeros(self.size.batch, 0);
        self.generator.forward(&self.weights.generator, codes.view(), &none, &mut self.tapes.generator)?;
        let generated = self.generator.outputs(&self.tapes.generator).to_rows();
        let with_bias = |own: &[f32]| [&own[..BIAS_AT], &self.state_bias, &own[BIAS_AT..]].concat();
        let own: Vec<f32> = generated.chunks(N_GENERATED).flat_map(with_bias).collect();
        self.head.arrange(&own, &mut self.weights.head)?;
        Ok(codes)
    }

    /// Loss at the parameters; its gradient goes to `gradient`.
    pub fn step(&mut self, parameters: &[f32], gradient: &mut [f32]) -> Result<f64> {
        let codes = self.arrange(parameters)?;
        let batch = self.size.batch;
        let (w, t) = (&self.weights, &mut self.tapes);
        let start = Panels::zeros(batch, self.size.hidden);
        self.gru.forward(&w.gru, self.inputs.view(), &start, &mut t.gru)?;
        let none = Panels::zeros(batch, 0);
        self.bottleneck.forward(&w.bottleneck, self.gru.outputs(&t.gru), &none, &mut t.bottleneck)?;
        let driven = self.bottleneck.outputs(&t.bottleneck);
        self.head.forward(&w.head, driven, &Panels::zeros(batch, D_STATE), &mut t.head)?;
        let (loss, d_outputs) = squared_error(self.head.outputs(&t.head).to_panels(), &self.outputs);
        gradient.fill(0.0);
        self.pull(&codes, &d_outputs, gradient)?;
        Ok(loss)
    }

    fn pull(&mut self, codes: &Panels<f32>, d_outputs: &Panels<f32>, gradient: &mut [f32]) -> Result<()> {
        let (w, t) = (&self.weights, &mut self.tapes);
        let (d_gru, rest) = gradient.split_at_mut(self.gru.n_parameters());
        let (d_bottleneck, rest) = rest.split_at_mut(self.bottleneck.n_parameters());
        let (d_generator, d_codes) = rest.split_at_mut(self.generator.n_parameters());
        let mut start = Panels::default();
        let mut d_own = vec![0.0; self.head.n_parameters()];
        let mut g = Gradient { parameters: &mut d_own, inputs: Some(&mut t.d_driven), start: &mut start };
        let driven = self.bottleneck.outputs(&t.bottleneck);
        self.head.adjoint(&w.head, driven, d_outputs.view(), &mut t.head, &mut g)?;
        let generated: Vec<f32> = d_own
            .chunks(N_GENERATED + D_STATE)
            .flat_map(|own| [&own[..BIAS_AT], &own[BIAS_AT + D_STATE..]].concat())
            .collect();
        let generated = Panels::from_rows(&generated, self.size.batch, N_GENERATED)?;
        let mut d_code = Panels::default();
        let mut g = Gradient { parameters: d_generator, inputs: Some(&mut d_code), start: &mut start };
        self.generator.adjoint(&w.generator, codes.view(), generated.view(), &mut t.generator, &mut g)?;
        d_codes.copy_from_slice(&d_code.to_rows());
        let mut g = Gradient { parameters: d_bottleneck, inputs: Some(&mut t.d_states), start: &mut start };
        let states = self.gru.outputs(&t.gru);
        self.bottleneck.adjoint(&w.bottleneck, states, t.d_driven.view(), &mut t.bottleneck, &mut g)?;
        let mut g = Gradient { parameters: d_gru, inputs: None, start: &mut start };
        self.gru.adjoint(&w.gru, self.inputs.view(), t.d_states.view(), &mut t.gru, &mut g)
    }

    /// The predictions of the last step, row-major.
    #[cfg(test)]
    pub fn predicted(&self) -> Vec<f32> {
        self.head.outputs(&self.tapes.head).to_rows()
    }

    /// Generates frames one by one from arranged weights, as someone who steers would see them; the last frame.
    pub fn generate(&mut self, n_frames: usize) -> Result<Vec<f32>> {
        let (w, t, batch) = (&self.weights, &mut self.tapes, self.size.batch);
        let mut states = (Panels::zeros(batch, self.size.hidden), Panels::zeros(batch, D_STATE));
        let none = Panels::zeros(batch, 0);
        for frame in 0..n_frames {
            let input = self.inputs.rows(frame % N_TIME * batch, batch);
            self.gru.forward(&w.gru, input, &states.0, &mut t.gru)?;
            self.bottleneck.forward(&w.bottleneck, self.gru.outputs(&t.gru), &none, &mut t.bottleneck)?;
            let driven = self.bottleneck.outputs(&t.bottleneck);
            self.head.forward(&w.head, driven, &states.1, &mut t.head)?;
            states = (self.gru.end(&t.gru), self.head.end(&t.head));
        }
        Ok(self.head.outputs(&t.head).to_rows())
    }
}

/// Mean squared error and its gradient, in place of the predictions.
fn squared_error(mut predicted: Panels<f32>, outputs: &Panels<f32>) -> (f64, Panels<f32>) {
    let n = (predicted.n_rows() * predicted.n_columns()) as f64;
    let scale = (2.0 / n) as f32;
    let mut sum = 0.0;
    for (p, y) in predicted.values_mut().iter_mut().zip(outputs.values()) {
        for (p, y) in p.0.iter_mut().zip(y.0) {
            let error = *p - y;
            sum += f64::from(error * error);
            *p = scale * error;
        }
    }
    (sum / n, predicted)
}
