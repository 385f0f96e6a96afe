//! Handles as arguments, and as MPI stores them in memory.

use super::{Argument, Arguments, Stored};
use crate::abi::Abi;
use crate::handle::{Handle, Kind};
use crate::symbol::Word;

/// The size of a handle of this kind in memory, in bytes.
#[inline]
fn size<K: Kind>(abi: &Abi) -> usize {
    if K::IS_POINTER { size_of::<usize>() } else { abi.handle_bytes }
}

impl<'c, K: Kind> Argument<'c> for Handle<K> {
    const TYPE: &'static str = K::C_TYPE;
    #[inline]
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        let word = call.word(at);
        // A handle that is an `int` leaves the upper half of its word undefined.
        Self::from_raw(if size::<K>(call.abi) == size_of::<u32>() { word as u32 as usize } else { word })
    }
}

impl<K: Kind> Stored for Handle<K> {
    const POINTER: &'static str = K::C_POINTER;
    #[inline]
    fn bytes(call: &Arguments<'_>) -> usize {
        size::<K>(call.abi)
    }
    #[inline]
    unsafe fn load(call: &Arguments<'_>, address: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::load_from(call.abi, address) }
    }
}

impl<K: Kind> Handle<K> {
    /// Reads the handle at an address.
    ///
    /// # Safety
    /// `address` points to a valid handle.
    #[inline]
    pub unsafe fn load_from(abi: &Abi, address: usize) -> Self {
        // SAFETY: the caller's promise, and a handle is as long as the ABI says.
        Self::from_raw(unsafe {
            if size::<K>(abi) == size_of::<u32>() {
                (address as *const u32).read() as usize
            } else {
                (address as *const usize).read()
            }
        })
    }

    /// Writes the handle to an address.
    ///
    /// # Safety
    /// There is room for a handle.
    pub unsafe fn store_to(self, abi: &Abi, address: usize) {
        // SAFETY: the caller's promise, and a handle is as long as the ABI says.
        unsafe {
            if size::<K>(abi) == size_of::<u32>() {
                (address as *mut u32).write(self.raw() as u32);
            } else {
                (address as *mut usize).write(self.raw());
            }
        }
    }
}

/// Memory of the tool's own in which MPI stores a handle: a handle of either size is in the first bytes of a word, least
/// significant first.
#[derive(Debug)]
#[repr(transparent)]
pub struct HandleCell<K>(Handle<K>);

impl<K: Kind> HandleCell<K> {
    /// A cell for MPI to fill.
    pub fn empty() -> Self {
        Self(Handle::default())
    }

    /// A cell for MPI to read, and perhaps to overwrite.
    pub fn holding(handle: Handle<K>) -> Self {
        Self(handle)
    }

    /// The address that MPI is given.
    pub fn address(&mut self) -> usize {
        (&raw mut *self).word()
    }

    /// The handle that is in the cell now.
    pub fn get(&self, abi: &Abi) -> Handle<K> {
        // SAFETY: the cell is as large as the largest handle.
        unsafe { Handle::load_from(abi, (&raw const *self).word()) }
    }
}
