//! Which colour, dash and mark an implementation has, the same on the whole page.
//!
//! Colours are classes of the style sheet, so that they suit a light and a dark page; shapes tell
//! the lines apart where colours do not.

use super::study::{OURS, family};

/// The families that have a colour of their own; others take what is left, by their names.
const FAMILIES: [&str; 12] = [
    "tokio",
    "crossbeam",
    "mutex",
    "kameo",
    "ractor",
    "actix",
    "caf",
    "asio",
    "erlang",
    "pekko",
    "verona",
    "go",
];

/// How something is drawn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Look {
    /// Class of its colour.
    pub colour: String,
    /// Class of its dashes: the ways of one family differ in them.
    pub variant: String,
    /// Which mark stands at its points.
    pub mark: usize,
}

impl Look {
    /// Of an implementation among those of its study.
    pub fn of(implementation: &str, all: &[&str]) -> Look {
        let own = family(implementation);
        let mut ways = all.iter().filter(|name| family(name) == own);
        let variant = ways.position(|name| *name == implementation).unwrap_or_default().min(3);
        let known = FAMILIES.iter().position(|name| *name == own);
        let number = known.unwrap_or_else(|| own.bytes().map(usize::from).sum::<usize>() % 10);
        let colour = if own == OURS { "ours".to_owned() } else { format!("peer-{number}") };
        let mark = if own == OURS { 0 } else { 1 + number };
        Look { colour, variant: format!("way-{variant}"), mark }
    }

    /// Of a line that is no measurement.
    pub fn ideal() -> Look {
        Look { colour: "ideal".to_owned(), variant: "way-0".to_owned(), mark: 0 }
    }

    /// Both classes.
    pub fn classes(&self) -> String {
        format!("{} {}", self.colour, self.variant)
    }
}

#[cfg(test)]
mod tests {
    use super::Look;

    #[test]
    fn the_ways_of_a_family_share_a_colour_and_differ_in_dashes() {
        let all = ["coact", "tokio", "coact-full", "tokio-bounded"];
        let looks = all.map(|name| Look::of(name, &all).classes());
        assert_eq!(looks, ["ours way-0", "peer-0 way-0", "ours way-1", "peer-0 way-1"]);
    }
}
