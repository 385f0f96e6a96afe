/* Receives whose buffer is too small: each takes its message nevertheless, and its sender is not told. 2 ranks. */
#include "check.h"

static void truncated(int code) {
    int class;
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TRUNCATE);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    enum { SHORT = 8, LONG = 100000 };
    static int data[LONG], other[2];
    MPI_Request request;
    MPI_Message message;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int count = SHORT; count <= LONG; count += LONG - SHORT) {
        if (rank == 0) {
            for (int tag = 0; tag < 5; tag++) MPI_Send(data, count, MPI_INT, 1, tag, world);
            MPI_Recv(other, 1, MPI_INT, 1, 5, world, MPI_STATUS_IGNORE);
            MPI_Recv(other, 1, MPI_INT, 1, 6, world, MPI_STATUS_IGNORE);
        } else {
            truncated(MPI_Recv(data, count - 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE));
            truncated(MPI_Recv(data, count - 1, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE));
            MPI_Mprobe(0, 2, world, &message, MPI_STATUS_IGNORE);
            /* Calls that cannot take the message. */
            MPI_Send(other, 1, MPI_INT, 0, 6, world);
            MPI_Sendrecv(other, 1, MPI_INT, 1, 2, other + 1, 1, MPI_INT, 1, 2, world, MPI_STATUS_IGNORE);
            truncated(MPI_Mrecv(data, count - 1, MPI_INT, &message, MPI_STATUS_IGNORE));
            MPI_Irecv(data, count - 1, MPI_INT, 0, 3, world, &request);
            truncated(MPI_Wait(&request, MPI_STATUS_IGNORE));
            truncated(MPI_Sendrecv(other, 1, MPI_INT, 0, 5, data, count - 1, MPI_INT, 0, 4, world, MPI_STATUS_IGNORE));
        }
    }
    MPI_Finalize();
    return 0;
}
