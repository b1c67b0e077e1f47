//! The built-in base models by name, with the sizes and forms that a fit gives them.

use super::{Base, Gru, Lds, OrthogonalRnn, OutputForm, Pharmacodynamic, Rnn, StochasticLds};
use crate::{Error, Result};

/// A built-in base model, as people name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseName {
    /// Linear dynamical system.
    Lds,
    /// Linear dynamical system with process noise, its state integrated out by a Kalman filter.
    Kalman,
    /// Recurrent network (tanh).
    Rnn,
    /// Recurrent network whose transition never expands (tanh, A = Σ Q).
    Ornn,
    /// Gated recurrent network.
    Gru,
    /// Tanh network behind a gated one over the inputs that all members share.
    Layered,
    /// Pharmacodynamic model: doses build up concentrations, effects follow them.
    Pd,
}

impl BaseName {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Lds, Self::Kalman, Self::Rnn, Self::Ornn, Self::Gru, Self::Layered, Self::Pd];

    /// The name under which models of this kind are asked for and stored.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lds => "lds",
            Self::Kalman => "kalman",
            Self::Rnn => "rnn",
            Self::Ornn => "ornn",
            Self::Gru => "gru",
            Self::Layered => "layered",
            Self::Pd => "pd",
        }
    }

    /// What it is, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Lds => "Linear dynamical system",
            Self::Kalman => {
                "Linear dynamical system with process noise, its state integrated out by a Kalman filter"
            }
            Self::Rnn => "Recurrent network (tanh)",
            Self::Ornn => "Recurrent network whose transition never expands (tanh, A = Σ Q)",
            Self::Gru => "Gated recurrent network",
            Self::Layered => {
                "Tanh network behind a gated one over the inputs that all members share (see --front)"
            }
            Self::Pd => "Pharmacodynamic model: doses build up concentrations, effects follow them",
        }
    }

    /// The base model of this name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|base| base.name() == name).ok_or_else(|| Error::Unknown {
            kind: "base model",
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }

    /// The base model with state, outputs and inputs of these sizes, and its usual forms.
    #[must_use]
    pub fn sized(self, d_state: usize, d_obs: usize, d_input: usize) -> Base {
        match self {
            Self::Lds => Lds::new(d_state, d_obs, d_input).into(),
            Self::Kalman => StochasticLds::new(d_state, d_obs, d_input).into(),
            Self::Rnn | Self::Layered => Rnn::new(d_state, d_obs, d_input).into(),
            Self::Ornn => OrthogonalRnn::new(d_state, d_obs, d_input).into(),
            Self::Gru => Gru::new(d_state, d_obs, d_input).into(),
            Self::Pd => Pharmacodynamic::new(d_state, d_obs, d_input).into(),
        }
    }

    /// The same with outputs that add up; `None` for those that cannot.
    #[must_use]
    pub fn adding_up(self, d_state: usize, d_obs: usize, d_input: usize) -> Option<Base> {
        let output = OutputForm::Residual;
        match self {
            Self::Rnn | Self::Layered => Some(Rnn::new(d_state, d_obs, d_input).with_output(output).into()),
            Self::Ornn => Some(OrthogonalRnn::new(d_state, d_obs, d_input).with_output(output).into()),
            Self::Gru => Some(Gru::new(d_state, d_obs, d_input).with_output(output).into()),
            Self::Lds | Self::Kalman | Self::Pd => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Kinds;

    #[test]
    fn base_models_are_asked_for_as_they_are_stored() {
        for base in BaseName::ALL {
            assert_eq!(BaseName::named(base.name()).unwrap(), base);
            let is_stored_as = base.sized(1, 1, 0).kind();
            assert!(base == BaseName::Layered || is_stored_as == base.name(), "{is_stored_as}");
        }
        let error = BaseName::named("steam engine").unwrap_err().to_string();
        assert!(error.contains("steam engine") && error.contains("kalman"), "{error}");
    }

    #[test]
    fn every_kind_that_is_read_can_be_asked_for() {
        let asked = BaseName::ALL.into_iter().filter(|base| *base != BaseName::Layered);
        assert_eq!(asked.map(BaseName::name).collect::<Vec<_>>(), Kinds::built_in().names());
    }
}
