//! Cache-line transfers an operation, on machines with more cores than this one.
//!
//! What keeps a runtime from scaling is memory that many cores write: each write takes the line
//! from the others, and each look takes it back. On two cores that hardly shows. So the tool runs
//! its workloads on a machine that it models: it traces the program, lets one instruction at a time
//! happen, always that of the core whose clock is least, and follows what each access does to the
//! caches. A line that has to be fetched from another core is counted, and costs time, so that a
//! contended line comes out as what it is. As with `instructions`, each [case](cases) runs with a
//! small and with a large size, and the difference counts.
//!
//! [`lines`] is the coherence protocol, [`cores`] says which thread runs where and when, [`costs`]
//! what things take. [`traced`] runs a program on them, and answers the calls in which threads
//! wait, in the time of the model. [`tally`] is what is counted, [`names`] says what it was,
//! [`count`] makes one figure of two runs, and [`detail`] prints where transfers come from.
//!
//! How to use it, and what is not modelled: `docs/benchmarks.md`, "Cache lines".

pub mod cases;
pub mod cores;
pub mod costs;
pub mod count;
pub mod detail;
pub mod lines;
pub mod names;
pub mod tally;
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), path = "disabled.rs")]
pub mod traced;
