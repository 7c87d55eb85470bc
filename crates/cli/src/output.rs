//! Standard output, or a file: lines for people, and records.

use std::io::{self, BufWriter, IsTerminal, Write};

use console::{Term, measure_text_width, truncate_str};
use serde::Serialize;

/// Where results go.
pub struct LineOutput {
    writer: BufWriter<Box<dyn Write>>,
    width: Option<usize>,
}

impl LineOutput {
    /// Standard output, with lines as wide as wanted, or as the terminal.
    pub fn standard(width: Option<u16>) -> Self {
        let of_terminal =
            || io::stdout().is_terminal().then(|| Term::stdout().size_checked()).flatten();
        let width = width.or_else(|| of_terminal().map(|(_, columns)| columns));
        Self::new(Box::new(io::stdout().lock()), width.map(usize::from))
    }

    /// Anything else.
    pub fn new(writer: Box<dyn Write>, width: Option<usize>) -> Self {
        Self { writer: BufWriter::with_capacity(1 << 16, writer), width }
    }

    /// Writes a line for people.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        match self.width {
            // (A character takes a byte or more for each of its columns.)
            Some(width) if text.len() > width && measure_text_width(text) > width => {
                writeln!(self.writer, "{}", truncate_str(text, width, "…"))
            }
            _ => writeln!(self.writer, "{text}"),
        }
    }

    /// Writes text for people in as many lines as it takes: the first one indented by `first`, the
    /// others by `indent`.
    pub fn paragraph(&mut self, first: usize, indent: usize, text: &str) -> io::Result<()> {
        let width = self.width.unwrap_or(usize::MAX);
        let (mut line, mut is_empty) = (" ".repeat(first), true);
        for word in text.split(' ') {
            let together = measure_text_width(&line) + 1 + measure_text_width(word);
            if !is_empty && together > width {
                writeln!(self.writer, "{line}")?;
                (line, is_empty) = (" ".repeat(indent), true);
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        writeln!(self.writer, "{line}")
    }

    /// Writes a record as a line of JSON.
    pub fn record(&mut self, record: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, record)?;
        self.writer.write_all(b"\n")
    }

    /// Writes what is held back.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Rows in columns, as wide as what was in them so far; all but the last one, whose width does not
/// matter.
pub struct ColumnTable {
    widths: Vec<usize>,
    alignment: &'static [ColumnAlignment],
}

/// At which side of its column a cell is.
#[derive(Clone, Copy, PartialEq)]
pub enum ColumnAlignment {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

impl ColumnTable {
    /// One with this many columns.
    pub fn new(alignment: &'static [ColumnAlignment]) -> Self {
        Self { widths: vec![0; alignment.len()], alignment }
    }

    /// Writes rows that belong together.
    pub fn write(
        &mut self,
        output: &mut LineOutput,
        indent: &str,
        rows: &[Vec<String>],
    ) -> io::Result<()> {
        for row in rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = measure_text_width(cell).max(*width);
            }
        }
        rows.iter().try_for_each(|row| output.line(&self.row(indent, row)))
    }

    fn row(&self, indent: &str, row: &[String]) -> String {
        let mut line = indent.to_owned();
        for (number, cell) in row.iter().enumerate() {
            let room = " ".repeat(self.widths[number].saturating_sub(measure_text_width(cell)));
            if self.alignment[number] == ColumnAlignment::Right {
                line.push_str(&room);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                if number + 1 < row.len() {
                    line.push_str(&room);
                }
            }
            if number + 1 < row.len() {
                line.push_str("  ");
            }
        }
        line
    }
}

/// A number with its digits in threes.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 event`, `2 events`.
pub fn count(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { several })
}
