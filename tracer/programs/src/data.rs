//! Functions that carry data, by which the processes of titr's own programs exchange information. Preloaded tools do
//! not see them.

use std::cell::Cell;
use std::ffi::c_int;
use std::time::Duration;

use titr_wrappers::argument::HandleCell;
use titr_wrappers::pmpi::Memory;
use titr_wrappers::symbol::Word;

use crate::communicator::Comm;
use crate::function::{MpiError, call, int};
use crate::request::Request;

/// A member that rests looks again after this time at first, and after ever longer times later.
const FIRST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(2);

impl Comm<'_> {
    /// Waits until all members do (`MPI_Barrier`, which no tool sees). Collective.
    pub(crate) fn synchronise(&self) -> Result<(), MpiError> {
        // SAFETY: (MPI_Comm).
        unsafe { call!(unseen MPI_Barrier(self.handle)) }
    }

    /// Waits until all members do, asleep most of the time: where members share processors, one that waits leaves its
    /// processor to one that works. Collective.
    pub(crate) fn rest(&self) -> Result<(), MpiError> {
        let mut request = HandleCell::empty();
        // SAFETY: (MPI_Comm, MPI_Request *).
        unsafe { call!(unseen MPI_Ibarrier(self.handle, request.address())) }?;
        let request = Request::new(self.mpi, request);
        let mut nap = FIRST_NAP;
        while !request.poll()? {
            std::thread::sleep(nap);
            nap = (2 * nap).min(LONGEST_NAP);
        }
        request.wait().map(drop)
    }

    /// The largest of the values that the members give. Collective.
    pub fn max(&self, value: i64) -> Result<i64, MpiError> {
        let (abi, mut result) = (self.mpi.abi, value);
        // SAFETY: (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm), one MPI_INT64_T on either side.
        unsafe { call!(unseen MPI_Allreduce(&raw const value, &raw mut result, 1, abi.int64, abi.max, self.handle)) }?;
        Ok(result)
    }

    /// Puts the larger of each two elements into the second vector (`MPI_Reduce_local`). Both have as many.
    pub(crate) fn reduce_local(&self, from: &[i64], into: &mut [i64]) -> Result<(), MpiError> {
        let (abi, count) = (self.mpi.abi, int("MPI_Reduce_local", from.len().min(into.len()) as u64)?);
        // SAFETY: (const void *, void *, int, MPI_Datatype, MPI_Op), with `count` MPI_INT64_T in either vector.
        unsafe { call!(unseen MPI_Reduce_local(from.as_ptr(), into.as_mut_ptr(), count, abi.int64, abi.max)) }
    }

    /// Writes to the memory that messages of this many bytes are sent from. What was never written is one page of zeros, which
    /// is always in a cache.
    pub(crate) fn write_outgoing(&self, bytes: u64) {
        let address = self.mpi.outgoing.of(bytes) as *mut u8;
        // SAFETY: the room is as long, and nothing else uses it between two messages.
        unsafe { address.write_bytes(1, bytes as usize) };
    }

    /// The bytes that each member gives, by rank, at the root; nothing at the others. Collective.
    ///
    /// # Errors
    /// The library's, and where there are more bytes than an `int` can say.
    pub fn gather(&self, root: u32, bytes: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        let (abi, count) = (self.mpi.abi, int("MPI_Gather", bytes.len() as u64)?);
        let is_root = self.rank == root;
        let mut counts: Vec<c_int> = vec![0; if is_root { self.size as usize } else { 0 }];
        let length = size_of::<c_int>() as c_int;
        // SAFETY: (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm): the bytes of an `int` of
        // each, and at the root room for all.
        unsafe {
            let all = counts.as_mut_ptr();
            call!(unseen MPI_Gather(&raw const count, length, abi.byte, all, length, abi.byte, root as c_int, self.handle))
        }?;
        let total: usize = counts.iter().map(|count| *count as usize).sum();
        int("MPI_Gatherv", total as u64)?;
        let starts: Vec<c_int> =
            counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))).collect();
        let mut all = vec![0_u8; total];
        // SAFETY: (const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int, MPI_Comm):
        // each has `count` bytes, and the root has room for all of them.
        unsafe {
            let (room, counts, starts) = (address_mut(&mut all), counts.as_ptr(), starts.as_ptr());
            call!(unseen MPI_Gatherv(
                address(bytes),
                count,
                abi.byte,
                room,
                counts,
                starts,
                abi.byte,
                root as c_int,
                self.handle
            ))
        }?;
        let mut rest = all.as_slice();
        let parts = counts.iter().filter_map(|count| rest.split_off(..*count as usize));
        Ok(parts.map(<[u8]>::to_vec).collect())
    }

    /// The bytes that the root gives, at every member. Collective.
    pub fn broadcast(&self, root: u32, bytes: Vec<u8>) -> Result<Vec<u8>, MpiError> {
        let (abi, mut bytes) = (self.mpi.abi, bytes);
        let mut count = int("MPI_Bcast", bytes.len() as u64)?;
        // SAFETY: (void *, int, MPI_Datatype, int, MPI_Comm): the bytes of an `int`.
        unsafe {
            let int = size_of::<c_int>() as c_int;
            call!(unseen MPI_Bcast(&raw mut count, int, abi.byte, root as c_int, self.handle))
        }?;
        bytes.resize(count as usize, 0);
        let room = address_mut(&mut bytes);
        // SAFETY: as above, with room for `count` bytes.
        unsafe { call!(unseen MPI_Bcast(room, count, abi.byte, root as c_int, self.handle)) }?;
        Ok(bytes)
    }
}

/// The buffer's address; null for an empty slice, whose dangling address Open MPI reads as `MPI_IN_PLACE`.
fn address(bytes: &[u8]) -> usize {
    if bytes.is_empty() { 0 } else { bytes.as_ptr().word() }
}

/// The address of bytes that MPI writes, as [`address`] gives it.
fn address_mut(bytes: &mut [u8]) -> usize {
    if bytes.is_empty() { 0 } else { bytes.as_mut_ptr().word() }
}

/// Memory that grows to the longest message. It is never freed: MPI may use it as long as the process lives.
#[derive(Default)]
pub(crate) struct Room {
    address: Cell<usize>,
    bytes: Cell<u64>,
}

impl Room {
    /// The address of this many bytes. Messages share them.
    pub(crate) fn of(&self, bytes: u64) -> usize {
        if bytes > self.bytes.get() || self.address.get() == 0 {
            let memory = Memory::new(bytes.max(1).next_power_of_two());
            self.address.set(memory.address());
            self.bytes.set(memory.bytes());
            std::mem::forget(memory);
        }
        self.address.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_and_stays() {
        let room = Room::default();
        let small = room.of(0);
        assert_ne!(small, 0);
        let large = room.of(5000);
        assert_eq!(room.of(8192), large);
        assert_eq!(room.of(10), large);
        assert_ne!(room.of(8193), large);
    }
}
