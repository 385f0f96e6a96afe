//! Operations on packed data.
//!
//! `MPI_Reduce_local` requires its operands in the layout of the datatype. For a predefined datatype without gaps this
//! is the packed layout; for others, operands are unpacked temporarily.

use std::ffi::c_int;

use super::datatype::{is_named, true_extent};
use super::memory::Memory;
use super::region::Region;
use super::{ErrorCode, op_is_commutative, type_extent, type_size};
use crate::argument::{Comm, Datatype, Op};

/// An operation on elements of one datatype.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    op: Op,
    datatype: Datatype,
    /// Bytes of data in an element.
    size: u64,
    /// The layout of elements in memory; `None`: packed.
    layout: Option<Layout>,
    commutes: bool,
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    /// The position of an element's first byte, counted from the element's address, in bytes.
    lower: i64,
    /// The distance from the first byte of an element to the end of its last, in bytes.
    span: i64,
    /// The distance between elements, in bytes.
    extent: i64,
}

impl Reduction {
    /// An operation on elements of a datatype; `None` if MPI does not reveal the structure of the datatype.
    #[must_use]
    pub fn new(op: Op, datatype: Datatype) -> Option<Self> {
        let size = type_size(datatype)?;
        let extent = type_extent(datatype)?;
        let (lower, span) = true_extent(datatype)?;
        let is_packed = is_named(datatype) && u64::try_from(extent) == Ok(size) && lower == 0;
        let layout = (!is_packed).then_some(Layout { lower, span, extent });
        Some(Self { op, datatype, size, layout, commutes: op_is_commutative(op) })
    }

    /// Whether the operation is commutative.
    #[must_use]
    pub fn commutes(&self) -> bool {
        self.commutes
    }

    /// Whether the library has the operation for the datatype: reduces no elements on a communicator of one member,
    /// which returns its errors.
    #[must_use]
    pub fn is_allowed(&self, alone: Comm) -> bool {
        let nothing = std::ptr::null_mut::<u8>();
        // SAFETY: (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm), and no elements.
        unsafe { call!(MPI_Allreduce(nothing, nothing, 0, self.datatype, self.op, alone)) }.is_ok()
    }

    /// `right = left ⊕ right` on `bytes` bytes of packed data.
    ///
    /// # Safety
    /// Both are addresses of this many bytes of data, aligned as the datatype requires, and do not overlap.
    pub(super) unsafe fn apply(&self, left: usize, right: usize, bytes: u64, comm: Comm) -> Result<(), ErrorCode> {
        let Some(count) = bytes.checked_div(self.size) else { return Ok(()) };
        let Some(layout) = self.layout else {
            // SAFETY: guaranteed by the caller; the elements have the layout of the datatype.
            return unsafe { self.reduce_local(left, right, count) };
        };
        let [laid_left, laid_right] = [(), ()].map(|()| layout.room(count));
        let addresses = [&laid_left, &laid_right].map(|room| layout.origin(room, count));
        let [first, second] = addresses.map(|address| Region::laid_out(address, count, self.datatype));
        // SAFETY: packed data at the caller's addresses, and room for it as the datatype lays it out at ours.
        unsafe {
            first.unpack(left, comm)?;
            second.unpack(right, comm)?;
            self.reduce_local(addresses[0], addresses[1], count)?;
            second.pack(right, comm)
        }
    }

    /// # Safety
    /// `count` elements are at both addresses.
    unsafe fn reduce_local(&self, left: usize, right: usize, count: u64) -> Result<(), ErrorCode> {
        const AT_ONCE: u64 = 1 << 24;
        let extent = self.layout.map_or(self.size as i64, |layout| layout.extent);
        for first in (0..count).step_by(AT_ONCE as usize) {
            let [left, right] = [left, right].map(|at| at.wrapping_add_signed((first as i64 * extent) as isize));
            let count = AT_ONCE.min(count - first) as c_int;
            // SAFETY: (const void *, void *, int, MPI_Datatype, MPI_Op), and the caller's promise.
            unsafe { call!(MPI_Reduce_local(left, right, count, self.datatype, self.op))? };
        }
        Ok(())
    }
}

impl Layout {
    /// The length of `count` elements in bytes, and the position of their first byte, counted from the first address.
    fn stretch(&self, count: u64) -> (i64, i64) {
        let last = (count as i64 - 1).max(0).wrapping_mul(self.extent);
        (self.span + last.abs(), self.lower + last.min(0))
    }

    fn room(&self, count: u64) -> Memory {
        Memory::new(self.stretch(count).0.max(0) as u64)
    }

    /// The address that the first element has in this room.
    fn origin(&self, room: &Memory, count: u64) -> usize {
        room.address().wrapping_add_signed(-self.stretch(count).1 as isize)
    }
}
