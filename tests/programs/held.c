/* Rank 1 computes for a third of a second when it knows, not from a wait for a message, that rank 0 has, which computes as
   long before: from the status of a request (`ibarrier`, `issend`, `partitioned`, `all`), from a duplicate of a communicator
   (`idup`, `idup_tested`), from the delivery of messages that it has buffered (`detach`, `detach_two`). 2 ranks. */
#include "check.h"
#include <time.h>

#define W MPI_COMM_WORLD

enum { MILLISECONDS = 333, LARGE = 1000000 };

static char data[LARGE];

static void compute(void) {
    struct timespec now, first;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &first);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 < MILLISECONDS);
}

static void ask(MPI_Request request) {
    int done = 0;
    while (!done) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    const char *how = argv[1];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    begin(&argc, &argv);
    if (rank == 0) compute();
    if (!strcmp(how, "ibarrier")) {
        MPI_Ibarrier(W, &request);
        if (rank == 1) ask(request);
    } else if (!strcmp(how, "issend")) {
        if (rank == 1) MPI_Issend(data, 1, MPI_CHAR, 0, 0, W, &request);
        if (rank == 1) ask(request);
        if (rank == 0) MPI_Recv(data, 1, MPI_CHAR, 1, 0, W, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    } else if (!strcmp(how, "partitioned")) {
        if (rank == 1) MPI_Precv_init(data, 2, 10, MPI_CHAR, 0, 0, W, MPI_INFO_NULL, &request);
        if (rank == 0) MPI_Psend_init(data, 2, 10, MPI_CHAR, 1, 0, W, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        if (rank == 0) MPI_Pready_range(0, 1, request);
        if (rank == 1) ask(request);
        if (rank == 1) compute();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return end();
#endif
    } else if (!strncmp(how, "idup", 4)) {
        int done = 0;
        MPI_Comm_idup(W, &copy, &request);
        if (strcmp(how, "idup"))
            while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        else
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        int times = strcmp(how, "detach") ? 2 : 1, bytes = 2 * (LARGE + MPI_BSEND_OVERHEAD);
        void *room = malloc(bytes);
        if (rank == 1) {
            MPI_Buffer_attach(room, bytes);
            for (int i = 0; i < times; i++) MPI_Ibsend(data, LARGE, MPI_CHAR, 0, i, W, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Buffer_detach(&room, &bytes);
        } else {
            for (int i = times; i-- > 0;) MPI_Recv(data, LARGE, MPI_CHAR, 1, i, W, MPI_STATUS_IGNORE);
        }
        free(room);
    }
    if (rank == 1) compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (copy != MPI_COMM_NULL) MPI_Barrier(copy), MPI_Comm_free(&copy);
    return end();
}
