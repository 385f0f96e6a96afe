//! Handles: how MPI names its objects.
//!
//! An `int` in one family, a pointer in the other, a word here.

use super::{Argument, Arguments, Stored};
use crate::abi::Abi;

/// A handle of a library whose handles are `int`s leaves the upper half of its word undefined.
#[inline]
fn handle_of(abi: &Abi, word: usize) -> usize {
    if abi.handle_bytes == size_of::<u32>() { word as u32 as usize } else { word }
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(usize);

        impl $name {
            /// The handle that C has as `raw`.
            #[must_use]
            pub fn from_raw(raw: usize) -> Self {
                Self(raw)
            }

            /// What C has: an `int` or a pointer.
            #[must_use]
            pub fn raw(self) -> usize {
                self.0
            }
        }

        impl<'c> Argument<'c> for $name {
            const WORDS: usize = 1;
            fn types(all: &mut Vec<&'static str>) {
                all.push(concat!("MPI_", stringify!($name)));
            }
            #[inline]
            fn read(call: &'c Arguments<'c>, at: usize) -> Self {
                Self(handle_of(call.abi, call.word(at)))
            }
        }

        impl Stored for $name {
            const POINTER: &'static str = concat!("MPI_", stringify!($name), "*");
            #[inline]
            fn bytes(call: &Arguments<'_>) -> usize {
                call.abi.handle_bytes
            }
            #[inline]
            unsafe fn load(call: &Arguments<'_>, address: usize) -> Self {
                // SAFETY: the caller's promise, and a handle is as long as the ABI says.
                Self(unsafe { load_handle(call.abi, address) })
            }
        }
    )*};
}

handles! {
    /// `MPI_Comm`.
    Comm;
    /// `MPI_Datatype`.
    Datatype;
    /// `MPI_Group`.
    Group;
    /// `MPI_Message`.
    Message;
    /// `MPI_Op`.
    Op;
    /// `MPI_Request`.
    Request;
    /// `MPI_Win`.
    Win;
}

/// `MPI_File`, which is a pointer in every family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct File(usize);

impl<'c> Argument<'c> for File {
    const WORDS: usize = 1;
    fn types(all: &mut Vec<&'static str>) {
        all.push("MPI_File");
    }
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self(call.word(at))
    }
}

impl Stored for File {
    const POINTER: &'static str = "MPI_File*";
    fn bytes(_: &Arguments<'_>) -> usize {
        size_of::<usize>()
    }
    unsafe fn load(_: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { (address as *const usize).read() })
    }
}

/// Reads the handle at an address.
///
/// # Safety
/// One is there.
#[inline]
pub(crate) unsafe fn load_handle(abi: &Abi, address: usize) -> usize {
    // SAFETY: the caller's promise, and a handle is as long as the ABI says.
    unsafe {
        if abi.handle_bytes == size_of::<u32>() {
            (address as *const u32).read() as usize
        } else {
            (address as *const usize).read()
        }
    }
}

/// Writes a handle to an address.
///
/// # Safety
/// There is room for one.
pub(crate) unsafe fn store_handle(abi: &Abi, address: usize, handle: usize) {
    // SAFETY: the caller's promise, and a handle is as long as the ABI says.
    unsafe {
        if abi.handle_bytes == size_of::<u32>() {
            (address as *mut u32).write(handle as u32);
        } else {
            (address as *mut usize).write(handle);
        }
    }
}
