/* The plugin that deep_host.c loads, which calls MPI past whatever is preloaded. Linked with the MPI library. */
#include <mpi.h>

/* The handles are the host's: Open MPI's are addresses of objects, which the plugin would find elsewhere. */
int work(int rank, MPI_Comm world, MPI_Datatype type) {
    int other = 1 - rank, got = -1;
    MPI_Sendrecv(&rank, 1, type, other, 1, &got, 1, type, other, 1, world, MPI_STATUS_IGNORE);
    return got;
}
