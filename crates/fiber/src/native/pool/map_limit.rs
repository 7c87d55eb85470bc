//! How many memory mappings the process has, and may have. Looked at when one was refused.

use std::fs::{self, File};
use std::io::{self, Read};

/// The system counts a few mappings that it does not list, and a process near its limit gets none
/// that is part of a larger step.
const SLACK: usize = 16;

/// Returns whether the process has as many mappings as it may have, if that can be found out.
pub(super) fn is_at_map_limit() -> bool {
    let limit = limit().unwrap_or(usize::MAX);
    maps().is_ok_and(|maps| maps.saturating_add(SLACK) >= limit)
}

/// Returns how many mappings a process may have.
pub(in crate::native) fn limit() -> Option<usize> {
    fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

/// Counts the mappings of the process.
pub(in crate::native) fn maps() -> io::Result<usize> {
    let mut file = File::open("/proc/self/maps")?;
    // Not as a whole: the list is long if it matters, and memory may be what is short.
    let mut part = [0; 4096];
    let mut maps = 0;
    loop {
        let bytes = file.read(&mut part)?;
        if bytes == 0 {
            return Ok(maps);
        }
        maps += part[..bytes].iter().filter(|byte| **byte == b'\n').count();
    }
}
