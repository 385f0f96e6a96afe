/* Persistent collectives that the ranks set up in one order and start in different ones, as MPI 4.0 §6.13 allows. 4 ranks. */
#include "check.h"
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

enum { OPERATIONS = 3, ROUNDS = 2 };

int main(int argc, char **argv) {
    int data = 0, one = 1, sum = 0;
    MPI_Request requests[OPERATIONS];
    begin(&argc, &argv);
    MPI_Bcast_init(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    for (int round = 1; round <= ROUNDS; round++) {
        if (rank == 0) data = round;
        for (int i = 0; i < OPERATIONS; i++) MPI_Start(&requests[(i + rank) % OPERATIONS]);
        MPI_Waitall(OPERATIONS, requests, MPI_STATUSES_IGNORE);
        CHECK(data == round && sum == size);
    }
    for (int i = 0; i < OPERATIONS; i++) MPI_Request_free(&requests[i]);
    return end();
}
