//! The house rules, checked on the project as it is.

use std::path::{Path, PathBuf};

use coact_xtask::ratchet::Ratchet;
use coact_xtask::tree::short;
use coact_xtask::{circles, layers, links, modules, promises, source, survey, tree};

/// All Rust files of the project.
fn rust_files() -> Vec<PathBuf> {
    tree::files(&tree::root(), "rs")
}

#[track_caller]
fn assert_none(wrong: &[String], rule: &str) {
    assert!(wrong.is_empty(), "{rule}\n  {}\n", wrong.join("\n  "));
}

#[test]
fn every_file_opens_with_what_lives_there() {
    let silent =
        rust_files().into_iter().filter(|path| !source::opens_with_docs(&tree::text(path)));
    let silent: Vec<String> = silent.map(|path| short(&path)).collect();
    assert_none(&silent, "these files do not open with a `//!` line:");
}

#[test]
fn only_the_core_what_is_below_it_tuples_fibers_and_the_disk_of_tests_are_unsafe() {
    let root = tree::root();
    let manifests = tree::files(&root.join("crates"), "toml").into_iter();
    let manifests = manifests.chain(
        ["xtask", "examples/ledger", "tests/disk"].map(|it| root.join(it).join("Cargo.toml")),
    );
    // (The disk of tests is what SQLite calls, by pointers; no program links it.)
    let is_unsafe = |path: &PathBuf| {
        ["core", "disk", "fiber", "sync", "tuple"]
            .iter()
            .any(|it| path.ends_with(format!("{it}/Cargo.toml")))
    };
    let safe = manifests.filter(|path| !is_unsafe(path));
    let roots =
        safe.flat_map(|path| ["src/lib.rs", "src/main.rs"].map(|to| path.with_file_name(to)));
    let loose = roots.filter(|path| path.exists() && !source::forbids_unsafe(&tree::text(path)));
    let loose: Vec<String> = loose.map(|path| short(&path)).collect();
    assert_none(&loose, "these crates do not say `#![forbid(unsafe_code)]`:");
}

#[test]
fn crates_depend_downwards_only() {
    let mut manifests = tree::files(&tree::root(), "toml");
    manifests.retain(|path| path.ends_with("Cargo.toml") && tree::text(path).contains("[package]"));
    let wrong = manifests.iter().flat_map(|path| layers::misplaced(&tree::text(path)));
    assert_none(&wrong.collect::<Vec<_>>(), "the layers (`xtask/src/layers.rs`) are broken:");
}

#[test]
fn modules_of_the_core_use_those_below_them_only() {
    assert_stack("core", "The stack of `crates/core`");
}

#[test]
fn modules_of_the_actors_use_those_below_them_only() {
    assert_stack("actor", "The stack of `crates/actor`");
}

/// The modules of a crate are those of the table behind the heading in ARCHITECTURE.md, and each
/// uses only those above it there.
fn assert_stack(name: &str, heading: &str) {
    let root = tree::root();
    let architecture = tree::text(&root.join("ARCHITECTURE.md"));
    let stack = modules::listed(&architecture, heading);
    assert!(!stack.is_empty(), "ARCHITECTURE.md has no table behind {heading:?}");
    let texts = survey::texts(&root.join("crates").join(name).join("src"));
    let files: Vec<_> = texts.iter().map(|(path, text)| modules::File::new(path, text)).collect();
    let rule = format!("the stack of modules (ARCHITECTURE.md, {heading:?}) is broken:");
    assert_none(&modules::misplaced(&stack, &files), &rule);
}

#[test]
fn no_files_of_a_crate_use_one_another_in_a_circle() {
    let mut wrong = Vec::new();
    for manifest in tree::files(&tree::root(), "toml") {
        let folder = manifest.parent().unwrap_or(&manifest).join("src");
        let texts = if folder.is_dir() { survey::texts(&folder) } else { Vec::new() };
        let files: Vec<_> =
            texts.iter().map(|(path, text)| modules::File::new(path, text)).collect();
        let circles = circles::circles(&files);
        wrong.extend(circles.iter().map(|circle| format!("{}: {circle}", short(&folder))));
    }
    assert_none(&wrong, "these files use one another in a circle:");
}

#[test]
fn names_and_prose_get_no_worse() {
    let ratchet = Ratchet::parse(&tree::ratchet()).unwrap_or_else(|line| panic!("no row: {line}"));
    let differences = ratchet.differences(&survey::survey());
    let shown = |is_growth: bool| -> Vec<String> {
        let some = differences.iter().filter(|it| it.is_growth() == is_growth);
        let some = some.map(|it| {
            let rule = it.rule.name();
            format!("{}: {rule} {}, allowed {}", it.area, it.count, it.allowed)
        });
        some.collect()
    };
    let fewer = shown(false);
    if !fewer.is_empty() {
        println!("`cargo xtask names --lower` can write these:\n  {}", fewer.join("\n  "));
    }
    assert_none(&shown(true), "these have grown (`cargo xtask names AREA` lists them):");
}

