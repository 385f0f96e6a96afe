/* Preloaded into programs that run with MPICH: a rank that waits lets another one run, where there are more ranks than cores.
   Open MPI has a setting for that (mpi_yield_when_idle). */
#include <dlfcn.h>
#include <sched.h>

/* MPICH calls this as long as it waits; the result is how much has happened. */
unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    if (!progress) {
        /* Wherever it was loaded: as the next library in the program's scope, or with RTLD_LOCAL. */
        void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        progress = (unsigned (*)(void *))dlsym(library, "ucp_worker_progress");
    }
    unsigned events = progress(worker);
    if (events == 0)
        sched_yield();
    return events;
}
