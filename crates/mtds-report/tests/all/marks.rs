//! Charts of samples and sequences: the marks they consist of, and values that have no place.

use mtds_report::chart::{
    BoxGroup, Boxes, Densities, DensityCurve, Draws, Example, Picture, Range, Reference, Spacing, Traces,
    ViolinGroup, Violins, Words, Zone,
};

fn words() -> Words {
    Words::new("marks", "t", "score")
}

fn svg(picture: Picture) -> String {
    let svg = picture.svg.render();
    crate::balance::assert_balanced(&svg);
    assert!(!svg.contains("NaN"), "{svg}");
    svg
}

fn violins(samples: Vec<Vec<f64>>, y_spacing: Spacing) -> String {
    let clusters = (0..samples.len()).map(|i| format!("cluster {i}")).collect();
    let group = ViolinGroup { label: "model".into(), colour: "red".into(), samples };
    let references = vec![Reference { value: 0.05, label: "floor".into() }];
    svg(Violins { words: words(), clusters, groups: vec![group], references, y_spacing }.draw())
}

fn boxes(samples: Vec<Vec<f64>>, zones: Vec<Zone>, y_range: Option<Range>) -> String {
    let clusters = (0..samples.len()).map(|i| format!("cluster {i}")).collect();
    let group = BoxGroup { label: "model".into(), colour: "red".into(), samples };
    let references = vec![Reference { value: 0.0, label: "truth".into() }];
    svg(Boxes { words: words(), clusters, groups: vec![group], references, zones, y_range }.draw())
}

#[test]
fn a_violin_has_an_outline_and_three_bars() {
    let drawn = violins(vec![vec![0.1, 0.2, 0.3, 0.25], vec![0.5, 0.6]], Spacing::Log);
    assert_eq!(drawn.matches("class=\"violin\"").count(), 2);
    assert_eq!(drawn.matches("class=\"outline\"").count(), 2);
    assert_eq!(drawn.matches("class=\"bar\"").count(), 4);
    assert_eq!(drawn.matches("class=\"bar middle\"").count(), 2);
    assert_eq!(drawn.matches("class=\"reference-0\"").count(), 1);
    assert!(drawn.contains("cluster 1: smallest 0.500, median 0.550, largest 0.600 of 2"));
}

#[test]
fn a_violin_of_equal_values_is_bars_alone_and_an_empty_one_nothing() {
    let drawn = violins(vec![vec![0.3], vec![0.4; 5], vec![]], Spacing::Linear);
    assert_eq!(drawn.matches("class=\"violin\"").count(), 2);
    assert!(!drawn.contains("class=\"outline\""));
    assert_eq!(drawn.matches("class=\"bar middle\"").count(), 2);
}

#[test]
fn values_without_a_place_are_counted_in_the_picture() {
    let values = vec![vec![0.1, 0.2, f64::NAN, -1.0, f64::INFINITY]];
    assert!(violins(values.clone(), Spacing::Log).contains("3 left out"));
    assert!(violins(values.clone(), Spacing::Linear).contains("2 left out"));
    assert!(boxes(values, vec![], None).contains("2 left out"));
    assert!(!violins(vec![vec![0.1, 0.2]], Spacing::Log).contains("left out"));
}

#[test]
fn a_far_value_does_not_squeeze_the_others_but_is_announced() {
    let mut values: Vec<f64> = (0..100).map(|i| 0.01 * f64::from(i)).collect();
    assert!(!violins(vec![values.clone()], Spacing::Linear).contains("class=\"beyond\""));
    values.push(500.0);
    let drawn = violins(vec![values], Spacing::Linear);
    assert_eq!(drawn.matches("class=\"beyond\"").count(), 1);
    assert!(drawn.contains("to 500.0 at most"), "{drawn}");
}

