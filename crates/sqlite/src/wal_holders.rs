//! Finds the processes that read in a WAL.

use std::path::Path;

/// Returns the processes whose read transactions keep a file's WAL from restarting. Empty if the
/// system does not tell.
pub(crate) fn wal_holders(database: &Path) -> Vec<String> {
    #[cfg(target_os = "linux")]
    {
        linux::holders(database)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = database;
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::ops::RangeInclusive;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use crate::files::{SHM, beside};

    /// The bytes of `-shm` that SQLite locks for those who read in the WAL
    /// (<https://sqlite.org/walformat.html>). The one before is locked by those who read the file
    /// only.
    const READ_MARKS: RangeInclusive<u64> = 124..=127;

    pub(super) fn holders(database: &Path) -> Vec<String> {
        let Ok(shm) = fs::metadata(beside(database, SHM)) else { return Vec::new() };
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let name = |process: u32| {
            if process == std::process::id() {
                return format!("{process} (this one)");
            }
            match fs::read_to_string(format!("/proc/{process}/comm")) {
                Ok(name) => format!("{process} ({})", name.trim_end()),
                Err(_) => process.to_string(),
            }
        };
        holders_in(&locks, shm.ino()).into_iter().map(name).collect()
    }

    /// The processes with such a lock in `/proc/locks` on the file with this inode.
    ///
    /// Its lines are as `7: POSIX  ADVISORY  READ 4711 00:1c:815 124 124`. (Who waits for a lock
    /// has a `->` before `POSIX`. The device is another one than `stat` tells on some file
    /// systems.)
    pub(super) fn holders_in(locks: &str, inode: u64) -> BTreeSet<u32> {
        let holder = |line: &str| {
            let [_, "POSIX", _, _, process, file, first, last] =
                *line.split_whitespace().collect::<Vec<_>>()
            else {
                return None;
            };
            let (_, of) = file.rsplit_once(':')?;
            let first: u64 = first.parse().ok()?;
            // (`EOF` is the end of all.)
            let last: u64 = last.parse().unwrap_or(u64::MAX);
            let is_meant = of.parse() == Ok(inode)
                && first <= *READ_MARKS.end()
                && last >= *READ_MARKS.start();
            // (It is 0 or -1 if it is hidden from this process.)
            process.parse().ok().filter(|process| is_meant && *process > 0)
        };
        locks.lines().filter_map(holder).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::holders_in;

        #[test]
        fn who_reads_in_the_wal_is_found_among_all_locks() {
            let locks = "1: POSIX  ADVISORY  READ 11 00:1c:815 124 124\n\
                1: -> POSIX  ADVISORY  WRITE 12 00:1c:815 124 124\n\
                2: POSIX  ADVISORY  READ 13 00:1c:815 128 128\n\
                3: POSIX  ADVISORY  READ 14 00:1c:815 123 123\n\
                4: POSIX  ADVISORY  READ 15 00:1c:816 124 124\n\
                5: FLOCK  ADVISORY  WRITE 16 00:1c:815 0 EOF\n\
                6: POSIX  ADVISORY  READ 17 fe:00:815 123 126\n\
                7: OFDLCK ADVISORY  READ -1 00:1c:815 124 124\n\
                8: POSIX  ADVISORY  READ 0 00:1c:815 124 124\n\
                9: POSIX  ADVISORY\n";
            assert_eq!(holders_in(locks, 815), [11, 17].into());
        }
    }
}
