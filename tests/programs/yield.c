/* Preloaded into programs that run with MPICH: a rank that waits lets another one run, where there are more ranks than cores.
   Open MPI has a setting for that (mpi_yield_when_idle). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

/* How often a rank yields before it sleeps: one turn of each of the others may be all that it needs. */
enum { YIELDS = 32 };

/* MPICH calls this as long as it waits; the result is how much has happened. */
unsigned ucp_worker_progress(void *worker) {
    static const struct timespec nap = {.tv_nsec = 20000};
    static unsigned (*progress)(void *);
    static _Thread_local unsigned in_vain;
    if (!progress) {
        /* Wherever it was loaded: as the next library in the program's scope, or with RTLD_LOCAL. */
        void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        progress = (unsigned (*)(void *))dlsym(library, "ucp_worker_progress");
    }
    unsigned events = progress(worker);
    if (events > 0)
        in_vain = 0;
    else if (++in_vain < YIELDS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
    return events;
}
