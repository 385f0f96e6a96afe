//! Distinguishes the calls that a callback of the program makes inside another call from those that the MPI library
//! itself makes there.
//!
//! A call of the library returns into the library: into the object that has its functions, or into one of its plug-ins,
//! such as ROMIO's in Open MPI. Its Fortran and C++ bindings do not count as the library here, since only programs call
//! them. A callback whose last act is a call may leave that call to return into the library as well (a tail call). In
//! that case, the library's own code has not called a function of MPI by name before that address, which can be read
//! there. If the library has called another of its own functions, that function may have jumped to MPI in the same way,
//! as `ADIO_Init` of MPICH does to create an operation: then its code has a jump to a function of MPI.
//!
//! If another tool comes before this one, the library calls the tool by name, and the tool calls us. The address that counts is
//! then the one that the tool returns to.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::ops::ControlFlow;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::caller::Caller;
use crate::library;
use crate::loaded::{Code, Object};
use crate::relocations::each_object;

/// The loaded code of the MPI library and of this crate.
pub(crate) struct LibraryCode {
    /// The number of changes to the loaded objects when this was determined.
    changes: u64,
    code: Vec<Code>,
    /// The segments of these objects, which can be read.
    segments: Vec<Code>,
    own: Code,
}

static CODE: RwLock<Option<LibraryCode>> = RwLock::new(None);

/// Whether the MPI library, and not a callback of the program, has made this call of the function `name`.
pub(crate) fn is_of_library(name: &str, caller: Caller) -> bool {
    let changes = Object::changes();
    if let Ok(code) = CODE.read()
        && let Some(code) = code.as_ref().filter(|code| code.changes == changes)
    {
        return code.is_caller(name, caller);
    }
    let code = LibraryCode::find(changes);
    let answer = code.is_caller(name, caller);
    if let Ok(mut known) = CODE.write() {
        *known = Some(code);
    }
    answer
}

impl LibraryCode {
    /// Whether an object with this code is the MPI library, a plug-in of it or this one.
    pub(crate) fn is_library_or_ours(&self, code: Code) -> bool {
        code == self.own || self.code.contains(&code)
    }

    pub(crate) fn is_in_library(&self, address: usize) -> bool {
        self.code.iter().any(|code| code.contains(address))
    }

    fn find(changes: u64) -> Self {
        let library = library::function(c"PMPI_Init").map_or(0, |function| function.addr());
        let own = is_of_library as *const () as usize;
        let (mut code, mut segments, mut ours) = (Vec::new(), Vec::new(), Code::default());
        for object in Object::all() {
            let name = object.name.to_string_lossy();
            let is_plug_in = name.rsplit('/').next().is_some_and(|file| file.starts_with("mca_"));
            if object.code.contains(own) {
                ours = object.code;
            } else if is_plug_in || object.code.contains(library) {
                code.push(object.code);
                // SAFETY: the library and its plug-ins stay loaded while MPI is used.
                segments.extend(unsafe { object.segments() });
            }
        }
        Self { changes, code, segments, own: ours }
    }

    fn is_caller(&self, name: &str, caller: Caller) -> bool {
        self.has_called(self.own, caller.address)
            || self.tool(name).is_some_and(|tool| {
                let mut address = caller.address;
                if tool.contains(address) {
                    caller.stack(|around| {
                        address = around.address;
                        if tool.contains(address) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                    });
                }
                self.has_called(tool, address)
            })
    }

    /// The code of another tool that has the function `name`, and comes before this one.
    fn tool(&self, name: &str) -> Option<Code> {
        let first = library::first(&CString::new(name).ok()?)?;
        let code = Object::all().into_iter().map(|object| object.code).find(|code| code.contains(first))?;
        (!self.is_library_or_ours(code)).then_some(code)
    }

    /// Whether the library has made the call that returns to this address, by the name of a function in `callee`.
    fn has_called(&self, callee: Code, returns_to: usize) -> bool {
        // The library may leave a call to another function of its own, which then returns to us.
        if self.own.contains(returns_to) {
            return true;
        }
        let Some(code) = self.code.iter().find(|code| code.contains(returns_to)) else { return false };
        // SAFETY: code of a loaded object before an address that is about to be returned to; no shorter than a call.
        let before = unsafe { std::slice::from_raw_parts((returns_to - CALL) as *const u8, CALL) };
        match Called::before(before, returns_to) {
            Called::Address(target) if code.contains(target) => {
                self.is_stub_of(callee, target) || self.leaves_to(callee, target, *code)
            }
            Called::Slot(slot) => self.holds(callee, slot),
            Called::Address(_) | Called::Pointer => false,
        }
    }

