//! Rules for Rust files.

/// How far above an ordering its argument may stand.
const REACH: usize = 8;

const STRONG: [&str; 4] =
    ["Ordering::Acquire", "Ordering::Release", "Ordering::AcqRel", "Ordering::SeqCst"];

/// Whether a file says, before anything else, what lives in it.
///
/// ```
/// use coact_xtask::source::opens_with_docs;
///
/// assert!(opens_with_docs("//! What lives here.\n\nfn main() {}\n"));
/// assert!(!opens_with_docs("fn main() {}\n"));
/// ```
pub fn opens_with_docs(text: &str) -> bool {
    text.starts_with("//! ")
}

/// Whether a crate's root forbids `unsafe`.
pub fn forbids_unsafe(root: &str) -> bool {
    root.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]")
}

/// The lines (from 1) with an ordering above `Relaxed` that no `ORDERING:` comment accounts for.
///
/// ```
/// use coact_xtask::source::unargued_orderings;
///
/// let bare = "fn f() {\n    x.load(Ordering::Acquire);\n}";
/// assert_eq!(unargued_orderings(bare), [2]);
/// let argued = "// ORDERING: Acquire pairs with ...\nx.load(Ordering::Acquire);";
/// assert!(unargued_orderings(argued).is_empty());
/// ```
pub fn unargued_orderings(text: &str) -> Vec<usize> {
    unargued(text, &STRONG)
}

/// The same with `Relaxed` ones: for code that has few atomics, each of which decides something.
///
/// ```
/// use coact_xtask::source::unargued_atomics;
///
/// let bare = "fn f() {\n    x.load(Ordering::Relaxed);\n}";
/// assert_eq!(unargued_atomics(bare), [2]);
/// let argued = "// ORDERING: Relaxed. It only counts.\nx.load(Ordering::Relaxed);";
/// assert!(unargued_atomics(argued).is_empty());
/// ```
pub fn unargued_atomics(text: &str) -> Vec<usize> {
    let mut all = STRONG.to_vec();
    all.push("Ordering::Relaxed");
    unargued(text, &all)
}

fn unargued(text: &str, orderings: &[&str]) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_argued = |index: usize| {
        lines[index.saturating_sub(REACH)..=index].iter().any(|line| line.contains("ORDERING:"))
    };
    let is_one = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        orderings.iter().any(|ordering| code.contains(ordering))
    };
    let found = lines.iter().enumerate().filter(|(_, line)| is_one(line));
    found.filter(|(index, _)| !is_argued(*index)).map(|(index, _)| index + 1).collect()
}

/// The sections of the folder's README that a file's comments name: `README.md, "Section"`.
///
/// ```
/// use coact_xtask::source::named_sections;
///
/// let text = "// See README.md, \"Why a single\n// request waits\".\nfn f() {}";
/// assert_eq!(named_sections(text), ["Why a single request waits"]);
/// ```
pub fn named_sections(text: &str) -> Vec<String> {
    let comments: Vec<&str> = text.lines().filter_map(comment).collect();
    let joined = comments.join(" ");
    let named = joined.split("README.md, \"").skip(1);
    named.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim())
}

/// The lines of examples in doc comments that show a `use` of one of these crates.
///
/// ```
/// use coact_xtask::source::uses_in_docs_of;
///
/// let text = "/// use inner::Thing;\n/// # use inner as outer;\n//! use outer::Thing;";
/// assert_eq!(uses_in_docs_of(text, &["inner"]), [1]);
/// ```
pub fn uses_in_docs_of(text: &str, crates: &[&str]) -> Vec<usize> {
    let names_one = |line: &str| {
        let used = comment(line).and_then(|text| text.strip_prefix("use "));
        used.is_some_and(|used| crates.iter().any(|name| used.starts_with(&format!("{name}::"))))
    };
    let found = text.lines().enumerate().filter(|(_, line)| names_one(line));
    found.map(|(index, _)| index + 1).collect()
}
