//! Training members side by side by step, in units of their own.
//!
//! ```text
//! v_i,tc = (y_i,tc − offset_c) / scale_c        offset, scale: mean and deviation of output c over members and steps
//! ```
//! A gap is filled with the family's mean at the step and how far the member was from it, in deviations of the family, where it was last
//! seen: a member that runs above the others goes on so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::family::{Family, Signal};
use crate::predict::{DrawNoise, Forecast};
use crate::{Error, Result};

/// Members that must reach a step for it to be known.
const REACHED_BY: usize = 2;
/// Least standard deviation of a forecast, in units of the outputs: densities must stay finite.
pub(super) const LEAST_STD: f64 = 1e-6;

/// Members of a family, one row each; entry `t · d_obs + c` is output `c` at step `t`, NaN where it is missing.
#[derive(Clone, Debug)]
pub(super) struct Curves {
    /// Steps that are known.
    pub(super) n_time: usize,
    pub(super) d_obs: usize,
    /// Members of which something was observed.
    pub(super) members: Vec<Vec<f64>>,
    offset: Vec<f64>,
    scale: Vec<f64>,
    /// Mean and standard deviation over members by entry.
    by_entry: Vec<(f64, f64)>,
}

impl Curves {
    /// The members of `family`, of which `rival` needs at least `fewest`.
    ///
    /// # Errors
    /// Too few members with an observed output; an output that none of them shows.
    pub(super) fn of(family: &Family, rival: &str, fewest: usize) -> Result<Self> {
        let observed = family.observed();
        if observed.len() < fewest {
            let why = format!(
                "found {} with an observed output, too few for `{rival}`; expected at least {fewest} training sequences",
                observed.len()
            );
            return Err(Error::setting("training", why));
        }
        let d = family.d_obs();
        let outputs: Vec<&[f64]> = observed.iter().map(|&i| family.sequence(i).outputs().values()).collect();
        let of_output = |c: usize| {
            let values = outputs.iter().flat_map(|values| values.iter().skip(c).step_by(d));
            let (mean, std, n) = moments(values.copied());
            match n {
                0 => Err(Error::EmptyFamily(format!("output {} is never observed in training", c + 1))),
                _ => Ok((mean, std.max(1e-6 * mean.abs().max(1e-6)))),
            }
        };
        let (offset, scale): (Vec<f64>, Vec<f64>) =
            (0..d).map(of_output).collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let n_time = known_steps(&outputs, d);
        let scaled = |values: &&[f64]| -> Vec<f64> {
            let at = |k: usize| values.get(k).map_or(f64::NAN, |y| (y - offset[k % d]) / scale[k % d]);
            (0..n_time * d).map(at).collect()
        };
        let members: Vec<Vec<f64>> = outputs.iter().map(scaled).collect();
        let by_entry = by_entry(&members, d);
        Ok(Self { n_time, d_obs: d, members, offset, scale, by_entry })
    }

    /// The step that answers for step `t`: itself, or the last that is known. Of a past of `t` steps, as many are looked at: something
    /// known lies behind them.
    pub(super) fn known(&self, t: usize) -> usize {
        t.min(self.n_time - 1)
    }

    /// A value at an entry in the units of the data.
    pub(super) fn in_data_units(&self, entry: usize, value: f64) -> f64 {
        self.offset[entry % self.d_obs] + self.scale(entry) * value
    }

    /// Unit of an entry, in those of the data.
    pub(super) fn scale(&self, entry: usize) -> f64 {
        self.scale[entry % self.d_obs]
    }

    /// Mean and standard deviation over members at an entry, whatever was seen.
    pub(super) fn overall(&self, entry: usize) -> (f64, f64) {
        self.by_entry[entry]
    }

    /// The past of a new member in these units, all its steps.
    ///
    /// # Errors
    /// Another number of outputs.
    pub(super) fn past(&self, past: &Signal) -> Result<Vec<f64>> {
        if past.width() != self.d_obs {
            return Err(Error::shape("outputs of the past", self.d_obs, past.width()));
        }
        let d = self.d_obs;
        let scaled =
            past.values().iter().enumerate().map(|(k, y)| (y - self.offset[k % d]) / self.scale[k % d]);
        Ok(scaled.collect())
    }

    /// The first entries of a member without gaps.
    pub(super) fn filled(&self, values: &[f64]) -> Vec<f64> {
        let (d, mut filled) = (self.d_obs, values.to_vec());
        for c in 0..d {
            let entries = || (c..values.len()).step_by(d);
            let deviation = |k: usize| (values[k] - self.by_entry[k].0) / self.by_entry[k].1;
            let mut carried = entries().find(|&k| !values[k].is_nan()).map_or(0.0, deviation);
            for k in entries() {
                if values[k].is_nan() {
                    filled[k] = self.by_entry[k].0 + self.by_entry[k].1 * carried;
                } else {
                    carried = deviation(k);
                }
            }
        }
        filled
    }

    /// Weighted draws, in these units, as a forecast in those of the data.
    pub(super) fn forecast(
        &self,
        seen: usize,
        weights: Vec<f64>,
        means: Vec<f64>,
        noise: DrawNoise,
    ) -> Result<Forecast> {
        Forecast::new(seen, self.d_obs, weights, means, noise)?.rescaled(&self.offset, &self.scale)
    }
}

/// Steps that at least two members reach, or one where no two do.
fn known_steps(outputs: &[&[f64]], d: usize) -> usize {
    let last = |values: &&[f64]| values.iter().rposition(|y| !y.is_nan()).map_or(0, |k| k / d + 1);
    let mut reached: Vec<usize> = outputs.iter().map(last).collect();
    reached.sort_unstable();
    let by_enough = reached.len().saturating_sub(REACHED_BY);
    reached.get(by_enough).copied().unwrap_or(1).max(1)
}

