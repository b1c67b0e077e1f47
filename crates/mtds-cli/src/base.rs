//! Base models by name: the one place where the program lists them, so that verbs are written once.
//!
//! ```text
//! BaseKind::with(work)    a kind that was asked for   →  work.run::<B>()
//! AnyModel::with(work)    a model that was loaded     →  work.run(&ModelBundle<B>)
//! ```

use anyhow::{Result, bail};
use clap::ValueEnum;
use mtds::Lds;
use mtds::base::recurrent::{Cell, Recurrent};
use mtds::base::{BaseModel, Gru, OrthogonalRnn, Pharmacodynamic, Rnn};
use mtds::infer::Online;
use mtds::store::{Member, ModelBundle, Provenance};
use mtds_data::model::{load_model, model_kind};
use std::path::Path;

/// A base model that can be made from its sizes alone.
pub trait SizedBase: BaseModel {
    /// A base model with state, outputs and inputs of these sizes, and its usual forms.
    fn sized(d_state: usize, d_obs: usize, d_input: usize) -> Self;
}

impl SizedBase for Lds {
    fn sized(d_state: usize, d_obs: usize, d_input: usize) -> Self {
        Self::new(d_state, d_obs, d_input)
    }
}

impl<C: Cell> SizedBase for Recurrent<C> {
    fn sized(d_state: usize, d_obs: usize, d_input: usize) -> Self {
        Self::new(d_state, d_obs, d_input)
    }
}

impl SizedBase for Pharmacodynamic {
    fn sized(d_state: usize, d_obs: usize, d_input: usize) -> Self {
        Self::new(d_state, d_obs, d_input)
    }
}

/// Work that is the same for every kind of base model.
pub trait WithBase {
    /// What comes of it.
    type Output;
    /// The work for one kind.
    fn run<B: SizedBase>(self) -> Self::Output;
}

/// Work on a model that is the same for every kind of base model.
pub trait WithModel {
    /// What comes of it.
    type Output;
    /// The work for one kind.
    fn run<B: SizedBase>(self, bundle: &ModelBundle<B>) -> Self::Output;
}

/// Lists the base models once: name on the command line and variant, and type.
macro_rules! bases {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// The kinds of base model.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub enum BaseKind {
            $($(#[$doc])* $name,)*
        }

        impl BaseKind {
            /// Does the work for this kind.
            pub fn with<W: WithBase>(self, work: W) -> W::Output {
                match self {
                    $(Self::$name => work.run::<$kind>(),)*
                }
            }

            /// The name under which models of this kind are stored.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => <$kind>::KIND,)*
                }
            }
        }

        /// A model of any kind, as loaded.
        #[derive(Debug, Clone)]
        pub enum AnyModel {
            $($(#[$doc])* $name(Box<ModelBundle<$kind>>),)*
        }

        impl AnyModel {
            /// Loads the model in a directory.
            ///
            /// # Errors
            /// No model, a damaged one, one of another version, or a kind that this program does not know.
            pub fn load(path: &Path) -> Result<Self> {
                let found = model_kind(path)?;
                $(if found == <$kind>::KIND {
                    return Ok(Self::$name(Box::new(load_model(path)?)));
                })*
                let known: Vec<_> = BaseKind::value_variants().iter().map(|kind| kind.name()).collect();
                bail!(
                    "{}: has the base model `{found}`, this program knows: {}; use a newer program",
                    path.display(),
                    known.join(", ")
                )
            }

            /// Does the work on this model.
            pub fn with<W: WithModel>(&self, work: W) -> W::Output {
                match self {
                    $(Self::$name(bundle) => work.run(bundle),)*
                }
            }

            /// Where the model came from.
            pub fn provenance(&self) -> &Provenance {
                match self {
                    $(Self::$name(bundle) => &bundle.provenance,)*
                }
            }

            /// The members that it was learned from, with their codes.
            pub fn members(&self) -> &[Member] {
                match self {
                    $(Self::$name(bundle) => &bundle.members,)*
                }
            }
        }
    };
}

bases! {
    /// Linear dynamical system
    Lds: Lds,
    /// Recurrent network (tanh)
    Rnn: Rnn,
    /// Recurrent network whose transition never expands (tanh, A = Σ Q)
    Ornn: OrthogonalRnn,
    /// Gated recurrent network
    Gru: Gru,
    /// Pharmacodynamic model: doses build up concentrations, effects follow them
    Pd: Pharmacodynamic,
}

impl BaseKind {
    /// The kind that is stored under a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|kind| kind.name() == name)
    }
}

/// Key of the settings in a model under which the fit keeps how codes of new members are inferred.
pub const ONLINE_KEY: &str = "online";

impl AnyModel {
    /// How codes of new members are inferred: as the fit chose, or the usual way.
    pub fn online(&self) -> Online {
        let chosen = self.provenance().settings.get(ONLINE_KEY);
        chosen.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_typed_as_they_are_stored() {
        for kind in BaseKind::value_variants() {
            let typed = kind.to_possible_value().expect("none is hidden");
            assert_eq!(typed.get_name(), kind.name());
            assert_eq!(BaseKind::named(kind.name()), Some(*kind));
        }
        assert_eq!(BaseKind::named("steam engine"), None);
    }
}
