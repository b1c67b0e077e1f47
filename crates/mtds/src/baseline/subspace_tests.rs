//! Identification recovers known systems, and says what is missing where it cannot.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::*;
use crate::family::{Sequence, Signal};
use crate::random::{Random, stream};

/// A system drawn at random: (A, B, C, D, d).
struct Truth {
    a: Matrix,
    b: Matrix,
    c: Matrix,
    d: Matrix,
    offset: Vec<f64>,
}

fn normals(rows: usize, cols: usize, random: &mut Random) -> Matrix {
    Matrix::from_fn(rows, cols, |_, _| random.sample(StandardNormal))
}

/// A of Frobenius norm `size`, the rest of order 1.
fn truth((n, p, m): (usize, usize, usize), size: f64, random: &mut Random) -> Truth {
    let a = normals(n, n, random);
    Truth {
        a: a.scaled(size / a.frobenius()),
        b: normals(n, m, random),
        c: normals(p, n, random),
        d: Matrix::zeros(p, m),
        offset: normals(p, 1, random).values,
    }
}

impl Truth {
    fn outputs(&self, inputs: &Signal, n_time: usize) -> Signal {
        let mut x = Matrix::zeros(self.a.rows, 1);
        let rows = (0..n_time).map(|t| {
            let u = Matrix { rows: inputs.width(), cols: 1, values: inputs.row(t).to_vec() };
            let (free, driven) = (self.a.times(&x), self.b.times(&u));
            x = Matrix::from_fn(x.rows, 1, |i, _| free[(i, 0)] + driven[(i, 0)]);
            let (state, direct) = (self.c.times(&x), self.d.times(&u));
            (0..self.c.rows).map(|i| state[(i, 0)] + direct[(i, 0)] + self.offset[i]).collect()
        });
        Signal::from_rows(rows.collect()).unwrap()
    }

    fn markov_parameter(&self, k: usize) -> Vec<f64> {
        let mut state = self.b.clone();
        (0..k).for_each(|_| state = self.a.times(&state));
        let direct = self.d.scaled(if k == 0 { 1.0 } else { 0.0 });
        self.c.times(&state).values.iter().zip(&direct.values).map(|(h, d)| h + d).collect()
    }

    /// `n_seq` sequences with random inputs of their own, `n_time(i)` steps each.
    fn family(&self, n_seq: usize, n_time: impl Fn(usize) -> usize, random: &mut Random) -> Family {
        let member = |i: usize| {
            let inputs = normals(n_time(i), self.b.cols, random);
            let inputs = Signal::new(n_time(i), self.b.cols, inputs.values).unwrap();
            let outputs = self.outputs(&inputs, n_time(i));
            Sequence::new(i.to_string(), outputs).unwrap().with_inputs(inputs).unwrap()
        };
        Family::new((0..n_seq).map(member).collect()).unwrap()
    }

    fn assert_found(&self, found: &LinearSystem, tolerance: f64) {
        for k in [0, 1, 2, 3, 5, 8, 13, 30, 60] {
            for (h, expected) in found.markov_parameter(k).iter().zip(self.markov_parameter(k)) {
                assert!((h - expected).abs() < tolerance, "lag {k}: {h} {expected}");
            }
        }
        for (d, expected) in found.offset().iter().zip(&self.offset) {
            assert!((d - expected).abs() < tolerance, "offset {d} {expected}");
        }
        // Traces of the first n powers fix the characteristic polynomial (Newton's identities).
        let (mut ours, mut theirs) = (found.transition.clone(), self.a.clone());
        for _ in 0..self.a.rows {
            assert!((trace(&ours) - trace(&theirs)).abs() < 1e3 * tolerance, "{ours:?}");
            (ours, theirs) = (ours.times(&found.transition), theirs.times(&self.a));
        }
        assert!(found.input.largest() < 0.5 + 1e-12);
    }
}

fn trace(a: &Matrix) -> f64 {
    (0..a.rows).map(|i| a[(i, i)]).sum()
}

fn settings(d_state: usize) -> Subspace {
    Subspace { d_state, ..Subspace::default() }
}

fn setting_of(result: Result<LinearSystem>) -> (String, String) {
    match result {
        Err(Error::Setting { name, why }) => (name, why),
        other => panic!("{other:?}"),
    }
}

