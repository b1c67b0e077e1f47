//! The generator h_φ: features of the code, dense layers, the adapted part of θ.
//!
//! ```text
//! f = features(z)      h_l = activation(W_l h_{l−1} + b_l)      adapted θ = W_L h_{L−1} + b_L [+ W_s z]
//! ```
//! Affine: no hidden layer. Low rank: a last hidden layer without activation. Skip: an affine path beside
//! the layers. All of φ lies in one flat vector, in the order of [`Network::tensors`].

use serde::{Deserialize, Serialize};

use super::features::FeatureMap;
use crate::kernel::dense::{self, Strided};
use crate::kernel::{Lanes, Outlined, Scalar};

/// Nonlinearity of a hidden layer; each derivative is a function of the layer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// No nonlinearity: with few units, a low-rank factor of the next layer.
    Identity,
    /// Hyperbolic tangent.
    Tanh,
    /// Logistic sigmoid.
    Sigmoid,
    /// max(0, x).
    Relu,
    /// ln(1 + e^x).
    Softplus,
}

impl Activation {
    #[inline(always)]
    fn apply<S: Scalar>(self, x: &mut [S]) {
        for v in x {
            *v = match self {
                Self::Identity => *v,
                Self::Tanh => v.tanh(),
                Self::Sigmoid => v.sigmoid(),
                Self::Relu => v.max(S::zero()),
                Self::Softplus => v.softplus(),
            };
        }
    }

    /// Multiplies `d` by the derivative, given the outputs `y`.
    #[inline(always)]
    fn pull_back<S: Lanes>(self, y: &[S], d: &mut [S]) {
        let zero = S::Real::default();
        for (d, &y) in d.iter_mut().zip(y) {
            *d = match self {
                Self::Identity => *d,
                Self::Tanh => *d * (-y).mul_add(y, S::one()),
                Self::Sigmoid => *d * (-y).mul_add(y, y),
                Self::Relu => S::from_fn(|i| if y.lane(i) > zero { d.lane(i) } else { zero }),
                Self::Softplus => *d * (S::one() - (-y).exp()),
            };
        }
    }
}

/// A hidden layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// Number of units.
    pub width: usize,
    /// Nonlinearity.
    pub activation: Activation,
}

/// The architecture of h_φ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Length k of the code.
    pub d_code: usize,
    /// The fixed first layer.
    pub features: FeatureMap,
    /// Hidden layers, input side first.
    pub hidden: Vec<Hidden>,
    /// Whether an affine path from the code to the output runs beside the layers.
    pub skip: Skip,
    /// Number of outputs: the adapted part of θ.
    pub d_out: usize,
}

/// A path beside the layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// None.
    #[default]
    None,
    /// `W_s z` is added to the output.
    Affine,
}

/// A tensor of φ in the flat vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name in the stored model, e.g. `generator.0.weight`.
    pub name: String,
    /// Rows and, for matrices, columns.
    pub shape: Vec<usize>,
    /// Where it starts in the flat vector.
    pub start: usize,
}

impl Tensor {
    /// Range in the flat vector.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.shape.iter().product::<usize>()
    }
}

/// What the forward passes of some packs leave for the adjoint.
#[derive(Clone, Debug)]
pub struct Tape<S> {
    /// Pack by pack: features, then each hidden layer's outputs.
    values: Vec<S>,
    /// Gradients with respect to the layers' inputs to the activation, same places.
    gradients: Vec<S>,
    /// Values per pack.
    width: usize,
}

impl Network {
    /// Widths of the layers, features first, output last.
    #[must_use]
    pub fn widths(&self) -> Vec<usize> {
        let first = self.features.len(self.d_code);
        let hidden = self.hidden.iter().map(|h| h.width);
        std::iter::once(first).chain(hidden).chain([self.d_out]).collect()
    }

    /// The tensors of φ in the order of the flat vector.
    #[must_use]
    pub fn tensors(&self) -> Vec<Tensor> {
        let (widths, mut start, mut tensors) = (self.widths(), 0, vec![]);
        let mut push = |name: String, shape: Vec<usize>| {
            let len: usize = shape.iter().product();
            tensors.push(Tensor { name, shape, start });
            start += len;
        };
        for (l, w) in widths.windows(2).enumerate() {
            push(format!("generator.{l}.weight"), vec![w[1], w[0]]);
            push(format!("generator.{l}.bias"), vec![w[1]]);
        }
        if self.skip == Skip::Affine {
            push("generator.skip.weight".into(), vec![self.d_out, self.d_code]);
        }
        tensors
    }

