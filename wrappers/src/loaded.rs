//! The ELF objects that are loaded in this process: the program, its libraries, and libraries that were opened since.

use std::ffi::{CStr, CString, c_int, c_void};

use libc::Elf64_Phdr;

/// A loaded object, as it was when it was listed.
pub(crate) struct Object {
    /// The path of its file; empty for the program itself.
    pub(crate) name: CString,
    /// The address it was loaded at, which is added to the addresses in its file.
    pub(crate) base: usize,
    headers: *const Elf64_Phdr,
    count: usize,
}

impl Object {
    /// All loaded objects, in the order in which they were loaded.
    pub(crate) fn all() -> Vec<Self> {
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

    /// The object's program headers.
    ///
    /// # Safety
    /// The object is still loaded.
    pub(crate) unsafe fn headers(&self) -> &[Elf64_Phdr] {
        // SAFETY: the linker has said where they are and how many; they are in memory as long as the object is.
        unsafe { std::slice::from_raw_parts(self.headers, self.count) }
    }
}
