//! Files of a crate that use one another in a circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{
    File, Module, code, is_passing_on, passed_on, spread, statements, tree_at, uses,
};

/// The circles among the files of a crate, each as the list of its files. A name that a module
/// passes on (`pub use`) counts as the file's that has it, and passing on is no use. The crate's
/// root is a file as any other.
///
/// ```
/// use coact_xtask::circles::circles;
/// use coact_xtask::modules::File;
///
/// let files = [
///     File::new("lib.rs", "mod a;\nmod b;\nmod c;"),
///     File::new("a/mod.rs", "mod part;\npub use part::Part;\nuse crate::b::B;"),
///     File::new("a/part.rs", "use super::A;"),
///     File::new("b.rs", "use crate::a::Part;"),
///     File::new("c.rs", "use crate::a::A;"),
/// ];
/// assert_eq!(circles(&files), ["a, a::part, b"]);
///
/// let files = [
///     File::new("a/mod.rs", "mod part;\nfn work() { part::work() }"),
///     File::new("a/part.rs", "use super::A;"),
/// ];
/// assert_eq!(circles(&files), ["a, a::part"]);
///
/// // Through names that the root passes on, through what it has itself, and by another name.
/// let files = [
///     File::new("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B as Other;"),
///     File::new("a.rs", "use crate::Other;"),
///     File::new("b.rs", "use crate::A;"),
/// ];
/// assert_eq!(circles(&files), ["a, b"]);
/// let files = [
///     File::new("lib.rs", "mod a;\nuse a::part;\nstruct Whole;"),
///     File::new("a.rs", "use super::Whole;"),
/// ];
/// assert_eq!(circles(&files), ["lib, a"]);
/// let files = [
///     File::new("a/mod.rs", "mod part;\nuse part as chosen;\nfn work() { chosen::work() }"),
///     File::new("a/part.rs", "use super::A;"),
/// ];
/// assert_eq!(circles(&files), ["a, a::part"]);
/// ```
pub fn circles(files: &[File<'_>]) -> Vec<String> {
    let graph = graph(files);
    let reach: BTreeMap<_, _> = graph.keys().map(|from| (from, reachable(&graph, from))).collect();
    let mut found = BTreeSet::new();
    for (from, reached) in &reach {
        if !reached.contains(*from) {
            continue;
        }
        let back = reached.iter().filter(|to| reach[to].contains(*from));
        found.insert(back.map(shown).collect::<Vec<_>>().join(", "));
    }
    found.into_iter().collect()
}

fn shown(module: &Module) -> String {
    if module.is_empty() { "lib".to_owned() } else { module.join("::") }
}

/// Which file uses which.
fn graph(files: &[File<'_>]) -> BTreeMap<Module, BTreeSet<Module>> {
    let files: Vec<_> = files.iter().filter(|file| !file.is_test()).collect();
    let passed: BTreeMap<Module, BTreeMap<String, Module>> =
        files.iter().map(|file| (file.module.clone(), passed_on(file))).collect();
    let used = |file: &File<'_>| {
        let without = File { module: file.module.clone(), text: &without_passing_on(file.text) };
        let mut paths = uses(&without);
        paths.extend(of_children(&without, &passed));
        let owners = paths.iter().filter_map(|path| owner(path, &passed));
        owners.filter(|owner| *owner != file.module).collect()
    };
    files.iter().map(|file| (file.module.clone(), used(file))).collect()
}

/// The paths that begin with a module below the file.
fn of_children<T>(file: &File<'_>, modules: &BTreeMap<Module, T>) -> Vec<Module> {
    let code = code(file.text);
    let uses = statements(&code).filter_map(|line| line.strip_prefix("use "));
    let whole = |path: Module| {
        let skip = usize::from(path[0] == "self");
        [&file.module[..], &path[skip..]].concat()
    };
    let is_known = |path: &Module| modules.contains_key(&path[..=file.module.len()]);
    let all = uses.flat_map(spread).map(whole);
    let used = all.filter(|path| path.len() > file.module.len()).filter(is_known);
    used.chain(in_place(file, &code, modules)).collect()
}

/// The paths that begin with a module below the file where they are used: `part::work()`.
fn in_place<T>(file: &File<'_>, code: &str, modules: &BTreeMap<Module, T>) -> Vec<Module> {
    let below = modules
        .keys()
        .filter(|module| module.len() == file.module.len() + 1 && module.starts_with(&file.module));
    let name = |module: &Module| module.last().cloned().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    for child in below.map(name) {
        let start = format!("{child}::");
        for (at, _) in code.match_indices(&start) {
            if !code[..at].chars().next_back().is_some_and(is_part) {
                let paths = spread(tree_at(&code[at..]));
                found.extend(paths.into_iter().map(|path| [&file.module[..], &path].concat()));
            }
        }
    }
    found
}

/// The file that has what a path names.
fn owner(path: &[String], passed: &BTreeMap<Module, BTreeMap<String, Module>>) -> Option<Module> {
    let mut path = path.to_vec();
    // A name may be passed on several times; more often than that it is a mistake of this search.
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|length| passed.contains_key(&path[..*length]))?;
        let from = path.get(length).and_then(|name| passed[&path[..length]].get(name));
        match from {
            Some(from) => path = [&from[..], &path[length + 1..]].concat(),
            None => return Some(path[..length].to_vec()),
        }
    }
    None
}

/// All that can be reached from a file, in one step or more.
fn reachable(graph: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for to in graph.get(module).into_iter().flatten() {
            if seen.insert(to.clone()) {
                next.push(to);
            }
        }
    }
    seen
}

/// The text without the statements that pass names on, those in modules of the file included.
fn without_passing_on(text: &str) -> String {
    let mut kept = String::new();
    let mut passing = false;
    for line in code(text).lines() {
        passing |= is_passing_on(line.trim_start());
        if !passing {
            kept.push_str(line);
            kept.push('\n');
        }
        passing &= !line.contains(';');
    }
    kept
}
