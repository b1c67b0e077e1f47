//! What is held out and how it is cut.

use super::super::material::{Part, divide};
use super::*;
use crate::family::{Scaling, SegmentPlan};

fn counting(id: usize, n_time: usize) -> Sequence {
    let values = (0..n_time).map(|t| (100 * id + t) as f64).collect();
    let inputs = Signal::column((0..n_time + 2).map(|t| t as f64).collect());
    Sequence::new(format!("{id}"), Signal::column(values)).unwrap().with_inputs(inputs).unwrap()
}

fn outputs(part: &Part, plan: Option<SegmentPlan>) -> Vec<(usize, Vec<f64>, Vec<f64>)> {
    let pieces = part.pieces(&Scaling::identity(1, 1), plan).unwrap();
    pieces.into_iter().map(|piece| (piece.sequence, piece.outputs, piece.inputs)).collect()
}

#[test]
fn ends_are_held_out_of_every_sequence_with_their_inputs() {
    let family = Family::new(vec![counting(0, 5), counting(1, 1), counting(2, 2)]).unwrap();
    let (train, held_out) = divide(&family, HeldOut::Ends(0.4), 1).unwrap();
    let expected = vec![
        (0, vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 2.0]),
        (1, vec![100.0], vec![0.0]),
        (2, vec![200.0], vec![0.0]),
    ];
    assert_eq!(outputs(&train, None), expected);
    let expected = vec![(0, vec![3.0, 4.0], vec![3.0, 4.0]), (2, vec![201.0], vec![1.0])];
    assert_eq!(outputs(&held_out.unwrap(), None), expected);
}

#[test]
fn whole_sequences_are_held_out_before_cutting() {
    let family = Family::new((0..8).map(|i| counting(i, 6)).collect()).unwrap();
    let (train, held_out) = divide(&family, HeldOut::Sequences(0.25), 1).unwrap();
    let plan = Some(SegmentPlan { length: 4, overlap: 2 });
    let (train, held_out) = (outputs(&train, plan), outputs(&held_out.unwrap(), plan));
    assert_eq!((train.len(), held_out.len()), (12, 4));
    // The number that a piece claims is that of the sequence that its values come from.
    let right = |(number, values, _): &(usize, Vec<f64>, Vec<f64>)| values[0] as usize / 100 == *number;
    assert!(train.iter().chain(&held_out).all(right));
    assert!(train.iter().all(|a| held_out.iter().all(|b| a.0 != b.0)));
}
