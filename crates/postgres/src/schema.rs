//! Makes and migrates the tables.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::connect_error::ConnectError;
use crate::connection_settings::{AccessMode, ConnectionSettings};
use crate::session::{Session, of_postgres, within};

/// The migrations from each version to the next; the first makes the tables. A released migration
/// never changes.
const MIGRATIONS: &[&str] = &[include_str!("tables.sql"), include_str!("tags.sql")];

/// The version of the format.
const VERSION: i32 = MIGRATIONS.len() as i32;

/// Marks a schema as a store.
const APPLICATION: &str = "coact";

/// The first half of the advisory lock's key, "COAC" in ASCII. The second is a hash of the schema's
/// name.
const LOCK: i32 = 0x434f_4143;

/// How often to try a migration.
const TRIES: usize = 10;

/// What a schema contains.
enum SchemaContent {
    Nothing,
    /// The schema exists, without tables.
    Empty,
    Store(i32),
}

/// The format of a schema's tables.
#[derive(Clone, Copy)]
pub(crate) struct SchemaFormat(i32);

impl SchemaFormat {
    pub(crate) fn has_tags(self) -> bool {
        self.0 >= 2
    }

    pub(crate) fn has_sums(self) -> bool {
        self.0 >= 2
    }
}

/// Whether missing tables are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableSetup {
    AreMade,
    AreThere,
}

/// Checks that the schema is a store of this version, or of an earlier one for a reader; makes or
/// migrates it if allowed.
pub(crate) async fn ready(
    settings: &ConnectionSettings,
    session: &Session,
    (access, tables): (AccessMode, TableSetup),
) -> Result<SchemaFormat, ConnectError> {
    let (database, schema) = names(settings);
    let known = VERSION;
    let found = match find(settings, session).await? {
        SchemaContent::Store(found) => found,
        SchemaContent::Nothing | SchemaContent::Empty
            if (access, tables) == (AccessMode::Write, TableSetup::AreMade) =>
        {
            0
        }
        SchemaContent::Nothing => return Err(not_a_store(settings, "there is no such schema")),
        SchemaContent::Empty => return Err(not_a_store(settings, "it has no tables")),
    };
    if found == known || (access == AccessMode::Read && (1..known).contains(&found)) {
        Ok(SchemaFormat(found))
    } else if found > known {
        Err(ConnectError::Newer { database, schema, found, known })
    } else if access == AccessMode::Write {
        migrate(settings, session).await.map(|()| SchemaFormat(known))
    } else {
        Err(ConnectError::Older { database, schema, found, known })
    }
}

fn names(settings: &ConnectionSettings) -> (String, String) {
    (settings.address.database(), settings.schema.clone())
}

fn not_a_store(settings: &ConnectionSettings, why: &str) -> ConnectError {
    let (database, schema) = names(settings);
    ConnectError::NotAStore { database, schema, why: why.into() }
}

async fn find(
    settings: &ConnectionSettings,
    session: &Session,
) -> Result<SchemaContent, SchemaError> {
    let client = &session.client;
    let named = [(&settings.schema as _, Type::TEXT)];
    let tables = client.query_typed(
        "SELECT c.relname::text FROM pg_catalog.pg_namespace n
         LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
         WHERE n.nspname = $1 ORDER BY 1",
        &named,
    );
    let tables: Vec<Option<String>> =
        answer(settings, tables).await?.iter().map(|row| row.get(0)).collect();
    if tables.is_empty() {
        return Ok(SchemaContent::Nothing);
    }
    let Some(first) = tables.iter().flatten().next() else { return Ok(SchemaContent::Empty) };
    if !tables.iter().flatten().any(|table| table == "version") {
        let why = format!("it has other things in it, such as `{first}`");
        return Err(not_a_store(settings, &why).into());
    }
    let read = client.query("SELECT application::text, version::int4 FROM version", &[]);
    let rows = match within_raw(settings, read).await? {
        Ok(rows) => rows,
        Err(error) if error.code().is_some_and(says_another) => {
            return Err(not_a_store(settings, "its table `version` has another form").into());
        }
        Err(error) => return Err(SchemaError::new(settings, &error)),
    };
    match &rows[..] {
        [row] if row.get::<_, Option<&str>>(0) == Some(APPLICATION) => {
            Ok(SchemaContent::Store(row.get::<_, Option<i32>>(1).unwrap_or(0)))
        }
        _ => Err(not_a_store(settings, "it belongs to another program").into()),
    }
}

