/* Every way to complete requests: wait, test, and their all, any and some. 2 ranks. */
#include "check.h"

static MPI_Request requests[4];
static int data[4];

/* Four messages to rank 1, of i+1 integers' worth of tags 10+i. */
static void post(void) {
    for (int i = 0; i < 4; i++) {
        if (rank == 0) MPI_Isend(&data[i], 1, MPI_INT, 1, 10 + i, MPI_COMM_WORLD, &requests[i]);
        if (rank == 1) MPI_Irecv(&data[i], 1, MPI_INT, 0, 10 + i, MPI_COMM_WORLD, &requests[i]);
    }
    /* Eager messages are there once the barrier is over and the library has looked. */
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Status status, statuses[4];
    int flag, index, count, indices[4];

    post();
    MPI_Waitall(4, requests, statuses);

    post();
    MPI_Waitall(2, requests + 1, MPI_STATUSES_IGNORE);
    MPI_Wait(&requests[3], &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    post();
    for (int i = 0; i < 4; i++) {
        /* One candidate at a time, so that which it is does not depend on timing. */
        MPI_Request candidates[2] = {MPI_REQUEST_NULL, requests[i]};
        MPI_Waitany(2, candidates, &index, i % 2 ? MPI_STATUS_IGNORE : &status);
        CHECK(index == 1 && candidates[1] == MPI_REQUEST_NULL);
    }

    post();
    for (int done = 0; done < 2; done++) {
        MPI_Request pair[2] = {requests[2 * done], MPI_REQUEST_NULL};
        MPI_Waitsome(2, pair, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == 1 && indices[0] == 0);
        MPI_Wait(&requests[2 * done + 1], MPI_STATUS_IGNORE);
    }
    MPI_Waitsome(4, (MPI_Request[]){MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, &count,
                 indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);

    /* What a test sees at first depends on timing: the trace tells the ones that succeed. */
    post();
    do MPI_Test(&requests[0], &flag, &status); while (!flag);
    do MPI_Testall(1, &requests[1], &flag, MPI_STATUSES_IGNORE); while (!flag);
    do MPI_Testany(1, &requests[2], &index, &flag, MPI_STATUS_IGNORE); while (!flag);
    do MPI_Testsome(1, &requests[3], &count, indices, MPI_STATUSES_IGNORE); while (count < 1);

    post();
    MPI_Waitall(4, requests, statuses);
    return end();
}
