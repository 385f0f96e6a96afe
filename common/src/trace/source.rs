//! What a replay takes: trace directories and archives, a SimGrid index, or one trace file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::archive;
use super::error::TraceError;
use super::lines::Lines;
use super::manifest::Manifest;
use super::part::{Parts, Whole};
use super::section::Section;
use super::shared_file::{SharedFile, count_ranks, leading_number};
use super::stream::{Input, RankStream};
use crate::event::Rank;

/// Up to so many files of one trace are kept open.
const MOST_OPEN: usize = 256;

/// A trace, opened: it is known how many ranks it has and that their files are there.
pub struct Source {
    files: Files,
    ranks: u32,
    manifest: Option<Manifest>,
    partial: bool,
}

enum Files {
    /// One for each rank, or a section of one.
    Own(Vec<Section>),
    /// One for all.
    Shared(Arc<Mutex<SharedFile>>),
}

impl Source {
    /// Opens a trace: one of what [`open`](Self::open) takes, or the directories and archives that hold parts of one.
    ///
    /// # Errors
    /// As [`open`](Self::open), and where the parts do not make a whole.
    pub fn open_all(paths: &[impl AsRef<Path>]) -> Result<Self, TraceError> {
        match paths {
            [one] => Self::open(one.as_ref()),
            parts => Self::parts(parts),
        }
    }

    /// Opens a trace directory, an archive of one, an index as `smpirun -replay` takes it (a path a line, relative to the working directory
    /// or to the index; one for all ranks or one each), or a file with the events of all ranks. Gzip is recognised.
    ///
    /// # Errors
    /// Where a file is missing or is none of these.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        if fs::metadata(path).map_err(TraceError::io(path))?.is_dir() || archive::is_archive(path) {
            return Self::parts(&[path]);
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
            Files::Own(files) => Input::Own(Lines::of(self.section(files, rank)?)?),
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

    /// The file of `rank` as it is on disk; `None` where it shares one with others.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn file_of(&self, rank: Rank) -> Result<Option<Section>, TraceError> {
        match &self.files {
            Files::Own(files) => self.section(files, rank).map(Some),
            Files::Shared(_) => Ok(None),
        }
    }

    fn section(&self, files: &[Section], rank: Rank) -> Result<Section, TraceError> {
        let absent = || TraceError::Directory { path: PathBuf::new(), what: format!("there is no rank {}", rank.0) };
        let file = files.get(rank.0 as usize).ok_or_else(absent)?;
        if files.len() > MOST_OPEN { Ok(file.clone()) } else { file.kept_open() }
    }

    fn parts(places: &[impl AsRef<Path>]) -> Result<Self, TraceError> {
        let Whole { manifest, streams } = Parts::open(places)?.whole()?;
        Ok(Self { ranks: manifest.ranks, files: Files::Own(streams), manifest: Some(manifest), partial: false })
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
                Some(file) => files.push(Section::closed(file)),
                None => {
                    return Err(TraceError::Index { path: path.into(), line: lines.line(), name: shown(&name) });
                }
            }
        }
        match files.as_slice() {
            [one] => Self::file(one.name()),
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