fn gaps(family: &Family, share: f64, random: &mut Random) -> Family {
    let thinned = family.sequences().iter().enumerate().map(|(i, s)| {
        let gap = |&y: &f64| if random.random::<f64>() < share { f64::NAN } else { y };
        let values = s.outputs().values().iter().map(gap).collect();
        let outputs = Signal::new(s.n_time(), family.d_obs(), values).unwrap();
        Sequence::new(s.id(), outputs).unwrap().with_inputs(family.inputs_of(i).unwrap().clone()).unwrap()
    });
    Family::new(thinned.collect()).unwrap()
}

#[test]
fn known_systems_of_many_sizes_are_recovered() {
    for (n, p, m) in [(1, 1, 1), (2, 1, 1), (4, 1, 1), (3, 3, 2), (5, 2, 1), (2, 3, 2), (4, 2, 3)] {
        let mut random = stream(3, (n * 100 + p * 10 + m) as u64);
        let truth = truth((n, p, m), 0.9, &mut random);
        let found = settings(n).identify(&truth.family(40, |_| 25, &mut random)).unwrap();
        truth.assert_found(&found, 1e-6);
        let drop = found.hankel_values()[n..].first().map_or(0.0, |next| next / found.hankel_values()[n - 1]);
        assert!(drop < 1e-4, "{:?}", found.hankel_values());
    }
}

#[test]
fn ragged_sequences_with_gaps_lose_nothing_but_data() {
    let mut random = stream(4, 0);
    let truth = truth((3, 2, 2), 1.2, &mut random);
    let family = truth.family(60, |i| 8 + i % 20, &mut random);
    let found = settings(3).identify(&gaps(&family, 0.3, &mut random)).unwrap();
    truth.assert_found(&found, 1e-6);
}

#[test]
fn a_single_long_sequence_is_enough() {
    let mut random = stream(5, 0);
    let truth = truth((2, 1, 1), 0.9, &mut random);
    let found = settings(2).identify(&truth.family(1, |_| 1500, &mut random)).unwrap();
    truth.assert_found(&found, 1e-6);
}

#[test]
fn feedthrough_is_told_from_the_state() {
    let mut random = stream(6, 0);
    let mut truth = truth((3, 2, 2), 1.2, &mut random);
    truth.d = normals(2, 2, &mut random);
    let family = truth.family(40, |_| 25, &mut random);
    let free = Subspace { feedthrough: Feedthrough::Free, ..settings(3) };
    let found = free.identify(&family).unwrap();
    truth.assert_found(&found, 1e-6);
    assert!(found.feedthrough().iter().zip(&truth.d.values).all(|(d, e)| (d - e).abs() < 1e-6));
    assert!(settings(3).identify(&family).unwrap().feedthrough().iter().all(|d| *d == 0.0));
}

/// One impulse at the start cannot tell d from a level of the response; that responses die away can.
#[test]
fn an_impulse_at_the_start_is_enough_when_the_response_dies_away() {
    let mut random = stream(7, 0);
    let truth = truth((2, 1, 1), 0.8, &mut random);
    let impulse = Signal::column((0..80).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect());
    let member = |i: usize| Sequence::new(i.to_string(), truth.outputs(&impulse, 80)).unwrap();
    let family =
        Family::new((0..3).map(member).collect()).unwrap().with_common_inputs(impulse.clone()).unwrap();
    truth.assert_found(&settings(2).identify(&family).unwrap(), 1e-4);
}

#[test]
fn free_responses_give_the_initial_state() {
    let mut random = stream(8, 0);
    let truth = truth((3, 2, 1), 0.9, &mut random);
    let rows = |t: usize| {
        let mut x = truth.b.clone(); // x₀
        (0..=t).for_each(|_| x = truth.a.times(&x));
        let y = truth.c.times(&x);
        (0..2).map(|i| y[(i, 0)] + truth.offset[i]).collect::<Vec<f64>>()
    };
    let outputs = Signal::from_rows((0..60).map(rows).collect()).unwrap();
    let family = Family::new(vec![Sequence::new("free", outputs.clone()).unwrap()]).unwrap();
    let found = settings(3).identify(&family).unwrap();
    let mut x = Matrix { rows: 3, cols: 1, values: found.initial_state().to_vec() };
    assert!(found.input().is_empty() && x.largest() > 0.49);
    for t in 0..60 {
        x = found.transition.times(&x);
        let y = found.emission.times(&x);
        for i in 0..2 {
            assert!((y[(i, 0)] + found.offset()[i] - outputs.get(t, i)).abs() < 1e-4, "{t}");
        }
    }
}

