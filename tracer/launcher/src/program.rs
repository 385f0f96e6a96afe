//! The program to trace: its file, and whether a library can be preloaded into it.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use object::{ReadCache, ReadRef};
use rustix::fs::{StatVfsMountFlags, getxattr, statvfs};
use rustix::process::getuid;
use thiserror::Error;

use crate::elf::Elf;
use crate::library::Library;

#[derive(Debug)]
pub(crate) struct Program {
    pub path: PathBuf,
}

/// The reason why the program cannot be traced.
#[derive(Debug, Error)]
pub(crate) enum ProgramError {
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
    #[error("{0} {1}, so the system preloads nothing into it: trace a copy without that, as `cp` makes it")]
    Privileged(PathBuf, Privilege),
    #[error(
        "{0} is built for another C library than the tracer (its loader is {1}), so the tracer cannot be loaded into it: build \
         it, and its MPI library, for the system's own C library"
    )]
    OtherLibc(PathBuf, PathBuf),
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
    pub(crate) fn find(name: &OsStr) -> Result<Self, ProgramError> {
        let shown = || name.display().to_string();
        if name.as_bytes().contains(&b'/') {
            let path = PathBuf::from(name);
            return if path.is_file() { Ok(Self { path }) } else { Err(ProgramError::Missing(shown())) };
        }
        which::which(name).map(|path| Self { path }).map_err(|_| ProgramError::Missing(shown()))
    }

    /// The name of the program without its directory.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().display().to_string()
    }

    /// Whether this program starts the ranks, and is not one itself.
    pub(crate) fn is_launcher(&self) -> bool {
        let name = self.name();
        let family = name.split('.').next().unwrap_or_default();
        ["mpirun", "mpiexec", "orterun", "prun", "prterun", "srun", "aprun", "jsrun"].contains(&family)
    }

    /// Checks that `library` can be preloaded into this program, or into its interpreter, and returns the file that is
    /// then loaded; `None` if it is unknown.
    pub(crate) fn check(&self, library: &Library) -> Result<Option<Elf>, ProgramError> {
        let mut path = self.path.clone();
        for _ in 0..INTERPRETERS {
            if !is_executable(&path) {
                return Err(ProgramError::NotExecutable(path));
            }
            match check_file(&path, library)? {
                Checked::Script(interpreter) => path = interpreter,
                Checked::Program(elf) => return Ok(elf),
            }
        }
        Ok(None)
    }
}

/// A file that may be started.
enum Checked {
    /// A script, and its interpreter.
    Script(PathBuf),
    /// A program; `None` if nothing is known of it.
    Program(Option<Elf>),
}

fn check_file(path: &Path, library: &Library) -> Result<Checked, ProgramError> {
    let unreadable = |error| ProgramError::Unreadable(path.to_owned(), error);
    let file = match File::open(path) {
        Ok(file) => file,
        // A file that is executable but not readable can be started; nothing is known of it.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(Checked::Program(None)),
        Err(error) => return Err(unreadable(error)),
    };
    let about = file.metadata().map_err(unreadable)?;
    // Programs may be large, and the relevant parts are at their beginning.
    let content = &ReadCache::new(file);
    if content.read_bytes_at(0, 2) == Ok(b"#!") {
        return Ok(interpreter(content).map_or(Checked::Program(None), Checked::Script));
    }
    if let Some(privilege) = Privilege::of(path, &about) {
        return Err(ProgramError::Privileged(path.to_owned(), privilege));
    }
    let elf = Elf::read(content);
    let Some(Elf { machine, loader, .. }) = &elf else { return Ok(Checked::Program(None)) };
    let Some(loader) = loader else { return Err(ProgramError::Static(path.to_owned())) };
    if *machine != library.machine {
        return Err(ProgramError::OtherMachine(path.to_owned(), library.path.to_owned()));
    }
    if !is_own(loader) {
        return Err(ProgramError::OtherLibc(path.to_owned(), loader.clone()));
    }
    Ok(Checked::Program(elf))
}

