//! What of a model has not seen some members of its own family: what forecasts of these are judged by.
//!
//! A comparison of structures learns every system without some members, but none of them together without any: as a whole the model has met
//! everybody, and what it says of them is no forecast. Weights and widths stay; they are a few numbers that all members decided.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Blend, Companion, Model, Remembered};
use crate::Result;
use crate::family::{Family, Sequence};

impl Model {
    /// The members of its own family that its first system did not learn from, by their rising numbers, and the part of the model that has seen
    /// none of them: systems that did without all of them, beside what is remembered of others. `None` where there are none.
    ///
    /// # Errors
    /// None in practice: what is left of a family is one.
    pub fn unseen(&self, family: &Family) -> Result<Option<(Vec<usize>, Self)>> {
        let held_out = self.fit.as_ref().map_or(&[][..], |fit| &fit.held_out_ids);
        let ids: HashSet<&str> = held_out.iter().map(String::as_str).collect();
        let is_held_out = |&i: &usize| ids.contains(family.sequence(i).id());
        let members: Vec<usize> = (0..family.n_seq()).filter(is_held_out).collect();
        if members.is_empty() {
            return Ok(None);
        }
        let did_without = |companion: &&Companion| {
            let own: HashSet<&str> = companion.held_out_ids.iter().map(String::as_str).collect();
            ids.is_subset(&own)
        };
        let remembered = self.blend.remembered.as_ref();
        let blend = Blend {
            remembered: remembered.map(|all| all.without(family, &members)).transpose()?.flatten(),
            widths: self.blend.widths.clone(),
        };
        let companions = self.companions.iter().filter(did_without).cloned().collect();
        Ok(Some((members, Self { companions, blend, ..self.clone() })))
    }
}

impl Remembered {
    /// The same without these members of a family, known by what they did; `None` where nobody is left.
    fn without(&self, family: &Family, members: &[usize]) -> Result<Option<Self>> {
        let outputs = |of: &Sequence| of.outputs().values().iter().map(|y| y.to_bits()).collect::<Vec<_>>();
        let gone: HashSet<Vec<u64>> = members.iter().map(|&i| outputs(family.sequence(i))).collect();
        let left = |&i: &usize| !gone.contains(&outputs(self.members.sequence(i)));
        let left: Vec<usize> = (0..self.members.n_seq()).filter(left).collect();
        if left.is_empty() {
            return Ok(None);
        }
        let members = Arc::new(self.members.subset(&left)?);
        Ok(Some(Self::new(members, self.ways.clone(), self.by_seen.clone())))
    }
}
