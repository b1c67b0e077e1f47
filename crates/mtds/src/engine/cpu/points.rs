//! Densities of one sequence at many points, and their gradients, by products: for networks too large for lanes.
//!
//! ```text
//! points u = (z, perhaps δ) ──→ adapted θ     products over sixteen points in a pack, weights φ read once
//! θ, inputs                 ──→ ŷ, log p      products over time, a network per point (`head`), points over the threads
//! ```
//! As `density`, which is its twin in lanes.

use rayon::prelude::*;

use super::head::{Head, HeadForm};
use super::packs::codes_from;
use crate::engine::{Codes, Observed, Starts};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Real, Scalar, dispatch};

/// Points that are evaluated together: bounds the memory.
const BLOCK: usize = 64;

/// What all points share.
#[derive(Clone, Copy)]
pub(super) struct Questions<'a, R> {
    pub(super) network: &'a HeadForm,
    pub(super) of: Observed<'a, R>,
    pub(super) points: &'a Codes,
    pub(super) starts: Starts<'a>,
}

/// Adds log p(Y | u) of each point to `out`, and its gradient to `gradient`, n × dim, where that is asked for.
pub(super) fn evaluate<R: Real>(asked: Questions<'_, R>, out: &mut [f64], mut gradient: Option<&mut [f64]>) {
    let (n, dim) = (asked.points.len(), asked.points.d_code());
    let mut heads = vec![];
    for first in (0..n).step_by(BLOCK) {
        let end = n.min(first + BLOCK);
        let gradient = gradient.as_deref_mut().map(|all| &mut all[first * dim..end * dim]);
        dispatch(Block { asked, first, heads: &mut heads, out: &mut out[first..end], gradient });
    }
}

/// Some of the points, from `first` on.
struct Block<'a, 'b, R> {
    asked: Questions<'a, R>,
    first: usize,
    heads: &'b mut Vec<Head<R>>,
    out: &'b mut [f64],
    gradient: Option<&'b mut [f64]>,
}

impl<R: Real> Kernel for Block<'_, '_, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Questions { network, of, points, starts } = self.asked;
        let (trial, n) = (of.trial, self.out.len());
        let (generator, layout) = (&trial.system.spec().network, trial.system.layout());
        let ((phi, shared), noise) = (trial.split(), trial.system.base().noise());
        let (n_packs, d_out, k) = (n.div_ceil(LANES), generator.d_out, generator.d_code);
        let mut tape = generator.tape::<Pack<R, A>>(n_packs);
        let mut adapted = vec![Pack::<R, A>::zero(); n_packs * d_out];
        self.heads.resize_with(self.heads.len().max(n), Head::default);
        let heads = &mut self.heads[..n];
        for (pack, adapted) in adapted.chunks_exact_mut(d_out.max(1)).enumerate() {
            let all = codes_from::<R, A>(points, self.first + pack * LANES, self.first + n);
            generator.forward(phi, &all[..k], (&mut tape, pack), adapted);
        }
        let delta = |i: usize| (points.d_code() > k).then(|| R::from_f64(points.get(self.first + i, k)));
        let width = starts.len() / points.len().max(1);
        let (group, is_pulled) = (std::slice::from_ref(of.group), self.gradient.is_some());
        let score = |(i, head): (usize, &mut Head<R>)| {
            let packs = &adapted[i / LANES * d_out..(i / LANES + 1) * d_out];
            let own: Vec<R> = packs.iter().map(|value| value.lane(i % LANES)).collect();
            head.theta.resize(layout.d_theta(), R::default());
            layout.assemble(&own, shared, &mut head.theta);
            if let Some(delta) = delta(i) {
                noise.shift(&mut head.theta, delta);
            }
            let start = &starts[(self.first + i) * width..][..width];
            network.begin_at(head, start);
            let density = network.log_likelihood(head, group, &of.group.inputs);
            if is_pulled {
                network.pull(head, group, R::from_f64(1.0));
            }
            density
        };
        let found: Vec<f64> = heads.par_iter_mut().enumerate().map(score).collect();
        self.out.iter_mut().zip(found).for_each(|(sum, density)| *sum += density);
        let Some(gradient) = self.gradient else { return };
        adapted.fill(Pack::zero()); // a spare lane repeats a point, and pulls nothing
        let mut own = vec![R::default(); d_out];
        let dim = points.d_code();
        for (i, head) in heads.iter_mut().enumerate() {
            if let Some(delta) = delta(i) {
                gradient[i * dim + k] += noise.shift_adjoint(&head.theta, delta, &mut head.d_theta).to_f64();
            }
            layout.adapted_adjoint(&head.d_theta, &mut own);
            let packs = &mut adapted[i / LANES * d_out..(i / LANES + 1) * d_out];
            packs.iter_mut().zip(&own).for_each(|(to, &from)| to.set_lane(i % LANES, from));
        }
        let mut d_code = vec![Pack::<R, A>::zero(); k];
        for (pack, adapted) in adapted.chunks_exact(d_out.max(1)).enumerate() {
            generator.pull_back(phi, (&mut tape, pack), adapted);
            d_code.fill(Pack::zero());
            generator.pull_back_to_code(phi, (&mut tape, pack), adapted, &mut d_code);
            for lane in 0..LANES.min(n - pack * LANES) {
                let at = (pack * LANES + lane) * dim;
                let sums = gradient[at..at + k].iter_mut();
                sums.zip(&d_code).for_each(|(sum, d)| *sum += d.lane(lane).to_f64());
            }
        }
    }
}
