//! Hides the functions that this crate defines and the MPI library of the process lacks.
//!
//! A program may find out by a weak reference whether a function exists: where nobody defines the function, the dynamic
//! linker leaves zero (System V gABI, "Symbol Table", `STB_WEAK`), and the program does without. The wheels of Python's
//! mpi4py are built so, that they run on any MPI from 3.0 on. Preloaded, this crate defines every function of MPI, and such
//! a program would call functions that the library lacks. So the zeros are put back.
//!
//! The words that the linker has filled in are mostly write-protected by now (`PT_GNU_RELRO`) and are made writable for
//! that moment.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{Elf64_Phdr, Elf64_Sym, PF_W, PT_DYNAMIC, PT_GNU_RELRO, PT_LOAD};
use object::elf;

use crate::library::{self, Pin};
use crate::loaded::Object;

/// Sets weak references to functions that the library lacks to zero, in all loaded objects. Does nothing if there is no
/// library yet.
pub(crate) fn hide() {
    if library::function(c"PMPI_Init").is_none() {
        return;
    }
    // Pinned, so that no object is closed while it is read.
    let pins: Vec<Pin> = Object::all().iter().filter_map(|object| Pin::of(&object.name)).collect();
    for object in Object::all() {
        if pins.iter().any(|pin| pin.name() == object.name.as_c_str()) {
            // SAFETY: it is pinned.
            let headers = unsafe { object.headers() };
            Pinned { base: object.base, headers }.hide();
        }
    }
}

/// Calls [`hide`] if the program was linked with a library: such a program may look at a weak reference before it calls
/// anything.
pub(crate) fn hide_if_linked() {
    if library::is_linked() {
        hide();
    }
}

/// An object that stays loaded as long as this value lives.
struct Pinned<'o> {
    base: usize,
    headers: &'o [Elf64_Phdr],
}

/// Addresses that the dynamic section gives for an object's relocations (gABI, "Dynamic Section").
#[derive(Default)]
struct Dynamic {
    strings: usize,
    symbols: usize,
    relocations: usize,
    /// The size of all relocations, in bytes.
    size: usize,
}

/// A relocation: `Elf64_Rela`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

/// Types of relocation that hold a symbol's address as data.
const ADDRESSES: [elf::RelocationType; 2] = if cfg!(target_arch = "x86_64") {
    [elf::R_X86_64_GLOB_DAT, elf::R_X86_64_64]
} else {
    [elf::R_AARCH64_GLOB_DAT, elf::R_AARCH64_ABS64]
};

impl Pinned<'_> {
    fn hide(&self) {
        let Some(dynamic) = self.dynamic() else { return };
        for index in 0..dynamic.size / size_of::<Relocation>() {
            // SAFETY: the linker has filled in this many relocations, which are in memory as long as the object is.
            let relocation = unsafe { (dynamic.relocations as *const Relocation).add(index).read() };
            if !ADDRESSES.contains(&elf::RelocationType(relocation.info as u32)) || relocation.addend != 0 {
                continue;
            }
            if let Some(ours) = self.only_ours(&dynamic, (relocation.info >> 32) as usize) {
                self.zero(self.base.wrapping_add(relocation.offset as usize), ours);
            }
        }
    }

    /// Our address of a weak symbol that we define and the library lacks.
    fn only_ours(&self, dynamic: &Dynamic, symbol: usize) -> Option<usize> {
        // SAFETY: an index that the linker has used.
        let symbol = unsafe { (dynamic.symbols as *const Elf64_Sym).add(symbol).read() };
        if symbol.st_info >> 4 != elf::STB_WEAK.0 || symbol.st_shndx != elf::SHN_UNDEF.0 {
            return None;
        }
        // SAFETY: a place in the string table, where every string ends with a zero.
        let name = unsafe { CStr::from_ptr((dynamic.strings + symbol.st_name as usize) as *const _) };
        let is_mpi = [&b"MPI"[..], b"PMPI"].iter().any(|prefix| name.to_bytes().starts_with(prefix));
        if !is_mpi || library::function(name).is_some() {
            return None;
        }
        library::ours(name)
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
        // SAFETY: asks for a number.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // An aligned word is on one page. What the linker protects begins and ends with a page, both rounded down.
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
            // It is writable now, and who reads it meanwhile sees one or the other.
            word.store(0, Ordering::Relaxed);
            protect(libc::PROT_READ);
        }
    }

    fn dynamic(&self) -> Option<Dynamic> {
        let header = self.headers.iter().find(|header| header.p_type == PT_DYNAMIC)?;
        let entries = self.base.wrapping_add(header.p_vaddr as usize) as *const [u64; 2];
        let mut found = Dynamic::default();
        for index in 0.. {
            // SAFETY: the section ends with an entry of kind 0.
            let [kind, value] = unsafe { entries.add(index).read() };
            match elf::DynamicTag(kind.cast_signed()) {
                elf::DT_NULL => break,
                elf::DT_STRTAB => found.strings = value as usize,
                elf::DT_SYMTAB => found.symbols = value as usize,
                elf::DT_RELA => found.relocations = value as usize,
                elf::DT_RELASZ => found.size = value as usize,
                _ => {}
            }
        }
        // Where a linker leaves offsets here, as musl does and glibc in the kernel's own object, nothing is hidden.
        (found.relocations > self.base).then_some(found)
    }
}
