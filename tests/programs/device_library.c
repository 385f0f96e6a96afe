/* Stands in for an MPI library that takes buffers in the memory of a GPU: the memory is readable in three collectives alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"

static void *memory;
static unsigned long length;

static void allow(int how) {
    if (memory) mprotect(memory, length, how);
}

void *device_memory(unsigned long bytes) {
    length = bytes;
    return memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void device_to_host(void *to, const void *from, unsigned long bytes) {
    allow(PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    allow(PROT_NONE);
}

void host_to_device(void *to, const void *from, unsigned long bytes) { device_to_host(to, from, bytes); }

/* By both names, as a library has it. */
int MPIX_Query_cuda_support(void) { return 1; }
int PMPIX_Query_cuda_support(void) { return 1; }

#define TAKES_DEVICE_MEMORY(name, parameters, arguments)                                 \
    int P##name parameters {                                                             \
        static int(*real) parameters;                                                    \
        if (!real) real = (int(*) parameters)dlsym(RTLD_NEXT, "P" #name);                \
        allow(PROT_READ | PROT_WRITE);                                                   \
        int result = real arguments;                                                     \
        allow(PROT_NONE);                                                                \
        return result;                                                                   \
    }                                                                                    \
    int name parameters { return P##name arguments; }

TAKES_DEVICE_MEMORY(MPI_Allreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))
TAKES_DEVICE_MEMORY(MPI_Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
TAKES_DEVICE_MEMORY(MPI_Gather, (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root, MPI_Comm c),
                    (s, n, t, r, m, u, root, c))
