/* A call of MPI from four functions, one within the other, whose frames are of four kinds. */
#include <mpi.h>
#include <string.h>

static volatile double data = 1, sum;

static void innermost(void) {
    double mine = data, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* in innermost */
    sum = all;
}

static void growing(int size) {
    char room[size];
    memset(room, 1, size);
    innermost(); /* in growing */
    data = room[size / 2];
}

static void aligned(int size) {
    volatile double room[8] __attribute__((aligned(64)));
    room[size % 8] = data;
    growing(size); /* in aligned */
    data = room[size % 8];
}

static void outermost(int size) {
    aligned(size); /* in outermost */
    data = sum;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) outermost(100 + 7 * i); /* in main */
    MPI_Finalize();
    return 0;
}
