//! Cells at tiny sizes: every available kind, the same on any number of threads; test data after learning.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::cell::Recipe;
use super::super::fixtures::{tiny_protocol, tiny_settings};
use super::*;

fn cells() -> Vec<CellId> {
    let kinds = CellKind::all(&tiny_protocol(), &[Recipe::paper(), Recipe::ours()]);
    let available = kinds.into_iter().filter(is_available);
    available.map(|kind| CellId { kind, repetition: 1 }).collect()
}

fn computed(cell: &CellId, threads: usize) -> Vec<SequenceResult> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| compute(cell, &tiny_protocol(), &tiny_settings(), &mut |_| Control::Continue).unwrap())
}

#[test]
fn every_available_cell_is_computed_alike_on_one_thread_and_two() {
    for cell in cells() {
        let results = computed(&cell, 1);
        assert_eq!(results.len(), tiny_protocol().n_test, "{cell}");
        assert!(results.iter().all(|result| result.scores.len() == 2 && result.log_evidence.is_some()));
        assert_eq!(results, computed(&cell, 2), "{cell}");
    }
}

#[test]
fn models_that_are_not_there_say_so() {
    let kinds = [CellKind::Single, CellKind::Mtlds { recipe: Recipe::ours(), n: 3 }];
    for kind in kinds.into_iter().filter(|kind| !is_available(kind)) {
        let cell = CellId { kind, repetition: 0 };
        let error =
            compute(&cell, &tiny_protocol(), &tiny_settings(), &mut |_| Control::Continue).unwrap_err();
        assert!(error.to_string().contains("not there yet"), "{error}");
    }
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