    /// Whether a function that the library has called by name is a stub for one in `callee` in its procedure linkage table.
    fn is_stub_of(&self, callee: Code, stub: usize) -> bool {
        if cfg!(not(target_arch = "x86_64")) {
            return true;
        }
        // SAFETY: the library has called this code, which is at least as long as a jump and its prefixes.
        let code = unsafe { std::slice::from_raw_parts(stub as *const u8, STUB) };
        // `endbr64` and `bnd` may come before `jmp *slot(%rip)`.
        let prefixes = [&[][..], &[0xf3, 0x0f, 0x1e, 0xfa], &[0xf3, 0x0f, 0x1e, 0xfa, 0xf2], &[0xf2]];
        prefixes.into_iter().any(|prefix| match code.strip_prefix(prefix) {
            Some([0xff, 0x25, a, b, c, d, ..]) => {
                let next = stub + prefix.len() + 6;
                self.holds(callee, next.wrapping_add_signed(i32::from_le_bytes([*a, *b, *c, *d]) as isize))
            }
            _ => false,
        })
    }

    /// Whether a function of the library has a jump to one in `callee`. Such a jump ends the function, which then leaves no
    /// return address.
    fn leaves_to(&self, callee: Code, function: usize, code: Code) -> bool {
        if cfg!(not(target_arch = "x86_64")) || !code.contains(function + FUNCTION) {
            return false;
        }
        // SAFETY: code of a loaded object, as the line above has asked.
        let body = unsafe { std::slice::from_raw_parts(function as *const u8, FUNCTION) };
        (function..).zip(body.windows(6)).any(|(at, instruction)| match *instruction {
            [0xe9, a, b, c, d, _] => {
                let target = (at + 5).wrapping_add_signed(i32::from_le_bytes([a, b, c, d]) as isize);
                code.contains(target) && code.contains(target + STUB) && self.is_stub_of(callee, target)
            }
            [0xff, 0x25, a, b, c, d] => {
                self.holds(callee, (at + 6).wrapping_add_signed(i32::from_le_bytes([a, b, c, d]) as isize))
            }
            _ => false,
        })
    }

    /// Whether the word of the library that a call goes through contains the address of a function in `callee`.
    fn holds(&self, callee: Code, slot: usize) -> bool {
        let is_there = self.segments.iter().any(|part| part.contains(slot) && part.contains(slot.wrapping_add(7)));
        // SAFETY: a word of a loaded object.
        is_there && callee.contains(unsafe { (slot as *const usize).read_unaligned() })
    }
}

/// The length of the longest call instruction that is looked at, and of the longest entry of a linkage table.
const CALL: usize = 6;
const STUB: usize = 12;

/// The bytes of a function that are searched for a jump out of it.
const FUNCTION: usize = 1024;

/// The target of the call instruction before a return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called {
    /// The code at an address.
    Address(usize),
    /// The address that is stored at a fixed place.
    Slot(usize),
    /// The address in a pointer that the program may have given.
    Pointer,
}

impl Called {
    fn before(code: &[u8], returns_to: usize) -> Self {
        let relative =
            |[a, b, c, d]: [u8; 4]| returns_to.wrapping_add_signed(i32::from_le_bytes([a, b, c, d]) as isize);
        match *code {
            [0xff, 0x15, a, b, c, d] if cfg!(target_arch = "x86_64") => Self::Slot(relative([a, b, c, d])),
            [_, 0xe8, a, b, c, d] if cfg!(target_arch = "x86_64") => Self::Address(relative([a, b, c, d])),
            // `bl`: its six upper bits, and the distance in words.
            [.., a, b, c, d] if cfg!(target_arch = "aarch64") && d >> 2 == 0b10_0101 => {
                let distance = (i32::from_le_bytes([a, b, c, d]) << 6) >> 4;
                Self::Address((returns_to - 4).wrapping_add_signed(distance as isize))
            }
            _ => Self::Pointer,
        }
    }
}

/// The functions of MPI that an object calls, or may call, in the library itself, by the path of the object's file.
///
/// A program may open a plug-in so that it looks for functions in its own libraries first (`dlopen` with
/// `RTLD_DEEPBIND`). If the MPI library is one of those, the plug-in calls it directly, and not this crate, which
/// precedes the library for all others.
pub fn bypasses() -> BTreeMap<String, Vec<String>> {
    let code = LibraryCode::find(Object::changes());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_here_is_of_a_library_of_mpi() {
        assert!(!is_of_library("MPI_Init", Caller { address: libc::getpid as *const () as usize, frame: 0 }));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn calls_are_told_by_their_instruction() {
        let cases = [
            ([0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff], Called::Address(0xff0)),
            ([0xff, 0x15, 0x10, 0, 0, 0], Called::Slot(0x1010)),
            ([0x90, 0x90, 0x90, 0x90, 0xff, 0xd0], Called::Pointer),
            ([0x90, 0x90, 0x90, 0xff, 0x50, 0x18], Called::Pointer),
        ];
        for (code, called) in cases {
            assert_eq!(Called::before(&code, 0x1000), called);
        }
    }
}
