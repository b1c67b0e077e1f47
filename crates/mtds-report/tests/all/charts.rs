//! Every chart, fed odd data: the picture stays well-formed, holds no `NaN` and says so when there is nothing.

use mtds_report::chart::{
    Band, BoxGroup, Boxes, Coverage, CoveragePoint, CoverageSeries, Densities, DensityCurve, Draws, Example,
    Fan, Lines, Morph, Picture, Point, Reference, Scatter, Series, Spacing, Stroke, Trace, Traces,
    ViolinGroup, Violins, Words,
};

const ODD: [&[f64]; 9] = [
    &[],
    &[f64::NAN],
    &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY],
    &[1.5],
    &[2.0, 2.0, 2.0],
    &[0.0, f64::NAN, 1.0, 2.0, f64::NAN, f64::NAN, 4.0],
    &[1e-300, 2e-300],
    &[-1e300, 1e300, 1.0],
    &[1e15, 1e15 + 1.0],
];

fn words() -> Words {
    Words::new("odd <data> & \"quotes\"", "time, s", "level, m")
}

fn charts(values: &[f64]) -> Vec<(&'static str, Picture)> {
    let pairs: Vec<_> = values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
    let swapped: Vec<_> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
    let band = Band { level: 0.9, lower: values.to_vec(), upper: values.iter().map(|v| v + 1.0).collect() };
    let fan = Fan {
        words: words(),
        observed: pairs.clone(),
        truth: swapped.clone(),
        times: values.to_vec(),
        bands: vec![band],
        centre: values.to_vec(),
        ..Fan::default()
    };
    let lines = |x_spacing| Lines {
        words: words(),
        series: vec![
            Series { label: "a".into(), points: pairs.clone(), stroke: Stroke::Dotted },
            Series { label: "b".into(), points: swapped.clone(), stroke: Stroke::Faint },
        ],
        x_spacing,
        y_range: None,
    };
    let points = swapped
        .iter()
        .map(|at| Point { at: *at, label: "p".into(), value: at.0, ..Point::default() })
        .collect();
    let scatter = Scatter {
        words: words(),
        points,
        colour: "v".into(),
        path: pairs.clone(),
        path_label: "p".into(),
        ..Scatter::default()
    };
    let points = values.iter().map(|v| CoveragePoint { nominal: *v, empirical: 0.5, std_err: *v }).collect();
    let coverage = Coverage { words: words(), series: vec![CoverageSeries { label: "c".into(), points }] };
    let trace = Trace { label: "t".into(), position: f64::NAN, values: values.to_vec() };
    let morph = Morph { words: words(), traces: vec![trace.clone(), trace], colour: "c".into() };
    let mut charts = sample_charts(values, &pairs);
    charts.extend([
        ("fan", fan.draw()),
        ("lines", lines(Spacing::Linear).draw()),
        ("log lines", lines(Spacing::Log).draw()),
        ("scatter", scatter.draw()),
        ("coverage", coverage.draw()),
        ("morph", morph.draw()),
    ]);
    charts
}

fn sample_charts(values: &[f64], pairs: &[(f64, f64)]) -> Vec<(&'static str, Picture)> {
    let references = vec![Reference { value: f64::NAN, label: "r".into() }];
    let clusters = vec!["a".to_string(), "b".to_string()];
    let samples = vec![values.to_vec(), Vec::new()];
    let group = ViolinGroup { label: "g".into(), colour: "red".into(), samples: samples.clone() };
    let violins = |y_spacing| Violins {
        words: words(),
        clusters: clusters.clone(),
        groups: vec![group.clone(), group.clone()],
        references: references.clone(),
        y_spacing,
    };
    let boxes = Boxes {
        words: words(),
        clusters: clusters.clone(),
        groups: vec![BoxGroup { label: "g".into(), colour: "red".into(), samples }],
        references: references.clone(),
        ..Boxes::default()
    };
    let example = Example { label: "e".into(), values: values.to_vec() };
    let traces = Traces { words: words(), examples: vec![example], columns: 2, ..Traces::default() };
    let draws = vec![values.to_vec()];
    let draws = Draws { words: words(), truth: values.to_vec(), seen: 1, draws, y_range: None };
    let curves = vec![DensityCurve { label: "c".into(), points: pairs.to_vec() }];
    vec![
        ("violins", violins(Spacing::Linear).draw()),
        ("log violins", violins(Spacing::Log).draw()),
        ("boxes", boxes.draw()),
        ("traces", traces.draw()),
        ("draws", draws.draw()),
        ("densities", Densities { words: words(), curves }.draw()),
    ]
}

