//! The peers: programs of their own, each built by a script.

use std::path::{Path, PathBuf};

/// A peer's program, whether or not it is built here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// tokio and SQL.
    Sql,
    /// Apache Pekko Persistence with JDBC.
    Pekko,
}

impl Peer {
    /// All of them.
    pub const ALL: [Peer; 2] = [Peer::Sql, Peer::Pekko];

    /// Its folder's name, and that of its program.
    pub fn name(self) -> &'static str {
        match self {
            Peer::Sql => "sql",
            Peer::Pekko => "pekko-persistence",
        }
    }

    /// Its program, if it is built here.
    pub fn program(self, peers: &Path) -> Option<PathBuf> {
        let program = peers.join(self.name()).join("build").join(self.name());
        program.exists().then_some(program)
    }

    /// How to get it.
    pub fn hint(self, peers: &Path) -> String {
        let script = peers.join(self.name()).join("install.sh");
        let (name, script) = (self.name(), script.display());
        format!("{name} is not built here; to install and build it: bash {script}")
    }
}

/// Where the peers' folders are: beside this crate's sources, unless told otherwise.
pub fn folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../peers"));
    let beside = beside.canonicalize().unwrap_or(beside);
    // As short as it can be said to who stands in the project.
    beside.strip_prefix(&here).map_or(beside.clone(), Path::to_path_buf)
}
