//! Where a ledger comes from: a file, or standard input under the name `-`.

use std::fs::File;
use std::io::{self, Read, Seek, stdin};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use super::reader::InputError;

/// Copies of up to this many bytes stay in memory.
const IN_MEMORY: usize = 8 * 1024 * 1024;

/// An input that can be opened, and perhaps more than once.
pub enum Source {
    /// A regular file: opened anew for every replay.
    File(PathBuf),
    /// A pipe or a device: can be read once.
    Once(Box<dyn Read>, String),
    /// A copy of one, for a second reading.
    Copy(SpooledTempFile, String),
}

/// An opened source.
pub struct Input<'source> {
    /// What to call it in messages.
    pub name: String,
    /// Its bytes.
    pub bytes: Box<dyn Read + 'source>,
    /// How many there will be, where that is known.
    pub size: Option<u64>,
}

impl Source {
    /// The source that a path on the command line means.
    pub fn new(path: &Path) -> Result<Self, InputError> {
        if path == Path::new("-") {
            return Ok(Self::Once(Box::new(stdin()), "standard input".into()));
        }
        let name = path.display().to_string();
        let file = open(path)?;
        match file.metadata() {
            Ok(metadata) if metadata.is_dir() => Err(InputError::Directory { name }),
            Ok(metadata) if metadata.is_file() => Ok(Self::File(path.into())),
            Ok(_) => Ok(Self::Once(Box::new(file), name)),
            Err(source) => Err(InputError::Open { name, source }),
        }
    }

    /// Makes sure that the source can be read more than once, by copying it if it cannot.
    pub fn rereadable(self) -> Result<Self, InputError> {
        let Self::Once(mut bytes, name) = self else {
            return Ok(self);
        };
        let mut copy = SpooledTempFile::new(IN_MEMORY);
        match io::copy(&mut bytes, &mut copy) {
            Ok(_) => Ok(Self::Copy(copy, name)),
            Err(source) => Err(InputError::Read { name, line: 0, source }),
        }
    }

    /// Opens the source from its start.
    pub fn open(&mut self) -> Result<Input<'_>, InputError> {
        match self {
            Self::File(path) => {
                let file = open(path)?;
                Ok(Input {
                    name: path.display().to_string(),
                    size: file.metadata().ok().map(|metadata| metadata.len()),
                    bytes: Box::new(file),
                })
            }
            Self::Once(bytes, name) => {
                Ok(Input { name: name.clone(), bytes: Box::new(bytes), size: None })
            }
            Self::Copy(copy, name) => {
                let size = size_and_rewind(copy).map_err(|source| InputError::Read {
                    name: name.clone(),
                    line: 0,
                    source,
                })?;
                Ok(Input { name: name.clone(), bytes: Box::new(copy), size: Some(size) })
            }
        }
    }
}

fn open(path: &Path) -> Result<File, InputError> {
    File::open(path).map_err(|source| InputError::Open { name: path.display().to_string(), source })
}

fn size_and_rewind(copy: &mut SpooledTempFile) -> io::Result<u64> {
    let size = copy.seek(io::SeekFrom::End(0))?;
    copy.rewind()?;
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &mut Source) -> String {
        let mut text = String::new();
        source.open().unwrap().bytes.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_pipe_becomes_rereadable_by_copying() {
        let pipe = Source::Once(Box::new(&b"some bytes"[..]), "pipe".into());
        let mut copy = pipe.rereadable().unwrap();
        assert_eq!(copy.open().unwrap().size, Some(10));
        assert_eq!(text(&mut copy), "some bytes");
        assert_eq!(text(&mut copy), "some bytes");
    }

    #[test]
    fn a_directory_and_a_missing_file_are_told_apart() {
        let directory = Source::new(Path::new("/")).err().unwrap();
        assert!(matches!(directory, InputError::Directory { .. }));
        let missing = Source::new(Path::new("/no/such/file")).err().unwrap();
        assert!(matches!(missing, InputError::Open { .. }));
    }
}
