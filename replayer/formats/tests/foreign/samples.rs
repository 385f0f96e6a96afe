//! Samples in the repository, and the larger collection of traces outside of it.

use std::path::{Path, PathBuf};

use titr_common::trace::{Trace, TraceError};
use titr_formats::input;

/// A file or directory of `tests/data/foreign`.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/foreign").join(name)
}

/// Opens a trace of one file or directory.
pub(crate) fn open(path: &Path) -> Result<Trace, TraceError> {
    input::open(&[path])
}

/// The directory of the collection, if there is one.
pub(crate) fn collection() -> Option<PathBuf> {
    let directory = std::env::var_os("TITR_FOREIGN").map(PathBuf::from);
    if directory.is_none() {
        eprintln!(
            "TITR_FOREIGN is not set: it should name the directory with traces of other tools. Nothing was tested."
        );
    }
    directory
}

/// Does something with each trace of titr in the collection: six programs, time-independent and extended.
pub(crate) fn each_of_titr_in_the_collection(check: impl Fn(&Path)) {
    let Some(directory) = collection() else { return };
    for program in ["stencil", "lu", "collectives", "persistent", "vectors", "wildcards"] {
        let path = directory.join("programs-by-seven-tools/titr").join(program);
        check(&path.join("ti"));
        check(&path.join("extended"));
    }
}
