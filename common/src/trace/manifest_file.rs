//! The files of the manifest: `manifest.json`, and the entries of single ranks.
//!
//! No rank depends on another to write its entry. Rank 0 writes the part about the run, each rank keeps its entry in a file
//! beside its stream, and the rank that ends last moves all entries into the manifest. A reader replaces entries of the
//! manifest by entries that are still in files. A trace is therefore readable even if some ranks were killed, or wrote
//! to disks that are not shared.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::directory;
use super::error::TraceError;
use super::manifest::{Manifest, RankEntry, VERSION};
use super::section::Section;
use crate::event::Rank;
use crate::input::{WRITTEN_BY_PROGRAM, up_to};

impl Manifest {
    /// Writes the manifest with its entries into `directory`.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        replace(&directory::manifest(directory), &self.to_json()?)
    }

    /// The text of the manifest in a file.
    ///
    /// # Errors
    /// If the manifest has a number that JSON cannot represent.
    pub fn to_json(&self) -> io::Result<Vec<u8>> {
        to_json(self)
    }

    /// The manifest in a file, with all entries that are in the file.
    pub(super) fn from_file(file: Section) -> Result<Self, TraceError> {
        let path = file.name().to_owned();
        let manifest: Self = from_file(file)?;
        let refuse = |what| Err(TraceError::Directory { path, what });
        match manifest.titr {
            VERSION => Ok(manifest),
            2 => refuse(
                "its ranks share streams, which this titr does not read: record or generate the trace again".to_owned(),
            ),
            other => refuse(format!("version {other} of the layout, and this titr reads {VERSION}")),
        }
    }
}

impl RankEntry {
    /// Writes the entry beside the rank's stream.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let path = directory::entry(directory, Rank(self.rank));
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let text = to_json(self)?;
        match replace(&path, &text) {
            // The block of the entry at the start has room for this one.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => overwrite(&path, &text).map_err(|_| error),
            written => written,
        }
    }

    /// Writes the final entry. The last of the world's `ranks` to do so moves all entries into the manifest, and gets it.
    ///
    /// # Errors
    /// If it cannot be written. What was written before remains readable.
    pub fn end(&self, directory: &Path, ranks: u32) -> io::Result<Option<Manifest>> {
        self.write(directory)?;
        let mut ended = OpenOptions::new().create(true).append(true).open(directory::ended(directory))?;
        // One byte for each rank: the length of the file is the number of ranks, without a scan of a directory of
        // thousands of files.
        ended.write_all(b".")?;
        let all = ended.metadata()?.len() == u64::from(ranks);
        // If two ranks end at the same time, both see the full count; the one that removes the file is the last.
        let last = all && fs::remove_file(directory::ended(directory)).is_ok();
        if last {
            let _ = fs::remove_file(directory::crashed(directory));
        }
        last.then(|| fold(directory, ranks)).transpose()
    }
}

/// Moves all entries into the manifest.
fn fold(directory: &Path, ranks: u32) -> io::Result<Manifest> {
    let manifest = Manifest::read(directory).map_err(io::Error::other)?;
    manifest.write(directory)?;
    for rank in 0..ranks {
        fs::remove_file(directory::entry(directory, Rank(rank)))?;
    }
    Ok(manifest)
}

/// Writes `text` under a temporary name and renames it, so that no reader sees a part of it.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("json.{}", std::process::id()));
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Best effort: the error that matters is the one above.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes `text` over the text of an existing file, on a disk that is full.
fn overwrite(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)
}

fn to_json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// The value in a file, such as the entry of a rank.
pub(super) fn from_file<T: DeserializeOwned>(file: Section) -> Result<T, TraceError> {
    let path = file.name().to_owned();
    let text = io::BufReader::with_capacity(1 << 16, up_to(file, WRITTEN_BY_PROGRAM));
    serde_json::from_reader(text).map_err(|error| match error.io_error_kind() {
        Some(kind) => TraceError::io(&path)(io::Error::new(kind, error)),
        None => TraceError::Manifest {
            path,
            line: error.line(),
            column: error.column(),
            // serde_json appends the place to its message; here the place precedes the message.
            what: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        },
    })
}
