//! Codes to parameters to log likelihoods of pairs, and back.

use std::ops::Range;

use super::{Batch, Network, Room, Stored};
use crate::Result;
use crate::queue::{Arg, Extent};
use crate::shape::Activation;

/// Steps that a block of the tanh network takes at a time; `STEPS` of the kernels.
pub(super) const STEPS: usize = 8;
/// Parts in which what the generator's last layer pulls is added up.
pub(super) const PULL_PARTS: usize = 64;

impl Network {
    /// Codes to log likelihoods, for some of the pairs.
    pub(crate) fn pairs_forward(
        &self,
        weights: u64,
        stored: &Stored,
        room: &mut Room,
        (batch, pairs): (Batch, Range<usize>),
    ) -> Result<()> {
        let (n, sequences) = (pairs.len(), self.sequences(stored, room, batch, pairs.start));
        let at = |place: usize| weights + 4 * place as u64;
        let mut values = room.codes.at(0);
        for (layer, (of, (_, form))) in
            self.places.layers.iter().zip(room.hidden.iter().zip(&self.shape.hidden))
        {
            let [w, b, n_in, n_out] = *layer;
            let args = [
                at(w).into(),
                at(b).into(),
                values.into(),
                of.at(0).into(),
                n.into(),
                n_in.into(),
                n_out.into(),
                form_of(*form),
            ];
            self.queue.launch("hidden_layer", Extent::of(n * n_out), &args)?;
            values = of.at(0);
        }
        let [w, b, n_in, _] = *self.places.layers.last().expect("a generator has a last layer");
        let (d_theta, k) = (self.shape.d_theta(), self.shape.d_code);
        let args = [
            at(w).into(),
            at(b).into(),
            self.places.skip.map_or(0, at).into(),
            at(self.places.shared).into(),
            self.fixed.at(0).into(),
            self.source.at(0).into(),
            values.into(),
            room.codes.at(0).into(),
            if room.has_shifts { room.shifts[0].at(0) } else { 0 }.into(),
            room.theta.at(0).into(),
            n.into(),
            n_in.into(),
            k.into(),
            self.shape.n_shared().into(),
            d_theta.into(),
        ];
        self.queue.launch(
            "last_layer",
            Extent::blocks([d_theta.div_ceil(256), n.div_ceil(8), 1], 256),
            &args,
        )?;
        let (theta, tiles, all) = (room.theta.at(0), batch.n_time.div_ceil(STEPS), Arg::Struct(&sequences));
        let args = [theta.into(), room.features.at(0).into(), all, room.inner.at(0).into()];
        self.queue.launch("head_drive", Extent::blocks([tiles, n, 1], 128), &args)?;
        let args = [theta.into(), room.inner.at(0).into(), all, room.states.at(0).into()];
        self.queue.launch("head_forward", Extent::blocks([n, 1, 1], self.unit_threads()), &args)?;
        let (errors, parts) = (room.errors.at(0), room.likelihood_parts.at(0));
        let args = [
            theta.into(),
            room.features.at(0).into(),
            room.states.at(0).into(),
            all,
            errors.into(),
            parts.into(),
        ];
        self.queue.launch("head_errors", Extent::blocks([tiles, n, 1], 256), &args)?;
        let args = [parts.into(), tiles.into(), room.likelihoods.at(0).into(), n.into()];
        self.queue.launch("pair_totals", Extent::of(n), &args)
    }

    /// Gradients at codes and features, and, where `gradient` is not 0, of the generator and shared numbers, added; after the pass
    /// over the same pairs, with weights in place.
    pub(crate) fn pairs_backward(
        &self,
        (weights, gradient): (u64, u64),
        stored: &Stored,
        room: &mut Room,
        (batch, pairs): (Batch, Range<usize>),
    ) -> Result<()> {
        let (n, sequences) = (pairs.len(), self.sequences(stored, room, batch, pairs.start));
        let (theta, tiles, all) = (room.theta.at(0), batch.n_time.div_ceil(STEPS), Arg::Struct(&sequences));
        let (errors, pulled, states) = (room.errors.at(0), room.inner.at(0), room.states.at(0));
        let (given, d_theta) = (room.weights.at(0), room.d_theta.at(0));
        let args = [theta.into(), errors.into(), given.into(), all, pulled.into()];
        self.queue.launch("head_pull_errors", Extent::blocks([tiles, n, 1], 128), &args)?;
        let args = [theta.into(), states.into(), all, pulled.into(), d_theta.into()];
        self.queue.launch("head_backward", Extent::blocks([n, 1, 1], self.unit_threads()), &args)?;
        let args = [
            theta.into(),
            room.features.at(0).into(),
            states.into(),
            errors.into(),
            given.into(),
            pulled.into(),
            all,
            d_theta.into(),
        ];
        let per_pair = self.shape.d_theta() - self.shape.d_state;
        self.queue.launch("head_gradient", Extent::blocks([per_pair.div_ceil(256), n, 1], 256), &args)?;
        if room.has_shifts {
            self.queue.launch(
                "shift_gradient",
                Extent::of(n),
                &[d_theta.into(), room.shifts[1].at(0).into(), n.into()],
            )?;
        }
        if gradient != 0 && self.shape.front.is_some() {
            let args = [
                theta.into(),
                errors.into(),
                given.into(),
                pulled.into(),
                all,
                n.into(),
                room.d_features.at(0).into(),
            ];
            let last = (pairs.end - 1) / batch.draws - pairs.start / batch.draws + 1;
            let extent = Extent { grid: [batch.n_time.div_ceil(8), last, 1], block: [32, 8], waits: false };
            self.queue.launch("head_pull_features", extent, &args)?;
        }
        self.generator_backward((weights, gradient), room, n)
    }

