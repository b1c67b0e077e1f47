//! The numbers of a signal: its own, or a part of a block that it shares with others.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Numbers that do not change.
#[derive(Clone)]
pub(super) enum Values {
    Own(Vec<f64>),
    Part { of: Arc<dyn AsRef<[f64]> + Send + Sync>, range: Range<usize> },
}

impl Deref for Values {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Own(values) => values,
            Self::Part { of, range } => &(**of).as_ref()[range.clone()],
        }
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}
