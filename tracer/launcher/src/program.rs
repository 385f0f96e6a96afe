//! The program to be traced: where it is, and whether a library can be preloaded into it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use object::{ReadCache, ReadRef};
use thiserror::Error;

use crate::elf::{Linkage, inspect};
use crate::library::Library;

/// An executable file.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
}

/// Why the program is not traced.
#[derive(Debug, Error)]
pub enum ProgramError {
    #[error("{0}: no such program: give its path, or a name that is in PATH")]
    Missing(String),
    #[error("{0} cannot be read: {1}")]
    Unreadable(PathBuf, std::io::Error),
    #[error("{0} is not executable: `chmod +x` makes it so")]
    NotExecutable(PathBuf),
    #[error(
        "{0} is statically linked, so nothing can be preloaded into it: link it without -static, and MPI as a shared library"
    )]
    Static(PathBuf),
    #[error(
        "{0} runs as another user or group than you (set-uid or set-gid), so the system preloads nothing into it: trace a copy \
         without that, as `cp` makes it"
    )]
    SetUid(PathBuf),
    #[error(
        "{0} and {1} are for different machines (32 and 64 bits, or different processors): build the tracer for the program's"
    )]
    OtherMachine(PathBuf, PathBuf),
}

/// Scripts that start scripts: more than that is a mistake, or a loop.
const INTERPRETERS: usize = 5;

/// The length of a script's first line that Linux looks at (`BINPRM_BUF_SIZE`), in bytes.
const SCRIPT_LINE: u64 = 256;

impl Program {
    /// Looks for a program as `execvp` does.
    pub fn find(name: &OsStr) -> Result<Self, ProgramError> {
        let shown = || name.display().to_string();
        if name.as_bytes().contains(&b'/') {
            let path = PathBuf::from(name);
            return if path.is_file() { Ok(Self { path }) } else { Err(ProgramError::Missing(shown())) };
        }
        which::which(name).map(|path| Self { path }).map_err(|_| ProgramError::Missing(shown()))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the program without its directory.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().display().to_string()
    }

    /// Whether this is what starts the ranks, and none of them.
    pub fn is_launcher(&self) -> bool {
        let name = self.name();
        let family = name.split('.').next().unwrap_or_default();
        ["mpirun", "mpiexec", "orterun", "prun", "prterun", "srun", "aprun", "jsrun"].contains(&family)
    }

    /// Whether `library` can be preloaded into this, or into what interprets it.
    pub fn check(&self, library: &Library) -> Result<(), ProgramError> {
        let mut path = self.path.clone();
        for _ in 0..INTERPRETERS {
            if !is_executable(&path) {
                return Err(ProgramError::NotExecutable(path));
            }
            let interpreter = check_file(&path, library)?;
            match interpreter {
                Some(next) => path = next,
                None => break,
            }
        }
        Ok(())
    }
}

/// Checks one file, and says what interprets it if that is another.
fn check_file(path: &Path, library: &Library) -> Result<Option<PathBuf>, ProgramError> {
    let unreadable = |error| ProgramError::Unreadable(path.to_owned(), error);
    let file = match File::open(path) {
        Ok(file) => file,
        // What may be executed but not read can be started; nothing is known of it.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let about = file.metadata().map_err(unreadable)?;
    // Programs may be large, and what is looked for stands at their beginning.
    let content = &ReadCache::new(file);
    if content.read_bytes_at(0, 2) == Ok(b"#!") {
        return Ok(interpreter(content));
    }
    // The owner of this process's own entry is whom it runs as.
    let (user, group) = fs::metadata("/proc/self").map_or((0, 0), |own| (own.uid(), own.gid()));
    let mode = about.permissions().mode();
    if mode & 0o4000 != 0 && about.uid() != user || mode & 0o2000 != 0 && about.gid() != group {
        return Err(ProgramError::SetUid(path.to_owned()));
    }
    match inspect(content) {
        Some((_, Linkage::Static)) => Err(ProgramError::Static(path.to_owned())),
        Some((machine, _)) if library.machine.is_some_and(|other| other != machine) => {
            Err(ProgramError::OtherMachine(path.to_owned(), library.path().to_owned()))
        }
        _ => Ok(None),
    }
}

/// The interpreter that a script's first line names after the `#!`.
fn interpreter<'data>(script: impl ReadRef<'data>) -> Option<PathBuf> {
    let beginning = script.read_bytes_at(0, script.len().ok()?.min(SCRIPT_LINE)).ok()?.strip_prefix(b"#!")?;
    let line = beginning.split(|byte| *byte == b'\n').next()?;
    let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Library {
        Library::find(Some(&std::env::current_exe().unwrap())).unwrap()
    }

    fn file(content: &[u8], mode: u32) -> (tempfile::TempDir, Program) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        (directory, Program::find(path.as_os_str()).unwrap())
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert!(Program::find("sh".as_ref()).unwrap().path().is_absolute());
        let error = Program::find("no-such-program".as_ref()).unwrap_err().to_string();
        assert_eq!(error, "no-such-program: no such program: give its path, or a name that is in PATH");
        assert!(Program::find("./no-such-program".as_ref()).is_err());
    }

    #[test]
    fn dynamic_programs_and_their_scripts_pass() {
        Program::find("true".as_ref()).unwrap().check(&library()).unwrap();
        let (_kept, script) = file(b"#! /bin/sh -e\nexec true\n", 0o755);
        script.check(&library()).unwrap();
    }

    #[test]
    fn what_cannot_be_executed_is_said() {
        let (_kept, script) = file(b"#!/bin/sh\n", 0o644);
        assert!(matches!(script.check(&library()), Err(ProgramError::NotExecutable(_))));
        let (_kept, script) = file(b"#!/no/such/shell\n", 0o755);
        assert!(matches!(script.check(&library()), Err(ProgramError::NotExecutable(_))));
    }

    #[test]
    fn a_library_of_another_machine_is_refused() {
        let mut library = library();
        let machine = library.machine.as_mut().unwrap();
        machine.architecture.0 ^= 1;
        let refused = Program::find("true".as_ref()).unwrap().check(&library);
        assert!(matches!(refused, Err(ProgramError::OtherMachine(..))));
    }

    #[test]
    fn launchers_are_known_by_name() {
        let program = |path: &str| Program { path: path.into() };
        assert!(program("/usr/bin/mpirun.openmpi").is_launcher() && program("/usr/bin/srun").is_launcher());
        assert!(!program("./lu.B.64").is_launcher());
    }
}
