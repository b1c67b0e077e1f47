//! A morph between the two members that lie farthest apart: one sequence for each code on the way.
//!
//! ```text
//! z(s) = (1 − s) z_from + s z_to,  s = 0, 0.1, …, 1        y(s): the noise-free sequence of z(s)
//! ```

use crate::chart::Trace;
use crate::code_map::CodeMap;
use mtds::{CodePath, Family, Member, Result, System};

/// Codes on the path, both ends included.
const STEPS: usize = 11;
/// Most time steps of a drawn sequence: more cannot be told apart in a picture.
const MOST_TIME: usize = 200;

/// A morph from one member to another.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphPath {
    /// Place of the first among the members.
    pub from: usize,
    /// Place of the last.
    pub to: usize,
    /// The output that is drawn.
    pub output: String,
    /// Id of the sequence whose inputs drive all of them; `None` for a model without inputs.
    pub driven_by: Option<String>,
    /// The sequence generated from each code.
    pub traces: Vec<Trace>,
}

impl MorphPath {
    /// The morph between both ends of the widest axis of the map, in one output, as long as the sequences of `family`
    /// and under the inputs of its first; `None` where all members lie in one place.
    ///
    /// # Errors
    /// Inputs that the model cannot take.
    pub fn between_ends(
        system: &System,
        members: &[Member],
        map: &CodeMap,
        family: &Family,
        output: usize,
    ) -> Result<Option<Self>> {
        let along: Vec<f64> = members.iter().map(|member| map.axes.along(&member.code_mean)[0]).collect();
        let by_place = |a: &usize, b: &usize| along[*a].total_cmp(&along[*b]);
        let ends = (0..along.len()).min_by(by_place).zip((0..along.len()).max_by(by_place));
        let Some((from, to)) = ends.filter(|(from, to)| along[*from] < along[*to]) else { return Ok(None) };
        let inputs = family.inputs_of(0).filter(|_| system.d_input() > 0);
        let n_time = family.sequence(0).n_time().min(MOST_TIME);
        let ids = [from, to].map(|i| &members[i]);
        let path = CodePath::new(ids.map(|member| member.code_mean.clone()).to_vec())?;
        let trace = |step: usize| -> Result<Trace> {
            let position = step as f64 / (STEPS - 1) as f64;
            let outputs = system.generate(&path.at(position), inputs, n_time)?;
            let label = match step {
                0 => ids[0].id.clone(),
                _ if step == STEPS - 1 => ids[1].id.clone(),
                _ => format!("{:.0} %", 100.0 * position),
            };
            Ok(Trace { label, position, values: outputs.rows().map(|row| row[output]).collect() })
        };
        Ok(Some(Self {
            from,
            to,
            output: family.output_names()[output].clone(),
            driven_by: inputs.map(|_| family.sequence(0).id().to_owned()),
            traces: (0..STEPS).map(trace).collect::<Result<_>>()?,
        }))
    }
}
