//! The file as a stream of numbered lines, in memory bounded by one line.
//!
//! The format needs neither line breaks nor separators inside a field, so lines are split here by
//! hand: that is what makes a line cut short by the end of the file distinguishable from a whole one.

use std::io::{self, BufRead, BufReader, Read};

use thiserror::Error;

use super::fault::Fault;
use super::operation::Operation;

/// The first line of every ledger file.
pub const HEADER: &str = "operation,accounts,amount";

/// The longest line that is read, in bytes with its line end; longer ones are malformed.
pub const MAX_LINE: usize = 64 * 1024;

/// Why an input cannot be replayed at all.
#[derive(Debug, Error)]
pub enum InputError {
    /// The file cannot be opened.
    #[error("cannot open {name}")]
    Open {
        /// The name that the user gave.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The name is that of a directory.
    #[error("{name} is a directory, not a ledger file")]
    Directory {
        /// The name that the user gave.
        name: String,
    },
    /// There is not a single byte.
    #[error("{name} is empty; a ledger starts with the line \"{HEADER}\"")]
    Empty {
        /// The name that the user gave.
        name: String,
    },
    /// The first line is not the header.
    #[error("{name}, line 1: the header must be \"{HEADER}\", found \"{found}\"")]
    Header {
        /// The name that the user gave.
        name: String,
        /// The start of what stands there.
        found: String,
    },
    /// Reading failed half way.
    #[error("cannot read {name} after line {line}")]
    Read {
        /// The name that the user gave.
        name: String,
        /// The last line that was read.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Two passes over the same file saw different contents.
    #[error("{name} changed while it was being read; nothing can be said about it")]
    Changed {
        /// The name that the user gave.
        name: String,
    },
}

/// A reader that hands out one line at a time.
pub struct Lines<R> {
    name: String,
    input: BufReader<R>,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
}

/// One line after the header.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'buffer> {
    /// Its number in the file; the header is line 1.
    pub number: u64,
    bytes: &'buffer [u8],
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Break,
    File,
    Limit,
}

impl<R: Read> Lines<R> {
    /// Opens the stream and checks its header.
    pub fn new(name: impl Into<String>, input: R) -> Result<Self, InputError> {
        let mut lines = Self {
            name: name.into(),
            input: BufReader::with_capacity(2 * MAX_LINE, input),
            buffer: Vec::new(),
            number: 0,
            bytes: 0,
        };
        lines.check_header()?;
        Ok(lines)
    }

    /// The next line, or `None` at the end.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, InputError> {
        let Some(end) = self.fill()? else {
            return Ok(None);
        };
        Ok(Some(Line { number: self.number, bytes: &self.buffer, end }))
    }

    /// Bytes consumed so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn check_header(&mut self) -> Result<(), InputError> {
        if self.fill()?.is_none() {
            let name = self.name.clone();
            return Err(InputError::Empty { name });
        }
        // Spreadsheets like to put a byte order mark before the first field.
        let found = self.buffer.strip_prefix(b"\xEF\xBB\xBF");
        let found = found.unwrap_or(&self.buffer);
        if found == HEADER.as_bytes() {
            return Ok(());
        }
        Err(InputError::Header { name: self.name.clone(), found: excerpt(found) })
    }

    /// Reads the next line into the buffer, without its line end.
    fn fill(&mut self) -> Result<Option<End>, InputError> {
        self.buffer.clear();
        let mut end = match self.read_to_break() {
            Ok(0) => return Ok(None),
            Ok(_) if self.buffer.last() == Some(&b'\n') => End::Break,
            Ok(MAX_LINE) => End::Limit,
            Ok(_) => End::File,
            Err(source) => return Err(self.failed(source)),
        };
        if end == End::Limit {
            end = self.skip_rest().map_err(|source| self.failed(source))?;
        }
        if end == End::Break {
            self.buffer.pop();
            self.buffer.pop_if(|byte| *byte == b'\r');
        }
        self.number += 1;
        Ok(Some(end))
    }

    fn read_to_break(&mut self) -> io::Result<usize> {
        let mut limited = (&mut self.input).take(MAX_LINE as u64);
        let read = limited.read_until(b'\n', &mut self.buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }

    /// Drops the rest of a line that is too long. If there is none, the line had just the allowed
    /// length and the file ends with it.
    fn skip_rest(&mut self) -> io::Result<End> {
        let skipped = self.input.skip_until(b'\n')?;
        self.bytes += skipped as u64;
        Ok(if skipped == 0 { End::File } else { End::Limit })
    }

    fn failed(&self, source: io::Error) -> InputError {
        InputError::Read { name: self.name.clone(), line: self.number, source }
    }
}

