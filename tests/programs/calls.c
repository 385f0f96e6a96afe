// Many small calls, and what one costs: CPU time of the whole process, so of a tracer's threads as well.
//
//   calls waitall N      N times: irecv and isend of 8 bytes, each rank with itself, and waitall
//   calls pingpong N     N times: 8 bytes there and back, between ranks 0 and 1
//   calls put N          N times: a put of 8 bytes, each rank to itself, and a flush after every 100
//   calls null N         N times: a send to MPI_PROC_NULL
//   calls deep N         as `null`, from a function with eight others around it
//   calls threads N      two threads, each as `waitall` with N/2
//   calls skew N         N times: 2,000 bursts of computation at once, and as many with a call after each; a barrier after
//                        either. Prints the CPU seconds of the former, which a tracer should find in the latter, too.
//
// Prints a line of JSON of rank 0: CPU nanoseconds a call, its peak memory, and how much of its memory is no file's and
// so no other rank's, in bytes.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec * 1e-6; }

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static long anonymous(void) {
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "RssAnon: %ld", &kib);
    if (status) fclose(status);
    return kib * 1024;
}

static long waitall(long rounds, int rank) {
    double out = 1, in;
    for (long i = 0; i < rounds; i++) {
        MPI_Request requests[2];
        MPI_Irecv(&in, 8, MPI_BYTE, rank, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 8, MPI_BYTE, rank, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return 3 * rounds;
}

static long pingpong(long rounds, int rank) {
    double data = 1;
    for (long i = 0; i < rounds && rank < 2; i++) {
        if (rank == 0) MPI_Send(&data, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(&data, 8, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&data, 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    }
    return 2 * rounds;
}

static long put(long rounds, int rank) {
    double out = 1, *in;
    MPI_Win window;
    MPI_Win_allocate(sizeof *in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &in, &window);
    MPI_Win_lock_all(0, window);
    for (long i = 1; i <= rounds; i++) {
        MPI_Put(&out, 8, MPI_BYTE, rank, 0, 8, MPI_BYTE, window);
        if (i % 100 == 0) MPI_Win_flush(rank, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    return rounds + rounds / 100;
}

static long null(long rounds) {
    double data = 1;
    for (long i = 0; i < rounds; i++) MPI_Send(&data, 8, MPI_BYTE, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
    return rounds;
}

// Each function has something left to do when the next one returns, so that its frame stays.
static __attribute__((noinline)) long deep(long rounds, int depth) {
    long calls = depth == 0 ? null(rounds) : deep(rounds, depth - 1);
    __asm__ volatile("" ::: "memory");
    return calls;
}

static long half;

static void *waitalls(void *tag) {
    double out = 1, in;
    for (long i = 0; i < half; i++) {
        MPI_Request requests[2];
        MPI_Irecv(&in, 8, MPI_BYTE, 0, *(int *)tag, MPI_COMM_SELF, &requests[0]);
        MPI_Isend(&out, 8, MPI_BYTE, 0, *(int *)tag, MPI_COMM_SELF, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

static long threads(long rounds) {
    pthread_t threads[2];
    int tags[2] = {7, 8};
    half = rounds / 2;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, waitalls, &tags[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 3 * rounds;
}

// Goes on from the last one, or a processor would begin it before that has ended, and have more of them done in a row.
static void burst(void) {
    static volatile unsigned long result = 1;
    unsigned long state = result;
    for (int i = 0; i < 3000; i++) state = state * 6364136223846793005UL + 1442695040888963407UL;
    result = state;
}

static double thread_cpu(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static long skew(long rounds) {
    enum { BURSTS = 2000 };
    double truth = 0;
    for (long i = 0; i < rounds; i++) {
        double begun = thread_cpu();
        for (int j = 0; j < BURSTS; j++) burst();
        truth += thread_cpu() - begun;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int j = 0; j < BURSTS; j++) {
            burst();
            MPI_Barrier(MPI_COMM_SELF);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%.9f\n", truth);
    return rounds * BURSTS;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "waitall";
    long rounds = argc > 2 ? atol(argv[2]) : 1000;
    int rank, provided;
    if (strcmp(what, "threads")) MPI_Init(&argc, &argv);
    else MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = cpu();
    long calls = 0;
    if (!strcmp(what, "waitall")) calls = waitall(rounds, rank);
    if (!strcmp(what, "pingpong")) calls = pingpong(rounds, rank);
    if (!strcmp(what, "put")) calls = put(rounds, rank);
    if (!strcmp(what, "null")) calls = null(rounds);
    if (!strcmp(what, "deep")) calls = deep(rounds, 8);
    if (!strcmp(what, "threads")) calls = threads(rounds);
    if (!strcmp(what, "skew")) calls = skew(rounds);
    double spent = cpu() - begun;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (rank == 0)
        printf("{\"calls\": %ld, \"ns_per_call\": %.1f, \"peak_bytes\": %ld, \"anonymous_bytes\": %ld}\n", calls,
               spent / (calls ? calls : 1) * 1e9, usage.ru_maxrss * 1024L, anonymous());
    return MPI_Finalize();
}
