//! MPI functions that a tool calls itself, by their profiling names, so that no tool sees them: any by [`call!`], and a
//! few that the arguments of calls depend on.
//!
//! All but [`allreduce`] are local. Handles must refer to live objects, as everywhere in MPI; an error gives a neutral
//! value (no rank, no size, nothing), and with MPI's default error handler ends the program.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::env;
use std::ffi::{c_int, c_void};

use crate::abi::Abi;
use crate::argument::{Comm, Datatype, HandleCell, Op, Status};
use crate::handle::ErrhandlerKind;
use crate::loaded::Object;
use crate::symbol::{Forward, Symbol};

/// Calls the library's function of a name with these arguments, in C's order and each a [`Word`](crate::symbol::Word), and
/// returns `Result<(), ErrorCode>`.
///
/// # Safety
/// The arguments are those that the function may be called with.
#[macro_export]
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        static SYMBOL: $crate::symbol::Symbol = $crate::symbol::Symbol::new(concat!("P", stringify!($name), "\0"));
        $crate::pmpi::attempt(&SYMBOL, [$($crate::symbol::Word::word($argument)),*])
    }};
}

/// The `int` that a function of (handle, int *) gives.
macro_rules! int_of {
    ($name:ident($handle:expr)) => {{
        let mut value: c_int = 0;
        // SAFETY: (handle, int *).
        unsafe { call!($name($handle, &raw mut value)) }.ok().map(|()| value)
    }};
}

mod groups;
mod spawn;

pub use groups::{KnownGroup, Neighbors, Translation, neighbors, translate, translate_group, translate_to};
pub use spawn::{ChangedInfos, SpawnInfos};

/// The code of an error that an MPI function returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub c_int);

impl ErrorCode {
    /// `MPI_Error_class`.
    pub fn class(self) -> Option<c_int> {
        let mut class: c_int = 0;
        // SAFETY: (int, int *).
        unsafe { call!(MPI_Error_class(self.0, &raw mut class)) }.ok().map(|()| class)
    }
}

/// Calls a function of the library.
///
/// # Safety
/// `words` are arguments that the function may be called with.
pub unsafe fn attempt<const N: usize>(function: &Symbol, words: [usize; N]) -> Result<(), ErrorCode>
where
    [usize; N]: Forward,
{
    /// Any code but `MPI_SUCCESS`: a library that has no such function has none for that either.
    const MISSING: c_int = 1;
    // SAFETY: the caller's promise.
    match unsafe { function.call(words) }.unwrap_or(MISSING) {
        0 => Ok(()),
        code => Err(ErrorCode(code)),
    }
}

/// `MPI_Comm_rank`; −1 after an error.
pub fn comm_rank(comm: Comm) -> i32 {
    int_of!(MPI_Comm_rank(comm)).unwrap_or(-1)
}

