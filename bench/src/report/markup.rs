//! Elements of a page or a drawing, and how they become text: everything that comes from outside is
//! escaped.
//!
//! What is written is HTML and XML at once: elements that are void in HTML close themselves, all
//! others have an end.

use std::fmt::{self, Display, Formatter};

/// Elements that HTML knows to have neither content nor end.
const VOID: &[&str] = &["br", "col", "hr", "link", "meta"];

/// An element with what is in it.
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

enum Node {
    Element(Element),
    Text(String),
}

/// An empty element.
pub fn el(name: &'static str) -> Element {
    Element { name, attributes: Vec::new(), children: Vec::new() }
}

/// A link to a place on the page.
pub fn link(anchor: &str, text: &str) -> Element {
    el("a").with("href", format!("#{anchor}")).text(text)
}

impl Element {
    /// Sets an attribute.
    pub fn with(mut self, name: &'static str, value: impl Display) -> Element {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// Sets the class.
    pub fn class(self, class: impl Display) -> Element {
        self.with("class", class)
    }

    /// Adds text.
    pub fn text(mut self, text: impl Display) -> Element {
        self.children.push(Node::Text(text.to_string()));
        self
    }

    /// Adds an element.
    pub fn add(mut self, child: Element) -> Element {
        self.children.push(Node::Element(child));
        self
    }

    /// Adds elements: several, or one that may be missing.
    pub fn all(mut self, children: impl IntoIterator<Item = Element>) -> Element {
        self.children.extend(children.into_iter().map(Node::Element));
        self
    }
}

impl Display for Element {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(f, " {name}=\"{}\"", Escaped(value))?;
        }
        if VOID.contains(&self.name) {
            return f.write_str("/>");
        }
        f.write_str(">")?;
        for child in &self.children {
            match child {
                Node::Element(element) => element.fmt(f)?,
                Node::Text(text) => Escaped(text).fmt(f)?,
            }
        }
        write!(f, "</{}>", self.name)
    }
}

/// Text in which nothing means markup.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' | '\t' => f.write_str(" ")?,
                // Neither HTML nor XML can hold these.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_str("\u{fffd}")?;
                }
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::el;

    #[test]
    fn what_comes_from_outside_is_text() {
        let hostile = "<script>&\"\u{0}";
        let written = el("p").with("title", hostile).text(hostile).to_string();
        let escaped = "&lt;script&gt;&amp;&quot;\u{fffd}";
        assert_eq!(written, format!("<p title=\"{escaped}\">{escaped}</p>"));
    }

    #[test]
    fn only_void_elements_have_no_end() {
        assert_eq!(el("div").add(el("hr")).to_string(), "<div><hr/></div>");
        assert_eq!(
            el("div").all([el("b").text("x"), el("i")]).to_string(),
            "<div><b>x</b><i></i></div>"
        );
    }
}
