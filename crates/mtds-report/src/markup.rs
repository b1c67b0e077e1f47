//! Writes well-formed markup, HTML and SVG alike: elements, attributes, escaped text.

use std::fmt::Write;

/// Elements that never have content and are written closed (`<path …/>`).
const VOID: [&str; 8] = ["meta", "br", "path", "line", "circle", "rect", "polyline", "col"];

/// One element with its attributes and content, built by chaining and written by [`Element::render`].
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Element(Element),
    Text(String),
    /// Written as it is; only for text that this program made, such as the style sheet.
    Verbatim(String),
}

impl Element {
    /// An element without attributes and content.
    pub fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), children: Vec::new() }
    }

    /// Sets an attribute; the value is escaped when written.
    pub fn set(mut self, attribute: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((attribute, value.into()));
        self
    }

    /// Sets a numeric attribute, at most two decimals.
    pub fn set_number(self, attribute: &'static str, value: f64) -> Self {
        self.set(attribute, number(value))
    }

    /// Sets the class attribute.
    pub fn class(self, names: impl Into<String>) -> Self {
        self.set("class", names)
    }

    /// Appends a child element.
    pub fn child(mut self, child: Element) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// Appends several child elements.
    pub fn children(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children.into_iter().map(Node::Element));
        self
    }

    /// Appends text, escaped when written.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// Appends text that is written as it is: it must be well-formed already.
    pub fn verbatim(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Verbatim(text.into()));
        self
    }

    /// The element as text.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        out.push('<');
        out.push_str(self.name);
        for (attribute, value) in &self.attributes {
            let _ = write!(out, " {attribute}=\"{}\"", escape(value));
        }
        if self.children.is_empty() && VOID.contains(&self.name) {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for child in &self.children {
            match child {
                Node::Element(element) => element.write(out),
                Node::Text(text) => out.push_str(&escape(text)),
                Node::Verbatim(text) => out.push_str(text),
            }
        }
        let _ = write!(out, "</{}>", self.name);
    }
}

/// Text made safe for element content and quoted attributes; control characters, which no XML may hold,
/// become the replacement character.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate with at most two decimals and no trailing zeros.
///
/// Charts drop values that are not finite before they get here; what slips through is written as 0, since
/// `NaN` in one attribute would blank the whole element.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let element = Element::new("p").set("title", "a\"b'<c>").text("x < y & z > \"w\"\u{7}");
        assert_eq!(
            element.render(),
            "<p title=\"a&quot;b&#39;&lt;c&gt;\">x &lt; y &amp; z &gt; &quot;w&quot;\u{fffd}</p>"
        );
    }

    #[test]
    fn only_void_elements_close_themselves() {
        assert_eq!(Element::new("path").render(), "<path/>");
        assert_eq!(Element::new("div").render(), "<div></div>");
    }

    #[test]
    fn numbers_are_short_and_always_numbers() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(120.50), "120.5");
        assert_eq!(number(f64::NAN), "0");
        assert_eq!(number(f64::NEG_INFINITY), "0");
    }
}
