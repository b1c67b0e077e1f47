//! Single-task networks: one for each group of sequences.

use std::collections::BTreeMap;

use super::{GruForecaster, GruSettings, Trained};
use crate::family::Family;
use crate::learn::{Control, Progress};
use crate::{Error, Result};

/// Learns a network of its own for each group of sequences, e.g. for each style: nothing is shared between groups.
///
/// `groups` names the group of every sequence, in the order of the family. Each network learns as by
/// [`GruForecaster::fit`] on its group alone, with the same seed, so that it does not depend on which other groups there are.
/// Scalings are those of the groups, too; to have one for all, scale the family beforehand and take
/// [`ScalingRule::Identity`](crate::learn::ScalingRule::Identity). `observer` sees the group and every step;
/// [`Control::Stop`] ends the network at hand, and the next begins. The paper's single-task networks learn for 5 000 steps
/// at most.
///
/// # Errors
/// [`Error::Shape`] if there is not one name per sequence; else the first error of a group, its name put before settings.
pub fn fit_groups<S: AsRef<str>>(
    family: &Family,
    groups: &[S],
    settings: &GruSettings,
    seed: u64,
    observer: &mut dyn FnMut(&str, &Progress) -> Control,
) -> Result<BTreeMap<String, Trained<GruForecaster>>> {
    if groups.len() != family.n_seq() {
        return Err(Error::shape("groups", format!("{}, one per sequence", family.n_seq()), groups.len()));
    }
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, group) in groups.iter().enumerate() {
        members.entry(group.as_ref()).or_default().push(i);
    }
    let learn = |(group, members): (&str, Vec<usize>)| {
        let own = family.subset(&members)?;
        let trained =
            GruForecaster::fit(&own, None, settings, seed, &mut |progress| observer(group, progress));
        Ok((group.to_string(), trained.map_err(|error| named(group, error))?))
    };
    members.into_iter().map(learn).collect()
}

fn named(group: &str, error: Error) -> Error {
    match error {
        Error::Setting { name, why } => Error::Setting { name, why: format!("group `{group}`: {why}") },
        Error::Diverged { step, what, last_good } => {
            Error::Diverged { step, what: format!("in group `{group}`, {what}"), last_good }
        }
        other => other,
    }
}
