//! Hides the functions that this crate defines and the MPI library of the process lacks.
//!
//! A program may find out by a weak reference whether a function exists: if it is undefined, the dynamic linker leaves
//! zero (System V gABI, "Symbol Table", `STB_WEAK`), and the program does without. The wheels of Python's mpi4py use
//! this to run on any MPI from 3.0 on. Preloaded, this crate defines every function of MPI, and such a program would
//! call functions that the library lacks. The zeros are therefore restored.
//!
//! Most of the words that the linker has filled in are write-protected by now (`PT_GNU_RELRO`) and are made writable
//! temporarily.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{PF_W, PT_GNU_RELRO, PT_LOAD};

use crate::library;
use crate::relocations::{Pinned, Reference, each_object};

/// Sets weak references to functions that the library lacks to zero, in all loaded objects. Does nothing if there is no
/// library yet.
pub(crate) fn hide() {
    if library::function(c"PMPI_Init").is_none() {
        return;
    }
    let mut names = BTreeSet::new();
    each_object(|_, object| names.extend(object.weak_references().map(|reference| reference.name.to_owned())));
    let lacking = names.into_iter().filter(|name| library::function(name).is_none());
    let lacking: BTreeMap<CString, usize> =
        lacking.filter_map(|name| library::ours(&name).map(|ours| (name, ours))).collect();
    if !lacking.is_empty() {
        each_object(|_, object| object.hide(&lacking));
    }
}

/// Calls [`hide`] if the program was linked with a library: such a program may look at a weak reference before it calls
/// anything.
pub(crate) fn hide_if_linked() {
    if library::is_linked() {
        hide();
    }
}

impl Pinned<'_> {
    fn weak_references(&self) -> impl Iterator<Item = Reference<'_>> {
        self.references().into_iter().filter(|reference| reference.is_weak && !reference.is_lazy)
    }

    /// Hides functions of ours, given with their addresses.
    fn hide(&self, lacking: &BTreeMap<CString, usize>) {
        for reference in self.weak_references() {
            if let Some(ours) = lacking.get(reference.name) {
                self.zero(reference.place, *ours);
            }
        }
    }

    /// Writes zero to a place that the linker has filled in with `ours`, if that is still there.
    fn zero(&self, place: usize, ours: usize) {
        let writable = self.headers.iter().any(|header| {
            let start = self.base.wrapping_add(header.p_vaddr as usize);
            header.p_type == PT_LOAD
                && header.p_flags & PF_W != 0
                && (start..start + header.p_memsz as usize).contains(&place)
        });
        if !writable || !place.is_multiple_of(align_of::<AtomicUsize>()) {
            return;
        }
        // SAFETY: an aligned word of an object that stays, in its data, which are readable.
        let word = unsafe { AtomicUsize::from_ptr(place as *mut usize) };
        if word.load(Ordering::Relaxed) != ours {
            return;
        }
        // SAFETY: only queries a number.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // An aligned word is on one page. The range that the linker protects begins and ends at a page, both rounded
        // down.
        let page = place & !(size - 1);
        let protected = self.headers.iter().find(|header| header.p_type == PT_GNU_RELRO).is_some_and(|header| {
            let start = self.base.wrapping_add(header.p_vaddr as usize);
            (start & !(size - 1)..(start + header.p_memsz as usize) & !(size - 1)).contains(&page)
        });
        let protect = |how| {
            // SAFETY: the page is one of the object's own data, which is readable and in use.
            !protected || unsafe { libc::mprotect(page as *mut c_void, size, how) } == 0
        };
        if protect(libc::PROT_READ | libc::PROT_WRITE) {
            // It is writable now, and a concurrent reader sees either value.
            word.store(0, Ordering::Relaxed);
            protect(libc::PROT_READ);
        }
    }
}
