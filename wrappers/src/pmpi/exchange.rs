//! Messages between the members of a communicator, of data that lies here packed.
//!
//! An exchange owns three stretches of memory, for what the program gives, for what it gets and for scratch, and does
//! with parts of them what MPI programs do: send and receive, at once or in the background, copy and reduce.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::VecDeque;
use std::ffi::c_int;

use super::{ErrorCode, attempt, call};
use crate::abi::Abi;
use crate::argument::{Comm, Datatype, load_handle};
use crate::functions::{datatype, point_to_point};

pub use super::reduction::Reduction;
use super::region::Region;

/// One of the stretches of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// What the program gives.
    Send,
    /// What it gets.
    Recv,
    /// Nothing of its own.
    Scratch,
}

/// A part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which.
    pub space: Space,
    /// Its first byte.
    pub offset: u64,
    /// How long it is.
    pub len: u64,
}

/// On which side of an operation that does not commute an operand stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `into = from ⊕ into`.
    Left,
    /// `into = into ⊕ from`.
    Right,
}

/// A member's messages, its memory, and what it has started and not completed.
pub struct Exchange {
    abi: &'static Abi,
    comm: Comm,
    tag: c_int,
    spaces: [Memory; 3],
    /// Requests as MPI stores them: a handle of either size, in the first bytes.
    started: VecDeque<Box<usize>>,
}

impl Exchange {
    /// One whose messages are on `comm` and have this tag, with spaces of these lengths.
    #[must_use]
    pub fn new(abi: &'static Abi, comm: Comm, tag: i32, lens: [u64; 3]) -> Self {
        Self { abi, comm, tag, spaces: lens.map(Memory::new), started: VecDeque::new() }
    }

    fn address(&self, part: Part) -> Result<usize, ErrorCode> {
        /// What lies outside of a space is a mistake in the schedule.
        const OUTSIDE: ErrorCode = ErrorCode(1);
        let memory = &self.spaces[part.space as usize];
        let end = part.offset.checked_add(part.len).ok_or(OUTSIDE)?;
        if end > memory.len() { Err(OUTSIDE) } else { Ok(memory.address() + part.offset as usize) }
    }

    /// Packs regions of the program into a space, one behind the other.
    ///
    /// # Errors
    /// The library's.
    pub fn pack(&mut self, space: Space, regions: &[Region]) -> Result<(), ErrorCode> {
        self.each_region(space, regions, |region, room, comm| {
            // SAFETY: `each_region` gives it as much room as it has bytes; the call is under way while we are in it.
            unsafe { region.pack(room, comm) }
        })
    }

    /// Puts what is in a space into regions of the program.
    ///
    /// # Errors
    /// The library's.
    pub fn unpack(&mut self, space: Space, regions: &[Region]) -> Result<(), ErrorCode> {
        self.each_region(space, regions, |region, room, comm| {
            // SAFETY: as for packing.
            unsafe { region.unpack(room, comm) }
        })
    }

    fn each_region(
        &self,
        space: Space,
        regions: &[Region],
        mut each: impl FnMut(&Region, usize, Comm) -> Result<(), ErrorCode>,
    ) -> Result<(), ErrorCode> {
        let mut offset = 0;
        for region in regions {
            let len = region.bytes();
            each(region, self.address(Part { space, offset, len })?, self.comm)?;
            offset += len;
        }
        Ok(())
    }

    /// `MPI_Send`.
    ///
    /// # Errors
    /// The library's.
    pub fn send(&mut self, to: u32, part: Part) -> Result<(), ErrorCode> {
        let run = Run::new(self.abi, part.len)?;
        let words =
            [self.address(part)?, run.count, run.datatype.raw(), to as usize, self.tag as usize, self.comm.raw()];
        // SAFETY: (const void *, int, MPI_Datatype, int, int, MPI_Comm); so many bytes are there.
        unsafe { attempt(&point_to_point::MPI_Send, words) }
    }

