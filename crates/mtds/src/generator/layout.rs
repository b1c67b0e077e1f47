//! Which part of θ the code adapts, which is shared by the family, which is fixed.
//!
//! A base model lists the blocks of its raw (unconstrained) parameter vector θ; the layout gives each block
//! a role and moves values between three vectors:
//!
//! ```text
//! adapted (from the generator, one per particle) ─┐
//! shared  (learned, one for the family)          ─┼─→  θ  (d_theta, one per particle)
//! fixed   (constants)                            ─┘
//! ```

use serde::{Deserialize, Serialize};

use crate::kernel::{Lanes, Real};
use crate::{Error, Result};

/// What determines a block of θ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Generated from the code: each member of the family has its own.
    Adapted,
    /// Learned, the same for every member.
    Shared,
    /// Not learned: every entry has this raw value.
    Fixed(f64),
}

/// A block of raw parameters as a base model declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockSpec {
    /// Name by which users choose its role, e.g. `emission`.
    pub name: &'static str,
    /// Number of raw entries.
    pub len: usize,
    /// The role it has unless the user says otherwise.
    pub role: Role,
    /// Raw values at the start of learning are `mean + spread · N(0, 1)`.
    pub mean: f64,
    /// See `mean`.
    pub spread: f64,
    /// Scale of the generator's last weights for this block, relative to the others.
    pub gain: f64,
}

impl BlockSpec {
    /// A block whose raw values start at 0, with a gain of 1.
    #[must_use]
    pub fn new(name: &'static str, len: usize, role: Role) -> Self {
        Self { name, len, role, mean: 0.0, spread: 0.0, gain: 1.0 }
    }

    /// Lets raw values start at `mean + spread · N(0, 1)`.
    #[must_use]
    pub fn starting(self, mean: f64, spread: f64) -> Self {
        Self { mean, spread, ..self }
    }

    /// Sets the scale of the generator's last weights.
    #[must_use]
    pub fn gain(self, gain: f64) -> Self {
        Self { gain, ..self }
    }
}

/// A block with its role and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The declaration.
    pub spec: BlockSpec,
    /// What determines it.
    pub role: Role,
    /// Where it starts in θ.
    pub start: usize,
    /// Where it starts in the adapted or the shared vector; 0 for fixed blocks.
    pub slot: usize,
}

impl Block {
    /// Range in θ.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.spec.len
    }

    /// Range in the adapted or the shared vector.
    #[must_use]
    pub fn slots(&self) -> std::ops::Range<usize> {
        self.slot..self.slot + self.spec.len
    }
}

/// The map between θ and the vectors that determine it.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    blocks: Vec<Block>,
    d_theta: usize,
    d_adapted: usize,
    d_shared: usize,
}

impl Layout {
    /// Lays out the blocks of a base model; `roles` overrides the default role by block name.
    ///
    /// # Errors
    /// An override that names no block, or a fixed value that is not finite.
    pub fn new(specs: Vec<BlockSpec>, roles: &[(String, Role)]) -> Result<Self> {
        for (name, role) in roles {
            if !specs.iter().any(|s| s.name == name) {
                let known: Vec<_> = specs.iter().map(|s| s.name).collect();
                return Err(Error::Unknown { kind: "block", name: name.clone(), known: known.join(", ") });
            }
            if let Role::Fixed(value) = role
                && !value.is_finite()
            {
                return Err(Error::NotFinite { what: format!("block `{name}`"), value: *value, hint: "" });
            }
        }
        let mut layout = Self { blocks: vec![], d_theta: 0, d_adapted: 0, d_shared: 0 };
        for spec in specs {
            let chosen = roles.iter().rev().find(|(name, _)| name == spec.name);
            let role = chosen.map_or(&spec.role, |(_, role)| role).clone();
            let counter = match role {
                Role::Adapted => Some(&mut layout.d_adapted),
                Role::Shared => Some(&mut layout.d_shared),
                Role::Fixed(_) => None,
            };
            let slot = counter.map_or(0, |n| std::mem::replace(n, *n + spec.len));
            layout.blocks.push(Block { role, start: layout.d_theta, slot, spec: spec.clone() });
            layout.d_theta += spec.len;
        }
        Ok(layout)
    }

