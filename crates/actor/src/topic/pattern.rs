//! Patterns of paths.

use std::fmt;

/// The paths that a subscriber wants.
pub(crate) struct PathPattern {
    steps: Box<[PatternStep]>,
    /// Whether it ends in `**`.
    and_below: bool,
}

enum PatternStep {
    This(Box<str>),
    Any,
}

/// A pattern that can match no path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadPattern {
    /// The pattern.
    pub pattern: Box<str>,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pattern {:?} matches no path: {}", self.pattern, self.why)
    }
}

impl std::error::Error for BadPattern {}

impl PathPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, BadPattern> {
        let bad = |why| BadPattern { pattern: text.into(), why };
        let (steps, and_below) = match text.strip_suffix("**") {
            Some("") => return Ok(Self { steps: Box::default(), and_below: true }),
            Some(rest) => match rest.strip_suffix('/') {
                Some(steps) => (steps, true),
                None => return Err(bad("`**` stands for whole steps")),
            },
            None => (text, false),
        };
        let steps = steps.split('/').map(|step| match step {
            "" => Err(bad("a step is empty")),
            "*" => Ok(PatternStep::Any),
            "**" => Err(bad("`**` can only come last")),
            _ if step.contains('*') => Err(bad("`*` stands for a whole step")),
            _ => Ok(PatternStep::This(step.into())),
        });
        Ok(Self { steps: steps.collect::<Result<_, _>>()?, and_below })
    }

    pub(super) fn fits(&self, path: &str) -> bool {
        let mut path = path.split('/');
        let fits = self.steps.iter().all(|step| match (step, path.next()) {
            (PatternStep::This(this), Some(step)) => **this == *step,
            (PatternStep::Any, Some(_)) => true,
            (_, None) => false,
        });
        fits && (self.and_below || path.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::PathPattern;

    #[test]
    fn patterns_fit_what_they_say() {
        let cases = [
            ("a/b", "a/b", true),
            ("a/b", "a", false),
            ("a/b", "a/b/c", false),
            ("a/*", "a/b", true),
            ("a/*", "a", false),
            ("*/b", "x/b", true),
            ("*/b", "x/c", false),
            ("a/**", "a/b/c", true),
            ("a/**", "a", true),
            ("a/**", "b/c", false),
            ("**", "whatever/there/is", true),
        ];
        for (pattern, path, fits) in cases {
            let parsed = PathPattern::parse(pattern).expect("a valid pattern");
            assert_eq!(parsed.fits(path), fits, "{pattern} and {path}");
        }
    }

    #[test]
    fn what_fits_no_path_is_refused() {
        for pattern in ["", "a//b", "a/", "/a", "a/**/b", "a*", "a/b**", "/**"] {
            assert!(PathPattern::parse(pattern).is_err(), "{pattern}");
        }
    }
}