/// Mean, standard deviation and number of what is observed.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64, usize) {
    let observed = values.filter(|y| !y.is_nan());
    let n = observed.clone().count();
    let mean = observed.clone().sum::<f64>() / n.max(1) as f64;
    let squares: f64 = observed.map(|y| (y - mean).powi(2)).sum();
    (mean, (squares / n.max(1) as f64).sqrt(), n)
}

/// Mean and deviation by entry; one pseudo-observation of the overall variance, 1, keeps those of few members from certainty. An
/// entry that none shows has those of the step before, or of the first after.
fn by_entry(members: &[Vec<f64>], d: usize) -> Vec<(f64, f64)> {
    let n_entries = members.first().map_or(0, Vec::len);
    let one = |k: usize| {
        let (mean, std, n) = moments(members.iter().map(|values| values[k]));
        let variance = (std * std * n as f64 + 1.0) / n.max(1) as f64;
        (n > 0).then_some((mean, variance.sqrt()))
    };
    let found: Vec<Option<(f64, f64)>> = (0..n_entries).map(one).collect();
    let held = held(&found, d);
    held.into_iter().map(|k| k.and_then(|k| found[k]).unwrap_or((0.0, 1.0))).collect()
}

/// For each entry the one that answers for it: itself, the same output at the last step before that has one, or at the first after.
pub(super) fn held<T>(found: &[Option<T>], d: usize) -> Vec<Option<usize>> {
    let mut answers = vec![None; found.len()];
    for c in 0..d {
        let mut last = (c..found.len()).step_by(d).find(|&k| found[k].is_some());
        for k in (c..found.len()).step_by(d) {
            if found[k].is_some() {
                last = Some(k);
            }
            answers[k] = last;
        }
    }
    answers
}

/// At most `most` of `n` places, evenly spread.
pub(super) fn spread_out(n: usize, most: usize) -> Vec<usize> {
    if n <= most { (0..n).collect() } else { (0..most).map(|k| k * n / most).collect() }
}

/// What was fitted for a number of steps seen, kept for the next member.
///
/// Threads that ask at the same time may each compute it, to the same bits: none waits for another.
#[derive(Debug)]
pub(super) struct BySeen<T>(Mutex<BTreeMap<usize, Arc<T>>>);

impl<T> BySeen<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    pub(super) fn get(&self, seen: usize, fit: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept().get(&seen) {
            return Ok(found.clone());
        }
        let fitted = Arc::new(fit()?);
        Ok(kept().entry(seen).or_insert(fitted).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sequence;

    const NAN: f64 = f64::NAN;

    fn curves(rows: &[&[f64]]) -> Curves {
        let sequence = |(i, values): (usize, &&[f64])| {
            Sequence::new(format!("{i}"), Signal::column(values.to_vec())).unwrap()
        };
        Curves::of(&Family::new(rows.iter().enumerate().map(sequence).collect()).unwrap(), "a rival", 2)
            .unwrap()
    }

    #[test]
    fn steps_are_known_where_two_members_reach_them() {
        assert_eq!(curves(&[&[1.0, 2.0, 3.0, 4.0], &[2.0, 1.0, NAN], &[5.0]]).n_time, 2);
        assert_eq!(curves(&[&[1.0, NAN, NAN], &[2.0]]).n_time, 1);
    }

    #[test]
    fn gaps_keep_the_distance_from_the_family() {
        let found = curves(&[&[1.0, 3.0, 5.0], &[3.0, 7.0, 9.0], &[NAN, 5.0, NAN]]);
        let at = |k: usize| found.overall(k);
        let deviation = |value: f64, k: usize| (value - at(k).0) / at(k).1;
        let values = [0.3, NAN, NAN];
        let filled = found.filled(&values);
        assert!((deviation(filled[2], 2) - deviation(0.3, 0)).abs() < 1e-12 && filled[0] == 0.3);
        // What leads is filled from behind; nothing at all is the mean.
        let leading = found.filled(&[NAN, 0.4]);
        assert!((deviation(leading[0], 0) - deviation(0.4, 1)).abs() < 1e-12);
        assert_eq!(found.filled(&[NAN, NAN]), [at(0).0, at(1).0]);
    }

    #[test]
    fn entries_that_nobody_shows_are_answered_by_a_neighbour() {
        let found = [None, Some(1), None, None, Some(2), None];
        assert_eq!(held(&found, 1), [1, 1, 1, 1, 4, 4].map(Some));
        assert_eq!(held(&found, 2), [4, 1, 4, 1, 4, 1].map(Some));
        assert_eq!(held(&[None::<u8>], 1), [None]);
        assert_eq!((spread_out(3, 5), spread_out(10, 4)), (vec![0, 1, 2], vec![0, 2, 5, 7]));
    }

    #[test]
    fn too_few_members_and_outputs_never_seen_are_said_in_words() {
        let one = Family::new(vec![Sequence::new("a", Signal::column(vec![1.0])).unwrap()]).unwrap();
        let said = Curves::of(&one, "nearest", 2).unwrap_err().to_string();
        assert!(
            said.contains("found 1") && said.contains("`nearest`") && said.contains("at least 2"),
            "{said}"
        );
        let half = |id: &str| {
            Sequence::new(id, Signal::from_rows(vec![vec![1.0, NAN], vec![2.0, NAN]]).unwrap()).unwrap()
        };
        let family = Family::new(vec![half("a"), half("b")]).unwrap();
        assert!(matches!(Curves::of(&family, "ridge", 2), Err(Error::EmptyFamily(_))));
    }
}
