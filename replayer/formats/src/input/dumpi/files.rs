//! The files of a trace.

use std::fs;
use std::path::{Path, PathBuf};

use titr_common::input;
use titr_common::trace::{Candidate, TraceError};
use titr_common::units::Bytes;

use super::file::DumpiRankFile;

/// The most that is read of a `.meta` file, whose lines are few.
const LARGEST_META: Bytes = Bytes(1 << 20);

/// Whether a directory has files of DUMPI.
pub(super) fn are_in(directory: &Path) -> bool {
    // A directory that cannot be read is left to the format that takes every directory.
    names(directory).is_ok_and(|names| {
        let has_one = |name: &String| {
            parts(name).is_some() && head(&directory.join(name)).is_some_and(|head| DumpiRankFile::begins_with(&head))
        };
        names.iter().any(has_one)
    })
}

/// Whether a file is a `.meta` file of DUMPI: lines of keys, `hostname` first, with the prefix of the other files.
pub(super) fn is_meta(candidate: &Candidate) -> bool {
    let text = String::from_utf8_lossy(&candidate.head);
    text.lines().any(|line| line.starts_with("fileprefix=")) && text.lines().any(|line| line.starts_with("numprocs="))
}

/// The files of all ranks, in order, of the trace at `path`: a directory, or a `.meta` file.
pub(super) fn of(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    if path.is_dir() {
        return in_directory(path);
    }
    if head(path).is_some_and(|head| DumpiRankFile::begins_with(&head)) {
        return one_of_many(path);
    }
    let meta = Meta::read(path)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let beside = |prefix: &str| with_prefix(directory, prefix);
    // Files that were renamed together keep their name, and the text keeps the old one.
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut found = beside(&meta.prefix)?;
    if found.is_empty() {
        found = beside(&stem)?;
    }
    complete(path, found, meta.ranks)
}

fn in_directory(directory: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let names = names(directory).map_err(TraceError::io(directory))?;
    let metas: Vec<&String> = names.iter().filter(|name| name.ends_with(".meta")).collect();
    if let [meta] = metas.as_slice() {
        return of(&directory.join(meta));
    }
    let mut prefixes: Vec<&str> = names.iter().filter_map(|name| parts(name)).map(|(prefix, _)| prefix).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    match prefixes.as_slice() {
        [prefix] => complete(directory, with_prefix(directory, prefix)?, None),
        _ => {
            let traces = prefixes.join(", ");
            let what = format!("several traces of DUMPI are in this directory ({traces}): name the .meta file of one");
            Err(TraceError::Directory { path: directory.into(), what })
        }
    }
}

/// The error for the file of one rank, unless it is the only one of its trace.
fn one_of_many(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let directory = path.parent().unwrap_or(Path::new(""));
    let prefix = parts(&name).map(|(prefix, _)| prefix);
    let beside = prefix.map_or(Ok(Vec::new()), |prefix| with_prefix(directory, prefix))?;
    let place = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let what = match (prefix, beside.len()) {
        (Some(prefix), 2..) => {
            let meta = place.join(format!("{prefix}.meta"));
            let give = if meta.exists() { meta } else { place.to_owned() };
            format!(
                "one rank of {} of a trace of DUMPI: give {} instead, for all of them",
                beside.len(),
                give.display()
            )
        }
        _ => format!(
            "one rank of a trace of DUMPI: give the directory of all its files ({}), or the .meta file",
            place.display()
        ),
    };
    Err(TraceError::Directory { path: path.into(), what })
}

/// The files of ranks with this prefix, and their numbers.
fn with_prefix(directory: &Path, prefix: &str) -> Result<Vec<(u32, PathBuf)>, TraceError> {
    let place = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let names = names(place).map_err(TraceError::io(place))?;
    let numbered = names.iter().filter_map(|name| Some((name, parts(name)?)));
    let mut found: Vec<(u32, PathBuf)> = numbered
        .filter(|&(_, (of, _))| of == prefix)
        .map(|(name, (_, number))| (number, directory.join(name)))
        .collect();
    found.sort_unstable();
    Ok(found)
}

/// The files of all ranks, if none is missing.
fn complete(path: &Path, found: Vec<(u32, PathBuf)>, ranks: Option<u32>) -> Result<Vec<PathBuf>, TraceError> {
    let error = |what| Err(TraceError::Directory { path: path.into(), what });
    let expected = ranks.unwrap_or_else(|| found.last().map_or(0, |&(last, _)| last.saturating_add(1)));
    if let Some(missing) = (0..expected)
        .zip(found.iter().map(|&(number, _)| Some(number)).chain(std::iter::repeat(None)))
        .find(|&(rank, number)| number != Some(rank))
    {
        let (rank, there) = (missing.0, found.len());
        return error(format!(
            "the file of rank {rank} of a trace of DUMPI is missing: {there} files are there, of {expected} ranks"
        ));
    }
    if found.len() > expected as usize || found.is_empty() {
        return error(format!("{} files of ranks where the .meta file says {expected}", found.len()));
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// The prefix and the rank in the name of a rank's file. Names that begin with a point are those of other things, such as
/// what macOS puts beside files in archives.
fn parts(name: &str) -> Option<(&str, u32)> {
    let (prefix, rank) = name.strip_suffix(".bin")?.rsplit_once('-')?;
    let is_number = !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !name.starts_with('.')).then_some(())?;
    Some((prefix, rank.parse().ok()?))
}

/// The names of the files in a directory, except hidden ones.
fn names(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    Ok(names)
}

/// The first eight bytes of a file.
fn head(path: &Path) -> Option<[u8; 8]> {
    use std::io::Read;

    let mut head = [0; 8];
    input::open(path).ok()?.read_exact(&mut head).ok()?;
    Some(head)
}

/// What a `.meta` file says.
struct Meta {
    prefix: String,
    ranks: Option<u32>,
}

impl Meta {
    fn read(path: &Path) -> Result<Self, TraceError> {
        let text = input::read_text(path, LARGEST_META).map_err(TraceError::io(path))?;
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let ranks = match value("numprocs").map(|ranks| (ranks, ranks.trim().parse())) {
            None => None,
            Some((_, Ok(ranks))) => Some(ranks),
            Some((text, Err(_))) => {
                let (path, place) = (path.to_owned(), "numprocs".to_owned());
                return Err(TraceError::Foreign { path, place, what: format!("'{text}' is no number of ranks") });
            }
        };
        // Some write the directory of the run before the prefix.
        let prefix = value("fileprefix").unwrap_or_default().trim();
        let prefix = prefix.rsplit('/').next().unwrap_or_default().to_owned();
        Ok(Self { prefix, ranks })
    }
}
