/* Three reductions and two messages of rank 0. */
#include "check.h"

int main(int argc, char **argv) {
    int sum;
    begin(&argc, &argv);
    for (int i = 0; i < 3; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2 && rank < 2; i++) {
        if (rank == 0) MPI_Send(&sum, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(&sum, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
