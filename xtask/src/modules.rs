//! Which module of a crate may know which: they are a stack, in which each uses only those below
//! it.

use std::collections::BTreeMap;

/// The modules that a table of a Markdown text names, in the order of its rows: in its first
/// column, in backquotes. The table is the first one behind the heading.
///
/// ```
/// use coact_xtask::modules::listed;
///
/// let text = "\
/// ## Other
/// ## Stack
///
/// | module | what |
/// | --- | --- |
/// | `ids`, `paths` | `a` |
/// | `sched` | |
///
/// | `x` |";
/// assert_eq!(listed(text, "Stack"), ["ids", "paths", "sched"]);
/// assert!(listed(text, "None").is_empty());
/// ```
pub fn listed<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let is_heading =
        |line: &str| line.starts_with('#') && line.trim_start_matches('#').trim() == heading;
    let behind = text.lines().skip_while(|line| !is_heading(line)).skip(1);
    let table = behind.skip_while(|line| !line.starts_with('|'));
    let rows = table.take_while(|line| line.starts_with('|'));
    let first = rows.filter_map(|row| row.split('|').nth(1));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

/// A path of modules from the crate's root.
pub(crate) type Module = Vec<String>;

/// One file of a crate.
pub struct File<'a> {
    /// The modules that it lies in, from the crate's root: of `sched/worker.rs`, `sched` and
    /// `worker`.
    pub module: Vec<String>,
    /// What stands in it.
    pub text: &'a str,
}

impl<'a> File<'a> {
    /// That of a path below the crate's `src`, with `/`.
    pub fn new(path: &str, text: &'a str) -> Self {
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let module = path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect();
        Self { module, text }
    }

    /// Whether it is for tests alone.
    pub(crate) fn is_test(&self) -> bool {
        let names = ["tests", "loom"];
        self.module.iter().any(|part| names.contains(&part.as_str()) || part.ends_with("_in_model"))
    }
}

