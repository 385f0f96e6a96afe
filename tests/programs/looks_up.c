/* Not linked with MPI, but for what the compiler adds: opens the MPI library and looks its functions up, as Julia's MPI.jl and
 * Python's ctypes do. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
#ifdef OPEN_MPI
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_LOCAL);
#else
    void *library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL);
#endif
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    if (!init || !finalize) return 1;
    init(&argc, &argv);
    puts("found MPI");
    finalize();
    return 0;
}
