/* Executes a loop of a known number of instructions between MPI calls, and optionally computes in a second thread
 * meanwhile ("thread") or ends by a signal ("abort"). */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 1000000 };

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
    loop(5 * TURNS);
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
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(how, "thread") == 0)
            pthread_join(thread, NULL);
    }
    if (strcmp(how, "abort") == 0)
        abort();
    MPI_Finalize();
    return 0;
}
