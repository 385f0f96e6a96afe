//! The MPI library of this process, and its functions.
//!
//! Usually it follows this library in the search order, `RTLD_NEXT`. A library that was loaded with `RTLD_LOCAL`
//! (Python does that to its extension modules and their dependencies) is in no global search order: it is found among
//! the loaded objects, and queried by name.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::OnceLock;

use crate::relocations::each_object;

/// A handle of `dlsym` behind which the MPI library is.
#[derive(Clone, Copy)]
struct SearchScope(*mut c_void);

const BEHIND_US: SearchScope = SearchScope(libc::RTLD_NEXT);

// SAFETY: it is `RTLD_NEXT` or the handle of a library that is never closed; `dlsym` may be called from any thread.
unsafe impl Send for SearchScope {}
// SAFETY: as above.
unsafe impl Sync for SearchScope {}

/// The address of the object `name` that the library and all others use: the linker may have moved it into the program
/// (a copy relocation), so that the library's own place for it is unused.
pub(crate) fn object(name: &CStr) -> Option<*mut c_void> {
    not_ours(SearchScope(libc::RTLD_DEFAULT), name).or_else(|| function(name))
}

/// The address of the library's function `name`.
pub fn function(name: &CStr) -> Option<*mut c_void> {
    static LIBRARY: OnceLock<SearchScope> = OnceLock::new();
    // Looked for again if it was not there, as when we are loaded into Python.
    let library = LIBRARY.get().copied().or_else(|| find().map(|found| *LIBRARY.get_or_init(|| found)))?;
    not_ours(library, name)
}

/// The path of the file that the MPI library was loaded from; `None` if there is none.
pub fn file() -> Option<String> {
    let linked = not_ours(BEHIND_US, c"PMPI_Init").and_then(file_of);
    linked.or_else(|| Some(loaded()?.to_string_lossy().into_owned()))
}

/// The path of the file that the wrappers were loaded from.
pub fn own_file() -> Option<String> {
    file_of(look_up as *mut c_void)
}

/// The path of another tool's file that follows the wrappers in the search order, such as one that the program is
/// linked with, and that therefore does not see the calls of the program.
pub fn hidden_tool() -> Option<String> {
    let base = |name| object_of(look_up(BEHIND_US, name)?.0).map(|object| object.dli_fbase);
    // A library may have its functions in two files, by their two names. Tools do not define this one.
    let library = [base(c"PMPI_Finalize")?, base(c"MPI_Get_library_version")?];
    let defined = [c"MPI_Init", c"MPI_Init_thread", c"MPI_Finalize", c"MPI_Pcontrol"];
    let hidden = defined.into_iter().find(|name| base(name).is_some_and(|base| !library.contains(&base)))?;
    file_of(look_up(BEHIND_US, hidden)?.0)
}

/// The path of the file that the object at `address` was loaded from; `None` if no file was loaded there.
pub fn file_of(address: *mut c_void) -> Option<String> {
    let info = object_of(address)?;
    // SAFETY: `dladdr` gives the object's name as a C string that lives as long as the object.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(name.to_string_lossy().into_owned())
}

/// Functions that every MPI library has, and no other tool both of them.
const OF_A_LIBRARY: [&CStr; 2] = [c"PMPI_Init", c"MPI_Get_library_version"];

fn find() -> Option<SearchScope> {
    if is_linked() {
        return Some(BEHIND_US);
    }
    // SAFETY: with RTLD_NOLOAD nothing is loaded. The linker runs the constructors of an object and of those it needs unless
    // they have run, and again once their destructors have run: neither is so, as the program is calling the library.
    let handle = unsafe { libc::dlopen(loaded()?.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    (!handle.is_null()).then_some(SearchScope(handle))
}

/// The name of the loaded object that has the functions of MPI, other than the program and ours.
fn loaded() -> Option<CString> {
    let own = look_up as *const () as usize;
    let mut found = None;
    each_object(|object, pinned| {
        let is_other = !object.name.is_empty() && !object.code.contains(own);
        if found.is_none() && is_other && OF_A_LIBRARY.into_iter().all(|name| pinned.defines(name)) {
            found = Some(object.name.clone());
        }
    });
    found
}

/// Whether the program was linked with a library, which then follows this one in the search order.
pub(crate) fn is_linked() -> bool {
    OF_A_LIBRARY.into_iter().all(|name| not_ours(BEHIND_US, name).is_some())
}

/// Looks `name` up, and refuses our own definition of it: calling that one as the real one would never end.
fn not_ours(handle: SearchScope, name: &CStr) -> Option<*mut c_void> {
    look_up(handle, name).and_then(|(address, ours)| (!ours).then_some(address))
}

/// The address of the first definition of `name`.
pub(crate) fn first(name: &CStr) -> Option<usize> {
    look_up(SearchScope(libc::RTLD_DEFAULT), name).map(|(address, _)| address as usize)
}

/// The address of the first definition of `name`, if that is ours.
pub(crate) fn ours(name: &CStr) -> Option<usize> {
    look_up(SearchScope(libc::RTLD_DEFAULT), name).and_then(|(address, ours)| ours.then_some(address as usize))
}

/// The address of `name`, and whether it is our definition.
fn look_up(handle: SearchScope, name: &CStr) -> Option<(*mut c_void, bool)> {
    // SAFETY: the handle is valid (see `SearchScope`) and the name a C string.
    let address = unsafe { libc::dlsym(handle.0, name.as_ptr()) };
    let theirs = object_of(address)?.dli_fbase;
    let ours = object_of(look_up as *mut c_void)?.dli_fbase;
    Some((address, theirs == ours))
}

fn object_of(address: *mut c_void) -> Option<libc::Dl_info> {
    if address.is_null() {
        return None;
    }
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: `dladdr` only compares the address with the ranges of loaded objects, and fills `info`.
    (unsafe { libc::dladdr(address, &mut info) } != 0).then_some(info)
}
