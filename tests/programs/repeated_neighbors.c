/* Neighbourhood collectives with neighbours that are there twice, of blocks with gaps, before a collective that does not
 * block. Prints what rank 0 gets, which libraries do not agree about. 2 ranks. */
#include "check.h"

static int data[8], from[8];

static void got(const char *what) {
    if (rank == 0) printf("%s: %d %d %d %d\n", what, from[0], from[1], from[2], from[3]);
    memset(from, -1, sizeof from);
}

static void all(MPI_Comm comm, const char *what) {
    int ones[4] = {1, 1, 1, 1}, where[4] = {3, 2, 1, 0}, sum;
    MPI_Aint bytes[4] = {0, 8, 4, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Request requests[2];
    if (rank == 0) puts(what);
    MPI_Neighbor_allgather(data, 1, MPI_INT, from, 1, MPI_INT, comm), got("allgather");
    MPI_Neighbor_allgatherv(data, 1, MPI_INT, from, ones, where, MPI_INT, comm), got("allgatherv");
    MPI_Neighbor_alltoall(data, 1, MPI_INT, from, 1, MPI_INT, comm), got("alltoall");
    MPI_Neighbor_alltoallv(data, ones, where, MPI_INT, from, ones, where, MPI_INT, comm), got("alltoallv");
    MPI_Neighbor_alltoallw(data, ones, bytes, types, from, ones, bytes, types, comm), got("alltoallw");
    MPI_Ineighbor_alltoall(data, 1, MPI_INT, from, 1, MPI_INT, comm, &requests[0]);
    MPI_Iallreduce(data, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == 100);
    got("ialltoall");
    MPI_Ineighbor_alltoallv(data, ones, where, MPI_INT, from, ones, where, MPI_INT, comm, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE), got("ialltoallv");
    MPI_Ineighbor_alltoallw(data, ones, bytes, types, from, ones, bytes, types, comm, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE), got("ialltoallw");
}

int main(int argc, char **argv) {
    MPI_Comm grid, graph;
    begin(&argc, &argv);
    for (int i = 0; i < 8; i++) data[i] = 100 * rank + i;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 1}, (int[]){1, 1}, 0, &grid);
    all(grid, "grid");
    int other = 1 - rank, neighbors[4] = {other, rank, other, other};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, neighbors, MPI_UNWEIGHTED, 4, neighbors, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &graph);
    all(graph, "graph");
    MPI_Comm_free(&grid);
    MPI_Comm_free(&graph);
    return end();
}
