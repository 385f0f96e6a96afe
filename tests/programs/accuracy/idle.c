/* Preloaded into ranks in the lab, where many share a processor: a rank that has nothing to do sleeps for a moment instead of
 * asking again and again. On a cluster each rank has a processor, and its polling keeps nobody from sending. Open MPI calls
 * sched_yield when it is idle (`mpi_yield_when_idle`). */
#include <sys/prctl.h>
#include <time.h>

int sched_yield(void) {
    static __thread int is_prompt;
    const struct timespec moment = {0, 100000};
    if (!is_prompt) is_prompt = prctl(PR_SET_TIMERSLACK, 1000) == 0;
    return nanosleep(&moment, NULL);
}
