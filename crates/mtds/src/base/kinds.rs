//! The kinds of base model that a stored model may name.

use serde_json::Value;

use super::{Base, BaseModel, Gru, Lds, OrthogonalRnn, Pharmacodynamic, Rnn, StochasticLds};

/// The kinds of base model that can be read; those of this crate, and those that a user adds.
///
/// ```
/// # use mtds::custom::Kinds;
/// assert!(Kinds::built_in().names().contains(&"lds"));
/// ```
#[derive(Clone, Debug)]
pub struct Kinds(Vec<Kind>);

#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    read: fn(Value) -> serde_json::Result<Base>,
}

impl Kinds {
    /// Those of this crate.
    #[must_use]
    pub fn built_in() -> Self {
        Self::none()
            .with::<Lds>()
            .with::<StochasticLds>()
            .with::<Rnn>()
            .with::<OrthogonalRnn>()
            .with::<Gru>()
            .with::<Pharmacodynamic>()
    }

    pub(super) fn none() -> Self {
        Self(vec![])
    }

    /// One kind more; it takes the place of one of the same name.
    #[must_use]
    pub fn with<B: BaseModel>(mut self) -> Self {
        self.0.retain(|kind| kind.name != B::KIND);
        let read = |value| serde_json::from_value::<B>(value).map(BaseModel::erase);
        self.0.push(Kind { name: B::KIND, read });
        self
    }

    /// These, and those of `other` that these do not name.
    pub(crate) fn and(mut self, other: Self) -> Self {
        let others = other.0.into_iter().filter(|kind| !self.0.iter().any(|known| known.name == kind.name));
        let others: Vec<Kind> = others.collect();
        self.0.extend(others);
        self
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|kind| kind.name).collect()
    }

    /// A base model as it was stored; `None` for a kind that is not here.
    pub(crate) fn read(&self, name: &str, stored: Value) -> Option<serde_json::Result<Base>> {
        self.0.iter().find(|kind| kind.name == name).map(|kind| (kind.read)(stored))
    }
}

impl Default for Kinds {
    fn default() -> Self {
        Self::built_in()
    }
}
