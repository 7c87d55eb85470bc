//! `list`: one line for each entity.

use std::sync::mpsc::Receiver;

use coact_persist::{
    EntityId, EntitySummary, NoteQuery, Seq, Snapshot, StoreError, StoreReader, StoredEvent,
};
use serde::Serialize;

use crate::args::ListArgs;
use crate::output::{ColumnAlignment, ColumnTable, LineOutput, count, grouped};
use crate::paged_reads;
use crate::quoted_name::quote_name;
use crate::record::{EntityOverview, ExportRecord, SnapshotOverview};

/// How many entities are asked about at once: their snapshots are in memory then.
const TOGETHER: usize = 16;

/// How many lines are aligned with each other. (Later ones are as wide, or wider.)
const ALIGNED: usize = 1_000;

/// How many kinds are told if there are none of the one that was named.
const KINDS: usize = 5;

/// The last line.
#[derive(Serialize, Default)]
#[serde(tag = "record", rename = "summary")]
struct ListSummary {
    entities: u64,
    /// Those that were trimmed among them.
    events: u64,
    /// The last commit that has one of these events.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    /// Whether there are more, behind the limit.
    more: bool,
}

/// Lists what is asked for.
pub fn list(
    reader: &dyn StoreReader,
    args: &ListArgs,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let mut found = chosen(reader, args, limit.saturating_add(1))?;
    let (mut sums, mut rows, mut last) = (ListSummary::default(), ListRows::new(args), None);
    loop {
        let room = limit - usize::try_from(sums.entities).unwrap_or(limit);
        let some: Vec<EntitySummary> =
            found.by_ref().take(TOGETHER.min(room)).collect::<Result<_, _>>()?;
        if some.is_empty() {
            break;
        }
        last = some.last().map(|summary| summary.id.clone()).or(last);
        for (summary, overview) in with_overviews(reader, some, args.brief)? {
            sums.entities += 1;
            sums.events = sums.events.saturating_add(summary.last.get());
            sums.position = overview.as_ref().and_then(|it| it.position).max(sums.position);
            if args.json {
                output.record(&ExportRecord::entity(&summary, overview))?;
            } else {
                rows.add(&summary, overview.as_ref(), output)?;
            }
        }
    }
    sums.more = found.next().transpose()?.is_some();
    if args.json {
        output.record(&sums)?;
        return Ok(());
    }
    rows.end(output)?;
    sum_up(&sums, last.as_ref(), args, output)?;
    if let Some(kind) = &args.kind
        && sums.entities == 0
        && paged_reads::entities_by(reader, Some(kind), None, 1).next().is_none()
    {
        output.line(&no_such_kind(reader)?)?;
    }
    Ok(())
}

/// The entities to list, read `most` at a time.
fn chosen<'a>(
    reader: &'a dyn StoreReader,
    args: &'a ListArgs,
    most: usize,
) -> anyhow::Result<Box<dyn Iterator<Item = Result<EntitySummary, StoreError>> + 'a>> {
    let (kind, after) = (args.kind.as_deref(), after(args)?);
    if !args.waiting {
        return Ok(Box::new(paged_reads::entities_by(reader, kind, after, most)));
    }
    // By the notes, of which there are few beside millions of entities that wait for nothing.
    let waiting = paged_reads::waiting(reader)?.into_iter();
    let is_chosen = move |id: &EntityId| {
        kind.is_none_or(|kind| id.kind() == kind) && after.as_ref().is_none_or(|after| id > after)
    };
    let found = waiting.filter(is_chosen).map(|id| paged_reads::entity(reader, &id));
    Ok(Box::new(found.filter_map(Result::transpose)))
}

/// Behind which entity the list begins.
fn after(args: &ListArgs) -> anyhow::Result<Option<EntityId>> {
    Ok(match (&*args.after, &args.kind) {
        ([], _) => None,
        ([key], Some(kind)) => Some(EntityId::new(&**kind, &**key)),
        ([kind, key], _) => Some(EntityId::new(&**kind, &**key)),
        _ => anyhow::bail!("`--after KEY` needs `--kind KIND`, or both: `--after KIND KEY`"),
    })
}

fn sum_up(
    sums: &ListSummary,
    last: Option<&EntityId>,
    args: &ListArgs,
    output: &mut LineOutput,
) -> std::io::Result<()> {
    let entities = count(sums.entities, "entity", "entities");
    let events = count(sums.events, "event", "events");
    let commit = sums.position.map_or_else(String::new, |position| {
        format!(", the last one in commit {}", grouped(position))
    });
    output.line(&format!("{entities}, {events}{commit}"))?;
    match last.filter(|_| sums.more) {
        Some(last) if args.kind.is_some() => {
            output.line(&format!("There are more: --after {}", quoted(last.key())))
        }
        Some(last) => {
            let (kind, key) = (quoted(last.kind()), quoted(last.key()));
            output.line(&format!("There are more: --after {kind} {key}"))
        }
        None => Ok(()),
    }
}

/// Says which kinds there are instead.
pub fn no_such_kind(reader: &dyn StoreReader) -> anyhow::Result<String> {
    let (kinds, has_more) = paged_reads::kinds(reader, KINDS)?;
    let kinds: Vec<_> = kinds.iter().map(|kind| quote_name(kind)).collect();
    let more = if has_more { " and others" } else { "" };
    Ok(if kinds.is_empty() {
        "nothing is stored".to_owned()
    } else {
        format!("there are no entities of this kind; kinds are {}{more}", kinds.join(" or "))
    })
}

