//! Sections with words, figures and tables become one self-contained page.
//!
//! The page needs no script and nothing from elsewhere. It follows the reader's light or dark setting and
//! prints well; `data-theme="light"` or `"dark"` on the root element overrides the setting.

mod figure;
mod table;

pub use figure::Figure;
pub use table::{Better, Cell, Group, Heading, Table};

use crate::markup::Element;

/// A page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Title.
    pub title: String,
    /// One or two sentences below the title.
    pub subtitle: String,
    /// Key results, shown large: (number, what it is).
    pub facts: Vec<(String, String)>,
    /// The sections, numbered by the page.
    pub sections: Vec<Section>,
    /// The last line: what made the page.
    pub colophon: String,
}

/// A section.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Heading.
    pub heading: String,
    /// One sentence for a reader who has never met the method.
    pub explanation: String,
    /// What follows.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph of plain text.
    Text(String),
    /// One or more pictures with a caption.
    Figure(Figure),
    /// A table of numbers.
    Table(Table),
    /// A list of (name, value).
    Settings(Vec<(String, String)>),
    /// Commands to type: (command, what it does).
    Commands(Vec<(String, String)>),
}

impl Page {
    /// The whole page as text.
    pub fn render(&self) -> String {
        let head = Element::new("head")
            .child(Element::new("meta").set("charset", "utf-8"))
            .child(
                Element::new("meta")
                    .set("name", "viewport")
                    .set("content", "width=device-width, initial-scale=1"),
            )
            .child(Element::new("meta").set("name", "color-scheme").set("content", "light dark"))
            .child(Element::new("title").text(&self.title))
            .child(Element::new("style").verbatim(include_str!("style.css")));
        let main =
            Element::new("main").child(self.header()).children(self.sections.iter().map(Section::element));
        let body = Element::new("body").child(main).child(Element::new("footer").text(&self.colophon));
        let html = Element::new("html").set("lang", "en").child(head).child(body);
        format!("<!doctype html>\n{}\n", html.render())
    }

    fn header(&self) -> Element {
        let header = Element::new("header")
            .child(Element::new("h1").text(&self.title))
            .child(Element::new("p").class("subtitle").text(&self.subtitle));
        if self.facts.is_empty() {
            return header;
        }
        let facts = self.facts.iter().map(|(number, meaning)| {
            Element::new("div").child(Element::new("dt").text(meaning)).child(Element::new("dd").text(number))
        });
        header.child(Element::new("dl").class("facts").children(facts))
    }
}

impl Section {
    /// A section without blocks; add them with [`Section::with`].
    pub fn new(heading: impl Into<String>, explanation: impl Into<String>) -> Self {
        Self { heading: heading.into(), explanation: explanation.into(), blocks: Vec::new() }
    }

    /// Appends a block.
    pub fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    fn element(&self) -> Element {
        Element::new("section")
            .child(Element::new("h2").text(&self.heading))
            .child(Element::new("p").class("explanation").text(&self.explanation))
            .children(self.blocks.iter().map(Block::element))
    }
}

impl Block {
    fn element(&self) -> Element {
        match self {
            Block::Text(text) => Element::new("p").text(text),
            Block::Figure(figure) => figure.element(),
            Block::Table(table) => table.element(),
            Block::Settings(settings) => settings_list(settings),
            Block::Commands(commands) => command_list(commands),
        }
    }
}

fn settings_list(settings: &[(String, String)]) -> Element {
    let rows = settings.iter().map(|(name, value)| {
        Element::new("div").child(Element::new("dt").text(name)).child(Element::new("dd").text(value))
    });
    Element::new("dl").class("settings").children(rows)
}

fn command_list(commands: &[(String, String)]) -> Element {
    let rows = commands.iter().map(|(command, meaning)| {
        Element::new("div")
            .child(Element::new("dt").child(Element::new("code").text(command)))
            .child(Element::new("dd").text(meaning))
    });
    Element::new("dl").class("commands").children(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_stands_alone() {
        let page =
            Page { title: "A & B".into(), sections: vec![Section::new("One", "Why.")], ..Page::default() };
        let html = page.render();
        assert!(html.starts_with("<!doctype html>\n<html lang=\"en\">"), "{}", &html[..60]);
        assert!(html.contains("<title>A &amp; B</title>"));
        for elsewhere in ["src=", "@import", "url(", "<script", "<link"] {
            assert!(!html.contains(elsewhere), "the page refers to something else: {elsewhere}");
        }
    }

    #[test]
    fn the_style_sheet_cannot_end_its_own_element() {
        assert!(!include_str!("style.css").contains('<'));
    }
}
