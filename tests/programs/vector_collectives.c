/* Collectives with a count for each member, and for each a datatype. 4 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int from[64], to[64];
    MPI_Comm world = MPI_COMM_WORLD;
    /* Rank r has r+1 elements. */
    int counts[4] = {1, 2, 3, 4}, displacements[4] = {0, 1, 3, 6};
    MPI_Gatherv(from, rank + 1, MPI_INT, to, counts, displacements, MPI_INT, 1, world);
    MPI_Scatterv(from, counts, displacements, MPI_INT, to, rank + 1, MPI_INT, 2, world);
    MPI_Allgatherv(from, rank + 1, MPI_INT, to, counts, displacements, MPI_INT, world);
    /* Rank r sends s+1 elements to s, and receives r+1 from each. */
    int mine[4], places[4];
    for (int i = 0; i < 4; i++) mine[i] = rank + 1, places[i] = i * (rank + 1);
    MPI_Alltoallv(from, counts, displacements, MPI_INT, to, mine, places, MPI_INT, world);
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_SHORT, MPI_CHAR};
    MPI_Datatype own[4] = {types[rank], types[rank], types[rank], types[rank]};
    int out[4] = {0, 16, 32, 48}, in[4] = {0, 32, 64, 96};
    MPI_Alltoallw(from, counts, out, types, to, mine, in, own, world);
    return end();
}
