/* Executes a loop of a known number of instructions and a string operation between MPI calls; optionally, computes in a
 * second thread meanwhile ("thread"), or ends by a signal ("abort"). */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 1000000 };

static char text[1 << 20];

/* One instruction as processors count, where there is such an instruction. */
static void fill(void) {
#if defined(__x86_64__)
    void *to = text;
    size_t length = sizeof text;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(length) : "a"('x') : "memory");
#endif
}

/* Three instructions a turn, on both architectures. */
static void loop(long turns) {
#if defined(__x86_64__)
    __asm__ volatile("1: nop\n sub $1, %0\n jnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
    __asm__ volatile("1: nop\n subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
#error "no loop for this architecture"
#endif
}

static void *other(void *unused) {
    static char own[1 << 18];
    loop(5 * TURNS);
    /* The library's own code was translated before there was a second thread. */
    for (int round = 0; round < 20; round++)
        memset(own, round, sizeof own);
    return unused;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t thread;
    MPI_Init(&argc, &argv);
    for (int round = 1; round <= 3; round++) {
        if (strcmp(how, "thread") == 0)
            pthread_create(&thread, NULL, other, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        loop((long)round * TURNS);
        fill();
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(how, "thread") == 0)
            pthread_join(thread, NULL);
    }
    if (strcmp(how, "abort") == 0)
        abort();
    MPI_Finalize();
    return 0;
}