/// `MPI_Comm_size`; 0 after an error.
pub fn comm_size(comm: Comm) -> usize {
    int_of!(MPI_Comm_size(comm)).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// `MPI_Comm_remote_size`; 0 after an error.
pub(crate) fn comm_remote_size(comm: Comm) -> usize {
    int_of!(MPI_Comm_remote_size(comm)).and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
}

/// Whether `root` means this rank: by its number, or on an inter-communicator by `MPI_ROOT`.
pub fn is_root(root: i32, comm: Comm) -> bool {
    if comm_is_inter(comm) { Abi::current().is_ok_and(|abi| abi.root == root) } else { comm_rank(comm) == root }
}

/// The number of ranks that a collective exchanges data with: of an inter-communicator, the size of the remote group.
pub fn comm_peers(comm: Comm) -> usize {
    if comm_is_inter(comm) { comm_remote_size(comm) } else { comm_size(comm) }
}

/// `MPI_Comm_test_inter`.
pub fn comm_is_inter(comm: Comm) -> bool {
    int_of!(MPI_Comm_test_inter(comm)).is_some_and(|flag| flag != 0)
}

/// `MPI_Type_size_x`: the bytes of data in one element, without gaps; `None` if undefined. A call that moves nothing may
/// have got away with `MPI_DATATYPE_NULL`, after which MPI must not be asked.
pub fn type_size(datatype: Datatype) -> Option<u64> {
    if Abi::current().is_ok_and(|abi| datatype == abi.datatype_null) {
        return None;
    }
    let mut size: i64 = 0;
    // SAFETY: (MPI_Datatype, MPI_Count *); MPI_Count is 64 bits wide in every family.
    unsafe { call!(MPI_Type_size_x(datatype, &raw mut size)) }.ok()?;
    u64::try_from(size).ok()
}

/// `MPI_Test_cancelled`: whether the request that a status is of was cancelled.
pub fn is_cancelled(status: &Status<'_>) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: (MPI_Status *, int *).
    unsafe { call!(MPI_Test_cancelled(status.address(), &raw mut flag)) }.is_ok() && flag != 0
}

/// `MPI_Get_elements_x` of bytes: the size of the message that a status is of.
pub fn message_bytes(status: &Status<'_>) -> u64 {
    let mut bytes: i64 = 0;
    // SAFETY: (MPI_Status *, MPI_Datatype, MPI_Count *).
    let known = unsafe { call!(MPI_Get_elements_x(status.address(), status.abi().byte, &raw mut bytes)) };
    known.ok().and_then(|()| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// `MPI_Allreduce` of one 64-bit integer: collective, all members of `comm` must take part.
pub fn allreduce(abi: &Abi, value: i64, op: Op, comm: Comm) -> Option<i64> {
    let mut result = value;
    // SAFETY: (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm), one MPI_INT64_T on either side.
    unsafe { call!(MPI_Allreduce(&raw const value, &raw mut result, 1, abi.int64, op, comm)) }.ok().map(|()| result)
}

/// The largest tag (`MPI_TAG_UB`), or the largest that MPI guarantees.
pub fn tag_ub(abi: &Abi, comm: Comm) -> u32 {
    /// MPI 4.0 §9.1.2.
    const GUARANTEED: u32 = 32_767;
    let (mut value, mut found): (*const c_int, c_int) = (std::ptr::null(), 0);
    // SAFETY: (MPI_Comm, int, void *, int *): an attribute is the address of the value, here of an `int`.
    let known = unsafe { call!(MPI_Comm_get_attr(comm, abi.tag_ub, &raw mut value, &raw mut found)) };
    if known.is_err() || found == 0 || value.is_null() {
        return GUARANTEED;
    }
    // SAFETY: as above.
    u32::try_from(unsafe { value.read() }).unwrap_or(GUARANTEED)
}

/// Makes the functions that a tool calls on its own communicator return their errors instead of ending the program.
pub fn return_errors(abi: &Abi, comm: Comm) {
    let mut handler = HandleCell::<ErrhandlerKind>::empty();
    // SAFETY: (MPI_Comm_errhandler_function *, MPI_Errhandler *), (MPI_Comm, MPI_Errhandler) and (MPI_Errhandler *).
    // The function is called with variable arguments, and reads none of them.
    unsafe {
        if call!(MPI_Comm_create_errhandler(ignore as *const (), handler.address())).is_ok() {
            let _ = call!(MPI_Comm_set_errhandler(comm, handler.get(abi)));
            let _ = call!(MPI_Errhandler_free(handler.address()));
        }
    }
}

/// After a handler that returns, the function that failed returns the error (MPI 4.0 §9.3).
extern "C" fn ignore(_: *const c_void, _: *const c_int) {}

/// Memory that MPI may write to at any time, zeros at first.
pub struct Memory {
    address: *mut u8,
    layout: Layout,
}

impl Memory {
    /// The strictest alignment that an element of any datatype may need, in bytes.
    const ALIGNMENT: usize = 64;

    /// Memory of this many bytes.
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
    pub fn address(&self) -> usize {
        self.address.expose_provenance()
    }

    /// The length in bytes.
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

/// The beginnings of the file names of libraries that programs get the memory of devices from: CUDA, HIP, ROCm and oneAPI.
const RUNTIMES: [&str; 5] = ["libcuda.so", "libcudart.so", "libamdhip64.so", "libhsa-runtime64.so", "libze_loader.so"];

/// Variables by which MVAPICH, Cray MPICH and Intel MPI are asked to take buffers in the memory of devices.
const VARIABLES: [&str; 4] = ["MV2_USE_CUDA", "MV2_USE_ROCM", "MPICH_GPU_SUPPORT_ENABLED", "I_MPI_OFFLOAD"];

/// Whether buffers of this process may be in the memory of a device: the library supports such buffers, or the user
/// requested support, or a loaded library has such memory.
pub fn may_be_on_device() -> bool {
    static QUERIES: [Symbol; 3] = [
        Symbol::new("PMPIX_Query_cuda_support\0"),
        Symbol::new("PMPIX_Query_rocm_support\0"),
        Symbol::new("PMPIX_Query_ze_support\0"),
    ];
    // SAFETY: functions without arguments that return an `int`.
    let says_so = QUERIES.iter().any(|query| unsafe { query.call([]) }.is_some_and(|answer| answer != 0));
    let is_asked = || VARIABLES.iter().any(|name| env::var_os(name).is_some_and(|value| value != "0"));
    says_so || is_asked() || Object::all().iter().any(is_runtime)
}

fn is_runtime(object: &Object) -> bool {
    let path = object.name.to_bytes();
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    RUNTIMES.iter().any(|runtime| name.starts_with(runtime.as_bytes()))
}
