/* What a trace of volumes does not hold: one-sided communication, files, neighbourhood collectives,
   collectives between groups. 2 ranks. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int window[4] = {0}, data = rank, gathered[2] = {-1, -1};
    MPI_Win win;
    MPI_File file;
    MPI_Comm ring;
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&data, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(window[0] == 1 - rank);
    MPI_Win_free(&win);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * sizeof data, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){2}, (int[]){1}, 0, &ring);
    MPI_Neighbor_allgather(&data, 1, MPI_INT, gathered, 1, MPI_INT, ring);
    CHECK(gathered[0] == 1 - rank);
    MPI_Comm_free(&ring);
    MPI_Comm other;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 8, &other);
    MPI_Bcast(&data, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, other);
    CHECK(data == 0);
    MPI_Comm_free(&other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(&data, 1, MPI_INT, size, 9, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Wtime();
    return end();
}
