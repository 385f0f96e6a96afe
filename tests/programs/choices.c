/* Which of several live requests a call completes: `index` and `indices` say it, and with it whom a receive from any
   source has matched. What has not arrived cannot complete, so the peers decide. 3 ranks; as choices.F90. */
#include "check.h"

static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request requests[4];
static int data[4], note;

/* Rank 1 has a receive for tag 10+i at place i: even ones are sent by rank 0, odd ones by rank 2. */
static void post(void) {
    if (rank == 1)
        for (int i = 0; i < 4; i++) MPI_Irecv(&data[i], 1, MPI_INT, MPI_ANY_SOURCE, 10 + i, world, &requests[i]);
}

/* Rank 1 lets the message at place i go. */
static void release(int i) {
    int sender = i % 2 ? 2 : 0;
    if (rank == 1) MPI_Send(&note, 1, MPI_INT, sender, 1, world);
    if (rank == sender) {
        MPI_Recv(&note, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
        MPI_Send(&note, i + 1, MPI_BYTE, 1, 10 + i, world);
    }
}

/* Both senders send at once what is at places i and j; a note behind each says that it is there. */
static void deliver(int i, int j) {
    release(i);
    release(j);
    for (int sender = 0; sender <= 2; sender += 2) {
        if (rank == sender) MPI_Send(&note, 1, MPI_INT, 1, 2, world);
        if (rank == 1) MPI_Recv(&note, 1, MPI_INT, sender, 2, world, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Status status, statuses[4];
    int flag, index, count, indices[4];

    post();
    release(2);
    if (rank == 1) {
        MPI_Waitany(4, requests, &index, &status);
        CHECK(index == 2 && status.MPI_SOURCE == 0 && status.MPI_TAG == 12);
    }
    release(1);
    if (rank == 1) {
        MPI_Waitsome(4, requests, &count, indices, statuses);
        CHECK(count == 1 && indices[0] == 1 && statuses[0].MPI_SOURCE == 2 && statuses[0].MPI_TAG == 11);
    }
    release(3);
    if (rank == 1) {
        do MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE); while (!flag);
        CHECK(index == 3);
    }
    release(0);
    if (rank == 1) {
        do MPI_Testsome(4, requests, &count, indices, MPI_STATUSES_IGNORE); while (count == 0);
        CHECK(count == 1 && indices[0] == 0);
    }

    post();
    deliver(1, 2);
    if (rank == 1) {
        MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == 2);
    }
    deliver(3, 0);
    if (rank == 1) {
        MPI_Testsome(4, requests, &count, indices, statuses);
        CHECK(count == 2);
    }

    post();
    deliver(2, 3);
    deliver(0, 1);
    if (rank == 1) {
        MPI_Testall(2, requests + 1, &flag, statuses);
        CHECK(flag && statuses[0].MPI_SOURCE == 2 && statuses[1].MPI_SOURCE == 0);
        MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
        CHECK(flag);
    }
    return end();
}
