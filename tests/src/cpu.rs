//! What the process has used of the processor.

#![allow(unsafe_code)]

use std::time::Duration;

/// The time for which all threads of the process together have run.
///
/// # Panics
/// If the operating system does not say.
pub fn process_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for writing.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "no clock counts the time of the process");
    let parts = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    let (Ok(seconds), Ok(nanos)) = parts else { panic!("a clock ran backwards") };
    Duration::new(seconds, nanos)
}
