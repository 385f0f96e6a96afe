/* Probes, matched probes and matched receives, blocking and not. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    char data[100] = {0};
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0, count;
    if (rank == 0) {
        for (int tag = 1; tag <= 4; tag++) MPI_Send(data, 10 * tag, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(status.MPI_SOURCE == 0 && count == 10);
        MPI_Recv(data, count, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (!flag) MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        CHECK(status.MPI_TAG == 2);
        MPI_Recv(data, 20, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mprobe(0, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(data, 30, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;) MPI_Improbe(0, 4, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(data, 40, MPI_CHAR, &message, &request);
        MPI_Wait(&request, &status);
        CHECK(status.MPI_TAG == 4);
    }
    return end();
}
