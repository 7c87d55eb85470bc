//! A ledger: operations in order, read from CSV or generated, and written as CSV.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write, stdin};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, bail};

use crate::account::AccountId;
use crate::operation::{Fault, Operation};

/// The first line of every ledger file.
pub const HEADER: &str = "operation,accounts,amount";

/// Operations in the order of their lines. All of them are in memory, at about 50 bytes each, so
/// that two replays see the same ones and neither is timed with the reading.
#[derive(Default)]
pub struct Ledger {
    /// Where it comes from.
    pub source: String,
    /// The names of the accounts, by number.
    pub names: Names,
    /// Each operation with the number of its line; the header is line 1.
    pub operations: Vec<(u64, Operation)>,
    pub malformed: Vec<Malformed>,
}

/// A line that is no operation.
#[derive(Debug)]
pub struct Malformed {
    pub line: u64,
    pub fault: Fault,
    /// How it starts.
    pub excerpt: String,
}

/// Gives every distinct name the next number.
#[derive(Default)]
pub struct Names {
    numbers: HashMap<Rc<str>, AccountId>,
    names: Vec<Rc<str>>,
}

impl Ledger {
    /// Reads a file, or standard input under the name `-`.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Self::read("standard input".into(), stdin().lock());
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        Self::read(name, file)
    }

    /// Reads a ledger that `source` names in messages.
    pub fn read(source: String, input: impl Read) -> Result<Self> {
        let mut ledger = Self { source, ..Self::default() };
        let mut input = BufReader::new(input);
        let mut bytes = Vec::new();
        let mut line = 0;
        while ledger.read_line(&mut input, line, &mut bytes)? {
            line += 1;
            match line {
                1 => ledger.check_header(&bytes)?,
                _ => ledger.add_line(line, &bytes),
            }
        }
        if line == 0 {
            bail!("{} is empty; a ledger starts with the line \"{HEADER}\"", ledger.source);
        }
        Ok(ledger)
    }

    /// Reads the line after `line`, with its line end. Returns whether there is one.
    fn read_line(&self, input: &mut impl BufRead, line: u64, bytes: &mut Vec<u8>) -> Result<bool> {
        bytes.clear();
        let read = input.read_until(b'\n', bytes);
        let read = read.with_context(|| match line {
            0 => format!("cannot read {}", self.source),
            line => format!("cannot read {} after line {line}", self.source),
        })?;
        Ok(read > 0)
    }

    fn check_header(&self, bytes: &[u8]) -> Result<()> {
        // Spreadsheets like to put a byte order mark before the first field.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let header = without_end(bytes).unwrap_or(bytes);
        if header != HEADER.as_bytes() {
            let (source, found) = (&self.source, excerpt(header));
            bail!("{source}, line 1: the header must be \"{HEADER}\", found \"{found}\"");
        }
        Ok(())
    }

    fn add_line(&mut self, line: u64, bytes: &[u8]) {
        match self.operation(bytes) {
            Ok(operation) => self.operations.push((line, operation)),
            Err(fault) => {
                let excerpt = excerpt(without_end(bytes).unwrap_or(bytes));
                self.malformed.push(Malformed { line, fault, excerpt });
            }
        }
    }

    fn operation(&mut self, bytes: &[u8]) -> Result<Operation, Fault> {
        let bytes = without_end(bytes).ok_or(Fault::Truncated)?;
        let text = str::from_utf8(bytes).map_err(|_| Fault::NotUtf8)?;
        Operation::parse(text, |name| self.names.number(name))
    }

    /// Lines after the header.
    pub fn lines(&self) -> usize {
        self.operations.len() + self.malformed.len()
    }

    /// Writes the operations as CSV.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "{HEADER}")?;
        for (_, operation) in &self.operations {
            write!(out, "{}", operation.word())?;
            let mut separator = ',';
            for id in operation.accounts() {
                write!(out, "{separator}{}", self.names.name(id))?;
                separator = ';';
            }
            match operation.amount() {
                Some(amount) => writeln!(out, ",{}", amount.0)?,
                None => writeln!(out, ",")?,
            }
        }
        Ok(())
    }
}

