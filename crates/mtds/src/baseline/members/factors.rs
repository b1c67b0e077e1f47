//! Functional principal components as a probabilistic factor model over all steps and outputs, fitted by EM with missing values.
//!
//! ```text
//! y = μ + W z + ε        z ~ N(0, I_r)        ε_k ~ N(0, ψ_k)        k: entries, n_time · d_obs of them
//! E   P_i = I + W_oᵀ Ψ_o⁻¹ W_o        z_i = P_i⁻¹ W_oᵀ Ψ_o⁻¹ (y_i − μ)_o        o: what member i shows        [1]
//! M   W_k = (Σ_i E z zᵀ + ½ I)⁻¹ Σ_i (y_ik − μ_k) z_i        ψ_k = (E Σ_i (y_ik − μ_k − W_k z_i)² + 3 ψ̄) / (n_k + 3)
//! X   μ ← μ + W c, W ← W L        c, L Lᵀ: mean and covariance of the beliefs about z over members (parameter expansion)        [2]
//! forecast   y_f | y_o ~ N(μ_f + W_f z, W_f P⁻¹ W_fᵀ + Ψ_f (1 + 1/n))
//! ```
//! The ½ is a prior of W, which keeps entries that few members show near 0; ψ̄ is the mean of ψ over all values. The rank r is that with the best
//! likelihood of members left out, a fifth at a time; members are dealt to the fifths in turn. Outputs of one step are forecast
//! together, steps each on its own. Without X, EM with gaps ends its rounds with loadings that are too small, and intervals too narrow.
//!
//! References: \[1\] Tipping & Bishop (1999), Probabilistic principal component analysis; \[2\] Liu, Rubin & Wu (1998), Parameter expansion to accelerate
//! EM. Differs from \[1\]: a ψ for each entry, gaps, and the priors.

use rayon::prelude::*;

use super::OfRounds;
use super::curves::{Curves, LEAST_STD, held, spread_out};
use crate::algebra::{
    Matrix, Svd, cholesky, dot, gram_of_lower, invert_lower, log_diagonal_sum, solve_factored, times_vector,
};
use crate::family::{Family, Signal};
use crate::learn::Control;
use crate::predict::{DrawNoise, Forecast};
use crate::{Error, Result};

/// Fewest members.
const FEWEST: usize = 4;
/// Ranks that are tried, as long as they are below `MOST_RANK` times the members.
const RANKS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
const MOST_RANK: f64 = 0.7;
/// Ranks in a row that may be worse than the best before no more are tried.
const PATIENCE: usize = 2;
const FOLDS: usize = 5;
/// Rounds of EM while ranks are compared, and of the last fit.
const ROUNDS: (usize, usize) = (30, 80);
/// Most members by which ranks are compared, and whose singular vectors EM begins with.
const MOST_JUDGES: usize = 200;
/// Prior precision of W, and pseudo-observations of ψ̄.
const PRIORS: (f64, f64) = (0.5, 3.0);

/// Forecasts by a factor model of whole curves.
#[derive(Clone, Debug)]
pub struct FactorCurves {
    curves: Curves,
    model: Factors,
}

/// μ, W (entries × r) and ψ.
#[derive(Clone, Debug)]
struct Factors {
    mean: Vec<f64>,
    loadings: Matrix,
    noise: Vec<f64>,
}

/// What is known of z: its mean, P⁻¹ and the factor of P.
struct Belief {
    mean: Vec<f64>,
    covariance: Vec<f64>,
    precision_chol: Vec<f64>,
}

impl FactorCurves {
    /// Fits the model to the members of a family, its rank by cross-validation.
    ///
    /// # Errors
    /// Fewer than four members with an observed output; an output that none of them shows; values so far apart that no model
    /// can be computed.
    pub fn fit(family: &Family) -> Result<Self> {
        Self::up_to(family, usize::MAX)
    }

    /// [`FactorCurves::fit`] whose `observer` is told rounds done and in all, and may stop it.
    ///
    /// # Errors
    /// As [`FactorCurves::fit`]; [`Error::Stopped`].
    pub(crate) fn fit_observed(family: &Family, observer: &mut OfRounds<'_>) -> Result<Self> {
        Self::observed(family, usize::MAX, observer)
    }

    /// The same with no more components than this.
    ///
    /// # Errors
    /// As [`FactorCurves::fit`].
    pub(crate) fn up_to(family: &Family, most: usize) -> Result<Self> {
        Self::observed(family, most, &mut |_, _| Control::Continue)
    }

