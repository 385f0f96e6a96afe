//! The loaded ELF objects of this process: the program, its libraries, and libraries that were opened later.

use std::ffi::{CStr, CString, c_int, c_void};
use std::fs;

use libc::{Elf64_Phdr, PF_R, PF_X, PT_LOAD, PT_NOTE};

/// A loaded object, as it was when it was listed.
pub(crate) struct Object {
    /// The path of its file; empty for the program itself.
    pub(crate) name: CString,
    /// The address it was loaded at, which is added to the addresses in its file.
    pub(crate) base: usize,
    /// The addresses of its code.
    pub(crate) code: Code,
    headers: *const Elf64_Phdr,
    count: usize,
}

impl Object {
    /// All loaded objects, in the order in which they were loaded.
    pub(crate) fn all() -> Vec<Self> {
        let mut objects = Vec::new();
        Self::each(|object| objects.push(object));
        objects
    }

    /// Shows `visit` all loaded objects. No object is closed meanwhile, and `visit` must not ask the linker for anything: it
    /// may wait for a thread that is waiting for the end of this.
    pub(crate) fn each<F: FnMut(Self)>(mut visit: F) {
        unsafe extern "C" fn note<F: FnMut(Object)>(
            info: *mut libc::dl_phdr_info,
            _: usize,
            visit: *mut c_void,
        ) -> c_int {
            // SAFETY: called by `dl_iterate_phdr` below, with its own valid `info` and the function given there.
            let (info, visit) = unsafe { (&*info, &mut *visit.cast::<F>()) };
            // SAFETY: the linker's name of the object, a C string.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_owned();
            let (base, headers, count) = (info.dlpi_addr as usize, info.dlpi_phdr, info.dlpi_phnum.into());
            // SAFETY: the linker keeps the object while it shows it.
            let code = Code::of(base, unsafe { std::slice::from_raw_parts(headers, count) });
            visit(Object { name, base, code, headers, count });
            0
        }
        // SAFETY: `note` has the required type and `visit` outlives the iteration.
        unsafe { libc::dl_iterate_phdr(Some(note::<F>), (&raw mut visit).cast()) };
    }

    /// The number of times that objects have been loaded and unloaded.
    pub(crate) fn changes() -> u64 {
        unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, changes: *mut c_void) -> c_int {
            // SAFETY: called by `dl_iterate_phdr` below, with its own valid `info` and the number given there.
            unsafe { *changes.cast::<u64>() = (*info).dlpi_adds + (*info).dlpi_subs };
            // The first object says it as well as any.
            1
        }
        let mut changes = 0_u64;
        // SAFETY: `note` has the required type and `changes` outlives the iteration.
        unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut changes).cast()) };
        changes
    }

    /// The addresses of the segments that are in memory.
    ///
    /// # Safety
    /// The object is still loaded.
    pub(crate) unsafe fn segments(&self) -> Vec<Code> {
        // SAFETY: as the caller says.
        let headers = unsafe { self.headers() }.iter();
        let place = |header: &Elf64_Phdr| Code {
            from: self.base.wrapping_add(header.p_vaddr as usize),
            size: header.p_memsz as usize,
        };
        headers.filter(|header| header.p_type == PT_LOAD && header.p_flags & PF_R != 0).map(place).collect()
    }

    /// The memory from `address` to the end of the readable part of the file that the object has mapped there; `None` where
    /// it has mapped none.
    ///
    /// # Safety
    /// The object is loaded for as long as the memory is used.
    pub(crate) unsafe fn mapped_from<'m>(&self, address: usize) -> Option<&'m [u8]> {
        // SAFETY: as promised.
        let headers = unsafe { self.headers() };
        let offset = address.wrapping_sub(self.base);
        let left = |header: &Elf64_Phdr| {
            let within = offset.wrapping_sub(header.p_vaddr as usize);
            let is_readable = header.p_type == PT_LOAD && header.p_flags & PF_R != 0;
            (is_readable && within < header.p_filesz as usize).then(|| header.p_filesz as usize - within)
        };
        let left = headers.iter().find_map(left)?;
        // SAFETY: the linker has mapped this many bytes of the file there, readable, and keeps them as long as the
        // object.
        Some(unsafe { std::slice::from_raw_parts(address as *const u8, left) })
    }

    /// The object's program headers.
    ///
    /// # Safety
    /// The object is still loaded.
    pub(crate) unsafe fn headers(&self) -> &[Elf64_Phdr] {
        // SAFETY: the linker has said where they are and how many; they are in memory as long as the object is.
        unsafe { std::slice::from_raw_parts(self.headers, self.count) }
    }
}