    /// Length of φ.
    #[must_use]
    pub fn n_parameters(&self) -> usize {
        let mut total = self.n_skip();
        let mut n_in = self.features.len(self.d_code);
        for width in self.hidden.iter().map(|h| h.width).chain([self.d_out]) {
            total += width * (n_in + 1);
            n_in = width;
        }
        total
    }

    /// Scratch for some packs.
    #[must_use]
    pub fn tape<S: Scalar>(&self, packs: usize) -> Tape<S> {
        let width = self.widths().iter().sum::<usize>() - self.d_out;
        Tape { values: vec![S::zero(); packs * width], gradients: vec![S::zero(); packs * width], width }
    }

    /// Adapted θ of one pack of codes; leaves its activations at place `pack` of the tape.
    ///
    /// # Shapes
    /// `phi`: [`Network::n_parameters`]; `code`: k; `out`: `d_out`.
    #[inline(always)]
    pub fn forward<S: Scalar>(&self, phi: &[S::Real], code: &[S], place: Place<'_, S>, out: &mut [S]) {
        S::outline::<Forward, _>((self, phi, code, place, out));
    }

    /// Gradients with respect to the hidden layers, left at place `pack` of the tape.
    ///
    /// What [`Network::weight_gradient`] and [`Network::pull_back_to_code`] need beforehand.
    #[inline(always)]
    pub fn pull_back<S: Lanes>(&self, phi: &[S::Real], place: Place<'_, S>, d_out: &[S]) {
        S::outline::<PullBack, _>((self, phi, place, d_out));
    }

    /// Gradient with respect to the code, after [`Network::pull_back`].
    #[inline(always)]
    pub fn pull_back_to_code<S: Lanes>(
        &self,
        phi: &[S::Real],
        place: Place<'_, S>,
        d_out: &[S],
        d_code: &mut [S],
    ) {
        S::outline::<PullBackToCode, _>((self, phi, place, d_out, d_code));
    }

    fn n_skip(&self) -> usize {
        if self.skip == Skip::Affine { self.d_out * self.d_code } else { 0 }
    }

    /// Adds the gradient of φ, summed over the packs of the tape, to `d_phi`.
    ///
    /// `d_out` and `codes` hold the packs one after the other.
    #[inline(always)]
    pub fn weight_gradient<S: Lanes>(&self, tape: &Tape<S>, d_out: &[S], codes: &[S], d_phi: &mut [S::Real]) {
        S::outline::<WeightGradient, _>((self, tape, d_out, codes, d_phi));
    }
}

/// A tape and a place on it.
type Place<'a, S> = (&'a mut Tape<S>, usize);

/// [`Network::forward`], outlined.
enum Forward {}

impl<'a, S: Scalar> Outlined<(&'a Network, &'a [S::Real], &'a [S], Place<'a, S>, &'a mut [S])> for Forward {
    type Output = ();

    #[inline(always)]
    fn run(
        (net, phi, code, (tape, pack), out): (&'a Network, &'a [S::Real], &'a [S], Place<'a, S>, &'a mut [S]),
    ) {
        let values = &mut tape.values[pack * tape.width..(pack + 1) * tape.width];
        let mut n_in = net.features.len(net.d_code);
        net.features.apply(code, &mut values[..n_in]);
        let (mut at, mut phi_at) = (0, 0);
        for hidden in &net.hidden {
            let (x, rest) = values[at..].split_at_mut(n_in);
            let (weights, bias) = layer(phi, phi_at, n_in, hidden.width);
            let y = &mut rest[..hidden.width];
            dense::affine(weights, bias, x, y);
            hidden.activation.apply(y);
            phi_at += hidden.width * (n_in + 1);
            at += n_in;
            n_in = hidden.width;
        }
        let (weights, bias) = layer(phi, phi_at, n_in, net.d_out);
        dense::affine(weights, bias, &values[at..at + n_in], out);
        if net.skip == Skip::Affine {
            let skip = &phi[phi_at + net.d_out * (n_in + 1)..];
            for (u, o) in out.iter_mut().enumerate() {
                for (j, &z) in code.iter().enumerate() {
                    *o = S::splat(skip[u * net.d_code + j]).mul_add(z, *o);
                }
            }
        }
    }
}

/// [`Network::pull_back`], outlined.
enum PullBack {}

impl<'a, S: Lanes> Outlined<(&'a Network, &'a [S::Real], Place<'a, S>, &'a [S])> for PullBack {
    type Output = ();

