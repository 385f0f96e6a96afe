/* A PMPI tool to preload, which counts what a program calls: each rank writes `$COUNTS-RANK`, how often the program called each
 * function of MPI between MPI_Init and MPI_Finalize, how many messages it sent outside of collectives, and their bytes.
 * counter.awk makes counter_functions.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OPEN_MPI
static const char libmpi[] = "libmpi.so.40";
#else
static const char libmpi[] = "libmpich.so.12";
#endif

/* The calls of a function; apart, those of callbacks, while MPI itself was called. */
struct tally {
    const char *name;
    long calls, within;
    struct tally *next;
};
static struct tally *tallies;
static long messages, bytes;
static int rank = -1, pid, is_on;
static __thread int depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fatal(const char *what) {
    fprintf(stderr, "counter: %s\n", what);
    _exit(77);
}

/* A function of the library itself, which no other tool sees. The counter is not linked with the library, because it is also
 * loaded into programs without MPI; and a program may have opened the library for itself alone. */
static void *own(const char *name) {
    void *library = dlopen(libmpi, RTLD_LAZY | RTLD_NOLOAD);
    return library == NULL ? NULL : dlsym(library, name);
}

static void *next_of(const char *name) {
    void *next = dlsym(RTLD_NEXT, name);
    if (next == NULL) next = own(name);
    if (next == NULL) fatal(name);
    return next;
}

/* Whether the library or a tool calls itself, and not the program in a callback. */
static int is_inner(const void *caller) {
    Dl_info where;
    if (!dladdr(caller, &where) || where.dli_fname == NULL) return 0;
    return strstr(where.dli_fname, "/mca_") != NULL || strstr(where.dli_fname, "/libmpich.") != NULL ||
           strstr(where.dli_fname, "/libtitrace") != NULL;
}

static void count_call(struct tally *tally, const void *caller) {
    if (!is_on || (depth > 0 && is_inner(caller))) return;
    pthread_mutex_lock(&lock);
    if (tally->calls + tally->within == 0) tally->next = tallies, tallies = tally;
    ++*(depth > 0 ? &tally->within : &tally->calls);
    pthread_mutex_unlock(&lock);
}

static long size_of(int peer, long elements, MPI_Datatype type) {
    static int (*type_size)(MPI_Datatype, int *);
    int size;
    if (type_size == NULL) type_size = own("PMPI_Type_size");
    return peer == MPI_PROC_NULL || type_size(type, &size) != MPI_SUCCESS ? -1 : elements * size;
}

static void add(long size) {
    if (size < 0) return;
    __atomic_fetch_add(&messages, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes, size, __ATOMIC_RELAXED);
}

static void sent(int peer, long elements, MPI_Datatype type) { add(size_of(peer, elements, type)); }

/* Persistent sends. A later one may have the handle of one that was freed; so may a receive, which `forget` is for. */
enum { KEPT = 1 << 16 };
static struct {
    MPI_Request request;
    long size;
} kept[KEPT];
static int keeps;

static void note(MPI_Request request, long size) {
    int at = 0;
    pthread_mutex_lock(&lock);
    while (at < keeps && kept[at].request != request) at++;
    if (at == KEPT) fatal("too many persistent requests");
    if (at < keeps || size >= 0) kept[at].request = request, kept[at].size = size;
    if (at == keeps && size >= 0) keeps++;
    pthread_mutex_unlock(&lock);
}

static void keep(MPI_Request request, int peer, long elements, MPI_Datatype type) {
    note(request, size_of(peer, elements, type));
}

static void forget(MPI_Request request) { note(request, -1); }

static void started(int n, const MPI_Request *requests) {
    for (int i = 0; i < n; i++)
        for (int at = 0; at < keeps; at++)
            if (kept[at].request == requests[i]) add(kept[at].size);
}

static void write_counts(void) {
    char name[4096];
    if (rank < 0 || getpid() != pid) return;
    snprintf(name, sizeof name, "%s-%d", getenv("COUNTS"), rank);
    FILE *file = fopen(name, "w");
    if (file == NULL) fatal(name);
    for (struct tally *tally = tallies; tally != NULL; tally = tally->next) {
        fprintf(file, "%s %ld\n", tally->name, tally->calls);
        if (tally->within > 0) fprintf(file, "within %s %ld\n", tally->name, tally->within);
    }
    fprintf(file, "messages %ld\nbytes %ld\n", messages, bytes);
    fclose(file);
}

static void begin(void) {
    const char *openmpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    rank = openmpi != NULL ? atoi(openmpi) : mpich != NULL ? atoi(mpich) : 0;
    pid = getpid();
    atexit(write_counts);
}

#define FUNCTION(name, parameters, arguments, before, after)                                        \
    int MPI_##name parameters {                                                                     \
        static struct tally tally = {"MPI_" #name};                                                 \
        static int(*next) parameters;                                                               \
        if (next == NULL) next = next_of("PMPI_" #name);                                            \
        before;                                                                                     \
        count_call(&tally, __builtin_return_address(0));                                            \
        depth++;                                                                                    \
        int code = next arguments;                                                                  \
        depth--;                                                                                    \
        if (depth == 0 && code == MPI_SUCCESS) {                                                    \
            after;                                                                                  \
        }                                                                                           \
        return code;                                                                                \
    }                                                                                               \
    int PMPI_##name parameters __attribute__((alias("MPI_" #name)));
#include "counter_functions.h"
