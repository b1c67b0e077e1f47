//! Cells at tiny sizes: every kind, the same on any number of threads; test data after learning.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::assemble::assemble;
use super::super::fixtures::{OUR_MODELS, tiny_protocol, tiny_settings};
use super::*;

fn cells() -> Vec<CellId> {
    let kinds = CellKind::all(&tiny_protocol(), &Recipe::ALL);
    kinds.into_iter().map(|kind| CellId { kind, repetition: 0 }).collect()
}

fn computed(cell: &CellId, threads: usize) -> CellResult {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| compute(cell, &tiny_protocol(), &tiny_settings(), &mut |_| Control::Continue).unwrap())
}

#[test]
fn every_cell_is_computed_alike_on_one_thread_and_two() {
    for cell in cells() {
        let one = computed(&cell, 1);
        one.check().unwrap();
        assert_eq!((one.scores.len(), one.scores[1].len()), (2, tiny_protocol().n_test), "{cell}");
        assert_eq!(one.log_evidences.is_some(), cell.kind != CellKind::Single, "{cell}");
        assert_eq!(one.monte_carlo.is_some(), cell.kind == CellKind::Oracle, "{cell}");
        let is_shown = matches!(cell.kind, CellKind::Oracle | CellKind::Mtlds { .. });
        assert_eq!(one.illustrations.len(), if is_shown { 2 } else { 0 }, "{cell}");
        assert_eq!(one, computed(&cell, 2), "{cell}");
    }
}

#[test]
fn one_repetition_is_illustrated() {
    for kind in [CellKind::Oracle, Recipe::Paper.mtlds(3)] {
        assert!(computed(&CellId { kind, repetition: 1 }, 1).illustrations.is_empty());
    }
}

#[test]
fn what_a_single_task_system_cannot_use_is_refused() {
    let cell = CellId { kind: CellKind::Single, repetition: 0 };
    let refused = |change: &dyn Fn(&mut Settings)| {
        let mut settings = tiny_settings();
        change(&mut settings);
        let found = compute(&cell, &tiny_protocol(), &settings, &mut |_| Control::Continue);
        assert!(matches!(found, Err(Error::Setting { .. })), "{found:?}");
    };
    refused(&|settings| settings.single.restarts = 0);
    refused(&|settings| settings.single.sampler.draws = 0);
}

/// The oracle knows how the sequences were made, so hasty models are worse than it on average, in everything.
///
/// Sixteen sequences each: a model this far behind is ahead by luck far less often than once in a thousand seeds.
#[test]
fn no_model_beats_the_oracle() {
    let (protocol, settings) = (Protocol { n_test: 8, ..tiny_protocol() }, tiny_settings());
    let kinds = CellKind::all(&protocol, &[Recipe::Paper]);
    let ids = kinds.iter().flat_map(|kind| kind.cells(&protocol));
    let one = |cell: CellId| compute(&cell, &protocol, &settings, &mut |_| Control::Continue).unwrap();
    let cells: Vec<CellResult> = ids.map(one).collect();
    let assembly = assemble(&protocol, &kinds, &cells).unwrap();
    assert_eq!((assembly.oracle_gaps.len(), assembly.evidence_gaps.len()), (3 * 2, 2));
    for gap in &assembly.oracle_gaps {
        assert!(gap.nll.mean > 0.0 && gap.rmse.mean > 0.0, "{gap:?}");
    }
    assert!(assembly.evidence_gaps.iter().all(|gap| gap.gap.mean > 0.0), "{:?}", assembly.evidence_gaps);
    assert!(assembly.findings.is_empty() && assembly.missing.is_empty(), "{:?}", assembly.findings);
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
        let runs = if cell.kind.model() == "mtlds-ours" { OUR_MODELS } else { 1 };
        assert_eq!(steps.into_inner(), runs * last.into_inner(), "{cell}");
    }
}

#[test]
fn every_model_has_random_streams_of_its_own() {
    let full = Protocol::new(crate::Scale::Full, 1);
    let kinds = CellKind::all(&full, &Recipe::ALL);
    let numbers: std::collections::HashSet<u16> = kinds.iter().map(|k| model_number(k).unwrap()).collect();
    assert_eq!(numbers.len(), kinds.len());
    let large = Recipe::Paper.mtlds(4096);
    assert!(matches!(model_number(&large), Err(Error::Setting { .. })));
}
