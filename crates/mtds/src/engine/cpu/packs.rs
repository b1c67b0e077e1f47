//! Codes in packs: sixteen travel together, one per lane, and so does all that is made of them.

use crate::base::emission::Noise;
use crate::engine::{Codes, Starts, Trial};
use crate::generator::Tape;
use crate::kernel::{Arch, LANES, Lanes, Pack, Real};
use crate::system::System;

/// Number of packs for so many codes.
pub(super) fn n_packs(codes: &Codes) -> usize {
    codes.len().div_ceil(LANES)
}

/// Codes of a pack that are not spare.
pub(super) fn used_lanes(codes: &Codes, pack: usize) -> usize {
    LANES.min(codes.len() - pack * LANES)
}

/// Sixteen codes from `first` on, one pack per dimension; those from `end` on repeat the last before it.
#[inline(always)]
pub(super) fn codes_from<R: Real, A: Arch>(codes: &Codes, first: usize, end: usize) -> Vec<Pack<R, A>> {
    let lane = |d: usize| Pack::from_fn(|l| R::from_f64(codes.get((first + l).min(end - 1), d)));
    (0..codes.d_code()).map(lane).collect()
}

/// The codes of one pack, the last one repeated in spare lanes.
#[inline(always)]
pub(super) fn pack_of<R: Real, A: Arch>(codes: &Codes, pack: usize) -> Vec<Pack<R, A>> {
    codes_from(codes, pack * LANES, codes.len())
}

/// States from which the codes of one pack start; `None` where they are those of θ.
#[inline(always)]
pub(super) fn starts_of<S: Lanes>(starts: Starts<'_>, width: usize, pack: usize) -> Option<Vec<S>> {
    if starts.is_empty() {
        return None;
    }
    let last = starts.len() / width - 1;
    let lane = |d: usize| S::from_fn(|l| S::Real::from_f64(starts[(pack * LANES + l).min(last) * width + d]));
    Some((0..width).map(lane).collect())
}

/// The numbers of each used lane, one lane after the other.
#[inline(always)]
pub(super) fn by_lane<R: Real, A: Arch>(values: &[Pack<R, A>], used: usize) -> Vec<f64> {
    (0..used).flat_map(|l| values.iter().map(move |v| v.lane(l).to_f64())).collect()
}

/// From codes to θ and back, for one pack.
pub(super) struct Buffers<S> {
    tape: Tape<S>,
    adapted: Vec<S>,
    pub(super) theta: Vec<S>,
}

impl<S: Lanes> Buffers<S> {
    pub(super) fn new(system: &System) -> Self {
        let (network, layout) = (&system.spec().network, system.layout());
        Self {
            tape: network.tape(1),
            adapted: vec![S::zero(); layout.d_adapted()],
            theta: vec![S::zero(); layout.d_theta()],
        }
    }

    /// θ of one pack of codes.
    #[inline(always)]
    pub(super) fn generate(&mut self, trial: Trial<'_, S::Real>, code: &[S]) {
        let (phi, shared) = trial.split();
        trial.system.spec().network.forward(phi, code, (&mut self.tape, 0), &mut self.adapted);
        trial.system.layout().assemble(&self.adapted, shared, &mut self.theta);
    }

    /// θ of one pack of points: of its code, with the noise shifted if δ is there.
    #[inline(always)]
    pub(super) fn generate_shifted(&mut self, trial: Trial<'_, S::Real>, noise: &Noise, point: &[S]) {
        let (code, delta) = point.split_at(trial.system.d_code());
        self.generate(trial, code);
        if let Some(&delta) = delta.first() {
            noise.shift(&mut self.theta, delta);
        }
    }

    /// Gradient with respect to the code, given that with respect to θ.
    #[inline(always)]
    pub(super) fn pull_back(&mut self, trial: Trial<'_, S::Real>, d_theta: &[S], d_code: &mut [S]) {
        let (network, (phi, _)) = (&trial.system.spec().network, trial.split());
        trial.system.layout().adapted_adjoint(d_theta, &mut self.adapted);
        network.pull_back(phi, (&mut self.tape, 0), &self.adapted);
        network.pull_back_to_code(phi, (&mut self.tape, 0), &self.adapted, d_code);
    }
}