#[test]
fn a_box_has_whiskers_and_its_outliers() {
    let drawn = boxes(vec![vec![1.0, 2.0, 3.0, 4.0, 7.5], vec![], vec![2.0]], vec![], None);
    assert_eq!(drawn.matches("class=\"box\"").count(), 2);
    assert_eq!(drawn.matches("class=\"whisker\"").count(), 2 * 4);
    assert_eq!(drawn.matches("class=\"outlier\"").count(), 1);
    assert!(drawn.contains("cluster 0: median 3.00, quartiles 2.00 and 4.00"));
}

#[test]
fn bands_are_drawn_and_named_where_they_are_in_sight() {
    let zone = |low: f64, high: f64, label: &str| Zone { range: Range { low, high }, label: label.into() };
    let zones = vec![zone(0.0, 1.0, "small"), zone(1.0, 8.0, "large"), zone(20.0, 30.0, "out of sight")];
    let drawn = boxes(vec![vec![0.5, 0.7, 99.0]], zones, Some(Range { low: 0.0, high: 8.0 }));
    assert_eq!(drawn.matches("class=\"zone\"").count(), 2);
    assert!(drawn.contains(">small<") && drawn.contains(">large<") && !drawn.contains(">out of sight<"));
    assert_eq!(drawn.matches("class=\"beyond\"").count(), 1, "99 is beyond the axis");
    assert!(drawn.contains("beyond this axis"));
}

#[test]
fn every_sequence_has_its_cell_and_every_value_its_point() {
    let example = |values: Vec<f64>| Example { label: "one".into(), values };
    let examples = vec![
        example(vec![0.0, 1.0, f64::NAN, 0.5]),
        example(vec![0.2]),
        example(vec![f64::NAN; 3]),
        example(vec![]),
    ];
    let traces = Traces { words: words(), examples, columns: 3, row_height: 60.0, y_range: None };
    let drawn = svg(traces.draw());
    assert_eq!(drawn.matches("class=\"trace\"").count(), 4);
    assert_eq!(drawn.matches("class=\"trace-dot\"").count(), 3 + 1);
    let none = Traces { columns: 0, examples: vec![], ..traces };
    assert!(svg(none.draw()).contains("no data"));
}

#[test]
fn draws_end_where_the_truth_ends() {
    let truth: Vec<f64> = (0..80).map(f64::from).collect();
    let draws = vec![vec![1.0; 65], vec![2.0; 80], vec![f64::NAN; 65]];
    let chart = Draws { words: words(), truth, seen: 15, draws, y_range: None };
    let drawn = svg(chart.draw());
    assert_eq!(drawn.matches("class=\"draw\"").count(), 3);
    assert_eq!(drawn.matches("class=\"observed\"").count(), 15);
    assert_eq!(drawn.matches("class=\"seen\"").count(), 1);
    // Both draws with values end at the same place, the right edge.
    let ends: Vec<&str> = drawn
        .split("class=\"draw\" d=\"")
        .skip(1)
        .filter_map(|path| path.split('"').next()?.rsplit('L').next()?.split(' ').next())
        .filter(|end| !end.is_empty())
        .collect();
    assert_eq!(ends, ["386", "386"]);
    let unseen = Draws { seen: 0, ..chart };
    assert!(!svg(unseen.draw()).contains("class=\"seen\""));
}

#[test]
fn densities_stand_on_zero() {
    let curve = |points: Vec<(f64, f64)>| DensityCurve { label: "p".into(), points };
    let densities = Densities {
        words: words(),
        curves: vec![curve(vec![(0.0, 2.0), (0.5, 2.0)]), curve(vec![(1.0, 0.0)]), curve(vec![])],
    };
    let drawn = svg(densities.draw());
    assert_eq!(drawn.matches("class=\"area\"").count(), 3);
    let path = drawn.split("class=\"line\" d=\"").nth(1).and_then(|s| s.split('"').next()).expect("a line");
    assert_eq!((path.matches('M').count(), path.matches('L').count()), (1, 3), "up, along and down: {path}");
    assert!(svg(Densities::default().draw()).contains("no data"));
}
