/* Collectives on communicators that are only just there: duplicates by MPI_Comm_idup whose first collective is non-blocking,
 * duplicates of those, and more collectives on one communicator at once than there is reason to. Threads make communicators
 * meanwhile. */
#include <pthread.h>

#include "check.h"

enum { ROUNDS = 5, MANY = 300, THREADS = 3 };

static void sums(MPI_Comm comm, int count, MPI_Request *requests, int *in, int *out) {
    for (int i = 0; i < count; i++) {
        in[i] = rank + i;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    }
}

static void check(int count, const int *out) {
    for (int i = 0; i < count; i++) CHECK(out[i] == size * (size - 1) / 2 + size * i);
}

static void *make_communicators(void *argument) {
    MPI_Comm parent = *(MPI_Comm *)argument, made, alone;
    MPI_Group group;
    MPI_Comm_group(parent, &group);
    for (int i = 0; i < ROUNDS; i++) {
        int sum;
        MPI_Comm_create_group(parent, group, i, &made);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, made);
        CHECK(sum == size * i);
        MPI_Comm_split(made, rank, 0, &alone);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, alone);
        CHECK(sum == i);
        MPI_Comm_free(&alone);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&group);
    return NULL;
}

int main(int argc, char **argv) {
    static int in[MANY], out[MANY], in2[MANY], out2[MANY];
    MPI_Request requests[MANY], requests2[MANY], made;
    MPI_Comm first, second, parents[THREADS];
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv);

    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm_idup(MPI_COMM_WORLD, &first, &made);
        sums(MPI_COMM_WORLD, 4, requests, in, out);
        MPI_Wait(&made, MPI_STATUS_IGNORE);
        sums(first, 4, requests2, in2, out2);
        MPI_Waitall(4, requests2, MPI_STATUSES_IGNORE);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        check(4, out);
        check(4, out2);
        MPI_Comm_idup(first, &second, &made);
        MPI_Wait(&made, MPI_STATUS_IGNORE);
        sums(second, 1, requests, in, out);
        MPI_Barrier(first);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        check(1, out);
        MPI_Comm_free(&second);
        MPI_Comm_free(&first);
    }
    /* Never used. */
    MPI_Comm_idup(MPI_COMM_WORLD, &first, &made);
    MPI_Wait(&made, MPI_STATUS_IGNORE);
    MPI_Comm_free(&first);

    sums(MPI_COMM_WORLD, MANY, requests, in, out);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    check(MANY, out);

    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, make_communicators, &parents[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&parents[i]);
    MPI_Finalize();
    if (rank == 0) puts("done");
    return 0;
}
