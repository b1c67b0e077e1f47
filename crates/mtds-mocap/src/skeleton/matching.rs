//! Finds the rig of a hierarchy and where each of the 21 joints comes from, made up where the rig lacks it.

use crate::bvh::Hierarchy;
use crate::track::{Joint, N_JOINTS};
use crate::{Error, Result};

use super::rules::{Rig, Rules};

/// Where the position of a joint comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Source {
    /// A node of the hierarchy.
    Node(usize),
    /// An end site of a node.
    EndSite {
        /// The node.
        node: usize,
        /// Which of its end sites.
        site: usize,
    },
    /// The rig lacks the joint.
    Synthesised(Synthesis),
}

/// How a joint is made up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Synthesis {
    /// On the line between two others.
    Between {
        /// Where the line starts.
        from: Joint,
        /// Where it ends.
        to: Joint,
        /// How far along it.
        share: f64,
    },
    /// Past a joint, straight on from another.
    Past {
        /// Where the line starts.
        from: Joint,
        /// What it goes through.
        through: Joint,
        /// How far past, relative to the distance of the two.
        share: f64,
    },
    /// Past a joint in the direction of the bone that leads to it, turned with the joint.
    StraightOn {
        /// The joint.
        joint: Joint,
        /// How far, relative to the length of that bone.
        share: f64,
    },
    /// In the same place as another: a bone of length zero.
    At(Joint),
}

impl std::fmt::Display for Synthesis {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Between { from, to, share } => {
                write!(out, "{:.0} % of the way from {} to {}", 100.0 * share, from.name(), to.name())
            }
            Self::Past { from, through, share } => {
                write!(
                    out,
                    "past {}, straight on from {} by {share} of their distance",
                    through.name(),
                    from.name()
                )
            }
            Self::StraightOn { joint, share } => {
                write!(out, "straight on from {}, by {share} of the bone before it", joint.name())
            }
            Self::At(joint) => write!(out, "in the place of {}", joint.name()),
        }
    }
}

/// A hierarchy matched with a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct RigMatch {
    /// Name of the rig.
    pub rig: String,
    /// The unit that its files usually have.
    pub metres_per_unit: Option<f64>,
    /// Where each joint comes from, in the order of [`Joint::ALL`].
    pub sources: [Source; N_JOINTS],
    /// What was ambiguous.
    pub notes: Vec<String>,
}

impl RigMatch {
    /// The best rig for a hierarchy: the one whose rules find most joints.
    ///
    /// # Errors
    /// [`Error::NoRig`] where even that one lacks hips, a joint of a leg or an arm, or both neck and head.
    pub fn find(hierarchy: &Hierarchy, rules: &Rules) -> Result<Self> {
        let names: Vec<String> = hierarchy.nodes().iter().map(|node| rules.plain_name(&node.name)).collect();
        let mut best: Option<(usize, &Rig, Found)> = None;
        for rig in &rules.rigs {
            let found = find_joints(hierarchy, rules, rig, &names);
            let score = found.iter().flatten().count();
            if best.as_ref().is_none_or(|(most, ..)| score > *most) {
                best = Some((score, rig, found));
            }
        }
        let (_, rig, found) = best.ok_or_else(|| Error::Rules("no rigs; give at least one".to_string()))?;
        check_essential(hierarchy, rig, &found)?;
        let sources = complete(hierarchy, found);
        let notes = ambiguous_names(hierarchy, &names, &sources);
        Ok(Self { rig: rig.name.clone(), metres_per_unit: rig.metres_per_unit, sources, notes })
    }
}

/// What the rules find, before anything is made up.
type Found = [Option<Source>; N_JOINTS];

fn find_joints(hierarchy: &Hierarchy, rules: &Rules, rig: &Rig, names: &[String]) -> Found {
    Joint::ALL.map(|joint| {
        let alternatives = rig.joints.get(&joint)?;
        alternatives.iter().find_map(|alternative| {
            let (name, end) = match alternative.strip_suffix("/end") {
                Some(name) => (name, true),
                None => (alternative.as_str(), false),
            };
            let name = rules.plain_name(name);
            let node = names.iter().position(|candidate| *candidate == name)?;
            if !end {
                return Some(Source::Node(node));
            }
            // End sites of length zero say nothing: many exporters write them because the format wants one.
            let site = hierarchy.nodes()[node].end_sites.iter().position(|offset| *offset != [0.0; 3])?;
            Some(Source::EndSite { node, site })
        })
    })
}

