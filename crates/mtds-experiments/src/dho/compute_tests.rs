//! Cells at tiny sizes: every kind, the same on any number of threads; test data after learning.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::cell::Recipe;
use super::super::fixtures::{tiny_protocol, tiny_settings};
use super::*;

fn cells() -> Vec<CellId> {
    let kinds = CellKind::all(&tiny_protocol(), &[Recipe::paper(), Recipe::ours()]);
    kinds.into_iter().map(|kind| CellId { kind, repetition: 0 }).collect()
}

fn computed(cell: &CellId, threads: usize) -> Computed {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| compute(cell, &tiny_protocol(), &tiny_settings(), &mut |_| Control::Continue).unwrap())
}

#[test]
fn every_cell_is_computed_alike_on_one_thread_and_two() {
    for cell in cells() {
        let one = computed(&cell, 1);
        assert_eq!(one.sequences.len(), tiny_protocol().n_test, "{cell}");
        let has_evidence = cell.kind != CellKind::Single;
        for result in &one.sequences {
            assert_eq!((result.scores.len(), result.log_evidence.is_some()), (2, has_evidence), "{cell}");
        }
        let is_shown = matches!(cell.kind, CellKind::Oracle | CellKind::Mtlds { .. });
        assert_eq!(one.illustrations.len(), if is_shown { 2 } else { 0 }, "{cell}");
        assert_eq!(one, computed(&cell, 2), "{cell}");
    }
}

#[test]
fn one_repetition_is_illustrated() {
    for kind in [CellKind::Oracle, CellKind::Mtlds { recipe: Recipe::paper(), n: 3 }] {
        assert!(computed(&CellId { kind, repetition: 1 }, 1).illustrations.is_empty());
    }
}

#[test]
fn an_unknown_recipe_is_refused() {
    let strange = CellId { kind: super::super::fixtures::mtlds(3), repetition: 0 };
    let found = compute(&strange, &tiny_protocol(), &tiny_settings(), &mut |_| Control::Continue);
    assert!(matches!(found, Err(Error::Unknown { .. })));
}

/// A protocol whose test set cannot be drawn learns to the end all the same: nothing asked for it before.
#[test]
fn learning_ends_before_test_sequences_are_drawn() {
    let protocol = Protocol { n_test: 0, ..tiny_protocol() };
    for cell in cells().into_iter().filter(|cell| cell.kind != CellKind::Oracle) {
        let (steps, last) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let found = compute(&cell, &protocol, &tiny_settings(), &mut |progress| {
            steps.fetch_add(1, Ordering::Relaxed);
            last.store(progress.steps as usize, Ordering::Relaxed);
            Control::Continue
        });
        assert!(matches!(found, Err(Error::EmptyFamily(_))), "{cell}: {found:?}");
        assert_eq!(steps.into_inner(), last.into_inner(), "{cell}");
    }
}

#[test]
fn every_model_has_random_streams_of_its_own() {
    let full = Protocol::new(super::super::protocol::Scale::Full, 1);
    let kinds = CellKind::all(&full, &[Recipe::paper(), Recipe::ours()]);
    let numbers: std::collections::HashSet<u16> = kinds.iter().map(|k| model_number(k).unwrap()).collect();
    assert_eq!(numbers.len(), kinds.len());
    let large = CellKind::Mtlds { recipe: Recipe::paper(), n: 4096 };
    assert!(matches!(model_number(&large), Err(Error::Setting { .. })));
}