/// Whether a dynamic loader belongs to the C library that this program, like the tracer, is built for. Loaders may have
/// links as second names.
fn is_own(loader: &Path) -> bool {
    let Some(own) = std::env::current_exe().ok().and_then(|own| Elf::open(&own)?.loader) else { return true };
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    loader.file_name() == own.file_name() || resolved(loader).file_name() == resolved(&own).file_name()
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

/// The source of a program's rights, if these are more than its caller's: the dynamic loader preloads nothing into such
/// programs (`AT_SECURE`, ld.so(8)).
///
/// Linux decides this in `cap_bprm_creds_from_file` (`security/commoncap.c`): the effective user or group changes; or
/// the user is not root, and the file's capabilities take effect at once or permit any.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum Privilege {
    #[error("runs as another user or group than you (set-uid or set-gid)")]
    SetUid,
    #[error("has file capabilities (`getcap` lists them)")]
    Capabilities,
}

impl Privilege {
    /// The privilege that the program at `path` has over this process, if it has any.
    pub(crate) fn of(path: &Path, about: &Metadata) -> Option<Self> {
        // A file system that is mounted so gives no rights (mount(8)).
        if statvfs(path).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOSUID)) {
            return None;
        }
        // The owner of this process's own entry is whom it runs as.
        let (user, group) = fs::metadata("/proc/self").map_or((0, 0), |own| (own.uid(), own.gid()));
        let mode = about.permissions().mode();
        if mode & 0o4000 != 0 && about.uid() != user || mode & 0o2000 != 0 && about.gid() != group {
            return Some(Self::SetUid);
        }
        let mut attribute = [0; 64];
        let length = getxattr(path, c"security.capability", &mut attribute).unwrap_or(0);
        (!getuid().is_root() && gives_rights(attribute.get(..length)?)).then_some(Self::Capabilities)
    }
}

/// Whether the capabilities of a file (`struct vfs_cap_data` of `linux/capability.h`) give rights: a word with the flag
/// that they take effect at once, and pairs of words with the permitted and the inheritable capabilities.
fn gives_rights(attribute: &[u8]) -> bool {
    /// `VFS_CAP_FLAGS_EFFECTIVE`.
    const EFFECTIVE: u32 = 1;
    let (words, _) = attribute.as_chunks::<4>();
    let mut words = words.iter().map(|&word| u32::from_le_bytes(word));
    let takes_effect = words.next().is_some_and(|first| first & EFFECTIVE != 0);
    takes_effect || words.take(4).step_by(2).any(|permitted| permitted != 0)
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
        assert!(Program::find("sh".as_ref()).unwrap().path.is_absolute());
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
        library.machine.architecture.0 ^= 1;
        let refused = Program::find("true".as_ref()).unwrap().check(&library);
        assert!(matches!(refused, Err(ProgramError::OtherMachine(..))));
    }

    #[test]
    fn launchers_are_known_by_name() {
        let program = |path: &str| Program { path: path.into() };
        assert!(program("/usr/bin/mpirun.openmpi").is_launcher() && program("/usr/bin/srun").is_launcher());
        assert!(!program("./lu.B.64").is_launcher());
    }

    fn attribute(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn capabilities_give_rights_if_they_take_effect_or_permit_any() {
        const REVISION_2: u32 = 0x0200_0000;
        assert!(!gives_rights(&[]));
        assert!(!gives_rights(&attribute(&[REVISION_2, 0, 0, 0, 0])));
        // cap_net_raw, bit 13: `setcap cap_net_raw+p`, `+i` and `+ei`; and cap_bpf, bit 39.
        assert!(gives_rights(&attribute(&[REVISION_2, 1 << 13, 0, 0, 0])));
        assert!(!gives_rights(&attribute(&[REVISION_2, 0, 1 << 13, 0, 0])));
        assert!(gives_rights(&attribute(&[REVISION_2 | 1, 0, 1 << 13, 0, 0])));
        assert!(gives_rights(&attribute(&[REVISION_2, 0, 0, 1 << 7, 0])));
        // The third revision has a user behind them.
        assert!(!gives_rights(&attribute(&[0x0300_0000, 0, 0, 0, 0, 1000])));
    }
}
