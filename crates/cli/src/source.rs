//! What is looked into: a file, or a server. The one place that knows which stores there are.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coact_persist::{Reader, StoreError};
use coact_postgres::{ConnectError, PostgresStore};
use coact_sqlite::{Irregularity, OpenError, SqliteReader};

/// A store that is opened to be read.
pub struct Source {
    reader: Arc<dyn Reader>,
    /// What only a file can be asked.
    file: Option<Arc<SqliteReader>>,
}

impl Source {
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
        let path = Path::new(source);
        let metadata = std::fs::metadata(path).map_err(|error| SourceError::io(path, error))?;
        if metadata.is_dir() {
            return Err(SourceError::Folder(path.to_owned()));
        }
        // The system's word says more than SQLite's.
        std::fs::File::open(path).map_err(|error| SourceError::io(path, error))?;
        let opened =
            if immutable { SqliteReader::open_immutable(path) } else { SqliteReader::open(path) };
        let file = Arc::new(opened.map_err(SourceError::Open)?);
        Ok(Self { reader: Arc::clone(&file) as Arc<dyn Reader>, file: Some(file) })
    }

    /// What is read of each entity.
    pub fn reader(&self) -> &dyn Reader {
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
    /// There is no such file.
    NotThere(PathBuf),
    /// It is a folder.
    Folder(PathBuf),
    /// The system refuses it.
    Io(PathBuf, io::Error),
    /// The server cannot be asked.
    Connect(ConnectError),
    /// It is no store that can be read.
    Open(OpenError),
}

impl SourceError {
    fn io(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotThere(path.to_owned()),
            _ => Self::Io(path.to_owned(), error),
        }
    }
}

impl Display for SourceError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere(path) => write!(
                f,
                "`{}` is not there: name the file that the program gives to `SqliteStore::open`",
                path.display()
            ),
            Self::Folder(path) => {
                write!(f, "`{}` is a folder: name the file of the store in it", path.display())
            }
            Self::Io(path, error) => write!(
                f,
                "`{}` cannot be read: {error}. Run this as a user who may read it",
                path.display()
            ),
            Self::Connect(error) => Display::fmt(error, f),
            Self::Open(error @ OpenError::CannotShare { .. }) => {
                write!(f, "{error}: `--immutable`")
            }
            Self::Open(error) => Display::fmt(error, f),
        }
    }
}

impl Error for SourceError {}
