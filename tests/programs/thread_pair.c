/* Two threads of each rank: one receives what the other sends, from this rank and from the next. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 50, LARGE = 1 << 18 };

static char in[LARGE], out[LARGE];

static int bytes(int round) { return round % 2 ? LARGE : 8; }

static void *receive(void *unused) {
    int before = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Recv(in, bytes(i), MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, bytes(i), MPI_BYTE, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    begin_threads(&argc, &argv);
    pthread_create(&thread, NULL, receive, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Ssend(out, bytes(i), MPI_BYTE, rank, 1, MPI_COMM_WORLD);
        MPI_Send(out, bytes(i), MPI_BYTE, (rank + 1) % size, 2, MPI_COMM_WORLD);
    }
    pthread_join(thread, NULL);
    return end();
}
