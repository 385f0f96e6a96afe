//! The functions that loaded objects define, and the places in them that the dynamic linker fills in with addresses of
//! functions of MPI (System V gABI, "Dynamic Section").
//!
//! Objects are only read. Opening one again to keep it (`dlopen` with `RTLD_NOLOAD`) would run those constructors that
//! have not run yet when the process starts, and those of all objects again when it exits.

use std::ffi::CStr;

use libc::{Elf64_Phdr, Elf64_Sym, PT_DYNAMIC};
use object::elf;

use crate::loaded::Object;

/// An object that the linker keeps as long as this value lives.
pub(crate) struct Pinned<'o> {
    pub(crate) base: usize,
    pub(crate) headers: &'o [Elf64_Phdr],
}

/// A function that an object does not define itself, and the word for its address.
pub(crate) struct Reference<'o> {
    pub(crate) name: &'o CStr,
    pub(crate) place: usize,
    /// Whether the object works without the function.
    pub(crate) is_weak: bool,
    /// Whether the word is filled in at the first call of the function, as those for calls are.
    pub(crate) is_lazy: bool,
}

/// Shows `visit` all loaded objects, on the terms of [`Object::each`].
pub(crate) fn each_object(mut visit: impl FnMut(&Object, Pinned<'_>)) {
    Object::each(|object| {
        // SAFETY: the linker keeps the object while it shows it.
        let headers = unsafe { object.headers() };
        visit(&object, Pinned { base: object.base, headers });
    });
}

/// Addresses that the dynamic section gives for an object's symbols and relocations.
#[derive(Default)]
struct Dynamic {
    /// The hash tables of the symbols, of which an object has one at least.
    hash: usize,
    gnu_hash: usize,
    strings: usize,
    symbols: usize,
    /// The relocations that are made when the object is loaded, and their size in bytes.
    at_load: (usize, usize),
    /// The relocations of calls, and their size in bytes.
    of_calls: (usize, usize),
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
const ADDRESSES: [elf::RelocationType; 3] = if cfg!(target_arch = "x86_64") {
    [elf::R_X86_64_GLOB_DAT, elf::R_X86_64_64, elf::R_X86_64_JUMP_SLOT]
} else {
    [elf::R_AARCH64_GLOB_DAT, elf::R_AARCH64_ABS64, elf::R_AARCH64_JUMP_SLOT]
};

impl<'o> Pinned<'o> {
    /// Whether the object itself defines `name`.
    pub(crate) fn defines(&self, name: &CStr) -> bool {
        let Some(dynamic) = self.dynamic() else { return false };
        (0..dynamic.symbol_count()).any(|symbol| {
            let (symbol, found) = self.symbol(&dynamic, symbol);
            symbol.st_shndx != elf::SHN_UNDEF.0 && found == name
        })
    }

    /// The functions of MPI that the object refers to.
    pub(crate) fn references(&self) -> Vec<Reference<'o>> {
        let Some(dynamic) = self.dynamic() else { return Vec::new() };
        let mut found = Vec::new();
        for ((table, size), is_lazy) in [(dynamic.at_load, false), (dynamic.of_calls, true)] {
            for index in 0..size / size_of::<Relocation>() {
                // SAFETY: the linker has filled in this many relocations, which are in memory as long as the object is.
                let relocation = unsafe { (table as *const Relocation).add(index).read() };
                let kind = elf::RelocationType(relocation.info as u32);
                if ADDRESSES.contains(&kind) && relocation.addend == 0 {
                    let place = self.base.wrapping_add(relocation.offset as usize);
                    found.extend(self.reference(&dynamic, (relocation.info >> 32) as usize, place, is_lazy));
                }
            }
        }
        found
    }

    fn reference(&self, dynamic: &Dynamic, symbol: usize, place: usize, is_lazy: bool) -> Option<Reference<'o>> {
        let (symbol, name) = self.symbol(dynamic, symbol);
        if symbol.st_shndx != elf::SHN_UNDEF.0 {
            return None;
        }
        let is_mpi = [&b"MPI"[..], b"PMPI"].iter().any(|prefix| name.to_bytes().starts_with(prefix));
        let is_weak = symbol.st_info >> 4 == elf::STB_WEAK.0;
        is_mpi.then_some(Reference { name, place, is_weak, is_lazy })
    }

    /// A symbol of this index, which there is, and its name.
    fn symbol(&self, dynamic: &Dynamic, index: usize) -> (Elf64_Sym, &'o CStr) {
        // SAFETY: an index that the linker uses.
        let symbol = unsafe { (dynamic.symbols as *const Elf64_Sym).add(index).read() };
        // SAFETY: a place in the string table, where every string ends with a zero.
        (symbol, unsafe { CStr::from_ptr((dynamic.strings + symbol.st_name as usize) as *const _) })
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
                elf::DT_HASH => found.hash = value as usize,
                elf::DT_GNU_HASH => found.gnu_hash = value as usize,
                elf::DT_STRTAB => found.strings = value as usize,
                elf::DT_SYMTAB => found.symbols = value as usize,
                elf::DT_RELA => found.at_load.0 = value as usize,
                elf::DT_RELASZ => found.at_load.1 = value as usize,
                elf::DT_JMPREL => found.of_calls.0 = value as usize,
                elf::DT_PLTRELSZ => found.of_calls.1 = value as usize,
                _ => {}
            }
        }
        // If a linker leaves offsets here, as musl does and glibc in the kernel's own object, nothing is found.
        for table in [&mut found.at_load, &mut found.of_calls] {
            if table.0 <= self.base {
                *table = (0, 0);
            }
        }
        (found.symbols > self.base).then_some(found)
    }
}

