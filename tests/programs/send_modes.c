/* Every send mode, blocking and not. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    char data[1000] = {0}, room[100000];
    int length;
    if (rank == 0) {
        MPI_Request requests[4];
        MPI_Buffer_attach(room, sizeof room);
        MPI_Send(data, 10, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Ssend(data, 20, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        MPI_Bsend(data, 30, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Rsend(data, 40, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
        MPI_Isend(data, 50, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend(data, 60, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &requests[1]);
        MPI_Ibsend(data, 70, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &requests[2]);
        MPI_Irsend(data, 80, MPI_CHAR, 1, 8, MPI_COMM_WORLD, &requests[3]);
        for (int i = 0; i < 4; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Buffer_detach(room, &length);
    } else if (rank == 1) {
        MPI_Request ready[2];
        for (int tag = 1; tag <= 3; tag++) MPI_Recv(data, 1000, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(data, 40, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &ready[0]);
        MPI_Irecv(data + 100, 80, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &ready[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int tag = 5; tag <= 7; tag++) MPI_Recv(data + 200, 100, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&ready[1], MPI_STATUS_IGNORE);
        MPI_Wait(&ready[0], MPI_STATUS_IGNORE);
    }
    return end();
}
