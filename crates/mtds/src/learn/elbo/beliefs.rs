//! Where beliefs about codes come from: numbers of their own, or a network that reads the sequence.
//!
//! ```text
//! free       μ_j, ρ_j are parameters:  [μ: N × k | ρ: N × k]
//! network    (μ_i, ρ_i) = network(Y_i, U_i), with the network's weights as parameters
//! ```
//! Either way the parameters stand behind those of the model in the trainer's vector, so that Adam, clipping, penalties,
//! checkpoints and the watch for numbers that are not finite treat all alike.

use rand_distr::{Distribution, StandardNormal};

use super::{Gaussians, GroupRule, Variational};
use crate::learn::amortised::NetworkBeliefs;
use crate::learn::{ParameterGroup, Proposal};
use crate::random::Random;
use crate::{Error, Result};

/// The source of q_j.
#[derive(Debug)]
pub(crate) enum Beliefs {
    Free(FreeBeliefs),
    Network(Box<NetworkBeliefs>),
}

/// One Gaussian per code, as parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeBeliefs {
    pub(crate) n_codes: usize,
    pub(crate) d_code: usize,
}

impl Beliefs {
    pub(crate) fn n_codes(&self) -> usize {
        match self {
            Self::Free(free) => free.n_codes,
            Self::Network(network) => network.n_codes(),
        }
    }

    pub(crate) fn n_parameters(&self) -> usize {
        match self {
            Self::Free(free) => 2 * free.len(),
            Self::Network(network) => network.network().n_parameters(),
        }
    }

    /// Parameters at the start.
    pub(crate) fn first(&self, settings: &Variational, random: &mut Random) -> Vec<f32> {
        match self {
            Self::Free(free) => free.first(settings, random),
            Self::Network(network) => network.network().first(settings.start_std_dev(), random),
        }
    }

    /// Groups of the parameters, which begin at `start` of the trainer's vector.
    pub(crate) fn groups(&self, start: usize, rule: GroupRule) -> Vec<ParameterGroup> {
        match self {
            Self::Free(free) => free.groups(start, rule),
            Self::Network(network) => network.groups(start, rule),
        }
    }

    /// q_j of the codes at these places.
    pub(crate) fn gaussians(&mut self, parameters: &[f32], places: &[usize]) -> Result<Gaussians> {
        match self {
            Self::Free(free) => Ok(free.gaussians(parameters, places)),
            Self::Network(network) => network.gaussians(parameters, places),
        }
    }

    /// Pulls gradients with respect to the q_j that [`Beliefs::gaussians`] gave last to the parameters.
    pub(crate) fn pull(&mut self, places: &[usize], pulled: &Gaussians, gradient: &mut [f32]) -> Result<()> {
        match self {
            Self::Free(free) => {
                free.pull(places, pulled, gradient);
                Ok(())
            }
            Self::Network(network) => network.pull(pulled, gradient),
        }
    }

    /// Divides means and deviations by `spread`: places and factors of what is multiplied; the rest is written.
    pub(crate) fn divide(&self, parameters: &mut [f32], spread: &[f64]) -> Vec<(usize, f32)> {
        match self {
            Self::Free(free) => free.divide(parameters, spread),
            Self::Network(network) => network.network().divide(parameters, spread),
        }
    }
}

impl FreeBeliefs {
    fn len(self) -> usize {
        self.n_codes * self.d_code
    }

    fn first(self, settings: &Variational, random: &mut Random) -> Vec<f32> {
        let spread = settings.first_std_dev[0];
        let mean = (0..self.len()).map(|_| {
            let e: f64 = StandardNormal.sample(random);
            (spread * e) as f32
        });
        let rho = settings.start_std_dev().ln() as f32;
        mean.chain(std::iter::repeat_n(rho, self.len())).collect()
    }

    /// Parameters at which q_j has the mean and the marginal deviations of each proposal.
    pub(crate) fn at(self, proposals: &[Proposal]) -> Result<Vec<f32>> {
        let k = self.d_code;
        let fits = |p: &Proposal| p.mean.len() == k && p.covariance.len() == k * k;
        if proposals.len() != self.n_codes || !proposals.iter().all(fits) {
            let expected = format!("{} of {k} dimensions", self.n_codes);
            return Err(Error::shape(
                "proposals",
                expected,
                format!("{}, or other dimensions", proposals.len()),
            ));
        }
        let means = proposals.iter().flat_map(|p| p.mean.iter().map(|&m| m as f32));
        let rho = |p: &Proposal, d: usize| 0.5 * p.covariance[d * k + d].max(f64::MIN_POSITIVE).ln();
        let rhos = proposals.iter().flat_map(|p| (0..k).map(|d| rho(p, d) as f32));
        Ok(means.chain(rhos).collect())
    }

    fn groups(self, start: usize, rule: GroupRule) -> Vec<ParameterGroup> {
        let group = |name: &str, first: usize| ParameterGroup {
            name: name.into(),
            range: first..first + self.len(),
            rate: rule.rate as f32,
            l2: 0.0,
        };
        vec![group("codes.mean", start), group("codes.log_std_dev", start + self.len())]
    }

    pub(super) fn gaussians(self, parameters: &[f32], places: &[usize]) -> Gaussians {
        let (k, rho) = (self.d_code, self.len());
        let pick = |offset: usize| {
            places.iter().flat_map(|&j| &parameters[offset + j * k..][..k]).map(|&x| f64::from(x)).collect()
        };
        Gaussians { d_code: k, mean: pick(0), log_std_dev: pick(rho) }
    }

    fn pull(self, places: &[usize], pulled: &Gaussians, gradient: &mut [f32]) {
        let (k, rho) = (self.d_code, self.len());
        for (local, &j) in places.iter().enumerate() {
            for d in 0..k {
                gradient[j * k + d] += pulled.mean[local * k + d] as f32;
                gradient[rho + j * k + d] += pulled.log_std_dev[local * k + d] as f32;
            }
        }
    }

    fn divide(self, parameters: &mut [f32], spread: &[f64]) -> Vec<(usize, f32)> {
        let len = self.len();
        for (at, rho) in parameters[len..].iter_mut().enumerate() {
            *rho -= spread[at % self.d_code].ln() as f32;
        }
        (0..len).map(|at| (at, (1.0 / spread[at % self.d_code]) as f32)).collect()
    }
}
