/* Threads that make communicators of the same members at the same time: each of a parent of its own, and with a tag of its
   own of the world. Each thread calls other collectives on them. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 2, ROUNDS = 50 };

static MPI_Comm parent[THREADS];
static MPI_Group world;

static void use(MPI_Comm comm, long me) {
    int one = 1, sum;
    if (me) {
        MPI_Barrier(comm);
    } else {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size);
    }
    MPI_Comm_free(&comm);
}

static void *thread(void *number) {
    long me = (long)number;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(parent[me], &comm);
        use(comm, me);
        MPI_Comm_create_group(MPI_COMM_WORLD, world, me, &comm);
        use(comm, me);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &parent[i]);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return end();
}
