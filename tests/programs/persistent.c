/* Persistent requests: set up once, started often, freed. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    char data[4][100], room[10000];
    int length, peer = 1 - rank;
    MPI_Request requests[4];
    MPI_Buffer_attach(room, sizeof room);
    if (rank == 0) {
        MPI_Send_init(data[0], 10, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Ssend_init(data[1], 20, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Bsend_init(data[2], 30, MPI_CHAR, peer, 3, MPI_COMM_WORLD, &requests[2]);
        MPI_Rsend_init(data[3], 40, MPI_CHAR, peer, 4, MPI_COMM_WORLD, &requests[3]);
    } else if (rank == 1) {
        for (int i = 0; i < 4; i++) MPI_Recv_init(data[i], 100, MPI_CHAR, peer, i + 1, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank < 2) {
        for (int round = 0; round < 2; round++) {
            if (rank == 1) MPI_Startall(4, requests);
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) for (int i = 3; i >= 0; i--) MPI_Start(&requests[i]);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    }
    MPI_Buffer_detach(room, &length);
    return end();
}
