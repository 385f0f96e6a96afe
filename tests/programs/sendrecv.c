/* Send and receive in one call, round a ring. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    double out[10] = {rank}, in[10];
    MPI_Status status;
    MPI_Sendrecv(out, 10, MPI_DOUBLE, next, 5, in, 10, MPI_DOUBLE, previous, 5, MPI_COMM_WORLD, &status);
    CHECK(in[0] == previous && status.MPI_SOURCE == previous);
    MPI_Sendrecv_replace(out, 10, MPI_DOUBLE, next, 6, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(out[0] == previous);
    return end();
}
