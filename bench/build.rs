//! Tells the tool what it was compiled with: counts of instructions hold for one compiler.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").expect("cargo says which compiler it uses");
    let output =
        Command::new(rustc).arg("--version").output().expect("the compiler says its version");
    let version = String::from_utf8(output.stdout).expect("a version is text");
    println!("cargo::rustc-env=COMPILER={}", version.trim());
    let target = std::env::var("TARGET").expect("cargo says what it builds for");
    println!("cargo::rustc-env=TARGET={target}");
}
