//! The program's own data, described by the arguments of a call: packed for a message, and unpacked to its place.

use std::ffi::{c_int, c_void};

use titr_common::units::Bytes;
use titr_wrappers::abi::Abi;
use titr_wrappers::argument::{Buffer, Comm, Datatype, HandleCell};
use titr_wrappers::call;
use titr_wrappers::handle::DatatypeKind;
use titr_wrappers::symbol::Word;

use super::{ErrorCode, type_extent, type_size};

/// Elements of one datatype in the program's memory. All gaps and bounds are the datatype's own affair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    address: usize,
    count: u64,
    datatype: Datatype,
    /// Bytes of data in an element.
    size: u64,
    /// The distance between elements, in bytes.
    extent: i64,
}

/// A number of elements of a datatype, which exists as long as they do if it was made for them.
pub(super) struct Elements {
    pub(super) count: c_int,
    pub(super) datatype: Datatype,
    _made: Option<OwnedDatatype>,
}

/// An address other than `MPI_BOTTOM` to count absolute addresses from.
const ELSEWHERE: usize = 4096;

/// The number of bytes that are packed at once: `MPI_Pack` counts them in an `int`.
const AT_ONCE: u64 = 1 << 30;

impl Region {
    /// `count` elements at a buffer that the program passed to the call in progress. `None` if MPI cannot tell their
    /// size.
    pub(crate) fn new(buffer: Buffer, count: u64, datatype: Datatype) -> Option<Self> {
        let nothing = Self { address: buffer.address, count: 0, datatype, size: 0, extent: 0 };
        if count == 0 {
            return Some(nothing);
        }
        match type_size(datatype)? {
            0 => Some(nothing),
            // An element of such a size cannot be packed at once.
            size if size > AT_ONCE => None,
            size => Some(Self { count, size, extent: type_extent(datatype)?, ..nothing }),
        }
    }

    /// Elements at an address of the tool's own.
    pub(super) fn laid_out(address: usize, count: u64, datatype: Datatype) -> Self {
        let (size, extent) = (type_size(datatype).unwrap_or(0), type_extent(datatype).unwrap_or(0));
        Self { address, count, datatype, size, extent }
    }

    /// This region, displaced by a multiple of the datatype's extent.
    pub(crate) fn displaced(self, elements: i64) -> Self {
        self.displaced_bytes(elements.wrapping_mul(self.extent))
    }

    /// This region, displaced by a number of bytes.
    pub(crate) fn displaced_bytes(self, bytes: i64) -> Self {
        Self { address: self.address.wrapping_add_signed(bytes as isize), ..self }
    }

    /// The size of the data without gaps, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.size)
    }

    /// The region in parts that can be packed at once: the address of each, its number of elements, and its position in the
    /// packed data.
    fn parts(self) -> impl Iterator<Item = (usize, u64, u64)> {
        let stride = AT_ONCE.checked_div(self.size).unwrap_or(1).max(1);
        (0..self.count).step_by(stride as usize).map(move |first| {
            let address = self.displaced(first as i64).address;
            (address, stride.min(self.count - first), first * self.size)
        })
    }

    /// Whether the host can read the memory at the beginning and the end of the region's data; memory of a device may
    /// be unreadable.
    pub(crate) fn is_readable(&self) -> bool {
        let Some((lower, span)) = true_extent(self.datatype).filter(|_| self.bytes() > 0) else { return true };
        let last = self.displaced(self.count as i64 - 1).address;
        let at = |element: usize, offset: i64| element.wrapping_add_signed(lower.wrapping_add(offset) as isize);
        are_readable([at(self.address, 0), at(last, span - 1)])
    }

    /// Packs the region into `room`.
    ///
    /// # Safety
    /// `room` is the address of [`bytes`](Self::bytes) bytes, and the region's call is in progress.
    pub(super) unsafe fn pack(&self, room: usize, comm: Comm) -> Result<(), ErrorCode> {
        self.each_part(room, |address, &Elements { count, datatype, .. }, at, bytes| {
            let mut position: c_int = 0;
            // SAFETY: (const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm). The program vouches for the data
            // at its address. With processes of one kind, packed data is as long as the data.
            unsafe { call!(MPI_Pack(address, count, datatype, at, bytes, &raw mut position, comm)) }
        })
    }

    /// Unpacks packed data into the region.
    ///
    /// # Safety
    /// As [`pack`](Self::pack).
    pub(super) unsafe fn unpack(&self, room: usize, comm: Comm) -> Result<(), ErrorCode> {
        self.each_part(room, |address, &Elements { count, datatype, .. }, at, bytes| {
            let mut position: c_int = 0;
            // SAFETY: (const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm); as for packing.
            unsafe { call!(MPI_Unpack(at, bytes, &raw mut position, address, count, datatype, comm)) }
        })
    }

    /// Calls `each` with the address and the elements of each part, and with the address and the length of its packed data in
    /// `room`.
    fn each_part(
        &self,
        room: usize,
        each: impl Fn(usize, &Elements, usize, c_int) -> Result<(), ErrorCode>,
    ) -> Result<(), ErrorCode> {
        for (address, count, at) in self.parts() {
            let (address, elements) = self.elements(address, count as c_int)?;
            each(address, &elements, room + at as usize, (count * self.size) as c_int)?;
        }
        Ok(())
    }

    /// Elements of the region, with their address, in a form that `MPI_Pack` accepts. MPICH's rejects `MPI_BOTTOM`, from which
    /// collectives take elements with absolute addresses (MPI 4.0 §5.1.5).
    fn elements(&self, address: usize, count: c_int) -> Result<(usize, Elements), ErrorCode> {
        let datatype = self.datatype;
        let is_absolute = || !is_named(datatype) && true_extent(datatype).is_some_and(|(lower, _)| lower != 0);
        match Abi::current() {
            Ok(abi) if address == abi.bottom && is_absolute() => {
                Ok((ELSEWHERE, Elements::displaced(abi, count, datatype, -(ELSEWHERE as i64))?))
            }
            _ => Ok((address, Elements { count, datatype, _made: None })),
        }
    }
}