impl Names {
    /// The number of the account with this name.
    ///
    /// # Panics
    /// At 2^32 distinct names.
    pub fn number(&mut self, name: &str) -> AccountId {
        if let Some(id) = self.numbers.get(name) {
            return *id;
        }
        let id = u32::try_from(self.names.len()).expect("fewer than 2^32 distinct accounts");
        let name: Rc<str> = name.into();
        self.names.push(Rc::clone(&name));
        self.numbers.insert(name, AccountId(id));
        AccountId(id)
    }

    pub fn name(&self, id: AccountId) -> &str {
        &self.names[id.index()]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }
}

/// The line without its end, which is LF or CR LF. `None` if the file ends first.
fn without_end(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes.strip_suffix(b"\n")?;
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// The first characters of a line. Control characters are escaped: a hostile file must not get
/// control sequences into the user's terminal.
fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 48;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Ledger, String> {
        Ledger::read("f".into(), bytes).map_err(|error| error.to_string())
    }

    /// The lines of the operations, and the malformed ones, of a file with this body.
    fn lines(body: &[u8]) -> (Vec<u64>, Vec<(u64, Fault)>) {
        let ledger = read(&[HEADER.as_bytes(), b"\n", body].concat()).unwrap();
        let operations = ledger.operations.iter().map(|(line, _)| *line).collect();
        (operations, ledger.malformed.iter().map(|bad| (bad.line, bad.fault)).collect())
    }

    #[test]
    fn lines_are_numbered_from_the_header() {
        let found = lines(b"open,a,1\r\n\ndeposit,a,1\n");
        assert_eq!(found, (vec![2, 4], vec![(3, Fault::Blank)]));
    }

    #[test]
    fn a_last_line_without_its_end_is_truncated() {
        let found = lines(b"open,a,1\ndeposit,a,1");
        assert_eq!(found, (vec![2], vec![(3, Fault::Truncated)]));
    }

    #[test]
    fn bytes_that_are_not_utf8_spoil_their_line_only() {
        let found = lines(b"open,\xFF,1\nopen,a,1\n");
        assert_eq!(found, (vec![3], vec![(2, Fault::NotUtf8)]));
    }

    #[test]
    fn the_header_must_be_there() {
        assert!(read(b"").err().unwrap().starts_with("f is empty"));
        let wrong = read(b"account,amount\n").err().unwrap();
        assert!(wrong.contains("line 1") && wrong.contains("found \"account,amount\""), "{wrong}");
        assert!(read(b"\xFF\xFE\x00\x1b[2J\n").err().unwrap().contains("\\u{1b}[2J"));
        for header in ["operation,accounts,amount", "operation,accounts,amount\r\n"] {
            assert_eq!(read(header.as_bytes()).unwrap().lines(), 0);
            assert_eq!(read(format!("\u{FEFF}{header}").as_bytes()).unwrap().lines(), 0);
        }
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
        let error = Ledger::read("f".into(), start.chain(Failing)).err().unwrap();
        assert_eq!(format!("{error:#}"), "cannot read f after line 2: disk on fire");
    }

    #[test]
    fn numbers_are_dense_and_follow_first_appearance() {
        let file = format!("{HEADER}\naudit,b;a,\naudit,x;x,\naudit,c;b,\n");
        let ledger = read(file.as_bytes()).unwrap();
        let numbers = |index: usize| ledger.operations[index].1.accounts().map(|id| id.0);
        assert!(numbers(0).eq([0, 1]));
        assert!(numbers(1).eq([2, 0]), "the malformed line left no trace");
        assert_eq!(ledger.names.len(), 3);
        assert_eq!(ledger.names.name(AccountId(1)), "a");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let body = "open,a,7\ntransfer,a;b,5\nsplit,a;b;c,3\nfreeze,b,\naudit,c;a,\nclose,a,\n";
        let file = format!("{HEADER}\n{body}");
        let mut written = Vec::new();
        read(file.as_bytes()).unwrap().write(&mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), file);
    }

    #[test]
    fn an_excerpt_is_short_and_has_no_control_characters() {
        assert_eq!(excerpt(b"a\x1b[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(excerpt(&[b'x'; 5_000]), "x".repeat(48) + "…");
    }
}
