//! Which crate may know which.

/// The crates of the project, bottom to top, each with those that it may depend on.
pub const LAYERS: [(&str, &[&str]); 30] = [
    ("coact-sim", &[]),
    ("coact-sync", &[]),
    ("coact-tuple", &[]),
    ("coact-fiber", &["coact-sync"]),
    ("coact-model", &[]),
    ("coact-persist", &[]),
    // Below SQLite, in its tests alone: it knows no store.
    ("coact-disk", &[]),
    ("coact-sqlite", &["coact-disk", "coact-persist"]),
    ("coact-postgres", &["coact-persist"]),
    ("coact-core", &["coact-fiber", "coact-sim", "coact-sync"]),
    // Its examples alone: what a macro writes cannot be compiled without what it names.
    ("coact-macros", &["coact"]),
    ("coact-actor", &["coact-core", "coact-sync", "coact-tuple"]),
    // `coact` for its examples, as above.
    ("coact-dynamic", &["coact", "coact-actor", "coact-core", "coact-fiber", "coact-tuple"]),
    // `coact` for its examples, as above.
    ("coact-durable", &["coact", "coact-actor", "coact-core", "coact-persist"]),
    // `coact` for its examples, as above.
    ("coact-cache", &["coact", "coact-actor", "coact-core"]),
    (
        "coact",
        &[
            "coact-actor",
            "coact-cache",
            "coact-core",
            "coact-durable",
            "coact-dynamic",
            "coact-macros",
        ],
    ),
    ("coact-cli", &["coact-persist", "coact-postgres", "coact-sqlite"]),
    ("coact-examples", &["coact"]),
    ("coact-ledger", &["coact"]),
    ("coact-exchange", &["coact"]),
    ("coact-bank", &["coact", "coact-postgres", "coact-sqlite"]),
    ("coact-tests", &["coact", "coact-model", "coact-sync"]),
    ("coact-bench-workloads", &[]),
    ("coact-bench-programs", &["coact", "coact-bench-workloads"]),
    ("coact-bench-savina", &["coact", "coact-bench-programs", "coact-bench-workloads"]),
    ("coact-bench", &["coact-bench-programs", "coact-bench-savina", "coact-bench-workloads"]),
    // `coact-disk` in its tests alone.
    ("coact-bench-durable", &["coact", "coact-disk", "coact-postgres", "coact-sqlite"]),
    ("coact-bench-peers", &["coact-bench-workloads"]),
    ("coact-bench-sql", &[]),
    ("coact-xtask", &[]),
];

/// What is wrong with a manifest's dependencies on other crates of the project, in words.
///
/// ```
/// use coact_xtask::layers::misplaced;
///
/// let upward = "[package]\nname = \"coact-core\"\n[dependencies]\ncoact = { workspace = true }";
/// assert_eq!(misplaced(upward), ["coact-core may not depend on coact"]);
/// let sideways =
///     "[package]\nname = \"coact-ledger\"\n[dev-dependencies]\ncoact-sync.workspace = true";
/// assert_eq!(misplaced(sideways).len(), 1);
/// let downward = "[package]\nname = \"coact-ledger\"\n[dependencies]\ncoact.workspace = true";
/// assert!(misplaced(downward).is_empty());
/// ```
pub fn misplaced(manifest: &str) -> Vec<String> {
    let (mut section, mut name, mut wrong) = ("", "", Vec::new());
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        if section == "package" && key.trim() == "name" {
            name = value.trim().trim_matches('"');
        }
        let dependency = key.split('.').next().unwrap_or_default().trim();
        let is_ours = dependency == "coact" || dependency.starts_with("coact-");
        if section.ends_with("dependencies") && is_ours && !may_know(name, dependency) {
            wrong.push(format!("{name} may not depend on {dependency}"));
        }
    }
    if !LAYERS.iter().any(|(known, _)| *known == name) {
        wrong.push(format!("{name} has no place in the layers: give it one"));
    }
    wrong
}

fn may_know(name: &str, dependency: &str) -> bool {
    let mut layers = LAYERS.iter();
    layers.any(|(known, allowed)| *known == name && allowed.contains(&dependency))
}
