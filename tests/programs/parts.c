/* Iterations of which a part is to be traced: `parts ITERATIONS [even]`. Messages, requests and a wildcard reach from each iteration
   into the next, and a rank enters one before others have left the one before. With `even` none does, and each iteration begins
   with a barrier. A region is around each iteration, and a level of MPI_Pcontrol around every second one. */
#include "check.h"
#include "../../tracer/include/titr.h"

enum { BYTES = 4096 };

static char out[BYTES], in[BYTES], early[BYTES], any[BYTES], kept[2][BYTES];

int main(int argc, char **argv) {
    MPI_Comm all, half;
    MPI_Request next, ahead = MPI_REQUEST_NULL, persistent[2];
    int even = argc > 2;
    begin(&argc, &argv);
    int iterations = atoi(argv[1]), after = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(all, rank % 2, rank, &half);
    MPI_Send_init(kept[0], BYTES, MPI_BYTE, after, 3, all, &persistent[0]);
    MPI_Recv_init(kept[1], BYTES, MPI_BYTE, before, 3, all, &persistent[1]);
    if (!even) MPI_Irecv(early, BYTES, MPI_BYTE, before, 1, MPI_COMM_WORLD, &next);
    for (int i = 0; i < iterations; i++) {
        if (!even && rank > 0) MPI_Isend(out, 8 * (i + 1), MPI_BYTE, 0, 2, all, &ahead);
        if (i % 2) MPI_Pcontrol(1);
        titr_region_begin("step");
        if (even) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Startall(2, persistent);
        if (!even) {
            MPI_Send(out, BYTES, MPI_BYTE, after, 1, MPI_COMM_WORLD);
            MPI_Wait(&next, MPI_STATUS_IGNORE);
            MPI_Irecv(early, BYTES, MPI_BYTE, before, 1, MPI_COMM_WORLD, &next);
        }
        MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
        int sum, one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
        if (!even) titr_region_end("step");
        for (int peer = 1; !even && rank == 0 && peer < size; peer++)
            MPI_Recv(any, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 2, all, MPI_STATUS_IGNORE);
        MPI_Wait(&ahead, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, BYTES, MPI_BYTE, after, 4, in, BYTES, MPI_BYTE, before, 4, all,
                     MPI_STATUS_IGNORE);
        if (even) titr_region_end("step");
        if (i % 2) MPI_Pcontrol(0);
    }
    if (!even) {
        MPI_Send(out, BYTES, MPI_BYTE, after, 1, MPI_COMM_WORLD);
        MPI_Wait(&next, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Comm_free(&half);
    MPI_Comm_free(&all);
    return end();
}
