/* A program whose plugin looks for functions in its own libraries first: `deep_host PLUGIN`. 2 ranks. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

int main(int argc, char **argv) {
    begin(&argc, &argv);
    void *plugin = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    CHECK(plugin);
    int (*work)(int, MPI_Comm, MPI_Datatype) = (int (*)(int, MPI_Comm, MPI_Datatype))dlsym(plugin, "work");
    CHECK(work(rank, MPI_COMM_WORLD, MPI_INT) == 1 - rank);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
