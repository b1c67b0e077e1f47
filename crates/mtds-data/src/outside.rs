//! Sequences that are far outside of what a family does, and what is said of them.

use mtds::parts::Misfit;

/// Sequences that a note names.
const MOST_NAMED: usize = 5;
/// What is said of a sequence that is far outside.
pub const FAR_OUTSIDE: &str = "far outside of what the family does: no code explains it. Is it in another unit, from another sensor, or \
                               no member at all? What is said of it here means little";

/// A sequence that is far outside of what a family does.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// The sequence.
    pub id: String,
    /// Size of its misfit.
    size: f64,
}

impl Outside {
    /// The sequence of this id, if its misfit says so.
    #[must_use]
    pub fn of(id: &str, misfit: Misfit) -> Option<Self> {
        let size = misfit.size().unwrap_or(f64::NAN);
        misfit.is_far_outside().then(|| Self { id: id.to_owned(), size })
    }

    /// What to say of those that were found; nothing where there are none.
    #[must_use]
    pub fn note(found: &[Self]) -> Option<String> {
        if found.is_empty() {
            return None;
        }
        let one = |Self { id, size }: &Self| format!("`{id}` (errors {size:.1e} times those of members)");
        let named: Vec<String> = found.iter().take(MOST_NAMED).map(one).collect();
        let more = found.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("{}{more}: {FAR_OUTSIDE}", named.join(", ")))
    }
}
