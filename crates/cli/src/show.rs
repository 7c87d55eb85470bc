//! `show`: all that is stored of one entity.

use std::collections::VecDeque;

use anyhow::bail;
use coact_persist::{
    EntityId, EntitySummary, Note, NoteKind, Seq, Snapshot, StoreReader, StoredEvent, Tags, wait,
};

use crate::args::ShowArgs;
use crate::list::{no_such_kind, quoted};
use crate::message::{StoredMessage, note_key};
use crate::output::{ColumnAlignment, ColumnTable, LineOutput, count, grouped};
use crate::paged_reads;
use crate::quoted_name::{edit_distance, quote_name};
use crate::record::{ExportRecord, note_time, readable};

/// How many events people get who do not say which.
const LAST: u64 = 20;

/// Follows the number or key of a damaged snapshot or note, where a narrow terminal still shows it.
const DAMAGED: &str = " (damaged: see `verify`)";

/// How many rows are aligned with each other.
const ALIGNED: usize = 500;

/// How many other entities are suggested.
const SUGGESTED: usize = 5;

/// Shows the entity that is asked for.
pub fn show(
    reader: &dyn StoreReader,
    args: &ShowArgs,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let id = EntityId::new(&*args.kind, &*args.key);
    let Some(summary) = paged_reads::entity(reader, &id)? else {
        bail!("{}", not_found(reader, &id)?);
    };
    let snapshots = wait(|done| reader.snapshots(id.clone(), done))?;
    let chosen = chosen(args, summary.last.get());
    if args.json {
        records(reader, &summary, &snapshots, &chosen, output)
    } else {
        text(reader, &summary, &snapshots, &chosen, output)
    }
}

/// Which events are shown.
struct EventRange {
    from: u64,
    to: u64,
    /// Whether that was not asked for.
    is_usual: bool,
}

fn chosen(args: &ShowArgs, last: u64) -> EventRange {
    let is_usual = args.from.is_none() && args.to.is_none() && args.last.is_none();
    let most = if is_usual && !args.json { Some(LAST) } else { args.last };
    let to = args.to.unwrap_or(u64::MAX);
    let from = args.from.unwrap_or(1).max(1);
    // (What is behind the last one that the entity knows of is shown as well, if it is there.)
    let least = most.map_or(1, |most| to.min(last).saturating_add(1).saturating_sub(most));
    let from = if most == Some(0) { u64::MAX } else { from.max(least) };
    EventRange { from, to, is_usual }
}

impl EventRange {
    fn events(
        &self,
        reader: &dyn StoreReader,
        id: &EntityId,
    ) -> impl Iterator<Item = Result<StoredEvent, coact_persist::StoreError>> {
        // (Numbers of events have 63 bits.)
        let after = Seq::new((self.from - 1).min(i64::MAX as u64));
        let to = self.to;
        paged_reads::events(reader, id, after)
            .take_while(move |event| event.as_ref().map_or(true, |event| event.seq.get() <= to))
    }
}

fn records(
    reader: &dyn StoreReader,
    summary: &EntitySummary,
    snapshots: &[Snapshot],
    chosen: &EventRange,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    output.record(&ExportRecord::entity(summary, None))?;
    snapshots
        .iter()
        .try_for_each(|snapshot| output.record(&ExportRecord::snapshot(&summary.id, snapshot)))?;
    for event in chosen.events(reader, &summary.id) {
        output.record(&ExportRecord::event(&summary.id, &event?))?;
    }
    for read in paged_reads::notes(reader, &summary.id) {
        let (note, is_sound) = paged_reads::note(read)?;
        output.record(&ExportRecord::note(&note, is_sound))?;
    }
    Ok(())
}

