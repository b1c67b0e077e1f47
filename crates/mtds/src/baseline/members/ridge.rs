//! Ridge regression of each future step on what was seen, with leave-one-out residuals around it.
//!
//! ```text
//! ŷ_tc = ȳ + (x − x̄)ᵀ b        b = argmin |y − ȳ − A b|² + λ |b|²        A = U diag(σ) Vᵀ: centred features of m members
//! e_i  = (y − ŷ)_i / (1 − 1/m − h_ii)        H = U diag(σ² / (σ² + λ)) Uᵀ       the residual when i is left out        [1]
//! y_tc ~ 1/m Σ_i N(ŷ_tc + √(1 − κ²) e_i, κ² s²)        s² = mean e²,   κ = 0.9 m^(−1/5)
//! ```
//! Features are the values seen as deviations from the family's mean at each step, gaps filled, the latest hundred that any member shows; λ is that of a grid with the least
//! Σ e², for each step and output. Residuals of one member stay together over steps, as a draw of the forecast; the kernel
//! makes them a density, and keeps their variance. How features are scaled and filled does not change when a member is left out.
//!
//! Reference: \[1\] Allen (1974), The relationship between variable selection and data augmentation and a method for prediction.

use rayon::prelude::*;

use super::curves::{BySeen, Curves, LEAST_STD, spread_out};
use super::unless_stopped;
use crate::Result;
use crate::algebra::{Matrix, Svd, dot};
use crate::family::{Family, Signal};
use crate::infer::Observer;
use crate::predict::{DrawNoise, Forecast};

/// Penalties are 10^(k/3), for k from the first to the last.
const PENALTIES: std::ops::RangeInclusive<i32> = -9..=15;
/// Most features: the values seen last.
const MOST_FEATURES: usize = 100;
/// Most members that are regressed on.
const MOST_MEMBERS: usize = 400;
/// Fewer members than this that show a step leave it to the step before, which more have shown.
const FEW: usize = 8;
/// Fewest members for a regression.
const FEWEST: usize = 2;

/// Forecasts by ridge regression within a family.
#[derive(Debug)]
pub struct RidgeRegression {
    curves: Curves,
    /// Whether a member shows an entry.
    shown: Vec<bool>,
    by_seen: BySeen<Regressions>,
}

/// The regressions after a number of steps seen.
#[derive(Debug)]
struct Regressions {
    /// By entry from the first that was not seen on; `None` where too few members show it.
    targets: Vec<Option<Regression>>,
    /// Leave-one-out residuals without gaps, in units of the s of their entry: members × entries.
    residuals: Vec<Vec<f64>>,
}

/// One future entry regressed on the features.
#[derive(Clone, Debug)]
struct Regression {
    centre: Vec<f64>,
    mean: f64,
    coefficients: Vec<f64>,
    /// Members in the regression, and their leave-one-out residuals.
    residuals: Vec<(usize, f64)>,
    /// s.
    std_dev: f64,
}

/// The features of some members, centred and decomposed.
struct Design {
    members: Vec<usize>,
    centre: Vec<f64>,
    svd: Svd,
}

