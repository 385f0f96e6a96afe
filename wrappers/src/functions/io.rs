//! Input and output (chapter 14).

super::chapter! {
    local:
        MPI_File_call_errhandler(2), MPI_File_create_errhandler(2), MPI_File_get_amode(2),
        MPI_File_get_atomicity(2), MPI_File_get_byte_offset(3), MPI_File_get_errhandler(2),
        MPI_File_get_group(2), MPI_File_get_info(2), MPI_File_get_position(2), MPI_File_get_position_shared(2),
        MPI_File_get_type_extent(3), MPI_File_get_type_extent_c(3), MPI_File_get_view(5), MPI_File_seek(3),
        MPI_File_set_atomicity(2), MPI_File_set_errhandler(2), MPI_File_set_info(2), MPI_Register_datarep(5),
        MPI_Register_datarep_c(5);
    communicates:
        MPI_File_close(1), MPI_File_delete(2), MPI_File_get_size(2), MPI_File_iread(5), MPI_File_iread_all(5),
        MPI_File_iread_all_c(5), MPI_File_iread_at(6), MPI_File_iread_at_all(6), MPI_File_iread_at_all_c(6),
        MPI_File_iread_at_c(6), MPI_File_iread_c(5), MPI_File_iread_shared(5), MPI_File_iread_shared_c(5),
        MPI_File_iwrite(5), MPI_File_iwrite_all(5), MPI_File_iwrite_all_c(5), MPI_File_iwrite_at(6),
        MPI_File_iwrite_at_all(6), MPI_File_iwrite_at_all_c(6), MPI_File_iwrite_at_c(6), MPI_File_iwrite_c(5),
        MPI_File_iwrite_shared(5), MPI_File_iwrite_shared_c(5), MPI_File_open(5), MPI_File_preallocate(2),
        MPI_File_read(5), MPI_File_read_all(5), MPI_File_read_all_begin(4), MPI_File_read_all_begin_c(4),
        MPI_File_read_all_c(5), MPI_File_read_all_end(3), MPI_File_read_at(6), MPI_File_read_at_all(6),
        MPI_File_read_at_all_begin(5), MPI_File_read_at_all_begin_c(5), MPI_File_read_at_all_c(6),
        MPI_File_read_at_all_end(3), MPI_File_read_at_c(6), MPI_File_read_c(5), MPI_File_read_ordered(5),
        MPI_File_read_ordered_begin(4), MPI_File_read_ordered_begin_c(4), MPI_File_read_ordered_c(5),
        MPI_File_read_ordered_end(3), MPI_File_read_shared(5), MPI_File_read_shared_c(5),
        MPI_File_seek_shared(3), MPI_File_set_size(2), MPI_File_set_view(6), MPI_File_sync(1),
        MPI_File_write(5), MPI_File_write_all(5), MPI_File_write_all_begin(4), MPI_File_write_all_begin_c(4),
        MPI_File_write_all_c(5), MPI_File_write_all_end(3), MPI_File_write_at(6), MPI_File_write_at_all(6),
        MPI_File_write_at_all_begin(5), MPI_File_write_at_all_begin_c(5), MPI_File_write_at_all_c(6),
        MPI_File_write_at_all_end(3), MPI_File_write_at_c(6), MPI_File_write_c(5), MPI_File_write_ordered(5),
        MPI_File_write_ordered_begin(4), MPI_File_write_ordered_begin_c(4), MPI_File_write_ordered_c(5),
        MPI_File_write_ordered_end(3), MPI_File_write_shared(5), MPI_File_write_shared_c(5);
}
