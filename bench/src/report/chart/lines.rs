//! Lines over an axis, each named at its end.

use super::axis::Axis;
use super::{WIDTH, drawing, line, number, shortened, text, width_of};
use crate::report::markup::{Element, el};
use crate::report::palette::Look;

const TOP: f64 = 10.0;
const LEFT: f64 = 62.0;
const BELOW: f64 = 42.0;
/// Height of a name at the end of a line.
const NAME: f64 = 14.0;

/// A point of a line.
pub struct Point {
    /// Place along the lower axis.
    pub x: f64,
    /// Place along the left axis.
    pub y: f64,
    /// From the least to the greatest value, where they are known.
    pub spread: Option<(f64, f64)>,
    /// The exact figures; a point without them has no mark.
    pub exact: Option<String>,
}

/// A line, from left to right.
pub struct Line {
    /// Who.
    pub name: String,
    /// How it looks.
    pub look: Look,
    /// At least one.
    pub points: Vec<Point>,
}

/// The drawing.
pub struct Lines<'a> {
    /// What is drawn.
    pub title: &'a str,
    /// What is said to who cannot see it.
    pub description: &'a str,
    /// The lower axis.
    pub x: Axis,
    /// The left axis.
    pub y: Axis,
    /// The first is drawn last, above the others.
    pub lines: Vec<Line>,
}

/// Where the lines lie.
struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    right: f64,
    bottom: f64,
}

impl Frame<'_> {
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let across = LEFT + (self.right - LEFT) * self.x.at(x);
        (across, self.bottom - (self.bottom - TOP) * self.y.at(y))
    }

    fn point(&self, point: &Point) -> (f64, f64) {
        self.place(point.x, point.y)
    }
}

impl Lines<'_> {
    /// Draws it.
    pub fn draw(&self) -> Element {
        let names = self.lines.iter().map(|line| width_of(&shortened(&line.name)));
        let height = (NAME * self.lines.len() as f64).max(210.0);
        let frame = Frame {
            x: &self.x,
            y: &self.y,
            right: WIDTH - names.fold(0.0, f64::max) - 26.0,
            bottom: TOP + height,
        };
        drawing(frame.bottom + BELOW, self.title, self.description)
            .all(grid(&frame))
            .all(self.lines.iter().rev().map(|line| curve(&frame, line)))
            .all(self.names(&frame))
    }

    /// The names at the ends of the lines, pushed apart where they would cover each other.
    fn names(&self, frame: &Frame<'_>) -> Vec<Element> {
        let mut ends: Vec<(&Line, (f64, f64))> = self
            .lines
            .iter()
            .filter_map(|line| Some((line, frame.point(line.points.last()?))))
            .collect();
        ends.sort_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, end)| end.1).collect();
        let places = pushed_apart(&wanted, NAME, TOP, frame.bottom);
        ends.iter().zip(places).map(|((line, end), y)| name(frame, line, *end, y)).collect()
    }
}

/// Places at least `gap` apart, near those wanted (ascending), between `top` and `bottom` if there
/// is room.
fn pushed_apart(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::new();
    for &place in wanted {
        let free = places.last().map_or(top, |last| last + gap);
        places.push(place.max(free));
    }
    let mut free = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(free);
        free = *place - gap;
    }
    places
}

fn grid(frame: &Frame<'_>) -> Vec<Element> {
    let mut grid = Vec::new();
    for (at, label) in frame.y.marks() {
        let y = frame.bottom - (frame.bottom - TOP) * at;
        grid.push(line("grid", (LEFT, y), (frame.right, y)));
        grid.push(text("mark end", (LEFT - 6.0, y + 4.0), &label));
    }
    let mut last_end = f64::NEG_INFINITY;
    for (at, label) in frame.x.marks() {
        let x = LEFT + (frame.right - LEFT) * at;
        grid.push(line("grid", (x, TOP), (x, frame.bottom)));
        // A narrow drawing has no room for every label.
        let half = width_of(&label) / 2.0;
        if x - half > last_end + 4.0 {
            grid.push(text("mark middle", (x, frame.bottom + 15.0), &label));
            last_end = x + half;
        }
    }
    let middle = f64::midpoint(TOP, frame.bottom);
    let turned = format!("rotate(-90 12 {})", number(middle));
    let beside = text("caption middle", (12.0, middle), &frame.y.caption());
    grid.push(beside.with("transform", turned));
    let below = (f64::midpoint(LEFT, frame.right), frame.bottom + 35.0);
    grid.push(text("caption middle", below, &frame.x.caption()));
    grid
}

fn curve(frame: &Frame<'_>, line: &Line) -> Element {
    let places = line.points.iter().map(|point| frame.point(point));
    let path: Vec<String> = places.map(|(x, y)| format!("{},{}", number(x), number(y))).collect();
    let marks = line.points.iter().filter_map(|point| mark(frame, line, point));
    el("g")
        .class(line.look.classes())
        .add(el("title").text(&line.name))
        .add(el("polyline").class("curve").with("points", path.join(" ")))
        .all(marks)
}

fn mark(frame: &Frame<'_>, of: &Line, point: &Point) -> Option<Element> {
    let exact = point.exact.as_ref()?;
    let (x, y) = frame.point(point);
    let whisker = point
        .spread
        .map(|(low, high)| line("whisker", frame.place(point.x, low), frame.place(point.x, high)));
    // A pointer need not hit the small mark itself.
    let around =
        el("circle").class("around").with("cx", number(x)).with("cy", number(y)).with("r", 9);
    let group = el("g").add(el("title").text(format!("{}: {exact}", of.name)));
    Some(group.all(whisker).add(shape(of.look.mark, x, y)).add(around))
}

/// A small shape that tells a line from others of a like colour.
fn shape(mark: usize, x: f64, y: f64) -> Element {
    const SHAPES: [&str; 6] = [
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        "m-3.5-3.5h7v7h-7z",
        "m0-5l4.8 8.3h-9.6z",
        "m0-5l5 5l-5 5l-5-5z",
        "m0 5l4.8-8.3h-9.6z",
        "m-1.5-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
    ];
    let path = format!("M{} {}{}", number(x), number(y), SHAPES[mark % SHAPES.len()]);
    el("path").class("shape").with("d", path)
}

fn name(frame: &Frame<'_>, of: &Line, (x, y): (f64, f64), place: f64) -> Element {
    let class = if of.look.colour == "ours" { "name strong" } else { "name" };
    let start = frame.right + 18.0;
    el("g")
        .class(of.look.classes())
        .add(line("leader", (x + 5.0, y), (start - 3.0, place)))
        .add(text(class, (start, place + 4.0), &shortened(&of.name)))
}

#[cfg(test)]
mod tests {
    use super::pushed_apart;

    #[test]
    fn names_do_not_cover_each_other() {
        assert_eq!(pushed_apart(&[10.0, 50.0], 14.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(pushed_apart(&[10.0, 11.0, 12.0], 14.0, 0.0, 100.0), [10.0, 24.0, 38.0]);
        assert_eq!(pushed_apart(&[98.0, 99.0, 100.0], 14.0, 0.0, 100.0), [72.0, 86.0, 100.0]);
        assert_eq!(pushed_apart(&[], 14.0, 0.0, 100.0), [0.0; 0]);
    }
}
