//! Names for what has moved.

use std::collections::HashMap;

use super::lines::{Kind, LINE};
use super::tally::{Place, Tally};
use super::traced::Files;

/// What a transfer is.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Source {
    /// What lies there.
    pub place: String,
    /// What for.
    pub kind: Kind,
    /// The function that wants the line.
    pub function: String,
    /// The function that wrote it last.
    pub written_by: String,
}

/// The names of a program.
pub struct Names<'a>(pub &'a Files);

/// Blocks from this size on are arrays, or memory that something else is made of: their lines are
/// counted together.
const LARGE: u64 = 4 * 1024;

impl Names<'_> {
    /// What the transfers of a run are, and how many of each.
    pub fn sources(&self, tally: &Tally) -> HashMap<Source, u64> {
        let mut sources = HashMap::new();
        for (moved, count) in &tally.moved {
            let source = Source {
                place: self.place(moved.place),
                kind: moved.kind,
                function: self.function(moved.code),
                written_by: moved.written_by.map_or_else(String::new, |code| self.function(code)),
            };
            *sources.entry(source).or_default() += count;
        }
        sources
    }

    fn function(&self, address: u64) -> String {
        short(&self.0.function(address))
    }

    /// A static by its name, a block by who has allocated it, and which of its lines.
    fn place(&self, place: Place) -> String {
        match place {
            Place::Heap { allocated_by, size, .. } if size >= LARGE => {
                format!("{size} bytes of {}", self.function(allocated_by))
            }
            Place::Heap { allocated_by, size, offset } => {
                let line = offset / LINE;
                format!("{size} bytes of {}, line {line}", self.function(allocated_by))
            }
            Place::Other(address) => match self.0.data(address) {
                Some((name, offset)) => format!("{name}, line {}", offset / LINE),
                None => "a stack, or what was there before".to_owned(),
            },
        }
    }
}

/// A function's name without the arguments of generic ones.
fn short(name: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_name_loses_the_arguments_of_generic_functions() {
        assert_eq!(short("a/b.rs c"), "a/b.rs c");
        assert_eq!(short("a/b.rs c<d::E<f>, g>"), "a/b.rs c");
    }
}
