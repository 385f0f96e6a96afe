/* Polls as applications do: how often tests and probes find nothing, whether a test or the wait after it completes a
   request, and how many requests a call completes, differ from run to run. Any even number of ranks. */
#include "check.h"
#include <time.h>
#include <unistd.h>

enum { MANY = 6, ROUNDS = 20 };

/* Up to 200 us, different in every run. */
static void delay(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    usleep((now.tv_nsec / 1000 + 37 * rank) % 200);
}

/* One test, and a wait only if it finds nothing. */
static void test_then_wait(MPI_Request *request) {
    int flag;
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    if (!flag) MPI_Wait(request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    int peer = rank ^ 1, out[MANY], in[MANY], indices[MANY], flag, done, count;
    MPI_Request sends[MANY], receives[MANY], barrier;
    MPI_Status status;
    for (int round = 0; round < ROUNDS; round++) {
        /* Requests are made while others are completed: their numbers differ. */
        for (int i = 0; i < MANY; i++) MPI_Irecv(&in[i], 1, MPI_INT, peer, i, world, &receives[i]);
        for (int i = 0; i < MANY; i++) {
            delay();
            MPI_Testany(MANY, receives, &count, &flag, MPI_STATUS_IGNORE);
            out[i] = i;
            MPI_Isend(&out[i], 1, MPI_INT, peer, i, world, &sends[i]);
        }
        for (done = 0; done < MANY;) {
            MPI_Testsome(MANY, receives, &count, indices, MPI_STATUSES_IGNORE);
            done = count == MPI_UNDEFINED ? MANY : done + count;
            if (round % 2) delay();
        }
        MPI_Testall(MANY, sends, &flag, MPI_STATUSES_IGNORE);
        if (!flag) MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);

        /* A wildcard whose match is known when it is tested, sooner or later than the next message. */
        MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 100 + round, world, &receives[0]);
        delay();
        MPI_Send(&out[0], 1, MPI_INT, peer, 100 + round, world);
        MPI_Test(&receives[0], &flag, MPI_STATUS_IGNORE);
        MPI_Isend(&out[1], 1, MPI_INT, peer, 7, world, &sends[1]);
        if (!flag) MPI_Wait(&receives[0], MPI_STATUS_IGNORE);

        MPI_Iprobe(peer, 7, world, &flag, &status);
        if (!flag) MPI_Probe(peer, 7, world, &status);
        MPI_Recv(&in[1], 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
        test_then_wait(&sends[1]);

        /* Termination as in a consensus: a barrier is tested between probes for messages that do not come. */
        MPI_Ibarrier(world, &barrier);
        for (flag = 0; !flag;) {
            MPI_Iprobe(MPI_ANY_SOURCE, 9, world, &flag, &status);
            CHECK(!flag);
            MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
