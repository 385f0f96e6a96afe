/* Every non-blocking collective. 4 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    double from[64] = {0}, to[64];
    int counts[4] = {1, 2, 3, 4}, displacements[4] = {0, 1, 3, 6}, mine[4], places[4];
    int out[4] = {0, 16, 32, 48}, in[4] = {0, 64, 128, 192};
    MPI_Datatype types[4] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE};
    for (int i = 0; i < 4; i++) mine[i] = rank + 1, places[i] = i * (rank + 1);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request requests[17], *next = requests;
    MPI_Ibarrier(world, next++);
    MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    next = requests;
    MPI_Ibcast(to, 1, MPI_DOUBLE, 1, world, next++);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#define ALONE(call)                                \
    do {                                           \
        call;                                      \
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE); \
    } while (0)
    ALONE(MPI_Ireduce(from, to, 2, MPI_DOUBLE, MPI_SUM, 2, world, requests));
    ALONE(MPI_Iallreduce(from, to, 3, MPI_DOUBLE, MPI_SUM, world, requests));
    ALONE(MPI_Iscan(from, to, 4, MPI_DOUBLE, MPI_SUM, world, requests));
    ALONE(MPI_Iexscan(from, to, 5, MPI_DOUBLE, MPI_SUM, world, requests));
    ALONE(MPI_Ireduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, world, requests));
    ALONE(MPI_Ireduce_scatter_block(from, to, 6, MPI_DOUBLE, MPI_SUM, world, requests));
    ALONE(MPI_Igather(from, 7, MPI_DOUBLE, to, 7, MPI_DOUBLE, 0, world, requests));
    ALONE(MPI_Iscatter(from, 8, MPI_DOUBLE, to, 8, MPI_DOUBLE, 0, world, requests));
    ALONE(MPI_Iallgather(from, 9, MPI_DOUBLE, to, 9, MPI_DOUBLE, world, requests));
    ALONE(MPI_Ialltoall(from, 10, MPI_DOUBLE, to, 10, MPI_DOUBLE, world, requests));
    ALONE(MPI_Igatherv(from, rank + 1, MPI_DOUBLE, to, counts, displacements, MPI_DOUBLE, 1, world, requests));
    ALONE(MPI_Iscatterv(from, counts, displacements, MPI_DOUBLE, to, rank + 1, MPI_DOUBLE, 2, world, requests));
    ALONE(MPI_Iallgatherv(from, rank + 1, MPI_DOUBLE, to, counts, displacements, MPI_DOUBLE, world, requests));
    ALONE(MPI_Ialltoallv(from, counts, displacements, MPI_DOUBLE, to, mine, places, MPI_DOUBLE, world, requests));
    ALONE(MPI_Ialltoallw(from, counts, out, types, to, mine, in, types, world, requests));
    /* Two at once, and a message between. */
    MPI_Iallreduce(from, to, 1, MPI_DOUBLE, MPI_MAX, world, &requests[0]);
    MPI_Ibarrier(world, &requests[1]);
    if (rank == 0) MPI_Send(from, 1, MPI_DOUBLE, 1, 3, world);
    if (rank == 1) MPI_Recv(to + 1, 1, MPI_DOUBLE, 0, 3, world, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return end();
}
