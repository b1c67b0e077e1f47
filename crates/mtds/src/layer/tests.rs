//! Every layer against a textbook twin, its adjoint against central differences, sizes, threads and errors.

use proptest::prelude::*;

use super::*;

/// Numbers in [−1, 1) that look random.
fn noise(n: usize, seed: usize) -> Vec<f64> {
    let hash = |i: usize| ((i + 1) as f64 * 12.9898 + seed as f64 * 78.233).sin() * 43_758.545;
    (0..n).map(|i| 2.0 * hash(i).rem_euclid(1.0) - 1.0).collect()
}

fn panels<R: Real>(values: &[f64], n_columns: usize) -> Panels<R> {
    let n_rows = values.len().checked_div(n_columns).unwrap_or(0);
    Panels::from_fn(n_rows, n_columns, |i, j| R::from_f64(values[i * n_columns + j]))
}

/// A layer with everything that a pass needs, in f64.
struct Problem<L> {
    layer: L,
    extent: Extent,
    parameters: Vec<f64>,
    inputs: Vec<f64>,
    start: Vec<f64>,
    /// The loss is Σ pull · output.
    pull: Vec<f64>,
}

struct Found {
    outputs: Vec<f64>,
    d_parameters: Vec<f64>,
    d_inputs: Vec<f64>,
    d_start: Vec<f64>,
}

impl<L: Layer> Problem<L> {
    fn new(layer: L, n_time: usize, n_seq: usize) -> Self {
        let extent = Extent { n_time, n_seq };
        let rows = extent.n_rows();
        let scale = 1.0 / ((layer.d_state() + layer.d_in()).max(1) as f64).sqrt();
        Self {
            parameters: noise(layer.n_parameters(), 1).iter().map(|p| p * scale).collect(),
            inputs: noise(rows * layer.d_in(), 2),
            start: noise(n_seq * layer.d_state(), 3),
            pull: noise(rows * layer.d_out(), 4),
            layer,
            extent,
        }
    }

    fn matrix<R: Real>(&self, values: &[f64], n_rows: usize, n_columns: usize) -> Panels<R> {
        if n_columns == 0 { Panels::zeros(n_rows, 0) } else { panels(values, n_columns) }
    }

    fn run<R: Real>(&self) -> Found {
        let (rows, layer) = (self.extent.n_rows(), &self.layer);
        let parameters: Vec<R> = self.parameters.iter().map(|&p| R::from_f64(p)).collect();
        let inputs = self.matrix(&self.inputs, rows, layer.d_in());
        let start = self.matrix(&self.start, self.extent.n_seq, layer.d_state());
        let pull = self.matrix(&self.pull, rows, layer.d_out());
        let (mut weights, mut tape) = Default::default();
        layer.arrange(&parameters, &mut weights).unwrap();
        layer.forward(&weights, inputs.view(), &start, &mut tape).unwrap();
        let outputs = layer.outputs(&tape).to_rows();
        let mut d_parameters = vec![R::default(); parameters.len()];
        let (mut d_inputs, mut d_start) = (Panels::default(), Panels::default());
        let mut gradient =
            Gradient { parameters: &mut d_parameters, inputs: Some(&mut d_inputs), start: &mut d_start };
        layer.adjoint(&weights, inputs.view(), pull.view(), &mut tape, &mut gradient).unwrap();
        let wide = |values: Vec<R>| values.into_iter().map(R::to_f64).collect::<Vec<_>>();
        Found {
            outputs: wide(outputs),
            d_inputs: wide(d_inputs.to_rows()),
            d_start: wide(d_start.to_rows()),
            d_parameters: wide(d_parameters),
        }
    }

    fn loss(&self) -> f64 {
        let (rows, layer) = (self.extent.n_rows(), &self.layer);
        let inputs = self.matrix(&self.inputs, rows, layer.d_in());
        let start = self.matrix(&self.start, self.extent.n_seq, layer.d_state());
        let (mut weights, mut tape) = Default::default();
        layer.arrange(&self.parameters, &mut weights).unwrap();
        layer.forward(&weights, inputs.view(), &start, &mut tape).unwrap();
        layer.outputs(&tape).to_rows().iter().zip(&self.pull).map(|(y, p)| y * p).sum()
    }

    /// Central difference of the loss in one number, reached through `place`.
    fn difference(&mut self, place: impl Fn(&mut Self) -> &mut f64) -> f64 {
        let (step, old) = (1e-5, *place(self));
        let mut at = |x: f64| {
            *place(self) = x;
            self.loss()
        };
        let slope = (at(old + step) - at(old - step)) / (2.0 * step);
        *place(self) = old;
        slope
    }

