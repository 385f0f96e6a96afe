//! Memory that MPI reads and writes on behalf of the tool.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// Memory that MPI may write to at any time, zeros at first.
pub struct Memory {
    address: *mut u8,
    layout: Layout,
}

impl Memory {
    /// The strictest alignment that an element of any datatype may need, in bytes.
    const ALIGNMENT: usize = 64;

    /// Memory of this many bytes.
    #[must_use]
    pub fn new(len: u64) -> Self {
        let layout = usize::try_from(len).ok().and_then(|len| Layout::from_size_align(len, Self::ALIGNMENT).ok());
        // More than an address space holds fails as any other memory that cannot be had.
        let Some(layout) = layout else { handle_alloc_error(Layout::new::<u8>()) };
        if layout.size() == 0 {
            return Self { address: std::ptr::without_provenance_mut(Self::ALIGNMENT), layout };
        }
        // SAFETY: the size is not zero.
        let address = unsafe { alloc_zeroed(layout) };
        if address.is_null() {
            handle_alloc_error(layout);
        }
        Self { address, layout }
    }

    /// The address of the first byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address.expose_provenance()
    }

    /// The length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.layout.size() as u64
    }
}

// SAFETY: only MPI has the address, and it does not depend on the calling thread.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: `new` got it from the allocator with this layout.
            unsafe { dealloc(self.address, self.layout) };
        }
    }
}
