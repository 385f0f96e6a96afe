//! The memory file in which the emulator's plug-in counts instructions and the tracer reads them.
//!
//! The plug-in and the program are in one process, so the tracer finds the file among its own descriptors.

use std::ffi::CStr;
use std::sync::atomic::{AtomicI32, AtomicU64};

/// The name of the memory file.
pub const FILE: &CStr = c"titremulation";

/// The beginning of the file.
pub const MAGIC: [u8; 8] = *b"titremul";

/// The version of what follows.
pub const VERSION: u64 = 1;

/// The number of threads of a process that can be counted at a time.
pub(crate) const THREADS: usize = 1024;

/// The content of the file.
#[repr(C)]
pub struct Counts {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u64,
    /// The threads, by the emulator's number.
    pub threads: [ThreadCount; THREADS],
}

/// The instructions of one thread, in a cache line of its own.
#[repr(C, align(64))]
pub struct ThreadCount {
    /// The kernel's number of the thread (`gettid`); 0 if there is none.
    pub thread: AtomicI32,
    /// The instructions that the thread, and earlier threads with the same number, have executed.
    pub instructions: AtomicU64,
}
