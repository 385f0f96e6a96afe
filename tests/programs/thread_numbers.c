/* A thread of rank 0 is in its first call while another one makes all of its own. 2 ranks. */
#include "check.h"
#include <pthread.h>

static void *receive(void *unused) {
    int data;
    MPI_Recv(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return unused;
}

static void *send(void *unused) {
    /* Until the other one is in its call. */
    sleep(1);
    MPI_Send(&rank, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    return unused;
}

int main(int argc, char **argv) {
    begin_threads(&argc, &argv);
    if (rank == 0) {
        pthread_t first, second;
        pthread_create(&first, NULL, receive, NULL);
        pthread_create(&second, NULL, send, NULL);
        pthread_join(second, NULL);
        MPI_Send(&rank, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        pthread_join(first, NULL);
    } else {
        int data;
        MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    return end();
}
