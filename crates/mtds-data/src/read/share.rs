//! Sequences into a family: inputs known ahead are cut from the outputs, inputs that all share are kept once.

use mtds::{Family, Signal};

use super::assemble::sequence;
use super::block::Stretch;
use super::threads;
use crate::note::Note;

/// One sequence, not yet checked; signals as number of rows and values row by row.
pub(crate) struct Part {
    pub id: String,
    pub label: Option<String>,
    pub outputs: (usize, Stretch),
    /// Without values where there are no inputs.
    pub inputs: (usize, Vec<f64>),
}

/// A family of the parts, `d_obs` outputs and `d_input` inputs wide.
pub(crate) fn family(
    mut parts: Vec<Part>,
    d_obs: usize,
    d_input: usize,
    notes: &mut Vec<Note>,
) -> mtds::Result<Family> {
    if d_input > 0 {
        cut_ahead(&mut parts, d_obs, notes);
    }
    let is_common = d_input > 0 && share_inputs(&parts);
    let mut common: Option<(usize, Vec<f64>)> = None;
    if is_common {
        for part in &mut parts {
            let inputs = std::mem::take(&mut part.inputs);
            if common.as_ref().is_none_or(|longest| longest.0 < inputs.0) {
                common = Some(inputs);
            }
        }
    }
    let with_inputs = d_input > 0 && !is_common;
    let made = threads::map(parts, |part| {
        let made = sequence(part.id, part.outputs.1.signal(part.outputs.0, d_obs)?, part.label)?;
        if !with_inputs {
            return Ok(made);
        }
        made.with_inputs(Signal::new(part.inputs.0, d_input, part.inputs.1)?)
    });
    // Whichever thread found one first: the first error is that of the first sequence which has one.
    let sequences = made.into_iter().collect::<mtds::Result<Vec<_>>>()?;
    let family = Family::new(sequences)?;
    match common {
        None => Ok(family),
        Some((n_time, values)) => {
            notes.push(Note::CommonInputs);
            family.with_common_inputs(Signal::new(n_time, d_input, values)?)
        }
    }
}

/// Last rows without any output, where there are inputs, are the future: one row at least remains.
fn cut_ahead(parts: &mut [Part], d_obs: usize, notes: &mut Vec<Note>) {
    let (mut n_seq, mut n_steps) = (0, 0);
    for part in parts {
        let (n_time, values) = &mut part.outputs;
        let last = values.iter().rposition(|value| !value.is_nan()).unwrap_or(0);
        let kept = last / d_obs + 1;
        if kept < *n_time {
            n_seq += 1;
            n_steps += *n_time - kept;
            *n_time = kept;
            values.truncate(kept * d_obs);
        }
    }
    if n_seq > 0 {
        notes.push(Note::InputsAhead { n_seq, n_steps });
    }
}

/// Whether several sequences have inputs of which all are the beginning of the longest.
fn share_inputs(parts: &[Part]) -> bool {
    let Some(longest) = parts.iter().max_by_key(|part| part.inputs.0) else {
        return false;
    };
    parts.len() > 1 && parts.iter().all(|part| longest.inputs.1.starts_with(&part.inputs.1))
}

#[cfg(test)]
mod tests {
    use mtds::Inputs;

    use super::*;

    fn part(id: &str, outputs: &[f64], inputs: &[f64]) -> Part {
        Part {
            id: id.into(),
            label: None,
            outputs: (outputs.len(), Stretch::Own(outputs.to_vec())),
            inputs: (inputs.len(), inputs.to_vec()),
        }
    }

    #[test]
    fn shared_inputs_are_kept_once_and_the_longest() {
        let mut notes = Vec::new();
        let parts =
            vec![part("a", &[1.0], &[5.0, 6.0]), part("b", &[1.0, f64::NAN, f64::NAN], &[5.0, 6.0, 7.0])];
        let family = family(parts, 1, 1, &mut notes).unwrap();
        assert_eq!(*family.inputs(), Inputs::Common(Signal::column(vec![5.0, 6.0, 7.0])));
        assert_eq!(family.sequence(1).n_time(), 1);
        assert_eq!(notes, [Note::InputsAhead { n_seq: 1, n_steps: 2 }, Note::CommonInputs]);
    }

    #[test]
    fn different_inputs_stay_with_their_sequences() {
        let mut notes = Vec::new();
        let parts = vec![part("a", &[1.0], &[5.0]), part("b", &[2.0], &[4.0, 3.0])];
        let family = family(parts, 1, 1, &mut notes).unwrap();
        assert_eq!(*family.inputs(), Inputs::Own);
        assert_eq!(family.inputs_of(1).unwrap().values(), [4.0, 3.0]);
        assert!(notes.is_empty());
    }

    #[test]
    fn a_sequence_of_inputs_alone_keeps_one_step() {
        let parts = vec![part("a", &[f64::NAN; 3], &[1.0; 3]), part("b", &[2.0], &[0.0])];
        let family = family(parts, 1, 1, &mut Vec::new()).unwrap();
        assert_eq!((family.sequence(0).n_time(), family.inputs_of(0).unwrap().n_time()), (1, 3));
    }
}
