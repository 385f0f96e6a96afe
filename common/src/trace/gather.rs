//! Gathers the parts of a trace into one directory or one archive.
//!
//! Streams are copied unchanged, piece by piece, and the checksum recorded by each rank is compared with the copy. The output gets its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::archive::ArchiveWriter;
use super::directory;
use super::error::TraceError;
use super::manifest::NamedCode;
use super::part::{Parts, Whole};
use super::section::Section;
use crate::event::Rank;
use crate::output::{HiddenDirectory, give_name};
use crate::units::Bytes;

/// The totals of a trace that was gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// Size of the world.
    pub ranks: u32,
    /// Size of all streams.
    pub size: Bytes,
    /// Streams whose rank did not record a checksum: it was killed, or its disk was full.
    pub unchecked: u32,
}

/// The place that is written to, file after file.
enum Output {
    Archive(ArchiveWriter),
    Directory { path: PathBuf, file: Option<File> },
}

/// Gathers the parts of a trace from directories and archives into `output`: an archive if its name ends in `.tar`, or
/// else a directory.
///
/// # Errors
/// If the parts are incomplete, a checksum is wrong, or `output` exists or cannot be written. The parts are not
/// changed, and nothing is left at `output`.
pub fn gather(places: &[impl AsRef<Path>], output: &Path) -> Result<Gathered, TraceError> {
    let exists = || {
        let what = "it exists already, and nothing is overwritten".into();
        TraceError::Directory { path: output.into(), what }
    };
    let whole = Parts::open(places)?.whole()?;
    if fs::symlink_metadata(output).is_ok() {
        return Err(exists());
    }
    let hidden = HiddenDirectory::beside(output).map_err(TraceError::io(output))?;
    let into_archive = output.extension().is_some_and(|suffix| suffix == "tar");
    let (gathered, complete) = write(whole, &hidden, output, into_archive)?;
    give_name(&complete, output).map_err(|error| match error.kind() {
        // Another command was faster.
        io::ErrorKind::AlreadyExists => exists(),
        _ => TraceError::io(output)(error),
    })?;
    Ok(gathered)
}

/// Names the call sites of the trace in an archive, which is written anew.
///
/// # Errors
/// If the archive cannot be read or written. It is then unchanged.
pub fn name_call_sites(archive: &Path, names: Vec<NamedCode>) -> Result<(), TraceError> {
    let mut whole = Parts::open(&[archive])?.whole()?;
    whole.manifest.names = names;
    let hidden = HiddenDirectory::beside(archive).map_err(TraceError::io(archive))?;
    let (_, complete) = write(whole, &hidden, archive, true)?;
    fs::rename(complete, archive).map_err(TraceError::io(archive))
}

/// Writes a trace into `hidden`, from where it is to become `output`. Returns its place there.
fn write(
    whole: Whole,
    hidden: &HiddenDirectory,
    output: &Path,
    into_archive: bool,
) -> Result<(Gathered, PathBuf), TraceError> {
    let place = hidden.path("whole");
    let cannot_write = |error| TraceError::io(output)(error);
    let mut into = Output::create(&place, into_archive).map_err(cannot_write)?;
    let Whole { mut manifest, streams, .. } = whole;
    let mut gathered = Gathered { ranks: manifest.ranks, size: Bytes(0), unchecked: 0 };
    let size = |stream: &Section| stream.remaining().map_err(TraceError::io(stream.name()));
    let sizes = streams.iter().map(size).collect::<Result<Vec<u64>, TraceError>>()?;
    // The checksums of a killed rank are known only now.
    for (entry, &size) in manifest.per_rank.iter_mut().zip(&sizes) {
        entry.disk = Bytes(size);
        gathered.unchecked += u32::from(entry.crc32.is_none());
        gathered.size += Bytes(size);
    }
    let text = manifest.to_json().map_err(cannot_write)?;
    into.begin(&directory::manifest(Path::new("")), text.len() as u64).map_err(cannot_write)?;
    into.write(&text).map_err(cannot_write)?;
    for ((entry, stream), size) in manifest.per_rank.iter().zip(streams).zip(sizes) {
        let rank = Rank(entry.rank);
        into.begin(&directory::stream(Path::new(""), rank), size).map_err(cannot_write)?;
        let mut stream = stream.clone();
        let mut crc = Crc::new();
        stream.read_pieces(|bytes| {
            crc.update(bytes);
            into.write(bytes).map_err(cannot_write)
        })?;
        if let Some(said) = entry.crc32.filter(|&said| said != crc.sum()) {
            return Err(TraceError::Checksum { path: stream.name().into(), found: crc.sum(), said });
        }
    }
    into.finish().map_err(cannot_write)?;
    Ok((gathered, place))
}

impl Output {
    fn create(path: &Path, archive: bool) -> io::Result<Self> {
        if archive {
            return ArchiveWriter::create_at(path, Ok).map(Self::Archive);
        }
        fs::create_dir(path)?;
        Ok(Self::Directory { path: path.to_owned(), file: None })
    }

    fn begin(&mut self, name: &Path, size: u64) -> io::Result<()> {
        match self {
            Self::Archive(archive) => archive.begin(name, size),
            Self::Directory { path, file } => {
                let path = path.join(name);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                *file = Some(File::create_new(path)?);
                Ok(())
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Archive(archive) => archive.write(bytes),
            Self::Directory { file, .. } => file.as_mut().map_or(Ok(()), |file| file.write_all(bytes)),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Archive(archive) => archive.finish(),
            Self::Directory { .. } => Ok(()),
        }
    }
}
