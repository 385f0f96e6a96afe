/* Neighbourhood collectives on a grid with edges, on a graph and on a distributed one. 4 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int data[4] = {rank, rank, rank, rank}, from[4];
    int ones[4] = {1, 1, 1, 1}, where[4] = {0, 1, 2, 3};
    MPI_Aint bytes[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Comm grid, graph, ring;
    MPI_Request request;

    /* A line: the ends have one neighbour, and MPI_PROC_NULL for the other. */
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){4}, (int[]){0}, 0, &grid);
    memset(from, -1, sizeof from);
    MPI_Neighbor_allgather(data, 1, MPI_INT, from, 1, MPI_INT, grid);
    CHECK(from[0] == (rank > 0 ? rank - 1 : -1) && from[1] == (rank < 3 ? rank + 1 : -1));
    MPI_Neighbor_alltoall(data, 2, MPI_INT, from, 2, MPI_INT, grid);
    MPI_Neighbor_alltoallv(data, ones, where, MPI_INT, from, ones, where, MPI_INT, grid);
    MPI_Ineighbor_alltoall(data, 1, MPI_INT, from, 1, MPI_INT, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&grid);

    /* A star around rank 0. */
    MPI_Graph_create(MPI_COMM_WORLD, 4, (int[]){3, 4, 5, 6}, (int[]){1, 2, 3, 0, 0, 0}, 0, &graph);
    MPI_Neighbor_allgatherv(data, 1, MPI_INT, from, ones, where, MPI_INT, graph);
    CHECK(from[0] == (rank == 0 ? 1 : 0));
    MPI_Comm_free(&graph);

    /* A ring of one direction, with a second message to itself. */
    int sources[2] = {(rank + 3) % 4, rank}, destinations[2] = {(rank + 1) % 4, rank};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_alltoallw(data, ones, bytes, types, from, ones, bytes, types, ring);
    CHECK(from[0] == (rank + 3) % 4 && from[1] == rank);
    MPI_Ineighbor_allgatherv(data, 1, MPI_INT, from, ones, where, MPI_INT, ring, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&ring);
    return end();
}
