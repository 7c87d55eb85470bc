//! Quotes kinds and keys, which may be any text, for one line of output, and reads them back.

use std::borrow::Cow;

/// A name as it is shown: as it is, or in double quotes with Rust's escapes.
pub fn quote_name(name: &str) -> Cow<'_, str> {
    let quoted = format!("{name:?}");
    let is_plain = !name.is_empty()
        && quoted.len() == name.len() + 2
        && !name.contains(|c: char| c.is_whitespace() || c == '\'' || c == '…');
    if is_plain { Cow::Borrowed(name) } else { Cow::Owned(quoted) }
}

/// The key of a note as it is shown.
pub fn quote_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => quote_name(text).into_owned(),
        Err(_) => format!("h'{}'", hex(bytes)),
    }
}

/// Two digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}

/// A name that was given: as it is, or in the quotes in which it is shown.
pub fn unquote_name(given: &str) -> Result<String, String> {
    let inner = given.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.map_or_else(|| Ok(given.to_owned()), unescaped)
}

fn unescaped(inner: &str) -> Result<String, String> {
    let (mut name, mut rest) = (String::new(), inner.chars());
    while let Some(c) = rest.next() {
        match c {
            '"' => return Err("a quote in the name is written \\\"".into()),
            '\\' => name.push(escaped(&mut rest)?),
            _ => name.push(c),
        }
    }
    Ok(name)
}

fn escaped(rest: &mut std::str::Chars<'_>) -> Result<char, String> {
    match rest.next() {
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some('t') => Ok('\t'),
        Some('0') => Ok('\0'),
        Some(c @ ('"' | '\'' | '\\')) => Ok(c),
        Some('u') => {
            let text = rest.as_str();
            let digits = text.strip_prefix('{').and_then(|text| text.split_once('}'));
            let (digits, behind) = digits.ok_or("\\u needs a number in braces: \\u{7f}")?;
            *rest = behind.chars();
            let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            code.ok_or_else(|| format!("\\u{{{digits}}} is no character"))
        }
        Some(c) => Err(format!("\\{c} is no escape; a backslash in quotes is written \\\\")),
        None => Err("a backslash in quotes is written \\\\".into()),
    }
}

/// How many characters have to be added, removed or replaced to make the one of the other; `None`
/// if more than `most`.
pub fn edit_distance(one: &str, other: &str, most: usize) -> Option<usize> {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
        if row.iter().all(|cost| *cost > most) {
            return None;
        }
    }
    row.last().copied().filter(|cost| *cost <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_line_and_is_taken_again() {
        let names = [
            "",
            "alice",
            "a b",
            "a\nb",
            "\0",
            "a/b",
            "🦀",
            "\"",
            "\"x\"",
            "\\",
            "'",
            "\u{202e}evil",
            "\u{200b}",
            "\u{1b}[31m",
            "e\u{301}",
            "-x",
            "h'00'",
            "\u{7f}",
            "\u{a0}",
            "…",
        ];
        let mut seen = std::collections::HashSet::new();
        for text in names {
            let shown = quote_name(text);
            assert!(!shown.contains(char::is_control), "{shown}");
            assert_eq!(unquote_name(&shown).as_deref(), Ok(text), "{shown}");
            assert!(seen.insert(shown.into_owned()), "{text:?} looks like another one");
        }
        assert_eq!(quote_name("a/b🦀"), "a/b🦀");
        assert_eq!(quote_name("a b"), "\"a b\"");
    }

    #[test]
    fn what_is_in_quotes_and_no_name_is_refused() {
        for wrong in [r#""a"b""#, r#""\q""#, r#""\""#, r#""\u{110000}""#, r#""\u12""#] {
            assert!(unquote_name(wrong).is_err(), "{wrong}");
        }
        assert_eq!(unquote_name("\"").as_deref(), Ok("\""));
    }

    #[test]
    fn distances_are_counted_up_to_a_limit() {
        assert_eq!(edit_distance("alice", "alice", 0), Some(0));
        assert_eq!(edit_distance("alice", "alcie", 2), Some(2));
        assert_eq!(edit_distance("alice", "lice", 1), Some(1));
        assert_eq!(edit_distance("alice", "bob", 3), None);
        assert_eq!(edit_distance("", "ab", 2), Some(2));
    }
}
