//! A bar for each of a few figures, from the left, with a whisker from the least to the greatest
//! value.

use super::axis::Axis;
use super::{WIDTH, drawing, line, number, shortened, text, width_of};
use crate::report::markup::{Element, el};
use crate::report::palette::Look;

const STEP: f64 = 22.0;
const THICK: f64 = 13.0;
const TOP: f64 = 6.0;
const BELOW: f64 = 40.0;

/// A figure.
pub struct Bar {
    /// Who.
    pub name: String,
    /// How its bar looks.
    pub look: Look,
    /// How long.
    pub value: f64,
    /// From the least to the greatest value, where they are known.
    pub spread: Option<(f64, f64)>,
    /// The figure as text, at the end of the bar.
    pub label: String,
    /// The exact figures.
    pub exact: String,
}

impl Bar {
    fn values(&self) -> Vec<f64> {
        let spread = self.spread.map(|(low, high)| [low, high]);
        spread.into_iter().flatten().chain([self.value]).collect()
    }
}

/// The drawing.
pub struct Bars<'a> {
    /// What is drawn.
    pub title: &'a str,
    /// What is said to who cannot see it.
    pub description: &'a str,
    /// What the length is, with its unit.
    pub axis: &'a str,
    /// From the top.
    pub bars: Vec<Bar>,
}

/// Where the bars lie.
struct Frame {
    axis: Axis,
    left: f64,
    width: f64,
    bottom: f64,
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        self.left + self.width * self.axis.at(value)
    }
}

impl Bars<'_> {
    /// Draws it.
    pub fn draw(&self) -> Element {
        let frame = self.frame();
        drawing(frame.bottom + BELOW, self.title, self.description)
            .all(grid(&frame))
            .all(self.bars.iter().enumerate().map(|(place, bar)| draw(&frame, place, bar)))
            .add(text("caption end", (WIDTH - 4.0, frame.bottom + 33.0), &frame.axis.caption()))
    }

    fn frame(&self) -> Frame {
        let widest = |of: fn(&Bar) -> String| {
            self.bars.iter().map(|bar| width_of(&of(bar))).fold(0.0, f64::max)
        };
        let left = widest(|bar| shortened(&bar.name)) + 12.0;
        let right = widest(|bar| bar.label.clone()) + 14.0;
        let values = self.bars.iter().flat_map(Bar::values);
        Frame {
            axis: Axis::fitting(self.axis, values),
            left,
            width: WIDTH - left - right,
            bottom: TOP + STEP * self.bars.len() as f64,
        }
    }
}

fn grid(frame: &Frame) -> Vec<Element> {
    let mut last_end = f64::NEG_INFINITY;
    let mut grid = Vec::new();
    for (at, label) in frame.axis.marks() {
        let x = frame.left + frame.width * at;
        grid.push(line("grid", (x, TOP), (x, frame.bottom)));
        // A narrow drawing has no room for every label.
        let half = width_of(&label) / 2.0;
        if x - half > last_end + 4.0 {
            grid.push(text("mark middle", (x, frame.bottom + 15.0), &label));
            last_end = x + half;
        }
    }
    grid
}

fn draw(frame: &Frame, place: usize, bar: &Bar) -> Element {
    let middle = TOP + STEP * (place as f64 + 0.5);
    let end = frame.x(bar.value).max(frame.left + 1.0);
    let furthest = bar.spread.map_or(end, |(_, high)| end.max(frame.x(high)));
    let name_class = if bar.look.colour == "ours" { "name strong end" } else { "name end" };
    el("g")
        .class(bar.look.classes())
        .add(el("title").text(format!("{}: {}", bar.name, bar.exact)))
        .add(text(name_class, (frame.left - 6.0, middle + 4.0), &shortened(&bar.name)))
        .add(
            el("rect")
                .class("bar")
                .with("x", number(frame.left))
                .with("y", number(middle - THICK / 2.0))
                .with("width", number(end - frame.left))
                .with("height", number(THICK)),
        )
        .all(bar.spread.into_iter().flat_map(|spread| whisker(frame, middle, spread)))
        .add(text("figure", (furthest + 6.0, middle + 4.0), &bar.label))
}

fn whisker(frame: &Frame, middle: f64, (low, high): (f64, f64)) -> [Element; 3] {
    let (low, high) = (frame.x(low), frame.x(high));
    let (above, below) = (middle - 4.0, middle + 4.0);
    [
        line("whisker", (low, middle), (high, middle)),
        line("whisker", (low, above), (low, below)),
        line("whisker", (high, above), (high, below)),
    ]
}
