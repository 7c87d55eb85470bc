//! The files that a program is made of, where they lie in memory, and the names in them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use addr2line::Loader;
use anyhow::Context;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

/// An executable or a library in memory.
pub struct File {
    path: PathBuf,
    /// Where it begins; addresses in it are relative to that.
    base: u64,
    end: u64,
    lines: Option<Loader>,
    symbols: BTreeMap<u64, Symbol>,
}

struct Symbol {
    name: String,
    size: u64,
    kind: SymbolKind,
}

/// All of them.
pub struct Files {
    files: Vec<File>,
    /// Which of our functions an instruction belongs to, if to one: those that have been asked for.
    ours: RefCell<HashMap<u64, Option<Rc<str>>>>,
}

impl Files {
    /// Reads those that a process has in memory.
    ///
    /// # Errors
    /// The system does not tell, or one is no program.
    pub fn of(process: nix::unistd::Pid) -> anyhow::Result<Files> {
        let maps = format!("/proc/{process}/maps");
        let maps = std::fs::read_to_string(&maps).context(maps)?;
        let mut files: Vec<File> = Vec::new();
        for (start, end, path) in maps.lines().filter_map(mapped) {
            match files.iter_mut().find(|known| known.path == path) {
                Some(known) => known.end = known.end.max(end),
                None => files.push(File::read(path, start, end)?),
            }
        }
        Ok(Files { files, ours: RefCell::default() })
    }

    /// The function at an address, and the file that it is in: of those that the compiler has put
    /// into each other the innermost one that this project has written and that is more than a
    /// wrapper.
    pub fn function(&self, address: u64) -> Rc<str> {
        self.ours(address).unwrap_or_else(|| {
            let Some(file) = self.at(address) else { return "no file".into() };
            let symbol = file.symbol(address, SymbolKind::Text);
            symbol.map_or_else(|| file.name(), |(name, _)| name).into()
        })
    }

    /// The same, if there is one that this project has written.
    pub fn ours(&self, address: u64) -> Option<Rc<str>> {
        let mut known = self.ours.borrow_mut();
        let find = || Some(self.at(address)?.ours(address)?.into());
        known.entry(address).or_insert_with(find).clone()
    }

    /// The static at an address, or where in which file it is.
    pub fn data(&self, address: u64) -> Option<(String, u64)> {
        let file = self.at(address)?;
        let (name, offset) = file
            .symbol(address, SymbolKind::Data)
            .unwrap_or_else(|| (file.name(), address - file.base));
        Some((name, offset))
    }

    /// Where a function of a library begins.
    pub fn entry(&self, name: &str) -> Option<u64> {
        self.files.iter().find_map(|file| {
            let mut symbols = file.symbols.iter();
            let (at, _) = symbols.find(|(_, symbol)| symbol.name == name)?;
            Some(file.base + at)
        })
    }

    fn at(&self, address: u64) -> Option<&File> {
        self.files.iter().find(|file| (file.base..file.end).contains(&address))
    }
}

impl File {
    fn read(path: PathBuf, base: u64, end: u64) -> anyhow::Result<File> {
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let program = object::File::parse(&*bytes).with_context(|| path.display().to_string())?;
        let symbols = program.symbols().chain(program.dynamic_symbols());
        let symbols = symbols.filter(|symbol| symbol.is_definition()).filter_map(|symbol| {
            let name = addr2line::demangle_auto(symbol.name().ok()?.into(), None).into_owned();
            let (size, kind) = (symbol.size(), symbol.kind());
            Some((symbol.address(), Symbol { name, size, kind }))
        });
        let symbols = symbols.collect();
        // What begins as zeros is in memory and not in the file.
        let ends = program.segments().map(|segment| base + segment.address() + segment.size());
        let end = ends.chain([end]).max().unwrap_or(end);
        let lines = Loader::new(&path).ok();
        Ok(File { path, base, end, lines, symbols })
    }

    fn ours(&self, address: u64) -> Option<String> {
        let mut frames = self.lines.as_ref()?.find_frames(address - self.base).ok()?;
        while let Ok(Some(frame)) = frames.next() {
            let source = frame.location.and_then(|location| ours(location.file?));
            if let (Some(source), Some(function)) = (source, frame.function) {
                return Some(format!("{source} {}", function.demangle().ok()?));
            }
        }
        None
    }

    fn symbol(&self, address: u64, kind: SymbolKind) -> Option<(String, u64)> {
        let address = address - self.base;
        let (start, symbol) = self.symbols.range(..=address).next_back()?;
        let is_inside = address - start < symbol.size && symbol.kind == kind;
        is_inside.then(|| (symbol.name.clone(), address - start))
    }

    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        Path::new(name).display().to_string()
    }
}

/// A line of the list of what is in memory: where, and of which file.
fn mapped(line: &str) -> Option<(u64, u64, PathBuf)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let path = &rest[rest.find('/')?..];
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?, PathBuf::from(path)))
}

/// The path of a source of this project that is more than a wrapper, from its crate on.
fn ours(path: &str) -> Option<&str> {
    const WRAPPERS: &str = "sync/src/shim/";
    let (_, path) = path.split_once("crates/").or_else(|| path.split_once("bench/"))?;
    (!path.starts_with(WRAPPERS)).then_some(path)
}
