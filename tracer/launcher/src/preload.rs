//! The value of `LD_PRELOAD`: libraries that are already preloaded, followed by the tracer.
//!
//! Another tool that defines functions of MPI sees the calls of the program only if it precedes the tracer: it calls
//! `PMPI_X`, which the tracer defines too. The run-time libraries of sanitizers have to be first.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The names in `others`, unchanged except that a tracer among them is removed, followed by the tracer.
pub(crate) fn preload(library: &Path, others: Option<&OsStr>) -> OsString {
    // The dynamic loader separates names by colons and blanks.
    let others = others.unwrap_or_default().as_bytes().split(|byte| b": ".contains(byte));
    let mut preload = OsString::new();
    for other in others.filter(|other| !other.is_empty()).map(OsStr::from_bytes) {
        if !is_same_file(library, Path::new(other)) {
            preload.push(other);
            preload.push(":");
        }
    }
    preload.push(library);
    preload
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
    one == other || file(one).is_some_and(|one| file(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_preloaded_before_stays_before() {
        let library = Path::new("/opt/titr/libtitrace.so");
        assert_eq!(preload(library, None), "/opt/titr/libtitrace.so");
        assert_eq!(preload(library, Some("".as_ref())), "/opt/titr/libtitrace.so");
        assert_eq!(preload(library, Some("liba.so libb.so:".as_ref())), "liba.so:libb.so:/opt/titr/libtitrace.so");
    }

    #[test]
    fn the_tracer_is_preloaded_once() {
        let directory = tempfile::tempdir().unwrap();
        let [library, link] = ["libtitrace.so", "link.so"].map(|name| directory.path().join(name));
        fs::write(&library, "").unwrap();
        std::os::unix::fs::symlink(&library, &link).unwrap();
        let others = format!("{}:liba.so:{}", link.display(), library.display());
        let expected = format!("liba.so:{}", library.display());
        assert_eq!(preload(&library, Some(others.as_ref())), expected.as_str());
    }
}
