//! The larger collection of traces, outside of the repository.

use std::path::PathBuf;

/// The directory of the collection, if there is one.
pub(crate) fn directory() -> Option<PathBuf> {
    let directory = std::env::var_os("TITR_FOREIGN").map(PathBuf::from);
    if directory.is_none() {
        eprintln!(
            "TITR_FOREIGN is not set: it should name the directory with traces of other tools. Nothing was tested."
        );
    }
    directory
}
