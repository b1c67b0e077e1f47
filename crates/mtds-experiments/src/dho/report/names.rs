//! What the page calls each model, its colour, and which training sizes it shows.

use crate::dho::{CellKind, Protocol};

use super::{DhoReport, RecipeLabel};
use crate::dho::published::{Subject, TRAINING_SIZES};

/// Colour of the oracle.
pub(super) const ORACLE_COLOUR: &str = "var(--series-2)";
/// Colour of the pooled model.
pub(super) const POOLED_COLOUR: &str = "var(--series-5)";
/// Colour of the single-task model.
pub(super) const SINGLE_COLOUR: &str = "var(--series-4)";

/// The training sizes in tables and violins: the paper's if the experiment has at least two of them, else the
/// smallest, the middle and the largest.
pub(super) fn shown_sizes(protocol: &Protocol) -> Vec<usize> {
    let all = &protocol.training_sizes;
    let papers: Vec<usize> = TRAINING_SIZES.into_iter().filter(|n| all.contains(n)).collect();
    if papers.len() >= 2 {
        return papers;
    }
    let picks = [Some(0), Some(all.len() / 2), all.len().checked_sub(1)];
    let mut sizes: Vec<usize> = picks.into_iter().flatten().filter_map(|i| all.get(i).copied()).collect();
    sizes.dedup();
    sizes
}

/// The name of a model: that of its kind, with the number of sequences it learned from.
pub(super) fn subject_name(subject: Subject, protocol: &Protocol) -> String {
    match subject {
        Subject::Pooled => format!("Pooled LDS, {} sequences", protocol.pooled_size),
        Subject::Single => "Single-task LDS".into(),
        Subject::Mtlds(n) => format!("MTLDS-{n}"),
    }
}

/// The name of a model in cells and rows, as a reader knows it: `mtlds-paper` and 4 become "MTLDS-4".
pub(super) fn model_name(model: &str, n: Option<usize>) -> String {
    match (model, n) {
        ("oracle", _) => "Oracle".into(),
        ("pooled", _) => "Pooled".into(),
        ("single", _) => "STL".into(),
        (_, Some(n)) => format!("MTLDS-{n}"),
        (other, None) => other.into(),
    }
}

/// The same, with the recipe where there is more than one.
pub(super) fn full_name(report: &DhoReport<'_>, model: &str, n: Option<usize>) -> String {
    let recipe = report.recipes.iter().find(|recipe| recipe.model() == model);
    match recipe {
        Some(recipe) => format!("{}, {}", model_name(model, n), recipe.label),
        None => model_name(model, n),
    }
}

impl RecipeLabel {
    /// The name of its model in rows.
    pub(super) fn model(&self) -> String {
        format!("mtlds-{}", self.name)
    }

    /// Whether a cell is one of its models, learned from `n` sequences.
    pub(super) fn is_of(&self, kind: &CellKind, size: usize) -> bool {
        matches!(kind, CellKind::Mtlds { recipe, n } if recipe.name() == self.name && *n == size)
    }
}

/// The colour of recipe number `index`: apart from those of the other models.
pub(super) fn recipe_colour(index: usize) -> &'static str {
    ["var(--series-3)", "var(--series-0)", "var(--series-1)"][index % 3]
}

/// Shades of a colour from pale to full, for place `index` of `count`; opaque, so that marks may overlap.
pub(super) fn shade(colour: &str, index: usize, count: usize) -> String {
    let share = 100.0 * (0.45 + 0.55 * (index + 1) as f64 / count.max(1) as f64).min(1.0);
    format!("color-mix(in oklab,{colour} {share:.0}%,var(--paper))")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dho::Scale;

    #[test]
    fn the_papers_sizes_are_shown_where_they_are() {
        assert_eq!(shown_sizes(&Protocol::new(Scale::Full, 1)), [4, 16, 128]);
        assert_eq!(shown_sizes(&Protocol::new(Scale::Quick, 1)), [4, 16, 128]);
        let small = Protocol { training_sizes: vec![2, 4, 8], ..Protocol::new(Scale::Quick, 1) };
        assert_eq!(shown_sizes(&small), [2, 4, 8]);
        let none = Protocol { training_sizes: vec![], ..Protocol::new(Scale::Quick, 1) };
        assert!(shown_sizes(&none).is_empty());
        let one = Protocol { training_sizes: vec![32], ..none };
        assert_eq!(shown_sizes(&one), [32]);
    }
}
