//! `verify`: reads everything, and checks whether it is as it was written.

use std::borrow::Cow;
use std::io;

use coact_persist::{EntityId, EntitySummary, Seq, StoreError, wait};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::args::VerifyArgs;
use crate::finding::{Finding, FindingCode};
use crate::history_check::HashChain;
use crate::message::{note_key, note_noun};
use crate::output::{LineOutput, count};
use crate::paged_reads;
use crate::source::JournalSource;

/// How it came out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is as it was written.
    Sound,
    /// It is not.
    Damaged,
    /// Some of it could not be read, and nothing says that it is damaged.
    Unreadable,
}

/// The last line.
#[derive(Serialize)]
#[serde(tag = "record", rename = "summary")]
struct VerifySummary {
    verdict: Verdict,
    entities: u64,
    events: u64,
    snapshots: u64,
    notes: u64,
    findings: u64,
    /// How many of these are of things that could not be read.
    unreadable: u64,
}

/// Verifies a source.
pub fn verify(
    source: &JournalSource,
    args: &VerifyArgs,
    output: &mut LineOutput,
) -> anyhow::Result<Verdict> {
    source.freeze()?;
    let mut verification = VerifyRun::new(source, args, output);
    let told = verification.run();
    verification.bar.finish_and_clear();
    match told {
        // Others have stopped listening: what was found is true nevertheless.
        Err(error)
            if error.kind() == io::ErrorKind::BrokenPipe && verification.sums.findings > 0 => {}
        told => told?,
    }
    Ok(verification.sums.verdict)
}

/// What was read of an entity.
struct EntityHistory {
    events: u64,
    snapshots: u64,
    findings: Vec<Finding>,
}

/// How often an entity is read again that looks damaged, and changes.
const TRIES: usize = 5;

struct VerifyRun<'a> {
    source: &'a JournalSource,
    args: &'a VerifyArgs,
    output: &'a mut LineOutput,
    bar: ProgressBar,
    sums: VerifySummary,
}

impl<'a> VerifyRun<'a> {
    fn new(source: &'a JournalSource, args: &'a VerifyArgs, output: &'a mut LineOutput) -> Self {
        let sums = VerifySummary {
            verdict: Verdict::Sound,
            entities: 0,
            events: 0,
            snapshots: 0,
            notes: 0,
            findings: 0,
            unreadable: 0,
        };
        Self { source, args, output, bar: ProgressBar::no_length(), sums }
    }

    fn run(&mut self) -> io::Result<()> {
        self.check_source()?;
        self.start_bar();
        let (source, args) = (self.source, self.args);
        for listed in paged_reads::entities(source.reader(), args.kind.as_deref(), None) {
            match listed {
                Ok(summary) => self.entity(summary)?,
                Err(error) => self.unreadable(None, "the list of entities", &error)?,
            }
        }
        self.end()
    }

    fn check_source(&mut self) -> io::Result<()> {
        self.bar.set_style(style("{spinner} {msg}"));
        self.bar.set_message("checking the file");
        self.bar.enable_steady_tick(std::time::Duration::from_millis(100));
        match self.source.check() {
            Ok(found) => found.into_iter().try_for_each(|it| self.find(&it.into())),
            Err(error) => self.unreadable(None, "the file as a whole", &error),
        }
    }