fn text(
    reader: &dyn StoreReader,
    summary: &EntitySummary,
    snapshots: &[Snapshot],
    chosen: &EventRange,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let EntitySummary { id, epoch, last, hash } = summary;
    output.line(&format!("{} {}", quote_name(id.kind()), quote_name(id.key())))?;
    output.line(&format!("  last event  {last}"))?;
    output.line(&format!("  epoch       {epoch}"))?;
    output.line(&format!("  hash        {hash}"))?;
    for snapshot in snapshots {
        let Snapshot { seq, hash, state, .. } = snapshot;
        let (name, value) = (quote_name(&state.name), readable(&state.payload));
        let typed = format!("{name} v{}", state.version);
        let damaged = if snapshot.check(id).is_err() { DAMAGED } else { "" };
        output.line(&format!(
            "  snapshot    up to event {seq}{damaged}, hash {hash}: {typed} {value}"
        ))?;
    }
    show_events(reader, summary, !snapshots.is_empty(), chosen, output)?;
    show_notes(reader, id, output)
}

fn show_events(
    reader: &dyn StoreReader,
    summary: &EntitySummary,
    has_snapshot: bool,
    chosen: &EventRange,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    use ColumnAlignment::{Left, Right};
    let mut table = ColumnTable::new(&[Right, Right, Left, Left, Left]);
    let header = ["SEQ", "COMMIT", "HASH", "EVENT", "PAYLOAD"].map(String::from).to_vec();
    let (mut rows, mut shown_events) = (vec![header], 0_u64);
    output.line("")?;
    output.line("events")?;
    let mut first = None;
    for event in chosen.events(reader, &summary.id) {
        let StoredEvent { seq, event, hash, position, tags } = event?;
        first = first.or(Some(seq.get()));
        shown_events += 1;
        rows.push(vec![
            seq.to_string(),
            position.to_string(),
            hash.to_string(),
            format!("{} v{}{}", quote_name(&event.name), event.version, quoted_tags(&tags)),
            readable(&event.payload),
        ]);
        if rows.len() >= ALIGNED {
            table.write(output, "  ", &std::mem::take(&mut rows))?;
        }
    }
    if shown_events > 0 {
        table.write(output, "  ", &rows)?;
    }
    let last = summary.last.get();
    let remark = match first {
        None if chosen.from > last => Some(format!("(none: its last event is {last})")),
        None if has_snapshot => Some(
            "(none: the snapshot is all there is of them, or a state that has none)".to_owned(),
        ),
        None => Some("(none, though there were some: see `verify`)".to_owned()),
        Some(first) if first > chosen.from => {
            Some(format!("(events {} to {} are not stored any more)", chosen.from, first - 1))
        }
        Some(first) if chosen.is_usual && first > 1 => {
            let shown_events = grouped(shown_events);
            Some(format!("(the last {shown_events} of {}: `--from 1` shows all)", grouped(last)))
        }
        Some(_) => None,
    };
    remark.map_or(Ok(()), |remark| output.line(&format!("  {remark}")))?;
    Ok(())
}

/// Behind the type of an event.
fn quoted_tags(tags: &Tags) -> String {
    tags.iter().map(|tag| format!(" #{}", quote_name(tag))).collect()
}

/// Notes are gathered by kind as they come, which is ordered by kind.
fn show_notes(
    reader: &dyn StoreReader,
    id: &EntityId,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    use ColumnAlignment::Left;
    let (mut of, mut rows) = (None, VecDeque::<Vec<String>>::new());
    let mut table = ColumnTable::new(&[Left, Left, Left, Left]);
    let mut write = |rows: &mut VecDeque<Vec<String>>, output: &mut LineOutput| {
        table.write(output, "  ", &std::mem::take(rows).into_iter().collect::<Vec<_>>())
    };
    for read in paged_reads::notes(reader, id) {
        let (note, is_sound) = paged_reads::note(read)?;
        if of != Some(note.kind) {
            write(&mut rows, output)?;
            output.line("")?;
            output.line(title(note.kind))?;
            let header = ["KEY", order(note.kind), "MESSAGE", "PAYLOAD"];
            rows.push_back(header.map(String::from).to_vec());
            of = Some(note.kind);
        }
        let mut row = row(&note);
        if !is_sound {
            row[0].push_str(DAMAGED);
        }
        rows.push_back(row);
        if rows.len() >= ALIGNED {
            write(&mut rows, output)?;
        }
    }
    write(&mut rows, output)?;
    Ok(())
}

