/* Requests that nobody waits for, and many at once: what a tool keeps of them must not grow. Prints the process' peak
   memory in bytes on standard error.

     requests letgo N         N times: freed, cancelled, started again, set up and freed, left by a probe that matched
     requests outstanding N   N receives at once, then N sends, then one wait for all */
#include "check.h"
#include <sys/resource.h>

static void letgo(long rounds) {
    int out = 1, in[4], flag;
    MPI_Request persistent, request, pair[2];
    MPI_Message message;
    MPI_Recv_init(&in[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &persistent);
    for (long i = 0; i < rounds; i++) {
        MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        MPI_Request_free(&request);
        MPI_Start(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);

        MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_SELF, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);

        MPI_Send_init(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
        MPI_Request_free(&request);

        MPI_Irecv(&in[2], 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_SELF, &pair[0]);
        MPI_Isend(&out, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &pair[1]);
        MPI_Improbe(0, 5, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
        CHECK(flag);
        MPI_Mrecv(&in[3], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&persistent);
}

static void outstanding(long many) {
    char out = 0, in;
    MPI_Request *requests = malloc(2 * many * sizeof *requests);
    for (long i = 0; i < many; i++) MPI_Irecv(&in, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[i]);
    for (long i = 0; i < many; i++) MPI_Isend(&out, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[many + i]);
    MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    long number = argc > 2 ? atol(argv[2]) : 100;
    if (argc > 1 && !strcmp(argv[1], "letgo")) letgo(number);
    if (argc > 1 && !strcmp(argv[1], "outstanding")) outstanding(number);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (rank == 0) fprintf(stderr, "peak %ld\n", usage.ru_maxrss * 1024L);
    return end();
}
