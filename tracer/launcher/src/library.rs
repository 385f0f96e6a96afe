//! Finds `libtitrace.so`.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::elf::{Elf, Machine};

const NAME: &str = "libtitrace.so";

#[derive(Debug)]
pub(crate) struct Library {
    pub path: PathBuf,
    /// The machine that the tracer was built for.
    pub machine: Machine,
}

/// An error: there is no library to preload.
#[derive(Debug, Error)]
pub(crate) enum LibraryError {
    #[error("{NAME} is in none of {}: say where with --library FILE", .0.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Missing(Vec<PathBuf>),
    #[error(
        "{0} is not a library that can be preloaded: build it with `cargo build --release --workspace`, or give another with --library FILE"
    )]
    Unfit(PathBuf),
    #[error(
        "{0} cannot be preloaded from where it is, for LD_PRELOAD separates names by blanks and colons: move it, or use a link to it"
    )]
    Separator(PathBuf),
}

impl Library {
    /// The requested library, or the one installed with this program.
    pub(crate) fn find(wanted: Option<&Path>) -> Result<Self, LibraryError> {
        let candidates = match wanted {
            Some(path) if path.is_dir() => vec![path.join(NAME)],
            Some(path) => vec![path.to_owned()],
            None => installed(),
        };
        let Some(path) = candidates.iter().find(|path| path.is_file()) else {
            return Err(LibraryError::Missing(candidates));
        };
        // The program may be started in another directory than this.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        if path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :\t\n".contains(byte)) {
            return Err(LibraryError::Separator(path));
        }
        let Some(Elf { machine, .. }) = Elf::open(&path) else { return Err(LibraryError::Unfit(path)) };
        Ok(Self { path, machine })
    }
}

/// Beside this program, as Cargo leaves it, or as a package installs it.
fn installed() -> Vec<PathBuf> {
    let own = std::env::current_exe().unwrap_or_default();
    let here = own.parent().unwrap_or(Path::new(""));
    vec![here.join(NAME), here.join("../lib").join(NAME), here.join("../lib/titr").join(NAME)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_looked_for_where_it_was_said_to_be() {
        let error = Library::find(Some(Path::new("/nowhere/libtitrace.so"))).unwrap_err().to_string();
        assert_eq!(error, "libtitrace.so is in none of /nowhere/libtitrace.so: say where with --library FILE");
    }

    #[test]
    fn what_cannot_be_preloaded_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("library.so");
        std::fs::write(&text, "not a library").unwrap();
        assert!(matches!(Library::find(Some(&text)), Err(LibraryError::Unfit(_))));
        let apart = directory.path().join("my library.so");
        std::fs::write(&apart, "").unwrap();
        assert!(matches!(Library::find(Some(&apart)), Err(LibraryError::Separator(_))));
    }
}
