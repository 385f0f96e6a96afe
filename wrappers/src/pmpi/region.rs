//! The program's own data, described by the arguments of a call: packed for a message, and unpacked to its place.

use std::ffi::c_int;

use super::datatype::{Displaced, is_named, true_extent};
use super::{ErrorCode, device, type_extent, type_size};
use crate::abi::Abi;
use crate::argument::{Buffer, Comm, Datatype};

/// Elements of one datatype in the program's memory. All gaps and bounds are the datatype's own affair.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    address: usize,
    count: u64,
    datatype: Datatype,
    /// Bytes of data in an element.
    size: u64,
    /// The distance between elements, in bytes.
    extent: i64,
}

/// Elements of a datatype, which exists as long as they do if it was made for them.
struct Elements {
    address: usize,
    count: c_int,
    datatype: Datatype,
    _made: Option<Displaced>,
}

/// An address other than `MPI_BOTTOM` to count absolute addresses from.
const ELSEWHERE: usize = 4096;

/// The number of bytes that are packed at once: `MPI_Pack` counts them in an `int`.
const AT_ONCE: u64 = 1 << 30;

impl Region {
    /// `count` elements at a buffer that the program passed to the call in progress. `None` if MPI cannot tell their
    /// size.
    #[must_use]
    pub fn new(buffer: Buffer, count: u64, datatype: Datatype) -> Option<Self> {
        let nothing = Self { address: buffer.address(), count: 0, datatype, size: 0, extent: 0 };
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
    #[must_use]
    pub fn displaced(self, elements: i64) -> Self {
        self.displaced_bytes(elements.wrapping_mul(self.extent))
    }

    /// This region, displaced by a number of bytes.
    #[must_use]
    pub fn displaced_bytes(self, bytes: i64) -> Self {
        Self { address: self.address.wrapping_add_signed(bytes as isize), ..self }
    }

    /// The size of the data without gaps, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
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
    #[must_use]
    pub fn is_readable(&self) -> bool {
        let Some((lower, span)) = true_extent(self.datatype).filter(|_| self.bytes() > 0) else { return true };
        let last = self.displaced(self.count as i64 - 1).address;
        let at = |element: usize, offset: i64| element.wrapping_add_signed(lower.wrapping_add(offset) as isize);
        device::are_readable([at(self.address, 0), at(last, span - 1)])
    }

    /// Packs the region into `room`.
    ///
    /// # Safety
    /// `room` is the address of [`bytes`](Self::bytes) bytes, and the region's call is in progress.
    pub(super) unsafe fn pack(&self, room: usize, comm: Comm) -> Result<(), ErrorCode> {
        for (address, count, at) in self.parts() {
            let mut position: c_int = 0;
            let (count, bytes, at) = (count as c_int, (count * self.size) as c_int, room + at as usize);
            let elements = self.elements(address, count)?;
            let Elements { address, count, datatype, .. } = elements;
            // SAFETY: (const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm). The program vouches for the data
            // at its address. With processes of one kind, packed data is as long as the data.
            unsafe { call!(MPI_Pack(address, count, datatype, at, bytes, &raw mut position, comm))? };
        }
        Ok(())
    }

    /// Unpacks packed data into the region.
    ///
    /// # Safety
    /// As [`pack`](Self::pack).
    pub(super) unsafe fn unpack(&self, room: usize, comm: Comm) -> Result<(), ErrorCode> {
        for (address, count, at) in self.parts() {
            let mut position: c_int = 0;
            let (count, bytes, at) = (count as c_int, (count * self.size) as c_int, room + at as usize);
            let elements = self.elements(address, count)?;
            let Elements { address, count, datatype, .. } = elements;
            // SAFETY: (const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm); as for packing.
            unsafe { call!(MPI_Unpack(at, bytes, &raw mut position, address, count, datatype, comm))? };
        }
        Ok(())
    }

    /// Elements of the region in a form that `MPI_Pack` accepts. MPICH's rejects `MPI_BOTTOM`, from which collectives
    /// take elements with absolute addresses (MPI 4.0 §5.1.5).
    fn elements(&self, address: usize, count: c_int) -> Result<Elements, ErrorCode> {
        let is_absolute =
            || !is_named(self.datatype) && true_extent(self.datatype).is_some_and(|(lower, _)| lower != 0);
        match Abi::current() {
            Ok(abi) if address == abi.bottom && is_absolute() => {
                let displaced = Displaced::new(count, self.datatype, -(ELSEWHERE as i64))?;
                let datatype = displaced.datatype(abi);
                Ok(Elements { address: ELSEWHERE, count: 1, datatype, _made: Some(displaced) })
            }
            _ => Ok(Elements { address, count, datatype: self.datatype, _made: None }),
        }
    }
}
