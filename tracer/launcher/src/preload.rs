//! The value of `LD_PRELOAD`: libraries that are already preloaded, followed by the tracer.
//!
//! Another tool that defines functions of MPI sees the calls of the program only if it precedes the tracer: it calls
//! `PMPI_X`, which the tracer defines too. The run-time libraries of sanitizers have to be first.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::elf::Elf;

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

/// The variable that has the sanitizer's options.
pub(crate) const OPTIONS: &str = "ASAN_OPTIONS";

/// The option that is about the order of libraries.
const ORDER: &str = "verify_asan_link_order";

/// The variable to set for a program whose options in the environment are `options`, for AddressSanitizer.
///
/// It ends a program if its run-time library is not the first one that the dynamic loader has loaded. The tracer does not
/// interfere with it and may come first: its library declares this (`__asan_default_options`), unless the program has
/// options of its own, which an environment variable overrides.
pub(crate) fn setting(program: Option<&Elf>, options: Option<OsString>) -> Option<(OsString, OsString)> {
    let is_runtime = |name: &String| name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan");
    if !program?.needed.iter().any(is_runtime) {
        return None;
    }
    let mut options = options.unwrap_or_default();
    if options.to_string_lossy().contains(ORDER) {
        return None;
    }
    if !options.is_empty() {
        options.push(":");
    }
    options.push(format!("{ORDER}=0"));
    Some((OPTIONS.into(), options))
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

    #[test]
    fn only_the_programs_of_the_sanitizer_get_its_option() {
        let mut program = Elf::open(&std::env::current_exe().unwrap()).unwrap();
        assert_eq!(setting(Some(&program), None), None);
        program.needed.insert(0, "libasan.so.8".to_owned());
        let value = |options: &str| setting(Some(&program), Some(options.into())).map(|(_, value)| value);
        assert_eq!(value(""), Some("verify_asan_link_order=0".into()));
        assert_eq!(value("detect_leaks=0"), Some("detect_leaks=0:verify_asan_link_order=0".into()));
        assert_eq!(value("verify_asan_link_order=1"), None);
    }
}