fn row(note: &Note) -> Vec<String> {
    let time = note_time(note).unwrap_or_else(|| note.rank.to_string());
    let Some(message) = StoredMessage::of(&note.value) else {
        let typed = format!("{} v{}", quote_name(&note.value.name), note.value.version);
        return vec![note_key(note), time, typed, readable(&note.value.payload)];
    };
    let to = message.to.map_or_else(String::new, |(kind, key)| {
        format!(" to {} {}", quote_name(&kind), quote_name(&key))
    });
    let why = message.why.map_or_else(String::new, |why| format!("  failed: {}", quote_name(&why)));
    vec![
        note_key(note),
        time,
        format!("{} v{}{to}", quote_name(&message.name), message.version),
        format!("{}{why}", readable(&message.payload)),
    ]
}

fn title(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Outgoing => "messages to be delivered",
        NoteKind::DeadLetter => "dead letters: messages that could not be delivered",
        NoteKind::ClientAnswer => "answers that clients may ask for again",
        NoteKind::Timer => "timers",
        _ => "other notes",
    }
}

fn order(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Outgoing | NoteKind::DeadLetter => "SINCE",
        NoteKind::ClientAnswer => "KEPT UNTIL",
        NoteKind::Timer => "DUE",
        _ => "RANK",
    }
}

/// What to say instead of what is not there. Looks at all entities.
fn not_found(reader: &dyn StoreReader, id: &EntityId) -> anyhow::Result<String> {
    let mut nearest: Vec<(usize, EntityId)> = Vec::new();
    let (mut all, mut of_kind) = (0_u64, 0_u64);
    for listed in paged_reads::entities(reader, None, None) {
        let other = listed?.id;
        all += 1;
        of_kind += u64::from(other.kind() == id.kind());
        if let Some(far) = edit_distance_if_near(id, &other) {
            nearest.push((far, other));
            if nearest.len() > 4 * SUGGESTED {
                nearest.sort();
                nearest.truncate(SUGGESTED);
            }
        }
    }
    nearest.sort();
    nearest.truncate(SUGGESTED);
    let name = format!("{} {}", quote_name(id.kind()), quote_name(id.key()));
    if all == 0 {
        return Ok(format!("nothing is stored of {name}, nor of anything else"));
    }
    let names = |all: Vec<String>| all.join(" or ");
    let hint = if !nearest.is_empty() {
        let all =
            nearest.iter().map(|(_, id)| format!("{} {}", quoted(id.kind()), quoted(id.key())));
        format!("did you mean {}?", names(all.collect()))
    } else if of_kind > 0 {
        let entities = count(of_kind, "entity of this kind is", "entities of this kind are");
        format!("{entities} stored, see `list --kind {}`", quoted(id.kind()))
    } else {
        no_such_kind(reader)?
    };
    Ok(format!("nothing is stored of {name}: {hint}"))
}

/// How far another entity is from the one that was named: a third of the letters may be different,
/// and the kind.
fn edit_distance_if_near(id: &EntityId, other: &EntityId) -> Option<usize> {
    let most = |name: &str| name.chars().take(60).count().div_ceil(3);
    let key = edit_distance(id.key(), other.key(), most(id.key()))?;
    if id.kind() == other.kind() {
        return Some(key);
    }
    let kind = edit_distance(id.kind(), other.kind(), most(id.kind()));
    // The same key under another name is worth telling, if it says anything.
    kind.or((key == 0 && id.key().len() > 2).then_some(id.kind().len())).map(|kind| key + kind + 1)
}