/// Whether an error means that a table has other columns or values. (A timeout of a lock, or a lost
/// connection, does not.)
fn says_another(code: &SqlState) -> bool {
    matches!(&code.code()[..2], "22" | "42") && *code != SqlState::INSUFFICIENT_PRIVILEGE
}

/// Why reading or migrating a schema failed.
struct SchemaError {
    error: ConnectError,
    /// Whether the server ended the transaction to break a deadlock.
    is_deadlock: bool,
}

impl SchemaError {
    fn new(settings: &ConnectionSettings, error: &tokio_postgres::Error) -> Self {
        let is_deadlock = error.code() == Some(&SqlState::T_R_DEADLOCK_DETECTED);
        Self { error: of_postgres(settings, error), is_deadlock }
    }
}

impl From<ConnectError> for SchemaError {
    fn from(error: ConnectError) -> Self {
        Self { error, is_deadlock: false }
    }
}

impl From<SchemaError> for ConnectError {
    fn from(SchemaError { error, .. }: SchemaError) -> Self {
        error
    }
}

/// Waits for an answer.
async fn answer<T>(
    settings: &ConnectionSettings,
    part: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, SchemaError> {
    within_raw(settings, part).await?.map_err(|error| SchemaError::new(settings, &error))
}

/// Waits for an answer, which may be an error of the statement.
async fn within_raw<T>(
    settings: &ConnectionSettings,
    part: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<Result<T, tokio_postgres::Error>, ConnectError> {
    within(settings, async { Ok(part.await) }).await
}

/// Makes or migrates the tables. A deadlock with the users of the tables is retried.
async fn migrate(settings: &ConnectionSettings, session: &Session) -> Result<(), ConnectError> {
    for _ in 1..TRIES {
        match try_to_migrate(settings, session).await {
            Err(error) if error.is_deadlock => {}
            done => return Ok(done?),
        }
    }
    Ok(try_to_migrate(settings, session).await?)
}

/// Makes or migrates the tables once, unless another process just did.
async fn try_to_migrate(
    settings: &ConnectionSettings,
    session: &Session,
) -> Result<(), SchemaError> {
    let execute =
        |text: String| async move { answer(settings, session.client.batch_execute(&text)).await };
    execute("BEGIN".into()).await?;
    let migrated = async {
        let name = settings.schema.replace('\'', "''");
        execute(format!("SELECT pg_advisory_xact_lock({LOCK}, hashtext('{name}'))")).await?;
        // Looks again, now that no other process can change the schema.
        let found = match find(settings, session).await? {
            SchemaContent::Nothing => {
                let identifier = settings.schema.replace('"', "\"\"");
                execute(format!("CREATE SCHEMA \"{identifier}\"")).await?;
                0
            }
            SchemaContent::Empty => 0,
            SchemaContent::Store(found) => found,
        };
        let (database, schema) = names(settings);
        if found > VERSION {
            let newer = ConnectError::Newer { database, schema, found, known: VERSION };
            return Err(newer.into());
        }
        let missing = usize::try_from(found).unwrap_or_default();
        for migration in MIGRATIONS.iter().skip(missing) {
            execute((*migration).to_owned()).await?;
        }
        execute(format!("UPDATE version SET version = {VERSION}")).await?;
        execute("COMMIT".into()).await
    };
    let migrated = migrated.await;
    if migrated.is_err() {
        let _ = execute("ROLLBACK".into()).await;
    }
    migrated
}
