/* Persistent buffered sends, longer than a library sends at once, started again and again: their handle may be another one
   after each start. 2 ranks. */
#include "check.h"

enum { LENGTH = 20000, REQUESTS = 3 };

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request requests[REQUESTS];
    int room = 4 * REQUESTS * (LENGTH + MPI_BSEND_OVERHEAD);
    char *data = calloc(REQUESTS, LENGTH), *buffer = malloc(room);
    if (rank == 0) MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < REQUESTS; i++) {
        if (rank == 0) MPI_Bsend_init(data + i * LENGTH, LENGTH, MPI_BYTE, 1, i, world, &requests[i]);
        if (rank == 1) MPI_Recv_init(data + i * LENGTH, LENGTH, MPI_BYTE, 0, i, world, &requests[i]);
    }
    for (int round = 0; round < 3; round++) {
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Startall(REQUESTS - 1, requests + 1);
        MPI_Waitall(REQUESTS - 1, requests + 1, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(world);
    if (rank == 0) MPI_Buffer_detach(&buffer, &room);
    for (int i = 0; i < REQUESTS; i++) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return 0;
}