/// `MPI_Type_get_true_extent`: the lower bound and the extent of an element's data, excluding additions to its bounds.
pub(super) fn true_extent(datatype: Datatype) -> Option<(i64, i64)> {
    let (mut lower, mut extent) = (0_i64, 0_i64);
    // SAFETY: (MPI_Datatype, MPI_Aint *, MPI_Aint *); MPI_Aint is 64 bits wide on these platforms.
    unsafe { call!(MPI_Type_get_true_extent(datatype, &raw mut lower, &raw mut extent)) }.ok()?;
    Some((lower, extent))
}

/// Whether a datatype is predefined: made from no integers, addresses or datatypes.
pub(super) fn is_named(datatype: Datatype) -> bool {
    let mut numbers: [c_int; 4] = [1; 4];
    let [integers, addresses, datatypes, combiner] = numbers.each_mut().map(|number| &raw mut *number);
    // SAFETY: (MPI_Datatype, int *, int *, int *, int *).
    let known = unsafe { call!(MPI_Type_get_envelope(datatype, integers, addresses, datatypes, combiner)) };
    known.is_ok() && numbers[..3] == [0; 3]
}

impl Elements {
    /// A number of bytes as `MPI_Send` and related functions count them.
    pub(super) fn of_bytes(abi: &Abi, Bytes(bytes): Bytes) -> Result<Self, ErrorCode> {
        match c_int::try_from(bytes) {
            Ok(count) => Ok(Self { count, datatype: abi.byte, _made: None }),
            Err(_) => Self::of_many_bytes(abi, bytes),
        }
    }

    /// One element of a datatype of this many bytes: large blocks, and the remaining bytes.
    fn of_many_bytes(abi: &Abi, bytes: u64) -> Result<Self, ErrorCode> {
        const BLOCK: c_int = 1 << 20;
        // SAFETY: (int, MPI_Datatype, MPI_Datatype *).
        let block = OwnedDatatype::new(|cell| unsafe { call!(MPI_Type_contiguous(BLOCK, abi.byte, cell)) })?;
        let (blocks, rest) = (bytes / BLOCK as u64, bytes % BLOCK as u64);
        let counts = [blocks as c_int, rest as c_int];
        let displacements = [0_i64, (bytes - rest) as i64];
        let wide = [block.0.get(abi).raw(), abi.byte.raw()];
        let narrow = wide.map(|handle| handle as u32);
        let types = if abi.handle_bytes == size_of::<u32>() { narrow.as_ptr().word() } else { wide.as_ptr().word() };
        let (counts, displacements) = (counts.as_ptr(), displacements.as_ptr());
        // SAFETY: (int, const int *, const MPI_Aint *, const MPI_Datatype *, MPI_Datatype *).
        Self::one(abi, |cell| unsafe { call!(MPI_Type_create_struct(2, counts, displacements, types, cell)) })
    }

    /// One element of a datatype of several elements, some bytes from its address.
    fn displaced(abi: &Abi, count: c_int, datatype: Datatype, displacement: i64) -> Result<Self, ErrorCode> {
        let (counts, displacements) = (&raw const count, &raw const displacement);
        // SAFETY: (int, const int *, const MPI_Aint *, MPI_Datatype, MPI_Datatype *).
        Self::one(abi, |cell| unsafe { call!(MPI_Type_create_hindexed(1, counts, displacements, datatype, cell)) })
    }

    /// One element of the datatype that `make` puts into a cell.
    fn one(abi: &Abi, make: impl FnOnce(usize) -> Result<(), ErrorCode>) -> Result<Self, ErrorCode> {
        let mut made = OwnedDatatype::new(make)?;
        // SAFETY: (MPI_Datatype *).
        unsafe { call!(MPI_Type_commit(made.0.address()))? };
        Ok(Self { count: 1, datatype: made.0.get(abi), _made: Some(made) })
    }
}

/// A datatype that is freed when the value is dropped; messages that use it keep the parts that they need.
struct OwnedDatatype(HandleCell<DatatypeKind>);

impl OwnedDatatype {
    /// The datatype that `make` puts into a cell.
    fn new(make: impl FnOnce(usize) -> Result<(), ErrorCode>) -> Result<Self, ErrorCode> {
        let mut cell = HandleCell::empty();
        make(cell.address())?;
        Ok(Self(cell))
    }
}

impl Drop for OwnedDatatype {
    fn drop(&mut self) {
        // SAFETY: (MPI_Datatype *), a datatype that MPI has made.
        let _ = unsafe { call!(MPI_Type_free(self.0.address())) };
    }
}

/// Whether the host can read the bytes at all `addresses`. The system checks this without a fault.
fn are_readable<const N: usize>(addresses: [usize; N]) -> bool {
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
