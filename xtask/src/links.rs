//! Rules for Markdown files.

/// The targets of a text's links that point into the project: a path, which is empty for the text
/// itself, and an anchor, which may be empty, too.
///
/// ```
/// use coact_xtask::links::local_targets;
///
/// let text = "See [a](docs/a.md#part), [b](https://example.org) and [c](#here).\n```\n[d](e)\n```";
/// assert_eq!(local_targets(text), [("docs/a.md", "part"), ("", "here")]);
/// ```
pub fn local_targets(text: &str) -> Vec<(&str, &str)> {
    let targets = prose(text).flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split([')', ' ']).next());
    let targets = targets.filter(|target| !target.is_empty() && !target.contains("://"));
    targets.map(|target| target.split_once('#').unwrap_or((target, ""))).collect()
}

/// The lines of a text that are in no block of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Whether a text has a heading with this anchor: its words in lower case, with hyphens between
/// them.
///
/// ```
/// use coact_xtask::links::has_anchor;
///
/// let text = "## `One`, and two-fold\n```\n# code\n```\n";
/// assert!(has_anchor(text, "one-and-two-fold"));
/// assert!(!has_anchor(text, "code"));
/// ```
pub fn has_anchor(text: &str, anchor: &str) -> bool {
    let letter = |c: char| match c {
        ' ' => Some('-'),
        c => (c.is_alphanumeric() || matches!(c, '-' | '_')).then(|| c.to_ascii_lowercase()),
    };
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let mut anchors =
        headings.map(|line| line.trim_start_matches('#').trim().chars().filter_map(letter));
    anchors.any(|found| found.eq(anchor.chars()))
}

/// Whether a text has a heading with these words.
///
/// ```
/// assert!(coact_xtask::links::has_heading("# One\n\n## Two words\n", "Two words"));
/// ```
pub fn has_heading(text: &str, words: &str) -> bool {
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    headings.any(|line| line.trim_start_matches('#').trim() == words)
}
