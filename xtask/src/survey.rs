//! What the rules for names and prose find in the project, area by area.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::modules::File;
use crate::names::{self, CrateType};
use crate::{prose, tree};

/// A rule whose findings are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Names of types of one word, in percent.
    OneWord,
    /// Names that two types of a crate have, or two public ones of different crates.
    Twice,
    /// Participles as names of types.
    Participle,
    /// Names of files that say nothing.
    VagueFile,
    /// Comments wider than 100 columns.
    WideComment,
    /// Phrases that plain English has better words for.
    Phrase,
}

impl Rule {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::OneWord,
        Self::Twice,
        Self::Participle,
        Self::VagueFile,
        Self::WideComment,
        Self::Phrase,
    ];

    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneWord => "one-word-%",
            Self::Twice => "twice",
            Self::Participle => "participle",
            Self::VagueFile => "vague-file",
            Self::WideComment => "wide-comment",
            Self::Phrase => "phrase",
        }
    }

    /// The rule of a [name](Self::name).
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// What every area may have.
    pub fn goal(self) -> usize {
        if self == Self::OneWord { 30 } else { 0 }
    }
}

/// Something that a rule has found.
#[derive(Clone)]
pub struct Finding {
    /// The file, from the root, and its line.
    pub place: String,
    /// The name or the phrase.
    pub text: String,
}

/// A crate below `crates`, or another folder of the root.
pub struct Area {
    /// The folder's name.
    pub name: String,
    /// How many types it declares outside of tests.
    pub types: usize,
    /// What has been found in it.
    pub findings: BTreeMap<Rule, Vec<Finding>>,
}

impl Area {
    /// What a rule has found.
    pub fn found(&self, rule: Rule) -> &[Finding] {
        self.findings.get(&rule).map_or(&[], Vec::as_slice)
    }

    /// How many that are; of [`Rule::OneWord`], the percentage, rounded up. A name that is there
    /// twice counts once.
    pub fn count(&self, rule: Rule) -> usize {
        match rule {
            Rule::OneWord => (100 * self.found(rule).len()).div_ceil(self.types.max(1)),
            Rule::Twice => {
                let names: BTreeSet<_> = self.found(rule).iter().map(|it| &it.text).collect();
                names.len()
            }
            _ => self.found(rule).len(),
        }
    }
}

/// The area of names that public types of two crates have.
const BETWEEN_CRATES: &str = "(crates)";

/// The crates whose public types users see, by `coact` or by their own name.
const FOR_USERS: [&str; 9] =
    ["actor", "cache", "coact", "core", "durable", "dynamic", "persist", "postgres", "sqlite"];

/// Looks at the whole project.
pub fn survey() -> Vec<Area> {
    let root = tree::root();
    let mut areas = Vec::new();
    let mut public: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for folder in folders(&root.join("crates")) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut area = prose_of(&folder, &name);
        let texts = texts(&folder.join("src"));
        let files: Vec<_> = texts.iter().map(|(path, text)| File::new(path, text)).collect();
        let types = names::types(&files);
        let place = |one: &CrateType| {
            format!("crates/{name}/src/{}:{}", texts[one.file].0, one.declaration.line)
        };
        area.types = types.len();
        for one in &types {
            let text = &one.declaration.name;
            let finding = || Finding { place: place(one), text: text.clone() };
            if names::is_one_word(text) {
                area.findings.entry(Rule::OneWord).or_default().push(finding());
            }
            if names::is_participle(text) {
                area.findings.entry(Rule::Participle).or_default().push(finding());
            }
            if one.declaration.is_public && FOR_USERS.contains(&name.as_str()) {
                public.entry(text.clone()).or_default().push((name.clone(), place(one)));
            }
        }
        for (text, all) in names::twice(&types) {
            let findings =
                all.into_iter().map(|one| Finding { place: place(one), text: text.to_owned() });
            area.findings.entry(Rule::Twice).or_default().extend(findings);
        }
        let vague = texts.iter().filter(|(path, _)| names::is_vague_file(path));
        let vague = vague.map(|(path, _)| Finding {
            place: format!("crates/{name}/src/{path}"),
            text: String::new(),
        });
        area.findings.entry(Rule::VagueFile).or_default().extend(vague);
        areas.push(area);
    }
    areas.push(between_crates(public));
    for name in ["bench", "docs", "examples", "tests", "xtask"] {
        let mut area = prose_of(&root.join(name), name);
        if name == "docs" {
            for page in
                tree::entries(&root).iter().filter(|it| it.extension().is_some_and(|it| it == "md"))
            {
                add_prose(&mut area, page);
            }
        }
        areas.push(area);
    }
    areas
}

/// The names that public types of two crates have.
fn between_crates(public: BTreeMap<String, Vec<(String, String)>>) -> Area {
    let mut findings = Vec::new();
    for (text, places) in public {
        let crates: BTreeSet<_> = places.iter().map(|(name, _)| name).collect();
        if crates.len() > 1 {
            let places = places.into_iter();
            findings.extend(places.map(|(_, place)| Finding { place, text: text.clone() }));
        }
    }
    Area { name: BETWEEN_CRATES.to_owned(), types: 0, findings: [(Rule::Twice, findings)].into() }
}

/// What the rules for prose find below a folder.
fn prose_of(folder: &Path, name: &str) -> Area {
    let mut area = Area { name: name.to_owned(), types: 0, findings: BTreeMap::new() };
    for extension in ["md", "rs"] {
        for path in tree::files(folder, extension) {
            add_prose(&mut area, &path);
        }
    }
    area
}

fn add_prose(area: &mut Area, path: &Path) {
    // The phrases themselves.
    if path.ends_with("xtask/src/prose.rs") {
        return;
    }
    let (short, text) = (tree::short(path), tree::text(path));
    let finding = |line: usize, text: &str| Finding {
        place: format!("{short}:{line}"),
        text: text.to_owned(),
    };
    if path.extension().is_some_and(|it| it == "rs") {
        let wide = prose::wide_comments(&text).into_iter().map(|line| finding(line, ""));
        area.findings.entry(Rule::WideComment).or_default().extend(wide);
    }
    let phrases = prose::phrases(&text).into_iter().map(|(line, phrase)| finding(line, phrase));
    area.findings.entry(Rule::Phrase).or_default().extend(phrases);
}

fn folders(of: &Path) -> Vec<std::path::PathBuf> {
    tree::entries(of).into_iter().filter(|path| path.is_dir()).collect()
}

/// The Rust files below a folder, each with its path from there.
pub fn texts(folder: &Path) -> Vec<(String, String)> {
    let texts = tree::files(folder, "rs").into_iter().map(|path| {
        let below = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        (below.replace('\\', "/"), tree::text(&path))
    });
    texts.collect()
}
