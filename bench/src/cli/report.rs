//! `report`: a page of the records.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::measure::record;
use crate::report::{page, study};

/// Which records, and where the page goes.
#[derive(Args)]
pub struct Report {
    /// Files of `run --json`; of records of the same case, the last one counts.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Folder for the page, which is called index.html.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Title of the page.
    #[arg(long, default_value = "Coact beside its peers")]
    title: String,
}

impl Report {
    /// Writes the page and says where it is.
    pub fn write(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let files: Vec<_> =
            self.files.iter().map(|file| record::read(file)).collect::<anyhow::Result<_>>()?;
        let records = study::join(files);
        let folder = self.out.display();
        std::fs::create_dir_all(&self.out).with_context(|| format!("cannot make {folder}"))?;
        let path = self.out.join("index.html");
        let shown = path.display();
        std::fs::write(&path, page(&self.title, &records))
            .with_context(|| format!("cannot write {shown}"))?;
        writeln!(out, "{} records: {shown}", records.len())?;
        Ok(())
    }
}
