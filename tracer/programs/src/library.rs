//! The file of the MPI library: the one of the launcher that has started this process, unless the user names another.

use std::env;
use std::ffi::{CStr, CString};
use std::sync::atomic::Ordering;

use crate::function::{LIBRARY, StartError};

/// The environment variable with the path of the library to load.
const CHOSEN: &str = "TITR_MPI_LIBRARY";

/// A launcher's mark in the environment of the processes that it starts, and the files of the libraries that go with it.
struct Launcher {
    mark: &'static str,
    files: &'static [&'static str],
}

/// Open MPI's versions 4 and 5, with the symbolic link that its development package has.
const OPEN_MPI: &[&str] = &["libmpi.so.40", "libmpi.so"];

/// MPICH's ABI has number 12; Debian names the file after the library.
const MPICH: &[&str] = &["libmpich.so.12", "libmpi.so.12", "libmpi.so"];

/// Known launchers, the most specific marks first: Slurm sets `PMI_RANK` or `PMIX_RANK` with any library.
const LAUNCHERS: [Launcher; 4] = [
    Launcher { mark: "OMPI_COMM_WORLD_SIZE", files: OPEN_MPI },
    Launcher { mark: "MPI_LOCALNRANKS", files: MPICH },
    Launcher { mark: "PMI_RANK", files: MPICH },
    Launcher { mark: "PMIX_RANK", files: OPEN_MPI },
];

/// Loads the library, so that everybody finds its functions.
pub(crate) fn load() -> Result<(), StartError> {
    let files = match env::var(CHOSEN) {
        Ok(file) => vec![file],
        Err(_) => candidates().iter().map(|file| (*file).to_owned()).collect(),
    };
    let mut reasons = Vec::new();
    for file in files {
        match open(&file) {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(StartError::Missing { reasons: reasons.join("; ") })
}

/// The files to try. A process without a launcher is a separate world, under any library.
fn candidates() -> &'static [&'static str] {
    let launcher = LAUNCHERS.iter().find(|launcher| env::var_os(launcher.mark).is_some());
    launcher.map_or(&["libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"], |launcher| launcher.files)
}

fn open(file: &str) -> Result<(), String> {
    let name = CString::new(file).map_err(|_| format!("{file:?} has a NUL"))?;
    // SAFETY: the library's constructors run; an MPI library is made to be loaded.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if !handle.is_null() {
        LIBRARY.store(handle, Ordering::Relaxed);
        return Ok(());
    }
    // SAFETY: after a failure `dlerror` gives a C string that lives until this thread's next call.
    let reason = unsafe { libc::dlerror() };
    if reason.is_null() {
        return Err(format!("{file}: not loaded"));
    }
    // SAFETY: as above.
    Err(unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned())
}
