//! The versions of a key that gets may answer.

/// The life of a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VersionStatus {
    /// Requested, and neither stored nor failed.
    Requested,
    Stored,
    /// Failed or refused: no get ever answers it.
    Failed,
}

/// The versions of a key, in the order of their requests. The first is its absence.
#[derive(Debug)]
pub(super) struct KeyVersions {
    versions: Vec<(Option<u64>, VersionStatus)>,
    /// Whether a version may be answered as soon as it is requested, as with writes behind.
    answers_requested: bool,
}

impl KeyVersions {
    pub(super) fn new(answers_requested: bool) -> Self {
        Self { versions: vec![(None, VersionStatus::Stored)], answers_requested }
    }

    pub(super) fn len(&self) -> usize {
        self.versions.len()
    }

    /// Adds a version, and returns its place.
    pub(super) fn push(&mut self, content: Option<u64>, status: VersionStatus) -> usize {
        self.versions.push((content, status));
        self.versions.len() - 1
    }

    pub(super) fn set_status(&mut self, at: usize, status: VersionStatus) {
        self.versions[at].1 = status;
    }

    pub(super) fn is_stored(&self, at: usize) -> bool {
        self.versions[at].1 == VersionStatus::Stored
    }

    /// Returns the place and the content of the first version behind this one that is requested.
    pub(super) fn next_requested(&self, behind: usize) -> Option<(usize, Option<u64>)> {
        let mut versions = self.versions.iter().enumerate().skip(behind + 1);
        let next = versions.find(|(_, (_, status))| *status == VersionStatus::Requested);
        next.map(|(at, (content, _))| (at, *content))
    }

    /// Returns the content of the newest version that is stored.
    pub(super) fn stored(&self) -> Option<u64> {
        let stored = |(_, status): &&(_, VersionStatus)| *status == VersionStatus::Stored;
        self.versions.iter().rfind(stored).and_then(|(content, _)| *content)
    }

    fn may_answer(&self, at: usize) -> bool {
        match self.versions[at].1 {
            VersionStatus::Requested => self.answers_requested,
            VersionStatus::Stored => true,
            VersionStatus::Failed => false,
        }
    }

    /// Whether a get that came when there were `arrival` versions may return `content`: that of the
    /// newest of them that did not fail, or of a later one.
    pub(super) fn allows(&self, arrival: usize, content: Option<u64>) -> bool {
        let lower = (0..arrival).rev().find(|at| self.may_answer(*at)).unwrap_or(0);
        (lower..self.len()).any(|at| self.may_answer(at) && self.versions[at].0 == content)
    }
}
