//! What was found in the files of a folder: every trap, in how many files, and what only shows when they are compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Clip, Trap};

/// Legs that differ by more than this are of different bodies, in metres: files give lengths to a hundredth of that.
const SAME_LEG: f64 = 1e-4;

/// A file that became a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct Take {
    /// Name in the family.
    pub id: String,
    /// Path below the folder, with `/`.
    pub file: String,
    /// The folder that it lies in.
    pub style: String,
    /// The clip.
    pub clip: Clip,
}

/// A file that became none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Path below the folder.
    pub file: String,
    /// Why.
    pub why: String,
}

/// What is below a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Takes {
    /// Clips in the order of their paths.
    pub takes: Vec<Take>,
    /// Files that could not be used.
    pub failures: Vec<Failure>,
}

/// Traps over all files, and those that only show when files are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// Name of a trap, and where it was found.
    pub traps: BTreeMap<&'static str, Found>,
    /// What only shows between files.
    pub between_files: Vec<String>,
}

/// Where a trap was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Found {
    /// Number of files.
    pub n_files: usize,
    /// Number of files at which a person should look.
    pub n_look: usize,
    /// What it says, and in how many files it says so.
    pub details: BTreeMap<String, usize>,
}

impl Findings {
    /// What was found in the files of a folder.
    #[must_use]
    pub fn of(takes: &Takes) -> Self {
        let names = |traps: &mut dyn Iterator<Item = &Trap>| -> BTreeSet<&'static str> {
            traps.map(|trap| trap.name).collect()
        };
        let mut traps: BTreeMap<&'static str, Found> = BTreeMap::new();
        for take in &takes.takes {
            for name in names(&mut take.clip.traps.iter()) {
                traps.entry(name).or_default().n_files += 1;
            }
            for name in names(&mut take.clip.traps.iter().filter(|trap| trap.look)) {
                traps.entry(name).or_default().n_look += 1;
            }
            for trap in &take.clip.traps {
                *traps.entry(trap.name).or_default().details.entry(trap.detail.clone()).or_default() += 1;
            }
        }
        Self { traps, between_files: between_files(&takes.takes) }
    }
}

impl Found {
    /// What it says most often.
    #[must_use]
    pub fn example(&self) -> String {
        let most = self.details.iter().max_by_key(|(_, count)| **count);
        let text = most.map(|(detail, _)| detail.as_str()).unwrap_or_default();
        let others = self.details.len().saturating_sub(1);
        if others == 0 { text.into() } else { format!("{text} (and {others} more)") }
    }
}

/// Bodies of different sizes, and styles that come from several rigs.
fn between_files(takes: &[Take]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut legs: Vec<f64> = takes.iter().map(|take| take.clip.map.leg_m).collect();
    legs.sort_by(f64::total_cmp);
    legs.dedup_by(|a, b| (*a - *b).abs() < SAME_LEG);
    if let [first, .., last] = legs[..] {
        lines.push(format!(
            "bodies differ: {} lengths of legs from {first:.3} to {last:.3} m; `mtds mocap prepare --legs METRES` makes \
             them one",
            legs.len()
        ));
    }
    let mut rigs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    takes.iter().for_each(|take| {
        rigs.entry(&take.style).or_default().insert(&take.clip.map.rig.rig);
    });
    for (style, rigs) in rigs.iter().filter(|(_, rigs)| rigs.len() > 1) {
        let rigs = rigs.iter().copied().collect::<Vec<_>>().join(", ");
        lines.push(format!("style `{style}` mixes rigs ({rigs}): one word may mean different things"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bvh::write;
    use crate::clip::ClipSettings;
    use crate::walker::{Style, Walker};

    fn take(style: &str, leg_m: f64, traps: Vec<Trap>) -> Take {
        let walk = Walker::new(Style::Proud.parameters()).walk(90, &mut mtds::random::stream(2, 0)).unwrap();
        let settings = ClipSettings { leg_m: Some(leg_m), ..ClipSettings::default() };
        let clip = Clip::of_bytes(&write(&walk.to_bvh().unwrap()), &settings).unwrap();
        let mut clip = Clip { traps, ..clip };
        clip.map.leg_m = leg_m;
        Take { id: "a".into(), file: "a.bvh".into(), style: style.into(), clip }
    }

    #[test]
    fn traps_are_counted_by_file_and_bodies_compared() {
        let trap = |look: bool, detail: &str| Trap { name: "rate", detail: detail.into(), look };
        let takes = vec![
            take("old", 0.8, vec![trap(false, "120"), trap(true, "60")]),
            take("old", 0.8, vec![trap(false, "120")]),
            take("proud", 0.9, vec![]),
        ];
        let found = Findings::of(&Takes { takes, failures: vec![] });
        let rate = &found.traps["rate"];
        assert_eq!((found.traps.len(), rate.n_files, rate.n_look), (1, 2, 1));
        assert_eq!(rate.example(), "120 (and 1 more)");
        assert!(found.between_files[0].contains("2 lengths of legs from 0.800 to 0.900"), "{found:?}");
        let none = Findings::of(&Takes { takes: vec![], failures: vec![] });
        assert!(none.traps.is_empty() && none.between_files.is_empty());
    }
}
