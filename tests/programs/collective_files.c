/* A file of blocks that the ranks have in turn, written and read by all of them together, with and without their waiting at
 * once. 4 ranks; the arguments are the file and the bytes of a rank. */
#include "check.h"

enum { BLOCK = 1024 };

int main(int argc, char **argv) {
    begin(&argc, &argv);
    char *name = argc > 1 ? argv[1] : "file";
    int bytes = argc > 2 ? atoi(argv[2]) : 64 * BLOCK;
    char *data = malloc(bytes), *back = malloc(bytes);
    memset(data, 'a' + rank, bytes);
    MPI_Datatype block, mine;
    MPI_Type_contiguous(BLOCK, MPI_CHAR, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)size * BLOCK, &mine);
    MPI_Type_commit(&mine);
    MPI_File file;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)rank * BLOCK, MPI_CHAR, mine, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, data, bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, 0, back, bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK(memcmp(data, back, bytes) == 0);
    MPI_File_iwrite_at_all(file, 0, data, bytes, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, 0, back, bytes, MPI_CHAR);
    MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE);
    CHECK(memcmp(data, back, bytes) == 0);
    MPI_File_close(&file);
    MPI_Type_free(&mine);
    MPI_Type_free(&block);
    free(data);
    free(back);
    return end();
}
