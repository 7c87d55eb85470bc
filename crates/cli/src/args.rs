//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::quoted_name::unquote_name;

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
    /// Shows and checks the stored data of durable actors. Changes nothing, and works while a
    /// program uses the file.
    Journal(JournalArgs),
}

/// The arguments of `journal`.
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
    /// The schema of the database that has the store.
    #[arg(long, global = true, default_value = "coact", value_name = "NAME")]
    pub schema: String,
    /// Opens the file without locks, and writes nothing beside it. Only for a file that no program
    /// uses.
    #[arg(long, global = true)]
    pub immutable: bool,
    /// Cuts lines to this width. The default is that of the terminal, and no limit when piped.
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
    /// What to look at.
    #[command(subcommand)]
    pub query: JournalCommand,
}

/// The commands of `journal`.
#[derive(Subcommand)]
pub enum JournalCommand {
    /// Lists the entities: how many events they have, and what waits for them.
    List(ListArgs),
    /// Shows everything stored of one entity.
    Show(ShowArgs),
    /// Reads everything, and checks that it is intact.
    Verify(VerifyArgs),
    /// Writes everything as JSON Lines.
    Export(ExportArgs),
    /// Copies a file of SQLite to another file, while a program writes it.
    Backup(BackupArgs),
}

/// The arguments of `list`.
#[derive(Args)]
#[command(after_help = "\
LAST is the number of the last event, EPOCH how often the entity was claimed, COMMIT the position of the last event's commit, SNAPSHOT the event up to which a state is stored. OUT, DEAD and TIMERS count undelivered messages, dead letters and timers.

Examples:
  coact journal bank.db list --kind bank.account --limit 20
  coact journal bank.db list --kind bank.account --after alice     the ones behind alice
  coact journal bank.db list --after bank.account alice            the same, and other kinds
  coact journal bank.db list --waiting                             with messages or timers
  coact journal bank.db list --brief | grep alice                  fast for millions
  coact journal bank.db list --waiting --json | jq -r 'select(.notes.dead_letters > 0) | .key'")]
pub struct ListArgs {
    /// Only those of this kind.
    #[arg(long, value_parser = unquote_name)]
    pub kind: Option<String>,
    /// Only those after this one, by the bytes of kind and key: a key of `--kind`, or a kind and a
    /// key.
    #[arg(long, num_args = 1..=2, value_names = ["KIND", "KEY"], value_parser = unquote_name)]
    pub after: Vec<String>,
    /// Only those with undelivered messages, dead letters or timers.
    #[arg(long)]
    pub waiting: bool,
    /// At most this many.
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Without snapshots, commits and notes, for which each entity has to be read.
    #[arg(long)]
    pub brief: bool,
    /// Prints JSON Lines: the records `entity` of `export`, and a `summary`.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `show`.
#[derive(Args)]
#[command(after_help = "\
Kind and key are two arguments, since both may contain slashes. Put `--` before a key that begins with a dash.

Payloads are CBOR with numbered fields, shown in its diagnostic notation: an enum is [variant, [fields]], a struct is [fields]. Other payloads are shown as h'..', with their text if they have one. Times are those of notes, if milliseconds since 1970 are what the program orders them by.

Examples:
  coact journal bank.db show bank.account alice
  coact journal bank.db show bank.account alice --from 100 --to 120
  coact journal bank.db show bank.account '\"two\\nlines\"'
  coact journal bank.db show --json bank.account alice | jq -c 'select(.record == \"event\") | .payload.json'")]
pub struct ShowArgs {
    /// The kind of the entity.
    #[arg(value_parser = unquote_name)]
    pub kind: String,
    /// Its key.
    #[arg(value_parser = unquote_name)]
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
    /// Prints JSON Lines: the records of `export`.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `verify`.
#[derive(Args)]
#[command(after_help = "\
Exit status: 0 if it is sound, 1 if it is damaged, 2 if it could not be read.

It finds rows that were changed, lost or moved after they were stored, by the hashes over each entity's events, and the checksums of snapshots, states without events, and notes. (Rows of an earlier format have no checksums.) It reads everything as of its start; the `-wal` of a running program grows meanwhile.

Examples:
  coact journal bank.db verify
  coact journal bank.db verify --kind bank.account --json | jq -r 'select(.record == \"finding\") | .code'
  coact journal /mnt/backup/bank.db --immutable verify")]
pub struct VerifyArgs {
    /// Only entities of this kind. (The file itself is checked as a whole.)
    #[arg(long, value_parser = unquote_name)]
    pub kind: Option<String>,
    /// Prints JSON Lines: a `finding` each, and a `summary`.
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `backup`.
#[derive(Args)]
#[command(after_help = "\
The copy has everything committed when it begins, damaged rows included, and is a store of its own: `verify` it. SqliteStore::restore puts it back; by hand, end the program, remove bank.db-wal, bank.db-shm and bank.db-journal, and copy it to bank.db. A database is copied by `pg_dump --schema=coact`.

Examples:
  coact journal bank.db backup /mnt/backup/bank.db
  coact journal /mnt/backup/bank.db --immutable verify")]
pub struct BackupArgs {
    /// The copy: a file that must not exist.
    pub target: PathBuf,
}

/// The arguments of `export`.
#[derive(Args)]
#[command(after_help = "\
crates/cli/FORMAT.md describes the records. It reads everything as of its start; the `-wal` of a running program grows meanwhile. The last line is an `end`: without it, the export is incomplete.

Examples:
  coact journal bank.db export -o bank.jsonl
  coact journal bank.db export --entity bank.account alice
  coact journal bank.db export --kind bank.account --by-commit | jq -c 'select(.record == \"event\") | [.position, .key, .payload.json]'
  diff <(coact journal old.db export) <(coact journal new.db export)")]
pub struct ExportArgs {
    /// Only entities of this kind.
    #[arg(long, value_parser = unquote_name)]
    pub kind: Option<String>,
    /// Only this entity.
    #[arg(long, num_args = 2, value_names = ["KIND", "KEY"], value_parser = unquote_name, conflicts_with = "kind")]
    pub entity: Vec<String>,
    /// Events after all entities, in the order of their commits.
    #[arg(long, requires = "kind")]
    pub by_commit: bool,
    /// Writes to this file, which must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
