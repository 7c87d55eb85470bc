//! Where transfers come from, for people.

use std::collections::HashMap;
use std::fmt::Write;

use super::count::Sources;
use super::lines::Kind;
use super::names::Source;

/// Functions that are named of each place.
const FUNCTIONS: usize = 5;

/// What would be printed as nothing is left out.
const LEAST: f64 = 0.0005;

/// The places in memory that move most, this many, and of each who wants it, and who wrote it
/// before.
pub fn detail(sources: &Sources, places: usize) -> String {
    let mut by_place: HashMap<&str, Vec<(&Source, f64)>> = HashMap::new();
    for (source, transfers) in sources {
        by_place.entry(&source.place).or_default().push((source, *transfers));
    }
    let sum = |some: &[(&Source, f64)]| some.iter().map(|(_, transfers)| transfers).sum::<f64>();
    let mut by_place: Vec<_> =
        by_place.into_iter().map(|(place, some)| (place, sum(&some), some)).collect();
    by_place.retain(|(_, transfers, _)| *transfers >= LEAST);
    by_place
        .sort_by(|(name, some, _), (other, more, _)| more.total_cmp(some).then(name.cmp(other)));
    let mut text = String::new();
    for (place, transfers, mut some) in by_place.into_iter().take(places) {
        _ = writeln!(text, "    {transfers:>7.3}  {place}");
        some.retain(|(_, transfers)| *transfers >= LEAST);
        some.sort_by(|(_, few), (_, many)| many.total_cmp(few));
        for (source, transfers) in some.into_iter().take(FUNCTIONS) {
            _ = writeln!(text, "           {transfers:>7.3}  {}", words(source));
        }
    }
    text
}

fn words(source: &Source) -> String {
    let verb = match source.kind {
        Kind::Read => "read",
        Kind::Write => "written",
    };
    let after = if source.written_by.is_empty() {
        String::new()
    } else {
        format!(", written before in {}", source.written_by)
    };
    format!("{verb} in {}{after}", source.function)
}

#[cfg(test)]
mod tests {
    use super::detail;
    use crate::coherence::lines::Kind::{self, Read, Write};
    use crate::coherence::names::Source;

    fn source(place: &str, kind: Kind, function: &str, written_by: &str) -> Source {
        Source {
            place: place.to_owned(),
            kind,
            function: function.to_owned(),
            written_by: written_by.to_owned(),
        }
    }

    #[test]
    fn the_places_that_move_most_come_first_and_so_do_their_users() {
        let sources = [
            (source("a word", Write, "f", "g"), 0.5),
            (source("a queue", Read, "f", ""), 0.25),
            (source("a queue", Write, "h", "f"), 0.75),
            (source("a thing", Read, "f", "g"), 0.125),
        ];
        let expected = "      1.000  a queue
             0.750  written in h, written before in f
             0.250  read in f
      0.500  a word
             0.500  written in f, written before in g
";
        assert_eq!(detail(&sources.into(), 2), expected);
    }
}