    /// Up to 40 numbers of each kind, spread evenly.
    fn check_adjoint(&mut self) {
        let found = self.run::<f64>();
        let scale = 1.0 + (self.extent.n_rows() * self.layer.d_out()) as f64;
        let close = |what: &str, i: usize, got: f64, want: f64| {
            assert!((got - want).abs() < 1e-9 * scale, "{what} {i}: {got} {want}");
        };
        let spread = |n: usize| (0..n).step_by(n.div_ceil(40).max(1)).collect::<Vec<_>>();
        for i in spread(self.parameters.len()) {
            close("parameter", i, found.d_parameters[i], self.difference(|p| &mut p.parameters[i]));
        }
        for i in spread(self.inputs.len()) {
            close("input", i, found.d_inputs[i], self.difference(|p| &mut p.inputs[i]));
        }
        for i in spread(self.start.len()) {
            close("start", i, found.d_start[i], self.difference(|p| &mut p.start[i]));
        }
    }
}

/// `W x` for row-major W.
fn times(w: &[f64], x: &[f64]) -> Vec<f64> {
    let n = if x.is_empty() { 0 } else { w.len() / x.len() };
    (0..n).map(|i| w[i * x.len()..(i + 1) * x.len()].iter().zip(x).map(|(w, x)| w * x).sum()).collect()
}

/// One step of each layer as a textbook writes it.
trait Textbook: Layer {
    fn plain_step(&self, parameters: &[f64], input: &[f64], state: &[f64]) -> Vec<f64>;
}

impl Textbook for Rnn {
    fn plain_step(&self, parameters: &[f64], input: &[f64], state: &[f64]) -> Vec<f64> {
        let (w, rest) = parameters.split_at(state.len() * state.len());
        let (v, b) = rest.split_at(state.len() * input.len());
        let (wx, vu) = (times(w, state), times(v, input));
        (0..state.len()).map(|i| (wx[i] + vu.get(i).unwrap_or(&0.0) + b[i]).tanh()).collect()
    }
}

impl Textbook for Gru {
    fn plain_step(&self, parameters: &[f64], input: &[f64], state: &[f64]) -> Vec<f64> {
        let n = state.len();
        let (v, rest) = parameters.split_at(3 * n * input.len());
        let (w, rest) = rest.split_at(3 * n * n);
        let (b, c) = rest.split_at(3 * n);
        let (vu, wh) = (times(v, input), times(w, state));
        let from_input = |i: usize| vu.get(i).unwrap_or(&0.0) + b[i];
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let unit = |i: usize| {
            let r = sigmoid(from_input(i) + wh[i] + c[i]);
            let z = sigmoid(from_input(n + i) + wh[n + i] + c[n + i]);
            let new = (from_input(2 * n + i) + r * (wh[2 * n + i] + c[2 * n + i])).tanh();
            (1.0 - z) * new + z * state[i]
        };
        (0..n).map(unit).collect()
    }
}

