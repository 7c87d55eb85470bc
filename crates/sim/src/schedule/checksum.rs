//! CRC-32, the checksum of printed schedules.
//!
//! A CRC rather than a hash: one wrong digit, or two neighbours swapped, changes bits of at most
//! three bytes in a row, and a 32-bit CRC notices every change within four bytes, not just nearly
//! every. That holds across the seam between content and checksum only if the checksum is written
//! low byte first.

/// The CRC-32 of `bytes` as in zlib and Ethernet (reflected polynomial 0xEDB88320).
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            let subtract = if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            crc >> 1 ^ subtract
        })
    })
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn matches_the_check_value_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
