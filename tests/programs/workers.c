/* Computation that no thread which calls MPI makes, a third of a second of CPU time a rank: `thread`, in a thread that never calls
   MPI; `pool`, in one that was there before MPI_Init; `late`, in one that calls MPI only then; `fork`, in a child process;
   `sleep`, none, but as long a wait; `none`, nothing of the kind. */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECONDS = 333 };

static pthread_barrier_t ready;
static int calls;

static void compute(void) {
    struct timespec now, first;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &first);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 < MILLISECONDS);
}

static void *work(void *unused) {
    pthread_barrier_wait(&ready);
    compute();
    if (calls) MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + 1) % size, 1, NULL, 0, MPI_BYTE, (rank + size - 1) % size, 1,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    const char *how = argc > 1 ? argv[1] : "none";
    int threads = !strcmp(how, "thread") || !strcmp(how, "pool") || !strcmp(how, "late");
    pthread_barrier_init(&ready, NULL, 2);
    if (!strcmp(how, "pool")) pthread_create(&thread, NULL, work, NULL);
    begin_threads(&argc, &argv);
    calls = !strcmp(how, "late");
    MPI_Barrier(MPI_COMM_WORLD);
    if (threads) {
        if (strcmp(how, "pool")) pthread_create(&thread, NULL, work, NULL);
        pthread_barrier_wait(&ready);
        pthread_join(thread, NULL);
    } else if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            compute();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    } else if (!strcmp(how, "sleep")) {
        usleep(MILLISECONDS * 1000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
