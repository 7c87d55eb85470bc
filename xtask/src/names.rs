//! Rules for the names of types and files.

use std::collections::BTreeMap;

use crate::conditions::exclude_each_other;
use crate::modules::{File, Module, code};

/// Names of files that say nothing about what is in them.
const VAGUE_FILES: [&str; 6] = ["types", "internals", "handle", "known", "told", "quiet"];

/// Past participles that do not end in "ed".
const IRREGULAR: [&str; 48] = [
    "Begun",
    "Bound",
    "Brought",
    "Broken",
    "Built",
    "Came",
    "Caught",
    "Chosen",
    "Done",
    "Drawn",
    "Driven",
    "Fallen",
    "Found",
    "Frozen",
    "Given",
    "Gone",
    "Heard",
    "Held",
    "Hidden",
    "Kept",
    "Known",
    "Left",
    "Lent",
    "Lost",
    "Made",
    "Met",
    "Owing",
    "Paid",
    "Put",
    "Run",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Sold",
    "Spent",
    "Sunk",
    "Taken",
    "Thrown",
    "Told",
    "Torn",
    "Unbound",
    "Unwound",
    "Withdrawn",
    "Woken",
    "Won",
    "Wound",
    "Written",
];

/// Words that end as participles do and are none, or that the field has as nouns.
const NOUNS: [&str; 14] = [
    "Embed",
    "Feed",
    "Heartbeat",
    "Need",
    "Red",
    "Ring",
    "Routing",
    "Seed",
    "Setting",
    "Shed",
    "Speed",
    "String",
    "Thing",
    "Timing",
];

/// Participles that are right, each with the reason.
pub const FIELD_PARTICIPLES: [(&str, &str); 7] = [
    ("Exited", "a message to an actor that traps exits, as Erlang's `'EXIT'`, beside `Down`"),
    ("Shared", "a shared message, beside `Arc`'s name for the same thing"),
    ("Stopped", "why an ask or a wait failed: the actor has stopped, as actors' libraries say it"),
    ("Started", "an actor's first event, as actors' libraries say it"),
    ("Polled", "what a poll returned, as `std::task::Poll`"),
    ("Undecodable", "an adjective: the error of a text that no schedule has"),
    ("Interrupted", "why a wait ended, as `std::io::ErrorKind` says it"),
];

/// A type that a file declares.
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// Whether it is `pub`, without a restriction.
    pub is_public: bool,
    /// The conditions of its compilation: its own, and those of the modules around it in the file.
    pub conditions: Vec<String>,
}

/// What a file declares.
#[derive(Default)]
pub struct Declarations {
    /// Its types; without associated ones and those of tests.
    pub types: Vec<Declaration>,
    /// The files that are its modules, with the conditions under which they are.
    files: BTreeMap<String, Vec<String>>,
}

/// The types that a file declares.
///
/// ```
/// use coact_xtask::names::declarations;
///
/// let text = "\
/// #[cfg(loom)]
/// mod model;
/// /// Docs.
/// #[cfg(unix)]
/// #[derive(Debug)]
/// pub(crate) struct One;
/// impl Iterator for One {
///     type Item = u8;
/// }
/// #[cfg(any(
///     test,
///     loom,
/// ))]
/// mod twin {
///     pub enum Two<T> {}
///     pub(super) type Three = One;
/// }
/// trait Four {}";
/// let types = declarations(text).types;
/// let shown: Vec<_> = types.iter().map(|it| (it.name.as_str(), it.conditions.len())).collect();
/// assert_eq!(shown, [("One", 1), ("Two", 1), ("Three", 1), ("Four", 0)]);
/// ```
pub fn declarations(text: &str) -> Declarations {
    let mut found = Declarations::default();
    // The modules around a line, each with its indentation.
    let mut around: Vec<(usize, Vec<String>)> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    let mut paths: Vec<(Option<String>, String)> = Vec::new();
    let text = code(text);
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let (indent, line) = (line.len() - line.trim_start().len(), line.trim());
        if line.starts_with("#[") {
            let mut attribute = line.to_owned();
            while !is_balanced(&attribute) {
                let Some((_, more)) = lines.next() else { break };
                attribute.push_str(more.trim());
            }
            let condition = attribute.strip_prefix("#[cfg(").and_then(|it| it.strip_suffix(")]"));
            conditions.extend(condition.map(str::to_owned));
            paths.extend(path_of_module(&attribute));
            continue;
        }
        if line.is_empty() {
            continue;
        }
        if around.last().is_some_and(|(opened, _)| *opened == indent) && line == "}" {
            around.pop();
        }
        let (is_public, rest) = without_visibility(line);
        let own = std::mem::take(&mut conditions);
        let paths = std::mem::take(&mut paths);
        if let Some(module) = rest.strip_prefix("mod ") {
            match module.split_once(';') {
                Some((name, _)) => found.files.extend(files_of(name, &paths, &own)),
                None if module.ends_with('{') => around.push((indent, own)),
                None => {}
            }
        } else if let Some((keyword, name)) = declared(rest) {
            let is_associated = keyword == "type" && indent != 4 * around.len();
            if !is_associated {
                let outer = around.iter().flat_map(|(_, conditions)| conditions.iter().cloned());
                let conditions = outer.chain(own).collect();
                let line = index + 1;
                found.types.push(Declaration { name: name.into(), line, is_public, conditions });
            }
        }
    }
    found
}

