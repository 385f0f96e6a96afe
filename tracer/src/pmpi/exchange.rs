//! Messages between the members of a communicator, of packed data in memory of the tool.
//!
//! An exchange owns three buffers: for input data of the program, for output data, and for scratch. Parts of them are
//! used as in MPI programs: sent and received, at once or in the background, copied and reduced.

use std::collections::VecDeque;
use std::ffi::c_int;

use titr_common::collectives::{Buffer, Slice};
use titr_common::units::Bytes;
use titr_wrappers::abi::Abi;
use titr_wrappers::argument::{Comm, Datatype, HandleCell, Op};
use titr_wrappers::call;
use titr_wrappers::handle::RequestKind;

use super::region::{Elements, Region, is_named, true_extent};
use super::{ErrorCode, Memory, op_is_commutative, type_extent, type_size};

/// The side of an operand in a non-commutative operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// `into = from ⊕ into`.
    Left,
    /// `into = into ⊕ from`.
    Right,
}

/// A member's messages, its buffers, and the messages that it has started and not completed.
pub(crate) struct Exchange {
    abi: &'static Abi,
    comm: Comm,
    tag: c_int,
    spaces: [Memory; 3],
    /// The requests of messages that were started and not completed, oldest first.
    started: VecDeque<Box<HandleCell<RequestKind>>>,
}

impl Exchange {
    /// An exchange whose messages are on `comm` and have this tag, with buffers of these lengths in bytes.
    pub(crate) fn new(abi: &'static Abi, comm: Comm, tag: i32, lens: [u64; 3]) -> Self {
        Self { abi, comm, tag, spaces: lens.map(Memory::new), started: VecDeque::new() }
    }

    fn address(&self, Slice { buffer, offset, len }: Slice) -> Result<usize, ErrorCode> {
        /// A part outside of a buffer is a mistake in the schedule.
        const OUTSIDE: ErrorCode = ErrorCode(1);
        let memory = &self.spaces[buffer as usize];
        let end = offset.0.checked_add(len.0).ok_or(OUTSIDE)?;
        if end > memory.bytes() { Err(OUTSIDE) } else { Ok(memory.address() + offset.0 as usize) }
    }

    /// Packs regions of the program into a buffer, one behind the other.
    pub(crate) fn pack(&mut self, buffer: Buffer, regions: &[Region]) -> Result<(), ErrorCode> {
        self.each_region(buffer, regions, |region, room, comm| {
            // SAFETY: `each_region` gives it room for all its bytes; the call is in progress while this runs.
            unsafe { region.pack(room, comm) }
        })
    }

    /// Unpacks a buffer into regions of the program.
    pub(crate) fn unpack(&mut self, buffer: Buffer, regions: &[Region]) -> Result<(), ErrorCode> {
        self.each_region(buffer, regions, |region, room, comm| {
            // SAFETY: as for packing.
            unsafe { region.unpack(room, comm) }
        })
    }

    fn each_region(
        &self,
        buffer: Buffer,
        regions: &[Region],
        mut each: impl FnMut(&Region, usize, Comm) -> Result<(), ErrorCode>,
    ) -> Result<(), ErrorCode> {
        let mut offset = 0;
        for region in regions {
            let len = region.bytes();
            each(region, self.address(Slice { buffer, offset: Bytes(offset), len: Bytes(len) })?, self.comm)?;
            offset += len;
        }
        Ok(())
    }

