//! A figure: pictures side by side, one legend for all of them, a caption.

use crate::chart::{Key, Picture};
use crate::markup::Element;

/// One or more pictures that are read together.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The pictures, in reading order.
    pub pictures: Vec<Picture>,
    /// What to see in them.
    pub caption: String,
}

impl Figure {
    /// The `<figure>` element; keys that several pictures share appear once.
    pub fn element(&self) -> Element {
        let layout = if self.pictures.len() == 1 { "single" } else { "several" };
        let pictures = self.pictures.iter().map(|picture| picture.svg.clone());
        let mut figure = Element::new("figure").class(layout);
        let keys = self.keys();
        if !keys.is_empty() {
            figure = figure.child(Element::new("ul").class("legend").children(keys.iter().map(|k| k.item())));
        }
        figure
            .child(Element::new("div").class("pictures").children(pictures))
            .child(Element::new("figcaption").text(&self.caption))
    }

    fn keys(&self) -> Vec<&Key> {
        let mut keys: Vec<&Key> = Vec::new();
        for key in self.pictures.iter().flat_map(|picture| &picture.keys) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_share_one_legend() {
        let svg = Element::new("svg");
        let picture = |labels: [&str; 2]| Picture {
            svg: svg.clone(),
            keys: labels.iter().map(|label| Key::line("line", *label)).collect(),
        };
        let figure =
            Figure { pictures: vec![picture(["a", "b"]), picture(["b", "c"])], caption: String::new() };
        let labels: Vec<_> = figure.keys().iter().map(|key| key.label.as_str()).collect();
        assert_eq!(labels, ["a", "b", "c"]);
    }
}
