//! Manifests.

use std::fs;

use titr_common::trace::{Manifest, Trace};

use crate::folder;

/// A manifest, and after a zero byte the entries of ranks 0 and 1 in files of their own.
///
/// # Panics
/// If what was read is not what is read after it was written.
pub fn manifest(data: &[u8]) {
    let (folder, other) = (folder().join("one"), folder().join("other"));
    let parts = data.splitn(3, |&byte| byte == 0).map(Some).chain([None; 2]);
    for (part, name) in parts.zip(["manifest.json", "rank-000000.json", "rank-000001.json"]) {
        match part {
            Some(part) => fs::write(folder.join(name), part).unwrap(),
            None => drop(fs::remove_file(folder.join(name))),
        }
    }
    if let Ok(manifest) = Manifest::read(&folder) {
        drop(Trace::open(&folder));
        manifest.write(&other).unwrap();
        let again = Manifest::read(&other).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format!("{manifest:?}"), format!("{again:?}"));
    }
}
