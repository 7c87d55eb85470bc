//! Types whose values are stored: with a name and a version, by which they are read again.

use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Display, Formatter};

use minicbor::{Decode, Decoder, Encode};

use crate::record::Event;

/// A type whose values are stored, as [CBOR](https://www.rfc-editor.org/rfc/rfc8949) with numbered
/// fields.
///
/// The encoding is that of [`minicbor`]: fields and variants have numbers and no names, so these
/// may change; fields that a reader does not know are skipped, and optional ones that are missing
/// are `None`. For such changes the version stays as it is. For others it grows, and
/// [`read_earlier`](Self::read_earlier) makes new values of old ones.
///
/// ```
/// use coact_persist::{Format, FormatError, minicbor, read, write};
/// use minicbor::{Decode, Encode};
///
/// /// Cents, since version 2.
/// #[derive(Encode, Decode, Debug, PartialEq)]
/// struct Deposited {
///     #[n(0)] cents: u64,
/// }
///
/// /// Version 1: whole euros.
/// #[derive(Encode, Decode)]
/// struct DepositedEuros {
///     #[n(0)] euros: u64,
/// }
///
/// impl Format for DepositedEuros {
///     const NAME: &'static str = "bank.deposited";
///     const VERSION: u32 = 1;
/// }
///
/// impl Format for Deposited {
///     const NAME: &'static str = "bank.deposited";
///     const VERSION: u32 = 2;
///
///     fn read_earlier(version: u32, bytes: &[u8]) -> Result<Self, FormatError> {
///         let DepositedEuros { euros } = DepositedEuros::read_version(version, bytes)?;
///         Ok(Deposited { cents: 100 * euros })
///     }
/// }
///
/// let old = write(&DepositedEuros { euros: 7 })?;
/// assert_eq!(read::<Deposited>(&old)?, Deposited { cents: 700 });
/// # Ok::<(), FormatError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no format in which it is stored",
    label = "this is to be stored",
    note = "write `#[stored(name = \"..\")]` above its definition"
)]
pub trait Format: Encode<()> + for<'b> Decode<'b, ()> + Send + 'static {
    /// The stable name of the type, the same in all versions.
    const NAME: &'static str;

    /// The version of the format that this type writes.
    const VERSION: u32;

    /// Makes a value of one that an earlier version has written: mostly by
    /// [reading](Self::read_version) it as the type that was, which reads those before it in turn.
    ///
    /// # Errors
    /// Unless it is implemented, there is no earlier version that can be read.
    fn read_earlier(version: u32, bytes: &[u8]) -> Result<Self, FormatError> {
        let _ = bytes;
        Err(FormatError::TooOld { name: Self::NAME, version, oldest: Self::VERSION })
    }

    /// Reads a value of this version, or of an earlier one.
    ///
    /// # Errors
    /// A later program has written it, or one whose version cannot be read any more; or it is
    /// damaged.
    fn read_version(version: u32, bytes: &[u8]) -> Result<Self, FormatError> {
        if version > Self::VERSION {
            return Err(FormatError::Newer { name: Self::NAME, version, known: Self::VERSION });
        }
        if version < Self::VERSION {
            return Self::read_earlier(version, bytes).map_err(version_gap_error::<Self>);
        }
        let damaged = |why: String| FormatError::Damaged { name: Self::NAME, version, why };
        let mut decoder = Decoder::new(bytes);
        let value = decoder.decode().map_err(|error| damaged(error.to_string()))?;
        match bytes.len() - decoder.position() {
            0 => Ok(value),
            more => Err(damaged(format!("{more} bytes are left behind it"))),
        }
    }
}

/// What is too new for the type of an earlier version, and too old for this one, is of a version
/// between the two.
fn version_gap_error<T: Format>(error: FormatError) -> FormatError {
    match error {
        FormatError::Newer { name, version, known } if name == T::NAME && version < T::VERSION => {
            FormatError::Skipped { name, version, earlier: known, later: T::VERSION }
        }
        error => error,
    }
}