    /// The blocks in the order of θ.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block of this name.
    #[must_use]
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|b| b.spec.name == name)
    }

    /// The roles that differ from the base model's defaults, by block name.
    #[must_use]
    pub fn overrides(&self) -> Vec<(String, Role)> {
        let changed = self.blocks.iter().filter(|b| b.role != b.spec.role);
        changed.map(|b| (b.spec.name.to_owned(), b.role.clone())).collect()
    }

    /// Length of θ.
    #[must_use]
    pub fn d_theta(&self) -> usize {
        self.d_theta
    }

    /// How many entries of θ the generator produces.
    #[must_use]
    pub fn d_adapted(&self) -> usize {
        self.d_adapted
    }

    /// How many entries of θ are learned directly.
    #[must_use]
    pub fn d_shared(&self) -> usize {
        self.d_shared
    }

    /// θ from the adapted values (one per lane) and the shared values.
    #[inline(always)]
    pub fn assemble<S: Lanes>(&self, adapted: &[S], shared: &[S::Real], theta: &mut [S]) {
        for block in &self.blocks {
            let target = &mut theta[block.range()];
            match block.role {
                Role::Adapted => target.copy_from_slice(&adapted[block.slots()]),
                Role::Shared => {
                    for (t, &s) in target.iter_mut().zip(&shared[block.slots()]) {
                        *t = S::splat(s);
                    }
                }
                Role::Fixed(value) => target.fill(S::constant(value)),
            }
        }
    }

    /// The adapted part of [`Layout::assemble_adjoint`] alone.
    #[inline(always)]
    pub fn adapted_adjoint<S: Lanes>(&self, d_theta: &[S], d_adapted: &mut [S]) {
        for block in self.blocks.iter().filter(|b| b.role == Role::Adapted) {
            d_adapted[block.slots()].copy_from_slice(&d_theta[block.range()]);
        }
    }

    /// The adjoint of [`Layout::assemble`]: writes the adapted part, adds the lane sums of the shared part.
    #[inline(always)]
    pub fn assemble_adjoint<S: Lanes>(&self, d_theta: &[S], d_adapted: &mut [S], d_shared: &mut [S::Real]) {
        for block in &self.blocks {
            let source = &d_theta[block.range()];
            match block.role {
                Role::Adapted => d_adapted[block.slots()].copy_from_slice(source),
                Role::Shared => {
                    for (d, s) in d_shared[block.slots()].iter_mut().zip(source) {
                        *d = S::Real::from_f64(d.to_f64() + s.sum().to_f64());
                    }
                }
                Role::Fixed(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &'static str, len: usize, role: Role) -> BlockSpec {
        BlockSpec { name, len, role, mean: 0.0, spread: 0.0, gain: 1.0 }
    }

    fn layout() -> Layout {
        let specs = vec![
            spec("a", 2, Role::Adapted),
            spec("b", 1, Role::Shared),
            spec("c", 3, Role::Adapted),
            spec("d", 2, Role::Fixed(7.0)),
        ];
        Layout::new(specs, &[("c".into(), Role::Shared)]).unwrap()
    }

    #[test]
    fn assembles_each_block_from_its_source() {
        let layout = layout();
        assert_eq!((layout.d_theta(), layout.d_adapted(), layout.d_shared()), (8, 2, 4));
        let mut theta = [0.0f64; 8];
        layout.assemble(&[1.0, 2.0], &[3.0, 4.0, 5.0, 6.0], &mut theta);
        assert_eq!(theta, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 7.0]);
        let (mut d_adapted, mut d_shared) = ([0.0; 2], [10.0; 4]);
        layout.assemble_adjoint(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], &mut d_adapted, &mut d_shared);
        assert_eq!((d_adapted, d_shared), ([1.0, 2.0], [13.0, 14.0, 15.0, 16.0]));
    }

    #[test]
    fn remembers_what_was_overridden() {
        assert_eq!(layout().overrides(), vec![("c".to_owned(), Role::Shared)]);
    }

    #[test]
    fn an_unknown_block_is_named_with_those_that_exist() {
        let error =
            Layout::new(vec![spec("a", 1, Role::Adapted)], &[("q".into(), Role::Shared)]).unwrap_err();
        assert_eq!(error.to_string(), "no block `q`; there are: a");
    }
}
