/* Another tool that counts the calls of a program, to be preloaded or linked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int reductions, sends;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    reductions++;
    return PMPI_Allreduce(in, out, count, datatype, op, comm);
}

int MPI_Send(const void *data, int count, MPI_Datatype datatype, int to, int tag, MPI_Comm comm) {
    sends++;
    return PMPI_Send(data, count, datatype, to, tag, comm);
}

int MPI_Finalize(void) {
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("tool: %d reductions, %d sends\n", reductions, sends);
    return PMPI_Finalize();
}
