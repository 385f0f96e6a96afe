/* Persistent collectives, which Open MPI has as an extension up to 4.1. 4 ranks. */
#include "check.h"
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Gather_init MPIX_Gather_init
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#endif

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int data[4] = {0}, sum[4], all[16], ones[4] = {1, 1, 1, 1}, where[4] = {0, 1, 2, 3};
    MPI_Comm ring;
    MPI_Request requests[6];
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){4}, (int[]){1}, 0, &ring);
    MPI_Bcast_init(data, 4, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(data, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Gather_init(data, 4, MPI_INT, all, 4, MPI_INT, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    MPI_Alltoallv_init(data, ones, where, MPI_INT, all, ones, where, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[4]);
    MPI_Neighbor_alltoall_init(data, 2, MPI_INT, all, 2, MPI_INT, ring, MPI_INFO_NULL, &requests[5]);
    for (int round = 0; round < 2; round++) {
        data[3] = round + rank;
        for (int i = 0; i < 4; i++) {
            MPI_Start(&requests[i]);
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        CHECK(data[3] == round + 1 && sum[3] == 4 * (round + 1));
        MPI_Startall(2, requests + 4);
        MPI_Waitall(2, requests + 4, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 6; i++) MPI_Request_free(&requests[i]);
    MPI_Comm_free(&ring);
    return end();
}
