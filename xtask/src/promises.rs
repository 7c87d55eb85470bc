//! Each promise of `docs/semantics.md` has a test that is named after it.
//!
//! The test's name begins with the promise's label:
//! `o1_behaviours_that_share_a_cown_run_in_spawn_order` is a test of O1. Programs that must not
//! compile (`tests/ui`) are tests too, and their file names are their names.

/// The labels of a page's promises, in the order of the page.
///
/// ```
/// use coact_xtask::promises::labels;
///
/// let page = "\
/// * **O1.** One sentence,
///   about **A1**.
/// * **M10.** Another.
/// * An item.
/// * **Bold.** No promise.";
/// assert_eq!(labels(page), ["O1", "M10"]);
/// ```
pub fn labels(page: &str) -> Vec<&str> {
    let items = page.lines().filter_map(|line| line.strip_prefix("* **"));
    let labels = items.filter_map(|item| item.split_once(".**")).map(|(label, _)| label);
    labels.filter(|label| is_label(label, char::is_ascii_uppercase)).collect()
}

/// The names of a Rust file's tests. One that is ignored is none: nothing runs it.
///
/// ```
/// use coact_xtask::promises::tests;
///
/// let text = "
///     #[test]
///     fn o1_holds() {}
///     fn o2_is_no_test() {}
///     #[test]
///     #[should_panic]
///     fn o3_panics() {}
///     #[test]
///     #[ignore = \"slow\"]
///     fn o4_is_not_run() {}";
/// assert_eq!(tests(text), ["o1_holds", "o3_panics"]);
/// ```
pub fn tests(text: &str) -> Vec<String> {
    let (mut names, mut is_test) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            is_test = true;
        } else if line.starts_with("#[ignore") {
            is_test = false;
        } else if let Some(signature) = line.strip_prefix("fn ") {
            names.extend(signature.split('(').next().filter(|_| is_test).map(str::to_owned));
            is_test = false;
        }
    }
    names
}

/// The promises that no test is named after, and those that occur twice.
///
/// ```
/// use coact_xtask::promises::{labels, untested};
///
/// let page = labels("* **O1.** First.\n* **O10.** Second.\n* **A1.** Third.");
/// assert!(untested(&page, &["o1_holds", "a1_holds", "o10_holds", "a1_holds_again"]).is_empty());
/// // The longer label does not stand for the shorter one, nor the other way round.
/// assert_eq!(untested(&page, &["o10_holds", "a1_holds"]), ["O1 has no test"]);
/// assert_eq!(untested(&page, &["o1_holds", "a1_holds"]), ["O10 has no test"]);
/// assert_eq!(untested(&["O1", "O1"], &["o1_holds"]), ["O1 occurs twice"]);
/// ```
pub fn untested(labels: &[&str], tests: &[impl AsRef<str>]) -> Vec<String> {
    let named: Vec<String> = tests.iter().filter_map(|test| promise(test.as_ref())).collect();
    let has_test = |label: &str| named.iter().any(|named| named == label);
    let without = labels.iter().filter(|label| !has_test(label));
    let mut wrong: Vec<_> = without.map(|label| format!("{label} has no test")).collect();
    let again = labels.iter().enumerate().filter(|(at, label)| labels[..*at].contains(label));
    wrong.extend(again.map(|(_, label)| format!("{label} occurs twice")));
    wrong
}

/// The tests that are named after a promise that the page does not have.
///
/// ```
/// use coact_xtask::promises::strays;
///
/// let tests = ["o1_holds", "o2_holds", "listing_1_runs", "of_two_one_is_first"];
/// assert_eq!(strays(&["O1"], &tests), ["o2_holds"]);
/// ```
pub fn strays(labels: &[&str], tests: &[impl AsRef<str>]) -> Vec<String> {
    let is_stray =
        |test: &&str| promise(test).is_some_and(|label| !labels.contains(&label.as_str()));
    tests.iter().map(AsRef::as_ref).filter(is_stray).map(str::to_owned).collect()
}

/// The label that a test's name begins with.
fn promise(test: &str) -> Option<String> {
    let (label, _) = test.split_once('_')?;
    is_label(label, char::is_ascii_lowercase).then(|| label.to_ascii_uppercase())
}

/// A letter, and a number.
fn is_label(text: &str, is_letter: fn(&char) -> bool) -> bool {
    let mut chars = text.chars();
    let has_letter = chars.next().is_some_and(|first| is_letter(&first));
    has_letter && !chars.as_str().is_empty() && chars.all(|digit| digit.is_ascii_digit())
}
