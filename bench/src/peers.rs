//! The peers: programs of their own, in other languages or with other libraries, each built by a
//! script.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::measure::program::{Candidate, Program};

/// A peer's program, whether or not it is built here.
pub struct Peer {
    /// Its folder's name, and that of its program.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
}

/// All of them.
pub const ALL: &[Peer] = &[
    Peer { name: "rust", about: "tokio, crossbeam, mutexes, kameo, ractor, actix" },
    Peer { name: "caf", about: "the C++ Actor Framework" },
    Peer { name: "asio", about: "Boost.Asio, strands on a thread pool" },
    Peer { name: "verona", about: "verona-rt, behaviours and cowns in C++" },
    Peer { name: "erlang", about: "Erlang/OTP" },
    Peer { name: "pekko", about: "Apache Pekko on the JVM" },
    Peer { name: "go", about: "goroutines that send over channels" },
];

impl Peer {
    /// What it does, if it is built here.
    pub fn candidates(&self, peers: &Path) -> anyhow::Result<Option<Vec<Candidate>>> {
        let program = peers.join(self.name).join("build").join(self.name);
        if !program.exists() {
            return Ok(None);
        }
        let asked = Program::at(program).and_then(Program::candidates);
        asked.map(Some).with_context(|| format!("the peer {} does not answer", self.name))
    }

    /// How to get it.
    pub fn hint(&self, peers: &Path) -> String {
        let script = peers.join(self.name).join("install.sh");
        format!(
            "{} ({}) is not built here; to install and build it: bash {}",
            self.name,
            self.about,
            script.display()
        )
    }
}

/// Where the peers' folders are: beside this crate's sources, unless told otherwise.
pub fn folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/peers"));
    // As short as it can be said to who stands in the project.
    beside.strip_prefix(&here).map_or(beside.clone(), Path::to_path_buf)
}