impl<'buffer> Line<'buffer> {
    /// The operation on this line.
    pub fn operation(&self) -> Result<Operation<'buffer>, Fault> {
        match self.end {
            End::Limit => Err(Fault::TooLong),
            End::File => Err(Fault::Truncated),
            End::Break => Operation::parse(str::from_utf8(self.bytes).map_err(|_| Fault::NotUtf8)?),
        }
    }

    /// The start of the line, fit for printing.
    pub fn excerpt(&self) -> String {
        excerpt(self.bytes)
    }
}

/// The first characters of `bytes` with everything unprintable escaped: a hostile file must not
/// get control sequences into the user's terminal.
fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 48;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
    let mut shown: String = text.chars().take(SHOWN).flat_map(printable).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn printable(c: char) -> impl Iterator<Item = char> {
    let (plain, escaped) = match c.is_control() {
        true => (None, Some(c.escape_default())),
        false => (Some(c), None),
    };
    plain.into_iter().chain(escaped.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(body: &[u8]) -> Vec<(u64, Option<Fault>)> {
        let file = [HEADER.as_bytes(), b"\n", body].concat();
        let mut lines = Lines::new("test", file.as_slice()).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.number, line.operation().err()));
        }
        assert_eq!(lines.bytes(), file.len() as u64);
        found
    }

    #[test]
    fn lines_are_numbered_from_the_header() {
        assert_eq!(
            faults(b"open,a,1\r\n\ndeposit,a,1\n"),
            [(2, None), (3, Some(Fault::Blank)), (4, None)]
        );
    }

    #[test]
    fn a_last_line_without_its_end_is_truncated() {
        assert_eq!(faults(b"open,a,1\ndeposit,a,1"), [(2, None), (3, Some(Fault::Truncated))]);
    }

    #[test]
    fn bytes_that_are_not_utf8_spoil_their_line_only() {
        assert_eq!(faults(b"open,\xFF,1\nopen,a,1\n"), [(2, Some(Fault::NotUtf8)), (3, None)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_whole() {
        for length in [MAX_LINE, MAX_LINE + 1, 3 * MAX_LINE] {
            let mut body = vec![b'x'; length];
            body.extend_from_slice(b"\nopen,a,1\n");
            assert_eq!(faults(&body), [(2, Some(Fault::TooLong)), (3, None)]);
        }
        let cut = vec![b'x'; MAX_LINE];
        assert_eq!(faults(&cut), [(2, Some(Fault::Truncated))]);
    }

    #[test]
    fn the_header_must_be_there() {
        let open =
            |bytes: &'static [u8]| Lines::new("f", bytes).map(|_| ()).map_err(|e| e.to_string());
        assert!(open(b"").unwrap_err().starts_with("f is empty"));
        let wrong = open(b"account,amount\n").unwrap_err();
        assert!(wrong.contains("found \"account,amount\""), "{wrong}");
        assert!(open(b"\xFF\xFE\x00\x1b[2J\n").unwrap_err().contains("\\u{1b}[2J"));
        assert_eq!(open(b"operation,accounts,amount\r\n"), Ok(()));
        assert_eq!(open(b"\xEF\xBB\xBFoperation,accounts,amount\n"), Ok(()));
        assert_eq!(open(b"operation,accounts,amount"), Ok(()));
    }

    #[test]
    fn a_failing_device_is_reported_with_the_last_line() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk on fire"))
            }
        }
        let start: &[u8] = b"operation,accounts,amount\nopen,a,1\n";
        let mut lines = Lines::new("f", start.chain(Failing)).unwrap();
        assert!(lines.next_line().unwrap().is_some());
        let error = lines.next_line().unwrap_err();
        assert_eq!(error.to_string(), "cannot read f after line 2");
    }
}
