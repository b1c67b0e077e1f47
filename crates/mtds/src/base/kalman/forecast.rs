//! Beyond the last output: the exact distribution of each step ahead, and trajectories drawn from all of them together.
//!
//! ```text
//! x_{t+h} | y_{1:t} ~ N(m, P)      m ← A m + B u + b,  P ← A P Aᵀ + R,  h times
//! y_{t+h} | y_{1:t} ~ N(C m + D u + d, C P Cᵀ + S)
//! ```

use rand_distr::{Distribution, StandardNormal};

use super::{Gains, Matrices, Means, Pushes, expect_len, root};
use crate::base::RolloutInputs;
use crate::kernel::{Lanes, Outlined, Real, Scalar};
use crate::random::Random;
use crate::{Error, Result};

/// What is known of the state at one moment: N(m, F Fᵀ).
#[derive(Clone, Debug)]
pub struct Belief<S> {
    /// m: n.
    pub mean: Vec<S>,
    /// F: n × n, row-major; need not be triangular.
    pub factor: Vec<S>,
}

/// Distributions of single steps ahead.
#[derive(Clone, Debug)]
pub struct Outlook<S> {
    /// Means of the outputs: n_time × p.
    pub means: Vec<S>,
    /// Lower factors of their covariances, noise included, with a positive diagonal: n_time × p × p.
    pub factors: Vec<S>,
}

impl<S: Scalar> Gains<S> {
    /// What is known of x_t given y_{1:t}; t = 0 is the start.
    ///
    /// # Errors
    /// t beyond the last step; means of another shape.
    pub fn belief(&self, means: &Means<S>, t: usize) -> Result<Belief<S>> {
        let (n, n_time) = (self.system.d_state, self.pattern.n_time());
        expect_len("means of the states", (n_time + 1) * n, means.states.len())?;
        let factor =
            self.factor(t).ok_or_else(|| Error::shape("step of a belief", format!("at most {n_time}"), t))?;
        Ok(Belief { mean: means.states[t * n..(t + 1) * n].to_vec(), factor: factor.to_vec() })
    }
}

#[cfg(test)]
impl<S: Scalar> Outlook<S> {
    /// Covariances of the outputs, noise included: n_time × p × p.
    pub fn covariances(&self) -> Vec<S> {
        let p = self.factors.len() / self.means.len().max(1);
        self.factors
            .chunks_exact((p * p).max(1))
            .flat_map(|factor| super::factor::square(factor, p))
            .collect()
    }
}

impl<S: Scalar> Matrices<S> {
    /// Mean and covariance of the outputs at each of the next steps, `drive.quiet.len()` of them.
    ///
    /// # Errors
    /// A belief or inputs that do not fit the system.
    pub fn outlook(&self, from: &Belief<S>, drive: RolloutInputs<'_, S>) -> Result<Outlook<S>> {
        self.expect_belief(from)?;
        let pushes = self.pushes(drive)?;
        Ok(S::outline::<Ahead, _>((self, from, pushes)))
    }

    #[inline(always)]
    fn ahead(&self, from: &Belief<S>, pushes: Pushes<S>) -> Outlook<S> {
        let (n, p) = (self.d_state, self.d_obs);
        let (mut last, mut work, mut next) = (from.clone(), vec![S::zero(); 2 * n * n], vec![S::zero(); n]);
        let (mut means, mut factors) = (pushes.outputs, vec![]);
        for (t, mean) in means.chunks_exact_mut(p).enumerate() {
            self.advance(&last.mean, &pushes.states[t * n..(t + 1) * n], &mut next);
            last.mean.copy_from_slice(&next);
            root::predict(self, &mut last.factor, &mut work);
            self.emit(&last.mean, mean);
            factors.extend(self.output_factor(&last.factor));
        }
        Outlook { means, factors }
    }

    /// Lower factor of C P Cᵀ + S: [C F, L_S] turned until it is triangular.
    #[inline(always)]
    fn output_factor(&self, factor: &[S]) -> Vec<S> {
        let (n, p) = (self.d_state, self.d_obs);
        let emitted = self.emission_times(factor);
        let mut wide = vec![S::zero(); p * (n + p)];
        for i in 0..p {
            let row = &mut wide[i * (n + p)..(i + 1) * (n + p)];
            // The factor of S first: it is triangular already.
            row[..p].copy_from_slice(&self.noise_factor[i * p..(i + 1) * p]);
            row[p..].copy_from_slice(&emitted[i * n..(i + 1) * n]);
        }
        root::lower(&wide, p)
    }

