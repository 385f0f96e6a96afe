//! Memory of devices, such as GPUs, which some libraries accept as buffers ("CUDA-aware MPI") and the host may not be
//! able to read.

use std::env;
use std::ffi::c_void;

use crate::loaded::Object;
use crate::symbol::Symbol;

/// The beginnings of the file names of libraries that programs get the memory of devices from: CUDA, HIP, ROCm and oneAPI.
const RUNTIMES: [&str; 5] = ["libcuda.so", "libcudart.so", "libamdhip64.so", "libhsa-runtime64.so", "libze_loader.so"];

/// Variables by which MVAPICH, Cray MPICH and Intel MPI are asked to take buffers in the memory of devices.
const VARIABLES: [&str; 4] = ["MV2_USE_CUDA", "MV2_USE_ROCM", "MPICH_GPU_SUPPORT_ENABLED", "I_MPI_OFFLOAD"];

/// Whether buffers of this process may be in the memory of a device: the library supports such buffers, or the user
/// requested support, or a loaded library has such memory.
#[must_use]
pub fn may_be_used() -> bool {
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

/// Whether the host can read the bytes at all `addresses`. The system checks this without a fault.
pub(super) fn are_readable<const N: usize>(addresses: [usize; N]) -> bool {
    let mut bytes = [0_u8; N];
    let there = addresses.map(|address| libc::iovec { iov_base: address as *mut c_void, iov_len: 1 });
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: N };
    // SAFETY: there is room for one byte per address; the system reads bytes of this process, and checks the addresses.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const here, 1, there.as_ptr(), N as u64, 0) };
    // If the system does not support this, as in some containers, MPI has to find out.
    read == N as isize || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT) && read < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_may_not_be_read_is_told_apart() {
        let byte = 7_u8;
        let address = &raw const byte as usize;
        assert!(are_readable([address, address]));
        // SAFETY: a page of its own, which is not used otherwise.
        let page = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0)
        };
        assert!(!are_readable([page as usize]) && !are_readable([address, page as usize]));
        assert!(!are_readable([8]));
    }
}