    /// `MPI_Send`.
    pub(crate) fn send(&mut self, to: u32, part: Slice) -> Result<(), ErrorCode> {
        let (at, bytes) = (self.address(part)?, Elements::of_bytes(self.abi, part.len)?);
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm); this many bytes are there.
        unsafe { call!(MPI_Send(at, bytes.count, bytes.datatype, to as c_int, self.tag, self.comm)) }
    }

    /// `MPI_Recv`.
    pub(crate) fn recv(&mut self, from: u32, part: Slice) -> Result<(), ErrorCode> {
        let (at, bytes, ignore) =
            (self.address(part)?, Elements::of_bytes(self.abi, part.len)?, self.abi.status_ignore);
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *); there is room for this many bytes.
        unsafe { call!(MPI_Recv(at, bytes.count, bytes.datatype, from as c_int, self.tag, self.comm, ignore)) }
    }

    /// `MPI_Isend`. After an error there is a message nevertheless, which is complete.
    pub(crate) fn isend(&mut self, to: u32, part: Slice) -> Result<(), ErrorCode> {
        let (tag, comm) = (self.tag, self.comm);
        self.start(part, |at, bytes, place| {
            // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *). The memory is there until the
            // request is completed: `drop` sees to that.
            unsafe { call!(MPI_Isend(at, bytes.count, bytes.datatype, to as c_int, tag, comm, place)) }
        })
    }

    /// `MPI_Irecv`. After an error there is a message nevertheless, which is complete.
    pub(crate) fn irecv(&mut self, from: u32, part: Slice) -> Result<(), ErrorCode> {
        let (tag, comm) = (self.tag, self.comm);
        self.start(part, |at, bytes, place| {
            // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), as for sending.
            unsafe { call!(MPI_Irecv(at, bytes.count, bytes.datatype, from as c_int, tag, comm, place)) }
        })
    }

    /// Starts a message of a part by a call with the part's address, its bytes, and the place of the request.
    fn start(
        &mut self,
        part: Slice,
        call: impl FnOnce(usize, &Elements, usize) -> Result<(), ErrorCode>,
    ) -> Result<(), ErrorCode> {
        let mut request = Box::new(HandleCell::empty());
        let started =
            self.address(part).and_then(|at| call(at, &Elements::of_bytes(self.abi, part.len)?, request.address()));
        if started.is_err() {
            *request = HandleCell::holding(self.abi.request_null);
        }
        self.started.push_back(request);
        started
    }

    /// Puts a number at the beginning of a buffer.
    pub(crate) fn put(&mut self, buffer: Buffer, number: u64) -> Result<(), ErrorCode> {
        let at = self.address(buffer.first(8))?;
        // SAFETY: this many bytes are there.
        unsafe { (at as *mut u64).write(number) };
        Ok(())
    }

    /// The number at the beginning of a buffer.
    pub(crate) fn get(&self, buffer: Buffer) -> Result<u64, ErrorCode> {
        let at = self.address(buffer.first(8))?;
        // SAFETY: this many bytes are there, and any value is a valid number.
        Ok(unsafe { (at as *const u64).read() })
    }

    /// The number of messages that were started and not completed.
    pub(crate) fn pending(&self) -> usize {
        self.started.len()
    }

    /// Completes the `nth` of the messages that were started and not completed.
    pub(crate) fn wait(&mut self, nth: usize) -> Result<(), ErrorCode> {
        let Some(mut request) = self.started.remove(nth) else { return Ok(()) };
        // SAFETY: (MPI_Request *, MPI_Status *), a request of `isend` or `irecv`.
        unsafe { call!(MPI_Wait(request.address(), self.abi.status_ignore)) }
    }

    /// Copies a part to another of the same length.
    pub(crate) fn copy(&mut self, from: Slice, to: Slice) -> Result<(), ErrorCode> {
        let len = from.len.min(to.len).0 as usize;
        let [from, to] = [self.address(from)?, self.address(to)?];
        // SAFETY: both have this many bytes.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len) };
        Ok(())
    }

    /// Reduces `from` into a part of the same length.
    pub(crate) fn reduce(&mut self, by: &Reduction, from: Slice, side: Side, into: Slice) -> Result<(), ErrorCode> {
        let bytes = from.len.min(into.len).0;
        let [from, to] = [self.address(from)?, self.address(into)?];
        if side == Side::Left || by.commutes() {
            // SAFETY: both have this many bytes, at multiples of the element from an address that is aligned for any
            // datatype.
            return unsafe { by.apply(from, to, bytes, self.comm) };
        }
        // MPI leaves the result on the right.
        let right = Memory::new(bytes);
        // SAFETY: as above.
        unsafe {
            std::ptr::copy_nonoverlapping(from as *const u8, right.address() as *mut u8, bytes as usize);
            by.apply(to, right.address(), bytes, self.comm)?;
            std::ptr::copy_nonoverlapping(right.address() as *const u8, to as *mut u8, bytes as usize);
        }
        Ok(())
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // After an error: operations in progress may still write here.
        while self.pending() > 0 {
            let _ = self.wait(0);
        }
    }
}

/// An operation on packed elements of one datatype.
///
/// `MPI_Reduce_local` requires its operands in the layout of the datatype. For a predefined datatype without gaps this
/// is the packed layout; for others, operands are unpacked temporarily.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    op: Op,
    datatype: Datatype,
    /// Bytes of data in an element.
    size: u64,
    /// The layout of elements in memory; `None`: packed.
    layout: Option<ElementLayout>,
    commutes: bool,
}

#[derive(Clone, Copy, Debug)]
struct ElementLayout {
    /// The position of an element's first byte, counted from the element's address, in bytes.
    lower: i64,
    /// The distance from the first byte of an element to the end of its last, in bytes.
    span: i64,
    /// The distance between elements, in bytes.
    extent: i64,
}

impl Reduction {
    /// An operation on elements of a datatype; `None` if MPI does not reveal the structure of the datatype.
    pub(crate) fn new(op: Op, datatype: Datatype) -> Option<Self> {
        let size = type_size(datatype)?;
        let extent = type_extent(datatype)?;
        let (lower, span) = true_extent(datatype)?;
        let is_packed = is_named(datatype) && u64::try_from(extent) == Ok(size) && lower == 0;
        let layout = (!is_packed).then_some(ElementLayout { lower, span, extent });
        Some(Self { op, datatype, size, layout, commutes: op_is_commutative(op) })
    }

    /// Whether the operation is commutative.
    pub(crate) fn commutes(&self) -> bool {
        self.commutes
    }

    /// Whether the library has the operation for the datatype: reduces no elements on a communicator of one member,
    /// which returns its errors.
    pub(crate) fn is_allowed(&self, alone: Comm) -> bool {
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

impl ElementLayout {
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
