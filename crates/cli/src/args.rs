//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::name::name;

/// Tools for programs on Coact.
#[derive(Parser)]
#[command(
    name = "coact",
    version,
    after_help = "Examples:\n  coact journal bank.db list\n  coact journal bank.db show bank.account alice\n  coact journal bank.db verify"
)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub tool: ToolCommand,
}

/// The tools.
#[derive(Subcommand)]
pub enum ToolCommand {
    /// Looks into what is stored of durable actors. Changes nothing, and works while a program has the file.
    Journal(JournalArgs),
}

/// What `journal` is told.
#[derive(Args)]
#[command(after_help = "\
Exit status: 0 if all went well, 1 if `verify` found damage, 2 if something could not be read.

Kinds and keys may be any text. One with spaces, quotes or unprintable characters is shown in double quotes, with escapes as in Rust (\\n, \\\", \\\\, \\0, \\u{7f}), and taken in that form as well: show bank.account '\"a\\nb\"'.

Examples:
  coact journal bank.db list
  coact journal bank.db list --waiting
  coact journal bank.db show bank.account alice
  coact journal bank.db verify
  coact journal bank.db export -o bank.jsonl
  coact journal bank.db backup /mnt/backup/bank.db
  coact journal postgres://bank@db.example/bank list")]
pub struct JournalArgs {
    /// The file of a store, or the URL of a database: postgres://role:password@host/database.
    #[arg(value_name = "FILE|URL")]
    pub source: OsString,
    /// In which schema of a database the store is.
    #[arg(long, global = true, default_value = "coact", value_name = "NAME")]
    pub schema: String,
    /// The file does not change while it is read: then it is opened without locks, and nothing is written beside it. Wrong
    /// while a program has it.
    #[arg(long, global = true)]
    pub immutable: bool,
    /// Cuts lines for people to this width. Without it, to that of the terminal; what is no terminal gets whole lines.
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
    /// What to look at.
    #[command(subcommand)]
    pub query: JournalCommand,
}

/// What is looked at.
#[derive(Subcommand)]
pub enum JournalCommand {
    /// Lists the entities: how many events they have, and what waits for them.
    List(ListArgs),
    /// Shows all that is stored of one entity.
    Show(ShowArgs),
    /// Reads everything, and checks whether it is as it was written.
    Verify(VerifyArgs),
    /// Writes everything as JSON Lines.
    Export(ExportArgs),
    /// Copies a file of SQLite to another file, while a program writes it.
    Backup(BackupArgs),
}

/// What `list` is told.
#[derive(Args)]
#[command(after_help = "\
LAST is the number of the last event, EPOCH how often the entity was claimed, COMMIT the position of the last event's commit, SNAPSHOT the event up to which a state is stored. OUT, DEAD and TIMERS count messages that are to be delivered, messages that could not be, and timers.

Examples:
  coact journal bank.db list --kind bank.account --limit 20
  coact journal bank.db list --kind bank.account --after alice     the ones behind alice
  coact journal bank.db list --after bank.account alice            the same, and other kinds
  coact journal bank.db list --waiting                             what is not delivered, or due
  coact journal bank.db list --brief | grep alice                  fast for millions
  coact journal bank.db list --waiting --json | jq -r 'select(.notes.dead_letters > 0) | .key'")]
pub struct ListArgs {
    /// Only those of this kind.
    #[arg(long, value_parser = name)]
    pub kind: Option<String>,
    /// Only those behind this one, by the bytes of kind and key: a key of `--kind`, or a kind and a key.
    #[arg(long, num_args = 1..=2, value_names = ["KIND", "KEY"], value_parser = name)]
    pub after: Vec<String>,
    /// Only those that have something waiting: messages to be delivered, dead letters, or timers.
    #[arg(long)]
    pub waiting: bool,
    /// At most as many.
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Only what is listed anyway: no snapshots, commits and notes, for which each entity has to be read.
    #[arg(long)]
    pub brief: bool,
    /// As JSON Lines, one entity each: the records `entity` of `export`, and a `summary`.
    #[arg(long)]
    pub json: bool,
}

/// What `show` is told.
#[derive(Args)]
#[command(after_help = "\
Kind and key are two arguments, since both may contain slashes. A key that begins with a dash comes behind `--`.

Payloads are CBOR with numbered fields, shown in its diagnostic notation: an enum is [variant, [fields]], a struct is [fields]. What is not CBOR is shown as h'..', with its text if it is one. Times are those of notes, if milliseconds since 1970 are what the program orders them by.

Examples:
  coact journal bank.db show bank.account alice
  coact journal bank.db show bank.account alice --from 100 --to 120
  coact journal bank.db show bank.account '\"two\\nlines\"'
  coact journal bank.db show --json bank.account alice | jq -c 'select(.record == \"event\") | .payload.json'")]
pub struct ShowArgs {
    /// The kind of the entity.
    #[arg(value_parser = name)]
    pub kind: String,
    /// Its key.
    #[arg(value_parser = name)]
    pub key: String,
    /// Events from this one on.
    #[arg(long, value_name = "SEQ")]
    pub from: Option<u64>,
    /// Events up to this one.
    #[arg(long, value_name = "SEQ")]
    pub to: Option<u64>,
    /// At most as many events, the last of them. Without `--from`, `--to` and `--json`: 20.
    #[arg(long, value_name = "N")]
    pub last: Option<u64>,
    /// As JSON Lines: the records of `export`.
    #[arg(long)]
    pub json: bool,
}

/// What `verify` is told.
#[derive(Args)]
#[command(after_help = "\
Exit status: 0 if it is sound, 1 if it is damaged, 2 if it could not be read.

It sees what was changed, lost or put elsewhere after it was stored, by the hashes over each entity's events, and the sums of snapshots, states without events, and notes. (What an earlier format has stored of these has none.) What is found is as of the moment at which it began; the `-wal` of a running program grows meanwhile.

Examples:
  coact journal bank.db verify
  coact journal bank.db verify --kind bank.account --json | jq -r 'select(.record == \"finding\") | .code'
  coact journal /mnt/backup/bank.db --immutable verify")]
pub struct VerifyArgs {
    /// Only entities of this kind. (The file itself is checked as a whole.)
    #[arg(long, value_parser = name)]
    pub kind: Option<String>,
    /// As JSON Lines: a `finding` each, and a `summary`.
    #[arg(long)]
    pub json: bool,
}

/// What `backup` is told.
#[derive(Args)]
#[command(after_help = "\
The copy has all that is committed when it begins, and is a store of its own. It has what is damaged as well: `verify` it. SqliteStore::restore puts it back; by hand, end the program, remove bank.db-wal, bank.db-shm and bank.db-journal, and copy it to bank.db. A database is copied by `pg_dump --schema=coact`.

Examples:
  coact journal bank.db backup /mnt/backup/bank.db
  coact journal /mnt/backup/bank.db --immutable verify")]
pub struct BackupArgs {
    /// The copy, a file that must not be there yet.
    pub target: PathBuf,
}

/// What `export` is told.
#[derive(Args)]
#[command(after_help = "\
crates/cli/FORMAT.md describes the records. All is as of the moment at which it began; the `-wal` of a running program grows meanwhile. The last line is an `end`: without it, it is not complete.

Examples:
  coact journal bank.db export -o bank.jsonl
  coact journal bank.db export --entity bank.account alice
  coact journal bank.db export --kind bank.account --by-commit | jq -c 'select(.record == \"event\") | [.position, .key, .payload.json]'
  diff <(coact journal old.db export) <(coact journal new.db export)")]
pub struct ExportArgs {
    /// Only entities of this kind.
    #[arg(long, value_parser = name)]
    pub kind: Option<String>,
    /// Only this entity.
    #[arg(long, num_args = 2, value_names = ["KIND", "KEY"], value_parser = name, conflicts_with = "kind")]
    pub entity: Vec<String>,
    /// Events behind all entities, in the order of their commits.
    #[arg(long, requires = "kind")]
    pub by_commit: bool,
    /// To a file, which must not be there yet.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
