//! Calls that read or write files: one description for all of MPI's functions for this.

use titr_common::event::{Direction, FilePointer};
use titr_wrappers::argument::{Count, Datatype, File, Offset, Place, Request, StatusArgument};
use titr_wrappers::functions::io::Io::{self, *};
use titr_wrappers::signature::{FileData, FileDataAt};

use crate::pmpi;

/// A call that reads or writes a file.
pub(super) struct AccessCall<'c> {
    pub(super) file: File,
    pub(super) direction: Direction,
    pub(super) reach: FilePointer,
    pub(super) phase: CallPhase<'c>,
    /// The data that is read or written; none at the end of a split call.
    pub(super) data: Option<(Count, Datatype)>,
    /// The status of a read that blocks, which says how much there was.
    pub(super) status: Option<StatusArgument<'c>>,
    /// The offset that the call names.
    offset: Option<Offset>,
}

/// The time of completion of an access.
#[derive(Clone, Copy)]
pub(super) enum CallPhase<'c> {
    Blocking,
    Nonblocking(Place<'c, Request>),
    Begin,
    End,
}

impl<'c> AccessCall<'c> {
    /// The access that a call is; `None` for a call that reads and writes nothing.
    pub(super) fn of(call: &Io<'c>) -> Option<Self> {
        use CallPhase::{Begin, Blocking, End, Nonblocking};
        use Direction::{Read, Write};
        use FilePointer::{All, At, AtAll, Ordered, Own, Shared};
        let pointer = |data: &FileData<'c>, direction, reach, phase| {
            let (file, moved) = (data.fh(), Some((data.count(), data.datatype())));
            Self { file, direction, reach, phase, data: moved, status: None, offset: None }
        };
        let explicit = |data: &FileDataAt<'c>, direction, reach, phase| {
            let (file, moved) = (data.fh(), Some((data.count(), data.datatype())));
            Self { file, direction, reach, phase, data: moved, status: None, offset: Some(data.offset()) }
        };
        let end = |file, direction, reach| Self {
            file,
            direction,
            reach,
            phase: End,
            data: None,
            status: None,
            offset: None,
        };
        let read = |access, status: &StatusArgument<'c>| Self { status: Some(*status), ..access };
        Some(match call {
            MPI_File_read(data, status) => read(pointer(data, Read, Own, Blocking), status),
            MPI_File_write(data, _) => pointer(data, Write, Own, Blocking),
            MPI_File_read_at(data, status) => read(explicit(data, Read, At, Blocking), status),
            MPI_File_write_at(data, _) => explicit(data, Write, At, Blocking),
            MPI_File_read_shared(data, status) => read(pointer(data, Read, Shared, Blocking), status),
            MPI_File_write_shared(data, _) => pointer(data, Write, Shared, Blocking),
            MPI_File_read_all(data, status) => read(pointer(data, Read, All, Blocking), status),
            MPI_File_write_all(data, _) => pointer(data, Write, All, Blocking),
            MPI_File_read_at_all(data, status) => read(explicit(data, Read, AtAll, Blocking), status),
            MPI_File_write_at_all(data, _) => explicit(data, Write, AtAll, Blocking),
            MPI_File_read_ordered(data, status) => read(pointer(data, Read, Ordered, Blocking), status),
            MPI_File_write_ordered(data, _) => pointer(data, Write, Ordered, Blocking),

            MPI_File_iread(data, request) => pointer(data, Read, Own, Nonblocking(*request)),
            MPI_File_iwrite(data, request) => pointer(data, Write, Own, Nonblocking(*request)),
            MPI_File_iread_at(data, request) => explicit(data, Read, At, Nonblocking(*request)),
            MPI_File_iwrite_at(data, request) => explicit(data, Write, At, Nonblocking(*request)),
            MPI_File_iread_shared(data, request) => pointer(data, Read, Shared, Nonblocking(*request)),
            MPI_File_iwrite_shared(data, request) => pointer(data, Write, Shared, Nonblocking(*request)),
            MPI_File_iread_all(data, request) => pointer(data, Read, All, Nonblocking(*request)),
            MPI_File_iwrite_all(data, request) => pointer(data, Write, All, Nonblocking(*request)),
            MPI_File_iread_at_all(data, request) => explicit(data, Read, AtAll, Nonblocking(*request)),
            MPI_File_iwrite_at_all(data, request) => explicit(data, Write, AtAll, Nonblocking(*request)),

            MPI_File_read_all_begin(data) => pointer(data, Read, All, Begin),
            MPI_File_write_all_begin(data) => pointer(data, Write, All, Begin),
            MPI_File_read_at_all_begin(data) => explicit(data, Read, AtAll, Begin),
            MPI_File_write_at_all_begin(data) => explicit(data, Write, AtAll, Begin),
            MPI_File_read_ordered_begin(data) => pointer(data, Read, Ordered, Begin),
            MPI_File_write_ordered_begin(data) => pointer(data, Write, Ordered, Begin),
            MPI_File_read_all_end(file, ..) => end(*file, Read, All),
            MPI_File_write_all_end(file, ..) => end(*file, Write, All),
            MPI_File_read_at_all_end(file, ..) => end(*file, Read, AtAll),
            MPI_File_write_at_all_end(file, ..) => end(*file, Write, AtAll),
            MPI_File_read_ordered_end(file, ..) => end(*file, Read, Ordered),
            MPI_File_write_ordered_end(file, ..) => end(*file, Write, Ordered),

            MPI_File_open(..)
            | MPI_File_close(_)
            | MPI_File_delete(..)
            | MPI_File_set_size(..)
            | MPI_File_get_size(..) => return None,
            MPI_File_preallocate(..) | MPI_File_set_view(..) | MPI_File_seek_shared(..) | MPI_File_sync(_) => {
                return None;
            }
        })
    }

    /// The byte of the file at which the access starts, before the call has moved a pointer. `None` if the position is
    /// not the rank's own, or if MPI does not reveal it.
    pub(super) fn start(&self) -> Option<u64> {
        if self.is_own_place() { pmpi::access_start(self.file, self.offset) } else { None }
    }

    /// Whether the call starts an access at this rank's own position.
    pub(super) fn is_own_place(&self) -> bool {
        match self.phase {
            CallPhase::Blocking | CallPhase::Nonblocking(_) | CallPhase::Begin => self.reach.is_own_place(),
            CallPhase::End => false,
        }
    }
}
