/* The plugin that hidden_host.c loads. Like mpi4py it does without what the MPI library lacks. 2 ranks. */
#include "check.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* Not in Open MPI 4.1. */
#pragma weak MPI_Bcast_c
int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);

int work(void) {
    begin(NULL, NULL);
    int data = rank;
    MPI_Sendrecv_replace(&data, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(data == 1 - rank);
    if (MPI_Bcast_c) MPI_Bcast_c(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(data == 1);
#ifdef OPEN_MPI
    /* There is no PMPIX_Query_cuda_support. */
    CHECK(MPIX_Query_cuda_support() >= 0);
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
