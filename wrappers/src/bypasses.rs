//! Objects whose calls bypass the tool.
//!
//! A program may open a plug-in so that it looks for functions in its own libraries first (`dlopen` with
//! `RTLD_DEEPBIND`). If the MPI library is one of those, the plug-in calls it directly, and not this crate, which
//! precedes the library for all others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::callbacks::LibraryCode;
use crate::library;
use crate::relocations::each_object;

/// The functions of MPI that an object calls, or may call, in the library itself, by the path of the object's file.
#[must_use]
pub fn bypasses() -> BTreeMap<String, Vec<String>> {
    let code = LibraryCode::now();
    let mut past = BTreeSet::new();
    each_object(|object, pinned| {
        if code.is_library_or_ours(object.code) {
            return;
        }
        for reference in pinned.references() {
            // SAFETY: an aligned word of an object that stays, which the linker has filled in.
            let target = unsafe { AtomicUsize::from_ptr(reference.place as *mut usize) }.load(Ordering::Relaxed);
            if code.is_in_library(target) {
                past.insert((object.name.clone(), reference.name.to_owned()));
            }
        }
    });
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (object, function) in past.into_iter().filter(|(_, function)| library::ours(function).is_some()) {
        let functions = found.entry(object.to_string_lossy().into_owned()).or_default();
        functions.push(function.to_string_lossy().into_owned());
    }
    found
}
