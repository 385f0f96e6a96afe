/* Calls that a program makes where it ends, and ways to end there: `late_ends HOW [PLUGIN]`. 2 ranks, or 1. */
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

static const char *how;

static void messages(int tag) {
    int other = size - 1 - rank, got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, other, tag, &got, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == other);
}

static void finalize(void) {
    messages(2);
    if (rank == 0) printf("finalize\n"), fflush(stdout);
    MPI_Finalize();
}

/* Registered, or run, before MPI is initialised, and so after all that was registered later. */
static void at_exit(void) {
    if (!strcmp(how, "atexit")) finalize();
    if (!strcmp(how, "exit-atexit")) exit(6);
}

__attribute__((destructor)) static void destroyed(void) {
    if (!strcmp(how, "destructor")) finalize();
    if (!strcmp(how, "exit-destructor")) exit(6);
}

static void *exits(void *unused) {
    usleep(100000);
    exit(6);
}

static void quickly(void) { messages(1); }

static void handler(MPI_Comm *comm, int *error, ...) {
    messages(1);
    if (!strcmp(how, "handler-aborts")) {
        if (rank == 1) MPI_Abort(*comm, 3);
        sleep(20);
    }
    if (!strcmp(how, "handler-exits")) exit(5);
    if (!strcmp(how, "handler-finalizes")) {
        MPI_Finalize();
        exit(0);
    }
}

int main(int argc, char **argv) {
    how = argv[1];
    atexit(at_exit);
    if (!strcmp(how, "fork")) {
        /* The child is the rank. */
        int status;
        pid_t child = fork();
        if (child > 0) {
            waitpid(child, &status, 0);
            return WEXITSTATUS(status);
        }
    }
    if (strcmp(how, "exit-thread")) begin(&argc, &argv);
    else begin_threads(&argc, &argv);
    if (argc > 2) CHECK(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL));
    messages(0);
    if (!strcmp(how, "exit-thread")) {
        /* While this thread is in a call. */
        pthread_t thread;
        pthread_create(&thread, NULL, exits, NULL);
        MPI_Recv(&rank, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "exit-quick")) at_quick_exit(quickly), quick_exit(6);
    if (!strncmp(how, "exit", 4)) return 5;
    if (!strncmp(how, "handler", 7)) {
        MPI_Errhandler errhandler;
        MPI_Comm_create_errhandler(handler, &errhandler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
        MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    }
    if (!strcmp(how, "atexit") || !strcmp(how, "destructor")) return 0;
    return end();
}
