//! Input and output (chapter 14).

use crate::argument::{Comm, File, Opaque, Place, Request, StatusArgument};
use crate::signature::{FileData, FileDataAt};

super::chapter! {
    /// Files, reading and writing.
    pub enum Io<'c> {
        MPI_File_open (5): Comm, Opaque, i32, Opaque, Place<'c, File>;
        MPI_File_close (1): Place<'c, File>;
        MPI_File_delete (2): Opaque, Opaque;
        MPI_File_set_size (2): File, Opaque;
        MPI_File_get_size (2): File, Opaque;
        MPI_File_preallocate (2): File, Opaque;
        MPI_File_set_view (6): File, Opaque, Opaque, Opaque, Opaque, Opaque;
        MPI_File_seek_shared (3): File, Opaque, Opaque;
        MPI_File_sync (1): File;
        MPI_File_read, MPI_File_read_c (5): FileData<'c>, StatusArgument<'c>;
        MPI_File_iread, MPI_File_iread_c (5): FileData<'c>, Place<'c, Request>;
        MPI_File_read_at, MPI_File_read_at_c (6): FileDataAt<'c>, StatusArgument<'c>;
        MPI_File_iread_at, MPI_File_iread_at_c (6): FileDataAt<'c>, Place<'c, Request>;
        MPI_File_read_shared, MPI_File_read_shared_c (5): FileData<'c>, StatusArgument<'c>;
        MPI_File_iread_shared, MPI_File_iread_shared_c (5): FileData<'c>, Place<'c, Request>;
        MPI_File_read_all, MPI_File_read_all_c (5): FileData<'c>, StatusArgument<'c>;
        MPI_File_iread_all, MPI_File_iread_all_c (5): FileData<'c>, Place<'c, Request>;
        MPI_File_read_all_begin, MPI_File_read_all_begin_c (4): FileData<'c>;
        MPI_File_read_all_end (3): File, Opaque, Opaque;
        MPI_File_read_at_all, MPI_File_read_at_all_c (6): FileDataAt<'c>, StatusArgument<'c>;
        MPI_File_iread_at_all, MPI_File_iread_at_all_c (6): FileDataAt<'c>, Place<'c, Request>;
        MPI_File_read_at_all_begin, MPI_File_read_at_all_begin_c (5): FileDataAt<'c>;
        MPI_File_read_at_all_end (3): File, Opaque, Opaque;
        MPI_File_read_ordered, MPI_File_read_ordered_c (5): FileData<'c>, StatusArgument<'c>;
        MPI_File_read_ordered_begin, MPI_File_read_ordered_begin_c (4): FileData<'c>;
        MPI_File_read_ordered_end (3): File, Opaque, Opaque;
        MPI_File_write, MPI_File_write_c (5): FileData<'c>, Opaque;
        MPI_File_iwrite, MPI_File_iwrite_c (5): FileData<'c>, Place<'c, Request>;
        MPI_File_write_at, MPI_File_write_at_c (6): FileDataAt<'c>, Opaque;
        MPI_File_iwrite_at, MPI_File_iwrite_at_c (6): FileDataAt<'c>, Place<'c, Request>;
        MPI_File_write_shared, MPI_File_write_shared_c (5): FileData<'c>, Opaque;
        MPI_File_iwrite_shared, MPI_File_iwrite_shared_c (5): FileData<'c>, Place<'c, Request>;
        MPI_File_write_all, MPI_File_write_all_c (5): FileData<'c>, Opaque;
        MPI_File_iwrite_all, MPI_File_iwrite_all_c (5): FileData<'c>, Place<'c, Request>;
        MPI_File_write_all_begin, MPI_File_write_all_begin_c (4): FileData<'c>;
        MPI_File_write_all_end (3): File, Opaque, Opaque;
        MPI_File_write_at_all, MPI_File_write_at_all_c (6): FileDataAt<'c>, Opaque;
        MPI_File_iwrite_at_all, MPI_File_iwrite_at_all_c (6): FileDataAt<'c>, Place<'c, Request>;
        MPI_File_write_at_all_begin, MPI_File_write_at_all_begin_c (5): FileDataAt<'c>;
        MPI_File_write_at_all_end (3): File, Opaque, Opaque;
        MPI_File_write_ordered, MPI_File_write_ordered_c (5): FileData<'c>, Opaque;
        MPI_File_write_ordered_begin, MPI_File_write_ordered_begin_c (4): FileData<'c>;
        MPI_File_write_ordered_end (3): File, Opaque, Opaque;
    }
    local:
        MPI_File_call_errhandler(2), MPI_File_create_errhandler(2), MPI_File_get_amode(2),
        MPI_File_get_atomicity(2), MPI_File_get_byte_offset(3), MPI_File_get_errhandler(2),
        MPI_File_get_group(2), MPI_File_get_info(2), MPI_File_get_position(2), MPI_File_get_position_shared(2),
        MPI_File_get_type_extent(3), MPI_File_get_type_extent_c(3), MPI_File_get_view(5), MPI_File_seek(3),
        MPI_File_set_errhandler(2), MPI_Register_datarep(5),
        MPI_Register_datarep_c(5);
    communicates:
        MPI_File_set_atomicity(2), MPI_File_set_info(2);
}
