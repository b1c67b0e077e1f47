//! Base models by the names that are typed: the one place where the program lists them.

use clap::ValueEnum;
use mtds::Lds;
use mtds::base::{Base, Gru, OrthogonalRnn, OutputForm, Pharmacodynamic, Rnn, StochasticLds};
use mtds::learn::choice::LAYERED;

/// The kinds of base model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BaseKind {
    /// Linear dynamical system
    Lds,
    /// Linear dynamical system with process noise, its state integrated out by a Kalman filter
    Kalman,
    /// Recurrent network (tanh)
    Rnn,
    /// Recurrent network whose transition never expands (tanh, A = Σ Q)
    Ornn,
    /// Gated recurrent network
    Gru,
    /// Tanh network behind a gated one over the inputs that all members share (see --front)
    Layered,
    /// Pharmacodynamic model: doses build up concentrations, effects follow them
    Pd,
}

impl BaseKind {
    /// A base model with state, outputs and inputs of these sizes, and its usual forms.
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

    /// The same with outputs that add up; `None` for kinds that cannot.
    pub fn adding_up(self, d_state: usize, d_obs: usize, d_input: usize) -> Option<Base> {
        let output = OutputForm::Residual;
        match self {
            Self::Rnn | Self::Layered => Some(Rnn::new(d_state, d_obs, d_input).with_output(output).into()),
            Self::Ornn => Some(OrthogonalRnn::new(d_state, d_obs, d_input).with_output(output).into()),
            Self::Gru => Some(Gru::new(d_state, d_obs, d_input).with_output(output).into()),
            Self::Lds | Self::Kalman | Self::Pd => None,
        }
    }

    /// The name under which models of this kind are stored; for a layered one, that of its settings.
    pub fn name(self) -> &'static str {
        if self == Self::Layered { LAYERED } else { self.sized(1, 1, 0).kind() }
    }

    /// The kind that is stored under a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::base::Kinds;

    #[test]
    fn kinds_are_typed_as_they_are_stored() {
        for kind in BaseKind::value_variants() {
            let typed = kind.to_possible_value().expect("none is hidden");
            assert_eq!(typed.get_name(), kind.name());
            assert_eq!(BaseKind::named(kind.name()), Some(*kind));
        }
        assert_eq!(BaseKind::named("steam engine"), None);
    }

    #[test]
    fn every_kind_that_is_read_can_be_typed() {
        let kinds = BaseKind::value_variants().iter().filter(|kind| **kind != BaseKind::Layered);
        assert_eq!(kinds.map(|kind| kind.name()).collect::<Vec<_>>(), Kinds::built_in().names());
    }
}