#[test]
fn examples_name_the_crate_that_users_have() {
    let root = tree::root();
    let files = ["crates/core/src", "crates/actor/src"].map(|folder| root.join(folder));
    let mut wrong = Vec::new();
    for path in files.iter().flat_map(|folder| tree::files(folder, "rs")) {
        let lines = source::uses_in_docs_of(&tree::text(&path), &["coact_core", "coact_actor"]);
        wrong.extend(lines.iter().map(|line| format!("{}:{line}", short(&path))));
    }
    assert_none(
        &wrong,
        "these examples show `use` of a crate that users do not name (it is `coact`):",
    );
}

#[test]
fn every_strong_ordering_is_argued() {
    let bare = unargued(&["crates/sync/src", "crates/core/src"], source::unargued_orderings);
    assert_none(&bare, "an `// ORDERING:` comment must say what these pair with:");
}

#[test]
fn every_ordering_of_the_actors_is_argued() {
    let bare = unargued(&["crates/actor/src"], source::unargued_atomics);
    assert_none(
        &bare,
        "an `// ORDERING:` comment must say what these pair with, or why with nothing:",
    );
}

/// The places outside of tests of which a check tells the lines.
fn unargued(folders: &[&str], check: impl Fn(&str) -> Vec<usize>) -> Vec<String> {
    let root = tree::root();
    let files = folders.iter().flat_map(|folder| tree::files(&root.join(folder), "rs"));
    let is_test = |path: &Path| {
        let of_tests = ["tests.rs", "loom.rs"].iter().any(|name| path.ends_with(name));
        of_tests || path.components().any(|part| part.as_os_str() == "tests")
    };
    let mut bare = Vec::new();
    for path in files.filter(|path| !is_test(path)) {
        let lines = check(&tree::text(&path));
        bare.extend(lines.iter().map(|line| format!("{}:{line}", short(&path))));
    }
    bare
}

#[test]
fn named_sections_exist() {
    let mut missing = Vec::new();
    for path in rust_files().iter().filter(|path| !path.starts_with(tree::root().join("xtask"))) {
        for section in source::named_sections(&tree::text(path)) {
            let readmes = path.ancestors().skip(1).map(|folder| folder.join("README.md"));
            let nearest = readmes.filter(|readme| readme.exists()).map(|it| tree::text(&it)).next();
            if !nearest.is_some_and(|readme| links::has_heading(&readme, &section)) {
                missing.push(format!("{}: \"{section}\"", short(path)));
            }
        }
    }
    assert_none(&missing, "these comments name a section that the nearest README.md lacks:");
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for path in tree::files(&tree::root(), "md") {
        let text = tree::text(&path);
        for (target, anchor) in links::local_targets(&text) {
            let to = if target.is_empty() { path.clone() } else { path.with_file_name(target) };
            let leads =
                to.exists() && (anchor.is_empty() || links::has_anchor(&tree::text(&to), anchor));
            if !leads {
                broken.push(format!("{}: {target}#{anchor}", short(&path)));
            }
        }
    }
    assert_none(&broken, "these links lead nowhere:");
}

#[test]
fn every_promise_has_a_test_of_its_name() {
    let page = tree::text(&tree::root().join("docs/semantics.md"));
    let labels = promises::labels(&page);
    assert!(!labels.is_empty(), "docs/semantics.md has no promises any more");
    let suites = names_of_tests(tree::files(&tree::root().join("tests"), "rs"));
    let wrong = promises::untested(&labels, &suites);
    assert_none(&wrong, "`tests` has no test of these promises' names (`o1_...`, or `ui/o1_...`):");
    // Wherever they are.
    let strays = promises::strays(&labels, &names_of_tests(rust_files()));
    assert_none(&strays, "docs/semantics.md has no promise that these tests are named after:");
}

/// The names of the tests in these files, and of those that are tests as a whole.
fn names_of_tests(files: Vec<PathBuf>) -> Vec<String> {
    let must_not_compile = tree::root().join("tests/ui");
    let names = files.iter().flat_map(|path| match path.file_stem() {
        Some(name) if path.starts_with(&must_not_compile) => vec![name.to_string_lossy().into()],
        _ => promises::tests(&tree::text(path)),
    });
    names.collect()
}
