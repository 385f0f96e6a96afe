/* A collective fails on one rank, whose communicator has a handler of errors: the handler is called once, with the
 * communicator, the call returns the error, and MPI goes on. The world's errors are fatal. */
#include "check.h"

static MPI_Comm comm, handed;
static int calls, handed_class;

static void handle(MPI_Comm *on, int *code, ...) {
    calls++;
    handed = *on;
    MPI_Error_class(*code, &handed_class);
}

/* Whether the error was handled and returned. */
static void handled(int code, const char *what) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (rank == 0) printf("%s: %s\n", what, class == MPI_ERR_TRUNCATE ? "truncated" : class == MPI_SUCCESS ? "no error" : "another error");
    CHECK(class == MPI_SUCCESS ? calls == 0 : calls == 1 && handed == comm && handed_class == class);
    calls = 0;
}

int main(int argc, char **argv) {
    enum { COUNT = 8, RANKS = 16 };
    int in[COUNT] = {0}, out[COUNT * RANKS];
    MPI_Errhandler handler;
    int sum;
    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    CHECK(size <= RANKS);
    for (int i = 0; i < 3; i++) {
        /* The root has room for half of what the others send. */
        handled(MPI_Gather(in, COUNT, MPI_INT, out, rank == 0 ? COUNT / 2 : COUNT, MPI_INT, 0, comm), "gather");
        handled(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), "allreduce");
        CHECK(sum == size * (size - 1) / 2);
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Gather(in, COUNT, MPI_INT, out, rank == 0 ? COUNT / 2 : COUNT, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (rank == 0) puts("done");
    return 0;
}
