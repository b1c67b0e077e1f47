//! Nearest members: futures of training members whose first steps are near, weighted by a kernel.
//!
//! ```text
//! d_j   = root mean square of past − y_j over what both show, outputs in units of their own
//! w_j   ∝ exp(−½ ((d_j − min d) / (h · median d))²)
//! y_tc  ~ Σ_j w_j N(y_j,tc + a (last_c − y_j,last c), s_tc²)          last: the last value seen of output c
//! s²    = mean (y − m)² − mean v, and at least a tenth of the former's root        m, v: weighted mean and variance of the futures
//! ```
//! Bandwidth h and shift a are those of a grid with the least CRPS when each training member is forecast from the others, each forecast taken as
//! the Gaussian with its mean and variance; s makes up for the variance that the weighted members lacked then.
//! Chosen anew for each number of steps seen.

use rayon::prelude::*;

use super::curves::{BySeen, Curves, LEAST_STD, spread_out};
use super::unless_stopped;
use crate::Result;
use crate::family::{Family, Signal};
use crate::infer::Observer;
use crate::predict::{DrawNoise, Forecast, Marginal};

/// Bandwidths, in medians of the distance.
const BANDWIDTHS: [f64; 6] = [1.6, 0.8, 0.4, 0.2, 0.1, 0.05];
/// Shares of the last difference by which futures are shifted.
const SHIFTS: [f64; 3] = [0.0, 0.5, 1.0];
/// Most members that are left out in turn.
const MOST_JUDGES: usize = 200;
/// Least noise, as a share of the error.
const LEAST_SHARE: f64 = 0.1;
/// Weights below this share of the largest are left out.
const NEGLIGIBLE: f64 = 1e-9;

/// Forecasts by the nearest members of a family.
#[derive(Debug)]
pub struct NearestMembers {
    curves: Curves,
    /// The members without gaps.
    filled: Vec<Vec<f64>>,
    by_seen: BySeen<Chosen>,
}

/// What was chosen for a number of steps seen.
#[derive(Debug)]
struct Chosen {
    /// Members that go on after these.
    donors: Vec<usize>,
    kernel: Kernel,
    /// s, by entry from the first that was not seen on.
    std_devs: Vec<f64>,
}

/// How futures are weighted and shifted.
#[derive(Clone, Copy, Debug)]
struct Kernel {
    bandwidth: f64,
    shift: f64,
}

/// How a past lies to members: by member its distance, and by output the difference of the last value seen.
struct Look {
    members: Vec<usize>,
    distances: Vec<f64>,
    differences: Vec<Vec<f64>>,
}

/// A value that was forecast from other members: where, itself, and mean and variance of their futures.
struct Trial {
    entry: usize,
    truth: f64,
    mean: f64,
    variance: f64,
}

impl NearestMembers {
    /// Takes the members of a family; what is chosen for a number of steps seen is found when it is first asked for.
    ///
    /// # Errors
    /// Fewer than two members with an observed output; an output that none of them shows.
    pub fn fit(family: &Family) -> Result<Self> {
        let curves = Curves::of(family, "nearest", 2)?;
        let filled = curves.members.iter().map(|values| curves.filled(values)).collect();
        Ok(Self { curves, filled, by_seen: BySeen::new() })
    }

    /// Steps that are known.
    pub(crate) fn n_time(&self) -> usize {
        self.curves.n_time
    }

