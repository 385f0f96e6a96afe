//! What a replay takes: a trace directory, a SimGrid index, or one trace file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::directory;
use super::error::TraceError;
use super::lines::Lines;
use super::manifest::Manifest;
use super::shared_file::{SharedFile, count_ranks, leading_number};
use super::stream::{Input, RankStream};
use crate::event::Rank;

/// How many ranks' files may be open all the time. Processes are allowed 1,024 files on many systems.
const OPEN: usize = 512;

/// A trace, opened: it is known how many ranks it has and that their files are there.
pub struct Source {
    files: Files,
    ranks: u32,
    manifest: Option<Manifest>,
    partial: bool,
}

enum Files {
    /// One for each rank.
    Own(Vec<PathBuf>),
    /// One for all.
    Shared(Arc<Mutex<SharedFile>>),
}

impl Source {
    /// Opens a trace directory, an index as `smpirun -replay` takes it (a path a line, relative to the working directory
    /// or to the index; one for all ranks or one each), or a file with the events of all ranks. Gzip is recognised.
    ///
    /// # Errors
    /// Where a file is missing or is none of these.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        if fs::metadata(path).map_err(TraceError::io(path))?.is_dir() {
            return Self::directory(path);
        }
        let mut lines = Lines::open(path)?;
        let mut first = None;
        while let Some(text) = lines.next()? {
            if !text.trim_ascii().is_empty() && !text.starts_with(b"#") {
                first = Some(text.to_vec());
                break;
            }
        }
        match first {
            None => Err(TraceError::Empty { path: path.into() }),
            Some(line) if is_event(&line) => Self::file(path),
            Some(_) => Self::index(path),
        }
    }

    /// Takes what a torn trace holds, where it would be an error otherwise.
    #[must_use]
    pub fn partial(self, partial: bool) -> Self {
        Self { partial, ..self }
    }

    /// Size of the world.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The manifest of a trace directory.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// The events of `rank`. A file for all ranks is read once: so ask once for each rank.
    ///
    /// # Errors
    /// Where the file cannot be opened or is empty.
    pub fn stream(&self, rank: Rank) -> Result<RankStream, TraceError> {
        let input = match &self.files {
            Files::Own(paths) => {
                let path = paths.get(rank.0 as usize).cloned().unwrap_or_default();
                let lines = Lines::open(&path)?;
                Input::Own(if paths.len() > OPEN { lines.closing() } else { lines })
            }
            Files::Shared(file) => Input::Shared(Arc::clone(file)),
        };
        Ok(RankStream::new(input, rank, self.ranks, self.partial))
    }

    /// The streams of all ranks.
    ///
    /// # Errors
    /// As [`stream`](Self::stream).
    pub fn streams(&self) -> Result<Vec<RankStream>, TraceError> {
        (0..self.ranks).map(|rank| self.stream(Rank(rank))).collect()
    }

    fn directory(path: &Path) -> Result<Self, TraceError> {
        if !directory::manifest(path).exists() {
            let what = "no manifest.json in it: not a trace directory (an index is given as the file it is)";
            return Err(TraceError::Directory { path: path.into(), what: what.into() });
        }
        let manifest = Manifest::read(path)?;
        let files: Vec<PathBuf> = (0..manifest.ranks).map(|rank| directory::stream(path, Rank(rank))).collect();
        for (rank, file) in files.iter().enumerate() {
            if !file.exists() {
                let what = format!("the stream of rank {rank} is missing: copy it here from where the rank ran");
                return Err(TraceError::Directory { path: file.clone(), what });
            }
        }
        for entry in fs::read_dir(path).map_err(TraceError::io(path))? {
            let name = entry.map_err(TraceError::io(path))?.path();
            if name.to_string_lossy().ends_with(directory::STREAM_SUFFIX) && !files.contains(&name) {
                let what = format!("no rank of the {} in manifest.json: a stream of another trace", manifest.ranks);
                return Err(TraceError::Directory { path: name, what });
            }
        }
        Ok(Self { ranks: manifest.ranks, files: Files::Own(files), manifest: Some(manifest), partial: false })
    }

    fn file(path: &Path) -> Result<Self, TraceError> {
        let ranks = count_ranks(path)?;
        let files = Files::Shared(SharedFile::open(path, ranks)?);
        Ok(Self { files, ranks, manifest: None, partial: false })
    }

    fn index(path: &Path) -> Result<Self, TraceError> {
        let mut lines = Lines::open(path)?;
        let mut files = Vec::new();
        while let Some(text) = lines.next()? {
            let name = String::from_utf8_lossy(text).trim().to_owned();
            if name.is_empty() || name.starts_with('#') {
                continue;
            }
            let beside = path.parent().unwrap_or(Path::new("")).join(&name);
            let candidates = [PathBuf::from(&name), beside];
            match candidates.into_iter().find(|candidate| candidate.is_file()) {
                Some(file) => files.push(file),
                None => {
                    return Err(TraceError::Index { path: path.into(), line: lines.line(), name: shown(&name) });
                }
            }
        }
        match files.as_slice() {
            [one] => Self::file(one),
            _ => Ok(Self { ranks: files.len() as u32, files: Files::Own(files), manifest: None, partial: false }),
        }
    }
}

/// Whether a line looks like an event: a rank, and a word after it.
fn is_event(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut fields = line.split(u8::is_ascii_whitespace);
    leading_number(line).is_some()
        && fields.next().is_some_and(|field| field.iter().all(u8::is_ascii_digit))
        && fields.next().is_some()
}

/// `name`, cut to what a message can hold.
fn shown(name: &str) -> String {
    name.chars().take(100).collect()
}
