//! Base-32 digits: Crockford's alphabet in lower case, which leaves out i, l, o and u.
//!
//! A printed schedule is read off a terminal and pasted into a shell: every digit is a letter or a
//! figure, so a double click selects all of them, and upper case is accepted as well.

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Appends the digits of `bytes` to `text`, the high bits first.
pub(super) fn encode(bytes: &[u8], text: &mut String) {
    let (mut pending, mut bits) = (0_u32, 0);
    for &byte in bytes {
        pending = pending << 8 | u32::from(byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(digit(pending >> bits));
        }
    }
    if bits > 0 {
        text.push(digit(pending << (5 - bits)));
    }
}

fn digit(bits: u32) -> char {
    char::from(DIGITS[(bits & 31) as usize])
}

/// Why a text is not the base-32 form of any bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Base32Error {
    /// Not a digit of the alphabet.
    Character { character: char, at: usize },
    /// No number of bytes has this many digits, or the bits left over are not zero.
    Length,
}

/// Decodes digits to bytes.
pub(super) fn decode(digits: &str) -> Result<Vec<u8>, Base32Error> {
    let mut bytes = Vec::with_capacity(digits.len() * 5 / 8);
    let (mut pending, mut bits) = (0_u32, 0);
    for (at, character) in digits.char_indices() {
        let value = value(character).ok_or(Base32Error::Character { character, at })?;
        pending = pending << 5 | value;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((pending >> bits) as u8);
        }
    }
    let left_over = pending & ((1 << bits) - 1);
    // Five bits or more left over are a digit that `encode` would not have written.
    if bits >= 5 || left_over != 0 {
        return Err(Base32Error::Length);
    }
    Ok(bytes)
}

fn value(character: char) -> Option<u32> {
    let lower = u8::try_from(character).ok()?.to_ascii_lowercase();
    let value = DIGITS.iter().position(|&digit| digit == lower)?;
    Some(value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut text = String::new();
        encode(bytes, &mut text);
        text
    }

    #[test]
    fn known_digits() {
        assert_eq!(encoded(b""), "");
        assert_eq!(encoded(b"foobar"), "csqpyrk1e8");
        assert_eq!(decode("CSQPYRK1E8").unwrap(), b"foobar");
    }

    #[test]
    fn what_encode_never_writes_is_refused() {
        let bad = |character, at| Err(Base32Error::Character { character, at });
        assert_eq!(decode("00l0"), bad('l', 2));
        assert_eq!(decode("é"), bad('é', 0));
        assert_eq!(decode("0"), Err(Base32Error::Length));
        assert_eq!(decode("000"), Err(Base32Error::Length));
        assert_eq!(decode("01"), Err(Base32Error::Length));
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encoded(&bytes)), Ok(bytes));
        }

        #[test]
        fn bytes_have_one_spelling(digits in "[0-9a-hjkmnp-tv-z]{0,20}") {
            if let Ok(bytes) = decode(&digits) {
                prop_assert_eq!(encoded(&bytes), digits);
            }
        }
    }
}