#[test]
fn odd_data_give_well_formed_pictures_without_nan() {
    for values in ODD {
        for (kind, picture) in charts(values) {
            let svg = picture.svg.render();
            crate::balance::assert_balanced(&svg);
            for fault in ["NaN", "inf", "e+", "<data>"] {
                assert!(!svg.contains(fault), "{kind} of {values:?} holds {fault}: {svg}");
            }
        }
    }
}

#[test]
fn every_picture_has_a_name_for_those_who_cannot_see_it() {
    for (kind, picture) in charts(&[1.0, 2.0]) {
        let svg = picture.svg.render();
        let name = "odd &lt;data&gt; &amp; &quot;quotes&quot;";
        assert!(svg.contains(&format!("<title>{name}</title>")), "{kind}");
        assert!(svg.contains(&format!("role=\"img\" aria-label=\"{name}\"")), "{kind}");
    }
}

#[test]
fn nothing_to_draw_is_said_and_something_is_not() {
    for values in &ODD[..3] {
        for (kind, picture) in charts(values) {
            assert!(picture.svg.render().contains("no data"), "{kind} of {values:?}");
        }
    }
    for (kind, picture) in charts(&[0.2, 0.9]) {
        assert!(!picture.svg.render().contains("no data"), "{kind}");
    }
}

#[test]
fn a_gap_breaks_a_line_in_two() {
    let points = vec![(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 0.0)];
    let series = vec![Series { label: "a".into(), points, stroke: Stroke::Plain }];
    let svg = Lines { words: words(), series, ..Lines::default() }.draw().svg.render();
    let line = svg.split("class=\"line series-0\" d=\"").nth(1).and_then(|s| s.split('"').next());
    let line = line.expect("the series is drawn");
    assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 2), "{line}");
}

#[test]
fn fan_draws_the_widest_band_first_so_that_all_are_seen() {
    let band = |level: f64| Band { level, lower: vec![-level; 2], upper: vec![level; 2] };
    let fan = Fan {
        bands: vec![band(0.5), band(0.95), band(0.8)],
        times: vec![0.0, 1.0],
        centre: vec![0.0; 2],
        ..Fan::default()
    };
    let svg = fan.draw().svg.render();
    let shares: Vec<f64> = svg
        .split("var(--forecast) ")
        .skip(1)
        .map(|s| s.split('%').next().expect("a share").parse().expect("a number"))
        .collect();
    assert_eq!(shares.len(), 3);
    assert!(shares.windows(2).all(|w| w[0] < w[1]), "paler bands lie below: {shares:?}");
}

#[test]
fn labels_on_a_crowded_map_do_not_overlap() {
    let crowd = |n: usize| -> Vec<Point> {
        (0..n)
            .map(|i| Point { at: (i as f64 * 0.01, 0.0), label: format!("member {i}"), ..Point::default() })
            .collect()
    };
    let drawn = |points| {
        Scatter { points, ..Scatter::default() }.draw().svg.render().matches("class=\"point-label\"").count()
    };
    assert_eq!(drawn(crowd(1)), 1);
    let shown = drawn(crowd(200));
    assert!((2..60).contains(&shown), "{shown} labels of 200 points in a row");
}
