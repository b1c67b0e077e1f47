//! Which scaling takes data units to model units.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::family::{Family, Scaling};

/// How data units become model units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingRule {
    /// They are the same.
    Identity,
    /// Outputs to mean 0 and deviation 1; inputs stay, so that an input of zero keeps meaning "nothing".
    #[default]
    Outputs,
    /// As `Outputs`, and inputs divided by their usual size: zero stays zero.
    InputUnits,
    /// Outputs and inputs to mean 0 and deviation 1.
    All,
}

impl ScalingRule {
    /// The scaling of a family.
    ///
    /// # Errors
    /// A family whose spread is not finite.
    pub fn scaling(self, family: &Family) -> Result<Scaling> {
        match self {
            Self::Identity => Ok(Scaling::identity(family.d_obs(), family.d_input())),
            Self::Outputs => Scaling::standard_outputs(family),
            Self::InputUnits => Scaling::standard_outputs_and_input_units(family),
            Self::All => Scaling::standard(family),
        }
    }
}