/// A name as a shell takes it.
pub fn quoted(name: &str) -> String {
    let shown = quote_name(name);
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    if shown.chars().all(is_plain) {
        shown.into_owned()
    } else {
        format!("'{}'", shown.replace('\'', r"'\''"))
    }
}

/// What is asked of an entity.
struct OverviewRequest {
    summary: EntitySummary,
    last: Receiver<Result<Vec<StoredEvent>, StoreError>>,
    snapshots: Receiver<Result<Vec<Snapshot>, StoreError>>,
    notes: Receiver<Result<Vec<coact_persist::Note>, StoreError>>,
}

/// How many notes are asked for along with the rest.
const NOTES: usize = 16;

fn with_overviews(
    reader: &dyn StoreReader,
    all: Vec<EntitySummary>,
    brief: bool,
) -> Result<Vec<(EntitySummary, Option<EntityOverview>)>, StoreError> {
    if brief {
        return Ok(all.into_iter().map(|summary| (summary, None)).collect());
    }
    let asked: Vec<OverviewRequest> = all.into_iter().map(|summary| ask(reader, summary)).collect();
    asked.into_iter().map(|asked| overview(reader, asked)).collect()
}

fn ask(reader: &dyn StoreReader, summary: EntitySummary) -> OverviewRequest {
    let id = || summary.id.clone();
    let before = Seq::new(summary.last.get().saturating_sub(1));
    let which = NoteQuery::Of { entity: id(), after: None };
    OverviewRequest {
        last: paged_reads::ask(|done| reader.events(id(), before, 1, done)),
        snapshots: paged_reads::ask(|done| reader.snapshots(id(), done)),
        notes: paged_reads::ask(|done| reader.notes(which, NOTES, done)),
        summary,
    }
}

fn overview(
    reader: &dyn StoreReader,
    asked: OverviewRequest,
) -> Result<(EntitySummary, Option<EntityOverview>), StoreError> {
    let last = paged_reads::answer(&asked.last)?;
    let snapshots = paged_reads::answer(&asked.snapshots)?;
    let mut overview = EntityOverview {
        position: last.first().map(|event| event.position.get()),
        snapshot: snapshots.first().map(|snapshot @ Snapshot { seq, state, .. }| {
            SnapshotOverview {
                seq: seq.get(),
                name: state.name.to_string(),
                version: state.version,
                bytes: state.payload.len() as u64,
                damaged: snapshot.check(&asked.summary.id).is_err(),
            }
        }),
        notes: Default::default(),
    };
    match paged_reads::answer(&asked.notes) {
        Ok(page) if page.len() < NOTES => {
            page.iter().for_each(|note| overview.notes.add(note.kind));
        }
        // There are more, or damaged ones.
        Ok(_) | Err(StoreError::CorruptNote { .. }) => {
            for read in paged_reads::notes(reader, &asked.summary.id) {
                overview.notes.add(paged_reads::note(read)?.0.kind);
            }
        }
        Err(error) => return Err(error),
    }
    Ok((asked.summary, Some(overview)))
}

/// The event up to which a snapshot goes.
fn up_to(SnapshotOverview { seq, damaged, .. }: &SnapshotOverview) -> String {
    if *damaged { format!("{seq} (damaged)") } else { seq.to_string() }
}

/// Lines that are written when there are enough to align them.
struct ListRows {
    table: ColumnTable,
    waiting: Vec<Vec<String>>,
}

impl ListRows {
    fn new(args: &ListArgs) -> Self {
        use ColumnAlignment::{Left, Right};
        let (alignment, header): (&'static [_], &[&str]) = if args.brief {
            (&[Right, Right, Left, Left], &["LAST", "EPOCH", "KIND", "KEY"])
        } else {
            (
                &[Right, Right, Right, Right, Right, Right, Right, Left, Left],
                &["LAST", "EPOCH", "COMMIT", "SNAPSHOT", "OUT", "DEAD", "TIMERS", "KIND", "KEY"],
            )
        };
        let header = header.iter().map(ToString::to_string).collect();
        Self { table: ColumnTable::new(alignment), waiting: vec![header] }
    }

    fn add(
        &mut self,
        summary: &EntitySummary,
        overview: Option<&EntityOverview>,
        output: &mut LineOutput,
    ) -> std::io::Result<()> {
        let or_none = |number: Option<u64>| number.map_or_else(|| "-".into(), |it| it.to_string());
        let mut row = vec![summary.last.to_string(), summary.epoch.to_string()];
        if let Some(EntityOverview { position, snapshot, notes }) = overview {
            row.push(or_none(*position));
            row.push(snapshot.as_ref().map_or_else(|| "-".into(), up_to));
            let counts = [notes.outgoing, notes.dead_letters, notes.timers];
            row.extend(counts.map(|count| or_none(Some(count).filter(|count| *count > 0))));
        }
        row.extend([summary.id.kind(), summary.id.key()].map(|name| quote_name(name).into_owned()));
        self.waiting.push(row);
        if self.waiting.len() > ALIGNED { self.end(output) } else { Ok(()) }
    }

    fn end(&mut self, output: &mut LineOutput) -> std::io::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        self.table.write(output, "", &rows)
    }
}