    /// `MPI_Recv`.
    ///
    /// # Errors
    /// The library's.
    pub fn recv(&mut self, from: u32, part: Part) -> Result<(), ErrorCode> {
        let run = Run::new(self.abi, part.len)?;
        let [at, from, tag] = [self.address(part)?, from as usize, self.tag as usize];
        let words = [at, run.count, run.datatype.raw(), from, tag, self.comm.raw(), self.abi.status_ignore];
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *); there is room for so many bytes.
        unsafe { attempt(&point_to_point::MPI_Recv, words) }
    }

    /// `MPI_Isend`.
    ///
    /// # Errors
    /// The library's.
    pub fn isend(&mut self, to: u32, part: Part) -> Result<(), ErrorCode> {
        self.start(&point_to_point::MPI_Isend, to, part)
    }

    /// `MPI_Irecv`.
    ///
    /// # Errors
    /// The library's.
    pub fn irecv(&mut self, from: u32, part: Part) -> Result<(), ErrorCode> {
        self.start(&point_to_point::MPI_Irecv, from, part)
    }

    fn start(&mut self, function: &crate::Function, peer: u32, part: Part) -> Result<(), ErrorCode> {
        let run = Run::new(self.abi, part.len)?;
        let mut request = Box::new(0_usize);
        let [at, peer, tag] = [self.address(part)?, peer as usize, self.tag as usize];
        let words = [at, run.count, run.datatype.raw(), peer, tag, self.comm.raw(), &raw mut *request as usize];
        // SAFETY: (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *). The memory is there until the request
        // is completed: `drop` sees to that.
        unsafe { attempt(function, words)? };
        self.started.push_back(request);
        Ok(())
    }

    /// Puts a number at the beginning of a space.
    ///
    /// # Errors
    /// Where it is too short.
    pub fn put(&mut self, space: Space, number: u64) -> Result<(), ErrorCode> {
        let at = self.address(Part { space, offset: 0, len: 8 })?;
        // SAFETY: so many bytes are there.
        unsafe { (at as *mut u64).write(number) };
        Ok(())
    }

    /// The number at the beginning of a space.
    ///
    /// # Errors
    /// Where it is too short.
    pub fn get(&self, space: Space) -> Result<u64, ErrorCode> {
        let at = self.address(Part { space, offset: 0, len: 8 })?;
        // SAFETY: so many bytes are there, and any are a number.
        Ok(unsafe { (at as *const u64).read() })
    }

    /// How many were started and not completed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.started.len()
    }

    /// Completes the `nth` of those started and not completed.
    ///
    /// # Errors
    /// The library's.
    pub fn wait(&mut self, nth: usize) -> Result<(), ErrorCode> {
        let Some(mut request) = self.started.remove(nth) else { return Ok(()) };
        // SAFETY: (MPI_Request *, MPI_Status *), a request that `start` has made.
        unsafe { attempt(&point_to_point::MPI_Wait, [&raw mut *request as usize, self.abi.status_ignore]) }
    }

    /// Whether the `nth` of those started is complete, after which it is none of them.
    ///
    /// # Errors
    /// The library's.
    pub fn test(&mut self, nth: usize) -> Result<bool, ErrorCode> {
        let Some(request) = self.started.get_mut(nth) else { return Ok(true) };
        let mut flag: c_int = 0;
        let words = [&raw mut **request as usize, &raw mut flag as usize, self.abi.status_ignore];
        // SAFETY: (MPI_Request *, int *, MPI_Status *), a request that `start` has made.
        unsafe { attempt(&point_to_point::MPI_Test, words)? };
        if flag != 0 {
            self.started.remove(nth);
        }
        Ok(flag != 0)
    }

    /// Copies a part to another of the same length.
    ///
    /// # Errors
    /// Where one lies outside.
    pub fn copy(&mut self, from: Part, to: Part) -> Result<(), ErrorCode> {
        let len = from.len.min(to.len) as usize;
        let [from, to] = [self.address(from)?, self.address(to)?];
        // SAFETY: both have so many bytes.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len) };
        Ok(())
    }

    /// Reduces `from` into a part of the same length.
    ///
    /// # Errors
    /// The library's.
    pub fn reduce(&mut self, by: &Reduction, from: Part, side: Side, into: Part) -> Result<(), ErrorCode> {
        let bytes = from.len.min(into.len);
        let [from, to] = [self.address(from)?, self.address(into)?];
        if side == Side::Left || by.commutes() {
            // SAFETY: both have so many bytes, at multiples of the element from where any datatype may lie.
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
        // After an error: what is under way may still write here.
        while self.pending() > 0 {
            let _ = self.wait(0);
        }
    }
}

