/* Sends that are cancelled, and that a library may carry out all the same: only their status says which, and whoever
   ignores it is not told. Rank 0 prints how many were cancelled. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Status status;
    int data = 1, missing = 0;
    for (int round = 0; round < 3; round++) {
        if (rank == 0) {
            MPI_Issend(&data, 1, MPI_INT, 1, 1, world, &request);
            MPI_Cancel(&request);
            MPI_Wait(&request, round == 1 ? MPI_STATUS_IGNORE : &status);
            int flag = 0;
            if (round != 1) MPI_Test_cancelled(&status, &flag);
            MPI_Send(&flag, 1, MPI_INT, 1, 2, world);
        } else {
            int flag, received = 0;
            MPI_Probe(0, MPI_ANY_TAG, world, &status);
            if (status.MPI_TAG == 1) MPI_Recv(&data, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE), received = 1;
            MPI_Recv(&flag, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);
            if (round != 1) CHECK(flag != received);
            missing += !received;
        }
    }
    /* A receive from a known rank that is cancelled takes no message. */
    if (rank == 0) {
        MPI_Irecv(&data, 1, MPI_INT, 1, 3, world, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        int flag;
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
        MPI_Recv(&missing, 1, MPI_INT, 1, 4, world, MPI_STATUS_IGNORE);
        /* Of a request that is freed, not even a status says whether the send was cancelled. */
        MPI_Issend(&data, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
        flag = 0;
        for (int tries = 0; tries < 10 && !flag; tries++) MPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        if (flag) MPI_Recv(&data, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        missing += !flag;
        printf("%d\n", missing + 1);
    } else {
        MPI_Send(&missing, 1, MPI_INT, 0, 4, world);
    }
    MPI_Finalize();
    return 0;
}