/// Outputs of a recurrent layer by its textbook step, row by row.
fn plain<L: Textbook>(problem: &Problem<L>) -> Vec<f64> {
    let (d_in, d, n_seq) = (problem.layer.d_in(), problem.layer.d_state(), problem.extent.n_seq);
    let mut states: Vec<Vec<f64>> = (0..n_seq).map(|i| problem.start[i * d..(i + 1) * d].to_vec()).collect();
    let mut outputs = vec![];
    for row in 0..problem.extent.n_rows() {
        let state = &mut states[row % n_seq];
        *state = problem.layer.plain_step(&problem.parameters, &problem.inputs[row * d_in..][..d_in], state);
        outputs.extend_from_slice(state);
    }
    outputs
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn recurrent_layers_equal_their_textbook_twins(
        d_in in 0usize..20, d in 1usize..40, n_time in 1usize..6, n_seq in 1usize..15,
    ) {
        let rnn = Problem::new(Rnn::new(d_in, d).unwrap(), n_time, n_seq);
        let gru = Problem::new(Gru::new(d_in, d).unwrap(), n_time, n_seq);
        for (want, double, single) in [
            (plain(&rnn), rnn.run::<f64>(), rnn.run::<f32>()),
            (plain(&gru), gru.run::<f64>(), gru.run::<f32>()),
        ] {
            prop_assert!(apart(&double.outputs, &want) < 1e-13 * (d + d_in) as f64);
            prop_assert!(apart(&single.outputs, &want) < 2e-6 * ((d + d_in) as f64).sqrt());
            let scale = 1e-5 * (n_time * n_seq * d) as f64;
            prop_assert!(apart(&single.d_parameters, &double.d_parameters) < scale);
            prop_assert!(apart(&single.d_inputs, &double.d_inputs) < scale);
            prop_assert!(apart(&single.d_start, &double.d_start) < scale);
        }
    }

    #[test]
    fn a_dense_layer_equals_its_textbook_twin(d_in in 1usize..40, d_out in 1usize..40, rows in 1usize..20) {
        for bias in [Bias::None, Bias::Learned] {
            let problem = Problem::new(Dense::new(d_in, d_out, bias).unwrap(), rows, 1);
            let (w, b) = problem.parameters.split_at(d_in * d_out);
            let plain = |u: &[f64]| {
                times(w, u).into_iter().enumerate().map(|(i, y)| y + b.get(i).unwrap_or(&0.0)).collect::<Vec<_>>()
            };
            let want: Vec<f64> = problem.inputs.chunks(d_in).flat_map(plain).collect();
            prop_assert!(apart(&problem.run::<f64>().outputs, &want) < 1e-13 * d_in as f64);
            prop_assert!(apart(&problem.run::<f32>().outputs, &want) < 2e-6 * (d_in as f64).sqrt());
        }
    }
}

#[test]
fn adjoints_equal_central_differences_at_several_sizes() {
    for (d_in, d, n_time, n_seq) in
        [(1, 1, 1, 1), (0, 3, 4, 2), (3, 5, 7, 2), (17, 16, 3, 1), (2, 33, 5, 7), (20, 50, 12, 3)]
    {
        Problem::new(Dense::new(d_in, d, Bias::Learned).unwrap(), n_time, n_seq).check_adjoint();
        Problem::new(Rnn::new(d_in, d).unwrap(), n_time, n_seq).check_adjoint();
        Problem::new(Gru::new(d_in, d).unwrap(), n_time, n_seq).check_adjoint();
    }
}

#[test]
fn a_sequence_does_not_notice_its_neighbours_nor_its_future() {
    let gru = Gru::new(3, 20).unwrap();
    let all = Problem::new(gru, 9, 4);
    let together = all.run::<f32>();
    for i in 0..4 {
        let mut alone = Problem::new(gru, 5, 1);
        alone.parameters = all.parameters.clone();
        alone.inputs = (0..5).flat_map(|t| all.inputs[(t * 4 + i) * 3..][..3].to_vec()).collect();
        alone.start = all.start[i * 20..(i + 1) * 20].to_vec();
        let want: Vec<f64> =
            (0..5).flat_map(|t| together.outputs[(t * 4 + i) * 20..][..20].to_vec()).collect();
        assert_eq!(alone.run::<f32>().outputs, want);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // Large enough that every product is shared out.
    let problem = Problem::new(Gru::new(40, 150).unwrap(), 20, 14);
    let rnn = Problem::new(Rnn::new(40, 150).unwrap(), 20, 14);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (problem.run::<f32>(), rnn.run::<f32>()))
    };
    let (one, many) = (on(1), on(3));
    for (a, b) in [(one.0, many.0), (one.1, many.1)] {
        assert_eq!((a.outputs, a.d_parameters), (b.outputs, b.d_parameters));
        assert_eq!((a.d_inputs, a.d_start), (b.d_inputs, b.d_start));
    }
}

#[test]
fn ten_thousand_steps_stay_finite() {
    let scaled = |mut problem: Problem<Gru>, by: f64| {
        problem.parameters.iter_mut().for_each(|p| *p *= by);
        problem.run::<f32>()
    };
    for by in [1.0, 8.0] {
        let found = scaled(Problem::new(Gru::new(2, 24).unwrap(), 10_000, 1), by);
        assert!(found.outputs.iter().all(|h| h.abs() <= 1.0 + 1e-5));
        // Gradients of a wild recurrence may grow; with usual weights they must not.
        assert!(by > 1.0 || found.d_parameters.iter().chain(&found.d_start).all(|d| d.is_finite()));
    }
    let found = Problem::new(Rnn::new(2, 24).unwrap(), 10_000, 1).run::<f32>();
    assert!(found.outputs.iter().all(|h| h.abs() <= 1.0) && found.d_parameters.iter().all(|d| d.is_finite()));
}