/// Joints that cannot be made up.
fn check_essential(hierarchy: &Hierarchy, rig: &Rig, found: &Found) -> Result<()> {
    use Joint::*;
    let limbs = [
        Hips,
        LeftHip,
        LeftKnee,
        LeftAnkle,
        RightHip,
        RightKnee,
        RightAnkle,
        LeftShoulder,
        LeftElbow,
        LeftWrist,
        RightShoulder,
        RightElbow,
        RightWrist,
    ];
    let lacks = |joint: &Joint| found[joint.index()].is_none();
    let mut missing: Vec<&str> =
        limbs.iter().filter(|joint| lacks(joint)).map(|joint| joint.name()).collect();
    if lacks(&Neck) && lacks(&Head) {
        missing.push("Neck or Head");
    }
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = hierarchy.nodes().iter().map(|node| format!("`{}`", node.name)).collect();
    Err(Error::NoRig { rig: rig.name.clone(), missing: missing.join(", "), names: names.join(", ") })
}

/// Makes up what is missing.
fn complete(hierarchy: &Hierarchy, mut found: Found) -> [Source; N_JOINTS] {
    for (joint, synthesis) in trunk_substitutes(&found) {
        found[joint.index()].get_or_insert(Source::Synthesised(synthesis));
    }
    for (toe, ankle) in [(Joint::LeftToe, Joint::LeftAnkle), (Joint::RightToe, Joint::RightAnkle)] {
        found[toe.index()].get_or_insert(Source::Synthesised(Synthesis::At(ankle)));
    }
    for (fingers, wrist) in [(Joint::LeftFingers, Joint::LeftWrist), (Joint::RightFingers, Joint::RightWrist)]
    {
        let synthesis = match found[wrist.index()] {
            Some(Source::Node(node)) if hierarchy.nodes()[node].length() > 0.0 => {
                Synthesis::StraightOn { joint: wrist, share: 0.25 }
            }
            _ => Synthesis::At(wrist),
        };
        found[fingers.index()].get_or_insert(Source::Synthesised(synthesis));
    }
    // By now every place is filled; hips stand in so that no panic is needed.
    found.map(|source| source.unwrap_or(Source::Synthesised(Synthesis::At(Joint::Hips))))
}

/// What stands in for joints of the trunk. Shares are those of the CMU and Bandai Namco skeletons, rounded.
fn trunk_substitutes(found: &Found) -> [(Joint, Synthesis); 4] {
    use Joint::{Chest, Head, Hips, Neck, Spine};
    let has = |joint: Joint| found[joint.index()].is_some();
    let (from, to_neck, past_neck) = match (has(Chest), has(Spine)) {
        (true, _) => (Chest, 0.6, 0.5),
        (false, true) => (Spine, 0.7, 0.3),
        (false, false) => (Hips, 0.8, 0.25),
    };
    let spine = match from {
        Chest => Synthesis::Between { from: Hips, to: Chest, share: 0.5 },
        _ => Synthesis::Between { from: Hips, to: Neck, share: 1.0 / 3.0 },
    };
    [
        (Neck, Synthesis::Between { from, to: Head, share: to_neck }),
        (Head, Synthesis::Past { from, through: Neck, share: past_neck }),
        (Spine, spine),
        (Chest, Synthesis::Between { from: Spine, to: Neck, share: 0.5 }),
    ]
}

/// Notes on names that more than one node bears.
fn ambiguous_names(hierarchy: &Hierarchy, names: &[String], sources: &[Source; N_JOINTS]) -> Vec<String> {
    let mut notes = Vec::new();
    for (joint, source) in Joint::ALL.iter().zip(sources) {
        if let Source::Node(node) = source {
            let count = names.iter().filter(|name| **name == names[*node]).count();
            if count > 1 {
                let name = &hierarchy.nodes()[*node].name;
                notes.push(format!("{count} joints are called `{name}`; took the first as {}", joint.name()));
            }
        }
    }
    notes
}
