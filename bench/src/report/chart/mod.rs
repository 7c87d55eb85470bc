//! Small drawings in SVG: bars with whiskers, and lines over an axis.
//!
//! They know nothing of records: what they draw is named and measured by who asks, and all text in
//! them is text. Each mark has a title, which a browser shows where the pointer rests.

mod axis;
mod bars;
mod lines;

pub use axis::Axis;
pub use bars::{Bar, Bars};
pub use lines::{Line, Lines, Point};

use super::markup::{Element, el};

/// Width of a drawing in its own units; a page shows it as wide as there is room.
const WIDTH: f64 = 480.0;

/// The frame of a drawing. The description is for who cannot see it.
fn drawing(height: f64, title: &str, description: &str) -> Element {
    el("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .with("viewBox", format!("0 0 {} {}", number(WIDTH), number(height)))
        .with("role", "img")
        .class("drawing")
        .add(el("title").text(title))
        .add(el("desc").text(description))
}

/// A coordinate: a tenth of a unit cannot be seen.
fn number(coordinate: f64) -> String {
    let rounded = (coordinate * 10.0).round() / 10.0;
    // Minus zero would be written with its sign.
    format!("{}", rounded + 0.0)
}

fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Element {
    el("line")
        .class(class)
        .with("x1", number(x1))
        .with("y1", number(y1))
        .with("x2", number(x2))
        .with("y2", number(y2))
}

fn text(class: &str, (x, y): (f64, f64), content: &str) -> Element {
    el("text").class(class).with("x", number(x)).with("y", number(y)).text(content)
}

/// A name that fits beside a drawing; the whole of it stands in the title of its mark.
fn shortened(name: &str) -> String {
    const MOST: usize = 22;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

/// At least as wide as a text is drawn, in most fonts.
fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * 7.3
}
