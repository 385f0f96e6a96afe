/* What happens to requests besides being waited for: numbers taken again, handles moved, freed, cancelled, looked at.
   2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    int data[4] = {0}, peer = 1 - rank, flag = 0;
    MPI_Request requests[4], moved[4];
    MPI_Status status;

    /* The lowest free number is the next one's. Sends that are done at once may share a handle: these are not. */
    for (int i = 0; i < 3; i++) {
        if (rank == 0) MPI_Issend(&data[i], 1, MPI_INT, 1, i, world, &requests[i]);
        if (rank == 1) MPI_Irecv(&data[i], 1, MPI_INT, 0, i, world, &requests[i]);
    }
    MPI_Wait(&requests[1], &status);
    if (rank == 0) MPI_Issend(&data[3], 1, MPI_INT, 1, 3, world, &requests[1]);
    if (rank == 1) MPI_Irecv(&data[3], 1, MPI_INT, 0, 3, world, &requests[1]);
    /* The handle counts, wherever it is kept. */
    for (int i = 0; i < 3; i++) moved[2 - i] = requests[i];
    MPI_Wait(&moved[0], MPI_STATUS_IGNORE);
    MPI_Waitall(2, moved + 1, MPI_STATUSES_IGNORE);

    /* Nothing is waited for. */
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) requests[i] = MPI_REQUEST_NULL;
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&requests[0], &status);

    /* Freed: the message still goes. */
    if (rank == 0) {
        MPI_Isend(&data[0], 1, MPI_INT, 1, 4, world, &requests[0]);
        MPI_Request_free(&requests[0]);
    } else {
        MPI_Recv(&data[0], 1, MPI_INT, 0, 4, world, MPI_STATUS_IGNORE);
    }
    /* Cancelled: nobody ever sends tag 5. */
    MPI_Irecv(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, world, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    /* Looked at: done, and still to be waited for. */
    MPI_Irecv(&data[0], 1, MPI_INT, peer, 6, world, &requests[0]);
    MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(world);
    MPI_Send(&data[1], 1, MPI_INT, peer, 6, world);
    do MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE); while (!flag);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    return end();
}
