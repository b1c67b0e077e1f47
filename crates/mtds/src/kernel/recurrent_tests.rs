//! Steps of one block of sixteen units against textbook formulas, at every instruction level.

use proptest::prelude::*;

use super::LANES;
use super::dispatch::{Level, dispatch_at};
use super::panels::{Panels, PanelsRef, Sixteen};
use super::recurrent::{Gates, GruAdjoint, GruStep, TanhAdjoint, TanhStep};

fn wave(n_rows: usize, n_columns: usize, phase: f64) -> Panels<f64> {
    Panels::from_fn(n_rows, n_columns, |i, j| ((i * n_columns + j) as f64 * 0.7 + phase).sin())
}

fn sixteens(n: usize, phase: f64) -> Vec<Sixteen<f64>> {
    wave(n, LANES, phase).values().to_vec()
}

/// `start + Σ_k x[row, k] w[k]` of one lane.
fn sum(start: f64, x: PanelsRef<'_, f64>, w: &[Sixteen<f64>], (row, lane): (usize, usize)) -> f64 {
    (0..x.n_columns()).fold(start, |sum, k| sum + x.get(row, k) * w[k].0[lane])
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn near(got: f64, want: f64) -> bool {
    (got - want).abs() < 1e-13 * (1.0 + want.abs())
}

const LEVELS: [Level; 3] = Level::ALL;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn tanh_steps_equal_their_formulas(n in 1usize..9, d in 1usize..40) {
        let (weights, before) = (sixteens(d, 0.1), wave(n, d, 0.2));
        let (driven, d_states) = (sixteens(n, 0.3), sixteens(n, 0.4));
        for level in LEVELS {
            let (mut states, mut after) = (driven.clone(), driven.clone());
            let step =
                TanhStep { weights: &weights, before: before.view(), states: &mut states, after: &mut after };
            dispatch_at(level, step);
            let (mut d_inner, mut next_pulls) = (driven.clone(), driven.clone());
            let pulls = Some(before.view());
            dispatch_at(level, TanhAdjoint {
                weights: &weights, pulls, d_states: &d_states, states: &states,
                d_inner: &mut d_inner, next_pulls: &mut next_pulls,
            });
            prop_assert_eq!((&states, &d_inner), (&after, &next_pulls));
            for (row, lane) in (0..n).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                let h = sum(driven[row].0[lane], before.view(), &weights, (row, lane)).tanh();
                prop_assert!(near(states[row].0[lane], h));
                let d = sum(d_states[row].0[lane], before.view(), &weights, (row, lane)) * (1.0 - h * h);
                prop_assert!(near(d_inner[row].0[lane], d));
            }
        }
    }

    #[test]
    fn gated_steps_equal_their_formulas(n in 1usize..9, d in 1usize..40) {
        let (weights, before) = (sixteens(3 * d, 0.1), wave(n, d, 0.2));
        let (driven, bias, own) = (sixteens(3 * n, 0.3), sixteens(n, 0.5), sixteens(n, 0.6));
        for level in LEVELS {
            let (mut gates, mut candidate) = (driven.clone(), bias.clone());
            let (mut states, mut after) = (own.clone(), own.clone());
            dispatch_at(level, GruStep {
                weights: &weights, before: before.view(), own_before: &own, gates: Gates::of(&mut gates, 0, n),
                candidate: &mut candidate, states: &mut states, after: &mut after,
            });
            prop_assert_eq!(&states, &after);
            for (row, lane) in (0..n).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                let gate = |g: usize, start: f64| sum(start, before.view(), &weights[g * d..], (row, lane));
                let r = sigmoid(gate(0, driven[row].0[lane]));
                let z = sigmoid(gate(1, driven[n + row].0[lane]));
                let c = gate(2, bias[row].0[lane]);
                let new = (driven[2 * n + row].0[lane] + r * c).tanh();
                let want = [r, z, new].into_iter().zip([row, n + row, 2 * n + row]);
                prop_assert!(want.clone().all(|(want, at)| near(gates[at].0[lane], want)));
                prop_assert!(near(candidate[row].0[lane], c));
                prop_assert!(near(states[row].0[lane], (1.0 - z) * new + z * own[row].0[lane]));
            }
        }
    }

    #[test]
    fn adjoints_of_gated_steps_equal_their_formulas(n in 1usize..9, blocks in 1usize..4) {
        let (weights, pulls) = (sixteens(48 * blocks, 0.1), wave(n, 48 * blocks, 0.2));
        let (values, c) = (sixteens(3 * n, 0.3), sixteens(n, 0.5));
        let (own, d_states, direct) = (sixteens(n, 0.6), sixteens(n, 0.7), sixteens(n, 0.8));
        for level in LEVELS {
            let (mut gates, mut candidate, mut carry) = (values.clone(), c.clone(), direct.clone());
            let mut next_pulls = values.clone();
            dispatch_at(level, GruAdjoint {
                weights: &weights, pulls: Some(pulls.view()), d_states: &d_states, own_before: &own,
                gates: Gates::of(&mut gates, 0, n), candidate: &mut candidate, carry: &mut carry,
                next_pulls: &mut next_pulls,
            });
            for (row, lane) in (0..n).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                let at = |values: &[Sixteen<f64>], row: usize| values[row].0[lane];
                let (r, z, new) = (at(&values, row), at(&values, n + row), at(&values, 2 * n + row));
                let d = sum(at(&direct, row), pulls.view(), &weights, (row, lane)) + at(&d_states, row);
                let d_new = d * (1.0 - z) * (1.0 - new * new);
                let want = [
                    (at(&gates, row), d_new * at(&c, row) * r * (1.0 - r)),
                    (at(&gates, n + row), d * (at(&own, row) - new) * z * (1.0 - z)),
                    (at(&gates, 2 * n + row), d_new),
                    (at(&candidate, row), d_new * r),
                    (at(&carry, row), d * z),
                    (at(&next_pulls, 2 * n + row), d_new * r),
                ];
                prop_assert!(want.iter().all(|&(got, want)| near(got, want)), "{want:?}");
            }
        }
    }
}