impl RidgeRegression {
    /// Takes the members of a family; regressions after a number of steps seen are made when they are first asked for.
    ///
    /// # Errors
    /// Fewer than two members with an observed output; an output that none of them shows.
    pub fn fit(family: &Family) -> Result<Self> {
        let mut curves = Curves::of(family, "ridge", FEWEST)?;
        let kept = spread_out(curves.members.len(), MOST_MEMBERS);
        curves.members = kept.into_iter().map(|i| std::mem::take(&mut curves.members[i])).collect();
        let n_entries = curves.members.first().map_or(0, Vec::len);
        let shown = |k: usize| curves.members.iter().any(|values| !values[k].is_nan());
        Ok(Self { shown: (0..n_entries).map(shown).collect(), curves, by_seen: BySeen::new() })
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
        let fitted = self.by_seen.get(origin, || self.regress(origin, observe))?;
        let features = self.features(&values[..origin * d]);
        let answer = |t: usize, c: usize| {
            let k = (self.curves.known(t) - origin) * d + c;
            let (mean, std_dev) = match &fitted.targets[k] {
                Some(regression) => (regression.predict(&features), regression.std_dev),
                None => self.curves.overall(origin * d + k),
            };
            (k, mean, std_dev)
        };
        let answers: Vec<(usize, f64, f64)> = (seen..seen + n_time)
            .flat_map(|t| (0..d).map(move |c| (t, c)))
            .map(|(t, c)| answer(t, c))
            .collect();
        let n_draws = fitted.residuals.len();
        let kernel = if n_draws == 1 { 1.0 } else { 0.9 * (n_draws as f64).powf(-0.2) };
        let shrunk = (1.0 - kernel * kernel).sqrt();
        let path = |own: &Vec<f64>| -> Vec<f64> {
            answers.iter().map(|&(k, mean, s)| mean + shrunk * s * own[k]).collect()
        };
        let means = fitted.residuals.iter().flat_map(path).collect();
        let noise: Vec<f64> = answers.iter().map(|(_, _, s)| kernel * s).collect();
        let noise = DrawNoise::DiagonalByStep(noise.repeat(n_draws));
        self.curves.forecast(seen, vec![1.0; n_draws], means, noise)
    }

    /// What is regressed on: the latest of these values without gaps, as deviations from the family.
    fn features(&self, past: &[f64]) -> Vec<f64> {
        let filled = self.curves.filled(past);
        // What nobody shows is filled with what is there already.
        let shown: Vec<usize> = (0..filled.len()).filter(|&k| self.shown[k]).collect();
        shown[shown.len().saturating_sub(MOST_FEATURES)..]
            .iter()
            .map(|&k| {
                let (mean, std_dev) = self.curves.overall(k);
                (filled[k] - mean) / std_dev
            })
            .collect()
    }

    fn regress(&self, seen: usize, observe: &Observer<'_>) -> Result<Regressions> {
        let (d, from) = (self.curves.d_obs, seen * self.curves.d_obs);
        let members = &self.curves.members;
        let features: Vec<Vec<f64>> = members.iter().map(|values| self.features(&values[..from])).collect();
        let entries = from..self.curves.n_time * d;
        let shown = |entry: usize| -> Vec<usize> {
            (0..members.len()).filter(|&i| !members[i][entry].is_nan()).collect()
        };
        // Most entries are shown by the same members: each set of them is decomposed once.
        let mut sets: Vec<Vec<usize>> = entries.clone().map(shown).collect();
        let of_entry = sets.clone();
        sets.sort();
        sets.dedup();
        let design = |set| unless_stopped(observe).map(|()| Design::of(set, &features));
        let designs: Vec<Design> = sets.into_par_iter().map(design).collect::<Result<_>>()?;
        let regressed = |(entry, set): (usize, &Vec<usize>)| {
            unless_stopped(observe)?;
            let Ok(at) = designs.binary_search_by(|design| design.members.cmp(set)) else { return Ok(None) };
            let y: Vec<f64> = set.iter().map(|&i| members[i][entry]).collect();
            Ok((set.len() >= FEWEST).then(|| designs[at].regress(&y)))
        };
        let mut targets: Vec<Option<Regression>> = entries
            .zip(&of_entry)
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(regressed)
            .collect::<Result<_>>()?;
        hold(&mut targets, d);
        let residuals = residuals_without_gaps(&targets, members.len(), d);
        Ok(Regressions { targets, residuals })
    }
}

/// Leaves entries that few members show to the step before, where more show it.
fn hold(targets: &mut [Option<Regression>], d: usize) {
    let shown = |target: &Option<Regression>| target.as_ref().map_or(0, |found| found.residuals.len());
    for k in d..targets.len() {
        let (here, before) = (shown(&targets[k]), shown(&targets[k - d]));
        if here < FEW && before > here {
            targets[k] = targets[k - d].clone();
        }
    }
}

