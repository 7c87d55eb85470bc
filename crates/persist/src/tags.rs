//! The tags of events, by which they are found across entities.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::sync::Arc;

/// The tags of an event: texts such as `region:eu`, by which [logs](crate::LogQuery::Tag) of events
/// are read, whatever entities they are of.
///
/// They are a set: each is in it once, and they are ordered by their bytes. A tag is any text of 1
/// to 1,024 bytes, and an event has 64 of them at most. Without tags nothing is allocated, and
/// clones share them.
///
/// ```
/// use coact_persist::Tags;
///
/// let tags = Tags::new(["region:eu", "vip", "region:eu"]);
/// assert_eq!(tags.iter().map(|tag| &**tag).collect::<Vec<_>>(), ["region:eu", "vip"]);
/// assert!(tags.contains("vip") && Tags::NONE.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Tags(Option<Arc<[Arc<str>]>>);

impl Tags {
    /// No tags.
    pub const NONE: Self = Self(None);

    /// How many bytes a tag has at most.
    pub const LONGEST: usize = 1_024;

    /// How many an event has at most.
    pub const MOST: usize = 64;

    /// These tags.
    ///
    /// # Panics
    /// If one is empty, or longer than [`LONGEST`](Self::LONGEST), or there are more than
    /// [`MOST`](Self::MOST).
    #[must_use]
    #[track_caller]
    pub fn new(tags: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        let tags = Self::from_stored(tags.into_iter().map(Into::into).collect());
        for tag in tags.iter() {
            assert!(!tag.is_empty(), "a tag is empty");
            let (len, most) = (tag.len(), Self::LONGEST);
            assert!(len <= most, "a tag of {len} bytes, and it has {most} at most: `{tag:.32}..`");
        }
        assert!(
            tags.len() <= Self::MOST,
            "{} tags of one event: {} at most",
            tags.len(),
            Self::MOST
        );
        tags
    }

    /// Some that were stored, in any order.
    #[must_use]
    pub fn from_stored(mut tags: Vec<Arc<str>>) -> Self {
        if tags.is_empty() {
            return Self::NONE;
        }
        tags.sort_unstable();
        tags.dedup();
        Self(Some(tags.into()))
    }

    /// Whether this is one of them.
    #[must_use]
    pub fn contains(&self, tag: &str) -> bool {
        self.binary_search_by(|one| (**one).cmp(tag)).is_ok()
    }
}

impl Deref for Tags {
    type Target = [Arc<str>];

    fn deref(&self) -> &[Arc<str>] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Debug for Tags {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_and_the_most_are_taken() {
        let longest = Tags::new(["x".repeat(Tags::LONGEST)]);
        assert_eq!(longest[0].len(), 1_024);
        assert_eq!(Tags::new((0..64).map(|n| n.to_string())).len(), 64);
        assert_eq!(Tags::new([""; 0]), Tags::NONE);
        // The same one 65 times is one.
        assert_eq!(Tags::new(["a"; 65]).len(), 1);
    }

    #[test]
    #[should_panic(expected = "a tag is empty")]
    fn an_empty_one_is_refused() {
        let _ = Tags::new(["a", ""]);
    }

    #[test]
    #[should_panic(expected = "a tag of 1025 bytes, and it has 1024 at most")]
    fn a_longer_one_is_refused() {
        let _ = Tags::new(["x".repeat(1_025)]);
    }

    #[test]
    #[should_panic(expected = "65 tags of one event: 64 at most")]
    fn more_are_refused() {
        let _ = Tags::new((0..65).map(|n| n.to_string()));
    }
}
