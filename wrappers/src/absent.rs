//! Functions that this crate defines and the MPI library of the process lacks.
//!
//! A program may find out by a weak reference whether a function is there: where nobody defines it the dynamic linker
//! leaves zero (System V gABI, "Symbol Table", `STB_WEAK`), and the program does without. The wheels of Python's mpi4py are
//! built so, that they run on any MPI from 3.0 on. Preloaded, we define every function there is, and such a program would
//! call what is not there. So the zeros are put back.
//!
//! What the linker has filled in is mostly write-protected by now (`PT_GNU_RELRO`) and is made writable for that moment.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{Elf64_Phdr, Elf64_Sym, PT_DYNAMIC, PT_GNU_RELRO};

use crate::library::{self, Pin};

/// Lets weak references to functions that the library lacks be zero, in all objects that are loaded. Nothing if there is
/// no library yet.
pub(crate) fn hide() {
    if library::function(c"PMPI_Init").is_none() {
        return;
    }
    for object in Object::all() {
        // None is closed while it is looked at.
        if let Some(_pin) = Pin::of(&object.name) {
            object.hide();
        }
    }
}

/// A loaded object.
struct Object {
    /// Empty for the program itself.
    name: CString,
    base: usize,
    headers: *const Elf64_Phdr,
    count: usize,
}

/// What the dynamic section says of the references to fill in (gABI, "Dynamic Section"; all addresses are relocated).
#[derive(Default)]
struct Dynamic {
    strings: usize,
    symbols: usize,
    references: usize,
    /// Of the references, in bytes.
    size: usize,
}

/// A reference: `Elf64_Rela`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Reference {
    offset: u64,
    info: u64,
    addend: i64,
}

/// References that hold a symbol's address as data: `R_*_GLOB_DAT` and `R_*_64` or `R_*_ABS64`.
const ADDRESSES: [u32; 2] = if cfg!(target_arch = "x86_64") { [6, 1] } else { [1025, 257] };
/// `DT_STRTAB`, `DT_SYMTAB`, `DT_RELA`, `DT_RELASZ`.
const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;
const REFERENCES: u64 = 7;
const SIZE: u64 = 8;

impl Object {
    fn all() -> Vec<Self> {
        unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, objects: *mut c_void) -> c_int {
            // SAFETY: called by `dl_iterate_phdr` below, with its own valid `info` and the `Vec` given there.
            let (info, objects) = unsafe { (&*info, &mut *objects.cast::<Vec<Object>>()) };
            // SAFETY: the linker's name of the object, a C string.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_owned();
            let (base, headers, count) = (info.dlpi_addr as usize, info.dlpi_phdr, info.dlpi_phnum.into());
            objects.push(Object { name, base, headers, count });
            0
        }
        let mut objects: Vec<Self> = Vec::new();
        // SAFETY: `note` has the type asked for and `objects` outlives the iteration.
        unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut objects).cast()) };
        objects
    }

    /// The object is pinned.
    fn hide(&self) {
        let Some(dynamic) = self.dynamic() else { return };
        for index in 0..dynamic.size / size_of::<Reference>() {
            // SAFETY: the linker has filled in this many of them, which are in memory as long as the object is.
            let reference = unsafe { (dynamic.references as *const Reference).add(index).read() };
            if ADDRESSES.contains(&(reference.info as u32)) && self.is_absent(&dynamic, (reference.info >> 32) as usize)
            {
                self.zero(self.base.wrapping_add(reference.offset as usize));
            }
        }
    }

    /// Whether a symbol is a weak one that we have and the library has not.
    fn is_absent(&self, dynamic: &Dynamic, symbol: usize) -> bool {
        const WEAK: u8 = 2;
        const UNDEFINED: u16 = 0;
        // SAFETY: an index that the linker has used.
        let symbol = unsafe { (dynamic.symbols as *const Elf64_Sym).add(symbol).read() };
        if symbol.st_info >> 4 != WEAK || symbol.st_shndx != UNDEFINED {
            return false;
        }
        // SAFETY: a place in the string table, where every string ends with a zero.
        let name = unsafe { CStr::from_ptr((dynamic.strings + symbol.st_name as usize) as *const _) };
        let is_mpi = [&b"MPI"[..], b"PMPI"].iter().any(|prefix| name.to_bytes().starts_with(prefix));
        is_mpi && library::is_ours(name) && library::function(name).is_none()
    }

    /// Writes zero to a place that the linker has filled in.
    fn zero(&self, place: usize) {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let protected = self.headers().find(|header| header.p_type == PT_GNU_RELRO).is_some_and(|header| {
            let start = self.base.wrapping_add(header.p_vaddr as usize);
            (start..start.wrapping_add(header.p_memsz as usize)).contains(&place)
        });
        // A place is eight bytes, aligned, and so on one page.
        let protect = |how| {
            // SAFETY: the page is one of the object's own data, which is readable and in use.
            !protected || unsafe { libc::mprotect((place & !(page - 1)) as *mut c_void, page, how) } == 0
        };
        if protect(libc::PROT_READ | libc::PROT_WRITE) {
            // SAFETY: a word that is writable now, of an object that stays; who reads it meanwhile sees either address.
            unsafe { AtomicUsize::from_ptr(place as *mut usize) }.store(0, Ordering::Relaxed);
            protect(libc::PROT_READ);
        }
    }

    fn headers(&self) -> impl Iterator<Item = &Elf64_Phdr> {
        // SAFETY: the linker has said where they are and how many; they are in memory as long as the object is.
        unsafe { std::slice::from_raw_parts(self.headers, self.count) }.iter()
    }

    fn dynamic(&self) -> Option<Dynamic> {
        let header = self.headers().find(|header| header.p_type == PT_DYNAMIC)?;
        let entries = self.base.wrapping_add(header.p_vaddr as usize) as *const [u64; 2];
        let mut found = Dynamic::default();
        for index in 0.. {
            // SAFETY: the section ends with an entry of kind 0.
            let [kind, value] = unsafe { entries.add(index).read() };
            match kind {
                0 => break,
                STRINGS => found.strings = value as usize,
                SYMBOLS => found.symbols = value as usize,
                REFERENCES => found.references = value as usize,
                SIZE => found.size = value as usize,
                _ => {}
            }
        }
        // Of the kernel's own object these are offsets; it refers to nothing.
        (found.references > self.base).then_some(found)
    }
}