/// So many bytes as `MPI_Send` and its kin count them.
struct Run {
    count: usize,
    datatype: Datatype,
    /// The datatype as MPI stores it, where it was made for this.
    made: Option<usize>,
}

impl Run {
    fn new(abi: &Abi, bytes: u64) -> Result<Self, ErrorCode> {
        match c_int::try_from(bytes) {
            Ok(count) => Ok(Self { count: count as usize, datatype: abi.byte, made: None }),
            Err(_) => Self::long(abi, bytes),
        }
    }

    /// One element of a datatype that is as long as this: large blocks, and what is left behind them.
    fn long(abi: &Abi, bytes: u64) -> Result<Self, ErrorCode> {
        const BLOCK: u64 = 1 << 20;
        let (mut block, mut whole) = (0_usize, 0_usize);
        let words = [BLOCK as usize, abi.byte.raw(), &raw mut block as usize];
        // SAFETY: (int, MPI_Datatype, MPI_Datatype *).
        unsafe { attempt(&datatype::MPI_Type_contiguous, words)? };
        // SAFETY: a handle is at either place once the function has succeeded.
        let handle = |place: &usize| unsafe { load_handle(abi, &raw const *place as usize) };
        let counts = [(bytes / BLOCK) as c_int, (bytes % BLOCK) as c_int];
        let displacements = [0_i64, (bytes - bytes % BLOCK) as i64];
        let types = [handle(&block), abi.byte.raw()];
        let narrow = types.map(|handle| handle as u32);
        let types =
            if abi.handle_bytes == size_of::<u32>() { narrow.as_ptr() as usize } else { types.as_ptr() as usize };
        let [counts, displacements] = [counts.as_ptr() as usize, displacements.as_ptr() as usize];
        let words = [2, counts, displacements, types, &raw mut whole as usize];
        // SAFETY: (int, const int *, const MPI_Aint *, const MPI_Datatype *, MPI_Datatype *), then (MPI_Datatype *).
        unsafe {
            let made = attempt(&datatype::MPI_Type_create_struct, words);
            call(&datatype::MPI_Type_free, [&raw mut block as usize]);
            made?;
            attempt(&datatype::MPI_Type_commit, [&raw mut whole as usize])?;
        }
        Ok(Self { count: 1, datatype: Datatype::from_raw(handle(&whole)), made: Some(whole) })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(place) = &mut self.made {
            // SAFETY: (MPI_Datatype *), one that `long` has made; messages that use it keep what they need of it.
            unsafe { call(&datatype::MPI_Type_free, [&raw mut *place as usize]) };
        }
    }
}

/// Memory that MPI may write to at any time.
pub(super) struct Memory {
    address: *mut u8,
    layout: Layout,
}

impl Memory {
    /// As much as any datatype wants an element aligned to.
    const ALIGNMENT: usize = 64;

    /// So many bytes.
    pub(super) fn new(len: u64) -> Self {
        let layout = usize::try_from(len).ok().and_then(|len| Layout::from_size_align(len, Self::ALIGNMENT).ok());
        // More than an address space holds fails as any other memory that is not there.
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

    pub(super) fn address(&self) -> usize {
        self.address.expose_provenance()
    }

    fn len(&self) -> u64 {
        self.layout.size() as u64
    }
}

// SAFETY: nobody else has the address but MPI, which does not ask what thread it is called from.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: `new` got it from the allocator with this layout.
            unsafe { dealloc(self.address, self.layout) };
        }
    }
}
