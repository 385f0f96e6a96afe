/* Every blocking collective with one count for all. 4 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    double from[64] = {0}, to[64];
    int counts[4] = {1, 2, 3, 4};
    MPI_Comm world = MPI_COMM_WORLD;
    from[0] = rank;
    MPI_Barrier(world);
    MPI_Bcast(to, 10, MPI_DOUBLE, 1, world);
    MPI_Reduce(from, to, 11, MPI_DOUBLE, MPI_SUM, 2, world);
    MPI_Allreduce(from, to, 12, MPI_DOUBLE, MPI_SUM, world);
    CHECK(to[0] == 6);
    MPI_Scan(from, to, 3, MPI_DOUBLE, MPI_SUM, world);
    MPI_Exscan(from, to, 4, MPI_DOUBLE, MPI_SUM, world);
    MPI_Reduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, world);
    MPI_Reduce_scatter_block(from, to, 2, MPI_DOUBLE, MPI_SUM, world);
    MPI_Gather(from, 5, MPI_DOUBLE, to, 5, MPI_DOUBLE, 3, world);
    MPI_Scatter(from, 6, MPI_DOUBLE, to, 6, MPI_DOUBLE, 0, world);
    MPI_Allgather(from, 7, MPI_DOUBLE, to, 7, MPI_DOUBLE, world);
    MPI_Alltoall(from, 8, MPI_DOUBLE, to, 8, MPI_DOUBLE, world);
    return end();
}
