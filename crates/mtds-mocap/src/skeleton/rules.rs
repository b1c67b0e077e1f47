//! Which joint names of a rig are which of the 21 joints: data, built in and extended by a user's own file.
//!
//! A rule file is JSON of the form of `rigs.json` beside this file:
//!
//! ```json
//! { "prefixes": ["MyStudio"],
//!   "rigs": [{ "name": "mine", "metres_per_unit": 0.01,
//!              "joints": { "Hips": ["pelvis", "root"], "LeftToe": ["foot_l/end"] } }] }
//! ```
//!
//! The first name found counts; `/end` stands for the end site of a joint. Names are compared without case,
//! punctuation and blanks, without what precedes a colon, and without any of the prefixes.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Error, Joint, Result};

/// Rules for all known rigs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// What exporters put before every name.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// The rigs; among equally good ones the first wins.
    pub rigs: Vec<Rig>,
}

/// Rules for one rig.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rig {
    /// Its name in reports.
    pub name: String,
    /// The unit its files usually have; believed where it makes a plausible body.
    #[serde(default)]
    pub metres_per_unit: Option<f64>,
    /// Names of each joint, the preferred first.
    pub joints: BTreeMap<Joint, Vec<String>>,
}

impl Rules {
    /// The rules that come with the crate: CMU, Bandai Namco, Mixamo, Xsens and plain Biovision names.
    pub fn built_in() -> Self {
        Self::from_json(include_bytes!("rigs.json")).expect("a test reads the built-in rules")
    }

    /// Rules from the bytes of a file.
    ///
    /// # Errors
    /// [`Error::Rules`]: not JSON of this form, with line and column; a unit that is not positive; a joint without names.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let rules: Self = serde_json::from_slice(bytes).map_err(|error| Error::Rules(error.to_string()))?;
        for rig in &rules.rigs {
            if rig.metres_per_unit.is_some_and(|unit| !(unit.is_finite() && unit > 0.0)) {
                return Err(Error::Rules(format!("rig `{}`: give metres_per_unit above 0", rig.name)));
            }
            if let Some((joint, _)) = rig.joints.iter().find(|(_, names)| names.is_empty()) {
                let why =
                    format!("rig `{}`: {} has no names; give one, or leave it out", rig.name, joint.name());
                return Err(Error::Rules(why));
            }
        }
        Ok(rules)
    }

    /// These rules with others before them; a rig of the same name is replaced.
    pub fn extended_by(mut self, mut others: Self) -> Self {
        self.rigs.retain(|rig| others.rigs.iter().all(|other| other.name != rig.name));
        others.rigs.append(&mut self.rigs);
        others.prefixes.append(&mut self.prefixes);
        others
    }

    /// A name as it is compared: see the module.
    pub(super) fn plain_name(&self, name: &str) -> String {
        let bare = name.rsplit(':').next().unwrap_or(name);
        let plain = plain(bare);
        let stripped = self.prefixes.iter().find_map(|prefix| plain.strip_prefix(&self::plain(prefix)));
        match stripped {
            Some(rest) if !rest.is_empty() => rest.to_string(),
            _ => plain,
        }
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
