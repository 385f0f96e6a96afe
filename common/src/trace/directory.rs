//! Names of the files in a trace directory.
//!
//! Some file systems find a name quickly among a few thousand, but not among a million. Ranks beyond the first
//! [`IN_THE_OPEN`] are therefore in sub-folders, a thousand in each: rank 12,345 in `012/`. A rank's place depends on
//! its number alone. Readers do not rely on it, but look at the existing files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::event::Rank;
use crate::output;

/// The end of the name of every rank's stream.
pub(crate) const STREAM_SUFFIX: &str = ".tit.gz";
const ENTRY_SUFFIX: &str = ".json";
const RANK_PREFIX: &str = "rank-";
const MANIFEST: &str = "manifest.json";

/// Number of ranks with files in the directory itself.
const IN_THE_OPEN: u32 = 4000;
/// The number of ranks that share a sub-folder.
const IN_A_FOLDER: u32 = 1000;

/// A rank's stream.
#[must_use]
pub fn stream(directory: &Path, rank: Rank) -> PathBuf {
    numbered(directory, RANK_PREFIX, rank, STREAM_SUFFIX)
}

/// A rank's own entry of the manifest, until all ranks have ended.
#[must_use]
pub fn entry(directory: &Path, rank: Rank) -> PathBuf {
    numbered(directory, RANK_PREFIX, rank, ENTRY_SUFFIX)
}

/// The manifest.
#[must_use]
pub fn manifest(directory: &Path) -> PathBuf {
    directory.join(MANIFEST)
}

/// A file with one byte for each rank that has ended.
#[must_use]
pub fn ended(directory: &Path) -> PathBuf {
    directory.join(".ended")
}

/// A file that the first rank makes which says that the run ended early.
#[must_use]
pub fn crashed(directory: &Path) -> PathBuf {
    directory.join(".crashed")
}

/// A file with the name of the job, where not every rank is traced: without it, its ranks could not tell whether a directory
/// is theirs.
#[must_use]
pub fn job(directory: &Path) -> PathBuf {
    directory.join(".job")
}

fn numbered(directory: &Path, prefix: &str, Rank(rank): Rank, suffix: &str) -> PathBuf {
    let name = format!("{prefix}{rank:06}{suffix}");
    if rank < IN_THE_OPEN { directory.join(name) } else { directory.join(folder(rank)).join(name) }
}

fn folder(rank: u32) -> String {
    format!("{:03}", rank / IN_A_FOLDER)
}

/// The part of a trace that a file holds, by the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Manifest,
    Entry(Rank),
    Stream(Rank),
}

impl Kind {
    /// `None` for a file that is not a part of a trace.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if name == MANIFEST {
            return Some(Self::Manifest);
        }
        let rank = |prefix: &str, suffix: &str| {
            let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok().map(Rank))?
        };
        let stream = rank(RANK_PREFIX, STREAM_SUFFIX).map(Self::Stream);
        let entry = || rank(RANK_PREFIX, ENTRY_SUFFIX).map(Self::Entry);
        stream.or_else(entry)
    }
}

/// Whether a file, or a folder, with this path in a trace directory would belong to the trace.
fn is_part(path: &Path) -> bool {
    let is_here = path.parent().is_none_or(|folder| folder == Path::new("") || is_folder(folder));
    let is_own = [ended(Path::new("")), crashed(Path::new("")), job(Path::new(""))].iter().any(|own| path == own);
    is_own || is_here && (is_folder(path) || Kind::of(path).is_some())
}

/// The directory of a file that is the stream of one of several ranks.
pub(super) fn is_of_one_rank(path: &Path) -> Option<&Path> {
    let directory = path.parent().filter(|_| matches!(Kind::of(path), Some(Kind::Stream(_))))?;
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let streams = scan(directory).ok()?.into_iter().filter(|(kind, _)| matches!(kind, Kind::Stream(_)));
    (streams.count() > 1).then_some(directory)
}

/// The files of a trace in `directory` and its sub-folders, by name.
pub(super) fn scan(directory: &Path) -> io::Result<Vec<(Kind, PathBuf)>> {
    output::read(&fs::metadata(directory)?, Some(is_part))?;
    let mut found = Vec::new();
    for file in fs::read_dir(directory)? {
        let path = file?.path();
        match Kind::of(&path) {
            Some(kind) => found.push((kind, regular(path)?)),
            None if is_folder(&path) && path.is_dir() => {
                for file in fs::read_dir(&path)? {
                    let path = file?.path();
                    if let Some(kind) = Kind::of(&path) {
                        found.push((kind, regular(path)?));
                    }
                }
            }
            None => {}
        }
    }
    // The first error reported does not depend on the order of directory entries.
    found.sort_unstable_by(|(_, a), (_, b)| a.as_os_str().cmp(b.as_os_str()));
    Ok(found)
}

/// The path of a file that can be read as often as a trace is; others keep readers waiting, or never end.
fn regular(path: PathBuf) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().display();
    match fs::metadata(&path) {
        Ok(file) if !file.is_file() => Err(io::Error::other(format!("{name} in it is no regular file"))),
        Ok(file) => {
            output::read(&file, None)?;
            Ok(path)
        }
        // A link to nothing is an error once the file is read.
        Err(_) => Ok(path),
    }
}

fn is_folder(path: &Path) -> bool {
    let digits = |name: &str| name.len() >= 3 && name.bytes().all(|byte| byte.is_ascii_digit());
    path.file_name().and_then(|name| name.to_str()).is_some_and(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_lies_where_its_number_says() {
        let stream = |rank| stream(Path::new("t"), Rank(rank)).display().to_string();
        assert_eq!([3, 3999].map(stream), ["t/rank-000003.tit.gz", "t/rank-003999.tit.gz"]);
        assert_eq!([4000, 1_234_567].map(stream), ["t/004/rank-004000.tit.gz", "t/1234/rank-1234567.tit.gz"]);
        for rank in [0, 4000, 1_234_567].map(Rank) {
            assert_eq!(Kind::of(&super::stream(Path::new("t"), rank)), Some(Kind::Stream(rank)));
            assert_eq!(Kind::of(&entry(Path::new("t"), rank)), Some(Kind::Entry(rank)));
        }
        for name in ["rank-.tit.gz", "rank-+1.tit.gz", "rank-000001.txt", "a.tit.gz", ".ended"] {
            assert_eq!(Kind::of(Path::new(name)), None, "{name}");
        }
    }
}
