//! The files of the project.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace.
///
/// # Panics
/// If this crate no longer lies in a folder of the root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("this crate lies in a folder of the workspace").to_path_buf()
}

/// All files below `folder` with this extension, without build outputs and hidden folders.
///
/// # Panics
/// If a folder cannot be read.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What lies in a folder itself.
///
/// # Panics
/// If it cannot be read.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let paths = entries.map(|entry| entry.expect("a folder's entry can be read").path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    paths
}

/// A path as one would name it from the root.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string().replace('\\', "/")
}

/// The table of counts that may only shrink.
///
/// # Panics
/// If it cannot be read.
pub fn ratchet() -> String {
    text(&root().join(RATCHET))
}

/// Writes that table.
///
/// # Panics
/// If it cannot be written.
pub fn write_ratchet(text: &str) {
    fs::write(root().join(RATCHET), text).unwrap_or_else(|error| panic!("{RATCHET}: {error}"));
}

const RATCHET: &str = "xtask/ratchet.txt";

/// A file's text.
///
/// # Panics
/// If it cannot be read.
pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
