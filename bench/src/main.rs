//! The benchmark tool.

use std::process::ExitCode;

use coact_bench::cli;

#[cfg(feature = "snmalloc")]
#[global_allocator]
static ALLOCATOR: snmalloc_rs::SnMalloc = snmalloc_rs::SnMalloc;

fn main() -> ExitCode {
    cli::main()
}
