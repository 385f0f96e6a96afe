/* What every program here uses: its rank, the size of the world, and a way to fail. Only rank 0 prints. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, size;

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 99);                                                \
        }                                                                                 \
    } while (0)

static void place(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    place();
}

/* The same for threads that call MPI at once. */
static void begin_threads(int *argc, char ***argv) {
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    place();
    CHECK(provided == MPI_THREAD_MULTIPLE);
}

/* Messages between rank i and rank size - 1 - i, many at once: where ranks that poll share a core, each turn costs a time
 * slice. No two in a row have the same tag. */
static void exchange_many(int messages) {
    enum { WINDOW = 100 };
    static int in[WINDOW], out[WINDOW];
    MPI_Request requests[2 * WINDOW];
    MPI_Status statuses[2 * WINDOW];
    for (int i = 0; i < messages; i++) {
        int peer = size - 1 - rank, tag = i * 7919 % 32000, at = i % WINDOW;
        MPI_Irecv(&in[at], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[2 * at]);
        MPI_Isend(&out[at], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[2 * at + 1]);
        if (at == WINDOW - 1) MPI_Waitall(2 * WINDOW, requests, statuses);
    }
}

/* Returns once the tracer has written what it was handed: this rank's stream has not grown for a quarter of a second. Returns
 * at once where there is none. */
static void until_written(void) {
    char name[64];
    struct stat file;
    off_t before = 0;
    snprintf(name, sizeof name, "traces/rank-%06d.tit.gz", rank);
    while (stat(name, &file) == 0 && (file.st_size == 0 || file.st_size != before)) {
        before = file.st_size;
        usleep(250000);
    }
}

static int end(void) {
    if (rank == 0) printf("done on %d ranks\n", size);
    MPI_Finalize();
    return 0;
}
