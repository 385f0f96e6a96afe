/* Files: every way to read and to write. 2 ranks; the argument is the file. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int data[4] = {rank, 1, 2, 3}, back[4];
    char *name = argc > 1 ? argv[1] : "file";
    MPI_Offset mine = rank * sizeof data, length;
    MPI_File file;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 0);
    MPI_File_preallocate(file, 1024);
    MPI_File_get_size(file, &length);
    CHECK(length == 1024);

    MPI_File_write_at(file, mine, data, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, mine, back, 3, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(back[0] == rank && back[2] == 2);
    MPI_File_write_at_all(file, mine, data, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, mine, back, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, mine, MPI_SEEK_SET);
    MPI_File_write(file, data, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, mine, MPI_SEEK_SET);
    MPI_File_read(file, back, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all(file, data, rank, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_all(file, back, 1, MPI_INT, MPI_STATUS_IGNORE);

    MPI_File_iwrite_at(file, mine, data, 4, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, mine, back, 4, MPI_INT, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    CHECK(back[0] == rank);
    MPI_File_iwrite(file, data, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iread(file, back, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_File_write_at_all_begin(file, mine, data, 4, MPI_INT);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_read_all_begin(file, back, 2, MPI_INT);
    MPI_File_read_all_end(file, back, MPI_STATUS_IGNORE);

    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_sync(file);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(file, data, rank + 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_shared(file, data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
    return end();
}
