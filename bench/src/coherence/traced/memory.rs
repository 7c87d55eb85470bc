//! The memory of a program, of which the pages that are in use are kept here: each way to the
//! kernel costs as much as some hundred instructions.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use anyhow::Context;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Memory, as the instructions that are done here have left it. The program sees it when it is
/// [let](Memory::release) to, and may have changed it then.
pub struct Memory {
    file: File,
    pages: RefCell<HashMap<u64, Page>>,
}

struct Page {
    bytes: Box<[u8; PAGE as usize]>,
    is_changed: bool,
}

impl Memory {
    /// The memory that is behind this file.
    pub fn new(file: File) -> Memory {
        Memory { file, pages: RefCell::default() }
    }

    /// Fills the buffer with what lies at an address; false if there is nothing.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let mut at = 0;
        self.for_each_part(address, buffer.len(), |page, part| {
            let part = &page.bytes[part];
            buffer[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        })
    }

    /// Writes; false if there is no such memory.
    pub fn write(&self, address: u64, bytes: &[u8]) -> bool {
        let mut at = 0;
        self.for_each_part(address, bytes.len(), |page, part| {
            let length = part.len();
            page.bytes[part].copy_from_slice(&bytes[at..at + length]);
            page.is_changed = true;
            at += length;
        })
    }

    /// Calls `use_part` with each page of a range, and where the range is in it; false if one is
    /// not there, before any is used.
    fn for_each_part(
        &self,
        address: u64,
        length: usize,
        mut use_part: impl FnMut(&mut Page, Range<usize>),
    ) -> bool {
        let Some(end) = address.checked_add(length as u64) else { return false };
        let mut pages = self.pages.borrow_mut();
        let numbers = address / PAGE..end.div_ceil(PAGE);
        for number in numbers.clone() {
            if let Entry::Vacant(missing) = pages.entry(number) {
                let Some(page) = self.fetch(number) else { return false };
                missing.insert(page);
            }
        }
        for number in numbers {
            let start = number * PAGE;
            let part = address.max(start) - start..end.min(start + PAGE) - start;
            if let Some(page) = pages.get_mut(&number) {
                use_part(page, part.start as usize..part.end as usize);
            }
        }
        true
    }

    fn fetch(&self, number: u64) -> Option<Page> {
        let mut bytes = Box::new([0; PAGE as usize]);
        self.file.read_exact_at(&mut bytes[..], number.checked_mul(PAGE)?).ok()?;
        Some(Page { bytes, is_changed: false })
    }

    /// Gives the memory back to the program, with what has been changed.
    ///
    /// # Errors
    /// The system does not let it be written.
    pub fn release(&self) -> anyhow::Result<()> {
        for (number, page) in self.pages.borrow_mut().drain() {
            if page.is_changed {
                self.file
                    .write_all_at(&page.bytes[..], number * PAGE)
                    .with_context(|| format!("cannot write page {number:#x}"))?;
            }
        }
        Ok(())
    }

    /// A word.
    ///
    /// # Errors
    /// There is none.
    pub fn word(&self, address: u64) -> anyhow::Result<u64> {
        let mut bytes = [0; 8];
        let is_there = self.read(address, &mut bytes);
        anyhow::ensure!(is_there, "there is no memory at {address:#x}");
        Ok(u64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::{Memory, PAGE};

    #[test]
    fn what_is_written_is_read_and_comes_to_the_file_when_it_is_released() {
        let file = tempfile::tempfile().expect("there is room");
        file.set_len(2 * PAGE).expect("there is room");
        let memory = Memory::new(file.try_clone().expect("it is open"));
        let at = PAGE - 2;
        assert!(memory.write(at, &[1, 2, 3, 4]));
        let mut bytes = [0; 6];
        assert!(memory.read(at - 1, &mut bytes));
        assert_eq!(bytes, [0, 1, 2, 3, 4, 0]);
        file.read_exact_at(&mut bytes, at).expect("it is there");
        assert_eq!(bytes, [0; 6]);
        memory.release().expect("it can be written");
        file.read_exact_at(&mut bytes, at).expect("it is there");
        assert_eq!(bytes, [1, 2, 3, 4, 0, 0]);
        file.write_all_at(&[9], at).expect("it can be written");
        assert!(memory.read(at, &mut bytes[..1]));
        assert_eq!(bytes[0], 9, "what was released is read anew");
    }

    #[test]
    fn what_is_not_there_is_neither_read_nor_written() {
        let file = tempfile::tempfile().expect("there is room");
        file.set_len(PAGE).expect("there is room");
        let memory = Memory::new(file);
        assert!(!memory.write(PAGE - 1, &[7, 7]));
        let mut byte = [1];
        assert!(memory.read(PAGE - 1, &mut byte));
        assert_eq!(byte, [0]);
        assert!(!memory.read(u64::MAX, &mut byte));
    }
}
