//! What SQLite calls: a VFS in front of its own one.
//!
//! Files in watched folders are wrapped: SQLite gets one with the methods of this file, behind
//! which its own one lies in the same block. All others are opened as they would be without this.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, OnceLock};

use rusqlite::ffi::{
    SQLITE_FULL, SQLITE_IOERR_DELETE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE,
    SQLITE_IOERR_WRITE, SQLITE_OK, SQLITE_OPEN_CREATE, sqlite3_file, sqlite3_int64,
    sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

use crate::direct::unrecorded;
use crate::folder::{Fault, Folder, Operation, folder_of};
use crate::record::{FileId, Kind};

/// SQLite's own VFS.
struct Own(*mut sqlite3_vfs);

// SAFETY: SQLite's own VFS is a static object of its library that is not changed once it is
// registered, and whose methods may be called by any thread.
unsafe impl Send for Own {}
// SAFETY: see `Send`: it is never changed, so that it may be read by any number of threads.
unsafe impl Sync for Own {}

static OWN: OnceLock<Own> = OnceLock::new();

/// Puts the VFS in front of SQLite's own, for connections that are opened from now on.
pub(crate) fn install() {
    OWN.get_or_init(|| {
        // SAFETY: a null name asks for the default one. SQLite initializes itself first, under a
        // lock of its own. No VFS was registered by this process yet (this closure runs once), so
        // it is SQLite's own.
        let own = unsafe { sqlite3_vfs_find(ptr::null()) };
        assert!(!own.is_null(), "SQLite has a VFS for this system");
        // SAFETY: it is not null, so it points to a registered VFS, which is initialized and lives
        // as long as the process.
        let mut front: sqlite3_vfs = unsafe { *own };
        front.zName = c"coact-disk".as_ptr();
        front.pNext = ptr::null_mut();
        front.szOsFile += c_int::try_from(BEHIND).expect("some bytes");
        front.xOpen = Some(open);
        front.xDelete = Some(delete);
        // SAFETY: SQLite keeps the pointer for ever, and links it into a list under a lock of its
        // own: the box is leaked, so it lives for ever, and nothing else points to it. The methods
        // that are left are those of SQLite's own VFS, called with this copy: they use no more of
        // it than `pAppData` and `mxPathname`, which are the same.
        let code = unsafe { sqlite3_vfs_register(Box::into_raw(Box::new(front)), 1) };
        assert_eq!(code, SQLITE_OK);
        Own(own)
    });
}

/// A wrapped file, as SQLite sees it. SQLite's own one begins [`BEHIND`] bytes further.
#[repr(C)]
struct Wrapped {
    base: sqlite3_file,
    /// From `Box::into_raw`, until it is closed.
    watched: *mut Watched,
}

/// SQLite's blocks of files are aligned to 8 bytes, and so is what follows after this many.
const BEHIND: usize = size_of::<Wrapped>().next_multiple_of(8);

struct Watched {
    folder: Arc<Folder>,
    file: FileId,
    kind: Kind,
    /// Whether the next sync is one of the folder as well, as it is in SQLite's own VFS.
    syncs_folder: bool,
}

/// SQLite's own file of a wrapped one.
///
/// # Safety
/// `file` is one that [`open`] was called with.
unsafe fn own(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite gives `xOpen` a block of `szOsFile` bytes, which is `BEHIND` more than that of
    // its own VFS: the result is in the same block, with enough room behind it.
    unsafe { file.byte_add(BEHIND) }
}

/// # Safety
/// `file` is a wrapped one that is open.
unsafe fn watched<'f>(file: *mut sqlite3_file) -> &'f mut Watched {
    // SAFETY: only wrapped files have the methods that call this, so there is a `Wrapped`, whose
    // box `open` has made and `close` has not dropped yet. SQLite uses a file on one thread at a
    // time, and none of the methods calls another one of this file with the reference at hand, so
    // it is the only one.
    unsafe { &mut *(*file.cast::<Wrapped>()).watched }
}

/// Calls a method of SQLite's own file.
macro_rules! own {
    ($file:ident.$method:ident($($argument:expr),*)) => {{
        // SAFETY: `$file` is a wrapped file that is open, by the contract of the methods, so
        // SQLite's own one behind it is open, and has methods, which are those of its VFS for this
        // system: all of them are there. The arguments are those that SQLite has given for the same
        // method, whose contract is the same.
        unsafe {
            let own = own($file);
            let method = (*(*own).pMethods).$method.expect("SQLite's own files have all methods");
            method(own $(, $argument)*)
        }
    }};
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Version 2 has shared memory, for the WAL, and no mapped files, which would be read and not
    // recorded.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(take_lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// # Safety
/// `name` is null, or a text that ends with 0 and outlives the call.
unsafe fn watched_name(name: *const c_char) -> Option<(Arc<Folder>, String)> {
    if name.is_null() {
        return None;
    }
    // SAFETY: it is not null, so it is a text that ends with 0.
    let name = unsafe { CStr::from_ptr(name) };
    folder_of(Path::new(OsStr::from_bytes(name.to_bytes())))
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let vfs = OWN.get().expect("it is installed").0;
    // SAFETY: `vfs` is SQLite's own VFS, which is never changed; it has `xOpen`.
    let open = unsafe { (*vfs).xOpen }.expect("every VFS opens files");
    // SAFETY: SQLite's names of files end with 0, or are null.
    let Some((folder, name_in_folder)) = (unsafe { watched_name(name) }) else {
        // SAFETY: the arguments are those that SQLite has given for the same method. The block is
        // larger than this VFS needs, which does not matter; it becomes a file of that VFS alone,
        // with its methods.
        return unsafe { open(vfs, name, file, flags, out_flags) };
    };
    // SAFETY: `file` is the block that SQLite has given, which has room for a `Wrapped`, and is
    // aligned for it.
    unsafe { (*file).pMethods = ptr::null() };
    // SAFETY: see `own`: there is room for a file of SQLite's own VFS behind it. The rest is what
    // SQLite has given.
    let code = unsafe { open(vfs, name, own(file), flags, out_flags) };
    if code != SQLITE_OK {
        // (SQLite's own VFS has set no methods then, so there is nothing to close.)
        return code;
    }
    let kind = Kind::of(&name_in_folder);
    let is_created = flags & SQLITE_OPEN_CREATE != 0;
    let syncs_folder = is_created && matches!(kind, Kind::Wal | Kind::Journal);
    let id = folder.open(&name_in_folder);
    let watched = Box::into_raw(Box::new(Watched { folder, file: id, kind, syncs_folder }));
    // SAFETY: the block has room for a `Wrapped`, and is aligned for it; nothing in it has to be
    // dropped before.
    unsafe {
        file.cast::<Wrapped>()
            .write(Wrapped { base: sqlite3_file { pMethods: &raw const METHODS }, watched });
    }
    SQLITE_OK
}

unsafe extern "C" fn delete(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    syncs_folder: c_int,
) -> c_int {
    // SAFETY: SQLite's names of files end with 0.
    let found = unsafe { watched_name(name) };
    if let Some((folder, name)) = &found
        && folder.fault(Operation::Delete(Kind::of(name))) != Fault::None
    {
        return SQLITE_IOERR_DELETE;
    }
    let vfs = OWN.get().expect("it is installed").0;
    // The folder is synced in the record only.
    let syncs_really = if found.is_some() { 0 } else { syncs_folder };
    // SAFETY: `vfs` is SQLite's own VFS, which has `xDelete`; the arguments are those that SQLite
    // has given for the same method.
    let code = unsafe { (*vfs).xDelete.expect("every VFS deletes")(vfs, name, syncs_really) };
    if let (SQLITE_OK, Some((folder, name))) = (code, found) {
        folder.delete(&name);
        if syncs_folder != 0 {
            folder.sync_folder();
        }
    }
    code
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = own!(file.xClose());
    // SAFETY: SQLite closes a file once, and uses it no more: the box is still there, and not used
    // after this.
    drop(unsafe { Box::from_raw((*file.cast::<Wrapped>()).watched) });
    code
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    len: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite calls it for a wrapped file that is open.
    let watched = unsafe { watched(file) };
    let count = usize::try_from(len).expect("a length");
    let (kept, code) = match watched.folder.fault(Operation::Write(watched.kind, count)) {
        Fault::None | Fault::Ignored => (count, SQLITE_OK),
        Fault::Io { kept } => (kept.min(count), SQLITE_IOERR_WRITE),
        Fault::Full { kept } => (kept.min(count), SQLITE_FULL),
    };
    if kept > 0 {
        let kept_len = c_int::try_from(kept).expect("no more than there was");
        let written = unrecorded(|| own!(file.xWrite(bytes, kept_len, offset)));
        if written != SQLITE_OK {
            return written;
        }
        // SAFETY: SQLite gives `len` bytes, of which these are the first, and does not change them
        // during the call.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), kept) };
        watched.folder.write(watched.file, usize::try_from(offset).expect("an offset"), bytes);
    }
    code
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: SQLite calls it for a wrapped file that is open.
    let watched = unsafe { watched(file) };
    if watched.folder.fault(Operation::Truncate(watched.kind)) != Fault::None {
        return SQLITE_IOERR_TRUNCATE;
    }
    let code = unrecorded(|| own!(file.xTruncate(size)));
    if code == SQLITE_OK {
        watched.folder.truncate(watched.file, usize::try_from(size).expect("a size"));
    }
    code
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    // SAFETY: SQLite calls it for a wrapped file that is open.
    let watched = unsafe { watched(file) };
    match watched.folder.fault(Operation::Sync(watched.kind)) {
        Fault::None => {
            watched.folder.sync(watched.file);
            if std::mem::take(&mut watched.syncs_folder) {
                watched.folder.sync_folder();
            }
            SQLITE_OK
        }
        Fault::Ignored => SQLITE_OK,
        Fault::Io { .. } | Fault::Full { .. } => {
            watched.folder.failed_sync(watched.file);
            SQLITE_IOERR_FSYNC
        }
    }
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    bytes: *mut c_void,
    len: c_int,
    offset: sqlite3_int64,
) -> c_int {
    own!(file.xRead(bytes, len, offset))
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    own!(file.xFileSize(size))
}

unsafe extern "C" fn take_lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    own!(file.xLock(level))
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    own!(file.xUnlock(level))
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, found: *mut c_int) -> c_int {
    own!(file.xCheckReservedLock(found))
}

unsafe extern "C" fn file_control(
    file: *mut sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    own!(file.xFileControl(operation, argument))
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    own!(file.xSectorSize())
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    own!(file.xDeviceCharacteristics())
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    memory: *mut *mut c_void,
) -> c_int {
    own!(file.xShmMap(page, size, extend, memory))
}

unsafe extern "C" fn shm_lock(
    file: *mut sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    own!(file.xShmLock(offset, count, flags))
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    own!(file.xShmBarrier());
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, deletes: c_int) -> c_int {
    own!(file.xShmUnmap(deletes))
}