    fn observed(family: &Family, most: usize, observer: &mut OfRounds<'_>) -> Result<Self> {
        let curves = Curves::of(family, "fpca", FEWEST)?;
        let members: Vec<&[f64]> = curves.members.iter().map(Vec::as_slice).collect();
        let infinite = || Error::setting("training", "found values of which `fpca` has no finite covariance");
        let n_rounds = RANKS.len() + ROUNDS.1;
        let mut go_on = |done| match observer(done, n_rounds) {
            Control::Continue => Ok(()),
            Control::Stop => Err(Error::Stopped),
        };
        let rank = best_rank(&members, (curves.d_obs, most), &mut go_on)?.ok_or_else(infinite)?;
        let start = FirstAxes::of(&members);
        let last = &mut |round| go_on(RANKS.len() + round);
        let model = Factors::fit(&members, &start, (rank, ROUNDS.1), last)?.ok_or_else(infinite)?;
        Ok(Self { model: model.held(&members, curves.d_obs), curves })
    }

    /// Number of components.
    pub(crate) fn rank(&self) -> usize {
        self.model.loadings.cols
    }

    /// Steps that are known.
    pub(crate) fn n_time(&self) -> usize {
        self.curves.n_time
    }

    /// μ at an entry, in data units.
    pub(crate) fn mean(&self, entry: usize) -> f64 {
        self.curves.in_data_units(entry, self.model.mean[entry])
    }

    /// W at an entry, in data units.
    pub(crate) fn loading(&self, entry: usize, component: usize) -> f64 {
        self.curves.scale(entry) * self.model.loadings[(entry, component)]
    }

    /// What components leave over of an output: root mean square over steps, in data units.
    pub(crate) fn noise(&self, output: usize) -> f64 {
        let own = self.model.noise.iter().skip(output).step_by(self.curves.d_obs);
        self.curves.scale(output) * (own.sum::<f64>() / self.curves.n_time as f64).sqrt()
    }

    /// Mean and covariance of z of every sequence of a family; the prior's where nothing was observed.
    ///
    /// # Errors
    /// Another number of outputs; values so far off that nothing can be said.
    pub(crate) fn codes(&self, family: &Family) -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
        let one = |sequence: &crate::Sequence| {
            let mut values = self.curves.past(sequence.outputs())?;
            values.truncate(self.curves.n_time * self.curves.d_obs);
            let belief = self.model.belief(&values);
            let belief = belief
                .ok_or_else(|| Error::setting("past", "found values of which `fpca` knows no finite code"))?;
            Ok((belief.mean, belief.covariance))
        };
        family.sequences().iter().map(one).collect()
    }

    /// The forecast of the `n_time` steps after `past`, in data units.
    ///
    /// # Shapes
    /// `past` (NaN where missing): any number of steps × d_obs.
    ///
    /// # Errors
    /// Another number of outputs; no steps asked for.
    pub fn forecast(&self, past: &Signal, n_time: usize) -> Result<Forecast> {
        let (d, seen, mut values) = (self.curves.d_obs, past.n_time(), self.curves.past(past)?);
        values.truncate(self.curves.n_time * d);
        let belief = self.model.belief(&values);
        let belief = belief
            .ok_or_else(|| Error::setting("past", "found values of which `fpca` knows no finite code"))?;
        let n = self.curves.members.len() as f64;
        let (mut means, mut factors) = (vec![], vec![]);
        for t in (seen..seen + n_time).map(|t| self.curves.known(t)) {
            let w = |c: usize| self.model.loadings.row(t * d + c);
            means.extend((0..d).map(|c| self.model.mean[t * d + c] + dot(w(c), &belief.mean)));
            let noise = |c: usize| (self.model.noise[t * d + c] * (1.0 + 1.0 / n)).max(LEAST_STD.powi(2));
            let covariance = Matrix::from_fn(d, d, |a, b| {
                dot(w(a), &times_vector(&belief.covariance, w(b))) + if a == b { noise(a) } else { 0.0 }
            });
            let chol = cholesky(&covariance.values, d);
            factors.extend(chol.ok_or_else(|| {
                Error::setting("past", "found values of which `fpca` has no finite forecast")
            })?);
        }
        self.curves.forecast(seen, vec![1.0], means, DrawNoise::FullByStep(factors))
    }
}

