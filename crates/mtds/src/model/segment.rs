//! What learning believes of the codes of segments: how a member moved at a moment, where a code for all of it is an average.

use serde::{Deserialize, Serialize};

use super::Model;
use crate::{Error, Result};

/// A segment of a member and its code, known to about seven digits: stored as F32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentCode {
    /// Id of the member that it was cut from.
    pub member: String,
    /// Its first step there, counted from 0.
    pub start: usize,
    /// Its length.
    pub n_time: usize,
    /// Mean of the belief about its code, `d_code`.
    pub code_mean: Vec<f64>,
    /// Standard deviation of each dimension of its code, `d_code`.
    pub code_std_dev: Vec<f64>,
}

impl SegmentCode {
    /// How far its middle is from a step.
    fn distance(&self, step: usize) -> f64 {
        (self.start as f64 + 0.5 * (self.n_time as f64 - 1.0) - step as f64).abs()
    }

    fn holds(&self, step: usize) -> bool {
        (self.start..self.start + self.n_time).contains(&step)
    }
}

impl Model {
    /// The segment of a member in whose middle a step is most nearly.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a member without segments, or a step that is in none of them.
    pub fn segment(&self, member: &str, step: usize) -> Result<&SegmentCode> {
        let own = || self.segments.iter().filter(|segment| segment.member == member);
        let holding = own().filter(|segment| segment.holds(step));
        holding.min_by(|a, b| a.distance(step).total_cmp(&b.distance(step))).ok_or_else(|| {
            let end = own().map(|segment| segment.start + segment.n_time).max();
            Error::Unknown {
                kind: "segment",
                name: format!("{member}@{step}"),
                known: end.map_or("none of this member".into(), |end| {
                    format!("{member}@0 to {member}@{}", end - 1)
                }),
            }
        })
    }

    /// The code of a member by its id, or of a segment of it by id and step, such as `old_03@128`. Ids come first.
    ///
    /// # Errors
    /// [`Error::Unknown`] for what is neither.
    pub fn code_called(&self, name: &str) -> Result<&[f64]> {
        let by_id = self.member(name);
        let segment = name.rsplit_once('@').and_then(|(member, step)| Some((member, step.parse().ok()?)));
        match (by_id, segment) {
            (Ok(member), _) => Ok(&member.code_mean),
            (Err(_), Some((member, step))) => Ok(&self.segment(member, step)?.code_mean),
            (Err(error), None) => Err(error),
        }
    }
}
