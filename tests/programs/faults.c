/* What may befall a program: `faults WHAT [FILE]`. Two ranks exchange messages before and after it, or one does so with
 * itself. */
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

/* Some work that no compiler can leave out. */
static void compute(void) {
    volatile double sum = 0;
    for (int i = 0; i < 20000000; i++) sum += i;
}

/* Takes all that is left where `name` is. */
static void fill(const char *name) {
    static char block[1 << 16];
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(file >= 0);
    while (write(file, block, sizeof block) > 0)
        ;
    close(file);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    begin(&argc, &argv);
    if (!strcmp(what, "init-only")) return end();
    if (!strcmp(what, "init-exit")) exit(5);
    exchange_many(5000);
    if (!strcmp(what, "full")) {
        if (rank == 0) fill(argv[2]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    exchange_many(5000);
    if (rank == 0) printf("before the end\n"), fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "compute-exit")) compute(), exit(5);
    if (!strcmp(what, "compute-abort")) {
        if (rank == 1) compute(), MPI_Abort(MPI_COMM_WORLD, 3);
        sleep(20);
    }
    return end();
}
