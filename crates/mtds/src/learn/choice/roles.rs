//! Which blocks of θ the code adapts, which all members share and which are held at a constant.
//!
//! A block that is named moves to the list that names it; all others keep the role that suits the family, unless one list has `rest`,
//! which stands for them: `adapt = ["offset"], share = ["rest"]` adapts the offset and nothing else. Choices name every block, so that
//! given back as wishes they are the same choices.

use super::{Choices, Wishes};
use crate::generator::{BlockSpec, Role};
use crate::{Error, Result};

/// What stands for all blocks that no list names.
pub const REST: &str = "rest";

/// The keys of the lists, in the order in which they are kept here.
const KEYS: [&str; 3] = ["adapt", "share", "fix"];

/// Names of blocks by role: adapted, shared, held.
type Lists = [Vec<String>; 3];

/// The lists of default and of chosen roles.
pub(super) struct Roles {
    pub(super) default: Lists,
    pub(super) chosen: Lists,
}

impl Roles {
    /// Every block of `blocks` by what is wished, or else by its role in `default`.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a name that no block has, [`Error::Setting`] for one in two lists.
    pub(super) fn of(w: &Wishes, blocks: &[BlockSpec], default: impl Fn(&BlockSpec) -> Role) -> Result<Self> {
        let wished = lists(w).map(|names| names.unwrap_or_default());
        check(&wished, blocks)?;
        let named = |name: &str| (0..3).find(|&i| wished[i].iter().any(|wish| wish == name));
        let usual = |block: &BlockSpec| match default(block) {
            Role::Adapted => 0,
            Role::Shared => 1,
            Role::Fixed(_) => 2,
        };
        let by = |place: &dyn Fn(&BlockSpec) -> usize| {
            // A block without entries is listed where somebody speaks of it.
            let listed = |block: &&BlockSpec| block.len > 0 || named(block.name).is_some();
            [0, 1, 2].map(|i| {
                let own = blocks.iter().filter(listed).filter(|block| place(block) == i);
                own.map(|block| block.name.to_owned()).collect()
            })
        };
        let rest = named(REST);
        Ok(Self {
            default: by(&usual),
            chosen: by(&|block| named(block.name).or(rest).unwrap_or_else(|| usual(block))),
        })
    }
}

fn lists(w: &Wishes) -> [Option<&[String]>; 3] {
    [w.adapt.as_deref(), w.share.as_deref(), w.fix.as_deref()]
}

fn check(wished: &[&[String]; 3], blocks: &[BlockSpec]) -> Result<()> {
    for (i, name) in wished.iter().enumerate().flat_map(|(i, names)| names.iter().map(move |name| (i, name)))
    {
        if name != REST && !blocks.iter().any(|block| block.name == name) {
            let known: Vec<_> = blocks.iter().map(|block| block.name).chain([REST]).collect();
            return Err(Error::Unknown { kind: "block", name: name.clone(), known: known.join(", ") });
        }
        if let Some(j) = (0..i).find(|&j| wished[j].contains(name)) {
            let why = format!("found `{name}` in `{}` as well; name it once", KEYS[j]);
            return Err(Error::setting(KEYS[i], why));
        }
    }
    Ok(())
}

/// The lists of `first`, and for blocks that it does not name those of `second`.
pub(super) fn merged(first: &Wishes, second: &Wishes) -> [Option<Vec<String>>; 3] {
    let (first, second) = (lists(first), lists(second));
    let is_named = |name: &String| first.iter().flatten().any(|names| names.contains(name));
    [0, 1, 2].map(|i| {
        let own = first[i].unwrap_or_default().iter();
        let others = second[i].unwrap_or_default().iter().filter(|name| !is_named(name));
        (first[i].is_some() || second[i].is_some()).then(|| own.chain(others).cloned().collect())
    })
}

/// The keys of the lists that `choices` has otherwise than wished.
pub(super) fn differing(w: &Wishes, choices: &Choices) -> Vec<&'static str> {
    let (wished, chosen) = (lists(w), [&choices.adapt, &choices.share, &choices.fix]);
    let is_named = |name: &String| wished.iter().flatten().any(|names| names.contains(name));
    let is_met = |i: usize, name: &String| match name == REST {
        true => (0..3).filter(|&j| j != i).all(|j| chosen[j].iter().all(is_named)),
        false => chosen[i].contains(name),
    };
    let differs = |i: &usize| !wished[*i].unwrap_or_default().iter().all(|name| is_met(*i, name));
    (0..3).filter(differs).map(|i| KEYS[i]).collect()
}
