//! The phase of a cycle among the inputs: a pair of columns called `…phase_cos` and `…phase_sin`, as families of motions have it.

use serde::{Deserialize, Serialize};

/// Where inputs tell cos φ and sin φ of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Column of cos φ.
    pub cos: usize,
    /// Column of sin φ.
    pub sin: usize,
}

impl Phase {
    /// The pair among columns with these names, if there is one.
    #[must_use]
    pub fn of(names: &[String]) -> Option<Self> {
        let column = |wanted: &str| {
            let is_it = |name: &String| {
                name.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('_'))
            };
            names.iter().position(is_it)
        };
        Some(Self { cos: column("phase_cos")?, sin: column("phase_sin")? })
    }

    /// cos φ, sin φ, cos 2φ, sin 2φ, … up to `n` φ, of a row of inputs in data units.
    pub fn harmonics(self, row: &[f64], n: usize) -> impl Iterator<Item = f64> {
        let angle = row[self.sin].atan2(row[self.cos]);
        (1..=n).flat_map(move |m| {
            let (sin, cos) = (m as f64 * angle).sin_cos();
            [cos, sin]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pair_is_found_by_its_names() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = Phase::of(&names(&["u_path", "u_phase_sin", "u_phase_cos"]));
        assert_eq!(found, Some(Phase { cos: 2, sin: 1 }));
        assert_eq!(Phase::of(&names(&["phase_cos", "phase_sin"])), Some(Phase { cos: 0, sin: 1 }));
        assert_eq!(Phase::of(&names(&["phase_cos", "level"])), None);
        assert_eq!(Phase::of(&names(&["emphase_cos", "emphase_sin"])), None);
    }

    #[test]
    fn harmonics_turn_as_often_as_they_say() {
        let phase = Phase { cos: 0, sin: 1 };
        let found: Vec<f64> = phase.harmonics(&[0.0, 2.0], 2).collect();
        for (found, expected) in found.iter().zip([0.0, 1.0, -1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
