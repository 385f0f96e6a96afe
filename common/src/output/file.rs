//! A file that gets its name when it is complete.

use std::env;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use super::claims::{self, directory_of, identity, open};
use super::named;
use super::temporary::Temporary;

/// Links that are followed before a name is given up.
const MOST_LINKS: usize = 40;

/// A file that is being written: a new one next to `path` that replaces the one at `path` when it is finished, or, for
/// a device, a pipe or a socket, the object itself. Small writes are buffered, and errors name the path.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    out: BufWriter<File>,
    replacement: Option<Replacement>,
}

/// A file that is to take the place of another.
#[derive(Debug)]
struct Replacement {
    temporary: Temporary,
    target: PathBuf,
}

impl OutputFile {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be written, or a command under way reads it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, replacement) = begin(path).map_err(|error| named(path, error))?;
        Ok(Self { path: path.into(), out: BufWriter::with_capacity(1 << 16, file), replacement })
    }

    /// Writes a whole file.
    pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = Self::create(path)?;
        file.write_all(content)?;
        file.finish()
    }

    /// Checks whether a file can be written at `path`, without changing an existing one.
    pub fn check(path: &Path) -> io::Result<()> {
        match target(path) {
            Ok(Target::Name(_)) => Self::create(path).map(drop),
            // Opening a pipe may wait for its reader.
            Ok(Target::Itself | Target::Stream(_)) => Ok(()),
            Err(error) => Err(named(path, error)),
        }
    }

    /// Ends the file, which then has its name.
    ///
    /// # Errors
    /// If the file could not be written; the one at the path is then as it was.
    pub fn finish(&mut self) -> io::Result<()> {
        self.complete().map_err(|error| named(&self.path, error))
    }

    fn complete(&mut self) -> io::Result<()> {
        self.out.flush()?;
        let Some(Replacement { temporary, target }) = self.replacement.take() else { return Ok(()) };
        // What was opened since this file began is no less an input.
        claims::check(&self.path)?;
        self.out.get_ref().sync_all()?;
        match fs::rename(temporary.path(), &target) {
            Ok(()) => temporary.keep(),
            // A file that may be written, in a directory that may not, or that is mounted by itself, as into a container.
            Err(error) if is_refused(&error) || error.kind() == ErrorKind::ResourceBusy => {
                io::copy(&mut File::open(temporary.path())?, &mut in_place(&target)?)?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.out.write(text).map_err(|error| named(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| named(&self.path, error))
    }
}

/// The place that a path leads to.
enum Target {
    /// A regular file, or nothing: the name that it has or will have, without links.
    Name(PathBuf),
    /// A stream that this process has open.
    Stream(File),
    /// A device, a pipe or a socket.
    Itself,
}

fn target(path: &Path) -> io::Result<Target> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if place.starts_with("/proc") {
            return Ok(own_stream(path)?.map_or(Target::Itself, Target::Stream));
        }
        let Ok(next) = fs::read_link(&place) else {
            return match fs::metadata(&place) {
                Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
                Ok(found) if !found.is_file() => Ok(own_stream(path)?.map_or(Target::Itself, Target::Stream)),
                Ok(_) => Ok(Target::Name(place)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(Target::Name(place)),
                Err(error) => Err(error),
            };
        };
        place = directory_of(&place).join(next);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Standard output or standard error, if `path` denotes one of them: writing continues at the stream's position.
fn own_stream(path: &Path) -> io::Result<Option<File>> {
    let wanted = fs::metadata(path)?;
    let (out, err) = (io::stdout(), io::stderr());
    for stream in [out.as_fd(), err.as_fd()] {
        if open(stream)?.is_some_and(|found| identity(&found) == identity(&wanted)) {
            return Ok(Some(File::from(stream.try_clone_to_owned()?)));
        }
    }
    Ok(None)
}

/// The file at `path`, emptied.
fn in_place(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

/// Whether no new name may be put there.
fn is_refused(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), CrossesDevices | PermissionDenied | ReadOnlyFilesystem)
}

fn begin(path: &Path) -> io::Result<(File, Option<Replacement>)> {
    claims::check(path)?;
    let target = match target(path)? {
        Target::Stream(stream) => return Ok((stream, None)),
        Target::Itself => return Ok((in_place(path)?, None)),
        Target::Name(target) => target,
    };
    // A user without write permission may not replace the file, either.
    let replaced = match OpenOptions::new().write(true).open(&target) {
        Ok(file) => Some(file.metadata()?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let new = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let (file, temporary) = match Temporary::make(directory_of(&target), new) {
        Err(error) if replaced.is_some() && is_refused(&error) => Temporary::make(&env::temp_dir(), new)?,
        made => made?,
    };
    if let Some(replaced) = replaced {
        take_after(&file, &replaced)?;
    }
    Ok((file, Some(Replacement { temporary, target })))
}

/// Gives a file the owner, if that is possible, and the permissions of the one that it replaces.
fn take_after(file: &File, replaced: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    file.set_permissions(replaced.permissions())
}