#[test]
fn a_continuation_starts_where_the_sequence_ended() {
    let layer = Gru::new(3, 18).unwrap();
    let problem = Problem::new(layer, 8, 2);
    let whole = problem.run::<f64>().outputs;
    let inputs: Panels<f64> = panels(&problem.inputs, 3);
    let (mut weights, mut tape) = Default::default();
    layer.arrange(&problem.parameters, &mut weights).unwrap();
    let mut state: Panels<f64> = panels(&problem.start, layer.d_state());
    let mut steps = vec![];
    for t in 0..8 {
        layer.forward(&weights, inputs.rows(2 * t, 2), &state, &mut tape).unwrap();
        steps.extend(layer.outputs(&tape).to_rows());
        state = layer.end(&tape);
    }
    assert_eq!(steps, whole);
}

#[test]
fn nan_comes_out_and_stays_in_its_sequence() {
    let mut problem = Problem::new(Gru::new(2, 17).unwrap(), 4, 3);
    problem.inputs[(3 + 1) * 2] = f64::NAN; // row 4: step 1 of sequence 1
    let outputs = problem.run::<f32>().outputs;
    for (row, output) in outputs.chunks(17).enumerate() {
        let spoiled = row / 3 >= 1 && row % 3 == 1;
        assert_eq!(output.iter().any(|h| h.is_nan()), spoiled, "row {row}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let gru = Gru::new(2, 3).unwrap();
    let (mut weights, mut tape) = Default::default();
    let parameters = vec![0.1f32; gru.n_parameters()];
    let message = |result: Result<()>| result.unwrap_err().to_string();
    assert!(message(gru.arrange(&parameters[1..], &mut weights)).contains("found 62"));
    let (inputs, start) = (Panels::zeros(6, 2), Panels::zeros(2, 3));
    let unarranged = gru.forward(&weights, inputs.view(), &start, &mut tape);
    assert!(message(unarranged).contains("arranged weights"));
    gru.arrange(&parameters, &mut weights).unwrap();
    let wrong = [
        (Panels::zeros(6, 1), Panels::zeros(2, 3), "columns of the inputs"),
        (Panels::zeros(6, 2), Panels::zeros(2, 4), "columns of the start"),
        (Panels::zeros(5, 2), Panels::zeros(2, 3), "multiple of the 2 sequences"),
        (Panels::zeros(0, 2), Panels::zeros(2, 3), "found 0"),
        (Panels::zeros(6, 2), Panels::zeros(0, 3), "rows of the inputs"),
    ];
    for (inputs, start, why) in wrong {
        let error = message(gru.forward(&weights, inputs.view(), &start, &mut tape));
        assert!(error.contains(why), "{error}");
    }
    let mut d = vec![0.0; parameters.len()];
    let mut d_start = Panels::default();
    let pull = Panels::zeros(6, 3);
    let mut gradient = Gradient { parameters: &mut d, inputs: None, start: &mut d_start };
    let early = gru.adjoint(&weights, inputs.view(), pull.view(), &mut tape, &mut gradient);
    assert!(message(early).contains("forward pass just before"));
    gru.forward(&weights, inputs.view(), &start, &mut tape).unwrap();
    gru.adjoint(&weights, inputs.view(), pull.view(), &mut tape, &mut gradient).unwrap();
    let twice = gru.adjoint(&weights, inputs.view(), pull.view(), &mut tape, &mut gradient);
    assert!(message(twice).contains("forward pass just before"));
    assert!(Gru::new(2, 0).is_err() && Rnn::new(2, 0).is_err() && Dense::new(2, 0, Bias::None).is_err());
}

#[test]
fn weights_and_tapes_can_be_used_again_for_other_sizes() {
    let (mut weights, mut tape) = Default::default();
    let mut run = |d: usize, n_time: usize| {
        let problem = Problem::new(Gru::new(3, d).unwrap(), n_time, 2);
        let inputs: Panels<f64> = panels(&problem.inputs, 3);
        problem.layer.arrange(&problem.parameters, &mut weights).unwrap();
        problem.layer.forward(&weights, inputs.view(), &panels(&problem.start, d), &mut tape).unwrap();
        assert!(apart(&problem.layer.outputs(&tape).to_rows(), &plain(&problem)) < 1e-12);
    };
    for (d, n_time) in [(20, 5), (18, 9), (33, 2), (18, 1)] {
        run(d, n_time);
    }
}