    /// The forecast of the `n_time` steps after `past`, in data units; it ends when `observe` says so.
    ///
    /// # Shapes
    /// `past` (NaN where missing): any number of steps × d_obs.
    ///
    /// # Errors
    /// Another number of outputs; no steps asked for; [`Error::Stopped`](crate::Error::Stopped).
    pub fn forecast(&self, past: &Signal, n_time: usize, observe: &Observer<'_>) -> Result<Forecast> {
        let (d, seen, values) = (self.curves.d_obs, past.n_time(), self.curves.past(past)?);
        let origin = self.curves.known(seen);
        let chosen = self.by_seen.get(origin, || self.choose(origin, observe))?;
        let look = self.look(&values[..origin * d], chosen.donors.clone());
        let weights = weights(&look.distances, chosen.kernel.bandwidth);
        let most = weights.iter().fold(0.0, |most: f64, w| most.max(*w));
        let kept: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > NEGLIGIBLE * most).collect();
        let entries: Vec<usize> = (seen..seen + n_time)
            .flat_map(|t| (0..d).map(move |c| (t, c)))
            .map(|(t, c)| self.curves.known(t) * d + c)
            .collect();
        let means = kept.iter().flat_map(|&j| {
            entries.iter().map(|&k| self.future(&look, j, k, chosen.kernel.shift)).collect::<Vec<_>>()
        });
        let std_devs: Vec<f64> = entries.iter().map(|k| chosen.std_devs[k - origin * d]).collect();
        let noise = DrawNoise::DiagonalByStep(std_devs.repeat(kept.len()));
        self.curves.forecast(seen, kept.iter().map(|&j| weights[j]).collect(), means.collect(), noise)
    }

    /// What member `j` of a look gives at an entry of the future.
    fn future(&self, look: &Look, j: usize, entry: usize, shift: f64) -> f64 {
        self.filled[look.members[j]][entry] + shift * look.differences[j][entry % self.curves.d_obs]
    }

    fn look(&self, past: &[f64], members: Vec<usize>) -> Look {
        let d = self.curves.d_obs;
        let last: Vec<Option<usize>> =
            (0..d).map(|c| (c..past.len()).step_by(d).rev().find(|&k| !past[k].is_nan())).collect();
        let difference = |j: usize| -> Vec<f64> {
            last.iter().map(|at| at.map_or(0.0, |k| past[k] - self.filled[j][k])).collect()
        };
        Look {
            distances: members.iter().map(|&j| distance(past, &self.curves.members[j])).collect(),
            differences: members.iter().map(|&j| difference(j)).collect(),
            members,
        }
    }

    /// Bandwidth and shift by leaving out one member after the other.
    fn choose(&self, seen: usize, observe: &Observer<'_>) -> Result<Chosen> {
        let from = seen * self.curves.d_obs;
        let goes_on = |&i: &usize| self.curves.members[i][from..].iter().any(|y| !y.is_nan());
        let donors: Vec<usize> = (0..self.curves.members.len()).filter(goes_on).collect();
        let judges: Vec<usize> =
            spread_out(donors.len(), MOST_JUDGES).into_iter().map(|k| donors[k]).collect();
        let look = |&i: &usize| {
            unless_stopped(observe)?;
            let others = donors.iter().copied().filter(|j| *j != i).collect();
            Ok((i, self.look(&self.curves.members[i][..from], others)))
        };
        let looks: Vec<(usize, Look)> = judges.par_iter().map(look).collect::<Result<_>>()?;
        let kernels: Vec<Kernel> = BANDWIDTHS
            .iter()
            .flat_map(|&bandwidth| SHIFTS.map(|shift| Kernel { bandwidth, shift }))
            .collect();
        let tried = kernels.par_iter().map(|&kernel| {
            let mut trials: Vec<Trial> = vec![];
            for (i, look) in &looks {
                unless_stopped(observe)?;
                trials.extend(self.trials(*i, look, from, kernel));
            }
            let std_devs = lacking(&trials, from, self.curves.members[0].len() - from, self.curves.d_obs);
            Ok((mean_crps(&trials, &std_devs, from), kernel, std_devs))
        });
        let tried: Vec<(f64, Kernel, Vec<f64>)> = tried.collect::<Result<_>>()?;
        let best = tried.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, kernel, std_devs) = best.expect("the grid has candidates");
        Ok(Chosen { donors, kernel, std_devs })
    }

    /// Member `i` forecast from those of the look.
    fn trials(&self, i: usize, look: &Look, from: usize, kernel: Kernel) -> Vec<Trial> {
        let weights = weights(&look.distances, kernel.bandwidth);
        let total: f64 = weights.iter().sum();
        let kept: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > NEGLIGIBLE * total).collect();
        let truths = self.curves.members[i].iter().enumerate().skip(from).filter(|(_, y)| !y.is_nan());
        let trial = |(entry, &truth): (usize, &f64)| {
            let futures =
                || kept.iter().map(|&j| (weights[j] / total, self.future(look, j, entry, kernel.shift)));
            let mean = futures().map(|(w, y)| w * y).sum::<f64>();
            let variance = futures().map(|(w, y)| w * (y - mean).powi(2)).sum();
            Trial { entry, truth, mean, variance }
        };
        truths.map(trial).collect()
    }
}

/// Root mean square difference over what both show; infinite where that is nothing.
fn distance(past: &[f64], member: &[f64]) -> f64 {
    let differences = past.iter().zip(member).map(|(a, b)| (a - b).powi(2)).filter(|square| !square.is_nan());
    let (n, sum) = differences.fold((0, 0.0), |(n, sum), square| (n + 1, sum + square));
    if n > 0 { (sum / f64::from(n)).sqrt() } else { f64::INFINITY }
}

/// Weights by distance, the largest 1; all 1 where no distance is known.
fn weights(distances: &[f64], bandwidth: f64) -> Vec<f64> {
    let mut known: Vec<f64> = distances.iter().copied().filter(|d| d.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    let Some(&nearest) = known.first() else { return vec![1.0; distances.len()] };
    let median = known[known.len() / 2];
    let unit = bandwidth * if median > 0.0 { median } else { 1.0 };
    distances.iter().map(|d| (-0.5 * ((d - nearest) / unit).powi(2)).exp()).collect()
}

/// s by entry: what the futures' variance lacks of the squared error. One pseudo-observation of the output's mean over all entries
/// keeps an entry that few members show from certainty.
fn lacking(trials: &[Trial], from: usize, n_entries: usize, d: usize) -> Vec<f64> {
    // Number, squared errors and variances, by entry and then by output.
    let mut sums = vec![(0.0, 0.0, 0.0); n_entries + d];
    for trial in trials {
        let error = (trial.truth - trial.mean).powi(2);
        for at in [trial.entry - from, n_entries + (trial.entry - from) % d] {
            let (n, errors, variances) = sums[at];
            sums[at] = (n + 1.0, errors + error, variances + trial.variance);
        }
    }
    let one = |k: usize| {
        let (n, errors, variances) = sums[k];
        let (n_all, all_errors, all_variances) = sums[n_entries + k % d];
        // An output of which no future was seen spreads as a whole family does.
        let (error, variance) =
            if n_all > 0.0 { (all_errors / n_all, all_variances / n_all) } else { (1.0, 0.0) };
        let (error, variance) = ((errors + error) / (n + 1.0), (variances + variance) / (n + 1.0));
        (error - variance).max(LEAST_SHARE.powi(2) * error).sqrt().max(LEAST_STD)
    };
    (0..n_entries).map(one).collect()
}

fn mean_crps(trials: &[Trial], std_devs: &[f64], from: usize) -> f64 {
    let one = |trial: &Trial| {
        let std_dev = trial.variance.sqrt().hypot(std_devs[trial.entry - from]);
        Marginal::trusted(&[1.0], vec![trial.mean], vec![std_dev]).crps(trial.truth)
    };
    trials.iter().map(one).sum::<f64>() / trials.len() as f64
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
