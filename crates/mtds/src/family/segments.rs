//! Cutting long sequences into segments, each learned as a sequence of its own.
//!
//! ```text
//! segment j of a sequence = steps [j·s, j·s + length)        stride s = length − overlap
//!
//! length 4, overlap 1, 9 steps:   0 1 2 3
//!                                       3 4 5 6
//!                                             6 7 8
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Family, Inputs, Sequence, Signal};
use crate::{Error, Result};

/// How to cut: segments of at most `length` steps, neighbours sharing `overlap` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentPlan {
    /// Steps of a segment; at least 1. The last one of a sequence may be shorter.
    pub length: usize,
    /// Steps that a segment shares with the one before it; less than `length`.
    pub overlap: usize,
}

/// The segments of a family, themselves a family.
#[derive(Debug, Clone, PartialEq)]
pub struct Segments {
    /// The segments, called e.g. `a[0..64]`, in the order of their sequences, then of time.
    pub family: Family,
    /// Where each comes from; as many as there are segments.
    pub origins: Vec<Origin>,
    /// Number of segments left out because all their outputs were missing.
    pub n_dropped: usize,
}

/// Where a segment comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The number of its sequence in the family that was cut, counted from 0.
    pub sequence: usize,
    /// Its first step in that sequence, counted from 0.
    pub start: usize,
}

impl SegmentPlan {
    /// Cuts every sequence of `family`; outputs, own inputs and common inputs alike, labels carried along.
    ///
    /// A last, shorter segment is there only if it brings steps that no segment had. Inputs end with their
    /// segment. Common inputs stay common, and whole, while all segments start at step 0; else each
    /// segment gets its part of them as inputs of its own.
    ///
    /// # Errors
    /// [`Error::Setting`] if `length` is 0 or `overlap` is not below it.
    pub fn cut(&self, family: &Family) -> Result<Segments> {
        self.check()?;
        let all = (0..family.n_seq())
            .flat_map(|i| self.ranges(family.sequence(i).n_time()).map(move |range| (i, range)));
        let (kept, dropped): (Vec<_>, Vec<_>) = all.partition(|(i, range)| {
            let outputs = family.sequence(*i).outputs();
            range.clone().any(|t| outputs.row(t).iter().any(|value| !value.is_nan()))
        });
        let origins = kept.iter().map(|(i, range)| Origin { sequence: *i, start: range.start }).collect();
        Ok(Segments { family: cut_at(family, &kept)?, origins, n_dropped: dropped.len() })
    }

    fn check(&self) -> Result<()> {
        let Self { length, overlap } = *self;
        if length == 0 {
            return Err(Error::setting("length", "found 0; expected segments of at least 1 step"));
        }
        if overlap >= length {
            let why = format!("found {overlap}; expected less than the segment length {length}");
            return Err(Error::setting("overlap", why));
        }
        Ok(())
    }

    /// The steps of each segment of a sequence of `n_time ≥ 1` steps.
    fn ranges(&self, n_time: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let Self { length, overlap } = *self;
        // A segment is new only where it goes beyond the `overlap` steps that the one before it had.
        let starts = (0..n_time).step_by(length - overlap);
        let starts = starts.take_while(move |&start| start == 0 || start + overlap < n_time);
        starts.map(move |start| start..n_time.min(start.saturating_add(length)))
    }
}

impl Segments {
    /// The same segments, every step counted once: outputs that an earlier segment of the sequence has are missing in
    /// later ones, whose first steps then only bring the state to where it was.
    ///
    /// # Errors
    /// None for segments that [`SegmentPlan::cut`] made.
    pub fn counted_once(&self) -> Result<Family> {
        let (family, mut ends) = (&self.family, std::collections::HashMap::new());
        let once = |(piece, origin): (&Sequence, &Origin)| -> Result<Sequence> {
            let (n_time, width) = (piece.n_time(), piece.outputs().width());
            let mut values = piece.outputs().values().to_vec();
            let seen: &mut usize = ends.entry(origin.sequence).or_insert(0);
            values[..seen.saturating_sub(origin.start).min(n_time) * width].fill(f64::NAN);
            *seen = origin.start + n_time;
            let outputs = Signal::new(n_time, width, values)?;
            piece.rebuilt(piece.id().to_string(), outputs, piece.inputs().cloned())
        };
        let sequences = family.sequences().iter().zip(&self.origins).map(once).collect::<Result<Vec<_>>>()?;
        family.rebuilt(sequences, family.inputs().clone())
    }
}

