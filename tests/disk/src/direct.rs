//! What the program writes and syncs in the folder without SQLite.
//!
//! Rust's `File::write_all_at`, `File::set_len` and `File::sync_all` are calls of libc's
//! `pwrite64`, `ftruncate64` and `fsync`. A program's own symbol comes before that of a shared
//! library, so these here are what is called, by all of the process. What SQLite itself does by
//! them is left out, since the VFS has it already. (On systems other than Linux nothing is recorded
//! here.)

use std::cell::Cell;

thread_local! {
    /// Whether this thread is in SQLite's own VFS.
    static IN_VFS: Cell<bool> = const { Cell::new(false) };
}

/// Calls SQLite's own VFS, which is recorded by the caller.
pub(crate) fn unrecorded<T>(call: impl FnOnce() -> T) -> T {
    IN_VFS.set(true);
    let result = call();
    IN_VFS.set(false);
    result
}

#[cfg(target_os = "linux")]
pub(crate) use self::linux::install;

#[cfg(not(target_os = "linux"))]
pub(crate) fn install() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{c_int, c_long, c_void};
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::IN_VFS;
    use crate::folder::{Fault, Folder, Operation, folder_at, folder_of};
    use crate::record::Kind;

    /// Has the linker take these, which nothing else in this crate names.
    pub(crate) fn install() {
        std::hint::black_box((
            fsync as extern "C" fn(c_int) -> c_int,
            ftruncate64 as extern "C" fn(c_int, i64) -> c_int,
            pwrite64 as unsafe extern "C" fn(c_int, *const c_void, usize, i64) -> isize,
        ));
    }

    fn path_of(file: c_int) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/self/fd/{file}")).ok()
    }

    fn fail() -> c_int {
        // SAFETY: it points to this thread's number of the last error, as long as the thread runs.
        unsafe { *libc::__errno_location() = libc::EIO };
        -1
    }

    /// Cuts a file, and records it in a watched folder.
    // SAFETY: of the attribute: this is what `ftruncate64` of libc is, with its type; no other
    // crate here has such a symbol.
    #[unsafe(no_mangle)]
    extern "C" fn ftruncate64(file: c_int, size: i64) -> c_int {
        let found = if IN_VFS.get() { None } else { path_of(file).as_deref().and_then(folder_of) };
        let is_to_fail = |(folder, name): &(Arc<Folder>, String)| {
            folder.fault(Operation::Truncate(Kind::of(name))) != Fault::None
        };
        if found.as_ref().is_some_and(is_to_fail) {
            return fail();
        }
        // SAFETY: the system call takes two numbers, and checks that the first is an open file's.
        let result: c_long = unsafe { libc::syscall(libc::SYS_ftruncate, file, size) };
        if let (0, Ok(size), Some((folder, name))) = (result, usize::try_from(size), found) {
            folder.truncate(folder.open(&name), size);
        }
        result as c_int
    }

    /// Records a sync in a watched folder, and does any other one.
    // SAFETY: of the attribute: this is what `fsync` of libc is, with its type, for all that do not
    // need what is written in watched folders after a real loss of power; no other crate here has
    // such a symbol.
    #[unsafe(no_mangle)]
    extern "C" fn fsync(file: c_int) -> c_int {
        let path = path_of(file);
        if let Some(folder) = path.as_deref().and_then(folder_at) {
            folder.sync_folder();
            return 0;
        }
        if let Some((folder, name)) = path.as_deref().and_then(folder_of) {
            let id = folder.open(&name);
            return match folder.fault(Operation::Sync(Kind::of(&name))) {
                Fault::None => {
                    folder.sync(id);
                    0
                }
                Fault::Ignored => 0,
                Fault::Io { .. } | Fault::Full { .. } => {
                    folder.failed_sync(id);
                    fail()
                }
            };
        }
        // SAFETY: the system call takes a number, and checks that it is an open file's.
        let result: c_long = unsafe { libc::syscall(libc::SYS_fsync, file) };
        result as c_int
    }

    /// Writes, and records it in a watched folder.
    ///
    /// # Safety
    /// `bytes` points to `len` bytes.
    // SAFETY: of the attribute: this is what `pwrite64` of libc is, with its type; no other crate
    // here has such a symbol.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn pwrite64(
        file: c_int,
        bytes: *const c_void,
        len: usize,
        offset: i64,
    ) -> isize {
        // SAFETY: the system call reads `len` bytes at `bytes`, which the caller says are there.
        let written: c_long =
            unsafe { libc::syscall(libc::SYS_pwrite64, file, bytes, len, offset) };
        let (Ok(count), Ok(at)) = (usize::try_from(written), usize::try_from(offset)) else {
            return written as isize;
        };
        if IN_VFS.get() {
            return written as isize;
        }
        let found = path_of(file).as_deref().and_then(folder_of);
        if let Some((folder, name)) = found {
            // SAFETY: the system has read the first `count` of `len` bytes, so they are there; the
            // caller keeps them unchanged during the call.
            let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
            folder.write(folder.open(&name), at, bytes);
        }
        written as isize
    }
}
