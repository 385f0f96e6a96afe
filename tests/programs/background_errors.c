/* Errors of messages on a communicator whose errors return, while a collective is under way that the other rank joins later:
 * receives that are too short, and arguments that MPI refuses, for which no message will ever come. Two ranks. */
#include "check.h"

/* The calls of `refused`. */
enum { REFUSED = 9 };

static int told;

static void tell(MPI_Comm *comm, int *code, ...) { told++; }

static void is_of(int code, int expected) {
    int class;
    MPI_Error_class(code, &class);
    CHECK(class == expected);
}

static void refused(MPI_Comm comm) {
    int data;
    MPI_Status *none = MPI_STATUS_IGNORE;
    is_of(MPI_Recv(&data, -1, MPI_INT, 0, 0, comm, none), MPI_ERR_COUNT);
    is_of(MPI_Recv(&data, 1, MPI_INT, 5, 0, comm, none), MPI_ERR_RANK);
    is_of(MPI_Recv(&data, 1, MPI_INT, 0, -5, comm, none), MPI_ERR_TAG);
    is_of(MPI_Recv(&data, 1, MPI_DATATYPE_NULL, 0, 0, comm, none), MPI_ERR_TYPE);
    is_of(MPI_Sendrecv(&data, 1, MPI_INT, 0, 0, &data, -1, MPI_INT, 0, 0, comm, none), MPI_ERR_COUNT);
    is_of(MPI_Sendrecv(&data, 1, MPI_INT, 5, 0, &data, 1, MPI_INT, 0, 0, comm, none), MPI_ERR_RANK);
    is_of(MPI_Probe(5, 0, comm, none), MPI_ERR_RANK);
    is_of(MPI_Probe(0, -5, comm, none), MPI_ERR_TAG);
    is_of(MPI_Send(&data, 1, MPI_INT, 5, 0, comm), MPI_ERR_RANK);
}

int main(int argc, char **argv) {
    int mine = 1, sum = 0, data[2] = {1, 2};
    MPI_Comm own;
    MPI_Errhandler handler;
    begin(&argc, &argv);
    MPI_Comm_create_errhandler(tell, &handler);
    for (int round = 0; round < 4; round++) {
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &own);
        MPI_Comm_set_errhandler(own, round % 2 ? handler : MPI_ERRORS_RETURN);
        if (rank == 1) {
            MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
            refused(own);
            MPI_Send(data, 1, MPI_INT, 0, 6, own);
            int code = round < 2 ? MPI_Recv(data, 1, MPI_INT, 0, 7, own, MPI_STATUS_IGNORE)
                                 : MPI_Sendrecv(data, 1, MPI_INT, 0, 8, data, 1, MPI_INT, 0, 7, own, MPI_STATUS_IGNORE);
            is_of(code, MPI_ERR_TRUNCATE);
        } else {
            MPI_Recv(data, 1, MPI_INT, 1, 6, own, MPI_STATUS_IGNORE);
            MPI_Send(data, 2, MPI_INT, 1, 7, own);
            if (round >= 2) MPI_Recv(data, 1, MPI_INT, 1, 8, own, MPI_STATUS_IGNORE);
            MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == 2);
        MPI_Comm_free(&own);
    }
    CHECK(told == (rank == 1 ? 2 * (1 + REFUSED) : 0));
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
}
