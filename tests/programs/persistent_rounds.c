/* Persistent collectives of all kinds of communicators, completed in every way, with handles that are copied and objects
 * that are freed before the collective is started. MPICH 4.0 itself does not carry this out: its MPI_Waitany names collectives
 * that are not complete, and its MPI_Testall fails. 4 ranks. */
#include "check.h"
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#endif

enum { KINDS = 5, ROUNDS = 5 };

/* Waits in a way of each round's own. */
static void complete(MPI_Request *requests, int round) {
    int flag = 0, index, count, indices[KINDS], left = KINDS;
    MPI_Request pending[KINDS];
    MPI_Status statuses[KINDS];
    memcpy(pending, requests, sizeof pending);
    switch (round) {
    case 0:
        MPI_Waitall(KINDS, requests, statuses);
        break;
    case 1:
        while (left > 0) {
            MPI_Waitany(left, pending, &index, MPI_STATUS_IGNORE);
            CHECK(index >= 0 && index < left);
            pending[index] = pending[--left];
        }
        break;
    case 2:
        while (left > 0) {
            MPI_Testsome(left, pending, &count, indices, MPI_STATUSES_IGNORE);
            CHECK(count >= 0 && count <= left);
            for (int i = 0; i < count; i++) pending[indices[i]] = MPI_REQUEST_NULL;
            for (int i = left; i-- > 0;)
                if (pending[i] == MPI_REQUEST_NULL) pending[i] = pending[--left];
        }
        break;
    case 3:
        while (!flag) MPI_Testall(KINDS, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    default:
        while (!flag) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
        for (int i = 0; i < KINDS; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv) {
    MPI_Comm half, between, grid;
    MPI_Datatype pair;
    MPI_Request requests[KINDS], copies[KINDS], one, both[2];
    int data[2] = {-1, -1}, sum, mine, own[4] = {0}, all[4], theirs, to[2], from[2], got = -1, value;
    begin(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){4}, (int[]){1}, 0, &grid);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast_init(data, 1, pair, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, half, MPI_INFO_NULL, &requests[1]);
    MPI_Allreduce_init(own, all, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Allreduce_init(&mine, &theirs, 1, MPI_INT, MPI_SUM, between, MPI_INFO_NULL, &requests[3]);
    MPI_Neighbor_alltoall_init(to, 1, MPI_INT, from, 1, MPI_INT, grid, MPI_INFO_NULL, &requests[4]);
    MPI_Type_free(&pair);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 1) data[0] = round, data[1] = -round;
        mine = own[rank] = 10 * round + rank, to[0] = 100 * rank + round, to[1] = to[0] + 50;
        memcpy(copies, requests, sizeof requests);
        if (rank % 2) {
            MPI_Startall(KINDS, copies);
        } else {
            for (int i = KINDS; i-- > 0;) MPI_Start(&copies[i]);
        }
        complete(requests, round);
        CHECK(data[0] == round && data[1] == -round);
        CHECK(sum == 20 * round + (rank % 2 ? 4 : 2) && theirs == 20 * round + (rank % 2 ? 2 : 4));
        for (int i = 0; i < 4; i++) CHECK(all[i] == 10 * round + i);
        CHECK(from[0] == 100 * ((rank + 3) % 4) + round + 50 && from[1] == 100 * ((rank + 1) % 4) + round);
        for (int i = 0; i < KINDS; i++) CHECK(requests[i] == copies[i] && requests[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < KINDS; i++) MPI_Request_free(&requests[i]);

    /* Beside a message. */
    value = rank;
    MPI_Bcast_init(&value, 1, MPI_INT, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Recv_init(&got, 1, MPI_INT, (rank + 1) % 4, 7, MPI_COMM_WORLD, &both[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, both);
        MPI_Send(&rank, 1, MPI_INT, (rank + 3) % 4, 7, MPI_COMM_WORLD);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        CHECK(value == 2 && got == (rank + 1) % 4);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &one);
    MPI_Start(&one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    MPI_Request_free(&one);
    CHECK(one == MPI_REQUEST_NULL);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    return end();
}
