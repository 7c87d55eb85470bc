//! Messages that are to be delivered, as durable actors store them: with their receiver, and why
//! they could not be.

use coact_persist::minicbor::Decoder;
use coact_persist::minicbor::decode::Error;
use coact_persist::{Event, Note, NoteKind};

use crate::quoted_name::quote_bytes;

/// The name under which they are stored.
const NAME: &str = "coact.message";

/// A message, out of its wrapping.
pub struct StoredMessage {
    pub name: String,
    pub version: u32,
    pub payload: Vec<u8>,
    /// The kind and the key of its receiver.
    pub to: Option<(String, String)>,
    pub why: Option<String>,
}

impl StoredMessage {
    /// `None` if it is none, or one of a later version.
    pub fn of(value: &Event) -> Option<Self> {
        if *value.name != *NAME || value.version != 1 {
            return None;
        }
        read(&value.payload).ok()
    }
}

/// Fields that are missing at the end are none.
fn read(bytes: &[u8]) -> Result<StoredMessage, Error> {
    let mut fields = Decoder::new(bytes);
    let len = fields.array()?.ok_or_else(|| Error::message("an array without a length"))?;
    let (name, version, payload) =
        (fields.str()?.to_owned(), fields.u32()?, fields.bytes()?.to_vec());
    let to = if len > 3 { fields.decode()? } else { None };
    let _period: Option<u64> = if len > 4 { fields.decode()? } else { None };
    let why = if len > 5 { fields.decode()? } else { None };
    Ok(StoredMessage { name, version, payload, to, why })
}

/// The key of a note for people: of a message `EPOCH.NUMBER`, of any other note its text.
///
/// It depends on the kind alone, and not on the content, so that a damaged message keeps its name.
pub fn note_key(note: &Note) -> String {
    let bytes = note.key.as_bytes();
    let is_message = matches!(note.kind, NoteKind::Outgoing | NoteKind::DeadLetter);
    let number = is_message.then(|| message_number(bytes)).flatten();
    number.unwrap_or_else(|| quote_bytes(bytes))
}

/// What a note is called in front of its key.
pub fn note_noun(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Outgoing => "outgoing message",
        NoteKind::DeadLetter => "dead letter",
        NoteKind::ClientAnswer => "answer",
        NoteKind::Timer => "timer",
        _ => "note",
    }
}

/// The epoch of the owner that sent a message, and the message's number in that epoch.
fn message_number(key: &[u8]) -> Option<String> {
    let (epoch, number) = key.split_first_chunk::<8>()?;
    let number = <[u8; 8]>::try_from(number).ok()?;
    // Small numbers begin with a zero byte; 16 letters do not.
    let is_small = epoch[0] == 0 && number[0] == 0;
    is_small.then(|| format!("{}.{}", u64::from_be_bytes(*epoch), u64::from_be_bytes(number)))
}

#[cfg(test)]
mod tests {
    use coact_persist::minicbor::Encoder;

    use super::*;

    fn wrapped(fields: impl FnOnce(&mut Encoder<Vec<u8>>)) -> Option<StoredMessage> {
        let mut encoder = Encoder::new(Vec::new());
        fields(&mut encoder);
        StoredMessage::of(&Event::new(NAME, 1, encoder.into_writer()))
    }

    #[test]
    fn a_message_is_unwrapped() {
        let message = wrapped(|all| {
            all.array(6).unwrap().str("letter").unwrap().u32(2).unwrap().bytes(b"hello").unwrap();
            all.array(2).unwrap().str("party").unwrap().str("b").unwrap();
            all.null().unwrap().str("no one is there").unwrap();
        });
        let message = message.expect("it is one");
        assert_eq!(
            (&*message.name, message.version, &*message.payload),
            ("letter", 2, &b"hello"[..])
        );
        assert_eq!(message.to, Some(("party".into(), "b".into())));
        assert_eq!(message.why.as_deref(), Some("no one is there"));
        let short = wrapped(|all| {
            all.array(3).unwrap().str("mail").unwrap().u32(1).unwrap().bytes(b"").unwrap();
        });
        assert!(short.is_some_and(|mail| mail.to.is_none() && mail.why.is_none()));
        let no_message = wrapped(|all| {
            all.str("something else").unwrap();
        });
        assert!(no_message.is_none());
    }
}