    fn generator_backward(&self, (weights, gradient): (u64, u64), room: &mut Room, n: usize) -> Result<()> {
        let (at, to) =
            (|place: usize| weights + 4 * place as u64, |place: usize| gradient + 4 * place as u64);
        let (k, d_theta, adapted) = (self.shape.d_code, self.shape.d_theta(), self.shape.d_adapted());
        let n_codes = room.d_codes.len();
        self.queue.clear(&mut room.d_codes, 0..n_codes)?;
        let depth = self.shape.hidden.len();
        let [w, b, n_in, _] = self.places.layers[depth];
        let values = |l: usize| if l == 0 { room.codes.at(0) } else { room.hidden[l - 1].at(0) };
        let (d, codes) = (room.d_theta.at(0), room.codes.at(0));
        if gradient != 0 {
            let d_skip = self.places.skip.map_or(0, to);
            let args = [
                d.into(),
                self.place.at(0).into(),
                values(depth).into(),
                codes.into(),
                to(w).into(),
                to(b).into(),
                d_skip.into(),
                n.into(),
                n_in.into(),
                k.into(),
                adapted.into(),
                d_theta.into(),
            ];
            let width = n_in + 1 + if self.shape.skip { k } else { 0 };
            self.queue.launch("last_layer_gradient", Extent::of(adapted * width), &args)?;
            let args = [
                d.into(),
                self.source.at(0).into(),
                to(self.places.shared).into(),
                n.into(),
                self.shape.n_shared().into(),
                d_theta.into(),
            ];
            self.queue.launch("shared_gradient", Extent::of(d_theta), &args)?;
        }
        let skip = self.places.skip.map_or(0, at);
        let (place, pulls) = (self.place.at(0), room.pulls.at(0));
        let args = [
            at(w).into(),
            skip.into(),
            place.into(),
            d.into(),
            pulls.into(),
            n.into(),
            n_in.into(),
            k.into(),
            adapted.into(),
            d_theta.into(),
        ];
        self.queue.launch("last_layer_pull", Extent::blocks([PULL_PARTS, n, 1], 128), &args)?;
        let width = n_in + if self.shape.skip { k } else { 0 };
        let add = |first: usize, values: u64, form: Arg<'static>, out: u64, n_out: usize| {
            let args = [
                pulls.into(),
                PULL_PARTS.into(),
                width.into(),
                first.into(),
                values.into(),
                form,
                out.into(),
                n.into(),
                n_out.into(),
            ];
            self.queue.launch("add_pulls", Extent::of(n * n_out), &args)
        };
        let none = form_of(Activation::Identity);
        match depth {
            0 => add(0, 0, none, room.d_codes.at(0), n_in)?,
            _ => add(
                0,
                values(depth),
                form_of(self.shape.hidden[depth - 1].1),
                room.d_hidden[depth - 1].at(0),
                n_in,
            )?,
        }
        if self.shape.skip {
            add(n_in, 0, none, room.d_codes.at(0), k)?;
        }
        for l in (0..depth).rev() {
            let [w, b, n_in, n_out] = self.places.layers[l];
            let d_inner = room.d_hidden[l].at(0);
            if gradient != 0 {
                let args = [
                    d_inner.into(),
                    values(l).into(),
                    to(w).into(),
                    to(b).into(),
                    n.into(),
                    n_in.into(),
                    n_out.into(),
                ];
                self.queue.launch("hidden_layer_gradient", Extent::of(n_out * (n_in + 1)), &args)?;
            }
            let (below, form, out) = match l {
                0 => (0, none, room.d_codes.at(0)),
                _ => (values(l), form_of(self.shape.hidden[l - 1].1), room.d_hidden[l - 1].at(0)),
            };
            let args = [
                at(w).into(),
                d_inner.into(),
                below.into(),
                form,
                out.into(),
                n.into(),
                n_in.into(),
                n_out.into(),
            ];
            self.queue.launch("hidden_layer_pull", Extent::of(n * n_in), &args)?;
        }
        Ok(())
    }

    /// Threads for the states of one pair; `UNIT_THREADS` of the kernels.
    fn unit_threads(&self) -> usize {
        if self.shape.d_state <= 128 { self.shape.d_state.next_multiple_of(32) } else { 1024 }
    }
}

fn form_of(activation: Activation) -> Arg<'static> {
    Arg::Int(activation as i32)
}
