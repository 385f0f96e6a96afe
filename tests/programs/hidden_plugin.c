/* The plugin that hidden_host.c loads. 2 ranks. */
#include "check.h"

int work(void) {
    begin(NULL, NULL);
    int data = rank;
    MPI_Sendrecv_replace(&data, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(data == 1 - rank);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
