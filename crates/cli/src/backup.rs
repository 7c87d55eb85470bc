//! `backup`: a copy of a file, made beside the program that writes it.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::bail;
use coact_sqlite::SqliteReader;

use crate::args::{BackupArgs, JournalArgs};
use crate::list::quoted;
use crate::output::{LineOutput, count};
use crate::paged_reads;
use crate::source::{JournalSource, is_database};

/// Makes the copy, and tells what is in it.
pub fn backup(
    journal: &JournalArgs,
    args: &BackupArgs,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    refuse_database(&journal.source, &journal.schema)?;
    if journal.immutable {
        bail!("`--immutable` says that no program has the file: then `cp` copies it");
    }
    let target = &args.target;
    let source = JournalSource::open(&journal.source, &journal.schema, false)?;
    let Some(file) = source.file() else { bail!("only a file is backed up by this tool") };
    file.back_up(target)?;
    let copied = contents(target)?;
    output.line(&format!("`{}` is a copy: {copied}", target.display()))?;
    Ok(())
}

/// Says how a database is backed up, before one connects to it.
fn refuse_database(source: &OsStr, schema: &str) -> anyhow::Result<()> {
    if is_database(source) {
        bail!(
            "a database is backed up by its own tool: `pg_dump --schema={} --format=custom --file=FILE URL`",
            quoted(schema)
        );
    }
    Ok(())
}

/// What is in a copy, by reading it: so one that cannot be read is not told to be a copy.
fn contents(copy: &Path) -> anyhow::Result<String> {
    let reader = SqliteReader::open_immutable(copy)?;
    let (mut entities, mut events) = (0, 0_u64);
    for listed in paged_reads::entities(&reader, None, None) {
        entities += 1;
        events = events.saturating_add(listed?.last.get());
    }
    let (entities, events) =
        (count(entities, "entity", "entities"), count(events, "event", "events"));
    Ok(format!("{entities}, {events}"))
}