/// The file that an attribute gives a module, and the condition on which it does.
fn path_of_module(attribute: &str) -> Option<(Option<String>, String)> {
    let attribute = attribute.strip_prefix("#[")?;
    let (before, path) = attribute.split_once("path = \"")?;
    let file = path.split_once(".rs\"")?.0.to_owned();
    match before.strip_prefix("cfg_attr(") {
        Some(condition) => {
            let condition = condition.trim_end().trim_end_matches(',');
            Some((Some(condition.to_owned()), file))
        }
        None => before.is_empty().then_some((None, file)),
    }
}

/// The files that a module may be in, each with its conditions.
fn files_of(
    name: &str,
    paths: &[(Option<String>, String)],
    own: &[String],
) -> BTreeMap<String, Vec<String>> {
    let mut files = BTreeMap::new();
    let mut otherwise = own.to_vec();
    for (condition, file) in paths {
        let Some(condition) = condition else {
            files.insert(file.clone(), own.to_vec());
            return files;
        };
        files.insert(file.clone(), own.iter().chain([condition]).cloned().collect());
        otherwise.push(format!("not({condition})"));
    }
    files.insert(name.to_owned(), otherwise);
    files
}

fn is_balanced(text: &str) -> bool {
    text.matches(['(', '[']).count() == text.matches([')', ']']).count()
}

/// Whether a line begins with `pub`, and what stands behind it and its restriction.
fn without_visibility(line: &str) -> (bool, &str) {
    let Some(rest) = line.strip_prefix("pub") else { return (false, line) };
    match rest.strip_prefix('(') {
        Some(limited) => (false, limited.split_once(')').map_or("", |it| it.1).trim_start()),
        None => (rest.starts_with(' '), rest.trim_start()),
    }
}

/// The keyword and the name of a type that a line declares.
fn declared(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let line = line.strip_prefix("auto ").unwrap_or(line);
    let (keyword, rest) = line.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "union", "type"].contains(&keyword);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (is_type && end > 0).then_some((keyword, &rest[..end]))
}

/// A type of a crate.
pub struct CrateType {
    /// What its file says of it.
    pub declaration: Declaration,
    /// The file, as an index into those that were given.
    pub file: usize,
}

