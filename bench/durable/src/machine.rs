//! What a reader must know of the machine to judge a figure.

use std::path::Path;

/// The processors, the system, the file system that the folder is on, the version of SQLite and the
/// build.
pub fn machine(folder: &Path) -> String {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = line("/proc/cpuinfo", |line| line.starts_with("model name"))
        .and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
        .unwrap_or_else(|| "unknown processor".to_owned());
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let files = file_system(folder).unwrap_or_else(|| "unknown file system".to_owned());
    let build = if cfg!(debug_assertions) { ", NOT OPTIMISED" } else { "" };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let allocator = if cfg!(feature = "snmalloc") { "snmalloc" } else { "system" };
    let load = load.split(' ').next().unwrap_or_default();
    format!(
        "{processors} x {processor}, {} {}, {files}, SQLite {}, {allocator} allocator, load {load}{build}",
        std::env::consts::OS,
        kernel.trim(),
        rusqlite::version()
    )
}

fn line(path: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    std::fs::read_to_string(path).ok()?.lines().find(|line| is_it(line)).map(str::to_owned)
}

/// That of the longest mount point that the folder is below.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((Path::new(words.next()?), words.next()?))
    });
    let below = mounts.filter(|(at, _)| folder.starts_with(at));
    let (_, kind) = below.max_by_key(|(at, _)| at.as_os_str().len())?;
    Some(kind.to_owned())
}
