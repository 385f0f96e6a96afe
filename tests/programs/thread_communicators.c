/* Threads that set up persistent requests, each on a communicator that the main thread has made for it and frees when they
   have ended. 2 ranks. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 4, MESSAGES = 64 };

static MPI_Comm comms[THREADS];

static void *exchange(void *number) {
    long me = (long)number;
    int data = 0;
    MPI_Request request;
    if (rank == 0)
        MPI_Send_init(&data, 1, MPI_INT, 1, 0, comms[me], &request);
    else
        MPI_Recv_init(&data, 1, MPI_INT, 0, 0, comms[me], &request);
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0) data = i;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(data == i);
    }
    MPI_Request_free(&request);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, exchange, (void *)i);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    }
    return end();
}
