//! Which instructions are atomic read-modify-writes.
//!
//! callgrind says how often the instruction at each address was executed; what it is, the file says
//! that it was loaded from. So all count that were executed: the runtime's, the standard library's,
//! those of locks and of the workload's own clones of an `Arc`, in the very program that is
//! counted. x86-64 only.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};

/// The code of an executable or a library.
pub struct Code {
    file: Vec<u8>,
    segments: Vec<Segment>,
}

/// A part of a file that is loaded to an address.
struct Segment {
    address: Range<u64>,
    offset: u64,
}

impl Code {
    /// Whether this machine's instructions are known here.
    pub const IS_KNOWN: bool = cfg!(target_arch = "x86_64");

    /// Reads a file.
    ///
    /// # Errors
    /// It is not there, or no 64-bit little-endian ELF file.
    pub fn read(path: &Path) -> anyhow::Result<Code> {
        let shown = path.display();
        let file = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let segments = segments(&file).with_context(|| format!("{shown} is no program"))?;
        Ok(Code { file, segments })
    }

    /// Whether the instruction at this address reads and writes memory in one atomic step, or is a
    /// full fence, which costs the same.
    ///
    /// # Errors
    /// There is no code at this address.
    pub fn is_atomic(&self, address: u64) -> anyhow::Result<bool> {
        let bytes =
            self.at(address).with_context(|| format!("there is no code at {address:#x}"))?;
        Ok(is_atomic(bytes))
    }

    fn at(&self, address: u64) -> Option<&[u8]> {
        let segment = self.segments.iter().find(|segment| segment.address.contains(&address))?;
        let offset = segment.offset + (address - segment.address.start);
        self.file.get(usize::try_from(offset).ok()?..)
    }
}

/// The loaded parts, from an ELF file's program headers.
fn segments(file: &[u8]) -> anyhow::Result<Vec<Segment>> {
    const LOAD: u64 = 1;
    if file.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("it is no 64-bit little-endian ELF file");
    }
    let number = |at: u64, size: usize| {
        let at = usize::try_from(at)?;
        let bytes = at.checked_add(size).and_then(|end| file.get(at..end));
        let bytes = bytes.context("a header lies outside of the file")?;
        anyhow::Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let (table, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    let mut segments = Vec::new();
    for header in (0..count).map(|index| table.saturating_add(index * size)) {
        if number(header, 4)? == LOAD {
            let (offset, start, length) =
                (number(header + 0x08, 8)?, number(header + 0x10, 8)?, number(header + 0x20, 8)?);
            segments.push(Segment { address: start..start.saturating_add(length), offset });
        }
    }
    Ok(segments)
}

/// Whether the first instruction of these bytes is locked, an exchange with memory (which is always
/// locked) or a full fence.
///
/// ```
/// use coact_bench::instructions::code::is_atomic;
///
/// assert!(is_atomic(&[0xf0, 0x48, 0xff, 0x07])); // lock inc qword ptr [rdi]
/// assert!(is_atomic(&[0x48, 0x87, 0x07]));       // xchg [rdi], rax
/// assert!(!is_atomic(&[0x48, 0x87, 0xc7]));      // xchg rdi, rax
/// assert!(!is_atomic(&[0x48, 0x89, 0x07]));      // mov [rdi], rax
/// ```
pub fn is_atomic(bytes: &[u8]) -> bool {
    const LOCK: u8 = 0xf0;
    let is_prefix = |byte: &&u8| {
        matches!(**byte, LOCK | 0x66 | 0x67 | 0xf2 | 0xf3 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65)
    };
    let prefixes = bytes.iter().take_while(is_prefix).count();
    let (prefixes, code) = bytes.split_at(prefixes);
    // REX: wider registers, and more of them.
    let code = match code {
        [0x40..=0x4f, code @ ..] => code,
        code => code,
    };
    match code {
        _ if prefixes.contains(&LOCK) => true,
        [0x86 | 0x87, operands, ..] => operands >> 6 != 0b11,
        // mfence
        [0x0f, 0xae, 0xf0, ..] => prefixes.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, is_atomic, segments};

    #[test]
    fn prefixes_are_read_up_to_the_instruction() {
        for (bytes, expected) in [
            (&[0xf0, 0x0f, 0xb1, 0x0f][..], true), // lock cmpxchg [rdi], ecx
            (&[0x66, 0xf0, 0x0f, 0xc1, 0x07], true), // lock xadd [rdi], ax
            (&[0x2e, 0xf0, 0x41, 0xff, 0x00], true), // lock inc dword ptr cs:[r8]
            (&[0x86, 0x07], true),                 // xchg [rdi], al
            (&[0x49, 0x87, 0x04, 0x24], true),     // xchg [r12], rax
            (&[0x66, 0x87, 0xd2], false),          // xchg dx, dx
            (&[0x90], false),                      // nop
            (&[0xf3, 0x90], false),                // pause
            (&[0x0f, 0xae, 0xf0], true),           // mfence
            (&[0x0f, 0xae, 0xe8], false),          // lfence
            (&[0x48, 0xc7, 0x07, 0xf0, 0, 0, 0], false), // mov qword ptr [rdi], 0xf0
            (&[0x0f, 0xb1, 0x0f], false),          // cmpxchg [rdi], ecx
            (&[], false),
        ] {
            assert_eq!(is_atomic(bytes), expected, "{bytes:02x?}");
        }
    }

    #[test]
    fn addresses_are_found_by_the_program_headers() {
        let mut file = vec![0; 0x40 + 2 * 0x38];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[0x20] = 0x40;
        file[0x36] = 0x38;
        file[0x38] = 2;
        // The first is a note; the second is loaded: 4 bytes at offset 0xb0 to address 0x2010.
        let (note, load) = (0x40, 0x78);
        file[note] = 4;
        file[load] = 1;
        file[load + 0x08] = 0xb0;
        file[load + 0x10..load + 0x12].copy_from_slice(&[0x10, 0x20]);
        file[load + 0x20] = 4;
        file.extend([0x90, 0xf0, 0xff, 0x07]);
        let segments = segments(&file).expect("it is a program");
        let code = Code { file, segments };
        assert!(!code.is_atomic(0x2010).expect("there is code"));
        assert!(code.is_atomic(0x2011).expect("there is code"));
        for outside in [0, 0x200f, 0x2014] {
            assert!(code.is_atomic(outside).is_err());
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(segments(b"#!/bin/sh\n").is_err());
        assert!(segments(b"\x7fELF\x02\x01").is_err());
        let mut cut = vec![0xff; 0x40];
        cut[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert!(segments(&cut).is_err());
    }
}
