//! Whether two conditions of compilation exclude each other.

use std::collections::BTreeSet;

/// A condition, as it stands in `#[cfg(..)]`.
enum Predicate {
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    Not(Vec<Predicate>),
    Option(String),
}

/// Keys of which a build has one value.
const SINGLE_VALUED: [&str; 5] =
    ["panic", "target_arch", "target_env", "target_os", "target_pointer_width"];

/// Whether no build meets all conditions of both lists.
///
/// ```
/// use coact_xtask::conditions::exclude_each_other;
///
/// let sets = |one: &str, other: &str| exclude_each_other(&[one.to_owned()], &[other.to_owned()]);
/// assert!(sets("loom", "not(loom)"));
/// assert!(sets("all(unix, feature = \"a\")", "not(all(feature = \"a\", unix))"));
/// assert!(sets("target_os = \"linux\"", "target_os = \"macos\""));
/// assert!(!sets("unix", "loom"));
/// assert!(!sets("any(unix, loom)", "not(loom)"));
/// assert!(!exclude_each_other(&[], &[]));
/// ```
///
/// # Panics
/// If they name more than 20 options together.
pub fn exclude_each_other(some: &[String], others: &[String]) -> bool {
    let all: Vec<Predicate> = some.iter().chain(others).map(|text| parse(text)).collect();
    let mut options = BTreeSet::new();
    all.iter().for_each(|predicate| predicate.options(&mut options));
    let options: Vec<&str> = options.into_iter().collect();
    assert!(options.len() <= 20, "too many options to try all builds: {options:?}");
    let builds = 0..1_u32 << options.len();
    let mut builds = builds.map(|bits| {
        let set = options.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
        set.map(|(_, option)| *option).collect::<BTreeSet<_>>()
    });
    !builds.any(|build| is_possible(&build) && all.iter().all(|it| it.is_met(&build)))
}

/// Whether no key that has one value has two.
fn is_possible(build: &BTreeSet<&str>) -> bool {
    SINGLE_VALUED.iter().all(|key| {
        let is_of_key = |option: &&&str| option.split('=').next().map(str::trim) == Some(*key);
        build.iter().filter(is_of_key).count() <= 1
    })
}

impl Predicate {
    fn options<'a>(&'a self, found: &mut BTreeSet<&'a str>) {
        match self {
            Self::All(parts) | Self::Any(parts) | Self::Not(parts) => {
                parts.iter().for_each(|part| part.options(found));
            }
            Self::Option(option) => {
                found.insert(option);
            }
        }
    }

    fn is_met(&self, build: &BTreeSet<&str>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.is_met(build)),
            Self::Any(parts) => parts.iter().any(|part| part.is_met(build)),
            Self::Not(parts) => !parts.iter().all(|part| part.is_met(build)),
            Self::Option(option) => build.contains(option.as_str()),
        }
    }
}

fn parse(text: &str) -> Predicate {
    let text = text.trim();
    let inside = |name: &str| {
        let rest = text.strip_prefix(name)?.trim_start().strip_prefix('(')?;
        Some(parts(rest.strip_suffix(')')?))
    };
    if let Some(parts) = inside("all") {
        Predicate::All(parts)
    } else if let Some(parts) = inside("any") {
        Predicate::Any(parts)
    } else if let Some(parts) = inside("not") {
        Predicate::Not(parts)
    } else {
        Predicate::Option(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// The predicates between the commas outside of all parentheses.
fn parts(list: &str) -> Vec<Predicate> {
    let mut depth = 0_usize;
    let parts = list.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty()).map(parse).collect()
}
