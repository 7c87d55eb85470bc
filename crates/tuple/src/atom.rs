//! Atoms: short names that are integers.

use std::fmt::{self, Debug, Display, Formatter, Write};
use std::num::NonZeroU64;
use std::str::FromStr;

/// The symbols of atoms, by their codes. Sorted, so that atoms of one length sort as their text.
const ALPHABET: &[u8; 64] = b" 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/// The bits of one symbol.
const BITS: u32 = 6;

/// A name of up to [`Atom::MAX_LEN`] characters that is compared, copied and hashed as one integer:
/// the operation in `(atom!("add"), 1, 2)`.
///
/// The characters are those of libcppa (crate documentation): digits, letters of the English
/// alphabet, the underscore and the blank. The mapping to integers is computed at compile time by
/// [`atom!`](crate::atom!), has no collisions, and can be inverted: each character takes six bits
/// below a leading one, which tells the length.
///
/// ```
/// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
/// use coact::dynamic::{Atom, atom};
///
/// const ADD: Atom = atom!("add");
/// assert_eq!(ADD, "add".parse().unwrap());
/// assert_eq!(ADD.to_string(), "add");
/// assert_eq!(format!("{ADD:?}"), "'add'");
/// assert_ne!(atom!("a"), atom!("a "));
/// assert_eq!(size_of::<Option<Atom>>(), 8);
/// ```
///
/// What is no atom does not compile:
///
/// ```compile_fail
/// coact_tuple::atom!("what?");
/// ```
/// ```compile_fail
/// coact_tuple::atom!("much too long");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(NonZeroU64);

/// An [`Atom`] as a constant: `atom!("add")`. A text that is no atom is an error of the compiler.
#[macro_export]
macro_rules! atom {
    ($text:expr) => {
        const { $crate::Atom::new($text) }
    };
}

impl Atom {
    /// The most characters that an atom has.
    pub const MAX_LEN: usize = 10;

    /// The atom without characters.
    pub const EMPTY: Self = Self(NonZeroU64::MIN);

    /// The atom with this text. In constants; [`atom!`](crate::atom!) makes one anywhere. For texts
    /// that are known at run time there is [`str::parse`].
    ///
    /// # Panics
    /// If the text is no atom: while the program is compiled, in a constant.
    #[must_use]
    pub const fn new(text: &str) -> Self {
        match Self::try_new(text) {
            Ok(atom) => atom,
            Err(AtomError::TooLong { .. }) => panic!("an atom has at most ten characters"),
            Err(AtomError::BadCharacter { .. }) => {
                panic!("an atom has digits, letters from `A` to `z`, `_` and blanks only")
            }
        }
    }

    const fn try_new(text: &str) -> Result<Self, AtomError> {
        let bytes = text.as_bytes();
        let (mut value, mut at) = (Self::EMPTY, 0);
        while at < bytes.len() {
            if at == Self::MAX_LEN {
                return Err(AtomError::TooLong { len: bytes.len() });
            }
            let Some(code) = code_of(bytes[at]) else {
                return Err(AtomError::BadCharacter { at });
            };
            let shifted = (value.0.get() << BITS) | code;
            match NonZeroU64::new(shifted) {
                Some(shifted) => value = Self(shifted),
                None => unreachable!(),
            }
            at += 1;
        }
        Ok(value)
    }

    /// The integer that the atom is.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// The atom that is this integer, if one is.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        // The leading one is above a whole number of symbols, of which there are not too many.
        let is_one = bits != 0
            && bits.ilog2().is_multiple_of(BITS)
            && bits.ilog2() / BITS <= Self::MAX_LEN as u32;
        match NonZeroU64::new(bits) {
            Some(bits) if is_one => Some(Self(bits)),
            _ => None,
        }
    }

    /// How many characters it has.
    #[must_use]
    pub const fn len(self) -> usize {
        (self.0.ilog2() / BITS) as usize
    }

    /// Whether it has no characters.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.get() == 1
    }

    /// Its characters.
    fn chars(self) -> impl Iterator<Item = char> {
        let last = (1_u64 << BITS) - 1;
        (0..self.len() as u32)
            .rev()
            .map(move |at| ALPHABET[(self.0.get() >> (at * BITS) & last) as usize] as char)
    }
}