impl Dynamic {
    /// The number of symbols, up to the last one that is defined.
    fn symbol_count(&self) -> usize {
        // SAFETY: a word of a table that the linker reads.
        let word = |table: usize, index: usize| unsafe { (table as *const u32).add(index).read() } as usize;
        if self.gnu_hash == 0 {
            return if self.hash == 0 { 0 } else { word(self.hash, 1) };
        }
        // Four numbers, a filter of double words, the first symbol of each bucket, and a word for each symbol from the
        // first one in a bucket on, which is odd at the end of a bucket.
        let [buckets, first, filter] = [0, 1, 2].map(|index| word(self.gnu_hash, index));
        let in_buckets = 4 + 2 * filter;
        let chains = in_buckets + buckets;
        let last_bucket = (in_buckets..chains).map(|index| word(self.gnu_hash, index)).max().unwrap_or(0);
        // An empty bucket is 0.
        let ends = |symbol: &usize| *symbol < first || word(self.gnu_hash, chains + symbol - first) & 1 == 1;
        (last_bucket..).find(ends).map_or(0, |last| last + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn definitions_are_found_by_either_hash_table() {
        for (style, functions) in [("sysv", 1), ("gnu", 1), ("both", 1), ("gnu", 0), ("gnu", 500)] {
            let directory = TempDir::new().unwrap();
            let (source, file) = (directory.path().join("source.c"), directory.path().join("library.so"));
            let defined = (0..functions).map(|index| format!("void titr_{index}(void) {{}}\n"));
            let needed =
                "extern int needed __attribute__((weak));\nstatic int *pointer __attribute__((used)) = &needed;";
            fs::write(&source, format!("{needed}\n{}", defined.collect::<String>())).unwrap();
            let mut command = Command::new("cc");
            command.args(["-shared", "-fPIC", "-nostdlib", &format!("-Wl,--hash-style={style}"), "-o"]);
            assert!(command.arg(&file).arg(&source).status().unwrap().success());
            let name = CString::new(file.as_os_str().as_bytes()).unwrap();
            // SAFETY: a library without constructors.
            let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY) };
            assert!(!handle.is_null(), "{style} {functions}");
            let mut found = 0;
            each_object(|object, pinned| {
                if object.name == name {
                    let all = (0..1000).map(|index| CString::new(format!("titr_{index}")).unwrap());
                    found += all.filter(|function| pinned.defines(function)).count();
                    assert!(!pinned.defines(c"needed"), "{style}");
                }
            });
            assert_eq!(found, functions, "{style}");
            // SAFETY: opened once, and none of its functions is in progress.
            unsafe { libc::dlclose(handle) };
        }
    }
}
