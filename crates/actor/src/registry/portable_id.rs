//! Identities of actors that can leave the process.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::str::FromStr;
use std::sync::OnceLock;

use crate::id::ActorId;

/// The identity of an actor as 128 bits, unique across processes. It is formatted and parsed as a
/// UUID of version 8 (RFC 9562, section 5.8): 60 random bits drawn once per process, and the
/// actor's [`ActorId`].
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, spawn};
/// use coact::registry::{Uid, registry};
///
/// struct Bank;
/// impl Actor for Bank {}
///
/// let bank = spawn(Bank);
/// let text = bank.uid().to_string();
/// assert_eq!(registry().lookup_uid::<Bank>(text.parse::<Uid>()?).unwrap(), bank);
/// # Ok::<(), coact::registry::BadUid>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(u128);

/// The position of a UUID's version, and ours.
const VERSION: (u128, u128) = (0xf << 76, 0x8 << 76);
/// The position of a UUID's variant, and ours.
const VARIANT: (u128, u128) = (0b11 << 62, 0b10 << 62);
/// The position of the actor's own identity.
const ACTOR: u128 = (1 << 62) - 1;

/// Returns the bits that all actors of this process share.
fn process() -> u128 {
    static PROCESS: OnceLock<u128> = OnceLock::new();
    *PROCESS.get_or_init(|| {
        // The keys of the standard library's hash maps come from the system's random numbers.
        let random = u128::from(RandomState::new().hash_one(std::process::id())) << 64;
        random & !VERSION.0 | VERSION.1 | VARIANT.1
    })
}

impl Uid {
    pub(crate) fn of(actor: ActorId) -> Self {
        Self(process() | u128::from(actor.get()) & ACTOR)
    }

    /// Returns the actor, if it is one of this process.
    pub(crate) fn in_this_process(self) -> Option<ActorId> {
        let id = u64::try_from(self.0 & ACTOR).ok()?;
        (self.0 & !ACTOR == process()).then(|| ActorId::from_number(id)).flatten()
    }

    /// Returns the identity as a number.
    pub fn get(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", self.0);
        let (a, b, c, d, e) =
            (&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]);
        write!(f, "{a}-{b}-{c}-{d}-{e}")
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uid({self})")
    }
}

/// A text that is not a [`Uid`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadUid;

impl fmt::Display for BadUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the identity of an actor: a UUID of version 8 is required")
    }
}

impl std::error::Error for BadUid {}

impl FromStr for Uid {
    type Err = BadUid;

    fn from_str(text: &str) -> Result<Self, BadUid> {
        let is_dash = |at| [8, 13, 18, 23].contains(&at);
        let well_formed = text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| {
                if is_dash(at) { byte == b'-' } else { byte.is_ascii_hexdigit() }
            });
        if !well_formed {
            return Err(BadUid);
        }
        let bits = u128::from_str_radix(&text.replace('-', ""), 16).map_err(|_| BadUid)?;
        let is_ours = bits & VERSION.0 == VERSION.1 && bits & VARIANT.0 == VARIANT.1;
        is_ours.then_some(Self(bits)).ok_or(BadUid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_uuid_and_comes_back() {
        let id = ActorId::next();
        let uid = Uid::of(id);
        let text = uid.to_string();
        assert_eq!(text.len(), 36);
        assert_eq!(&text[14..15], "8", "the version");
        assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "the variant");
        assert_eq!(text.parse(), Ok(uid));
        assert_eq!(text.to_uppercase().parse(), Ok(uid));
        assert_eq!(uid.in_this_process(), Some(id));
    }

    #[test]
    fn those_of_other_processes_are_not_ours() {
        let uid = Uid::of(ActorId::next());
        assert_eq!(Uid(uid.0 ^ 1 << 127).in_this_process(), None);
        assert_eq!(Uid(process()).in_this_process(), None, "no actor has the number 0");
    }

    #[test]
    fn other_texts_are_refused() {
        let texts = [
            "",
            "bank",
            "+0000000-0000-8000-8000-000000000001",
            "00000000-0000-4000-8000-000000000001",
            "00000000-0000-8000-0000-000000000001",
            "00000000x0000-8000-8000-000000000001",
            "é000000-0000-8000-8000-000000000001",
        ];
        for text in texts {
            assert_eq!(text.parse::<Uid>(), Err(BadUid), "{text}");
        }
    }
}
