//! The page of the oscillator experiment: whole, in part, with nothing; its numbers are those of the input.

use crate::dho_fixture::Fixture;
use mtds::evaluate::ScoreRow;
use mtds_experiments::dho::published::{self, Subject};
use mtds_experiments::dho::report::{DhoReport, Examples, page};
use mtds_experiments::dho::{CellKind, Finding, Protocol, Recipe, Scale};
use std::path::Path;

fn html(report: &DhoReport<'_>) -> String {
    let html = page(report).render();
    let style = html.find("<style>").expect("styled")..html.find("</style>").expect("styled");
    crate::balance::assert_balanced(&format!("{}{}", &html[..style.start], &html[style.end + 8..]));
    assert!(!html.contains("NaN") && !html.contains("inf\""), "a number is not finite");
    html
}

/// The page without its style sheet, with minus signs and non-breaking spaces as they are typed.
fn plain(html: &str) -> String {
    let (head, rest) = html.split_once("<style>").expect("styled");
    let (_, body) = rest.split_once("</style>").expect("styled");
    format!("{head}{body}").replace('−', "-").replace('\u{a0}', " ")
}

#[test]
fn the_whole_page_has_every_figure_and_says_nothing_is_missing() {
    let fixture = Fixture::without(|_| false);
    let html = html(&fixture.report());
    // Kept, so that a person can look at it.
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("dho.html"), &html).expect("written");
    assert_eq!(html.matches("<section>").count(), 6);
    // Examples 2, gallery 2, parameters 2; draws 2, predictives 4; violins 2 for each recipe; boxes 2.
    assert_eq!(html.matches("role=\"img\"").count(), 6 + 6 + 4 + 2);
    for absent in [">no data<", ": not computed yet", "Still missing", "preliminary"] {
        assert!(!html.contains(absent), "{absent}");
    }
    assert_eq!(html.matches("class=\"violin\"").count(), 2 * 2 * 3 * 6);
    assert_eq!(html.matches("class=\"box\"").count(), 2 * 2 * 7);
    assert_eq!(html.matches("class=\"trace\"").count(), 4 + 2 + 20);
    assert_eq!(html.matches("class=\"draw\"").count(), 2 * 30 + 1, "and one in the legend");
    assert!(html.contains("170\u{a0}of\u{a0}170"));
}

#[test]
fn published_numbers_stand_beside_those_of_the_assembly() {
    let fixture = Fixture::without(|_| false);
    let report = fixture.report();
    let text = plain(&html(&report));
    let subjects = [Subject::Pooled, Subject::Single].into_iter().chain([4, 16, 128].map(Subject::Mtlds));
    for row in subjects.map(|subject| published::row(subject).expect("published")) {
        let cells = |values: [f64; 3]| values.map(|v| format!("<span>{v:.2}</span></td>"));
        for cell in cells(row.rmse).into_iter().chain(cells(row.nll)) {
            assert!(text.contains(&cell), "{row:?} lacks {cell}");
        }
    }
    let shown = |row: &&ScoreRow| match row.method.parse().expect("the name of a model") {
        CellKind::Mtlds { n, .. } => [4, 16, 128].contains(&n),
        _ => true,
    };
    let rows: Vec<_> = report.assembly.rows.iter().filter(shown).collect();
    assert_eq!(rows.len(), 3 * (3 + 2 * 3));
    for row in rows {
        let (rmse_se, nll_se) = (row.rmse_se.expect("ten repetitions"), row.nll_se.expect("ten repetitions"));
        for cell in [
            format!("<span>{:.3}</span><small> ± {rmse_se:.3}</small>", row.rmse),
            format!("<span>{:.2}</span><small> ± {nll_se:.2}</small>", row.nll),
            format!("<span>{:.1}</span>", 100.0 * row.cover80),
            format!("<span>{:.4}</span>", row.crps),
        ] {
            assert!(text.contains(&cell), "{row:?} lacks {cell}");
        }
    }
    for gap in report.assembly.evidence_gaps.iter().filter(|gap| gap.method != CellKind::Pooled) {
        let cell = format!("<span>{:.2}</span>", gap.gap.mean);
        assert!(text.contains(&cell), "{gap:?} lacks {cell}");
    }
}

#[test]
fn what_is_missing_is_named_and_the_rest_is_shown() {
    let fixture = Fixture::without(|id| {
        matches!(&id.kind, CellKind::Mtlds { recipe: Recipe::Ours, n } if *n >= 64)
            || id.kind == CellKind::Single
            || id.to_string() == "pooled-r03"
    });
    let text = plain(&html(&fixture.report()));
    assert!(text.contains("31 cells are still missing"));
    for (model, which) in [
        ("MTLDS-128, our recipe", "all repetitions"),
        ("MTLDS-64, our recipe", "all repetitions"),
        ("STL", "all repetitions"),
        ("Pooled", "repetition 4"),
    ] {
        assert!(text.contains(&format!("<dt>{model}</dt><dd>{which}</dd>")), "{model}");
    }
    assert!(text.contains("<dd>139 of 170</dd>"));
    // Three times and both scores of two models.
    assert_eq!(text.matches("<td class=\"missing\">–</td>").count(), 2 * 6 + 2, "and two gaps in evidence");
}

#[test]
fn a_page_of_nothing_says_so() {
    let fixture = Fixture::without(|_| true);
    let whole = fixture.report();
    let report = DhoReport {
        examples: Examples::default(),
        illustrated: None,
        exact: vec![],
        recipes: vec![],
        settings: vec![],
        ..whole
    };
    let text = plain(&html(&report));
    assert!(text.contains("no data") && text.contains("not computed yet"));
    assert!(text.contains("<dd>0 of 170</dd>"));
    assert!(text.contains(">published<"), "the paper's numbers are there all the same");
}

#[test]
fn an_experiment_of_other_sizes_shows_its_own() {
    let protocol = Protocol { training_sizes: vec![2, 4, 8], ..Protocol::new(Scale::Quick, 1) };
    let fixture = Fixture::of(protocol, |_| false);
    let text = plain(&html(&fixture.report()));
    assert!(text.contains("MTLDS-2") && text.contains("MTLDS-8") && !text.contains("MTLDS-128"));
    assert_eq!(text.matches("class=\"box\"").count(), 2 * 2 * 3);
}

#[test]
fn a_model_better_than_the_oracle_is_listed() {
    let mut fixture = Fixture::without(|_| false);
    let kinds: Vec<CellKind> = {
        let mut kinds: Vec<_> = fixture.cells.iter().map(|cell| cell.cell.kind.clone()).collect();
        kinds.dedup();
        kinds
    };
    for cell in fixture.cells.iter_mut().filter(|cell| cell.cell.kind == CellKind::Pooled) {
        cell.scores[1].iter_mut().for_each(|score| score.nll = -9.0);
    }
    fixture.assembly =
        mtds_experiments::dho::assemble(&fixture.protocol, &kinds, &fixture.cells).expect("whole");
    let is_pooled = |finding: &&Finding| finding.method == CellKind::Pooled;
    let finding = fixture.assembly.findings.iter().find(is_pooled).expect("far better");
    let text = plain(&html(&fixture.report()));
    let cells = "<th scope=\"row\">Pooled</th><td class=\"words\">NLL</td><td class=\"words\">20</td>";
    assert!(
        text.contains(cells) && text.contains(&format!("<span>{:.4}</span>", finding.excess)),
        "{finding:?}"
    );
}