/// The family of these pieces: number of the sequence and its steps.
fn cut_at(family: &Family, pieces: &[(usize, Range<usize>)]) -> Result<Family> {
    let inputs = match family.inputs() {
        Inputs::Common(inputs) if pieces.iter().all(|(_, range)| range.start == 0) => {
            Inputs::Common(inputs.clone())
        }
        Inputs::None => Inputs::None,
        Inputs::Common(_) | Inputs::Own => Inputs::Own,
    };
    let piece = |(i, range): &(usize, Range<usize>)| -> Result<Sequence> {
        let sequence = family.sequence(*i);
        let own: Option<&Signal> = if inputs == Inputs::Own { family.inputs_of(*i) } else { None };
        let id = format!("{}[{}..{}]", sequence.id(), range.start, range.end);
        let outputs = sequence.outputs().slice(range.clone());
        sequence.rebuilt(id, outputs, own.map(|own| own.slice(range.clone())))
    };
    let sequences = pieces.iter().map(piece).collect::<Result<Vec<_>>>()?;
    family.rebuilt(sequences, inputs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counting(id: &str, n_time: usize) -> Sequence {
        Sequence::new(id, Signal::column((0..n_time).map(|t| t as f64).collect())).unwrap()
    }

    fn cut(length: usize, overlap: usize, family: &Family) -> Segments {
        SegmentPlan { length, overlap }.cut(family).unwrap()
    }

    #[test]
    fn the_example_of_the_module() {
        let family = Family::new(vec![counting("a", 9).with_label("x")]).unwrap();
        let segments = cut(4, 1, &family);
        let ids: Vec<_> = segments.family.sequences().iter().map(Sequence::id).collect();
        assert_eq!(ids, ["a[0..4]", "a[3..7]", "a[6..9]"]);
        assert_eq!(segments.family.sequence(2).outputs().values(), [6.0, 7.0, 8.0]);
        assert!(segments.family.labels().all(|label| label == Some("x")));
        assert_eq!(segments.origins[1], Origin { sequence: 0, start: 3 });
    }

    #[test]
    fn a_last_segment_without_new_steps_is_left_out() {
        let family = Family::new(vec![counting("a", 7), counting("b", 1)]).unwrap();
        assert_eq!(cut(4, 1, &family).origins.len(), 3);
        assert_eq!(cut(7, 6, &family).origins.len(), 2);
        assert_eq!(cut(6, 5, &family).family.sequence(1).id(), "a[1..7]");
        assert_eq!(cut(usize::MAX, 3, &family).family.sequence(0).outputs(), family.sequence(0).outputs());
    }

    #[test]
    fn steps_can_be_counted_once() {
        let family = Family::new(vec![counting("a", 9), counting("b", 2)]).unwrap();
        let once = cut(4, 1, &family).counted_once().unwrap();
        assert_eq!((once.n_seq(), once.n_observed()), (4, 11));
        assert!(once.sequence(1).outputs().get(0, 0).is_nan());
        assert_eq!(once.sequence(2).outputs().values()[1..], [7.0, 8.0]);
        assert_eq!(once.sequence(3).outputs().values(), [0.0, 1.0]);
    }

    #[test]
    fn impossible_plans_are_errors() {
        let family = Family::new(vec![counting("a", 7)]).unwrap();
        for (length, overlap) in [(0, 0), (3, 3), (3, 4)] {
            let error = SegmentPlan { length, overlap }.cut(&family).unwrap_err();
            assert!(matches!(error, Error::Setting { .. }), "{error}");
        }
    }

    #[test]
    fn blank_segments_are_dropped_and_counted() {
        let values = vec![1.0, 2.0, f64::NAN, f64::NAN, f64::NAN, 6.0];
        let family = Family::new(vec![Sequence::new("a", Signal::column(values)).unwrap()]).unwrap();
        let segments = cut(2, 0, &family);
        assert_eq!((segments.origins.len(), segments.n_dropped), (2, 1));
        assert_eq!(segments.origins[1].start, 4);
    }

    #[test]
    fn own_inputs_are_cut_with_the_outputs() {
        let inputs = Signal::column((0..8).map(|t| 10.0 * t as f64).collect());
        let family = Family::new(vec![counting("a", 5).with_inputs(inputs).unwrap()]).unwrap();
        let family = family.with_input_names(["push"]).unwrap();
        let segments = cut(3, 0, &family).family;
        assert_eq!(segments.inputs_of(1).unwrap().values(), [30.0, 40.0]);
        assert_eq!(segments.input_names(), ["push"]);
    }

    #[test]
    fn common_inputs_stay_common_only_at_one_start() {
        let family = Family::new(vec![counting("a", 5), counting("b", 3)]).unwrap();
        let family = family.with_common_inputs(Signal::column(vec![1.0, 0.0, 2.0, 3.0, 4.0, 5.0])).unwrap();
        assert_eq!(cut(5, 2, &family).family.inputs(), family.inputs());
        let segments = cut(3, 1, &family).family;
        assert_eq!(segments.inputs(), &Inputs::Own);
        assert_eq!(segments.inputs_of(0).unwrap().values(), [1.0, 0.0, 2.0]);
        assert_eq!(segments.inputs_of(1).unwrap().values(), [2.0, 3.0, 4.0]);
    }

    proptest! {
        #[test]
        fn segments_cover_all_steps_and_share_the_overlap(
            lengths in prop::collection::vec(1usize..40, 1..5),
            (length, overlap) in (1usize..12).prop_flat_map(|length| (Just(length), 0..length)),
        ) {
            let sequences = lengths.iter().enumerate().map(|(i, &n)| counting(&i.to_string(), n)).collect();
            let segments = cut(length, overlap, &Family::new(sequences).unwrap());
            for (i, &n_time) in lengths.iter().enumerate() {
                let mut n_seen = 0;
                for (origin, piece) in segments.origins.iter().zip(segments.family.sequences()) {
                    if origin.sequence != i {
                        continue;
                    }
                    prop_assert_eq!(origin.start, if n_seen == 0 { 0 } else { n_seen - overlap });
                    let end = origin.start + piece.n_time();
                    prop_assert!(end > n_seen && (piece.n_time() == length || end == n_time));
                    prop_assert_eq!(piece.outputs().get(0, 0), origin.start as f64);
                    n_seen = end;
                }
                prop_assert_eq!(n_seen, n_time);
            }
        }
    }
}