/// The rank, at most `most`, with the best likelihood of members left out; `None` where no rank can be fitted.
///
/// # Errors
/// Those of `go_on`, which is told ranks done.
fn best_rank(
    members: &[&[f64]],
    (d, most): (usize, usize),
    go_on: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<Option<usize>> {
    let judged: Vec<&[f64]> =
        spread_out(members.len(), MOST_JUDGES).into_iter().map(|i| members[i]).collect();
    let n_folds = FOLDS.min(judged.len());
    let part = |fold: usize, inside: bool| -> Vec<&[f64]> {
        (0..judged.len()).filter(|i| (i % n_folds == fold) == inside).map(|i| judged[i]).collect()
    };
    let folds: Vec<_> = (0..n_folds)
        .into_par_iter()
        .map(|fold| {
            let rest = part(fold, false);
            let start = FirstAxes::of(&rest);
            (rest, start, part(fold, true))
        })
        .collect();
    let (mut best, mut worse): (Option<(f64, usize)>, usize) = (None, 0);
    for (done, rank) in RANKS.into_iter().filter(|rank| *rank <= most).enumerate() {
        go_on(done)?;
        if rank > 1 && rank as f64 >= MOST_RANK * judged.len() as f64 || worse == PATIENCE {
            break;
        }
        let score = folds.par_iter().map(|(rest, start, left_out)| {
            let model = Factors::fit(rest, start, (rank, ROUNDS.0), &mut |_| Ok(())).ok()??.held(rest, d);
            left_out.iter().map(|values| model.log_likelihood(values)).sum::<Option<f64>>()
        });
        let scores: Vec<Option<f64>> = score.collect();
        match scores.into_iter().sum::<Option<f64>>() {
            Some(score) if best.is_none_or(|(most, _)| score > most) => {
                (best, worse) = (Some((score, rank)), 0)
            }
            _ => worse += 1,
        }
    }
    Ok(best.map(|(_, rank)| rank))
}

/// Where EM begins: means, and singular vectors of what lies around them, with gaps as 0.
struct FirstAxes {
    mean: Vec<f64>,
    /// Entries × min(members, entries), the largest first, in deviations of a member.
    axes: Matrix,
}

impl FirstAxes {
    fn of(members: &[&[f64]]) -> Self {
        let n_entries = members.first().map_or(0, |values| values.len());
        let mean = |k: usize| {
            let shown = members.iter().map(|values| values[k]).filter(|y| !y.is_nan());
            shown.clone().sum::<f64>() / shown.count().max(1) as f64
        };
        let mean: Vec<f64> = (0..n_entries).map(mean).collect();
        let some: Vec<&[f64]> =
            spread_out(members.len(), MOST_JUDGES).into_iter().map(|i| members[i]).collect();
        let around = |i: usize, k: usize| if some[i][k].is_nan() { 0.0 } else { some[i][k] - mean[k] };
        let svd = Svd::of(&Matrix::from_fn(some.len(), n_entries, around));
        let scale = |k: usize| svd.values[k] / (some.len() as f64).sqrt();
        let axes = Matrix::from_fn(n_entries, svd.values.len(), |i, k| svd.right[(i, k)] * scale(k));
        Self { mean, axes }
    }
}

impl Factors {
    /// EM from the start; `None` where a covariance is no longer finite.
    ///
    /// # Errors
    /// Those of `go_on`, which is told rounds done.
    fn fit(
        members: &[&[f64]],
        start: &FirstAxes,
        (rank, rounds): (usize, usize),
        go_on: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Option<Self>> {
        let (n_entries, r) = (start.mean.len(), rank.min(start.axes.cols));
        let shown = members.iter().flat_map(|values| values.iter()).filter(|y| !y.is_nan());
        let variance = shown.clone().map(|y| y * y).sum::<f64>() / shown.count().max(1) as f64;
        let mut model = Self {
            mean: start.mean.clone(),
            loadings: start.axes.leading(n_entries, r),
            noise: vec![(0.1 * variance).max(LEAST_STD.powi(2)); n_entries],
        };
        for round in 0..rounds {
            go_on(round)?;
            match model.improved(members, 1e-6 * variance) {
                Some(improved) => model = improved,
                None => return Ok(None),
            }
        }
        Ok(Some(model))
    }

    /// One round of EM.
    fn improved(&self, members: &[&[f64]], least_noise: f64) -> Option<Self> {
        let (n_entries, r) = (self.mean.len(), self.loadings.cols);
        let beliefs = members.iter().map(|values| self.belief(values)).collect::<Option<Vec<_>>>()?;
        let second = |belief: &Belief| -> Vec<f64> {
            (0..r * r).map(|ij| belief.covariance[ij] + belief.mean[ij / r] * belief.mean[ij % r]).collect()
        };
        let seconds: Vec<Vec<f64>> = beliefs.iter().map(second).collect();
        let mut next = self.clone();
        let mut errors = vec![(0.0, 0.0); n_entries];
        for k in 0..n_entries {
            let (mut zz, mut zy, mut squares, mut n) = (vec![0.0; r * r], vec![0.0; r], 0.0, 0.0);
            for ((values, belief), second) in members.iter().zip(&beliefs).zip(&seconds) {
                if values[k].is_nan() {
                    continue;
                }
                let residual = values[k] - self.mean[k];
                zz.iter_mut().zip(second).for_each(|(sum, x)| *sum += x);
                zy.iter_mut().zip(&belief.mean).for_each(|(sum, z)| *sum += residual * z);
                squares += residual * residual;
                n += 1.0;
            }
            let mut held_back = zz.clone();
            (0..r).for_each(|i| held_back[i * r + i] += PRIORS.0);
            let w = solve_factored(&cholesky(&held_back, r)?, zy.clone());
            errors[k] = ((squares - 2.0 * dot(&w, &zy) + dot(&w, &times_vector(&zz, &w))).max(0.0), n);
            next.loadings.values[k * r..(k + 1) * r].copy_from_slice(&w);
            let left = members.iter().zip(&beliefs).filter(|(values, _)| !values[k].is_nan());
            next.mean[k] = left.map(|(values, belief)| values[k] - dot(&w, &belief.mean)).sum::<f64>()
                / f64::max(n, 1.0);
        }
        let (all, n_all) = errors.iter().fold((0.0, 0.0), |(a, b), (error, n)| (a + error, b + n));
        for (noise, (error, n)) in next.noise.iter_mut().zip(&errors) {
            *noise =
                ((error + PRIORS.1 * all / n_all) / (n + PRIORS.1)).max(least_noise).max(LEAST_STD.powi(2));
        }
        next.standardise(&beliefs, &seconds)?;
        Some(next)
    }

    /// Moves mean and spread of z over members into μ and W, where the model has them.
    fn standardise(&mut self, beliefs: &[Belief], seconds: &[Vec<f64>]) -> Option<()> {
        let (n, r) = (beliefs.len() as f64, self.loadings.cols);
        let centre: Vec<f64> =
            (0..r).map(|j| beliefs.iter().map(|belief| belief.mean[j]).sum::<f64>() / n).collect();
        let spread = |ij: usize| {
            seconds.iter().map(|second| second[ij]).sum::<f64>() / n - centre[ij / r] * centre[ij % r]
        };
        let root =
            Matrix { rows: r, cols: r, values: cholesky(&(0..r * r).map(spread).collect::<Vec<_>>(), r)? };
        self.mean.iter_mut().enumerate().for_each(|(k, mean)| *mean += dot(self.loadings.row(k), &centre));
        self.loadings = self.loadings.times(&root);
        Some(())
    }

    /// What the first entries of a member say of its z.
    fn belief(&self, values: &[f64]) -> Option<Belief> {
        let r = self.loadings.cols;
        let mut precision = Matrix::identity(r).values;
        let mut along = vec![0.0; r];
        for (k, y) in values.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
            let (w, noise) = (self.loadings.row(k), self.noise[k]);
            for i in 0..r {
                let scaled = w[i] / noise;
                along[i] += scaled * (y - self.mean[k]);
                (0..=i).for_each(|j| precision[i * r + j] += scaled * w[j]);
            }
        }
        let precision_chol = cholesky(&precision, r)?;
        let covariance = gram_of_lower(&invert_lower(&precision_chol, r), r);
        Some(Belief { mean: times_vector(&covariance, &along), covariance, precision_chol })
    }

    /// log p of what a member shows.
    fn log_likelihood(&self, values: &[f64]) -> Option<f64> {
        let belief = self.belief(values)?;
        let mut total = -log_diagonal_sum(&belief.precision_chol, self.loadings.cols);
        let mut along = vec![0.0; self.loadings.cols];
        for (k, y) in values.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
            let (residual, noise) = (y - self.mean[k], self.noise[k]);
            total -= 0.5 * (residual * residual / noise + (2.0 * std::f64::consts::PI * noise).ln());
            along.iter_mut().zip(self.loadings.row(k)).for_each(|(sum, w)| *sum += w * residual / noise);
        }
        let total = total + 0.5 * dot(&along, &belief.mean);
        total.is_finite().then_some(total)
    }

    /// The same with entries that no member shows answered by their neighbours.
    fn held(&self, members: &[&[f64]], d: usize) -> Self {
        let shown = |k: usize| members.iter().any(|values| !values[k].is_nan()).then_some(());
        let answers = held(&(0..self.mean.len()).map(shown).collect::<Vec<_>>(), d);
        let answers: Vec<usize> =
            answers.into_iter().enumerate().map(|(k, answer)| answer.unwrap_or(k)).collect();
        Self {
            mean: answers.iter().map(|&k| self.mean[k]).collect(),
            loadings: Matrix::from_fn(answers.len(), self.loadings.cols, |k, j| {
                self.loadings[(answers[k], j)]
            }),
            noise: answers.iter().map(|&k| self.noise[k]).collect(),
        }
    }
}

#[cfg(test)]
#[path = "factors_tests.rs"]
mod tests;
