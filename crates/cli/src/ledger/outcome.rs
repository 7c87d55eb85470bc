//! What became of one line, and its encoding in one machine word.

use super::account::{Reason, Rejection};
use super::cents::Cents;
use super::fault::Fault;
use super::register::{AccountId, Register};

/// The decision on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Carried out.
    Accepted,
    /// An audit that was carried out, with the total it found.
    Audited(Cents),
    /// Decided against; nothing changed.
    Rejected(Rejection),
    /// Not an operation; nothing changed.
    Malformed(Fault),
}

/// The word of a line that has no decision yet. No outcome encodes to it.
pub const PENDING: u64 = 0;

const PAYLOAD_BITS: u32 = 60;
const PAYLOAD: u64 = (1 << PAYLOAD_BITS) - 1;
const ACCEPTED: u64 = 1;
const AUDITED: u64 = 2;
const REJECTED: u64 = 3;
const MALFORMED: u64 = 4;

impl Outcome {
    /// The outcome as a word: the kind in the top four bits, the payload below. A whole decision
    /// fits into one atomic, so that a behaviour publishes it with a single store.
    pub fn encode(self) -> u64 {
        let (kind, payload) = match self {
            Self::Accepted => (ACCEPTED, 0),
            Self::Audited(total) => (AUDITED, total.get()),
            Self::Rejected(Rejection { reason, account }) => {
                (REJECTED, (reason as u64) << 32 | u64::from(account.get()))
            }
            Self::Malformed(fault) => (MALFORMED, fault as u64),
        };
        kind << PAYLOAD_BITS | payload
    }

    /// The outcome behind a word, or `None` for [`PENDING`] and for words that mean nothing.
    pub fn decode(word: u64) -> Option<Self> {
        let payload = word & PAYLOAD;
        match word >> PAYLOAD_BITS {
            ACCEPTED => Some(Self::Accepted),
            AUDITED => Cents::new(payload).map(Self::Audited),
            REJECTED => Some(Self::Rejected(Rejection {
                reason: *Reason::ALL.get((payload >> 32) as usize)?,
                account: AccountId::new(payload as u32),
            })),
            MALFORMED => Fault::ALL.get(payload as usize).copied().map(Self::Malformed),
            _ => None,
        }
    }

    /// The outcome in words, with the name of the account that decided it.
    pub fn describe(self, register: &Register) -> String {
        match self {
            Self::Accepted => "accepted".into(),
            Self::Audited(total) => format!("accepted, total {total}"),
            Self::Rejected(Rejection { reason, account }) => {
                format!("rejected, {reason}: {}", register.name(account))
            }
            Self::Malformed(fault) => format!("malformed, {fault}"),
        }
    }
}

impl From<Result<(), Rejection>> for Outcome {
    fn from(decision: Result<(), Rejection>) -> Self {
        match decision {
            Ok(()) => Self::Accepted,
            Err(rejection) => Self::Rejected(rejection),
        }
    }
}

impl From<Result<Cents, Rejection>> for Outcome {
    fn from(decision: Result<Cents, Rejection>) -> Self {
        match decision {
            Ok(total) => Self::Audited(total),
            Err(rejection) => Self::Rejected(rejection),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_survives_its_encoding() {
        let mut outcomes =
            vec![Outcome::Accepted, Outcome::Audited(Cents::ZERO), Outcome::Audited(Cents::MAX)];
        outcomes.extend(Fault::ALL.map(Outcome::Malformed));
        for account in [0, u32::MAX].map(AccountId::new) {
            outcomes
                .extend(Reason::ALL.map(|reason| Outcome::Rejected(Rejection { reason, account })));
        }
        for outcome in outcomes {
            assert_ne!(outcome.encode(), PENDING);
            assert_eq!(Outcome::decode(outcome.encode()), Some(outcome));
        }
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for word in [PENDING, u64::MAX, MALFORMED << 60 | 99, REJECTED << 60 | 99 << 32] {
            assert_eq!(Outcome::decode(word), None);
        }
    }
}
