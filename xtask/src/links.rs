//! Rules for Markdown files.

/// The targets of a text's links that point into the project, without their anchors.
///
/// ```
/// use coact_xtask::links::local_targets;
///
/// let text = "See [a](docs/a.md#part), [b](https://example.org) and [c](#here).\n```\n[d](e)\n```";
/// assert_eq!(local_targets(text), ["docs/a.md"]);
/// ```
pub fn local_targets(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let prose = text.lines().filter(|line| {
        in_code ^= line.trim_start().starts_with("```");
        !in_code
    });
    let targets = prose.flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split([')', '#', ' ']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
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
