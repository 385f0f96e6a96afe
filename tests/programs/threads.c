/* Threads that call MPI at the same time, each with messages of its own tag. 2 ranks. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, MESSAGES = 200 };

static void *exchange(void *tag) {
    int number = *(int *)tag, data = 0, peer = 1 - rank;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Irecv(&data, 1, MPI_INT, peer, number, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&i, 1, MPI_INT, peer, number, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        CHECK(data == i && statuses[0].MPI_TAG == number);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    begin_threads(&argc, &argv);
    for (int i = 0; i < THREADS; i++) numbers[i] = i, pthread_create(&threads[i], NULL, exchange, &numbers[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return end();
}