    #[inline(always)]
    fn run((net, phi, (tape, pack), d_out): (&'a Network, &'a [S::Real], Place<'a, S>, &'a [S])) {
        let places = pack * tape.width..(pack + 1) * tape.width;
        let (values, gradients) = (&tape.values[places.clone()], &mut tape.gradients[places]);
        let n_features = net.features.len(net.d_code);
        let mut at = values.len();
        let mut phi_end = net.n_parameters() - net.n_skip();
        let mut upper_width = net.d_out;
        for (l, hidden) in net.hidden.iter().enumerate().rev() {
            at -= hidden.width;
            phi_end -= upper_width * (hidden.width + 1);
            let weights = &phi[phi_end..phi_end + upper_width * hidden.width];
            let (lower, upper) = gradients[at..].split_at_mut(hidden.width);
            let d_upper = if l + 1 == net.hidden.len() { d_out } else { &upper[..upper_width] };
            dense::pull_back(weights, d_upper, lower);
            hidden.activation.pull_back(&values[at..at + hidden.width], lower);
            upper_width = hidden.width;
        }
        debug_assert_eq!(at, n_features);
    }
}

/// [`Network::pull_back_to_code`], outlined.
enum PullBackToCode {}

impl<'a, S: Lanes> Outlined<(&'a Network, &'a [S::Real], Place<'a, S>, &'a [S], &'a mut [S])>
    for PullBackToCode
{
    type Output = ();

    #[inline(always)]
    fn run(
        (net, phi, (tape, pack), d_out, d_code): (
            &'a Network,
            &'a [S::Real],
            Place<'a, S>,
            &'a [S],
            &'a mut [S],
        ),
    ) {
        let places = pack * tape.width..(pack + 1) * tape.width;
        let n_features = net.features.len(net.d_code);
        let (d_features, d_hidden) = tape.gradients[places.clone()].split_at_mut(n_features);
        let d_upper = net.hidden.first().map_or(d_out, |first| &d_hidden[..first.width]);
        dense::pull_back(&phi[..d_upper.len() * n_features], d_upper, d_features);
        net.features.pull_back(&tape.values[places][..n_features], d_features, d_code);
        if net.skip == Skip::Affine {
            let skip = &phi[phi.len() - net.n_skip()..];
            for (u, &d) in d_out.iter().enumerate() {
                for (j, c) in d_code.iter_mut().enumerate() {
                    *c = S::splat(skip[u * net.d_code + j]).mul_add(d, *c);
                }
            }
        }
    }
}

/// [`Network::weight_gradient`], outlined.
enum WeightGradient {}

