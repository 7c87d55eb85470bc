//! Tables: a heading, rows, and a frame in which a wide one can be moved on a narrow screen.

use crate::report::markup::{Element, el};

/// A column.
#[derive(Clone, Copy)]
pub enum Column<'a> {
    /// Text, from the left.
    Words(&'a str),
    /// A few words that stay on one line.
    Saying(&'a str),
    /// Figures, from the right.
    Figures(&'a str),
}

impl Column<'_> {
    fn class(&self) -> &'static str {
        match self {
            Column::Words(_) => "words",
            Column::Saying(_) => "saying",
            Column::Figures(_) => "figures",
        }
    }

    fn heading(&self) -> Element {
        let (Column::Words(name) | Column::Saying(name) | Column::Figures(name)) = self;
        el("th").with("scope", "col").class(self.class()).text(name)
    }
}

/// A row: its cells, and its class.
pub struct Row {
    /// One a column.
    pub cells: Vec<Element>,
    /// Class of the row.
    pub class: String,
}

impl Row {
    /// An ordinary row.
    pub fn of(cells: impl IntoIterator<Item = Element>) -> Row {
        Row { cells: cells.into_iter().collect(), class: String::new() }
    }

    /// With another class too.
    pub fn class(self, class: &str) -> Row {
        Row { class: format!("{} {class}", self.class).trim().to_owned(), ..self }
    }
}

/// A cell of text.
pub fn cell(text: impl std::fmt::Display) -> Element {
    el("td").text(text)
}

/// A table; its first column names the rows.
pub fn table(
    caption: &str,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Row>,
) -> Element {
    let headings = el("tr").all(columns.iter().map(Column::heading));
    let row = |row: Row| {
        let cells = row.cells.into_iter().zip(columns);
        el("tr").class(&row.class).all(cells.map(|(cell, column)| cell.class(column.class())))
    };
    let table = el("table")
        .with("aria-label", caption)
        .add(el("thead").add(headings))
        .add(el("tbody").all(rows.into_iter().map(row)));
    // The caption stays in view where the table is moved.
    el("div")
        .add(el("p").class("caption-of").text(caption))
        .add(el("div").class("wide").with("tabindex", 0).add(table))
}