    /// Adds C x.
    #[inline(always)]
    fn emit(&self, x: &[S], y: &mut [S]) {
        for (y, c) in y.iter_mut().zip(self.emission.chunks_exact(x.len())) {
            for i in 0..x.len() {
                *y = c[i].mul_add(x[i], *y);
            }
        }
    }

    /// C F: p × n.
    #[inline(always)]
    fn emission_times(&self, factor: &[S]) -> Vec<S> {
        let n = self.d_state;
        let mut product = vec![S::zero(); self.d_obs * n];
        for (row, c) in product.chunks_exact_mut(n).zip(self.emission.chunks_exact(n)) {
            for k in 0..n {
                for j in 0..n {
                    row[j] = c[k].mul_add(factor[k * n + j], row[j]);
                }
            }
        }
        product
    }

    fn expect_belief(&self, belief: &Belief<S>) -> Result<()> {
        expect_len("mean of a belief", self.d_state, belief.mean.len())?;
        expect_len("factor of a belief", self.d_state * self.d_state, belief.factor.len())
    }
}

impl<S: Lanes> Matrices<S> {
    /// Draws C x + D u + d, without the noise of the outputs, for the next `drive.quiet.len()` steps, n_time × p: one trajectory
    /// per lane.
    ///
    /// # Errors
    /// A belief or inputs that do not fit the system.
    pub fn draw(&self, from: &Belief<S>, drive: RolloutInputs<'_, S>, random: &mut Random) -> Result<Vec<S>> {
        self.expect_belief(from)?;
        let pushes = self.pushes(drive)?;
        Ok(S::outline::<Draw, _>((self, from, pushes, random)))
    }

    #[inline(always)]
    fn walk(&self, from: &Belief<S>, pushes: Pushes<S>, random: &mut Random) -> Vec<S> {
        let (n, p) = (self.d_state, self.d_obs);
        let (mut x, mut outputs) = (vec![S::zero(); n], pushes.outputs);
        let mut past = from.mean.clone();
        add_scatter(&from.factor, &mut past, random);
        for (t, y) in outputs.chunks_exact_mut(p).enumerate() {
            self.advance(&past, &pushes.states[t * n..(t + 1) * n], &mut x);
            add_scatter(&self.process_factor, &mut x, random);
            self.emit(&x, y);
            past.copy_from_slice(&x);
        }
        outputs
    }

    /// Adds the noise of the outputs to those of a trajectory.
    ///
    /// # Errors
    /// Outputs that are not a whole number of steps.
    #[cfg(test)]
    pub fn add_noise(&self, outputs: &mut [S], random: &mut Random) -> Result<()> {
        expect_len("outputs", outputs.len() / self.d_obs * self.d_obs, outputs.len())?;
        for y in outputs.chunks_exact_mut(self.d_obs) {
            add_scatter(&self.noise_factor, y, random);
        }
        Ok(())
    }
}

/// Adds F ε, ε standard normal, independent over lanes.
#[inline(always)]
fn add_scatter<S: Lanes>(factor: &[S], x: &mut [S], random: &mut Random) {
    let size = x.len();
    for j in 0..size {
        let normal = S::from_fn(|_| S::Real::from_f64(StandardNormal.sample(random)));
        for i in 0..size {
            x[i] = factor[i * size + j].mul_add(normal, x[i]);
        }
    }
}

enum Ahead {}

impl<'a, S: Scalar> Outlined<(&'a Matrices<S>, &'a Belief<S>, Pushes<S>)> for Ahead {
    type Output = Outlook<S>;

    #[inline(always)]
    fn run((system, from, pushes): (&'a Matrices<S>, &'a Belief<S>, Pushes<S>)) -> Outlook<S> {
        system.ahead(from, pushes)
    }
}

enum Draw {}
type DrawFrom<'a, S> = (&'a Matrices<S>, &'a Belief<S>, Pushes<S>, &'a mut Random);

impl<'a, S: Lanes> Outlined<DrawFrom<'a, S>> for Draw {
    type Output = Vec<S>;

    #[inline(always)]
    fn run((system, from, pushes, random): DrawFrom<'a, S>) -> Vec<S> {
        system.walk(from, pushes, random)
    }
}