/// The code of a symbol.
const fn code_of(symbol: u8) -> Option<u64> {
    let mut code = 0;
    while code < ALPHABET.len() {
        if ALPHABET[code] == symbol {
            return Some(code as u64);
        }
        code += 1;
    }
    None
}

/// Why a text is no atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtomError {
    /// It has more than [`Atom::MAX_LEN`] characters.
    #[non_exhaustive]
    TooLong {
        /// The length of the text in bytes.
        len: usize,
    },
    /// It has a character that atoms cannot have.
    #[non_exhaustive]
    BadCharacter {
        /// The place of the character in the text, in bytes.
        at: usize,
    },
}

impl Display for AtomError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len } => {
                write!(f, "an atom has at most {} characters, not {len}", Atom::MAX_LEN)
            }
            Self::BadCharacter { at } => {
                write!(
                    f,
                    "an atom has digits, letters from `A` to `z`, `_` and blanks only: see byte {at}"
                )
            }
        }
    }
}

impl std::error::Error for AtomError {}

impl FromStr for Atom {
    type Err = AtomError;

    fn from_str(text: &str) -> Result<Self, AtomError> {
        Self::try_new(text)
    }
}

impl Display for Atom {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // With what the format says of width and alignment.
        f.pad(&self.chars().collect::<String>())
    }
}

impl Debug for Atom {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        self.chars().try_for_each(|symbol| f.write_char(symbol))?;
        f.write_char('\'')
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_symbol_has_a_code_and_codes_sort_as_symbols() {
        assert!(ALPHABET.is_sorted());
        assert_eq!(ALPHABET.iter().collect::<HashSet<_>>().len(), 64);
        for (code, &symbol) in ALPHABET.iter().enumerate() {
            assert_eq!(code_of(symbol), Some(code as u64));
        }
    }

    #[test]
    fn short_atoms_do_not_collide() {
        let symbols = || ALPHABET.iter().map(|&symbol| symbol as char);
        let one = symbols().map(String::from);
        let two = symbols().flat_map(|a| symbols().map(move |b| format!("{a}{b}")));
        let texts: Vec<String> = [String::new()].into_iter().chain(one).chain(two).collect();
        let atoms: HashSet<Atom> = texts.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(atoms.len(), 1 + 64 + 64 * 64);
    }

    #[test]
    fn what_is_no_atom_is_refused() {
        assert_eq!("01234567890".parse::<Atom>(), Err(AtomError::TooLong { len: 11 }));
        assert_eq!("ab-c".parse::<Atom>(), Err(AtomError::BadCharacter { at: 2 }));
        assert_eq!("größe".parse::<Atom>(), Err(AtomError::BadCharacter { at: 2 }));
        // Ten zeros and the leading one of an eleventh symbol.
        assert_eq!([0, 2, 63, 1 << 61, 1 << 63].map(Atom::from_bits), [None; 5]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn atoms_can_be_read_back(text in "[ 0-9A-Za-z_]{0,10}") {
            let atom: Atom = text.parse().unwrap();
            prop_assert_eq!(atom.to_string(), &*text);
            prop_assert_eq!(atom.len(), text.len());
            prop_assert_eq!(atom.is_empty(), text.is_empty());
            prop_assert_eq!(Atom::from_bits(atom.to_bits()), Some(atom));
        }

        #[test]
        fn atoms_of_one_length_sort_as_their_texts(
            a in "[ 0-9A-Za-z_]{10}", b in "[ 0-9A-Za-z_]{10}", len in 0_usize..=10
        ) {
            let atoms = [&a, &b].map(|text| text[..len].parse::<Atom>().unwrap());
            prop_assert_eq!(atoms[0].cmp(&atoms[1]), a[..len].cmp(&b[..len]));
        }

        #[test]
        fn integers_that_are_no_atoms_are_refused(bits: u64) {
            if let Some(atom) = Atom::from_bits(bits) {
                prop_assert_eq!(atom.to_string().parse(), Ok(atom));
            }
        }
    }
}
