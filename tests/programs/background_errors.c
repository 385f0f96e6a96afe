/* Receives that are too short, on a communicator whose errors return, while a collective is under way that the sender joins later.
 * Two ranks. */
#include "check.h"

static int told;

static void tell(MPI_Comm *comm, int *code, ...) { told++; }

int main(int argc, char **argv) {
    int mine = 1, sum = 0, data[2] = {1, 2}, class;
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
            int code = round < 2 ? MPI_Recv(data, 1, MPI_INT, 0, 7, own, MPI_STATUS_IGNORE)
                                 : MPI_Sendrecv(data, 1, MPI_INT, 0, 8, data, 1, MPI_INT, 0, 7, own, MPI_STATUS_IGNORE);
            MPI_Error_class(code, &class);
            CHECK(class == MPI_ERR_TRUNCATE);
        } else {
            usleep(20000);
            MPI_Send(data, 2, MPI_INT, 1, 7, own);
            if (round >= 2) MPI_Recv(data, 1, MPI_INT, 1, 8, own, MPI_STATUS_IGNORE);
            MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == 2);
        MPI_Comm_free(&own);
    }
    CHECK(told == (rank == 1 ? 2 : 0));
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
}
