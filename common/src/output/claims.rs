//! The files that commands read, which no output may replace, and outputs that are one file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use thiserror::Error;

/// An output that would destroy a file that the command needs.
#[derive(Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum Clash {
    #[error("{} is an input of this command and its output: nothing is written; name another file", output.display())]
    IsInput { output: PathBuf },
    #[error(
        "{} would become a file of the trace in {}, which this command reads: nothing is written; name another file",
        output.display(), trace.display()
    )]
    InTrace { output: PathBuf, trace: PathBuf },
    #[error(
        "{} and {} are one file, and it would be written twice: nothing is written; name another file",
        first.display(), second.display()
    )]
    Twice { first: PathBuf, second: PathBuf },
}

impl From<Clash> for io::Error {
    fn from(clash: Clash) -> Self {
        Self::new(ErrorKind::InvalidInput, clash)
    }
}

/// Device and inode: the identity of a file, independent of its name.
pub(crate) type Identity = (u64, u64);

/// Whether a file with this path in a directory would belong to the trace there.
pub type IsPart = fn(&Path) -> bool;

/// The files that the commands under way have opened for reading, and the directories of the traces among them.
struct Inputs {
    commands: usize,
    printed: Option<Identity>,
    found: BTreeMap<Identity, Option<IsPart>>,
}

static INPUTS: Mutex<Inputs> = Mutex::new(Inputs { commands: 0, printed: None, found: BTreeMap::new() });

fn inputs() -> MutexGuard<'static, Inputs> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A command under way. What is opened for reading meanwhile is no output until the last such command has ended.
#[derive(Debug)]
pub struct Command(());

impl Command {
    /// Begins it.
    #[must_use]
    pub fn begin() -> Self {
        let printed = open(io::stdout().as_fd()).ok().flatten().filter(Metadata::is_file);
        let mut inputs = inputs();
        inputs.commands += 1;
        inputs.printed = printed.as_ref().map(identity);
        Self(())
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        let mut inputs = inputs();
        inputs.commands -= 1;
        if inputs.commands == 0 {
            inputs.found.clear();
        }
    }
}

/// Records that a command reads this file or, by the names of its parts, the trace in this directory.
///
/// # Errors
/// If standard output goes there.
pub fn read(found: &Metadata, is_part: Option<IsPart>) -> Result<(), Clash> {
    let mut inputs = inputs();
    // Pipes and devices are no files that an output destroys.
    if inputs.commands == 0 || !found.is_file() && is_part.is_none() {
        return Ok(());
    }
    if inputs.printed == Some(identity(found)) {
        return Err(Clash::IsInput { output: "standard output".into() });
    }
    inputs.found.insert(identity(found), is_part);
    Ok(())
}

/// Checks that `output` is neither a file that a command reads nor a new part of a trace that it reads.
pub(super) fn check(output: &Path) -> Result<(), Clash> {
    let inputs = inputs();
    let read = |path: &Path| inputs.found.get(&identity(&fs::metadata(path).ok()?)).copied();
    if matches!(read(output), Some(None)) {
        return Err(Clash::IsInput { output: output.into() });
    }
    let resolved = resolved(output).unwrap_or_default();
    // A part is in the directory of the trace, or in a folder there.
    for trace in resolved.ancestors().skip(1).take(2) {
        let name = resolved.strip_prefix(trace).unwrap_or(&resolved);
        if read(trace).flatten().is_some_and(|is_part| is_part(name)) {
            return Err(Clash::InTrace { output: output.into(), trace: trace.into() });
        }
    }
    Ok(())
}

/// Checks the outputs of a command, before its work, against what it has opened by then and against each other. Pipes and
/// devices may be named as often as one likes.
///
/// # Errors
/// If an output would destroy another file, or be part of a trace that the command reads.
pub fn claim(outputs: impl IntoIterator<Item = PathBuf>) -> io::Result<()> {
    #[derive(PartialEq)]
    enum Place {
        File(Identity),
        /// The name of a file that is not there yet, in its directory's own name.
        Name(PathBuf),
    }
    let printed = inputs().printed.map(|identity| (PathBuf::from("standard output"), Place::File(identity)));
    let mut claimed = Vec::from_iter(printed);
    for output in outputs {
        check(&output)?;
        if let Some(file) = output.ancestors().skip(1).find(|above| above.exists()).filter(|above| !above.is_dir()) {
            let what = format!("cannot write {}: {} is a file, not a directory", output.display(), file.display());
            return Err(io::Error::new(ErrorKind::NotADirectory, what));
        }
        let Some(resolved) = resolved(&output) else { continue };
        let place = match fs::metadata(&resolved) {
            Ok(found) if found.is_file() => Place::File(identity(&found)),
            Ok(_) => continue,
            Err(_) => Place::Name(resolved),
        };
        let is_stream = output.starts_with("/proc") || output.starts_with("/dev");
        let twice = claimed.iter().find(|(_, other)| *other == place);
        if let Some((first, _)) = twice.filter(|_| !is_stream) {
            return Err(Clash::Twice { first: first.clone(), second: output }.into());
        }
        claimed.push((output, place));
    }
    Ok(())
}

/// Checks, before the work of a command, that an output is no directory and that its directory is there.
///
/// # Errors
/// If the output is one, or its directory is not there.
pub fn can_be_file(output: &Path) -> io::Result<()> {
    let directory = directory_of(output);
    let wrong = |kind, what: fmt::Arguments<'_>| {
        Err(io::Error::new(kind, format!("cannot write {}: {what}", output.display())))
    };
    if output.is_dir() {
        wrong(ErrorKind::IsADirectory, format_args!("it is a directory"))
    } else if !directory.is_dir() {
        wrong(ErrorKind::NotFound, format_args!("there is no directory {}", directory.display()))
    } else {
        Ok(())
    }
}

/// The identity of a file that was found.
pub(crate) fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// The path without links; `None` if its directory is not there.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(resolved) = fs::canonicalize(path) {
        return Some(resolved);
    }
    let path = fs::read_link(path).map_or_else(|_| path.to_owned(), |next| directory_of(path).join(next));
    Some(fs::canonicalize(directory_of(&path)).ok()?.join(path.file_name()?))
}

/// The state of a stream; `None` if it is closed.
pub(super) fn open(stream: BorrowedFd<'_>) -> io::Result<Option<Metadata>> {
    let Ok(file) = stream.try_clone_to_owned() else { return Ok(None) };
    File::from(file).metadata().map(Some)
}

pub(super) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."))
}
