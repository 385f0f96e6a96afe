/* Receives from any source and of any tag; who sends is settled, so what matches is too. 3 ranks. */
#include "check.h"

/* A status speaks of ranks of the communicator, and here those are the other way round: its rank 2 is the world's 0. */
static void on_another_communicator(void) {
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    int data = 0, me;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    MPI_Comm_rank(reversed, &me);
    if (me == 0) {
        for (int tag = 1; tag <= 6; tag++) MPI_Send(&data, 1, MPI_INT, 2, tag, reversed);
        MPI_Sendrecv(&data, 1, MPI_INT, 2, 7, &data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &status);
        CHECK(status.MPI_SOURCE == 2 && status.MPI_TAG == 8);
    }
    if (me == 2) {
        MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 1, reversed, MPI_STATUS_IGNORE);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &status);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 2);
        MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Mprobe(MPI_ANY_SOURCE, 3, reversed, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Recv_init(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &request);
        for (int tag = 4; tag <= 6; tag++) {
            MPI_Start(&request);
            MPI_Wait(&request, &status);
            CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == tag);
        }
        MPI_Request_free(&request);
        MPI_Sendrecv_replace(&data, 1, MPI_INT, 0, 8, MPI_ANY_SOURCE, 7, reversed, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&reversed);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int data[4] = {0};
    MPI_Status status, statuses[2];
    MPI_Request requests[2];
    for (int sender = 1; sender <= 2; sender++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == sender) for (int tag = 1; tag <= 3; tag++) MPI_Send(data, tag, MPI_INT, 0, tag, MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Recv(data, 4, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            CHECK(status.MPI_SOURCE == sender);
            MPI_Recv(data, 4, MPI_INT, sender, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(data, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Irecv(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&data[1], 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Irecv(&data[0], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Irecv(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Waitall(1, requests, statuses);
        CHECK(statuses[0].MPI_SOURCE == 1 && statuses[0].MPI_TAG == 10);
    } else if (rank == 1) {
        MPI_Send(data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, 0, 10, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Send(data, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    }
    on_another_communicator();
    return end();
}