/// What breaks the stack of a crate's modules, which is given from bottom to top, in words.
///
/// ```
/// use coact_xtask::modules::{File, misplaced};
///
/// let files = [
///     File::new("lib.rs", "mod low;\nmod high;\npub use high::Top;"),
///     File::new("low.rs", "use crate::high::{self, Thing};\nuse crate::Top;"),
///     File::new("high/mod.rs", "mod part;\nuse crate::low::Base;"),
///     File::new("high/part.rs", "use super::Thing;"),
/// ];
/// assert_eq!(
///     misplaced(&["low", "high"], &files),
///     ["low uses high::Thing", "low uses high::Top", "low uses high::self"],
/// );
/// assert_eq!(misplaced(&["high", "low"], &files), ["high uses low::Base"]);
/// assert!(misplaced(&["low"], &files).contains(&"high has no place in the stack".to_owned()));
/// ```
pub fn misplaced(stack: &[&str], files: &[File<'_>]) -> Vec<String> {
    let exports = exports(files);
    let place = |module: &str| stack.iter().position(|known| *known == module);
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| !file.module.is_empty() && !file.is_test()) {
        let (top, whole) = (&file.module[0], file.module.join("::"));
        let Some(here) = place(top) else {
            wrong.push(format!("{top} has no place in the stack"));
            continue;
        };
        for path in uses(file) {
            let target = exports.get(&path[0]).map_or(path[0].as_str(), String::as_str);
            if place(target).is_some_and(|there| there > here) {
                let name = path.last().map_or("", String::as_str);
                wrong.push(format!("{whole} uses {target}::{name}"));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    wrong
}

/// The names that the root passes on, each with the module that it comes from.
fn exports(files: &[File<'_>]) -> BTreeMap<String, String> {
    let root = files.iter().filter(|file| file.module.is_empty());
    let passed = root.flat_map(passed_on);
    passed.filter(|(_, from)| from.len() > 1).map(|(name, from)| (name, from[0].clone())).collect()
}

/// The names that a file passes on, and where each comes from.
pub(crate) fn passed_on(file: &File<'_>) -> BTreeMap<String, Module> {
    let code = code(file.text);
    let mut passed = BTreeMap::new();
    for line in statements(&code).filter(|line| is_passing_on(line)) {
        let tree = line.split_once("use ").map_or("", |(_, tree)| tree);
        for Branch { path, name } in branches_of(tree) {
            let from = match path[0].as_str() {
                "crate" | "super" => from_root(file, &path),
                "self" => Some([&file.module[..], &path[1..]].concat()),
                _ => Some([&file.module[..], &path[..]].concat()),
            };
            if let Some(from) = from {
                passed.insert(name, from);
            }
        }
    }
    passed
}

/// Whether a statement passes names on (`pub use`).
pub(crate) fn is_passing_on(statement: &str) -> bool {
    let rest = statement.strip_prefix("pub").unwrap_or_default();
    let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |it| it.1);
    rest.trim_start().starts_with("use ")
}

/// The `use` statements at the beginning of a line, each as one.
pub(crate) fn statements(code: &str) -> impl Iterator<Item = &str> {
    let starts = code.match_indices("use ").filter(|(at, _)| {
        let line = code[..*at].rfind('\n').map_or(0, |end| end + 1);
        line == *at || code[line..*at].starts_with("pub")
    });
    starts.map(|(at, _)| {
        let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = code[at..].find(';').map_or(code.len(), |length| at + length);
        &code[line..end]
    })
}

/// The paths from the crate's root that a file names outside of tests.
pub(crate) fn uses(file: &File<'_>) -> Vec<Vec<String>> {
    let code = code(file.text);
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == ':';
            let is_part = code[..at].chars().next_back().is_some_and(is_name);
            // `pub(in crate::..)` says who may see something, and uses nothing.
            if is_part || code[..at].ends_with("(in ") {
                continue;
            }
            let paths = spread(tree_at(&code[at..]));
            found.extend(paths.into_iter().filter_map(|path| from_root(file, &path)));
        }
    }
    found
}

/// A path as it is from the crate's root.
fn from_root(file: &File<'_>, path: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let skipped = ups.max(usize::from(path[0] == "crate"));
    let base = if ups > 0 { file.module.len().checked_sub(ups)? } else { 0 };
    let whole: Vec<_> = file.module[..base].iter().chain(&path[skipped..]).cloned().collect();
    (!whole.is_empty()).then_some(whole)
}

/// The path, or the tree of paths, that a text begins with.
pub(crate) fn tree_at(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' if text[..at].trim_end().ends_with("::") || depth > 0 => depth += 1,
            '}' if depth == 1 => return &text[..=at],
            '}' if depth > 0 => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || c == '_' || c == ':' => {}
            _ => return &text[..at],
        }
    }
    text
}

/// The paths of a tree: of `a::{b, c::d}`, `a::b` and `a::c::d`.
pub(crate) fn spread(tree: &str) -> Vec<Module> {
    branches_of(tree).into_iter().map(|branch| branch.path).collect()
}

/// One name that a `use` brings in.
struct Branch {
    /// What it is of.
    path: Module,
    /// The last part of the path, or what stands behind `as`.
    name: String,
}

/// The names of a tree.
fn branches_of(tree: &str) -> Vec<Branch> {
    let Some((head, rest)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let parts = path.split("::").map(str::trim).filter(|part| !part.is_empty());
        let path: Module = parts.map(str::to_owned).collect();
        let name = if alias.is_empty() { path.last().cloned() } else { Some(alias.trim().into()) };
        return name.into_iter().map(|name| Branch { path: path.clone(), name }).collect();
    };
    let inside = rest.rfind('}').map_or(rest, |end| &rest[..end]);
    branches(inside).flat_map(|branch| branches_of(&format!("{head}{}", branch.trim()))).collect()
}

/// The parts of a list that stand between the commas outside of all braces.
fn branches(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    list.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter(|branch| !branch.trim().is_empty())
}

/// The text without comments, and without what stands behind the tests' attribute at its end.
pub(crate) fn code(text: &str) -> String {
    let is_tests = |line: &str| line.starts_with("#[cfg(") && line.contains("test");
    let mut lines = text.lines().peekable();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        let opens = |next: &&str| next.starts_with("mod ") && next.ends_with('{');
        if is_tests(line) && lines.peek().is_some_and(opens) {
            break;
        }
        kept.push_str(line.split("//").next().unwrap_or_default());
        kept.push('\n');
    }
    kept
}
