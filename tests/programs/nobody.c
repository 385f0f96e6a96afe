/* Receives from nobody while a collective is under way: their status says so. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int in = 0, out = rank, sum = 0, other = 1 - rank;
    MPI_Request request;
    MPI_Status status;
    for (int round = 0; round < 20; round++) {
        /* One rank comes late, so that the other's collective is under way for a while. */
        if (round % 2 == rank) usleep(5000);
        MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        int from = round % 2 == rank ? other : MPI_PROC_NULL, to = round % 2 == rank ? MPI_PROC_NULL : other;
        MPI_Sendrecv(&out, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == from && status.MPI_TAG == (from == other ? 1 : MPI_ANY_TAG));
        MPI_Sendrecv_replace(&in, 1, MPI_INT, to, 2, from, 2, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == from && status.MPI_TAG == (from == other ? 2 : MPI_ANY_TAG));
        MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == 1);
    }
    return end();
}