#[test]
fn noise_alone_still_gives_a_stable_system() {
    let mut random = stream(9, 0);
    let truth = truth((1, 2, 1), 0.0, &mut random);
    let silent = Truth { c: Matrix::zeros(2, 1), ..truth };
    let family = silent.family(20, |_| 30, &mut random);
    let noisy = |s: &Sequence| {
        let values = normals(1, s.n_time() * 2, &mut random).values;
        let outputs = Signal::new(s.n_time(), 2, values).unwrap();
        Sequence::new(s.id(), outputs).unwrap().with_inputs(s.inputs().unwrap().clone()).unwrap()
    };
    let family = Family::new(family.sequences().iter().map(noisy).collect()).unwrap();
    let found = settings(4).identify(&family).unwrap();
    assert!(found.raw_parameters().iter().all(|x| x.is_finite()));
    assert!(crate::algebra::Svd::of(&found.transition).values[0] < 1.0);
}

#[test]
fn a_state_beyond_what_the_family_shows_is_refused() {
    let mut random = stream(10, 0);
    let truth = truth((2, 1, 1), 0.9, &mut random);
    let (name, why) = setting_of(settings(3).identify(&truth.family(40, |_| 25, &mut random)));
    assert!(name == "d_state" && why.contains("order 2"), "{why}");
    let (name, why) = setting_of(settings(4).identify(&truth.family(40, |_| 7, &mut random)));
    assert!(name == "d_state" && why.contains("over 8 steps") && why.contains("show 7"), "{why}");
    // Just enough steps are enough.
    assert!(settings(2).identify(&truth.family(40, |_| 4, &mut random)).is_ok());
}

#[test]
fn lags_that_no_input_reaches_are_left_out_or_reported() {
    let mut random = stream(11, 0);
    let truth = truth((2, 1, 1), 0.9, &mut random);
    let late = Signal::column((0..20).map(|t| if t == 14 { 1.0 } else { 0.0 }).collect());
    let member = |i: usize| Sequence::new(i.to_string(), truth.outputs(&late, 20)).unwrap();
    let family = Family::new((0..3).map(member).collect()).unwrap().with_common_inputs(late.clone()).unwrap();
    truth.assert_found(&settings(2).identify(&family).unwrap(), 1e-6);
    let (_, why) = setting_of(settings(4).identify(&family));
    assert!(why.contains("over 8 steps") && why.contains("show 6"), "{why}");
}

#[test]
fn silent_inputs_dead_outputs_and_bad_settings_are_named() {
    let sequence = |y: Vec<f64>, u: f64| {
        let n = y.len();
        let inputs = Signal::column(vec![u; n]);
        Sequence::new("a", Signal::column(y)).unwrap().with_inputs(inputs).unwrap()
    };
    let family = |y: Vec<f64>, u: f64| Family::new(vec![sequence(y, u)]).unwrap();
    let (name, why) = setting_of(settings(1).identify(&family(vec![1.0, 2.0, 3.0, 4.0], 0.0)));
    assert!(name == "input `u`" && why.contains("leave it out"), "{name} {why}");
    let (_, why) = setting_of(settings(1).identify(&family(vec![0.0; 9], 1.0)));
    assert!(why.contains("do not respond"), "{why}");
    let half = Signal::from_rows(vec![vec![1.0, f64::NAN]; 9]).unwrap();
    let half = Sequence::new("b", half).unwrap().with_inputs(Signal::column(vec![1.0; 9])).unwrap();
    let unseen = settings(1).identify(&Family::new(vec![half]).unwrap());
    assert!(matches!(unseen, Err(Error::EmptyFamily(why)) if why.contains("`y2`")));
    let good = family((0..9).map(f64::from).collect(), 1.0);
    for (name, bad) in [
        ("d_state", settings(0)),
        ("lags", Subspace { lags: Some(0), ..settings(1) }),
        ("ridge", Subspace { ridge: f64::NAN, ..settings(1) }),
    ] {
        assert_eq!(setting_of(bad.identify(&good)).0, name);
    }
}
