//! The map of codes: every member at its code, or at the two directions in which codes differ most.

use crate::chart::{Picture, Point, Scatter, Words};
use crate::fit::MorphPath;
use crate::page::{Block, Figure, Page, Section};
use mtds::{Member, PrincipalAxes, Result};
use std::collections::BTreeMap;

/// Labels with a colour of their own; others share the last one.
const COLOURS: usize = 6;

/// Members on a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeMap {
    /// The axes of all k dimensions, the widest first.
    pub axes: PrincipalAxes,
    /// Where the members stand.
    pub places: Vec<(f64, f64)>,
    /// What the two axes of the map are.
    pub names: (String, String),
}

impl CodeMap {
    /// The map of these members: one dimension against its uncertainty, two as they are, more by principal axes.
    ///
    /// # Errors
    /// No member, or members without a code.
    pub fn of(members: &[Member]) -> Result<Self> {
        let codes: Vec<Vec<f64>> = members.iter().map(|member| member.code_mean.clone()).collect();
        let axes = PrincipalAxes::of(&codes)?;
        let (places, names) = match axes.directions.len() {
            1 => {
                let place = |m: &Member| (m.code_mean[0], m.code_std_dev[0]);
                (members.iter().map(place).collect(), ("code".into(), "its standard deviation".into()))
            }
            2 => {
                let place = |code: &Vec<f64>| (code[0], code[1]);
                let name = |d: usize| format!("code, dimension {d}");
                (codes.iter().map(place).collect(), (name(1), name(2)))
            }
            _ => {
                let place = |code: &Vec<f64>| {
                    let along = axes.along(code);
                    (along[0], along[1])
                };
                let name = |i: usize| {
                    format!("principal axis {} ({:.0} % of the variance)", i + 1, 100.0 * axes.shares[i])
                };
                (codes.iter().map(place).collect(), (name(0), name(1)))
            }
        };
        Ok(Self { axes, places, names })
    }

    /// The page of `mtds inspect`: the map of the members of a model of this name, and `settings`, what the model is.
    pub fn page(&self, name: &str, members: &[Member], settings: Vec<(String, String)>) -> Page {
        Page {
            title: "Map of the codes".into(),
            subtitle: format!("The members of the family that `{name}` was learned from."),
            facts: vec![],
            sections: vec![
                Section::new(
                    "Where the members lie",
                    "A code of a few numbers says how a member differs from the others.",
                )
                .with(Block::Figure(self.figure(members))),
                Section::new("What the model is", "Its sizes, and which parts of it the code changes.")
                    .with(Block::Settings(settings)),
            ],
            colophon: format!("Made by mtds {} inspect.", env!("CARGO_PKG_VERSION")),
        }
    }

    /// The picture with what there is to say of it.
    pub fn figure(&self, members: &[Member]) -> Figure {
        let mut caption =
            "Every dot is one member at the mean of its code, named where the pointer rests on it; members near each other \
             behave alike."
                .to_owned();
        if members.iter().any(|member| member.label.is_some()) {
            caption += " Colours are labels, which learning never saw: where they form regions or change smoothly, the code has found them.";
        }
        Figure { pictures: vec![self.picture(members)], caption }
    }

    /// The picture, with labels as colours: a ramp for many numbers, else one colour for each of the most frequent; one for all
    /// where there are no labels.
    fn picture(&self, members: &[Member]) -> Picture {
        let labels: Vec<Option<&str>> = members.iter().map(|member| member.label.as_deref()).collect();
        let numbers: Option<Vec<f64>> =
            labels.iter().map(|label| label.and_then(|l| l.parse().ok())).collect();
        let groups = groups(&labels);
        let as_numbers = numbers.filter(|_| groups.len() > COLOURS);
        let shown = if as_numbers.is_some() { vec![] } else { shown_groups(&groups) };
        let group = |label: Option<&str>| {
            if groups.is_empty() {
                return Some(0);
            }
            let place = label.and_then(|label| shown.iter().position(|name| name == label));
            place.or_else(|| label.filter(|_| !shown.is_empty()).map(|_| shown.len() - 1))
        };
        let point = |i: usize| Point {
            at: self.places[i],
            name: name(&members[i]),
            label: if members.len() <= MOST_NAMED { members[i].id.clone() } else { String::new() },
            value: as_numbers.as_ref().map_or(f64::NAN, |numbers| numbers[i]),
            group: group(labels[i]),
        };
        Scatter {
            words: Words::new("Map of the codes", &self.names.0, &self.names.1)
                .describe("Map of the members by their codes"),
            points: (0..members.len()).map(point).collect(),
            colour: if as_numbers.is_some() { "label".into() } else { String::new() },
            groups: shown.clone(),
            ..Scatter::default()
        }
        .draw()
    }
}

