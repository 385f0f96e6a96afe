//! A directory of text files, one for each rank, that grow together.
//!
//! A file is open only while data is appended, so that there may be more ranks than a process may have open files.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use titr_common::event::Rank;
use titr_common::output::{OutputDirectory, OutputFile, begin, named};

use super::ConvertError;

/// Text that a rank keeps in memory between two writes.
const BUFFER: usize = 32 << 10;

/// The files of all ranks. Dropped before [`finish`](Self::finish), it removes what it wrote.
pub(super) struct RankFiles {
    directory: OutputDirectory,
    files: Vec<RankFile>,
}

struct RankFile {
    path: PathBuf,
    /// Text that is not written yet.
    pending: Vec<u8>,
}

impl RankFiles {
    /// Creates `directory` where there is none, and an empty file in it for each rank.
    ///
    /// # Errors
    /// If the directory holds something already, or a file cannot be written.
    pub(super) fn create(directory: &Path, ranks: usize) -> Result<Self, ConvertError> {
        let mut this = Self { directory: OutputDirectory::create(directory)?, files: Vec::with_capacity(ranks) };
        for rank in 0..ranks {
            let path = directory.join(format!("rank-{rank:06}.txt"));
            begin(|| File::create_new(&path)).map_err(|error| named(&path, error))?;
            this.files.push(RankFile { path, pending: Vec::new() });
        }
        Ok(this)
    }

    /// The end of the text of `rank`, to append to.
    pub(super) fn of(&mut self, rank: Rank) -> &mut Vec<u8> {
        &mut self.files[rank.0 as usize].pending
    }

    /// Writes the pending text of `rank` if there is enough.
    pub(super) fn relieve(&mut self, rank: Rank) -> Result<(), ConvertError> {
        let file = &mut self.files[rank.0 as usize];
        if file.pending.len() < BUFFER { Ok(()) } else { file.write() }
    }

    /// Writes all that is pending, and in the end a list of the files: as they were named, a line each.
    pub(super) fn finish(mut self, index: &str) -> Result<PathBuf, ConvertError> {
        let mut list = String::new();
        for file in &mut self.files {
            file.write()?;
            list += &format!("{}\n", file.path.display());
        }
        let path = self.directory.path().join(index);
        OutputFile::write(&path, list.as_bytes())?;
        self.directory.finish();
        Ok(path)
    }
}

impl RankFile {
    fn write(&mut self) -> Result<(), ConvertError> {
        let file = OpenOptions::new().append(true).open(&self.path);
        file.and_then(|mut file| file.write_all(&self.pending)).map_err(|error| named(&self.path, error))?;
        self.pending.clear();
        Ok(())
    }
}
