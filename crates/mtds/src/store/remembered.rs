//! `members.safetensors`: what members did, where forecasts remember it.
//!
//! ```text
//! outputs   F64 [steps of all members × d_obs], one member after the other, NaN where missing
//! steps     U64 [n_members]
//! ```
//! Numbers have all their digits: a model that was read forecasts to the bit as the one that was written.

use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};

use super::{CONFIG_FILE, MEMBERS_FILE, RESTORE, broken, weights};
use crate::evaluate::Baseline;
use crate::family::{Family, Sequence, Signal};
use crate::model::{Blend, Remembered, WaysBySeen, Widths};
use crate::{Error, Result};

const OUTPUTS: &str = "outputs";
const STEPS: &str = "steps";

/// [`Blend`] without what members did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredBlend {
    ways: Vec<StoredWay>,
    /// Not in models whose ways always count the same.
    #[serde(default, skip_serializing_if = "is_empty")]
    by_seen: WaysBySeen,
    widths: Widths,
}

fn is_empty(by_seen: &WaysBySeen) -> bool {
    by_seen.seen.is_empty() && by_seen.weights.is_empty()
}

/// A way to forecast, and how much it counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredWay {
    way: Baseline,
    weight: f64,
}

impl StoredBlend {
    pub(super) fn of(blend: &Blend) -> Self {
        let ways = blend.remembered.iter().flat_map(|remembered| &remembered.ways);
        let ways = ways.map(|&(way, weight)| StoredWay { way, weight }).collect();
        let by_seen = blend.remembered.as_ref().map(|remembered| remembered.by_seen.clone());
        Self { ways, by_seen: by_seen.unwrap_or_default(), widths: blend.widths.clone() }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// With what members did; `file` is the file of that, where there is one.
    ///
    /// # Errors
    /// [`Error::Store`] for numbers that make no sense, a file that is missing or cannot be understood.
    pub(super) fn with_members(self, file: Option<&[u8]>, d_obs: usize) -> Result<Blend> {
        let refused = |why: &str| broken(CONFIG_FILE, format!("blend: {why}; {RESTORE}"));
        let Widths { seen, factors, levels } = &self.widths;
        let steps: Vec<f64> = seen.iter().map(|&steps| steps as f64).collect();
        if !are_factors(&steps, factors) {
            return Err(refused("expected a factor above 0 for each number of steps, which rise"));
        }
        if !levels.is_empty() && levels.len() != d_obs {
            let found = levels.len();
            return Err(refused(&format!("found factors by level of {found} outputs, expected {d_obs}")));
        }
        if levels.iter().any(|own| !are_factors(&own.at, &own.factors)) {
            return Err(refused("expected a factor above 0 for each level, which rise"));
        }
        let weights = || self.ways.iter().map(|way| way.weight);
        if weights().any(|w| !(w.is_finite() && w > 0.0)) || weights().sum::<f64>() >= 1.0 {
            return Err(refused("expected weights above 0 that sum to less than 1"));
        }
        if !are_weights(&self.by_seen, self.ways.len()) {
            let why = "expected for each number of steps, which rise, a weight of each way, 0 at least, that sum to less than 1";
            return Err(refused(why));
        }
        if let Some(other) = self.ways.iter().find(|way| !Baseline::OF_MEMBERS.contains(&way.way)) {
            return Err(refused(&format!(
                "found `{}`, which does not forecast from members",
                other.way.title()
            )));
        }
        let remembered = match (self.ways.is_empty(), file) {
            (true, None) => None,
            (true, Some(_)) => return Err(refused("found what members did, but no way that uses it")),
            (false, None) => return Err(broken(MEMBERS_FILE, format!("missing; {RESTORE}"))),
            (false, Some(bytes)) => {
                let ways = self.ways.iter().map(|way| (way.way, way.weight)).collect();
                Some(Remembered::new(Arc::new(read(bytes, d_obs)?), ways, self.by_seen))
            }
        };
        Ok(Blend { remembered, widths: self.widths })
    }
}

/// Whether these are places that rise, with a factor at each.
fn are_factors(at: &[f64], factors: &[f64]) -> bool {
    let rise = at.windows(2).all(|pair| pair[0] < pair[1]) && at.iter().all(|x| x.is_finite());
    at.len() == factors.len() && rise && factors.iter().all(|f| f.is_finite() && *f > 0.0)
}

/// Whether these are numbers of steps that rise, each with weights of so many ways.
fn are_weights(by_seen: &WaysBySeen, n_ways: usize) -> bool {
    let rise = by_seen.seen.windows(2).all(|pair| pair[0] < pair[1]);
    let are_shares = |weights: &Vec<f64>| {
        let each = weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        weights.len() == n_ways && each && weights.iter().sum::<f64>() < 1.0
    };
    rise && by_seen.seen.len() == by_seen.weights.len() && by_seen.weights.iter().all(are_shares)
}

/// The file of what members did.
pub(super) fn write(members: &Family) -> Result<Vec<u8>> {
    let sequences = members.sequences();
    let outputs = sequences.iter().flat_map(|sequence| sequence.outputs().values());
    let outputs: Vec<u8> = outputs.flat_map(|y| y.to_le_bytes()).collect();
    let steps: Vec<u8> =
        sequences.iter().flat_map(|sequence| (sequence.n_time() as u64).to_le_bytes()).collect();
    let rows = sequences.iter().map(Sequence::n_time).sum();
    let tensors = [
        (OUTPUTS, TensorView::new(Dtype::F64, vec![rows, members.d_obs()], &outputs)),
        (STEPS, TensorView::new(Dtype::U64, vec![sequences.len()], &steps)),
    ];
    let views = tensors.into_iter().map(|(name, view)| view.map(|view| (name, view)));
    let views = views.collect::<std::result::Result<Vec<_>, _>>();
    let unwritten = |error| broken(MEMBERS_FILE, format!("cannot be written: {error}"));
    serialize(views.map_err(unwritten)?, None).map_err(unwritten)
}

fn read(bytes: &[u8], d_obs: usize) -> Result<Family> {
    let archive = weights::open(MEMBERS_FILE, bytes)?;
    let refused = |why: String| broken(MEMBERS_FILE, format!("{why}; {RESTORE}"));
    let mut names = archive.names();
    names.sort_unstable();
    if names != [OUTPUTS, STEPS] {
        return Err(refused(format!(
            "expected the tensors {OUTPUTS} and {STEPS}, found {}",
            names.join(", ")
        )));
    }
    let steps = tensor(&archive, STEPS, Dtype::U64, 1)?;
    let outputs = tensor(&archive, OUTPUTS, Dtype::F64, 2)?;
    let steps: Vec<usize> = eights(steps.data()).map(|bytes| u64::from_le_bytes(bytes) as usize).collect();
    let values: Vec<f64> = eights(outputs.data()).map(f64::from_le_bytes).collect();
    let rows = steps.iter().try_fold(0usize, |sum, steps| sum.checked_add(*steps));
    if outputs.shape()[1] != d_obs || rows != Some(outputs.shape()[0]) {
        let why = format!("expected {d_obs} outputs at as many steps as `{STEPS}` says");
        return Err(refused(format!("{why}, found {:?}", outputs.shape())));
    }
    let mut rest = values.as_slice();
    let mut sequences = vec![];
    for (i, steps) in steps.into_iter().enumerate() {
        let (own, others) = rest.split_at(steps * d_obs);
        rest = others;
        let signal = Signal::new(steps, d_obs, own.to_vec());
        sequences.push(signal.and_then(|signal| Sequence::new(i.to_string(), signal)));
    }
    let family = sequences.into_iter().collect::<Result<Vec<_>>>().and_then(Family::new);
    family.map_err(|error: Error| refused(error.to_string()))
}

fn tensor<'a>(archive: &SafeTensors<'a>, name: &str, kind: Dtype, rank: usize) -> Result<TensorView<'a>> {
    match archive.tensor(name) {
        Ok(found) if found.dtype() == kind && found.shape().len() == rank => Ok(found),
        _ => {
            let why = format!("tensor `{name}`: expected {kind:?} of {rank} dimension(s)");
            Err(broken(MEMBERS_FILE, format!("{why}; {RESTORE}")))
        }
    }
}

fn eights(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> {
    bytes.as_chunks::<8>().0.iter().copied()
}