/// A range of addresses, such as the code of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Code {
    from: usize,
    size: usize,
}

impl Code {
    fn of(base: usize, headers: &[Elf64_Phdr]) -> Self {
        let code = headers.iter().filter(|header| header.p_type == PT_LOAD && header.p_flags & PF_X != 0);
        let bounds = code.map(|header| (header.p_vaddr as usize, (header.p_vaddr + header.p_memsz) as usize));
        let all = bounds.reduce(|(from, to), (next_from, next_to)| (from.min(next_from), to.max(next_to)));
        all.map_or(Self::default(), |(from, to)| Self { from: base.wrapping_add(from), size: to - from })
    }

    pub(crate) fn contains(self, address: usize) -> bool {
        address.wrapping_sub(self.from) < self.size
    }
}

/// An object that code of the program is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The path of its file.
    pub path: String,
    /// The number that its linker gave it (`NT_GNU_BUILD_ID`), in hexadecimal; empty where it gave none.
    pub build_id: String,
    /// The address it was loaded at, which is added to the addresses in its file.
    pub base: usize,
}

impl Module {
    /// The object that the code at `address` is in; `None` if no object has it, as it was made at run time.
    pub fn of(address: usize) -> Option<Self> {
        Object::all().into_iter().find_map(|object| object.module_with(address))
    }

    /// The program itself.
    pub fn program() -> Option<Self> {
        Some(Object::all().into_iter().next()?.module())
    }
}

impl Object {
    fn module_with(&self, address: usize) -> Option<Module> {
        // SAFETY: an object with code that runs or will be returned to is loaded.
        let headers = unsafe { self.headers() };
        let has = |header: &&Elf64_Phdr| {
            header.p_type == PT_LOAD
                && address.wrapping_sub(self.base).wrapping_sub(header.p_vaddr as usize) < header.p_memsz as usize
        };
        headers.iter().find(has).map(|_| self.module())
    }

    fn module(&self) -> Module {
        let path = match self.name.to_string_lossy().into_owned() {
            program if program.is_empty() => fs::read_link("/proc/self/exe").map(|path| path.display().to_string()),
            path => Ok(path),
        };
        Module { path: path.unwrap_or_default(), build_id: self.build_id(), base: self.base }
    }

    fn build_id(&self) -> String {
        /// `NT_GNU_BUILD_ID`.
        const BUILD_ID: u32 = 3;
        // SAFETY: as above.
        let headers = unsafe { self.headers() };
        for header in headers.iter().filter(|header| header.p_type == PT_NOTE) {
            // SAFETY: the linker has mapped the notes of an object here, which are never written to.
            let mut notes = unsafe {
                std::slice::from_raw_parts((self.base + header.p_vaddr as usize) as *const u8, header.p_memsz as usize)
            };
            // Each is three words, a name and a description, these rounded up to four bytes.
            while let [a, b, c, d, e, f, g, h, i, j, k, l, rest @ ..] = notes {
                let [name, length, kind] =
                    [[*a, *b, *c, *d], [*e, *f, *g, *h], [*i, *j, *k, *l]].map(u32::from_ne_bytes);
                let (name, length) = (name as usize, length as usize);
                let from = name.next_multiple_of(4);
                if kind == BUILD_ID && rest.starts_with(b"GNU\0") {
                    let id = rest.get(from..from + length).unwrap_or_default();
                    return id.iter().map(|byte| format!("{byte:02x}")).collect();
                }
                notes = rest.get(from + length.next_multiple_of(4)..).unwrap_or_default();
            }
        }
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_in_the_object_that_has_it() {
        let own = Module::of(tests::code_is_found_in_the_object_that_has_it as *const () as usize).unwrap();
        assert_eq!(own.path, std::env::current_exe().unwrap().display().to_string());
        assert_eq!(Module::program().unwrap(), own);
        assert_eq!(own.build_id.len() % 2, 0);
        let library = Module::of(libc::getpid as *const () as usize).unwrap();
        assert!(library.path.contains("libc.so"), "{library:?}");
        assert_eq!(library.build_id.len(), 40, "{library:?}");
        assert_eq!(Module::of(8), None);
    }
}
