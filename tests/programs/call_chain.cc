// A call of MPI from four functions, one within the other, with destructors and a handler on the way.
#include <mpi.h>
#include <vector>

static volatile double data = 1, sum;

struct Counted {
    ~Counted() { data = sum; }
};

static void innermost() {
    double mine = data, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* in innermost */
    sum = all;
    if (data < 0) throw 1;
}

static void guarded(int size) {
    Counted counted;
    std::vector<double> room(size, 1.0);
    innermost(); /* in guarded */
    data = room[size / 2];
}

static void handling(int size) {
    try {
        guarded(size); /* in handling */
    } catch (int number) {
        data = number;
    }
}

static void outermost(int size) {
    Counted counted;
    handling(size); /* in outermost */
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) outermost(100 + 7 * i); /* in main */
    MPI_Finalize();
    return 0;
}