/// Checks that values of one type may be those of an earlier version of another one. For what
/// `#[stored(earlier = ..)]` generates.
///
/// # Panics
/// They have other names, or the version is not an earlier one.
#[doc(hidden)]
#[track_caller]
pub const fn assert_earlier<Earlier: Format, T: Format>() {
    let (own, other) = (T::NAME.as_bytes(), Earlier::NAME.as_bytes());
    let mut is_same = own.len() == other.len();
    let mut at = 0;
    while is_same && at < own.len() {
        is_same = own[at] == other[at];
        at += 1;
    }
    assert!(
        is_same,
        "the type of an earlier version has the same `name`, by which its values are found"
    );
    assert!(Earlier::VERSION < T::VERSION, "the `version` of an `earlier` type is a lower one");
}

/// Encodes a value.
///
/// # Errors
/// One of its parts refuses.
pub fn write<T: Format>(value: &T) -> Result<Event, FormatError> {
    // (One that encodes another value meanwhile has an empty buffer.)
    let mut bytes = BUFFER.take();
    let event = match minicbor::encode(value, &mut bytes) {
        Ok(()) => Ok(Event::new(T::NAME, T::VERSION, &*bytes)),
        Err(error) => Err(FormatError::Unwritable { name: T::NAME, why: error.to_string() }),
    };
    if bytes.capacity() <= BUFFERED {
        bytes.clear();
        BUFFER.set(bytes);
    }
    event
}

thread_local! {
    /// What values are encoded into, so that it need not grow for each of them.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The most bytes that are kept for the next value.
const BUFFERED: usize = 1 << 14;

/// Reads a value again.
///
/// # Errors
/// It is of another type, cannot be read, or is damaged.
pub fn read<T: Format>(event: &Event) -> Result<T, FormatError> {
    if *event.name != *T::NAME {
        let found = event.name.to_string();
        return Err(FormatError::OtherType { name: T::NAME, found });
    }
    T::read_version(event.version, &event.payload)
}

/// Why a value cannot be written, or read again.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FormatError {
    /// It is of another type.
    OtherType {
        /// The type that is wanted.
        name: &'static str,
        /// Its own.
        found: String,
    },
    /// A later version has written it.
    Newer {
        /// Its type.
        name: &'static str,
        /// Its version.
        version: u32,
        /// The latest that this program knows.
        known: u32,
    },
    /// A version has written it that this program does not know, although it knows one before and
    /// one after.
    Skipped {
        /// Its type.
        name: &'static str,
        /// Its version.
        version: u32,
        /// The latest one before that this program knows.
        earlier: u32,
        /// The first one after that this program knows.
        later: u32,
    },
    /// A version has written it that is not read any more.
    TooOld {
        /// Its type.
        name: &'static str,
        /// Its version.
        version: u32,
        /// The oldest that this program reads.
        oldest: u32,
    },
    /// It is not what that version writes.
    Damaged {
        /// Its type.
        name: &'static str,
        /// Its version.
        version: u32,
        /// What is wrong with it.
        why: String,
    },
    /// One of its parts refuses to be written.
    Unwritable {
        /// Its type.
        name: &'static str,
        /// Why.
        why: String,
    },
}

impl Display for FormatError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherType { name, found } => write!(
                f,
                "it is a `{found}`, and not a `{name}`: if that is its new name, give it the old one, which is stored"
            ),
            Self::Newer { name, version, known } => write!(
                f,
                "it is a `{name}` of version {version}, and this program knows up to {known}: use the program that has \
                 written it, or a later one"
            ),
            Self::Skipped { name, version, earlier, later } => write!(
                f,
                "it is a `{name}` of version {version}, and this program knows {earlier} and {later}, but none between: add \
                 the type of version {version}, as the `earlier` one of {later}"
            ),
            Self::TooOld { name, version, oldest } => write!(
                f,
                "it is a `{name}` of version {version}, and this program reads those from {oldest} on: add the type of \
                 version {version}, as the `earlier` one of {oldest}"
            ),
            Self::Damaged { name, version, why } => write!(
                f,
                "it is no `{name}` of version {version}: {why}. If the type has changed, give it a new version, with the \
                 type before as its `earlier` one"
            ),
            Self::Unwritable { name, why } => write!(f, "this `{name}` cannot be written: {why}"),
        }
    }
}

impl Error for FormatError {}