    /// Counts what is to come, if there is a bar to be seen: a store does not tell.
    fn start_bar(&mut self) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_message("counting");
        let all = paged_reads::entities(self.source.reader(), self.args.kind.as_deref(), None);
        let events: u64 = all
            .map_while(Result::ok)
            .fold(0, |sum, summary| sum.saturating_add(summary.last.get()));
        self.bar.set_style(style(
            "{spinner} {wide_bar} {human_pos}/{human_len} events, {per_sec}, {eta} left",
        ));
        self.bar.set_length(events);
        self.bar.reset_eta();
    }

    /// Checks an entity. One that looks damaged is read again until it is known that it has not
    /// changed meanwhile: not every store can show all as of one moment.
    fn entity(&mut self, listed: EntitySummary) -> io::Result<()> {
        let mut summary = listed;
        let mut history = self.history(&summary);
        for _ in 0..TRIES {
            if matches!(&history, Ok(history) if history.findings.is_empty()) {
                break;
            }
            let now = match paged_reads::entity(self.source.reader(), &summary.id) {
                Ok(Some(now)) => now,
                // It was deleted.
                Ok(None) => return Ok(()),
                Err(_) => break,
            };
            let is_as_before = now == summary;
            summary = now;
            history = self.history(&summary);
            if is_as_before {
                break;
            }
        }
        self.sums.entities += 1;
        match history {
            Ok(EntityHistory { events, snapshots, findings }) => {
                self.sums.events += events;
                self.sums.snapshots += snapshots;
                findings.iter().try_for_each(|finding| self.find(finding))?;
            }
            Err((what, error)) => self.unreadable(Some(&summary.id), what, &error)?,
        }
        self.notes(&summary.id)
    }

    /// Reads an entity's snapshots and events. If some cannot be read, it says no more: what is
    /// behind them is not missing.
    fn history(
        &self,
        summary: &EntitySummary,
    ) -> Result<EntityHistory, (&'static str, StoreError)> {
        let (id, reader) = (&summary.id, self.source.reader());
        let snapshots = wait(|done| reader.snapshots(id.clone(), done));
        let snapshots = snapshots.map_err(|error| ("its snapshots", error))?;
        let (mut chain, mut events) = (HashChain::new(summary, &snapshots), 0);
        for event in paged_reads::events(reader, id, Seq::ZERO) {
            let event = event.map_err(|error| ("its events", error))?;
            if event.seq == summary.last.next() && self.has_grown(summary) {
                break;
            }
            chain.add(&event);
            events += 1;
            self.bar.inc(1);
        }
        Ok(EntityHistory { events, snapshots: snapshots.len() as u64, findings: chain.end() })
    }

    /// Whether an entity has more events by now, so that those behind its last one are no damage.
    fn has_grown(&self, summary: &EntitySummary) -> bool {
        let now = paged_reads::entity(self.source.reader(), &summary.id);
        now.is_ok_and(|now| now.is_some_and(|now| now.last > summary.last))
    }

    fn notes(&mut self, id: &EntityId) -> io::Result<()> {
        for note in paged_reads::notes(self.source.reader(), id) {
            match note {
                Ok(_) => self.sums.notes += 1,
                Err(StoreError::CorruptNote { note, why }) => {
                    self.sums.notes += 1;
                    let (noun, key) = (note_noun(note.kind), note_key(&note));
                    let what = format!("its {noun} {key} is damaged: {why}");
                    self.find(&Finding::of(id, None, FindingCode::NoteSum, what))?;
                }
                Err(error) => self.unreadable(Some(id), "its notes", &error)?,
            }
        }
        Ok(())
    }

    fn unreadable(
        &mut self,
        id: Option<&EntityId>,
        what: &str,
        error: &StoreError,
    ) -> io::Result<()> {
        let why = reason(error);
        if let (Some(id), StoreError::Corrupt { seq, .. }) = (id, error) {
            let what = match *seq {
                Seq::ZERO => format!("{what} cannot be read ({why})"),
                seq => format!("event {seq} cannot be read ({why})"),
            };
            return self.find(&Finding::of(id, Some(*seq), FindingCode::EventHash, what));
        }
        self.sums.unreadable += 1;
        let what = format!("{what} cannot be read ({why})");
        let finding = |id| Finding::of(id, None, FindingCode::Unreadable, what.clone());
        let finding =
            id.map_or_else(|| Finding::of_all(FindingCode::Unreadable, what.clone()), finding);
        self.find(&finding)
    }

    fn find(&mut self, finding: &Finding) -> io::Result<()> {
        self.sums.findings += 1;
        self.sums.verdict = if self.sums.findings > self.sums.unreadable {
            Verdict::Damaged
        } else {
            Verdict::Unreadable
        };
        if self.args.json {
            self.output.record(finding)?;
        } else {
            let text = finding.text();
            self.bar.suspend(|| self.output.paragraph(0, 4, &text))?;
        }
        // At once: what is to come may take long.
        self.output.flush()
    }

    fn end(&mut self) -> io::Result<()> {
        let VerifySummary { verdict, entities, events, snapshots, notes, findings, .. } =
            &self.sums;
        if self.args.json {
            return self.output.record(&self.sums);
        }
        let read = format!(
            "{}, {}, {}, {}",
            count(*entities, "entity", "entities"),
            count(*events, "event", "events"),
            count(*snapshots, "snapshot", "snapshots"),
            count(*notes, "note", "notes"),
        );
        let findings = count(*findings, "finding", "findings");
        let verdict = match verdict {
            Verdict::Sound => "sound".to_owned(),
            Verdict::Damaged => format!("DAMAGED, {findings}"),
            Verdict::Unreadable => format!("COULD NOT BE READ, {findings}"),
        };
        self.output.line(&format!("{verdict}: {read}"))
    }
}

/// What a store says of an error, without the advice that [`Finding`]s give themselves.
fn reason(error: &StoreError) -> Cow<'_, str> {
    match error {
        StoreError::Unavailable { why }
        | StoreError::Corrupt { why, .. }
        | StoreError::CorruptNote { why, .. }
        | StoreError::Damaged { why } => why.into(),
        other => other.to_string().into(),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are tried in tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_right() {
        style("{spinner} {msg}");
        style("{spinner} {wide_bar} {human_pos}/{human_len} events, {per_sec}, {eta} left");
    }
}
