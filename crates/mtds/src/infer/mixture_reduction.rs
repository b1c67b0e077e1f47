//! A mixture of many Gaussians made coarser: fewer components, or wider ones.
//!
//! ```text
//! reduced: components whose means lie together become one       α = Σ α_j, mean and covariance those of their mixture
//! blurred: u + e, e ~ N(0, h² I)                                Σ_j → Σ_j + h² I
//! ```

use super::kmeans::{self, Clusters};
use super::{GaussianMixture, Points};
use crate::random::Random;
use crate::{Error, Result};

/// Most iterations of k-means; it rarely needs a tenth.
const ITERATIONS: usize = 100;

impl GaussianMixture {
    /// A mixture of at most `most` components that has this one's mean and covariance.
    ///
    /// # Errors
    /// [`Error::Setting`] for `most` = 0.
    pub fn reduced(&self, most: usize, random: &mut Random) -> Result<Self> {
        if most == 0 {
            return Err(Error::setting("components", "found 0; expected 1 or more"));
        }
        if self.len() <= most {
            return Ok(self.clone());
        }
        let means: Vec<Vec<f64>> = (0..self.len()).map(|j| self.component_mean(j).to_vec()).collect();
        let clusters = Clusters { count: most, iterations: ITERATIONS };
        let means = Points::from_points(self.dim(), &means)?;
        let labels = kmeans::labels(&means, self.weights(), clusters, random);
        let heap = |label| (0..self.len()).filter(|&j| labels[j] == label).collect::<Vec<_>>();
        let heaps: Vec<Vec<usize>> = (0..most).map(heap).filter(|heap| !heap.is_empty()).collect();
        let merged = heaps.iter().map(|heap| self.merged(heap)).collect::<Result<Vec<_>>>()?;
        let parts: Vec<(f64, &Self)> = merged.iter().map(|(weight, part)| (*weight, part)).collect();
        Self::average(&parts)
    }

    /// The weight of these components together, and the one Gaussian with their moments.
    fn merged(&self, components: &[usize]) -> Result<(f64, Self)> {
        let total: f64 = components.iter().map(|&j| self.weights()[j]).sum();
        let weights = components.iter().map(|&j| self.weights()[j] / total).collect();
        let means = components.iter().map(|&j| self.component_mean(j).to_vec()).collect();
        let covariances = components.iter().map(|&j| self.component_covariance(j).to_vec()).collect();
        Ok((total, Self::new(weights, means, covariances)?.collapsed()?))
    }

    /// The mixture of what it describes and independent errors of standard deviation `std_dev`.
    ///
    /// # Errors
    /// [`Error::Setting`] for a negative standard deviation, or one that is not finite.
    pub fn blurred(&self, std_dev: f64) -> Result<Self> {
        if !(std_dev.is_finite() && std_dev >= 0.0) {
            return Err(Error::setting("spread", format!("found {std_dev}; expected 0 or more")));
        }
        let d = self.dim();
        let mut covariances = self.covariances.clone();
        for covariance in covariances.chunks_exact_mut(d * d) {
            (0..d).for_each(|i| covariance[i * d + i] += std_dev * std_dev);
        }
        Self::from_flat(d, self.weights.clone(), self.means.clone(), covariances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// `n` narrow components along a line, of different weights.
    fn row(n: usize) -> GaussianMixture {
        let total: f64 = (1..=n).map(|j| j as f64).sum();
        let weights = (1..=n).map(|j| j as f64 / total).collect();
        let means = (0..n).map(|j| vec![j as f64, -0.5 * j as f64]).collect();
        GaussianMixture::new(weights, means, vec![vec![0.2, 0.1, 0.1, 0.3]; n]).unwrap()
    }

    fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
        a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < tolerance, "{a} against {b}"));
    }

    #[test]
    fn fewer_components_have_the_same_moments() {
        let many = row(40);
        for most in [1, 3, 12, 39] {
            let few = many.reduced(most, &mut stream(5, most as u64)).unwrap();
            assert!(few.len() <= most && few.len() > most / 2, "{} of {most}", few.len());
            assert_close(&few.mean(), &many.mean(), 1e-9);
            assert_close(&few.covariance(), &many.covariance(), 1e-9);
        }
        assert_eq!(many.reduced(40, &mut stream(5, 0)).unwrap(), many);
        assert!(many.reduced(0, &mut stream(5, 0)).is_err());
    }

    #[test]
    fn components_at_one_place_become_one() {
        let same = GaussianMixture::new(vec![0.5, 0.5], vec![vec![1.0]; 2], vec![vec![0.3]; 2]).unwrap();
        let one = same.reduced(1, &mut stream(6, 0)).unwrap();
        assert_eq!((one.len(), one.component_mean(0)), (1, &[1.0][..]));
        let far = row(2).reduced(1, &mut stream(6, 0)).unwrap();
        assert_eq!(far, row(2).collapsed().unwrap());
    }

    #[test]
    fn a_blur_adds_to_every_variance_and_moves_nothing() {
        let (sharp, wide) = (row(3), row(3).blurred(0.5).unwrap());
        assert_close(wide.component_covariance(2), &[0.45, 0.1, 0.1, 0.55], 1e-12);
        assert_eq!(wide.mean(), sharp.mean());
        assert_eq!(sharp.blurred(0.0).unwrap(), sharp);
        for bad in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(sharp.blurred(bad).unwrap_err().to_string().contains("spread"));
        }
    }
}