/// The types of a crate outside of tests, with the conditions of the files that they are in.
pub fn types(files: &[File<'_>]) -> Vec<CrateType> {
    let found = files.iter().map(|file| (file.module.clone(), declarations(file.text)));
    let found: BTreeMap<Module, Declarations> = found.collect();
    let mut types = Vec::new();
    for (index, file) in files.iter().enumerate() {
        if file.is_test() {
            continue;
        }
        let mut around = Vec::new();
        for depth in 0..file.module.len() {
            let outer = found.get(&file.module[..depth]);
            let own = outer.and_then(|outer| outer.files.get(&file.module[depth]));
            around.extend(own.into_iter().flatten().cloned());
        }
        for mut declaration in declarations(file.text).types {
            declaration.conditions.extend(around.iter().cloned());
            types.push(CrateType { declaration, file: index });
        }
    }
    types
}

/// The names that two types have of which one build has both, each with those that have it.
///
/// ```
/// use coact_xtask::modules::File;
/// use coact_xtask::names::{twice, types};
///
/// let files = [
///     File::new("lib.rs", "#[cfg(loom)]\nmod a;\n#[cfg(not(loom))]\nmod b;\nmod c;"),
///     File::new("a.rs", "struct Twin;\nstruct Cache;"),
///     File::new("b.rs", "struct Twin;"),
///     File::new("c/mod.rs", "struct Cache;"),
///     File::new("c/tests.rs", "struct Cache;"),
/// ];
/// let types = types(&files);
/// let twice = twice(&types);
/// assert_eq!(twice.keys().collect::<Vec<_>>(), [&"Cache"]);
/// assert_eq!(twice["Cache"].len(), 2);
///
/// let root = "\
/// #[cfg(loom)]
/// #[path = \"a.rs\"]
/// mod x;
/// #[cfg(not(loom))]
/// #[path = \"b.rs\"]
/// mod x;
/// #[cfg_attr(not(unix), path = \"d.rs\")]
/// mod c;";
/// let files = [
///     File::new("lib.rs", root),
///     File::new("a.rs", "struct Twin;"),
///     File::new("b.rs", "struct Twin;"),
///     File::new("c/mod.rs", "mod part;"),
///     File::new("c/part.rs", "struct Other;"),
///     File::new("d.rs", "struct Other;"),
/// ];
/// assert!(coact_xtask::names::twice(&coact_xtask::names::types(&files)).is_empty());
/// ```
pub fn twice(types: &[CrateType]) -> BTreeMap<&str, Vec<&CrateType>> {
    let mut names: BTreeMap<&str, Vec<&CrateType>> = BTreeMap::new();
    for one in types {
        names.entry(&one.declaration.name).or_default().push(one);
    }
    names.retain(|_, all| {
        let conditions = |one: &CrateType| one.declaration.conditions.clone();
        all.iter().enumerate().any(|(index, one)| {
            let mut others = all[index + 1..].iter();
            others.any(|other| !exclude_each_other(&conditions(one), &conditions(other)))
        })
    });
    names
}

/// The words of a name: each begins with a capital letter.
fn words(name: &str) -> Vec<&str> {
    let starts: Vec<usize> =
        name.char_indices().filter(|(_, c)| c.is_uppercase()).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    starts.iter().zip(ends).map(|(start, end)| &name[*start..end]).collect()
}

/// Whether a name is of one word.
///
/// ```
/// use coact_xtask::names::is_one_word;
///
/// assert!(is_one_word("Owner") && !is_one_word("CommitPipeline"));
/// ```
pub fn is_one_word(name: &str) -> bool {
    words(name).len() < 2
}

/// Whether a name is a participle alone, and none of those that are [right](FIELD_PARTICIPLES).
///
/// ```
/// use coact_xtask::names::is_participle;
///
/// assert!(is_participle("Told") && is_participle("Settled") && is_participle("Waiting"));
/// assert!(!is_participle("Feed") && !is_participle("Stopped") && !is_participle("NotStored"));
/// ```
pub fn is_participle(name: &str) -> bool {
    let ends = (name.ends_with("ed") || name.ends_with("ing")) && !name.ends_with("eed");
    let is_right = NOUNS.contains(&name) || FIELD_PARTICIPLES.iter().any(|(it, _)| *it == name);
    is_one_word(name) && (ends || IRREGULAR.contains(&name)) && !is_right
}

/// Whether a file's path names a module that says nothing about what is in it.
///
/// ```
/// use coact_xtask::names::is_vague_file;
///
/// assert!(is_vague_file("cown/handle.rs") && is_vague_file("types/mod.rs"));
/// assert!(!is_vague_file("types/addr.rs") && !is_vague_file("runtime_handle.rs"));
/// ```
pub fn is_vague_file(path: &str) -> bool {
    let name = path.trim_end_matches(".rs").trim_end_matches("/mod");
    VAGUE_FILES.contains(&name.rsplit('/').next().unwrap_or(name))
}
