/* Calls from a function, from one that the compiler makes a part of its caller, and from a thread. */
#include <mpi.h>
#include <pthread.h>

static double data, sum;

static __attribute__((noinline)) void sweep(void) {
    MPI_Allreduce(&data, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* in sweep */
    data = sum;
}

static inline __attribute__((always_inline)) void exchange(int size, int rank) {
    MPI_Sendrecv_replace(&data, 1, MPI_DOUBLE, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD, /* in exchange */
                         MPI_STATUS_IGNORE);
}

static void *other(void *unused) {
    MPI_Bcast(&data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* in other */
    return unused;
}

int main(int argc, char **argv) {
    int rank, size, provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++) {
        sweep();
        exchange(size, rank);
    }
    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
    MPI_Finalize();
    return 0;
}
