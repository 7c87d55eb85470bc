//! Counts that may only shrink: what each area of the project is still allowed of each rule.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::survey::{Area, Rule};

/// What the table begins with.
const NOTE: &str = "\
# What each area may still have of what the rules for names and prose refuse (`cargo xtask names`).
# Counts only shrink: `cargo xtask names --lower`. What is missing may have none (30 % of one word).
";

/// What is allowed, by area; what is missing is allowed only as much as is the goal.
pub struct Ratchet(BTreeMap<String, BTreeMap<Rule, usize>>);

/// A count that is not what the ratchet says.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub area: String,
    /// What was counted.
    pub rule: Rule,
    /// How many there are.
    pub count: usize,
    /// How many are allowed.
    pub allowed: usize,
}

impl Difference {
    /// Whether there are more than allowed, and not fewer.
    pub fn is_growth(&self) -> bool {
        self.count > self.allowed
    }
}

impl Ratchet {
    /// Reads a table: a line of the rules, then one for each area. Lines that begin with `#` are
    /// comments.
    ///
    /// # Errors
    /// The line that is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let header = lines.next().unwrap_or_default();
        let columns: Option<Vec<Rule>> = header.split_whitespace().skip(1).map(Rule::of).collect();
        let columns = columns.ok_or_else(|| header.to_owned())?;
        let mut areas = BTreeMap::new();
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let mut cells = line.split_whitespace();
            let area = cells.next().unwrap_or_default().to_owned();
            let counts: Result<Vec<usize>, _> = cells.map(str::parse).collect();
            let counts = counts.ok().filter(|counts| counts.len() == columns.len());
            let counts = counts.ok_or_else(|| line.to_owned())?;
            areas.insert(area, columns.iter().copied().zip(counts).collect());
        }
        Ok(Self(areas))
    }

    /// How many an area may have.
    pub fn allowed(&self, area: &str, rule: Rule) -> usize {
        let counts = self.0.get(area);
        counts.and_then(|counts| counts.get(&rule)).copied().unwrap_or(0).max(rule.goal())
    }

    /// Where areas have more than they may, and where they have so much less that the table can be
    /// lowered.
    ///
    /// ```
    /// use coact_xtask::ratchet::Ratchet;
    /// use coact_xtask::survey::{Area, Finding, Rule};
    ///
    /// let finding = || Finding { place: "a.rs:1".to_owned(), text: "Told".to_owned() };
    /// let area = |count: usize| Area {
    ///     name: "core".to_owned(),
    ///     types: 10,
    ///     findings: [(Rule::Participle, (0..count).map(|_| finding()).collect())].into(),
    /// };
    /// let ratchet = Ratchet::parse("area participle\ncore 2").unwrap();
    /// let growth = |area: Area| {
    ///     let differences = ratchet.differences(&[area]);
    ///     differences.iter().map(|it| it.is_growth()).collect::<Vec<_>>()
    /// };
    /// assert_eq!(growth(area(3)), [true]);
    /// assert!(growth(area(2)).is_empty());
    /// assert_eq!(growth(area(1)), [false]);
    /// // A new area has only what the goal allows.
    /// assert_eq!(growth(Area { name: "new".to_owned(), ..area(1) }), [true]);
    /// ```
    pub fn differences(&self, areas: &[Area]) -> Vec<Difference> {
        let all = areas.iter().flat_map(|area| Rule::ALL.map(|rule| (area, rule)));
        let all = all.map(|(area, rule)| Difference {
            area: area.name.clone(),
            rule,
            count: area.count(rule).max(rule.goal()),
            allowed: self.allowed(&area.name, rule),
        });
        all.filter(|it| it.count != it.allowed).collect()
    }

    /// The table with each count that has shrunk; none grows.
    pub fn lowered(&self, areas: &[Area]) -> String {
        let mut text = NOTE.to_owned();
        _ = write!(text, "{:10}", "area");
        for rule in Rule::ALL {
            _ = write!(text, " {:>12}", rule.name());
        }
        for area in areas {
            _ = write!(text, "\n{:10}", area.name);
            for rule in Rule::ALL {
                let count = area.count(rule).min(self.allowed(&area.name, rule));
                _ = write!(text, " {:>12}", count);
            }
        }
        text + "\n"
    }
}
