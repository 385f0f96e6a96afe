//! Positions in files, in MPI's units.

use crate::argument::{File, Offset};

/// The byte of a file at which an access of this rank starts: at `offset` of its view (`MPI_File_get_byte_offset`), or
/// where its own file pointer is (`MPI_File_get_position`). `None` if MPI does not say.
#[must_use]
pub fn access_start(file: File, offset: Option<Offset>) -> Option<u64> {
    let offset = match offset {
        Some(Offset(offset)) => offset,
        None => position(file)?,
    };
    // A negative one MPI refuses, as it will refuse the access.
    let offset = usize::try_from(offset).ok()?;
    let mut byte: i64 = 0;
    // SAFETY: (MPI_File, MPI_Offset, MPI_Offset *); MPI_Offset is as wide as a word.
    unsafe { call!(MPI_File_get_byte_offset(file, offset, &raw mut byte)) }.ok()?;
    u64::try_from(byte).ok()
}

fn position(file: File) -> Option<i64> {
    let mut position: i64 = 0;
    // SAFETY: (MPI_File, MPI_Offset *).
    unsafe { call!(MPI_File_get_position(file, &raw mut position)) }.ok().map(|()| position)
}
