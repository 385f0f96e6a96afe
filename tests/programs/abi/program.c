/* Written against the standard ABI's header, for the library in library.c. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, data[3] = {1, 2, 3}, got[3] = {0}, version, subversion;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_version(&version, &subversion);
    MPI_Irecv(got, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Send(data, 3, MPI_INT, 0, 77, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(data, 3, MPI_INT, MPI_PROC_NULL, 78, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, got, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    printf("rank %d of MPI %d.%d got %d %d %d, %s\n", rank, version, subversion, got[0], got[1], got[2],
           request == MPI_REQUEST_NULL ? "and no more" : "and there is more");
    MPI_Finalize();
    return got[0] + got[1] + got[2];
}
