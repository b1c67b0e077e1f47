//! Assembly of made-up cells whose numbers can be worked out by hand.

use super::super::compare::{Score, Unit};
use super::super::fixtures::{cell, mtlds, protocol};
use super::*;

fn kinds() -> Vec<CellKind> {
    vec![CellKind::Oracle, CellKind::Pooled, CellKind::Single, mtlds(4)]
}

fn cells(mtlds_level: f64) -> Vec<CellResult> {
    let levels =
        [(CellKind::Oracle, 0.1), (CellKind::Pooled, 0.4), (CellKind::Single, 0.3), (mtlds(4), mtlds_level)];
    let both = |(kind, level): (CellKind, f64)| [cell(kind.clone(), 0, level), cell(kind, 1, level)];
    levels.into_iter().flat_map(both).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn rows_are_means_over_repetitions_of_means_over_sequences() {
    let assembly = assemble(&protocol(), &kinds(), &cells(0.2)).unwrap();
    assert_eq!(assembly.rows.len(), 4 * 3);
    let row = &assembly.rows[10];
    assert_eq!((row.method.as_str(), row.seen, row.n_seq), ("mtlds-ours-n0004", Seen::Steps(20), 12));
    assert_eq!(assembly.row(&mtlds(4), 20), Some(row));
    // Sequences 0 to 5 add 0.025 on average; repetitions add 0 and 0.003, so ± 0.0015.
    assert!(close(row.rmse, 0.2 + 0.025 + 0.0015 + 0.05) && close(row.rmse_se.unwrap(), 0.0015), "{row:?}");
    assert!(close(row.nll, 2.0 + 0.025 + 0.0015) && close(row.nll_se.unwrap(), 0.0015), "{row:?}");
    assert!(close(row.crps, 0.1));
    assert_eq!((row.cover50, row.cover80, row.cover95), (0.5, 0.75, 1.0));
    assert!(assembly.missing.is_empty() && assembly.left_out.is_empty() && assembly.findings.is_empty());
    let json = serde_json::to_value(&assembly).unwrap();
    assert_eq!(
        (&json["rows"][10]["method"], &json["rows"][10]["seen"]),
        (&"mtlds-ours-n0004".into(), &20.into())
    );
    assert_eq!(serde_json::from_value::<Assembly>(json).unwrap(), assembly);
}

#[test]
fn differences_to_the_oracle_are_paired() {
    let assembly = assemble(&protocol(), &kinds(), &cells(0.2)).unwrap();
    let gap = assembly.oracle_gaps.iter().find(|gap| gap.method == mtlds(4) && gap.seen == 40).unwrap();
    assert!(close(gap.rmse.mean, 0.1) && close(gap.nll.mean, 1.0));
    assert!(gap.rmse.std_error.unwrap() < 1e-12, "what sequences have in common drops out");
    assert_eq!(assembly.oracle_gaps.len(), 3 * 3);
    let models: Vec<&CellKind> = assembly.evidence_gaps.iter().map(|gap| &gap.method).collect();
    assert_eq!(models, [&CellKind::Pooled, &mtlds(4)], "a model without evidence has no row");
    let gap = &assembly.evidence_gaps[1];
    assert!(
        gap.by_repetition.len() == 2 && gap.by_repetition.iter().all(|&value| (value - 10.0).abs() < 1e-9)
    );
}

#[test]
fn an_mtlds_is_compared_with_both_baselines() {
    let assembly = assemble(&protocol(), &kinds(), &cells(0.2)).unwrap();
    assert_eq!(assembly.comparisons.len(), 2 * 3 * 2);
    for comparison in &assembly.comparisons {
        let expected = if comparison.against == CellKind::Pooled { -0.2 } else { -0.1 };
        assert!(comparison.method == mtlds(4) && close(comparison.difference, expected), "{comparison:?}");
        let (welch, mann_whitney) = (comparison.welch.unwrap(), comparison.mann_whitney.unwrap());
        assert!(welch.statistic < 0.0 && welch.p_value < 0.01 && mann_whitney.statistic == 0.0);
        if comparison.unit == Unit::Repetition {
            assert!(close(mann_whitney.p_value, 1.0 / 3.0), "two against two");
        } else {
            // Twelve against twelve without overlap and without ties: 2 of 24 choose 12 arrangements.
            assert!((mann_whitney.p_value / (2.0 / 2_704_156.0) - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn missing_cells_are_named_and_the_rest_is_assembled() {
    let mut cells = cells(0.2);
    let id = |text: &str| text.parse::<CellId>().unwrap();
    cells.retain(|cell| {
        ![id("oracle-r01"), id("mtlds-ours-n0004-r00"), id("single-r00"), id("single-r01")]
            .contains(&cell.cell)
    });
    cells.push(cell(mtlds(64), 0, 0.2));
    let assembly = assemble(&protocol(), &kinds(), &cells).unwrap();
    let missing: Vec<String> = assembly.missing.iter().map(CellId::to_string).collect();
    assert_eq!(missing, ["oracle-r01", "single-r00", "single-r01", "mtlds-ours-n0004-r00"]);
    assert_eq!(assembly.left_out, [id("mtlds-ours-n0064-r00")]);
    assert_eq!(assembly.rows.len(), 3 * 3);
    assert!(assembly.rows.iter().all(|row| row.rmse_se.is_some() == (row.method == "pooled")));
    assert!(assembly.oracle_gaps.iter().all(|gap| gap.method == CellKind::Pooled), "no repetition in common");
    let nothing = assemble(&protocol(), &kinds(), &[]).unwrap();
    assert!(nothing.rows.is_empty() && nothing.comparisons.is_empty() && nothing.missing.len() == 8);
}

#[test]
fn a_model_better_than_the_oracle_is_a_finding() {
    // Twelve sequences: Monte-Carlo errors of the means are 0.012, 0.12 and 0.3 over √12; 3 of them are allowed.
    let within = assemble(&protocol(), &kinds(), &cells(0.1 - 0.0100)).unwrap();
    assert!(
        within.findings.iter().all(|finding| finding.score == Score::LogEvidence),
        "{:?}",
        within.findings
    );
    let beyond = assemble(&protocol(), &kinds(), &cells(0.1 - 0.0110)).unwrap();
    assert_eq!(beyond.findings.len(), 3 + 3 + 1);
    for finding in &beyond.findings {
        assert_eq!(finding.method, mtlds(4));
        assert!(finding.excess < -3.0 * finding.monte_carlo_se && finding.sampling_se.unwrap() < 1e-9);
        assert_eq!(finding.seen.is_none(), finding.score == Score::LogEvidence);
    }
}

#[test]
fn cells_that_do_not_belong_are_refused() {
    let mut twice = cells(0.2);
    twice.push(twice[3].clone());
    let error = assemble(&protocol(), &kinds(), &twice).unwrap_err();
    assert!(matches!(&error, Error::Duplicate { name, .. } if name == "pooled-r01"), "{error}");
    let mut other = cells(0.2);
    other[2].protocol.seed += 1;
    let error = assemble(&protocol(), &kinds(), &other).unwrap_err();
    assert!(error.to_string().contains("cell pooled-r00 has another one"), "{error}");
    let mut damaged = cells(0.2);
    damaged[5].scores[0].clear();
    assert!(matches!(assemble(&protocol(), &kinds(), &damaged), Err(Error::Shape { .. })));
}
