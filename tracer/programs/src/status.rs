//! Statuses: the message that a receive has matched.

use titr_wrappers::abi::Abi;

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The sender's rank in the communicator; `None` for `MPI_PROC_NULL`.
    pub source: Option<u32>,
    /// The message's tag.
    pub tag: u32,
}

/// Memory in which MPI stores a status.
#[derive(Default)]
#[repr(C, align(8))]
pub(crate) struct StatusCell([i32; Self::INTS]);

impl StatusCell {
    /// A status of any family has fewer.
    const INTS: usize = 16;

    /// The address that MPI is given.
    pub(crate) fn address(&mut self) -> *mut i32 {
        self.0.as_mut_ptr()
    }

    /// The source and the tag that the status tells.
    pub(crate) fn received(&self, abi: &Abi) -> Received {
        let field = |offset: usize| self.0.get(offset / size_of::<i32>()).copied().unwrap_or_default();
        let source = u32::try_from(field(abi.status_source)).ok();
        Received { source, tag: field(abi.status_tag).unsigned_abs() }
    }
}
