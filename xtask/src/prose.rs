//! Rules for comments and pages.

/// How wide a line with a comment may be.
const WIDTH: usize = 100;

/// Phrases that plain English has better words for.
pub const PHRASES: [&str; 11] = [
    "takes note",
    "what has come of",
    "on its way",
    "what is to be done",
    "that which",
    "by which",
    "such as are",
    "whoever",
    "nobody",
    "somebody",
    "so many",
];

/// The lines (from 1) that are comments wider than 100 columns. Rows of tables and addresses cannot
/// be broken.
///
/// ```
/// use coact_xtask::prose::wide_comments;
///
/// let wide = format!("    // {}", "word ".repeat(20));
/// assert_eq!(wide_comments(&format!("// narrow\n{wide}")), [2]);
/// assert!(wide_comments(&format!("/// | {}|", "cell ".repeat(20))).is_empty());
/// assert!(wide_comments(&format!("let x = \"{}\";", "word ".repeat(20))).is_empty());
/// ```
pub fn wide_comments(text: &str) -> Vec<usize> {
    let is_wide = |line: &str| {
        let words = line.trim_start().trim_start_matches(['/', '!']).trim_start();
        let is_whole = words.starts_with('|') || words.contains("://");
        line.trim_start().starts_with("//") && line.chars().count() > WIDTH && !is_whole
    };
    let lines = text.lines().enumerate().filter(|(_, line)| is_wide(line));
    lines.map(|(index, _)| index + 1).collect()
}

/// The phrases that a text has, each with its line (from 1); also where lines break them.
///
/// ```
/// use coact_xtask::prose::phrases;
///
/// let text = "/// The way by\n/// which it goes.\nf(\"Nobody waits\");\n// Anybody.";
/// assert_eq!(phrases(text), [(1, "by which"), (3, "nobody")]);
/// ```
pub fn phrases(text: &str) -> Vec<(usize, &'static str)> {
    let mut joined = String::with_capacity(text.len());
    // Where each line begins in it.
    let mut starts = Vec::new();
    for line in text.lines() {
        starts.push(joined.len());
        let words = line.trim_start_matches([' ', '/', '!', '>', '*']);
        joined.push_str(&words.trim_end().to_ascii_lowercase());
        joined.push(' ');
    }
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut found = Vec::new();
    for phrase in PHRASES {
        for (at, _) in joined.match_indices(phrase) {
            let (before, behind) = (&joined[..at], &joined[at + phrase.len()..]);
            if !is_word(before.chars().next_back()) && !is_word(behind.chars().next()) {
                found.push((starts.partition_point(|start| *start <= at), phrase));
            }
        }
    }
    found.sort_unstable();
    found
}
