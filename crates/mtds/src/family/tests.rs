//! Tests of `Family`: what it refuses, what it keeps, and its subsets.

use proptest::prelude::*;

use super::*;

fn sequence(id: &str, values: &[f64]) -> Sequence {
    Sequence::new(id, Signal::column(values.to_vec())).unwrap()
}

fn with_inputs(id: &str, n_time: usize, width: usize) -> Sequence {
    let inputs = Signal::new(n_time, width, vec![0.5; n_time * width]).unwrap();
    sequence(id, &vec![1.0; n_time]).with_inputs(inputs).unwrap()
}

#[test]
fn a_ragged_family_knows_its_sizes() {
    let family = Family::new(vec![sequence("a", &[1.0, f64::NAN, 3.0]), sequence("b", &[4.0])]).unwrap();
    assert_eq!((family.n_seq(), family.d_obs(), family.d_input()), (2, 1, 0));
    assert_eq!((family.max_time(), family.n_observed()), (3, 3));
    assert_eq!(family.output_names(), ["y"]);
    assert!(family.input_names().is_empty() && family.inputs_of(0).is_none());
    assert_eq!(family.get("b").unwrap().outputs().values(), [4.0]);
    assert_eq!(family.index_of("b").unwrap(), 1);
}

#[test]
fn a_family_needs_an_observed_output() {
    assert!(matches!(Family::new(vec![]), Err(Error::EmptyFamily(_))));
    let blank = || sequence("blank", &[f64::NAN, f64::NAN]);
    assert!(matches!(Family::new(vec![blank()]), Err(Error::EmptyFamily(_))));
    let family = Family::new(vec![blank(), sequence("a", &[1.0])]).unwrap();
    assert_eq!(family.n_observed(), 1);
    assert!(matches!(family.subset(&[0]), Err(Error::EmptyFamily(_))));
}

#[test]
fn equal_ids_and_names_are_refused() {
    let error = Family::new(vec![sequence("a", &[1.0]), sequence("a", &[2.0])]).unwrap_err();
    assert_eq!(error.to_string(), "two sequences are called `a`; give each a name of its own");
    let wide = Sequence::new("a", Signal::new(1, 2, vec![1.0, 2.0]).unwrap()).unwrap();
    let family = Family::new(vec![wide]).unwrap();
    assert_eq!(family.output_names(), ["y1", "y2"]);
    assert!(matches!(family.clone().with_output_names(["v", "v"]), Err(Error::Duplicate { .. })));
    assert!(matches!(family.clone().with_output_names(["v"]), Err(Error::Shape { .. })));
    assert!(matches!(family.with_input_names(["push"]), Err(Error::Shape { .. })));
}

#[test]
fn widths_must_agree() {
    let wide = Sequence::new("wide", Signal::new(1, 2, vec![1.0, 2.0]).unwrap()).unwrap();
    let error = Family::new(vec![sequence("a", &[1.0]), wide]).unwrap_err().to_string();
    let expected = "outputs of sequence `wide`: expected 1 column(s) as in sequence `a`, found 2 column(s)";
    assert_eq!(error, expected);
    let error = Family::new(vec![with_inputs("a", 2, 1), with_inputs("b", 2, 3)]).unwrap_err().to_string();
    assert!(error.starts_with("inputs of sequence `b`"), "{error}");
}

#[test]
fn inputs_belong_to_all_or_none() {
    for sequences in [
        vec![with_inputs("a", 2, 1), sequence("b", &[1.0])],
        vec![sequence("b", &[1.0]), with_inputs("a", 2, 1)],
    ] {
        assert!(matches!(Family::new(sequences), Err(Error::Shape { .. })));
    }
    let family = Family::new(vec![with_inputs("a", 2, 3), with_inputs("b", 4, 3)]).unwrap();
    assert_eq!((family.inputs(), family.d_input()), (&Inputs::Own, 3));
    assert_eq!(family.inputs_of(1).unwrap().n_time(), 4);
    let common = Signal::column(vec![0.0; 4]);
    assert!(matches!(family.with_common_inputs(common), Err(Error::Setting { .. })));
}

#[test]
fn common_inputs_cover_the_longest_sequence() {
    let family = Family::new(vec![sequence("a", &[1.0]), sequence("b", &[1.0; 3])]).unwrap();
    let short = Signal::column(vec![0.0; 2]);
    assert!(matches!(family.clone().with_common_inputs(short), Err(Error::Shape { .. })));
    let gap = Signal::column(vec![0.0, 0.0, f64::NAN]);
    assert!(matches!(family.clone().with_common_inputs(gap), Err(Error::NotFinite { .. })));
    let inputs = Signal::column(vec![1.0, 0.0, 0.0, 0.0]);
    let family = family.with_common_inputs(inputs.clone()).unwrap();
    assert_eq!(family.inputs(), &Inputs::Common(inputs.clone()));
    assert_eq!((family.inputs_of(0), family.d_input()), (Some(&inputs), 1));
    assert!(family.with_common_inputs(inputs).is_err());
}

#[test]
fn subsets_keep_names_inputs_and_order() {
    let sequences = ["a", "b", "c"].map(|id| sequence(id, &[1.0, 2.0]).with_label(format!("style {id}")));
    let family = Family::new(sequences.to_vec()).unwrap().with_output_names(["speed"]).unwrap();
    let family = family.with_common_inputs(Signal::column(vec![1.0; 5])).unwrap();
    let family = family.with_input_names(["push"]).unwrap();
    let subset = family.subset(&[2, 0]).unwrap();
    assert_eq!(subset.sequences().iter().map(Sequence::id).collect::<Vec<_>>(), ["c", "a"]);
    assert_eq!(subset.labels().collect::<Vec<_>>(), [Some("style c"), Some("style a")]);
    assert_eq!((subset.output_names(), subset.input_names()), (family.output_names(), family.input_names()));
    assert_eq!(subset.inputs(), family.inputs());
    assert!(subset.without_labels().labels().all(|label| label.is_none()));
}

#[test]
fn bad_subsets_are_errors() {
    let family = Family::new(vec![sequence("a", &[1.0]), sequence("b", &[1.0])]).unwrap();
    assert_eq!(family.subset(&[2]).unwrap_err().to_string(), "no sequence number `2`; there are: 0 to 1");
    assert!(matches!(family.subset(&[1, 1]), Err(Error::Duplicate { .. })));
    assert!(matches!(family.subset(&[]), Err(Error::EmptyFamily(_))));
}

#[test]
fn an_unknown_id_lists_some_known_ones() {
    let family = Family::new((0..12).map(|i| sequence(&format!("s{i}"), &[1.0])).collect()).unwrap();
    let error = family.get("walk").unwrap_err().to_string();
    assert!(error.starts_with("no sequence `walk`; there are: s0, s1, "), "{error}");
    assert!(error.ends_with("s9, and 2 more"), "{error}");
}

proptest! {
    #[test]
    fn a_subset_in_the_same_order_is_the_family(lengths in prop::collection::vec(1usize..6, 1..8)) {
        let sequences = lengths.iter().enumerate();
        let sequences = sequences.map(|(i, &n)| with_inputs(&i.to_string(), n, 2)).collect();
        let family = Family::new(sequences).unwrap();
        prop_assert_eq!(family.max_time(), *lengths.iter().max().unwrap());
        prop_assert_eq!(family.n_observed(), lengths.iter().sum::<usize>());
        let all: Vec<usize> = (0..family.n_seq()).collect();
        prop_assert_eq!(&family.subset(&all).unwrap(), &family);
    }
}