impl CodeMap {
    /// The map with the path of a morph over it; its two ends are named.
    pub fn morph_picture(&self, members: &[Member], morph: &MorphPath) -> Picture {
        let point = |(i, member): (usize, &Member)| Point {
            at: self.places[i],
            name: name(member),
            label: if i == morph.from || i == morph.to { member.id.clone() } else { String::new() },
            value: f64::NAN,
            group: None,
        };
        // Straight between two codes is straight on the map.
        let (from, to) = (self.places[morph.from], self.places[morph.to]);
        let between = |share: f64| (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
        Scatter {
            words: Words::new("The path on the map", &self.names.0, &self.names.1)
                .describe("Map of the members by their codes, with the path of the morph"),
            points: members.iter().enumerate().map(point).collect(),
            path: morph.traces.iter().map(|trace| between(trace.position)).collect(),
            path_label: ALONG_THE_PATH.into(),
            ..Scatter::default()
        }
        .draw()
    }
}

/// The key that the ridge of a morph and its path on the map share.
pub(crate) const ALONG_THE_PATH: &str = "along the path of the morph";

/// Up to this many members have their names written beside them.
const MOST_NAMED: usize = 12;

/// What a member is called where the pointer rests on it.
fn name(member: &Member) -> String {
    member.label.as_ref().map_or_else(|| member.id.clone(), |label| format!("{}, {label}", member.id))
}

/// Labels and how many members have them, the most frequent first.
fn groups<'a>(labels: &[Option<&'a str>]) -> Vec<(&'a str, usize)> {
    let mut counts = BTreeMap::new();
    labels.iter().flatten().for_each(|label| *counts.entry(*label).or_insert(0) += 1);
    let mut groups: Vec<_> = counts.into_iter().collect();
    groups.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    groups
}

/// The names in the legend.
fn shown_groups(groups: &[(&str, usize)]) -> Vec<String> {
    let named = if groups.len() > COLOURS { COLOURS - 1 } else { groups.len() };
    let mut shown: Vec<String> = groups[..named].iter().map(|(name, _)| (*name).to_owned()).collect();
    if named < groups.len() {
        shown.push(format!("{} other labels", groups.len() - named));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(labels: &[&str], k: usize) -> Vec<Member> {
        let member = |(i, label): (usize, &&str)| Member {
            id: format!("m{i}"),
            label: (!label.is_empty()).then(|| (*label).to_owned()),
            code_mean: (0..k).map(|d| ((i + 1) * (d + 1)) as f64).collect(),
            code_std_dev: vec![0.1; k],
        };
        labels.iter().enumerate().map(member).collect()
    }

    #[test]
    fn labels_have_colours_and_rare_ones_share_one() {
        let few = members(&["slow", "fast", "slow", ""], 2);
        let picture = CodeMap::of(&few).expect("a map").picture(&few);
        let keys: Vec<_> = picture.keys.iter().map(|key| key.label.as_str()).collect();
        assert_eq!(keys, ["slow", "fast"]);
        let many = members(&["a", "b", "c", "d", "e", "f", "g", "a"], 2);
        let picture = CodeMap::of(&many).expect("a map").picture(&many);
        let keys: Vec<_> = picture.keys.iter().map(|key| key.label.as_str()).collect();
        assert_eq!(keys, ["a", "b", "c", "d", "e", "2 other labels"]);
    }

    #[test]
    fn every_dot_has_a_name_and_few_have_it_written_beside_them() {
        for (n, written) in [(5, 5), (40, 0)] {
            let some = members(&vec!["fast"; n], 2);
            let svg = CodeMap::of(&some).expect("a map").picture(&some).svg.render();
            assert_eq!(svg.matches("fast</title>").count(), n);
            assert!(svg.contains("<title>m3, fast</title>"));
            assert_eq!(svg.matches("class=\"point-label\"").count(), written);
        }
    }

    #[test]
    fn colours_are_explained_where_there_are_labels() {
        for (labels, said) in [(["slow", ""], true), (["", ""], false)] {
            let some = members(&labels, 2);
            let figure = CodeMap::of(&some).expect("a map").figure(&some);
            assert_eq!(format!("{:?}", figure.caption).contains("Colours"), said, "{labels:?}");
        }
    }

    #[test]
    fn many_numbers_are_a_ramp() {
        let labels: Vec<String> = (0..9).map(|i| format!("{}", 0.5 * f64::from(i))).collect();
        let numbered = members(&labels.iter().map(String::as_str).collect::<Vec<_>>(), 3);
        let picture = CodeMap::of(&numbered).expect("a map").picture(&numbered);
        assert!(
            picture.keys.len() == 1 && picture.keys[0].label.starts_with("label, 0"),
            "{:?}",
            picture.keys
        );
    }

    #[test]
    fn every_length_of_code_has_a_map() {
        for k in 1..5 {
            let some = members(&["", "", ""], k);
            assert_eq!(CodeMap::of(&some).expect("a map").places.len(), 3);
        }
        assert!(CodeMap::of(&[]).is_err());
    }
}
