/* A tour through the chapters of MPI, as in tour.F90 and tour.py: the same calls in each binding. 4 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const MPI_Comm world = MPI_COMM_WORLD;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int out[16], in[16], window[4] = {0}, counts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6};
    MPI_Request requests[2], request;
    MPI_Comm half, ring;
    MPI_Datatype pair;
    MPI_Win win;
    MPI_File file;
    for (int i = 0; i < 16; i++) out[i] = in[i] = rank;

    MPI_Sendrecv(out, 5, MPI_INT, next, 1, in, 8, MPI_INT, previous, 1, world, MPI_STATUS_IGNORE);
    CHECK(in[4] == previous);
    if (rank == 0) MPI_Ssend(out, 3, MPI_INT, 1, 2, world);
    if (rank == 1) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
        MPI_Recv(in, 6, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);

    MPI_Send_init(out, 7, MPI_INT, next, 3, world, &requests[0]);
    MPI_Recv_init(in, 7, MPI_INT, previous, 3, world, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    MPI_Comm_split(world, rank % 2, -rank, &half);
    MPI_Reduce(out, in, 2, MPI_INT, MPI_MAX, 0, half);
    MPI_Comm_free(&half);
    MPI_Gatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, 2, world);
    MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, 1, world);
    CHECK(in[1] == 1);
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, world);
    MPI_Iallreduce(out, in, 4, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[3] == 6);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, world);

    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(in, 1, pair, 3, world);
    MPI_Type_free(&pair);

    MPI_Cart_create(world, 1, (int[]){4}, (int[]){1}, 0, &ring);
    MPI_Neighbor_allgather(out, 3, MPI_INT, in, 3, MPI_INT, ring);
    CHECK(in[0] == previous && in[3] == next);
    MPI_Comm_free(&ring);

    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, 2, MPI_INT, next, 1, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(window[2] == previous);
    MPI_Win_free(&win);

    MPI_File_open(world, "tour.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 16 * rank, out, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return end();
}
