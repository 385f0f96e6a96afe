//! Properties of datatypes, queried from MPI, and datatypes that a tool creates.

use std::ffi::c_int;

use super::ErrorCode;
use crate::abi::Abi;
use crate::argument::{Datatype, HandleCell};
use crate::handle::DatatypeKind;

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

/// A datatype of several elements of another one, some bytes from its address (`MPI_Type_create_hindexed`).
pub(super) struct Displaced(HandleCell<DatatypeKind>);

impl Displaced {
    pub(super) fn new(count: c_int, datatype: Datatype, displacement: i64) -> Result<Self, ErrorCode> {
        let mut cell = HandleCell::empty();
        let (counts, displacements) = (&raw const count, &raw const displacement);
        // SAFETY: (int, const int *, const MPI_Aint *, MPI_Datatype, MPI_Datatype *), then (MPI_Datatype *).
        unsafe {
            call!(MPI_Type_create_hindexed(1, counts, displacements, datatype, cell.address()))?;
            let mut made = Self(cell);
            call!(MPI_Type_commit(made.0.address()))?;
            Ok(made)
        }
    }

    pub(super) fn datatype(&self, abi: &Abi) -> Datatype {
        self.0.get(abi)
    }
}

impl Drop for Displaced {
    fn drop(&mut self) {
        // SAFETY: (MPI_Datatype *), a datatype of `new`.
        let _ = unsafe { call!(MPI_Type_free(self.0.address())) };
    }
}
