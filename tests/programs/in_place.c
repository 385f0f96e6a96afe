/* MPI_IN_PLACE wherever it may stand. 4 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    double data[64] = {0};
    int counts[4] = {1, 2, 3, 4}, displacements[4] = {0, 1, 3, 6};
    int root = rank == 1;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Reduce(root ? MPI_IN_PLACE : data, data, 2, MPI_DOUBLE, MPI_SUM, 1, world);
    MPI_Allreduce(MPI_IN_PLACE, data, 3, MPI_DOUBLE, MPI_SUM, world);
    MPI_Scan(MPI_IN_PLACE, data, 4, MPI_DOUBLE, MPI_SUM, world);
    MPI_Exscan(MPI_IN_PLACE, data, 5, MPI_DOUBLE, MPI_SUM, world);
    MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, MPI_DOUBLE, MPI_SUM, world);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, data, 2, MPI_DOUBLE, MPI_SUM, world);
    MPI_Gather(root ? MPI_IN_PLACE : data, 6, MPI_DOUBLE, data, 6, MPI_DOUBLE, 1, world);
    if (root)
        MPI_Scatter(data, 7, MPI_DOUBLE, MPI_IN_PLACE, 7, MPI_DOUBLE, 1, world);
    else
        MPI_Scatter(data, 7, MPI_DOUBLE, data, 7, MPI_DOUBLE, 1, world);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 8, MPI_DOUBLE, world);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 9, MPI_DOUBLE, world);
    MPI_Gatherv(root ? MPI_IN_PLACE : data, rank + 1, MPI_DOUBLE, data, counts, displacements, MPI_DOUBLE, 1, world);
    if (root)
        MPI_Scatterv(data, counts, displacements, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, world);
    else
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, data, rank + 1, MPI_DOUBLE, 1, world);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, displacements, MPI_DOUBLE, world);
    /* Between any two as much in one direction as in the other. */
    int both[4], bytes[4];
    MPI_Datatype types[4];
    for (int i = 0; i < 4; i++) both[i] = rank + i, types[i] = MPI_DOUBLE, bytes[i] = 64 * i, displacements[i] = 8 * i;
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, both, displacements, MPI_DOUBLE, world);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, both, bytes, types, world);
    return end();
}
