//! The fixed first layer of the generator.
//!
//! ```text
//! Identity       z ↦ z                                   k features
//! Trigonometric  z ↦ [z, sin z, cos z, ‖z‖]              3k + 1 features
//! ```
//! The trigonometric features help to encode a rectangular support within a spherically symmetric prior
//! (Bird & Williams 2020, supplement, "Experimental setup" of the oscillators).

use serde::{Deserialize, Serialize};

use crate::kernel::Scalar;

/// The fixed map in front of the generator's first weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureMap {
    /// The code itself.
    #[default]
    Identity,
    /// [z, sin z, cos z, ‖z‖].
    Trigonometric,
}

impl FeatureMap {
    /// Number of features of a code of length `d_code`.
    #[must_use]
    pub fn len(self, d_code: usize) -> usize {
        match self {
            Self::Identity => d_code,
            Self::Trigonometric => 3 * d_code + 1,
        }
    }

    /// Writes the features of `code`.
    #[inline(always)]
    pub fn apply<S: Scalar>(self, code: &[S], features: &mut [S]) {
        let k = code.len();
        features[..k].copy_from_slice(code);
        if self == Self::Identity {
            return;
        }
        let mut square = S::zero();
        for (i, &z) in code.iter().enumerate() {
            (features[k + i], features[2 * k + i]) = z.sin_cos();
            square = z.mul_add(z, square);
        }
        features[3 * k] = square.sqrt();
    }

    /// Writes the gradient with respect to the code; `features` are those of [`FeatureMap::apply`].
    ///
    /// At z = 0, where ‖z‖ has no derivative, its contribution is zero.
    #[inline(always)]
    pub fn pull_back<S: Scalar>(self, features: &[S], d_features: &[S], d_code: &mut [S]) {
        let k = d_code.len();
        d_code.copy_from_slice(&d_features[..k]);
        if self == Self::Identity {
            return;
        }
        let norm = features[3 * k].max(S::constant(1e-30));
        for i in 0..k {
            let (z, sin, cos) = (features[i], features[k + i], features[2 * k + i]);
            let d = d_features[k + i].mul_add(cos, d_code[i]);
            let d = (-d_features[2 * k + i]).mul_add(sin, d);
            d_code[i] = d_features[3 * k].mul_add(z / norm, d);
        }
    }
}
