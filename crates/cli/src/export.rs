//! `export`: everything as JSON Lines.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Context, bail};
use coact_persist::{EntityId, EntitySummary, Seq, StoreReader, wait};

use crate::args::ExportArgs;
use crate::output::LineOutput;
use crate::paged_reads;
use crate::quoted_name::quote_name;
use crate::record::ExportRecord;
use crate::source::JournalSource;

/// Exports what is asked for.
pub fn export(source: &JournalSource, args: &ExportArgs, output: LineOutput) -> anyhow::Result<()> {
    let output = match &args.output {
        Some(path) => to_file(path)?,
        None => output,
    };
    source.freeze()?;
    let mut exporting = ExportRun { reader: source.reader(), args, output, counts: [0; 4] };
    exporting.run()?;
    exporting.output.flush()?;
    Ok(())
}

/// A new file: so no store, nor an earlier export, is written over.
fn to_file(path: &Path) -> anyhow::Result<LineOutput> {
    let file = match File::create_new(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("`{}` is there already: name a file that is not", path.display())
        }
        Err(error) => {
            return Err(error).with_context(|| format!("`{}` cannot be written", path.display()));
        }
    };
    Ok(LineOutput::new(Box::new(file), None))
}

struct ExportRun<'a> {
    reader: &'a dyn StoreReader,
    args: &'a ExportArgs,
    output: LineOutput,
    /// Entities, snapshots, events, notes.
    counts: [u64; 4],
}

impl ExportRun<'_> {
    fn run(&mut self) -> anyhow::Result<()> {
        let (reader, args) = (self.reader, self.args);
        self.output.record(&ExportRecord::format())?;
        if let [kind, key] = &*args.entity {
            let id = EntityId::new(&**kind, &**key);
            let found = paged_reads::entity(reader, &id)?;
            let Some(found) = found else {
                bail!(
                    "nothing is stored of {} {}: `show` finds similar ones",
                    quote_name(kind),
                    quote_name(key)
                );
            };
            self.entity(&found)?;
        } else {
            for summary in paged_reads::entities(reader, args.kind.as_deref(), None) {
                self.entity(&summary?)?;
            }
        }
        if let Some(kind) = args.kind.as_deref().filter(|_| args.by_commit) {
            for entry in paged_reads::log(reader, kind) {
                let entry = entry?;
                self.write(2, &ExportRecord::event(&entry.entity, &entry.stored))?;
            }
        }
        let [entities, snapshots, events, notes] = self.counts;
        self.output.record(&ExportRecord::End { entities, snapshots, events, notes })?;
        Ok(())
    }

    fn entity(&mut self, summary: &EntitySummary) -> anyhow::Result<()> {
        let (reader, id) = (self.reader, &summary.id);
        self.write(0, &ExportRecord::entity(summary, None))?;
        for snapshot in wait(|done| reader.snapshots(id.clone(), done))? {
            self.write(1, &ExportRecord::snapshot(id, &snapshot))?;
        }
        if !self.args.by_commit {
            for event in paged_reads::events(reader, id, Seq::ZERO) {
                self.write(2, &ExportRecord::event(id, &event?))?;
            }
        }
        for read in paged_reads::notes(reader, id) {
            let (note, is_sound) = paged_reads::note(read)?;
            self.write(3, &ExportRecord::note(&note, is_sound))?;
        }
        Ok(())
    }

    fn write(&mut self, counter: usize, record: &ExportRecord) -> io::Result<()> {
        self.counts[counter] += 1;
        self.output.record(record)
    }
}
