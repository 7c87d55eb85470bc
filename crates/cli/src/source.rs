//! What is looked into: a file, or a server. The one place that knows which stores there are.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use coact_persist::{StoreError, StoreReader};
use coact_postgres::{ConnectError, PostgresStore};
use coact_sqlite::{Irregularity, OpenError, SqliteReader};

/// A store that is opened to be read.
pub struct JournalSource {
    reader: Arc<dyn StoreReader>,
    /// What only a file can be asked.
    file: Option<Arc<SqliteReader>>,
}

impl JournalSource {
    /// Opens what a file name or a URL names; of a database, the store in this schema.
    pub fn open(source: &OsStr, schema: &str, immutable: bool) -> Result<Self, SourceError> {
        if let Some(url) = source.to_str().filter(|source| is_url(source)) {
            // (The scheme is written in small letters.)
            let (scheme, rest) = url.split_once("://").unwrap_or_default();
            let url = format!("{}://{rest}", scheme.to_ascii_lowercase());
            let builder = PostgresStore::builder(&url).schema(schema);
            let reader = builder.connect_reader().map_err(SourceError::Connect)?;
            return Ok(Self { reader: Arc::new(reader), file: None });
        }
        let opened = if immutable {
            SqliteReader::open_immutable(source)
        } else {
            SqliteReader::open(source)
        };
        let file = Arc::new(opened.map_err(SourceError::Open)?);
        Ok(Self { reader: Arc::clone(&file) as Arc<dyn StoreReader>, file: Some(file) })
    }

    /// What is read of each entity.
    pub fn reader(&self) -> &dyn StoreReader {
        &*self.reader
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&SqliteReader> {
        self.file.as_deref()
    }

    /// From now on, all of a file is as of one moment. (A server shows what is stored at the time.)
    pub fn freeze(&self) -> Result<(), StoreError> {
        self.file.as_ref().map_or(Ok(()), |file| file.freeze())
    }

    /// What is wrong beyond what can be read of each entity.
    pub fn check(&self) -> Result<Vec<Irregularity>, StoreError> {
        self.file.as_ref().map_or(Ok(Vec::new()), |file| file.check())
    }
}

/// Whether a source is the URL of a database, and not the name of a file.
pub fn is_database(source: &OsStr) -> bool {
    source.to_str().is_some_and(is_url)
}

fn is_url(source: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| {
        source.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Why a source was not opened.
#[derive(Debug)]
pub enum SourceError {
    /// The server cannot be asked.
    Connect(ConnectError),
    /// It is no store that can be read.
    Open(OpenError),
}

impl Display for SourceError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => Display::fmt(error, f),
            Self::Open(OpenError::NotFound { path, .. }) => write!(
                f,
                "`{}` is not there: name the file that the program gives to `SqliteStore::open`",
                path.display()
            ),
            Self::Open(error @ OpenError::CannotShare { .. }) => {
                write!(f, "{error}: `--immutable`")
            }
            Self::Open(error) => Display::fmt(error, f),
        }
    }
}

impl Error for SourceError {}
