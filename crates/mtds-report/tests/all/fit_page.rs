//! The page of a fit: whole, and with next to nothing.

use mtds::evaluate::{Coverage, ScoreRow, Seen, SequenceScore};
use mtds::parts::Lds;
use mtds::random::stream;
use mtds::{Architecture, Family, Member, Scaling, Sequence, System};
use mtds_report::chart::{Band, CoveragePoint, CoverageSeries};
use mtds_report::code_map::CodeMap;
use mtds_report::fit::{Curve, FitReport, MorphPath, Panel, Residuals, page};

/// A system of two outputs without inputs, members on a line of codes, and the family that they make.
fn made() -> (System, Vec<Member>, Family) {
    let architecture = Architecture::new(Lds::new(2, 2, 0), 2).adapt("initial_state");
    let system =
        System::initialise(architecture, Scaling::identity(2, 0), &mut stream(1, 0)).expect("sizes fit");
    let member = |i: usize| Member {
        id: format!("m{i}"),
        label: None,
        code_mean: vec![i as f64, -0.5 * i as f64],
        code_std_dev: vec![0.1; 2],
    };
    let members: Vec<Member> = [2, 0, 4, 1].into_iter().map(member).collect();
    let sequences = members.iter().map(|member| {
        let outputs = system.generate(&member.code_mean, None, 12).expect("a code that fits");
        Sequence::new(member.id.clone(), outputs).expect("numbers")
    });
    let family = Family::new(sequences.collect()).expect("one width");
    (system, members, family)
}

fn line(seen: usize, method: &str, rmse: f64) -> ScoreRow {
    let coverage = |level: f64| Coverage { level, share: level - 0.02 };
    let score = |rmse: f64| SequenceScore {
        n_observed: 4,
        rmse,
        nll: -0.5,
        crps: 0.6 * rmse,
        coverage: [0.5, 0.8, 0.95].map(coverage).to_vec(),
        pit: vec![],
    };
    let scores = [score(rmse - 0.01), score(rmse + 0.01)];
    ScoreRow::over(method, Seen::Steps(seen), scores.iter()).expect("two of them")
}

fn panel(seen: usize, width: f64) -> Panel {
    let times: Vec<f64> = (seen + 1..=12).map(|t| t as f64).collect();
    let band = |level: f64| Band {
        level,
        lower: vec![-width * level; times.len()],
        upper: vec![width * level; times.len()],
    };
    Panel {
        title: "m7".into(),
        seen,
        observed: (1..=seen).map(|t| (t as f64, 0.1)).collect(),
        truth: times.iter().map(|t| (*t, 0.2)).collect(),
        bands: [0.5, 0.8, 0.95].map(band).to_vec(),
        median: vec![0.0; times.len()],
        times,
    }
}

fn report() -> FitReport {
    let (system, members, family) = made();
    let map = CodeMap::of(&members).expect("members");
    let morph = MorphPath::between_ends(&system, &members, &map, &family, 1).expect("no inputs needed");
    let points = vec![CoveragePoint { nominal: 0.5, empirical: 0.52, std_err: 0.02 }];
    FitReport {
        model: "model".into(),
        judged: "4 sequences".into(),
        curves: vec![Curve {
            stage: "Stage: start".into(),
            training: vec![(1.0, 0.0), (2.0, 1.0)],
            held_out: vec![],
        }],
        explained: system
            .explained(&family, &members.iter().map(|m| m.code_mean.clone()).collect::<Vec<_>>())
            .expect("codes of its own"),
        members,
        map: Some(map),
        usage: None,
        scores: [(4, 0.3), (8, 0.1)]
            .into_iter()
            .flat_map(|(seen, rmse)| [line(seen, "this model", rmse), line(seen, "last value", 2.0 * rmse)])
            .collect(),
        panels: vec![panel(4, 2.0), panel(8, 0.5)],
        coverage: vec![CoverageSeries { label: "after 4 steps".into(), points }],
        morph,
        residuals: Residuals {
            tenths: vec![0.1; 10],
            tenth_error: 0.05,
            autocorrelation: vec![0.02; 5],
            autocorrelation_error: 0.1,
        },
        next: vec![("mtds watch model".into(), "follows a stream".into())],
        settings: vec![("seed".into(), "1".into())],
    }
}

fn html(report: &FitReport) -> String {
    let html = page(report).render();
    let style = html.find("<style>").expect("styled")..html.find("</style>").expect("styled");
    crate::balance::assert_balanced(&format!("{}{}", &html[..style.start], &html[style.end + 8..]));
    assert!(!html.contains("NaN"), "a number is not finite");
    html
}

#[test]
fn the_page_is_whole() {
    let html = html(&report());
    // Kept, so that a person can look at it.
    std::fs::write(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("fit.html"), &html)
        .expect("written");
    assert_eq!(html.matches("<section>").count(), 8);
    // Learning 1, map 1, forecasts 2, scores 2, intervals 1, morph 2, residuals 2.
    assert_eq!(html.matches("role=\"img\"").count(), 11);
    assert!(!html.contains(">no data<"));
    assert!(html.contains("<code>mtds watch model</code>"));
}

#[test]
fn a_morph_leads_from_one_end_of_the_map_to_the_other() {
    let (system, members, family) = made();
    let map = CodeMap::of(&members).expect("members");
    let morph = MorphPath::between_ends(&system, &members, &map, &family, 1).expect("made").expect("apart");
    let mut ends = [members[morph.from].id.as_str(), members[morph.to].id.as_str()];
    ends.sort_unstable();
    assert_eq!(ends, ["m0", "m4"]);
    assert_eq!((morph.traces.len(), morph.output.as_str()), (11, family.output_names()[1].as_str()));
    let first: Vec<f64> = family.sequence(morph.from).outputs().rows().map(|row| row[1]).collect();
    assert_eq!(morph.traces[0].values, first, "it begins as the member itself");
    let alike: Vec<Member> =
        members.iter().map(|m| Member { code_mean: vec![1.0, 1.0], ..m.clone() }).collect();
    let map = CodeMap::of(&alike).expect("members");
    let none = MorphPath::between_ends(&system, &alike, &map, &family, 0).expect("made");
    assert_eq!(none, None, "nowhere to go");
}

#[test]
fn forecasts_of_one_sequence_share_their_axis() {
    let whole = report();
    let wide_alone = FitReport { panels: vec![whole.panels[1].clone()], ..whole.clone() };
    // The narrow forecast alone fills its panel; beside the wide one it does not.
    let ticks =
        |report: &FitReport| html(report).matches(">2<").count() + html(report).matches(">−2<").count();
    assert!(ticks(&whole) > ticks(&wide_alone));
}

#[test]
fn a_report_of_nothing_is_still_a_page() {
    let empty = FitReport {
        curves: vec![],
        members: vec![],
        map: None,
        explained: vec![],
        scores: vec![],
        panels: vec![],
        coverage: vec![],
        morph: None,
        residuals: Residuals::default(),
        next: vec![],
        ..report()
    };
    let html = html(&empty);
    assert_eq!(html.matches("<section>").count(), 1, "the settings");
}
