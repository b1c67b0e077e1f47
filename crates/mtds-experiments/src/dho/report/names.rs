//! What the page calls each model, its colour, and which training sizes it shows.

use crate::dho::published::{Subject, TRAINING_SIZES};
use crate::dho::{CellKind, Protocol, Recipe};

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

/// The name of a model as a reader knows it: "MTLDS-4" for `mtlds-paper-n0004`.
pub(super) fn model_name(kind: &CellKind) -> String {
    match kind {
        CellKind::Oracle => "Oracle".into(),
        CellKind::Pooled => "Pooled".into(),
        CellKind::Single => "STL".into(),
        CellKind::Mtlds { n, .. } => format!("MTLDS-{n}"),
    }
}

/// The same, with the recipe where it has one.
pub(super) fn full_name(kind: &CellKind) -> String {
    match kind {
        CellKind::Mtlds { recipe, .. } => format!("{}, {}", model_name(kind), label(*recipe)),
        _ => model_name(kind),
    }
}

/// What the page calls a recipe.
pub(super) fn label(recipe: Recipe) -> &'static str {
    match recipe {
        Recipe::Paper => "paper's recipe",
        Recipe::Ours => "our recipe",
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