impl<'a, S: Lanes> Outlined<(&'a Network, &'a Tape<S>, &'a [S], &'a [S], &'a mut [S::Real])>
    for WeightGradient
{
    type Output = ();

    #[inline(always)]
    fn run(
        (net, tape, d_out, codes, d_phi): (&'a Network, &'a Tape<S>, &'a [S], &'a [S], &'a mut [S::Real]),
    ) {
        let (mut at, mut phi_at) = (0, 0);
        let mut n_in = net.features.len(net.d_code);
        let d_out = Strided { values: d_out, stride: net.d_out, len: net.d_out };
        for hidden in net.hidden.iter().map(Some).chain([None]) {
            let x = Strided { values: &tape.values[at..], stride: tape.width, len: n_in };
            let upper = hidden.map_or(d_out, |hidden| Strided {
                values: &tape.gradients[at + n_in..],
                stride: tape.width,
                len: hidden.width,
            });
            let (d_weights, rest) = d_phi[phi_at..].split_at_mut(n_in * upper.len);
            dense::weight_gradient(upper, x, d_weights, &mut rest[..upper.len]);
            phi_at += upper.len * (n_in + 1);
            at += n_in;
            n_in = upper.len;
        }
        if net.skip == Skip::Affine {
            let mut no_bias = vec![S::Real::default(); net.d_out];
            let codes = Strided { values: codes, stride: net.d_code, len: net.d_code };
            dense::weight_gradient(d_out, codes, &mut d_phi[phi_at..], &mut no_bias);
        }
    }
}

/// Weights and bias of the layer that starts at `at`.
#[inline(always)]
fn layer<R>(phi: &[R], at: usize, n_in: usize, n_out: usize) -> (&[R], &[R]) {
    let (weights, rest) = phi[at..].split_at(n_in * n_out);
    (weights, &rest[..n_out])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(hidden: Vec<Hidden>, features: FeatureMap, skip: Skip) -> Network {
        Network { d_code: 3, features, hidden, skip, d_out: 4 }
    }

    fn wave(n: usize, phase: f64) -> Vec<f64> {
        (0..n).map(|i| 0.8 * ((i as f64) * 1.3 + phase).sin()).collect()
    }

    /// Scalar loss: a fixed linear functional of the output.
    fn loss(net: &Network, phi: &[f64], code: &[f64]) -> f64 {
        let (mut tape, mut out) = (net.tape::<f64>(1), vec![0.0; net.d_out]);
        net.forward(phi, code, (&mut tape, 0), &mut out);
        out.iter().zip(wave(net.d_out, 2.0)).map(|(o, w)| o * w).sum()
    }

    #[test]
    fn adjoint_matches_central_differences() {
        let hidden = |widths: &[usize], activation| {
            widths.iter().map(|&width| Hidden { width, activation }).collect::<Vec<_>>()
        };
        let mut cases = vec![network(vec![], FeatureMap::Identity, Skip::None)];
        for activation in [Activation::Tanh, Activation::Sigmoid, Activation::Softplus, Activation::Relu] {
            cases.push(network(hidden(&[5], activation), FeatureMap::Trigonometric, Skip::None));
            cases.push(network(hidden(&[5, 2], activation), FeatureMap::Identity, Skip::Affine));
        }
        let mut low_rank = hidden(&[6], Activation::Tanh);
        low_rank.push(Hidden { width: 2, activation: Activation::Identity });
        cases.push(network(low_rank, FeatureMap::Trigonometric, Skip::Affine));
        for net in cases {
            check_adjoint(&net);
        }
    }

    fn check_adjoint(net: &Network) {
        let (phi, code) = (wave(net.n_parameters(), 0.3), wave(net.d_code, 0.9));
        let (mut tape, mut out) = (net.tape::<f64>(1), vec![0.0; net.d_out]);
        net.forward(&phi, &code, (&mut tape, 0), &mut out);
        let d_out = wave(net.d_out, 2.0);
        let mut d_code = vec![0.0; net.d_code];
        net.pull_back(&phi, (&mut tape, 0), &d_out);
        net.pull_back_to_code(&phi, (&mut tape, 0), &d_out, &mut d_code);
        let mut d_phi = vec![0.0; phi.len()];
        net.weight_gradient(&tape, &d_out, &code, &mut d_phi);
        let h = 1e-6;
        let numeric = |f: &dyn Fn(f64) -> f64| (f(h) - f(-h)) / (2.0 * h);
        for i in 0..phi.len() {
            let moved = |e: f64| {
                let mut p = phi.clone();
                p[i] += e;
                loss(net, &p, &code)
            };
            assert!((numeric(&moved) - d_phi[i]).abs() < 1e-7, "{net:?} phi {i}");
        }
        for i in 0..code.len() {
            let moved = |e: f64| {
                let mut c = code.clone();
                c[i] += e;
                loss(net, &phi, &c)
            };
            assert!((numeric(&moved) - d_code[i]).abs() < 1e-7, "{net:?} code {i}");
        }
    }

    #[test]
    fn tensors_tile_the_flat_vector() {
        for skip in [Skip::None, Skip::Affine] {
            let hidden = vec![Hidden { width: 5, activation: Activation::Tanh }];
            let net = network(hidden, FeatureMap::Trigonometric, skip);
            let tensors = net.tensors();
            assert!(tensors.windows(2).all(|w| w[0].range().end == w[1].start));
            assert_eq!(tensors.last().map(|t| t.range().end), Some(net.n_parameters()));
        }
    }

    #[test]
    fn the_norm_feature_has_a_finite_gradient_at_zero() {
        let net = network(vec![], FeatureMap::Trigonometric, Skip::None);
        let phi = wave(net.n_parameters(), 0.3);
        let (mut tape, mut out, mut d_code) = (net.tape::<f64>(1), vec![0.0; 4], vec![0.0; 3]);
        net.forward(&phi, &[0.0; 3], (&mut tape, 0), &mut out);
        net.pull_back(&phi, (&mut tape, 0), &[1.0; 4]);
        net.pull_back_to_code(&phi, (&mut tape, 0), &[1.0; 4], &mut d_code);
        assert!(d_code.iter().all(|d| d.is_finite()));
    }
}