/// Residuals by member and entry in units of s; a gap has the member's last before it, or the first after it, and 0 where an output has none. Members without any
/// are left out; where none has any, one has zeros.
fn residuals_without_gaps(targets: &[Option<Regression>], n_members: usize, d: usize) -> Vec<Vec<f64>> {
    let mut found = vec![vec![None; targets.len()]; n_members];
    for (k, target) in targets.iter().enumerate() {
        let Some(target) = target else { continue };
        target.residuals.iter().for_each(|&(i, e)| found[i][k] = Some(e / target.std_dev));
    }
    found.retain(|own| own.iter().any(Option::is_some));
    if found.is_empty() {
        found.push(vec![None; targets.len()]);
    }
    let filled = |own: Vec<Option<f64>>| -> Vec<f64> {
        super::curves::held(&own, d).into_iter().map(|k| k.and_then(|k| own[k]).unwrap_or(0.0)).collect()
    };
    found.into_iter().map(filled).collect()
}

impl Design {
    fn of(members: Vec<usize>, features: &[Vec<f64>]) -> Self {
        let (m, d) = (members.len(), features.first().map_or(0, Vec::len));
        let mean = |j: usize| members.iter().map(|&i| features[i][j]).sum::<f64>() / m.max(1) as f64;
        let centre: Vec<f64> = (0..d).map(mean).collect();
        let svd = Svd::of(&Matrix::from_fn(m, d, |i, j| features[members[i]][j] - centre[j]));
        Self { members, centre, svd }
    }

    /// The regression of `y` with the penalty of the least leave-one-out error.
    fn regress(&self, y: &[f64]) -> Regression {
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let centred: Vec<f64> = y.iter().map(|y| y - mean).collect();
        let left = &self.svd.left;
        let along: Vec<f64> =
            (0..left.cols).map(|k| (0..left.rows).map(|i| left[(i, k)] * centred[i]).sum()).collect();
        // The largest penalty first: where all do as well, nothing is believed.
        let tried = PENALTIES.rev().map(|k| {
            let penalty = 10f64.powf(f64::from(k) / 3.0);
            let residuals = self.residuals(&centred, &along, penalty);
            (dot(&residuals, &residuals), penalty, residuals)
        });
        let best = tried.reduce(|best, other| if other.0 < best.0 { other } else { best });
        let (squares, penalty, residuals) = best.expect("the grid has penalties");
        let scaled: Vec<f64> =
            along.iter().zip(&self.svd.values).map(|(a, s)| a * s / (s * s + penalty)).collect();
        Regression {
            coefficients: (0..self.centre.len()).map(|j| dot(self.svd.right.row(j), &scaled)).collect(),
            centre: self.centre.clone(),
            mean,
            std_dev: (squares / y.len() as f64).sqrt().max(LEAST_STD),
            residuals: self.members.iter().copied().zip(residuals).collect(),
        }
    }

    /// e, by members.
    fn residuals(&self, centred: &[f64], along: &[f64], penalty: f64) -> Vec<f64> {
        let m = centred.len() as f64;
        let shares: Vec<f64> = self.svd.values.iter().map(|s| s * s / (s * s + penalty)).collect();
        let one = |(i, y): (usize, &f64)| {
            let u = self.svd.left.row(i);
            let fitted: f64 = u.iter().zip(along).zip(&shares).map(|((u, a), share)| u * a * share).sum();
            let leverage: f64 = u.iter().zip(&shares).map(|(u, share)| u * u * share).sum();
            (y - fitted) / (1.0 - 1.0 / m - leverage).max(f64::EPSILON)
        };
        centred.iter().enumerate().map(one).collect()
    }
}

impl Regression {
    fn predict(&self, features: &[f64]) -> f64 {
        let parts = features.iter().zip(&self.centre).zip(&self.coefficients);
        self.mean + parts.map(|((x, centre), b)| (x - centre) * b).sum::<f64>()
    }
}

#[cfg(test)]
#[path = "ridge_tests.rs"]
mod tests;
