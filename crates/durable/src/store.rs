//! What stores are made of, and asked for: for those who write one, test with one, or read what is
//! stored.
//!
//! A program that only has durable actors needs the trait [`Store`], which it gives to a
//! [`Journal`](crate::Journal), and little else of this.
//!
//! ```
//! # use coact::durable::stored;
//! use coact::durable::store::{read, write};
//!
//! #[stored(name = "deposited")]
//! #[derive(PartialEq, Debug)]
//! struct Deposited(#[n(0)] u64);
//!
//! // What a store has of a value, and the value again.
//! let event = write(&Deposited(5))?;
//! assert_eq!((&*event.name, event.version), ("deposited", 1));
//! assert_eq!(read::<Deposited>(&event)?, Deposited(5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use coact_persist::*;
